# SPDX-License-Identifier: Apache-2.0
# Graphs in files of DGL give the stores that their arrays give, whatever form their edges have; what is no graph, or one of several, is
# refused by name. The files are made from the description; tests/peers/88-dgl-graphs.t has those that DGL writes.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-import
cat >make.py <<'END'
import sys
import zipfile
sys.path.insert(0, sys.argv[1])
from dgl_files import *

PAIRS = [(0, 1), (1, 2), (2, 0), (2, 1), (3, 3), (2, 1)]
N = [("_N", 4, {"feat": ("f", (4, 2), range(8)), "label": ("q", (4,), [0, 1, 0, 2]), "train_mask": ("B", (4,), [1, 0, 1, 0])})]
E = [(0, "_E", 0, PAIRS, {"feat": ("f", (6, 1), range(6)), "w": ("e", (6,), range(6))})]
save_npy("plain", arrays([("node",) + N[0][1:]], [(0, "to") + E[0][2:]]))
for name, forms in ("coo", 1), ("csr", 2), ("csc", 4), ("both", 6), ("all", 7):
    for kind in "q", "i":
        write("plain-%s-%s.dgl" % (name, kind), save_graphs([graph(N, E, forms, kind)]))
write("plain-moved-q.dgl", save_graphs([graph(N, E, order=(5, 0, 2, 1, 4, 3))], {"whole": ("q", (1,), [1])}))
TYPES = [("a", 4, {"feat": N[0][2]["feat"]}), ("b", 3, {"label": ("q", (3,), [1, 0, 1]), "price": ("d", (3,), [.1, .2, .3])}), ("c", 2, {})]
EDGES = [(0, "r", 1, [(0, 2), (3, 1), (2, 0)], {"t": ("q", (3,), [5, 4, 3])}), (1, "r", 0, [(2, 3)], {}), (1, "s", 2, [], {})]
save_npy("typed", arrays(TYPES, EDGES))
for name, forms in ("coo", 1), ("csr", 2), ("csc", 4):
    write("typed-%s-q.dgl" % name, save_graphs([graph(TYPES, EDGES, forms)]))
write("two.dgl", save_graphs([graph(N, E)] * 2))
write("old.dgl", save_graphs([graph(N, E)], version=1))
write("tensors.dgl", save_tensors({"_N/x": ("f", (4, 2), range(8)), "e": ("q", (1,), [1])}))
write("block.dgl", save_graphs([graph([("a", 2, {}), ("a", 2, {})], [(0, "r", 1, [(0, 1)], {})])]))
write("slash.dgl", save_graphs([graph([("a/b", 2, {})], [(0, "r", 0, [(0, 1)], {})])]))
write("odd.dgl", save_graphs([graph([("a", 2, {"num_nodes": ("q", (2,), [1, 2]), "o k": ("q", (2,), [1, 2])})],
                                    [(0, "r", 0, [(0, 1)], {"row": ("q", (1,), [1])})])]))
write("mask.dgl", save_graphs([graph([("_N", 2, {"test_mask": ("B", (2,), [0, 2])})], [(0, "_E", 0, [(0, 1)], {})])]))
write("range.dgl", save_graphs([graph([("_N", 2, {})], [(0, "_E", 0, [(0, 2)], {})])]))
with zipfile.ZipFile("bolt.pt", "w") as z:
    z.writestr("bolt/data.pkl", b"\x80\x02cdgl.graphbolt.impl.fused_csc_sampling_graph\nFusedCSCSamplingGraph\n)\x81.")
save_npy("other", {"edges": ("q", (2, 2), [0, 1, 1, 0])})
write("other/metadata.yaml", b"author: somebody\n")
write("five.dgl", save_graphs([graph([("_N", 1, {"v": ("q", (1,) * 5, [0])})], [(0, "_E", 0, [(0, 0)], {})])]))
END
check 'files of DGL are written' python3 -B make.py "$GNN_TOP/tests/import"
for base in plain typed; do
    check "gnn-import reads the arrays of $base" gnn-import --no-provenance --directed -o "$base.gnb" "$base"
    for f in "$base"-*.dgl; do
        rm -rf S
        check "gnn-import reads $f" gnn-import --no-provenance --directed -o S "$f"
        check "$f gives the store that its arrays give" gnn-inspect --diff "$base.gnb" S
    done
done
rm -rf S
check 'gnn-import reads a file with labels of the whole graph' gnn-import --directed -o S plain-moved-q.dgl
cp err said
check 'labels of the whole graph are named' grep -q 'not read: whole (a label of the whole graph)' said
for f in plain-coo-q typed-csc-q; do
    rm -rf S
    gzip -k "$f.dgl"
    check "gnn-import reads $f packed" gnn-import --no-provenance --directed -o S "$f.dgl.gz"
    check "$f gives the same store packed" gnn-inspect --diff "${f%%-*}.gnb" S
    rm -rf S
    size=$(wc -c <"$f.dgl")
    for at in 8 31 4095 4200 $((size / 2)) $((size - 100)) $((size - 1)); do
        head -c "$at" "$f.dgl" >cut
        refuses 3 '^gnn-import: cut: byte ' "$f cut after $at bytes" gnn-import -o S cut
        check 'gnn-import leaves nothing of it' test ! -e S
    done
done
check 'gnn-import takes features from tensors' gnn-import --directed --map =feat --features tensors.dgl:_N/x -o S plain-coo-q.dgl
check 'features from tensors are read' sh -c 'gnn-inspect S | grep -q "x f32.2"'
rm -rf S
check 'gnn-import leaves out tensors whose names mean something else' gnn-import --directed -o S odd.dgl
cp err said
check 'gnn-import names them' grep -q 'not read: a/num_nodes (a tensor of a name .*a/o k (a tensor .*a/r/a/row (a tensor' said
rm -rf S
refuses 3 'two.dgl: a file of 2 graphs of DGL, of which a store holds one; .*dgl.save_graphs(FILE, .graphs.0..)' 'two graphs' gnn-import -o S two.dgl
refuses 3 "old.dgl: byte 8: version 1 of DGL's files, type 2; 2 and 2 are read, .*dgl.load_graphs" 'an old file' gnn-import -o S old.dgl
refuses 3 'tensors.dgl: no array of edges' 'tensors' gnn-import -o S tensors.dgl
refuses 3 'block.dgl: two node types have one name, as in a block' 'a block' gnn-import -o S block.dgl
refuses 3 "slash.dgl: a type called 'a/b', a name that stores cannot have" 'a type with a slash' gnn-import -o S slash.dgl
refuses 3 'mask.dgl: node/test_mask: .*2' 'a mask with a 2' gnn-import -o S mask.dgl
refuses 3 'range.dgl: ' 'an edge without its node' gnn-import -o S range.dgl
refuses 3 "five.dgl: byte .*: tensor of nodes 'v': 5 dimensions; at most 4 are read" 'five dimensions' gnn-import -o S five.dgl
refuses 3 'bolt.pt: a graph of GraphBolt, which holds TorchScript and is not read; .*scipy.sparse.save_npz' 'a graph of GraphBolt' gnn-import -o S bolt.pt
check 'gnn-import leaves nothing of them' test ! -e S
check 'gnn-import reads arrays beside a metadata.yaml of something else' gnn-import --directed -o S other
done_testing
