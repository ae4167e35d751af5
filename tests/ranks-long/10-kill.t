# SPDX-License-Identifier: Apache-2.0
# One of three ranks is killed, crashes, stops or leaves at a random point of sampling, gathering or training.
. "$GNN_TOP/tests/ranks/setup.sh"
export FAULT_MPI="$GNN_B/lib/gnn-tools/gnn-mpi.so" GNN_MPI="$GNN_B/fault-mpi.so"
gnn-import -q -o S sbm:nodes=3000,degree=12,features=8 && gnn-partition -q -k 3 -o P S ||
    { _not_ok "gnn-import and gnn-partition make the store"; done_testing; }
ranks 3 gnn-sample -q --no-provenance -f 5,5 -b 50 --epochs 4 --eval valid -o s.%r.gnb P ||
    _not_ok "gnn-sample writes the streams of the ranks"
perl "$GNN_TOP/tests/ranks-long/kill.pl" "${GNN_POINTS:-200}" "${GNN_AT_ONCE:-6}" "${GNN_FAULT_SEED:-1}"
failed=$? n=11
done_testing
