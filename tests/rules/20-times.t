# SPDX-License-Identifier: Apache-2.0
# gnn-sample --time-rule: picks are those that the rule allows, and the same batches in all ways to draw them.
takes() { case $1 in *--induced*) return 1 ;; *--time-rule*) ;; *) return 1 ;; esac; }
. "$GNN_TOP/tests/rules/cases.sh"
