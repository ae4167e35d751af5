# SPDX-License-Identifier: Apache-2.0
# gnn-sample uniformly, by weight, in trees, by LABOR and as walks: the same batches in all ways to draw them.
takes() { case $1 in *--time-rule* | *--induced*) return 1 ;; esac; }
. "$GNN_TOP/tests/rules/cases.sh"
