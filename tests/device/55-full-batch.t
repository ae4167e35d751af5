# SPDX-License-Identifier: Apache-2.0
# gnn-train --full-batch on a device that is emulated: resuming, refusals, and calls that fail. tests/full compares what models learn.
. "$GNN_TOP/tests/lib.sh"
emu=$GNN_B/emu/bin
export OMP_NUM_THREADS=1
perl -e 'srand 4; print "source,target,weight\n"; printf "%d,%d,%.3f\n", int rand 201, int rand 190, .1 + rand for 1 .. 1500; print "5,5,2\n7,7,0.5\n"' >e.csv
perl -e 'print $_ % 3, "\n" for 1 .. 201' >y.csv
perl -e 'srand 5; print join(",", $_ % 3 + rand, rand, 1), "\n" for 1 .. 201' >x.csv
gnn-import -q --directed --labels y.csv --features x.csv --split random:0.5,0.25,0.25 -o x --map x=weight e.csv && gnn-partition -q -k 3 -o x3 x ||
    _not_ok 'gnn-import and gnn-partition make a graph'
full="-q --no-provenance --full-batch --store x3 --hidden 8 --dropout 0.3 --batch-norm --lr 0.01"
check 'gnn-train --full-batch learns for six epochs on a device' "$emu/gnn-train" $full --device cuda --epochs 6 -o want
check 'gnn-train --full-batch keeps a checkpoint on a device' "$emu/gnn-train" $full --device cuda --epochs 3 --checkpoint C --checkpoint-every 1 -o part
check 'gnn-train --full-batch resumes on a device' "$emu/gnn-train" $full --device cuda --epochs 6 --checkpoint C --resume -o got
check 'gnn-train --full-batch on a device writes the same model after resuming' cmp want got
"$emu/gnn-train" --no-provenance --full-batch --store x3 --device cuda --epochs 1 -o said.st 2>said
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
