# SPDX-License-Identifier: Apache-2.0
# scripts/sweep.sh: all combinations are run once, whatever interrupts them, and mistakes are named before anything is run.
. "$GNN_TOP/tests/lib.sh"
refusing=sweep.sh
sweep() { sh "$GNN_TOP/scripts/sweep.sh" "$@"; }
# What does not depend on time: all columns but the last three.
untimed() { gnn-inspect --table --csv "$@" | sed 's/,[^,]*,[^,]*,[^,]*$//'; }
gnn-import -q sbm:nodes=300 -o store
base="gnn-train --store store -f 3,3 --epochs 4 --eval valid --eval test"

# shellcheck disable=SC2086
check 'sweep.sh runs a grid' sweep -o runs -s 1..2 -j 2 -- $base :: '--lr 0.01' '--lr 0.05' :: '--hidden 16' ''
cp out said && cp err lines
check 'all combinations and seeds' sh -c 'ls runs/*.ndjson | sed "s|runs/||" | tr "\n" " " | grep -qx "lr_0.01-1.ndjson lr_0.01-2.ndjson lr_0.01_hidden_16-1.ndjson lr_0.01_hidden_16-2.ndjson lr_0.05-1.ndjson lr_0.05-2.ndjson lr_0.05_hidden_16-1.ndjson lr_0.05_hidden_16-2.ndjson "'
check 'it prints one table, in the order of the choices' sh -c 'test "$(wc -l <said)" -eq 5 && sed 1d said | tr -s " " | cut -d" " -f1-3 | tr "\n" ";" | grep -qx "0.01 16 2;0.01 default 2;0.05 16 2;0.05 default 2;"'
check 'with figures that runs.pl computes, too' sh -c '
    gnn-inspect --table --csv runs/lr_0.01_hidden_16-*.ndjson runs/lr_0.05-*.ndjson >table.csv &&
        perl "$GNN_TOP/tests/inspect/runs.pl" table.csv lr,hidden runs/lr_0.01_hidden_16-*.ndjson runs/lr_0.05-*.ndjson'
check 'it says which runs are finished' sh -c 'test "$(grep -c "finished$" lines)" -eq 8'
check 'each run has a model' gnn-inspect --verify runs/lr_0.05-2.safetensors
check 'nothing else is left' sh -c 'test "$(ls -A runs | grep -c -v -e "\.ndjson$" -e "\.safetensors$" -e "\.log$")" -eq 1 && test -e runs/command'
check 'a run of it is what gnn-train does' sh -c "$base --lr 0.05 --seed 2 -q -o m && gnn-inspect --diff --ignore provenance m runs/lr_0.05-2.safetensors"

# Kept, extended, interrupted.
stamps() { xargs stat -c '%n %y' <first; }
ls runs/*.ndjson >first
stamps >before
# shellcheck disable=SC2086
check 'what is finished is kept' sweep -o runs -s 1,2 -- $base :: '--lr 0.01' '--lr 0.05' :: '--hidden 16' ''
cp err lines && stamps >after
check 'and is not run again' sh -c 'cmp before after && grep -qx "sweep.sh: 8 runs, 8 of them finished before" lines'
# shellcheck disable=SC2086
check 'a grid can grow' sweep -o runs -s 1..3 -j 3 -- $base :: '--lr 0.01' '--lr 0.05' '--lr 0.1' :: '--hidden 16' ''
cp err lines && stamps >after
check 'by what is new' sh -c 'cmp before after && grep -qx "sweep.sh: 18 runs, 8 of them finished before" lines'
untimed runs/*.ndjson >whole
# Each run waits for a file before it begins, so that the signal finds one finished and two under way.
mkdir slow
cat >slow/gnn-train <<END
#!/bin/sh
case "\$*" in *--help) ;; *) [ ! -e held ] || case "\$*" in *"--seed 1 "*) ;; *) : >"begun.\$\$"; exec sleep 1000 ;; esac ;; esac
exec "$GNN_BIN/gnn-train" "\$@"
END
chmod +x slow/gnn-train
mkdir bin && for p in "$GNN_BIN"/*; do ln -s "$p" bin/; done && ln -sf "$PWD/slow/gnn-train" bin/gnn-train
for signal in TERM HUP; do
    : >held
    # shellcheck disable=SC2086
    GNN_BIN=$PWD/bin sh "$GNN_TOP/scripts/sweep.sh" -o again -s 1..3 -j 2 -- $base :: '--lr 0.01' '--lr 0.05' '--lr 0.1' :: '--hidden 16' '' 2>lines &
    pid=$!
    for _ in $(seq 300); do
        [ "$(find . -maxdepth 1 -name 'begun.*' | wc -l)" -lt 2 ] || break
        sleep 0.1
    done
    kill -$signal $pid
    wait $pid
    rc=$?
    check "a sweep ends by $signal" test $rc -ge 128
    check "its runs end, too: $signal" sh -c 'for f in begun.*; do ! kill -0 "${f#begun.}" 2>/dev/null || exit 1; done'
    check "no run that did not finish is kept: $signal" sh -c 'test "$(ls -A again | grep -c -e "-[23]\.ndjson$" -e "^\.part")" -eq 0'
    rm -f begun.* held
done
mkdir "again/.part.$(uname -n).999999999" again/.part.elsewhere.1
# shellcheck disable=SC2086
check 'the sweep goes on' sweep -o again -s 1..3 -j 2 -- $base :: '--lr 0.01' '--lr 0.05' '--lr 0.1' :: '--hidden 16' ''
untimed again/*.ndjson >resumed
check 'and ends with the same table' cmp whole resumed
check 'what a killed sweep left is removed, that of another machine is not' sh -c 'test "$(ls -A again | grep "^\.part")" = .part.elsewhere.1'
# shellcheck disable=SC2086
{
    sweep -o both -s 1..3 -- $base :: '--lr 0.01' 2>/dev/null >one &
    sweep -o both -s 1..3 -- $base :: '--lr 0.01' 2>/dev/null >two
    wait $!
}
untimed runs/lr_0.01-?.ndjson >want && untimed both/*.ndjson >got
check 'two sweeps at once make the same table' cmp want got

# Mistakes.
rm -rf new
while IFS='|' read -r choice why; do
    # shellcheck disable=SC2086
    refuses 2 "$why" "$choice, before anything is run" sweep -o new -j 2 -- $base :: '--lr 0.01' "$choice"
    check "it is named once: $choice" sh -c 'test "$(wc -l <said)" -eq 1 && test ! -e new'
done <<'END'
--lrr 0.05|^gnn-train: unknown option '--lrr'; did you mean '--lr'
--lr fast|^gnn-train: --lr: 'fast' is not a number
--lr 0.01|two runs have the name lr_0.01-1
--seed 4|^sweep.sh: --seed: sweep.sh chooses outputs and seeds itself
--metrics=m|^sweep.sh: --metrics=m: sweep.sh chooses
--checkpoint d|cannot share the directory of a checkpoint
END
# shellcheck disable=SC2086
refuses 2 "unknown option '--epoch'" 'an option of the command' sweep -o new -- ${base} --epoch 3 :: '--lr 0.01' '--lr 0.02'
# shellcheck disable=SC2086
{
    refuses 2 '-o RUNS is missing' 'no directory' sweep -- $base
    refuses 2 'the command is missing' 'no command' sweep -o new
    refuses 2 'no choice after ::' 'no choice' sweep -o new -- $base ::
    refuses 2 '-s 3..1: the last seed' 'no seed' sweep -o new -s 3..1 -- $base
    refuses 2 '-j 0: expected' '-j 0' sweep -o new -j 0 -- $base
    refuses 2 'runs has runs of another command: gnn-train --store store' 'another command in one directory' sweep -o runs -- $base --residual
}
for seeds in a 1..b 1. 1.2 ,1 1,,2 1..2,3; do
    # shellcheck disable=SC2086
    refuses 2 "-s $seeds: expected" "-s $seeds" sweep -o new -s $seeds -- $base
done
check 'nothing was made' test ! -e new
# shellcheck disable=SC2086
status 1 'runs that fail are counted' sweep -o fails -s 1..3 -j 3 -- $base :: '--lr 0.01' '--layers 3'
cp out said && cp err lines
check 'what they say is shown once' sh -c 'test "$(grep -c "^gnn-train: --layers requires" lines)" -eq 1 && test "$(grep -c "status 2, see" lines)" -eq 3'
check 'the others are in the table' sh -c 'grep -qx "sweep.sh: 3 of 6 runs failed" lines && sed -n 2p said | grep -q "^3 "'
# shellcheck disable=SC2086
check 'sweep.sh -n prints commands only' sh -c "sh \"\$GNN_TOP/scripts/sweep.sh\" -o new -s 1..2 -n -- $base :: '--lr 0.01' '' >said && test \"\$(grep -c '^gnn-train --store .* --seed [12] --metrics new/' said)\" -eq 4 && test ! -e new"
done_testing
