# Any number of ranks learns the same.
. "$GNN_TOP/tests/ranks/setup.sh"
gnn-import -q -o S sbm:nodes=4000,degree=10,features=16 || { _not_ok inputs; done_testing; }
gnn-partition -q -k 4 -o P S || _not_ok parts
opts='-f 6,6 -b 100 --epochs 5 --eval valid --eval test --hidden 32 --dropout 0.2 --lr 0.01'
check 'one rank' gnn-train -q --store S $opts --metrics m1 -o one
for many in 1 2 3 4; do
    check "$many ranks" ranks $many gnn-train -q --store P $opts --metrics m$many.json -o t$many
    /usr/bin/python3 - m1 m$many.json >cmp.txt 2>&1 <<'PY'
import json, sys
a, b = ([json.loads(l) for l in open(f)] for f in sys.argv[1:])
x, y = ([e for e in s if e["event"] == "step"] for s in (a, b))
assert len(x) == len(y) > 100, (len(x), len(y))
worst = max(abs(p["loss"] - q["loss"]) / abs(p["loss"]) for p, q in zip(x[:100], y[:100]))
assert worst < 1e-4, worst
p, q = ([e for e in s if e["event"] == "epoch"] for s in (a, b))
assert all(u["seeds"] == v["seeds"] and u["steps"] == v["steps"] for u, v in zip(p, q))
assert all(abs(u["valid"]["accuracy"] - v["valid"]["accuracy"]) < 0.01 for u, v in zip(p, q))
print("worst", worst)
PY
    check "$many ranks: losses of 100 steps, accuracies" grep worst cmp.txt
    sed 's/^/# /' cmp.txt
done
check 'some ranks without a seed in some batches' ranks 4 gnn-train -q --store P -f 4,4 -b 3 --no-shuffle --epochs 1 --hidden 8 --metrics few.json -o few
gnn-train -q --store S -f 4,4 -b 3 --no-shuffle --epochs 1 --hidden 8 --metrics one.json -o few1
check 'some ranks without a seed: the same losses' /usr/bin/python3 -c '
import json
a, b = ([json.loads(l)["loss"] for l in open(f) if json.loads(l)["event"] == "step"] for f in ("one.json", "few.json"))
assert len(a) == len(b) > 300 and all(abs(x - y) <= 1e-3 * abs(x) for x, y in zip(a[:100], b)), max(abs(x - y) / abs(x) for x, y in zip(a[:100], b))'
check 'the same bits again' ranks 4 gnn-train -q --no-provenance --store P $opts -o a
check 'the same bits again' ranks 4 gnn-train -q --no-provenance --store P $opts -o b
check 'the same bits again: compared' cmp a b

# Streams instead of a store.
check 'batches of the ranks' ranks 3 sh -c 'r=$OMPI_COMM_WORLD_RANK; exec gnn-sample -q P -f 6,6 -b 100 --epochs 2 --eval valid -o "s.%r.gnb"'
check 'rows of the ranks' ranks 3 gnn-gather -q P -i 's.%r.gnb' -o 'g.%r.gnb'
check 'training from them' ranks 3 gnn-train -q -i 'g.%r.gnb' --hidden 32 --no-provenance -o from-streams
check 'training from the store' ranks 3 gnn-train -q --store P -f 6,6 -b 100 --epochs 2 --eval valid --hidden 32 --no-provenance -o from-store
check 'is the same' cmp from-streams from-store

# Checkpoints: killed, and gone on with, also with another number of ranks.
opts='-f 6,6 -b 100 --epochs 4 --eval valid --hidden 32 --no-provenance --seed 3'
check 'not interrupted' ranks 4 gnn-train -q --store P $opts -o whole
for sig in USR1 TERM; do
    rm -rf C
    mpirun --quiet -n 4 gnn-train -q --store P $opts --epochs 4000 --keep last --checkpoint C -o never 2>err &
    pid=$!
    until [ "$(pgrep -c -P $pid gnn-train)" -eq 4 ]; do sleep 0.05; done
    sleep 1
    pkill -$sig -o -P $pid gnn-train # one of them
    wait $pid
    rc=$?
    check "one rank gets SIG$sig: all stop, status 75 ($rc)" test $rc -eq 75
    check "one rank gets SIG$sig: there is a checkpoint, and no model" sh -c 'test -e C/checkpoint.safetensors && test ! -e never'
done
rm -rf C
check 'a checkpoint every 50 steps' ranks 4 gnn-train -q --store P $opts --epochs 3 --checkpoint C --checkpoint-every 50 -o part
check 'going on' ranks 4 gnn-train -q --store P $opts --checkpoint C --resume -o resumed
check 'going on: the same model' cmp whole resumed
rm -rf C
check 'a checkpoint by 4 ranks' ranks 4 gnn-train -q --store P $opts --epochs 2 --checkpoint C --checkpoint-every 50 -o part
check 'going on with 2 ranks' ranks 2 gnn-train -q --store P $opts --checkpoint C --resume --metrics r2 -o resumed
check 'going on alone' gnn-train -q --store P $opts --checkpoint C --resume -o resumed
done_testing
