# SPDX-License-Identifier: Apache-2.0
# --induced: batches with all edges among the nodes that were found. tests/rules looks at each rule.
. "$GNN_TOP/tests/lib.sh"
python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || { skip 'gnn-sample --induced finds the edges among nodes' 'no numpy'; done_testing; }
smp() { gnn-sample -q --no-provenance "$@"; }
look() { "$python" "$GNN_TOP/tests/sample/induced.py" "$@"; }
refusing=gnn-sample
"$python" "$GNN_TOP/tests/sample/temporal.py" times.npz i8 600 9000
gnn-import -q -o timed times.npz
gnn-import -q -o plain sbm:nodes=1500,degree=12
gnn-import -q -o typed sbm:nodes=700,types=3,weights=1

# Fewer edge types, more hops, one seed, all neighbours.
smp plain -f -1 -b 1 --steps 0:30 -o sampled
smp plain -f -1 -b 1 --steps 0:30 --induced --edge-ids -o one
check "gnn-sample --induced finds edges round one seed" look plain one sampled
smp typed -f 4,4,4 -f t0/up/t1=0,0,0 -b 30 -o sampled
smp typed -f 4,4,4 -f t0/up/t1=0,0,0 -b 30 --induced --edge-ids -o one
check "gnn-sample --induced leaves out edge types that are not sampled" look typed one sampled

# Epochs, evaluation, seeds from a pipe, slices.
smp plain -f 5,3 -b 60 --epochs 2 --eval valid --induced -o whole
smp plain -f 5,3 -b 60 --induced -o first
gnn-sample -q plain -f 5,3 -b 7 --seeds - --induced <<. | gnn-inspect --verify - --against plain >said
3
5
3
.
check "gnn-sample --induced takes seeds from a pipe" grep -q 'edges: [1-9]' said
check "gnn-inspect names the rule" sh -c 'gnn-inspect whole | grep -q -e " --induced"'
check "streams of induced edges are of version 2" test "$(od -An -tu2 -j4 -N2 whole)" -eq 2
(head -c 4 whole; printf '\001'; tail -c +6 whole) >old
status 3 "a stream of induced edges of version 1 is refused" gnn-inspect --verify old
smp plain -f 5,3 -b 60 -o sampled
status 1 "gnn-inspect --diff tells induced edges from others" gnn-inspect --diff first sampled
status 3 "streams with and without induced edges cannot be one" sh -c 'cat first sampled | gnn-gather -c plain'

# A proof says also what is missing.
change() { "$python" "$GNN_TOP/tests/inspect/change.py" "$@"; }
if "$python" -c 'import xxhash' 2>/dev/null; then
    name='hop/2/node/to/node'
    change first forged "x = b[0]; p = x['$name/indptr']; p[-1] -= 1; x['$name/indices'] = x['$name/indices'][:-1]"
    status 3 "gnn-inspect --verify misses an induced edge that is not there" gnn-inspect --verify forged --against plain
    cp err said
    check "gnn-inspect names its destination" grep -q 'batch 0: .* edges of node/to/node into node .* are not those that lead there' said
    for what in 'h["sampling"]["induced"] = 1' 'h["sampling"]["fanout"][2] = [3]' 'h["sampling"]["fanout"] = [[-1]]' \
        "b[0]['hop/0/node/to/node/indptr'] = b[0]['$name/indptr']"; do
        change first forged "$what"
        status 3 "gnn-gather refuses a stream whose $what" gnn-gather -q -c -i forged plain
    done
else
    skip "gnn-inspect --verify misses induced edges" "no xxhash"
fi

# What follows.
check "gnn-gather gathers for induced edges" sh -c 'gnn-gather -q -i whole plain -o gathered && gnn-inspect --verify gathered --against plain'
check "gnn-gather --plan counts batches with induced edges" gnn-gather -i whole --plan --cache 0.1 plain
smp typed -f 5,3 -b 60 --weight weight --induced --edge-ids --steps 0:4 | gnn-gather -q -F x,y,weight typed -o gathered
check "gnn-gather gathers fields of induced edges" gnn-inspect --verify gathered --against typed
check "gnn-sample --count counts induced edges" sh -c 'gnn-sample plain -f 5,3 -b 60 --induced --count | grep -q "^hop 2: edges [1-9][0-9]* new nodes 0$"'
gnn-sample -q plain -f 5,3 -b 60 --induced --count --frequency a.npy >/dev/null
gnn-sample -q plain -f 5,3 -b 60 --count --frequency b.npy >/dev/null
check "the nodes are those of sampling without --induced" cmp a.npy b.npy

# What is refused.
refuses 2 'induced edges lead to nodes that have the time of their seed' 'times of edges' \
    gnn-sample timed -f 5,3 --time-rule le --hop-time edge --induced -o x
refuses 2 'cannot be used with --walk-length' '--induced with walks' gnn-sample plain --walk-length 3 --induced -o x
refuses 2 'after more than 63 hops' 'too many hops' \
    gnn-sample plain --induced -o x -f "$(perl -e 'print join ",", (1) x 64')"
check "nothing is left of what was refused" test -z "$(ls -d x x.* 2>/dev/null)"
done_testing
