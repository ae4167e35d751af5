# SPDX-License-Identifier: Apache-2.0
# Full batches of GAT and GATv2: what minibatches of all seeds and all neighbours learn; whatever partitions, memory, ranks and devices there are.
layers='gat gatv2'
. "$GNN_TOP/tests/full/cases.sh"
