# SPDX-License-Identifier: Apache-2.0
# gnn-sample --induced: all edges among the nodes found, and the same batches in all ways to draw them.
takes() { case $1 in *--induced*) ;; *) return 1 ;; esac; }
. "$GNN_TOP/tests/rules/cases.sh"
