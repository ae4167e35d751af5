# SPDX-License-Identifier: Apache-2.0
# gnn-inspect --verify --against STORE draws all batches again: of all rules, sets, epochs and partitions; and lies that break no law.
. "$GNN_TOP/tests/lib.sh"
python=/usr/bin/python3
"$python" -B -c 'import numpy, xxhash' 2>/dev/null || { skip 'gnn-inspect draws batches again' 'no numpy or xxhash'; done_testing; }
gnn-import -q --dedup -o S sbm:nodes=1000,degree=9,features=4 && gnn-partition -q -k 5 -o P S &&
    "$python" "$GNN_TOP/tests/sample/temporal.py" T.npz i8 600 6000 && gnn-import -q -o T T.npz && gnn-partition -q -k 4 -o U T &&
    gnn-import -q -o H sbm:nodes=600,degree=6,features=4,types=2 && gnn-partition -q -k 3 -o Q H || exit 1
drawn='draws: all batches are those that the header.s recipe draws'
says() { # STORE STREAM TEXT NAME
    gnn-inspect --verify "$2" --against "$1" >said 2>err
    check "$4" logged err grep -q "$3" said
}
while read -r stores opts; do
    stores=$(echo $stores | tr "|" " ")
    for s in $stores; do
        check "gnn-sample $opts draws from $s" gnn-sample -q --seed 5 -b 60 $opts -o b $s
        says $s b "$drawn" "gnn-inspect draws again: $opts of $s"
        turn 3 || continue
        check "gnn-gather gathers $opts of $s" gnn-gather -q -i b -o g $s
        says $s g "$drawn" "gnn-inspect draws again what gnn-gather has passed on: $opts of $s"
    done
done <<'X'
S|P -f 4,3 --epochs 2:4 --eval valid --eval test
S|P -f 4,3 --steps 1:9:3 --epochs 2 --frontier new --edge-ids
S|P -f 4,3 --labor --layer-dependency --batch-dependency 2
T|U -f 4 --disjoint --time-rule lt --latest
T|U -f 3,3 --time-rule le --window 30 --hop-time edge
S|P -f 4,3 --induced --original-ids --drop-last
S|P -f -1,2 -r --no-shuffle
S|P -f 3 --seed-balance --eval valid
S|P --walk-length 5 --walks-per-seed 2 --restart 0.2
S|P --walk-length 5 --pairs 2 --node2vec 0.5,2
H|Q -f 4,3 --eval valid
X
check 'gnn-sample draws clusters' gnn-sample -q --clusters 2 --epochs 3 --eval valid -o c P
says P c "$drawn" 'gnn-inspect draws clusters again'
seq 9 | gnn-sample -q -f 3 --seeds - -o b S
says S b 'draws: not drawn again: their seeds are those of no set' 'gnn-inspect says that a list of seeds is not drawn again'

# Lies that break no other law.
refusing=gnn-inspect
gnn-sample -q -f 4,3 -b 60 -o plain S && gnn-sample -q --walk-length 4 --walks-per-seed 2 -b 60 -o walks S || exit 1
while IFS='|' read -r kind why code; do
    check "$kind batches are changed: $why" "$python" -B "$GNN_TOP/tests/inspect/change.py" "$kind" forged "$code"
    check "gnn-inspect --verify takes it without the store: $why" gnn-inspect --verify forged
    refuses 3 "batch [0-9]*: tensor '.*': not what the header's recipe draws from S" "$why" gnn-inspect --verify forged --against S
done <<'X'
plain|another random seed|h["sampling"]["seed"] = "000000000000000b"
plain|another order of seeds|h["sampling"]["shuffle"] = False
walks|walks of another random seed|h["sampling"]["seed"] = "000000000000000b"
walks|two walks of a seed that are one|x = b[0]["walk"]; x[1] = x[0]; seen = list(dict.fromkeys(v for v in [*range(int(b[0]["counts/node"][0])), *x[:, 1:].T.ravel()] if v < 0xFFFFFFFF)); at = {v: i for i, v in enumerate(seen)}; b[0]["walk"] = np.array([[at.get(int(v), 0xFFFFFFFF) for v in w] for w in x], np.uint32); b[0]["nodes/node"] = b[0]["nodes/node"][seen]; b[0]["counts/node"][1:] = len(seen)
plain|batches under another epoch|for x in b: x["key"][0] += 1
X
done_testing
