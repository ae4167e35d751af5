# SPDX-License-Identifier: Apache-2.0
# Full batches of R-GCN and HGT: what minibatches of all seeds and all neighbours learn; whatever partitions, memory, ranks and devices there are.
layers='rgcn hgt'
. "$GNN_TOP/tests/full/cases.sh"
