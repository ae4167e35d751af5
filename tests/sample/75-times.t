# SPDX-License-Identifier: Apache-2.0
# gnn-sample --time-rule: edges by their times and that of the seed. tests/rules looks at what each rule picks.
. "$GNN_TOP/tests/lib.sh"
python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || { skip 'gnn-sample --time-rule picks edges by time' 'no numpy'; done_testing; }
smp() { gnn-sample -q --no-provenance "$@"; }
look() { "$python" "$GNN_TOP/tests/sample/times.py" "$@"; }
refusing=gnn-sample
"$python" "$GNN_TOP/tests/sample/temporal.py" whole.npz i8 600 9000
"$python" "$GNN_TOP/tests/sample/temporal.py" real.npz f8 600 9000
for s in whole real; do
    gnn-import -q -o $s $s.npz
    gnn-partition -q -k 4 -o ${s}4 $s
done

smp whole -f 5,3 -b 60 --time-rule le -o all
check "gnn-inspect names the rule" sh -c 'gnn-inspect all | grep -q -e "--time-rule le --seed-time"'
smp whole -f 5,3 -b 60 -o plain
status 1 "gnn-inspect --diff tells temporal batches from others" gnn-inspect --diff all plain
status 3 "temporal batches and others cannot be one stream" sh -c 'cat all plain | gnn-gather -c whole'

# Seeds with times of their own. After all edges there is nothing that a time could rule out.
bits() { rm -rf $1.d && mkdir $1.d && gnn-inspect --export $1.npz $1 && (cd $1.d && unzip -q ../$1.npz && find . -name '*.npy' ! -path '*/time/*' | sort | xargs cksum) >$1.sums; }
perl -e 'print "$_ 60\n" for map { 7 * $_ % 600 } 1 .. 500' >late
cut -d' ' -f1 late >ids
for how in '' -r '--weight weight' '--weight weight -r' --labor --disjoint; do
    smp whole -f 5,3 -b 60 --seeds ids $how --edge-ids -o plain
    smp whole -f 5,3 -b 60 --seeds late --time-rule le $how --edge-ids -o after
    bits plain && bits after
    check "gnn-sample $how draws for late seeds what it draws without times" sh -c 'test $(wc -l <plain.sums) -gt 30 && cmp plain.sums after.sums'
done
perl -e 'srand 3; print int rand 600, " ", int(rand 120) - 60, "\n" for 1 .. 500' >pairs
smp whole -f 5,3 -b 60 --seeds pairs --time-rule lt --edge-ids -o one
check "gnn-sample takes the times of seeds from their file" look whole one
smp whole -f 5,3 -b 60 --seeds - --time-rule lt --edge-ids <pairs -o piped
bits one && bits piped
check "gnn-sample takes the times of seeds from a pipe" cmp one.sums piped.sums
printf '\n1 20\n2 -5\n\n3 30\n\n\n4 40\n' | smp whole -f 5,3 -b 60 --seeds - --time-rule lt --edge-ids -o lists
check "an empty line ends a batch of seeds with times" sh -c 'gnn-inspect lists | grep -q "batches 3, 4 seeds"'
smp whole4 -f 5,3 -b 60 --seeds pairs --time-rule lt --edge-ids --original-ids -o piped
check "gnn-sample takes times of original ids from 4 partitions" gnn-inspect --verify piped --against whole4
smp real -f 5,3 -b 60 --seeds pairs --time-rule lt --shuffle --edge-ids -o one
check "gnn-sample shuffles seeds with their times" look real one
smp real -f 5,3 -b 60 --seeds ids --time-rule lt --seed-time time --edge-ids -o one
check "gnn-sample takes the times of listed seeds from a field" gnn-inspect --verify one --against real
printf '5 1\n5 9\n5 1\n5 -3\n' >same
smp whole -f -1 -b 9 --seeds same --time-rule le --edge-ids -o one
check "a node at three times is three seeds" sh -c 'gnn-inspect one | grep -q "batches 1, 3 seeds"'
smp whole -f -1 -b 9 --seeds same --time-rule le --disjoint --edge-ids -o one
check "with --disjoint, each line is a seed" sh -c 'gnn-inspect one | grep -q "batches 1, 4 seeds"'
echo '5 -9223372036854775808' >first
check "gnn-sample says that nothing is before the first edge" sh -c 'gnn-sample whole -f 3,3 --seeds first --time-rule le -o o 2>said; grep -q "warning: --time-rule left no edges" said'
check "gnn-sample says nothing of that where there are edges" sh -c 'gnn-sample whole -f 3,3 --time-rule le -o o 2>said; ! grep -q "no edge is of a time" said'
check "gnn-sample samples nothing before the first edge" sh -c 'gnn-sample whole -f 3,3 --seeds first --time-rule le | gnn-inspect - | grep -q "edges of each hop: 0 0"'

# What reads temporal batches.
smp whole -f 5,3 -b 60 --time-rule lt --window 30 -o batches
check "temporal batches are of version 2" test "$(od -An -tu2 -j4 -N2 batches)" -eq 2
check "gnn-gather gathers for temporal batches" sh -c 'gnn-gather -q -i batches whole -o gathered && gnn-inspect --verify gathered --against whole'
check "gnn-gather gathers the same from 4 partitions" sh -c 'gnn-sample -q whole4 -f 5,3 -b 60 --time-rule le | gnn-gather -q whole4 | gnn-inspect --verify - --against whole4'
check "gnn-gather --plan counts temporal batches" gnn-gather -i batches --plan --cache 0.1 whole
gnn-train -q --store whole -f 5,3 -b 60 --time-rule le --epochs 2 --eval valid --hidden 8 -o a.safetensors
gnn-sample -q whole -f 5,3 -b 60 --time-rule le --epochs 2 --eval valid | gnn-gather -q whole | gnn-train -q --hidden 8 -o b.safetensors
check "gnn-train --time-rule makes the model of a pipeline" gnn-inspect --diff --ignore provenance a.safetensors b.safetensors
gnn-train -q --store whole -f 5,3 -b 60 --epochs 2 --eval valid --hidden 8 -o c.safetensors
status 1 "gnn-train --time-rule makes another model than without" gnn-inspect --diff --ignore provenance a.safetensors c.safetensors
check "gnn-sample --frequency counts temporal batches" gnn-sample -q whole -f 6,4 -b 60 --time-rule le --count --frequency f.npy
check "gnn-sample warns of weights that are not used" sh -c 'gnn-sample whole -f 3 --time-rule le -o o 2>said; gnn-import -q -o w sbm:nodes=90,times=1,weights=1 && gnn-sample w -f 3 --seeds /dev/stdin --time-rule le -o o 2>said <<X
1 5
X
grep -q "weight is not used: neighbours are sampled uniformly among those of their time" said'

# A batch with an edge of the future.
check "an edge of another time is made" "$python" - "$GNN_TOP/tests/interop" <<'END'
import json, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import gnb
_, parts = gnb.read_store("whole")
at, key = parts[0]["edge/node/to/node/indptr"].astype("i8"), "hop/0/node/to/node/"
with open("one", "rb") as f:
    frames = list(gnb.read_frames(f))
batch = {n: a.copy() for n, a in frames[1][1]}
order = frames[0][1]["schema"]["edge_types"][0]["order"]
time = parts[0]["edge/node/to/node/" + order]
for row in range(len(batch[key + "indptr"]) - 1):
    a, v = int(batch[key + "indptr"][row]), int(batch["nodes/node"][row])
    last = int(at[v + 1]) - 1
    if batch[key + "indptr"][row + 1] > a and time[last] > batch["time/node"][row]:
        break
src = int(parts[0]["edge/node/to/node/indices"][last])
batch[key + "id"][a] = last
local = int(batch[key + "indices"][a])
batch["nodes/node"][local] = src if src not in batch["nodes/node"] else batch["nodes/node"][local]
assert batch["nodes/node"][local] == src, "another seed would do"
with open("planted", "wb") as f:
    gnb.write_frames(f, frames[0][1], [list(batch.items())])
END
status 3 "gnn-inspect --verify finds an edge of the future" gnn-inspect --verify planted --against whole
mv err said
check "and says which it is" grep -q 'hop 0: edge [0-9]* -> 5 is of a time that its seed rules out' said

# What is refused.
gnn-import -q -o none sbm:nodes=90
refuses 2 "edges 'node/to/node' have no times by which they are ordered" 'edges without times' smp none -f 3 --time-rule le -o x
refuses 2 "nodes 'node' have no field 'time'" 'nodes without times' smp w -f 3 --time-rule le -o x
refuses 2 "no field 'date'" 'a field that is not there' smp whole -f 3 --time-rule le --seed-time date -o x
refuses 2 "field 'x' of nodes 'node' is f32 with several columns, but times of edges are i64" 'a field of another type' smp whole -f 3 --time-rule le --seed-time x -o x
refuses 2 "times have no effect: no edges are sampled" 'a time rule where nothing is sampled' smp whole -f 0 --time-rule le -o x
for w in -1 1.5 1e3 '' 9223372036854775808 3x; do
    refuses 2 'expected a whole number' "the window '$w' of whole times" smp whole -f 3 --time-rule le --window "$w" -o x
done
for w in -1 nan inf x 1,5; do
    refuses 2 'expected a number' "the window '$w' of real times" smp real -f 3 --time-rule le --window "$w" -o x
done
for o in '--window 3' --latest '--seed-time time' '--hop-time edge'; do
    refuses 2 'requires --time-rule' "$o without --time-rule" smp whole -f 3 $o -o x
done
for o in -r '--weight weight' --labor; do
    refuses 2 'cannot be used with --latest' "--latest with $o" smp whole -f 3 --time-rule le --latest $o -o x
done
refuses 2 'nothing is before the seed' 'an empty window' smp whole -f 3 --time-rule lt --window 0 -o x
refuses 2 'the latest has no effect: all' 'the latest of all' smp whole -f -1 --time-rule le --latest -o x
refuses 2 'one of: seed, edge' 'another time of the next hop' smp whole -f 3 --time-rule le --hop-time node -o x
refuses 2 'one of: any, le, lt' 'another rule' smp whole -f 3 --time-rule ge -o x
printf '1 5\n2\n3 4\n' >lacks
refuses 3 'lacks: line 2: expected a node id and its time' 'a seed without a time' smp whole -f 3 --time-rule le --seeds lacks -o x
printf '1 5\n2 5.5\n' >lacks
refuses 3 'lacks: line 2: expected a node id and its time, which is a whole number' 'a real time beside whole ones' smp whole -f 3 --time-rule le --seeds lacks -o x
printf '1 5\n2 nan' >lacks
refuses 3 'lacks: line 2: expected a node id and its time' 'a time that is nan' smp real -f 3 --time-rule le --seeds lacks -o x
printf '1 5 2 6\n' >lacks
refuses 3 'lacks: line 1: expected a node id and its time' 'two seeds in a line' smp whole -f 3 --time-rule le --seeds lacks -o x
printf '1 9223372036854775808\n' >lacks
refuses 3 'lacks: line 1: expected a node id and its time' 'a time beyond 2^63' smp whole -f 3 --time-rule le --seeds lacks -o x
refuses 3 'not a node id' 'times of seeds that no rule asks for' smp real -f 3 --seeds "$(sed 's/ /./;q' pairs >odd; echo odd)" -o x
status 2 "gnn-train refuses --time-rule with --full-batch" gnn-train --store whole --full-batch --time-rule le -o x
status 2 "gnn-train refuses --time-rule for a stream" sh -c 'gnn-train --time-rule le -o x <batches'
check "nothing is left of what was refused" test -z "$(ls -d x x.* 2>/dev/null)"
done_testing
