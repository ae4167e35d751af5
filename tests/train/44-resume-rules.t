# SPDX-License-Identifier: Apache-2.0
# Under each pick rule, training that was broken off in the middle of an epoch goes on to the model that would have come without.
. "$GNN_TOP/tests/lib.sh"
export OMP_NUM_THREADS=1
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { skip 'gnn-train resumes under each pick rule' 'no numpy'; done_testing; }
/usr/bin/python3 "$GNN_TOP/tests/sample/temporal.py" s.npz i8 600 9000
gnn-import -q -o s s.npz
learn='-q --hidden 8 --no-provenance --dropout 0.2'
while read -r layers how; do
    rm -rf C D want part got other
    sampled="-f 5,3 -b 40 --eval valid $how"
    check "gnn-train $how learns without a break" gnn-train $learn $layers --store s $sampled --epochs 2 -o want
    # 300 seeds are 8 steps; this ends after the fifth.
    check "gnn-train $how keeps a checkpoint in the middle of an epoch" sh -c "gnn-sample -q s $sampled --steps 0:5 --edge-ids | gnn-gather -q s |
        gnn-train $learn $layers --checkpoint C --checkpoint-every 5 -o part"
    cp -r C D
    check "gnn-train $how resumes there" gnn-train $learn $layers --store s $sampled --epochs 2 --checkpoint C --resume --metrics m.json -o got
    check "gnn-train $how makes the 11 steps that are left of 16" test "$(grep -c '"event": *"step"' m.json)" -eq 11
    check "gnn-train $how writes the model that came without a break" cmp want got
    check "gnn-train $how resumes there from a pipe" sh -c "gnn-sample -q s $sampled --epochs 2 -j2 | gnn-gather -q s |
        gnn-train $learn $layers --checkpoint D --resume -o other"
    check "gnn-train $how writes the same model then" cmp want other
done <<.
-q --replace
-q --frontier new
-q --weight weight
-q --weight weight --replace --disjoint
-q --labor --layer-dependency --batch-dependency 3
-q --disjoint
-q --time-rule le
-q --time-rule lt --window 30 --weight weight
-q --time-rule le --latest --disjoint
-q --time-rule le --hop-time edge
--layers=3 --induced
--layers=3 --induced --disjoint --time-rule le --weight weight
.
rm -rf C
gnn-sample -q s -f 5,3 -b 40 --eval valid --induced --steps 0:5 | gnn-gather -q s | gnn-train $learn --checkpoint C --checkpoint-every 5 -o part
for other in '--induced --disjoint' '' '--induced --frontier new' '--induced --replace'; do
    status 3 "gnn-train --resume refuses batches of $other after those of --induced" \
        gnn-train $learn --store s -f 5,3 -b 40 --eval valid $other --epochs 2 --checkpoint C --resume -o x
done
while IFS='|' read -r began later; do
    rm -rf C
    check "gnn-train $began keeps a checkpoint" gnn-train $learn --store s -f 5,3 -b 40 $began --epochs 1 --checkpoint C -o part
    status 3 "gnn-train --resume refuses $later after $began" gnn-train $learn --store s -f 5,3 -b 40 $later --epochs 2 --checkpoint C --resume -o x
done <<.
--time-rule le|--time-rule lt
--time-rule le|--time-rule le --window 30
--time-rule le --window 30|--time-rule le --window 31
--time-rule le|--time-rule le --latest
--labor|--labor --layer-dependency
--labor --batch-dependency 3|--labor --batch-dependency 4
.
check "nothing is left of what was refused" test ! -e x

# A run goes on where it ended, whatever --epochs begins with; no epoch between is trained without being asked for.
rm -rf C
check "gnn-train keeps a checkpoint of epoch 2" gnn-train $learn --store s -f 5,3 -b 40 --epochs 3 --checkpoint C -o part
for a in 4:6 5:7 9:10; do
    refuses 2 "^gnn-train: --epochs $a: the checkpoint of C was made after epoch 2, so a run goes on in epoch 3: --epochs ${a#*:}\$" \
        "to go on with --epochs $a" gnn-train $learn --store s -f 5,3 -b 40 --epochs $a --checkpoint C --resume -o x
done
for a in 3:4 1:5 6; do
    check "gnn-train --resume --epochs $a goes on" sh -c "gnn-train $learn --store s -f 5,3 -b 40 --epochs $a --checkpoint C --resume --metrics m -o part"
    check "gnn-train --resume --epochs $a trains the next epoch" sh -c 'test "$(grep -o "\"event\":\"epoch\",\"epoch\":[0-9]*" m | grep -o "[0-9]*$" | xargs)" = "$1"' - \
        "$((${a#*:} - 1))"
done
rm -rf C
check "gnn-train begins with the epoch that --epochs begins with" sh -c "gnn-train $learn --store s -f 5,3 -b 40 --epochs 5:6 --checkpoint C --metrics m -o part && grep -q '\"event\":\"epoch\",\"epoch\":5' m"
check "gnn-train --resume takes the command again" gnn-train $learn --store s -f 5,3 -b 40 --epochs 5:6 --checkpoint C --resume -o part
done_testing
