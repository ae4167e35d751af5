# SPDX-License-Identifier: Apache-2.0
# A rank that stands still while MPI starts keeps the others waiting for 300 seconds, whatever --timeout says; not for ever.
. "$GNN_TOP/tests/ranks/setup.sh"
gnn-import -q -o S sbm:nodes=3000,degree=12,features=8 && gnn-partition -q -k 3 -o P S ||
    { _not_ok "gnn-import and gnn-partition make the store"; done_testing; }
export FAULT_MPI="$GNN_B/lib/gnn-tools/gnn-mpi.so" GNN_MPI="$GNN_B/fault-mpi.so" FAULT_RANK=1 FAULT_AT=1 FAULT_HOW=stop
status 5 'gnn-sample ends on all ranks when one does not start' ranks 3 gnn-sample -q -f 5,5 --timeout 8 -o r.%r.gnb P
cp err said
check 'gnn-sample says that not all ranks have started' grep -q '^gnn-sample: .*the ranks did not all start within 300 seconds$' said
done_testing
