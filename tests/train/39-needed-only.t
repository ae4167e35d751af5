# SPDX-License-Identifier: Apache-2.0
# Full batches of only the rows that seeds depend on: exactly as much work as needed. tests/full compares what models learn.
. "$GNN_TOP/tests/lib.sh"
export OMP_NUM_THREADS=1
perl -e 'srand 4; print "source,target,weight\n"; printf "%d,%d,%.3f\n", int rand 401, int rand 380, .1 + rand for 1 .. 500; printf "%d,%d,1\n", $_, $_ * 7 % 380 for 0 .. 400; print "5,5,2\n7,7,0.5\n"' >e.csv
perl -e 'print $_ % 3, "\n" for 1 .. 401' >y.csv
perl -e 'srand 5; print join(",", $_ % 3 + rand, rand, 1), "\n" for 1 .. 401' >x.csv
# Partition 0 has a single node, 1 has no edges and no seeds (the last nodes have none), 2 and 3 share the rest.
perl -e 'print $_ == 9 ? 0 : $_ >= 390 ? 1 : 2 + $_ % 2, "\n" for 0 .. 400' >assign
gnn-import -q --directed --labels y.csv --features x.csv --split random:0.03,0.05,0.05 -o w e.csv && gnn-partition -q -k 5 -o w5 w || _not_ok 'gnn-import and gnn-partition make a graph'
learn='-q --full-batch --optimizer sgd --lr 0.05 --dropout 0.3 --hidden 8 --no-provenance --epochs 4 --eval valid --eval test'
# Exactly the rows, edges and bytes that a walk from the seeds finds; what is evaluated has a walk of its own.
perl -e 'for (0 .. 400) { print $_, "\n" if $_ % 40 == 0 || $_ == 399 }' >train
perl -e 'for (0 .. 400) { print $_, "\n" if $_ % 9 == 4 && $_ % 40 }' >valid
gnn-import -q --directed --labels y.csv --features x.csv --split train=train,valid=valid -o s e.csv && gnn-partition -q --from assign -k 4 -o s4 s || _not_ok 'gnn-import takes seeds'
cat >count.py <<'EOF'
import json, sys
from collections import defaultdict
layers, epochs, width, metrics = int(sys.argv[1]), int(sys.argv[2]), [int(x) for x in sys.argv[3].split(",")], sys.argv[4]
edges = [tuple(map(int, l.split(",")[:2])) for l in open("e.csv").read().split("\n")[1:-1]]
part = [int(x) for x in open("assign")]
into = defaultdict(list)
for a, b in edges:
    into[b].append(a)
def walk(name):
    need = {int(x) for x in open(name)}
    rows, used, halo = [len(need)], [], []
    for l in range(layers):
        used.append(sum(len(into[v]) for v in need))
        halo.append(len({(part[v], u) for v in need for u in into[v] if part[u] != part[v]}))
        need = need | {u for v in need for u in into[v]}
        rows.append(len(need))
    return rows[::-1], used, sum(h * w for h, w in zip(halo, width[::-1]))
rows, used, sent = walk("train")
events = [json.loads(l) for l in open(metrics)]
told = [e["rows"] for e in events if e["event"] == "needed_only"]
assert told == [rows], (told, rows)
assert rows[0] < 300 and rows[-1] == 12, rows
for e in events:
    if e["event"] == "epoch":
        assert e["edges"] == sum(used), (e["edges"], used)
full = next(e for e in events if e["event"] == "full_batch")
assert full["fetched_bytes"] == full["pushed_bytes"] == 4 * epochs * sent, (full, sent)
assert full["evaluated_bytes"] == 4 * epochs * walk("valid")[2], (full, walk("valid"))
EOF
for l in 1 2 3; do
    check "gnn-train --needed-only --layers $l learns" gnn-train -q --full-batch --epochs 4 --needed-only --layers $l $([ $l = 1 ] || echo --hidden 8) --store s4 -m sage --aggr max --encoder 6 \
        --metrics n.json -o n.st
    check "gnn-train --needed-only --layers $l computes just the rows, edges and messages of $l layers" /usr/bin/python3 count.py $l 4 "$(echo 6,8,8 | cut -d, -f1-$l)" n.json
done
gnn-train --full-batch --needed-only --layers 2 --epochs 1 --store s4 -o n.st 2>said
check 'gnn-train --needed-only tells the rows of each layer' test "$(grep -c '^gnn-train: layer [12]: [0-9]* of 401 rows$' said)" = 2
# Without evaluation there is nothing that only it needs.
check 'gnn-train --needed-only --eval none learns' gnn-train -q --full-batch --needed-only --eval none --patience 0 --keep last --epochs 2 --store s4 --metrics n.json -o n.st
check 'nothing is sent for evaluation' grep -q '"evaluated_bytes":0,' n.json
# Where the seeds depend on all rows there is nothing to leave out, and the model is the same to the bit.
gnn-import -q --split random:1,0,0 -o all sbm:nodes=200,features=6 && gnn-partition -q -k 3 -o all3 all || _not_ok "gnn-import makes a graph of training nodes"
whole="gnn-train --full-batch --store all3 --eval none --patience 0 --keep last --epochs 3 --no-provenance"
check 'gnn-train learns from a graph of seeds' $whole -o want
check 'gnn-train --needed-only learns from a graph of seeds' $whole --needed-only -o got
mv err said
check 'gnn-train says that it has no effect there' grep -qxF 'gnn-train: --needed-only has no effect: the seeds depend on all rows of each layer' said
check 'gnn-train --needed-only makes the same model there' cmp want got
# A checkpoint goes on, with all rows or without.
check 'gnn-train --needed-only keeps a checkpoint' gnn-train $learn --needed-only --store w5 --epochs 2 --checkpoint C --checkpoint-every 1 -o part
check 'gnn-train --needed-only resumes' gnn-train $learn --needed-only --store w5 --checkpoint C --resume -o got
check 'gnn-train --needed-only learns at once' gnn-train $learn --needed-only --store w5 -o want
check 'gnn-train --needed-only makes the same model after resuming' cmp want got
while IFS='|' read -r opts message; do
    status 2 "gnn-train refuses $opts" gnn-train $opts -o never
    mv err said
    check "gnn-train says why it refuses $opts" grep -qxF -e "gnn-train: $message" said
done <<EOF
--store w --needed-only|--needed-only requires --full-batch
--store w5 --full-batch --needed-only --boundary 0.5|--boundary cannot be used with --needed-only
--store w5 --full-batch --needed-only --batch-norm|--needed-only cannot be used with --batch-norm, whose statistics are over all rows
EOF
check 'gnn-train leaves no model of options that it refuses' test ! -e never
done_testing
