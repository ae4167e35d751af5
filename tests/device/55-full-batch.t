# SPDX-License-Identifier: Apache-2.0
# gnn-train --full-batch on a device that is emulated: the CPU's losses, and the same bits in whatever order the device works.
. "$GNN_TOP/tests/lib.sh"
emu=$GNN_B/emu/bin
export OMP_NUM_THREADS=1
# Numbers that are fetched are waited for, and lie where a device can leave them.
export GNN_FAKE_PINNED=1
perl -e 'srand 4; print "source,target,weight\n"; printf "%d,%d,%.3f\n", int rand 201, int rand 190, .1 + rand for 1 .. 1500; print "5,5,2\n7,7,0.5\n"' >e.csv
perl -e 'print $_ % 3, "\n" for 1 .. 201' >y.csv
perl -e 'srand 5; print join(",", $_ % 3 + rand, rand, 1), "\n" for 1 .. 201' >x.csv
# Partition 0 has a single node, 1 has no edges and no seeds (the last nodes have none).
perl -e 'print $_ == 9 ? 0 : $_ >= 195 ? 1 : 2, "\n" for 0 .. 200' >assign
import() { gnn-import -q --directed --labels y.csv --features x.csv --split random:0.5,0.25,0.25 -o "$@"; }
import w e.csv && import x --map x=weight e.csv && gnn-import -q -o t sbm:nodes=120,types=3,features=6 &&
    import h --dtype f16 e.csv || _not_ok 'gnn-import makes graphs'
for s in w x t h; do gnn-partition -q -k 3 -o ${s}3 $s || _not_ok "gnn-partition divides $s"; done
gnn-partition -q --from assign -k 3 -o wa w && gnn-partition -q --from assign -k 3 -o xa x || _not_ok 'gnn-partition takes a partition without edges'
learn='-q --no-provenance --full-batch --epochs 3 --hidden 8 --keep last --optimizer sgd --lr 0.05 --dropout 0.3'
near() { # A B: losses of training and evaluation, to 1e-4
    /usr/bin/python3 - "$@" <<'PY'
import json, sys
a, b = ([v for e in map(json.loads, open(f)) if e["event"] == "epoch" for v in (e["loss"] if "loss" in e else e["train"]["loss"], e.get("valid", {}).get("loss", 0))] for f in sys.argv[1:])
assert len(a) == len(b) == 6 and all(abs(x - y) < 1e-4 * max(1, abs(x)) for x, y in zip(a, b)), (a, b)
PY
}
seed=1
[ -n "${GNN_SAN-}" ] && runs=a || runs='a b' # a sanitizer sees the same in both
while read -r s opts; do
    turn 4 || continue
    check "gnn-train --full-batch $opts learns from $s on the CPU" gnn-train $learn --store $s $opts --metrics cpu.json -o cpu.st
    for m in $runs; do
        seed=$((seed + 3))
        check "gnn-train --full-batch $opts learns from $s on a device" env GNN_FAKE_SEED=$seed "$emu/gnn-train" $learn --store $s $opts --device cuda --metrics $m.json -o $m.st
    done
    check "gnn-train --full-batch $opts on a device has the losses of the CPU" near cpu.json a.json
    [ "$runs" = a ] || check "gnn-train --full-batch $opts on a device writes the same model in two runs" cmp a.st b.st
done <<END
w -m sage
w3 -m sage --batch-norm
wa -m sage --aggr max --normalize
w3 -m sage --project --aggr max --dropout-input 0.2
h3 -m gcn --feature-norm row
wa -m gcn --edge-weight weight --jk max --head 0
t3 -m sage --encoder 4 --ffn --jk cat --head 5 --class-weights balanced
t3 -m sage --residual --activation elu
w3 -m gin --train-eps --batch-norm
xa -m gine --edge-features --encoder 4 --batch-norm
x -m gine --edge-features
t3 -m rgcn --bases 2 --encoder 6 --layer-norm
x3 -m gat --heads 2 --edge-features --attention-dropout 0.3
wa -m gat --heads 2 --remote-rows keep
w3 -m gat --heads 2 --remote-rows all
xa -m gatv2 --heads 2 --edge-features --attention-dropout 0.3
t3 -m gatv2 --heads 2 --no-self-loops --pipeline-depth 2
t3 -m hgt --heads 2 --head 0
wa -m gat --heads 2 --needed-only
w3 -m sage --boundary 0.4
xa -m gat --heads 2 --edge-features --needed-only
wa -m gcn --needed-only
h3 -m sage --aggr max --needed-only
t3 -m sage --needed-only
wa -m gcn --edge-weight weight --boundary 0.5 --message-dtype bf16
t3 -m rgcn --bases 2 --message-dtype bf16
END
full="-q --no-provenance --full-batch --store w3 --hidden 8 --dropout 0.3 --batch-norm --lr 0.01"
check 'gnn-train --full-batch learns for six epochs on a device' "$emu/gnn-train" $full --device cuda --epochs 6 -o want
check 'gnn-train --full-batch keeps a checkpoint on a device' "$emu/gnn-train" $full --device cuda --epochs 3 --checkpoint C --checkpoint-every 1 -o part
check 'gnn-train --full-batch resumes on a device' "$emu/gnn-train" $full --device cuda --epochs 6 --checkpoint C --resume -o got
check 'gnn-train --full-batch on a device writes the same model after resuming' cmp want got
"$emu/gnn-train" --no-provenance --full-batch --store w3 --device cuda --epochs 1 -o said.st 2>said
check 'gnn-train --full-batch on a device tells the memory of the host' grep -q '; resident host memory of a rank: at most [0-9.]* MB$' said
GNN_FAKE_DEVICES=2 status 2 'gnn-train --full-batch refuses two devices' "$emu/gnn-train" $full --device cuda:1,0 -o never
cp err said
check 'gnn-train --full-batch tells what to do with two devices' grep -q '^gnn-train: --full-batch uses one device per rank, not 2' said
status 1 'gnn-train --full-batch fails when the device has too little memory' env GNN_FAKE_MEMORY=40960 "$emu/gnn-train" $full --device cuda -o never
# Whichever call of the run-time fails, the run ends with status 4 and one line.
sweep='-q --full-batch --store x3 -m gat --edge-features --attention-dropout 0.3 --batch-norm --hidden 4 --epochs 1 --eval none --device cuda -o never'
GNN_FAKE_FAIL=0 "$emu/gnn-train" $sweep 2>err
calls=$(sed -n 's/fake device: \([0-9]*\) calls/\1/p' err) bad=0 k=1
rm -f never
while [ $k -le "$calls" ]; do
    GNN_FAKE_FAIL=$k timeout 600 "$emu/gnn-train" $sweep 2>err
    rc=$?
    [ $rc -eq 4 ] && [ ! -e never ] && [ "$(grep -vc '^==[0-9]*==WARNING: ASan' err)" -eq 1 ] || { bad=$((bad + 1)); echo "# call $k: $rc"; sed 's/^/# /' err; }
    k=$((k + calls / $(wide && echo 40 || echo 12) + 1))
done
check "gnn-train --full-batch ends with status 4 and one line on a device, whichever of $calls calls to it fails" test $bad -eq 0
check 'gnn-train --full-batch leaves no model when the device fails' test ! -e never
done_testing
