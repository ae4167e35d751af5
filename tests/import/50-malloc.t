# SPDX-License-Identifier: Apache-2.0
# The k-th allocation fails in a small import: status 1 and no store. Archives are left to test_import, because libarchive
# itself does not survive a failing malloc.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/faults/sweep.sh"
c=$GNN_TOP/tests/import/corpus
for f in good-sparse.csv good-list.txt.gz good-weights.graph good-triples.txt good-statements.nt good-rectangle.mtx good-fortran.npy; do
    sweep "gnn-import of $f ends cleanly when malloc fails" malloc S -- gnn-import -q "$c/$f" -o S
done
sweep 'gnn-import -u --dedup --self-loops add --split ends cleanly when malloc fails' \
    malloc S -- gnn-import -q -u --dedup --self-loops add --split random:0.5,0.25,0.25 "$c/good-sparse.csv" -o S
printf '0.5\n2.5\n' >y.txt
sweep 'gnn-import --task regression ends cleanly when malloc fails' \
    malloc S -- gnn-import -q --labels y.txt --task regression "$c/good-rectangle.mtx" -o S
sweep 'gnn-import igbh: ends cleanly when malloc fails' malloc S -- gnn-import -q igbh:scale=1e-6,features=4,classes=3 -o S
mkdir -p t/raw/node_time/a t/raw/relations/a___r___a
printf 'a\n3\n' >t/raw/num-node-dict.csv
printf 'a,r,a\n' >t/raw/triplet-type-list.csv
printf '0,1\n2,1\n1,2\n' >t/raw/relations/a___r___a/edge.csv
echo 3 >t/raw/relations/a___r___a/num-edge-list.csv
printf '7\n3\n5\n' >t/raw/node_time/a/node_time.csv
sweep 'gnn-import of times ends cleanly when malloc fails' malloc S -- gnn-import -q -u --self-loops add t -o S
mkdir -p g/a/to/b
for f in src dst; do echo 0 2 1 | perl "$GNN_TOP/tests/import/npy.pl" g/a/to/b/$f.npy '<i8' '3,'; done
sweep 'gnn-import of arrays of types ends cleanly when malloc fails' malloc S -- gnn-import -q g -o S
for f in hetero legacy; do
    sweep "gnn-import of a $f file of torch.save ends cleanly when malloc fails" \
        malloc S -- gnn-import -q "$GNN_TOP/tests/fuzz/seeds/pickle/$f" -o S
done
printf 'id,age\nu1,3\nu2,5\n' >u.csv
printf 'u1 7 1\nu2 9 2\n' >b.txt
sweep 'gnn-import --edges ends cleanly when malloc fails' \
    malloc S -- gnn-import -q --nodes u=u.csv:id --edges u/to/v=b.txt:1,2 --edges v/of/u=b.txt:2,1 -o S
python3 -B -c 'import sys
sys.path.insert(0, sys.argv[1])
from dgl_files import *
write("g.dgl", save_graphs([graph([("a", 2, {"x": ("f", (2, 1), [1, 2])}), ("b", 1, {"o k": ("q", (1,), [1])})], [(0, "r", 1, [(1, 0)], {})], CSC)]))' \
    "$GNN_TOP/tests/import" || exit 1
python3 -B -c 'import sys
sys.path.insert(0, sys.argv[1])
from dgl_parts_files import *
n, e = save_parts("p", [("a", 2, {"x": ("f", (2, 1), [1, 2])}), ("b", 1, {})], [(0, "r", 1, [(1, 0)], {"t": ("q", (1,), [1])})], [[0, 1], [0]])
write("n.dgl", save_tensors(n))' "$GNN_TOP/tests/import" || exit 1
sweep 'gnn-import of a graph of DGL ends cleanly when malloc fails' malloc S -- gnn-import -q g.dgl -o S
sweep 'gnn-import of a partition of DGL ends cleanly when malloc fails' malloc S -- gnn-import -q --orig-nids n.dgl p -o S
mkdir o
printf 'graph:\n  nodes: [{type: a, num: 3}]\n  edges: [{type: "a:r:a", format: csv, path: e.csv}]\ntasks:\n' >o/metadata.yaml
printf '  - train_set: [{type: a, data: [{name: seeds, format: numpy, path: s.npy}, {name: labels, format: numpy, path: s.npy}]}]\n' >>o/metadata.yaml
printf '0,1\n2,0\n' >o/e.csv
echo 0 1 | perl "$GNN_TOP/tests/import/npy.pl" o/s.npy '<i8' '2,'
sweep 'gnn-import of an OnDiskDataset ends cleanly when malloc fails' malloc S -- gnn-import -q o -o S
printf '  - train_set: [{type: "a:r:a", data: [{name: seeds, format: numpy, path: l.npy}]}]\n' >>o/metadata.yaml
printf '    test_set: [{type: "a:r:a", data: [{name: seeds, format: numpy, path: n.npy}, {name: labels, format: numpy, path: b.npy}' >>o/metadata.yaml
printf ', {name: indexes, format: numpy, path: i.npy}]}]\n' >>o/metadata.yaml
echo 0 1 | perl "$GNN_TOP/tests/import/npy.pl" o/l.npy '<i8' '1, 2'
echo 2 0 2 1 2 2 2 1 | perl "$GNN_TOP/tests/import/npy.pl" o/n.npy '<i8' '4, 2'
echo 1 0 0 0 | perl "$GNN_TOP/tests/import/npy.pl" o/b.npy '<i8' '4,'
echo 0 0 0 0 | perl "$GNN_TOP/tests/import/npy.pl" o/i.npy '<i8' '4,'
gnn-import -q o -o T || exit 1
sweep 'gnn-import of its links ends cleanly when malloc fails' malloc S -- gnn-import -q --split-links a/r/a=graphbolt:o T -o S
done_testing
