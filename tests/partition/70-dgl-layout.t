# SPDX-License-Identifier: Apache-2.0
# gnn-partition --layout dgl: the folder is byte for byte what its description says, gnn-import gives the store back, and what the layout
# does not hold is said. tests/peers/91-dgl-layout.t loads such folders with DGL.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-partition
check 'graphs, and the folders that they must give, are written' python3 -B "$GNN_TOP/tests/partition/dgl_expected.py" "$GNN_TOP/tests/import"
same_json() { python3 -c 'import json, sys; a, b = [json.load(open(f)) for f in sys.argv[1:]]; sys.exit(a != b or list(a) != list(b))' "$1" "$2"; }
unzipped() { rm -rf "$2" && python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])' "$1" "$2"; }
mkdir made
for name in plain alone typed lacking; do
    check "gnn-import reads $name" gnn-import --no-provenance --directed -o "$name.gnb" "$name"
    check "gnn-import reads $name with its parts" gnn-import --no-provenance --directed -o "$name.with.gnb" "$name.with-part"
    check "gnn-partition writes $name for DGL" gnn-partition --layout dgl --from "$name.part" -o "made/$name" "$name.gnb"
    cp err said
    check "gnn-partition leaves out nothing of $name" sh -c '! grep "does not hold" said'
    check "the JSON of $name is as expected" same_json "expected/$name/$name.json" "made/$name/$name.json"
    check "all other files of $name are as expected" diff -r -x '*.json' "expected/$name" "made/$name"
    check "gnn-import reads the folder of $name" gnn-import --no-provenance --directed -o back "made/$name"
    check "$name comes back, with the part of each node" gnn-inspect --diff "$name.with.gnb" back
    rm -rf back
done

# Of any size and method, and from stores of parts. Splits have another name than masks.
returns() { # STORE OPTION...: the arrays of the store come back
    store=$1
    shift
    rm -rf F back
    check "gnn-partition $* writes $store" gnn-partition --layout dgl "$@" -o F "$store"
    check "gnn-import reads $store of gnn-partition $*" gnn-import --no-provenance --directed -o back F
    check "gnn-inspect finds what gnn-import made of $store to be sound" gnn-inspect --verify back
    gnn-inspect --export was.npz "$store" >log 2>&1 && gnn-inspect --export is.npz back >log 2>&1 && unzipped was.npz was && unzipped is.npz is
    find was is -name '*_mask.npy' -o -name '*_idx.npy' -o -name part.npy >sets
    xargs rm <sets
    [ ! -e was/edge_index.npy ] || flatten is
    check "all arrays of $store come back after gnn-partition $*" diff -r was is
    check "the sets of $store have the members that they had after gnn-partition $*" same_sets "$store" back
}
flatten() { find "$1" -mindepth 2 -type f -exec mv {} "$1" \; && find "$1" -mindepth 1 -type d -delete; }
set_sizes() { gnn-inspect "$1" | awk '$1 == "split" { sub(/.*\//, "", $2); print $2, $3, $5 }'; }
same_sets() { set_sizes "$1" >sizes.1 && set_sizes "$2" >sizes.2 && test -s sizes.1 && cmp sizes.1 sizes.2; }
gnn-import -q -o sbm sbm:nodes=700,classes=3,weights=1
gnn-import -q -o igbh igbh:scale=2e-6,features=8,dtype=f32
returns sbm -k 1
returns sbm -k 4
returns sbm -k 3 --method fennel
returns igbh -k 5 --method random
gnn-partition -q -k 3 --method random -o sbm3 sbm
returns sbm3 -k 2
cp -r F F.sbm3
gnn-partition -q --layout dgl -k 2 --force -o F sbm
check 'gnn-partition writes the same bytes from a store of parts' diff -r F F.sbm3
gnn-partition -q --layout dgl -k 2 -j 1 --force -o F sbm
check 'gnn-partition writes the same bytes with one thread' diff -r F F.sbm3

# What is not in the layout is said, in one line.
printf 'id,kind,x0\nann,1,0.5\nbob,2,0.25\ncid,1,0.125\n' >nodes.csv
printf 'src,dst,time\nann,bob,3\nbob,cid,1\ncid,ann,2\nann,cid,5\n' >edges.csv
check 'gnn-import reads names and times' gnn-import --directed --nodes person=nodes.csv:id --edges person/knows/person=edges.csv:src,dst -o named
left() { # WHAT STORE
    rm -rf F
    check "gnn-partition writes what it can of $2" gnn-partition --layout dgl -k 1 -o F "$2"
    cp err said
    check "gnn-partition says that the layout does not hold: $1" grep -q "^gnn-partition: F: the layout of DGL does not hold: .*$1" said
    check 'gnn-partition says so in one line' sh -c 'test "$(grep -c "does not hold" said)" -eq 1'
}
left 'names of nodes' named
left 'that edges are in the order of their times' named
left 'the name of the split random' sbm
gnn-import -q --split-links node/to/node=0.8/0.1/0.1 -o links sbm
left 'sets of links' links
printf 'ann\nbob\n' >t.txt
printf 'cid\n' >v.txt
gnn-import -q --directed --nodes person=nodes.csv:id --edges person/knows/person=edges.csv:src,dst --split random:0.4,0.3,0.3 --split train=v.txt,valid=t.txt -o twice
left 'the split file' twice
gnn-import -q --directed -o splits prefixes
left 'the split ab' splits
left 'the split a,' splits
seq 0 98 | awk '{ print $1, $1 + 1 }' >bare.txt
gnn-import -q -o bare bare.txt && gnn-import -q --split-links node/to/node=0.8/0.1/0.1 -o barelinks bare
left 'sets of links' barelinks

# What cannot be written.
refuses 2 "unknown value 'graphbolt'; one of: gnb, dgl" 'an unknown layout' gnn-partition --layout graphbolt -k 2 -o X sbm
refuses 2 'halo-edges has no effect on --layout dgl' 'halo edges' gnn-partition --layout dgl --halo-edges -k 2 -o X sbm
refuses 2 'no-edge-ids has no effect on --layout dgl' 'edges without ids' gnn-partition --layout dgl --no-edge-ids -k 2 -o X sbm
refuses 2 'F: already exists (use --force to replace a partition of DGL)' 'a folder that is there' gnn-partition --layout dgl -k 2 -o F sbm
refuses 2 'sbm3: exists and is not a partition of DGL of that name; not replaced' 'a store that is there' gnn-partition --layout dgl --force -k 2 -o sbm3 sbm
refuses 2 'store.json is the file of a store: another name' 'a folder that would be a store' gnn-partition --layout dgl -k 2 -o store sbm
echo mine >F/part0/mine
refuses 2 "F: holds 'part0/mine' besides a partition of DGL; not replaced" 'a folder with something else' gnn-partition --layout dgl --force -k 2 -o F sbm
check 'gnn-partition keeps what it does not replace' grep -qx mine F/part0/mine
rm F/part0/mine
refuses 2 'F: exists and is not a store; not replaced' 'a partition of DGL in place of a store' gnn-partition --force -k 2 -o F sbm
echo mine >F/part9
refuses 2 "F: holds 'part9' besides a partition of DGL; not replaced" 'a folder with a file that is called as a part' gnn-partition --layout dgl --force -k 2 -o F sbm
check 'gnn-partition keeps the file' grep -qx mine F/part9
rm F/part9
mkdir F/part7
echo mine >F/part7/mine
refuses 2 "F: holds 'part7/mine' besides a partition of DGL; not replaced" 'a folder with another part of somebody' gnn-partition --layout dgl --force -k 2 -o F sbm
check 'gnn-partition keeps what is in it' grep -qx mine F/part7/mine
rm -r F/part7
mkdir -p F/part0/node_feat.d F/part1/kept.dgl
refuses 2 "F: holds 'part[01]/[a-z_.]*' besides a partition of DGL; not replaced" 'a folder with folders in its parts' gnn-partition --layout dgl --force -k 2 -o F sbm
rmdir F/part0/node_feat.d F/part1/kept.dgl
mkdir config
echo '{"num_parts": 2}' >config/config.json
refuses 2 'config: exists and is not a partition of DGL of that name; not replaced' 'a folder with a JSON alone' gnn-partition --layout dgl --force -k 2 -o config sbm
check 'gnn-partition keeps the JSON' grep -q num_parts config/config.json
check 'gnn-partition --force replaces a partition of DGL' gnn-partition --layout dgl --force -k 3 -o F sbm
mkdir new
check 'gnn-partition writes one beside it' gnn-partition --layout dgl -k 3 -o new/F sbm
check 'gnn-partition --force leaves what a new one would be' diff -r F new/F
refuses 1 'nowhere/F: cannot create' 'a folder in none' gnn-partition --layout dgl -k 2 -o nowhere/F sbm
rm -rf X
status 1 'gnn-partition fails where a file may not be as long' sh -c 'ulimit -f 40 && gnn-partition --layout dgl -k 2 -o X sbm'
cp err said
check 'gnn-partition says which' grep -q '^gnn-partition: X' said
check 'gnn-partition leaves nothing of what it could not write' sh -c '! ls -d X* 2>/dev/null'
mkdir -p X.tmp.0123456789abcdef/part0 && : >X.tmp.0123456789abcdef/part0/graph.dgl && : >X.tmp.0123456789abcdef/X.json && : >X.tmp.0123456789abcdef/orig_nids.dgl
check 'gnn-partition writes beside what a killed one has left' gnn-partition --layout dgl -k 2 -o X sbm
check 'gnn-partition removes what a killed one has left' sh -c 'ls -d X* | grep -qx X && ! ls -d X.tmp* 2>/dev/null'
check 'gnn-partition --layout gnb is the default' sh -c 'gnn-partition -q --no-provenance -k 2 -o g1 sbm && gnn-partition -q --no-provenance --layout gnb -k 2 -o g2 sbm && gnn-inspect --diff g1 g2'
printf 'src,dst,y,label\nann,bob,3,1\nbob,cid,1,2\n' >edges.csv
gnn-import -q --directed --nodes person=nodes.csv:id --edges person/knows/person=edges.csv:src,dst -o clash
refuses 3 "clash: fields 'y' and 'label' of knows: the first is called 'label' in DGL" 'two fields of one name' gnn-partition --layout dgl -k 2 -o Y clash
gnn-import -q --directed -o colon colon.npy
refuses 3 "colon: relation 'r:s': a name with ':' or '/', which DGL cannot load" 'a name that DGL takes apart' gnn-partition --layout dgl -k 2 -o Y colon
check 'gnn-partition leaves nothing of them' test ! -e Y
done_testing
