# SPDX-License-Identifier: Apache-2.0
# gnn-inspect --leaks: edges of the future and seeds of several sets are counted.
. "$GNN_TOP/tests/lib.sh"
python=/usr/bin/python3
"$python" -c 'import numpy, xxhash' 2>/dev/null || { skip 'gnn-inspect --leaks counts edges of the future' 'no numpy or xxhash'; done_testing; }
smp() { gnn-sample -q --no-provenance "$@"; }
says() { check "$1" grep -qxF -- "$2" said; }
# WHAT of FILE: a number of the report
number() { perl -MJSON::PP -0777 -e 'my $x = decode_json(<STDIN>); $x = $x->{$_} for split m{/}, $ARGV[0]; print $x' "$1" <"$2"; }
change() { "$python" "$GNN_TOP/tests/inspect/change.py" "$@"; }

# A million edges, none of which is of the future.
gnn-import -q -o big sbm:nodes=40000,degree=30,times=1
perl -e 'srand 5; print int rand 40000, " ", int rand 600000, "\n" for 1 .. 12000' >pairs
smp big -f 10,10 -b 1000 --seeds pairs --time-rule le -o big.gnb
check "gnn-inspect --leaks finds no edge of the future" sh -c 'gnn-inspect --leaks --against big big.gnb >said'
check "gnn-inspect --leaks says so" grep -qE '^edges of the future: 0 of [0-9]+ in 12 batches$' said
check "gnn-inspect --leaks --json says so, too" sh -c 'gnn-inspect --json --leaks --against big big.gnb >json'
check "gnn-inspect --leaks looks at a million edges" test "$(number edges json)" -ge 1000000
check "gnn-inspect --leaks counts none" test "$(number future_edges/count json)" -eq 0
check "gnn-inspect -q --leaks says nothing of a stream without leaks" sh -c 'test -z "$(gnn-inspect -q --leaks --against big <big.gnb)"'

# In each batch, the first pick that can be gives way to a later in-edge of the same node.
gnn-import -q -o S sbm:nodes=300,degree=6,times=1
perl -e 'srand 8; print int rand 300, " ", int rand 1800, "\n" for 1 .. 60' >some
for rule in le lt; do
    smp S -f 4 -b 20 --seeds some --time-rule $rule --edge-ids -o good.$rule
    check "edges of the future are planted ($rule)" change good.$rule planted '
_, (s,) = gnb.read_store("S")
e, k = "edge/node/to/node/", "hop/0/node/to/node/"
with open("where", "w") as f:
    for nth, x in enumerate(b):
        for row in range(len(x[k + "indptr"]) - 1):
            at, v, t = int(x[k + "indptr"][row]), int(x["nodes/node"][row]), x["time/node"][row]
            last = int(s[e + "indptr"][v + 1]) - 1
            src = s[e + "indices"][last]
            local = int(x[k + "indices"][at]) if at < x[k + "indptr"][row + 1] else 0
            old = local < x["counts/node"][0] or ((x["nodes/node"] == src) & (x["time/node"] == t)).any()
            if at < x[k + "indptr"][row + 1] and s[e + "time"][last] > t and not old:
                break
        x[k + "id"][at], x["nodes/node"][local] = last, src
        print("batch %d: hop 0: edge %d of node/to/node: %d -> %d" % (nth, at, src, v), file=f)'
    for many in 3 1; do
        [ $many = 3 ] || change planted planted 'b = b[2:]'
        status 1 "gnn-inspect --leaks finds edges of the future: $many of $many ($rule)" gnn-inspect -q --leaks --against S planted
        cp out said
        check "gnn-inspect --leaks counts each of them" grep -q "^edges of the future: $many of [0-9]* in $many batches; first: batch 0: hop 0: edge " said
        check "gnn-inspect --leaks says where the first is" grep -qF "; first: $(sed -n "$((4 - many))s/batch ./batch 0/p" where)" said
    done
done
status 3 "gnn-inspect --verify refuses what --leaks counts" gnn-inspect --verify --against S planted
status 1 "gnn-inspect --leaks --json has status 1, too" gnn-inspect --json --leaks --against S planted
cp out json
check "gnn-inspect --leaks --json says where the first is" test "$(number future_edges/first json)" = "$(sed -n 's/batch ./batch 0/;3p' where)"

# The rule says whether the seed's own time is the future; what is too old is not.
"$python" "$GNN_TOP/tests/sample/temporal.py" i.npz i8 300 3000
gnn-import -q -o I i.npz
gnn-partition -q -k 4 -o I4 I
perl -e 'print 7 * $_ % 300, " ", $_ % 90 - 40, "\n" for 1 .. 300' >more
for how in 'I --edge-ids' 'I --disjoint --edge-ids' 'I4 --edge-ids --original-ids' I 'I4 --original-ids'; do
    rm -f now
    smp $how -f -1 -b 30 --seeds more --time-rule le -o now
    check "gnn-inspect --leaks finds none of $how" gnn-inspect --leaks --against ${how%% *} now
    change now lt 'h["sampling"]["time"]["rule"] = "lt"'
    gnn-inspect --json --leaks --against ${how%% *} lt >json
    echo "$(number future_edges/count json) of $(number edges json)" >>got
done
# Without their ids, edges of the seed's time pass for earlier ones between the same nodes.
check "the time of the seed is the future under lt" "$python" - "$GNN_TOP/tests/interop" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import gnb
_, (s,) = gnb.read_store("I")
edges = same = new = 0
for v, t in (map(int, line.split()) for line in open("more")):
    a, b = map(int, s["edge/node/to/node/indptr"][v:v + 2])
    src, time = s["edge/node/to/node/indices"][a:b], s["edge/node/to/node/effective_time"][a:b]
    edges += (time <= t).sum()
    same += (time == t).sum()
    new += sum(u not in src[time < t] for u in src[time == t])
got = open("got").read().split("\n")
assert got == 3 * ["%d of %d" % (same, edges)] + 2 * ["%d of %d" % (new, edges)] + [""], got
assert same > new > 10
END
change now old 'h["sampling"]["time"]["window"] = 0'
status 3 "gnn-inspect --verify refuses an edge that is too old" gnn-inspect --verify --against I4 old
check "gnn-inspect --leaks does not: it leaks nothing" gnn-inspect --leaks --against I4 old

# Sets that share nodes: of two splits in a stream, or of one in a store that another program wrote.
"$python" "$GNN_TOP/tests/sample/temporal.py" w.npz f8 600 9000
gnn-import -q --split random:0.5,0.25,0.25 -o W w.npz
smp W -f 4 -b 40 --time-rule lt --split random/train --eval random/valid --epochs 2 -o apart
check "gnn-inspect --leaks finds nothing in the sets of one split" gnn-inspect --leaks --against W apart
smp W -f 4 -b 40 --time-rule lt --split random/train --eval mask/train --epochs 2 -o both
status 1 "gnn-inspect --leaks finds seeds of several sets" gnn-inspect --leaks --against W both
cp out said
shared=$(gnn-inspect --raw --export - W | "$python" -c 'import io, sys, numpy as np
x = np.load(io.BytesIO(sys.stdin.buffer.read()))
print(len(set(x["split/random/train"]) & set(x["split/mask/train"])))')
check "gnn-inspect --leaks counts each of them once in all epochs" grep -q "^nodes that are seeds in several sets: $shared; first: batch 8: seed [0-9]* of set mask/train is also one of set random/train$" said
says "gnn-inspect --leaks tells the kinds apart" 'nodes in several sets of one split of the store: 0'
one=$(gnn-inspect --raw --export - W | "$python" -c 'import io, sys, numpy as np
print(np.load(io.BytesIO(sys.stdin.buffer.read()))["split/random/train"][7])')
"$python" "$GNN_TOP/tests/interop/roundtrip.py" copy W O "0/split/random/test=2=$one"
check "gnn-inspect --verify finds a store with overlapping sets sound" gnn-inspect --verify O
status 1 "gnn-inspect --leaks finds them without a stream" gnn-inspect --leaks O
smp O -f 4 -b 40 --time-rule lt -o o.gnb
status 1 "gnn-inspect --leaks finds overlapping sets of a store" gnn-inspect --leaks --against O o.gnb
cp out said
says "gnn-inspect --leaks names the node and the sets" \
    "nodes in several sets of one split of the store: 1; first: split random: node $one is in train and in test"

# What is refused.
refusing='gnn-inspect --leaks'
smp S -f 3 -b 50 -o plain
smp S -f 4,3 -b 20 --seeds some --time-rule le --edge-ids -o two
gnn-train -q --store S -f 3,3 --hidden 4 -o m.safetensors
refuses 2 'plain: its batches are not of links, and have no times: sample them with gnn-sample --links or --time-rule' 'batches without times' gnn-inspect --leaks --against S plain
refuses 2 '--leaks: requires --against, unless its input is a store' 'a stream without its store' gnn-inspect --leaks two
refuses 2 '--against: has no effect with --leaks S, which is a store' 'a store' gnn-inspect --leaks --against S S
refuses 2 '--leaks: m.safetensors is not a store or a stream' 'a model' gnn-inspect --leaks --against S m.safetensors
refuses 2 'exclude each other' '--verify' gnn-inspect --leaks --verify --against S two
refuses 2 'has no effect with' --stats gnn-inspect --leaks --stats --against S two
refuses 3 'sampled from another store' 'another store' gnn-inspect --leaks --against W two
refuses 3 'cut short' 'a stream that is cut' sh -c 'head -c -700 two | gnn-inspect --leaks --against S'
change two other 'x = b[1]["hop/0/node/to/node/id"]; x[0] += np.uint64(1)'
refuses 3 'batch 1: hop 0: edge [0-9]* -> [0-9]* is not in the store' 'an edge that is not there' gnn-inspect --leaks --against S other
change two other 'b[2]["time/node"][0] += 1'
refuses 3 'leads to another time' 'an edge between times' gnn-inspect --leaks --against S other
done_testing
