# SPDX-License-Identifier: Apache-2.0
# What gnn-inspect --export writes is what NumPy, SciPy, pandas and PyG read: the same graph, from a store and from its partitions.
. "$GNN_TOP/tests/lib.sh"
py=${GNN_PEERS:-python3}
"$py" -B -W ignore -c 'import numpy, scipy.io, pandas' 2>err || { skip 'exports to SciPy and pandas' 'scipy or pandas is not installed'; done_testing; }
perl -e 'srand 4; print "from,to,weight\n"; my %s; for (1 .. 900) { my @e = (int rand 97, int rand 97); print join(",", @e, sprintf "%.3g", rand), "\n" unless $s{"@e"}++ }' >e.csv
cat >given.csv <<'END2'
from,to,weight
plain,"with, comma",0.5
"with ""quotes""",plain,0.1
"with, comma","with ""quotes""",3
END2
gnn-import -q --directed --nodes 97 -o plain e.csv && gnn-import -q --directed -o words given.csv &&
    gnn-import -q -o types sbm:nodes=300,types=2,times=1 && gnn-partition -q -k 3 --method random -o parts types &&
    gnn-sample -q -f 4,3 -b 60 --edge-ids -o stream types || exit 1
gnn-inspect --export plain.npz plain && gnn-inspect --export plain.mtx plain && gnn-inspect --export plain.csv --edges node/to/node plain &&
    gnn-inspect --export words.csv --edges node/to/node words && gnn-inspect --export nodes.csv --nodes t0 parts &&
    gnn-inspect --export up.csv --edges t0/up/t1 parts && gnn-inspect --export up.mtx --edges t0/up/t1 parts && gnn-inspect --export types.npz parts &&
    gnn-inspect --export y.npy --tensor t0/y parts && gnn-inspect --export batch.npz --steps 1 stream &&
    gnn-inspect --export batch.mtx --edges t0/up/t1 --steps 1 stream && gnn-inspect --export batch.csv --edges t0/up/t1 --steps 1 stream || exit 1
check 'NumPy, SciPy and pandas read the same graph' "$py" -B -W ignore "$GNN_TOP/tests/peers/exports.py"
if "$py" -B -W ignore -c 'import torch_geometric' 2>err; then
    check 'PyG takes the arrays as they are' "$py" -B -W ignore "$GNN_TOP/tests/peers/exports.py" pyg
else
    skip 'PyG takes the arrays as they are' 'torch_geometric is not installed'
fi
done_testing
