# SPDX-License-Identifier: Apache-2.0
# gnn-inspect: reports, differences, and damage that --verify has to find.
. "$GNN_TOP/tests/lib.sh"

gnn-import -q --no-provenance sbm:nodes=300 -o one || exit 1
gnn-import -q --no-provenance --seed 2 sbm:nodes=300 -o two || exit 1
gnn-partition -q --no-provenance -k 3 -o three one || exit 1

says() { check "$1" grep -q -- "$2" said; }

check "gnn-inspect reports on a store" sh -c 'gnn-inspect -t -s --metrics m three >said'
check "gnn-inspect --metrics reports on a store" grep -q "\"stage\":\"gnn-inspect\".*\"kind\":\"store\"" m
says "gnn-inspect names the store, its partitions and identity" '^store three: 3 partitions, identity [0-9a-f]\{16\}'
says "gnn-inspect lists node types and their fields" '^  nodes  node  *300: x f32\[16\], y i32$'
says "gnn-inspect counts the edges of a store" '^  edges  node/to/node  *3000$'
says "gnn-inspect lists the sets of a store" '^  split  random/train  *180  of node$'
says "gnn-inspect -t lists the tensors of a store" '^2     node/node/x  *f32 '
says "gnn-inspect -s shows the in-degrees of a store" 'in-degree  min [0-9]*, median 10, mean 10, max'
says "gnn-inspect -s shows the range of features" 'node/node/x: min -[0-9.]*, mean [-0-9.e]*, max [0-9.]*$'
says "gnn-inspect -s counts the members of each class" 'members of each class: 75 75 75 75$'
check "gnn-inspect --json reports on a store" sh -c 'gnn-inspect -t -s --json three >said'
check "gnn-inspect --json holds what the report holds" perl -MJSON::PP -0777 -e '
    my $r = decode_json(<>);
    die unless $r->{kind} eq "store" && $r->{parts} == 3 && $r->{node_types}[0]{count} == 300 &&
        $r->{statistics}{edges}[0]{in_degree}{mean} == 10 && @{$r->{tensors}} > 30' said

check "gnn-inspect --diff finds a store equal to itself" gnn-inspect --diff one one
check "gnn-inspect --diff prints nothing for equal stores" sh -c 'test -z "$(gnn-inspect --diff one one)"'
status 1 "gnn-inspect --diff finds two stores different" gnn-inspect --diff one two
check "gnn-inspect --diff names the tensor and element in which stores differ" \
    sh -c 'gnn-inspect --diff one two | grep -q "^part 0, tensor [a-z/]*, element [0-9]*: [-0-9.e]* | "'
status 1 "gnn-inspect --diff finds a store and its partitions different" gnn-inspect --diff one three
check "gnn-inspect --diff names the member of the header in which stores differ" sh -c 'gnn-inspect --diff one three | grep -qx "header.parts: 1 | 3"'
check "gnn-inspect --diff --original finds a store equal to its partitions" gnn-inspect --diff --original one three
status 1 "gnn-inspect --diff --json finds two stores different" sh -c 'gnn-inspect --diff --json one two >said'
check "gnn-inspect --diff --json says where stores differ" perl -MJSON::PP -0777 -e 'my $r = decode_json(<>); die if $r->{equal} || !$r->{where}' said

check "gnn-inspect --verify finds a store sound" gnn-inspect --verify three
check "gnn-inspect --verify --against finds partitions to be the graph of the whole" gnn-inspect --verify --against one three
status 3 "gnn-inspect --verify --against refuses partitions of another graph" gnn-inspect --verify --against two three
mv err said
says "gnn-inspect --verify --against says which graph it is not" 'is not the graph of two: '

for args in "--verify --diff one one" "--diff one" "one two" "--against one two" "--original one" "--store one --diff one two" \
    "--diff --ignore time one two" "--diff --original --ignore identity one two" "--json --export x one" "--verify -t one" "--export"; do
    # shellcheck disable=SC2086
    status 2 "gnn-inspect refuses $args" gnn-inspect $args
done
status 3 "gnn-inspect refuses a store that is not there" gnn-inspect absent
mkdir empty
status 3 "gnn-inspect refuses an empty directory" gnn-inspect empty
: >null
status 3 "gnn-inspect refuses an empty file" gnn-inspect null
status 3 "gnn-inspect refuses a partition of a store alone" gnn-inspect three/part-00000.gnb
status 1 "gnn-inspect -t fails on a full disk" sh -c 'gnn-inspect -t three >/dev/full'
status 1 "gnn-inspect --export fails on a full disk" gnn-inspect --export /dev/full one

# Bits: any flip anywhere is found, and any cut.
hurt() { # NAME MODE COUNT FILE
    if perl "$GNN_TOP/tests/faults/hurt.pl" "$2" "$3" "$4" "$4" - gnn-inspect --verify three >hurt.log 2>&1; then
        _ok "$1: $(tail -n 1 hurt.log)"
    else
        _not_ok "$1"
        sed 's/^/# /' hurt.log
    fi
}
hurt "gnn-inspect --verify finds flipped bits in a partition" flip 150 three/part-00001.gnb
hurt "gnn-inspect --verify finds flipped bits in store.json" flip 60 three/store.json
hurt "gnn-inspect --verify finds a partition cut at any edge" edges 0 three/part-00002.gnb
hurt "gnn-inspect --verify finds a partition cut anywhere" cut 40 three/part-00000.gnb
mv three/part-00000.gnb p && mv three/part-00001.gnb three/part-00000.gnb && mv p three/part-00001.gnb
status 3 "gnn-inspect --verify finds swapped partitions" gnn-inspect --verify three
mv three/part-00000.gnb p && mv three/part-00001.gnb three/part-00000.gnb && mv p three/part-00001.gnb
check "gnn-inspect --verify finds a store sound whose damage is undone" gnn-inspect --verify three

# Sense: right checksums over wrong contents.
python=
for p in python3 /usr/bin/python3; do
    $p -c 'import numpy, xxhash' 2>/dev/null && python=$p && break
done
if [ -n "$python" ]; then
    e=edge/node/to/node
    # status leaves stderr in ./err, and check overwrites it.
    wrong() { # CHANGE PATTERN
        rm -rf bad
        PYTHONDONTWRITEBYTECODE=1 "$python" "$GNN_TOP/tests/interop/roundtrip.py" copy three bad "$1" || exit 1
        status 3 "gnn-inspect --verify finds the change $1" gnn-inspect --verify bad
        mv err err.wrong
        check "gnn-inspect --verify says what the change $1 did" grep -q -- "$2" err.wrong
    }
    wrong "0/$e/indptr=5=100000" "part-00000.gnb: tensor $e/indptr"
    wrong "1/$e/indices=7=300" "part-00001.gnb: tensor $e/indices: element 7 is 300, of 300 nodes"
    wrong "1/$e/id=9=0" "part-00001.gnb: tensor $e/id: element 9 is 0"
    wrong "2/node/node/id=3=300" "part-00002.gnb: tensor node/node/id: element 3 is 300, which is out of range"
    wrong "2/node/node/id=3=5" "which is a duplicate"
    wrong "0/halo/node/ids=2=299" "halo/node/ids: element 2 should be"
    wrong "0/halo/node/owner=2=0" "halo/node/owner: element 2 is 0; partition [12] owns"
    wrong "1/halo/node/ids" "halo/node/ids is missing"
    wrong "1/split/random/train=0=0" "split/random/train: element 0 is node 0, which the partition does not own"
    wrong "1/split/random/train=0=300" "split/random/train"
    wrong "1/split/random/train/order=0=180" "split/random/train"
    wrong "2/book/node=1=1" "book"
    wrong "0/$e/id" "$e/id"
else
    skip "gnn-inspect --verify finds wrong contents with right checksums" "no python3-numpy with python3-xxhash"
fi
status 0 'gnn-inspect -q --verify finds a store sound' gnn-inspect -q --verify one
[ ! -s out ] && _ok 'gnn-inspect -q --verify prints nothing' || _not_ok 'gnn-inspect -q --verify prints nothing'
done_testing
