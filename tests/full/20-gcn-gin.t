# SPDX-License-Identifier: Apache-2.0
# Full batches of GCN, GIN and GINE: what minibatches of all seeds and all neighbours learn; whatever partitions, memory, ranks and devices there are.
layers='gcn gin gine'
. "$GNN_TOP/tests/full/cases.sh"
