# SPDX-License-Identifier: Apache-2.0
# Partitions of DGL give the store of the graph that was partitioned, in the layouts of several versions; and what does not fit
# together in one is refused by name. The folders are made from the description; tests/peers/89-dgl-parts.t has those that DGL writes.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-import
cat >make.py <<'END'
import sys
sys.path.insert(0, sys.argv[1])
from dgl_parts_files import *

PAIRS = [(0, 1), (1, 2), (2, 0), (2, 1), (3, 3), (2, 1), (4, 0), (0, 4), (1, 3)]
N = [("_N", 5, {"feat": ("f", (5, 2), list(range(10))), "label": ("q", (5,), [0, 1, 0, 2, 1]), "train_mask": ("B", (5,), [1, 0, 1, 0, 1])})]
E = [(0, "_E", 0, PAIRS, {"w": ("e", (9,), list(range(9)))})]
TYPES = [("a", 4, {"feat": ("f", (4, 2), list(range(8)))}), ("b", 4, {"cost": ("d", (4,), [.1, .2, .3, .4])})]
EDGES = [(0, "r", 1, [(0, 2), (3, 1), (2, 0), (1, 3), (0, 0)], {"t": ("q", (5,), [5, 4, 3, 2, 1])}), (1, "s", 0, [(2, 3), (0, 1), (3, 0)], {})]
SPLIT, TYPED = [[0, 1, 0, 1, 1]], [[0, 1, 1, 0], [1, 0, 1, 0]]


def whole(name, ntypes, etypes, assign):
    """The arrays of the graph, with the parts of nodes."""
    n = [("node" if t == "_N" else t, k, dict(f, part=("H", (k,), a))) for (t, k, f), a in zip(ntypes, assign)]
    save_npy(name, arrays(n, [(s, "to" if r == "_E" else r, d, p, f) for s, r, d, p, f in etypes]))


whole("plain", N, E, SPLIT)
whole("typed", TYPES, EDGES, TYPED)
for layout in "0.9", "0.5", "kept":
    save_parts("plain-" + layout, N, E, SPLIT, layout)
save_parts("typed-0.9", TYPES, EDGES, TYPED, "0.9")
save_parts("plain-alone", N, E, [[0] * 5], "0.9")
whole("alone", N, E, [[0] * 5])
for name, n, e, assign in ("plain", N, E, SPLIT), ("typed", TYPES, EDGES, TYPED):
    nids, eids = save_parts(name + "-2.1", n, e, assign)
    write(name + "-2.1/orig_nids.dgl", save_tensors(nids))
    write(name + "-2.1/orig_eids.dgl", save_tensors(eids))
    save_parts(name + "-bare", n, e, assign)
    write(name + "-nids.dgl", save_tensors(nids))
    write(name + "-eids.dgl", save_tensors(eids))
for name, values in ("short", [0, 1, 2, 3]), ("twice", [0, 1, 2, 3, 3]), ("beyond", [0, 1, 2, 3, 5]), ("negative", [0, 1, 2, 3, -1]):
    write(name + ".dgl", save_tensors({"_N": ids_of(values)}))
save_npy("swapped", {"node_map": ids_of([1, 0, 1, 0, 0])})
write("unknown.dgl", save_tensors({"x": ids_of([0]), "_N": ids_of([0, 1, 2, 3, 4])}))
END
check 'folders of DGL are written' python3 -B make.py "$GNN_TOP/tests/import"
for base in plain typed alone; do
    check "gnn-import reads the arrays of $base" gnn-import --no-provenance --directed -o "$base.gnb" "$base"
done
for folder in plain-0.9 plain-0.5 plain-kept plain-2.1 typed-0.9 typed-2.1 plain-alone plain-2.1/g.json; do
    base=${folder%%-*}
    [ "$folder" != plain-alone ] || base=alone
    rm -rf S
    check "gnn-import reads $folder" gnn-import --no-provenance --directed -o S "$folder"
    cp err said
    check "$folder gives the store of its graph" gnn-inspect --diff "$base.gnb" S
    check "gnn-import leaves out nothing of $folder" sh -c '! grep -e "not read" -e "when it part" said'
done
for base in plain typed; do
    rm -rf S
    check "gnn-import reads original ids of $base" gnn-import --no-provenance --directed --orig-nids "$base-nids.dgl" --orig-eids "$base-eids.dgl" -o S "$base-bare"
    check "$base with original ids gives the store of its graph" gnn-inspect --diff "$base.gnb" S
    rm -rf S
    check "gnn-import reads $base without original ids" gnn-import --directed -o S "$base-bare"
    cp err said
    check 'gnn-import says that ids are those of DGL' grep -q "$base-bare/g.json: ids of nodes, and the order of edges, are those that DGL gave" said
    check "the store of $base is sound" gnn-inspect --verify S
done
rm -rf S P
check 'gnn-import reads original ids of nodes alone' gnn-import --directed --orig-nids plain-nids.dgl -o S plain-bare
cp err said
check 'gnn-import says that edges have the order of DGL' grep -q 'g.json: the order of edges is the one that DGL gave' said
check 'gnn-partition keeps the parts' gnn-partition --from field:part -o P S
rm -rf S

# What does not fit together.
wrong() { # WHY FOLDER SED-SCRIPT: a partition with such a JSON
    rm -rf w
    cp -r "$2" w
    tr -d ' \n' <"$2/g.json" | sed "$3" >w/g.json
    refuses 3 "^gnn-import: w/$1" "$2 after $3" gnn-import -o S w
    check 'gnn-import leaves nothing of it' test ! -e S
}
wrong 'g.json: num_parts: expected a count' plain-0.9 's/"num_parts":2/"num_parts":-1/'
wrong 'g.json: num_parts is 0' plain-0.9 's/"num_parts":2/"num_parts":0/'
wrong "g.json: no 'part-2', of 3 parts" plain-0.9 's/"num_parts":2/"num_parts":3/'
wrong "g.json: a part without 'node_feats'" plain-0.9 's/"node_feats"/"feats"/'
wrong "g.json: node_map: ranges end with 5; the graph has 6 nodes" plain-0.9 's/"num_nodes":5/"num_nodes":6/'
wrong "g.json: edge_map: ranges end with 9; the graph has 8 edges" plain-0.9 's/"num_edges":9/"num_edges":8/'
wrong "g.json: node_map: the ids of '_N' in part 1 begin with 3, where 2 comes next: ranges leave a gap" plain-0.9 's/\[2,5\]/[3,5]/'
wrong "g.json: node_map: the ids of '_N' in part 1 begin with 1, where 2 comes next: ranges overlap" plain-0.9 's/\[2,5\]/[1,5]/'
wrong "g.json: node_map: '_N' has no range of ids in part 1" plain-0.9 's/\[2,5\]/[5,2]/'
wrong "g.json: node_map: '_N' has 1 range of ids, for 2 parts" plain-0.9 's/,\[2,5\]//'
wrong "g.json: ntypes: 'b' has no number of its own below 2" typed-2.1 's/"a":0/"a":1/'
wrong "g.json: etypes: 'a:r:x' is between types that are not in ntypes" typed-2.1 's/a:r:b/a:r:x/g'
wrong "part0/graph.dgl: node 1 belongs to part 0 here, and to part 1 by the JSON" plain-0.9 's/\[0,2\],\[2,5\]/[0,1],[1,5]/'
wrong "part1/graph.dgl: part 1 has 3 nodes of type '_N', and 4 by the JSON" plain-0.9 's/"num_nodes":5/"num_nodes":6/; s/\[2,5\]/[2,6]/'
wrong "part0/graph.dgl: node 0 belongs to part 0 here, and to part 1 by the JSON" plain-0.9 's/\[0,2\],\[2,5\]/[2,5],[0,2]/'
wrong "g.json: 1000000000000 nodes; the graphs of its parts have" plain-0.5 's/"num_nodes":5/"num_nodes":1000000000000/; s/2,5\]/2,1000000000000]/'
wrong "g.json: 1000000000000 edges; the graphs of its parts have" plain-kept 's/"num_edges":9/"num_edges":1000000000000/'
wrong "part0/graph.dgl: original id 2 of edges of type '_E', of which there are 2" plain-kept 's/"num_edges":9/"num_edges":2/'
wrong "g.json: part-0 has its graph as a fused_csc_sampling_graph.pt only, .*use_graphbolt=False" plain-0.9 's/"part_graph"/"part_graph_graphbolt"/'
wrong "g.json: JSON: " plain-0.9 's/.$//'
damaged() { # WHY FOLDER COMMAND...: a partition after the command
    why=$1 folder=$2
    shift 2
    rm -rf w
    cp -r "$folder" w
    "$@"
    refuses 3 "^gnn-import: w$why" "$folder after $*" gnn-import -o S w
    check 'gnn-import leaves nothing of it' test ! -e S
}
damaged '/part1/graph.dgl: cannot open' plain-0.9 rm w/part1/graph.dgl
damaged '/part1/node_feat.dgl: cannot open' plain-0.9 rm w/part1/node_feat.dgl
damaged "/part1/graph.dgl: node 0 belongs to part 1 here, and to part 0 by the JSON" plain-0.9 cp w/part0/graph.dgl w/part1/graph.dgl
damaged "/part1/node_feat.dgl: 'feat' of '_N' has 2 rows; part 1 has 3 nodes" plain-0.9 cp w/part0/node_feat.dgl w/part1
damaged "/part1/node_feat.dgl: '_N:_E:_N/w' is of no type that the JSON has" plain-bare cp w/part1/edge_feat.dgl w/part1/node_feat.dgl
damaged "/part0/node_feat.dgl: graphs, where tensors of features" plain-0.9 cp w/part0/graph.dgl w/part0/node_feat.dgl
damaged "/node_map.npy: node . is in part ., and in part . by its graph" plain-kept cp swapped/node_map.npy w
lacks() { perl -0777 -pi -e "$1" w/part1/graph.dgl; }
damaged "/part0/graph.dgl has original ids of edges; there are none of type '_E' in part 1" plain-0.9 lacks 's/.*\Korig_id/orig_ix/s'
damaged "/part0/graph.dgl has original ids of nodes; there are none of type '_N' in part 1" plain-0.9 lacks 's/orig_id/orig_ix/'
of_part() { cp "$1" "w/part0/$2"; }
damaged "/part0/orig_eids.dgl: " plain-bare of_part plain-eids.dgl orig_eids.dgl
damaged ": the JSON of two partitions, g.json and h.json; name one" plain-0.9 cp w/g.json w/h.json
for what in "short: '_N' has 4 values; the ids of 5 nodes" 'twice: two nodes of type ._N. have original id 3' \
    'beyond: original id 5 of nodes of type ._N., of which there are 5' 'negative: original id -1' "unknown: 'x' is no type of the partition"; do
    refuses 3 "^gnn-import: ${what%%:*}.dgl:${what#*:}" "ids that are ${what%%:*}" gnn-import --orig-nids "${what%%:*}.dgl" -o S plain-bare
done
refuses 3 "^gnn-import: make.py: neither a dictionary of tensors of DGL or torch.save nor" 'ids of another kind' gnn-import --orig-nids make.py -o S plain-bare
refuses 2 '^gnn-import: --orig-nids: plain is no partition of DGL' 'ids of what is no partition' gnn-import --orig-nids plain-nids.dgl -o S plain
refuses 2 'plain-nids.dgl: original ids of nodes: this partition has them' 'ids that are there' gnn-import --orig-nids plain-nids.dgl -o S plain-kept
tar cf plain.tar plain-2.1
refuses 3 '^gnn-import: plain.tar: .*graph.dgl: an archive of a partition of DGL: unpack it first' 'an archive' gnn-import -o S plain.tar
check 'gnn-import leaves nothing of them' test ! -e S
done_testing
