# SPDX-License-Identifier: Apache-2.0
# What train.sbatch makes of the ways in which a step of srun may end, which here are those of a script, and what sample-array.sbatch makes of
# the tasks of an array. tests/ranks-long/30-requeue.t has nodes that fail.
. "$GNN_TOP/tests/lib.sh"
mkdir bin
# srun does what the file of the next number says; scontrol and sleep note what they are asked for.
cat >bin/srun <<'P'
#!/bin/sh
case $1 in --mpi=list) echo "MPI plugin types are... pmix none"; exit ;; esac
n=$(($(cat number) + 1))
echo $n >number
. "./step.$n"
P
printf '#!/bin/sh\necho "scontrol $*" >>asked\n' >bin/scontrol
printf '#!/bin/sh\necho "sleep $*" >>asked\n' >bin/sleep
chmod +x bin/*
# job STATUS ASKED WHEN STEP...: what each step does, and what is then asked for
job() {
    _st=$1 _asks=$2 _nm=$3 _i=0
    shift 3
    rm -f step.* asked
    echo 0 >number
    : >asked
    for _step; do
        _i=$((_i + 1))
        echo "$_step" >step.$_i
    done
    status "$_st" "train.sbatch ends with status $_st when $_nm" \
        env PATH="$PWD/bin:$PATH" SLURM_JOB_ID=7 sh "$GNN_TOP/scripts/slurm/train.sbatch" P model
    check "train.sbatch asks for ${_asks:-nothing} and takes $_i steps when $_nm" \
        test "$(tr '\n' ' ' <asked)$(cat number)" = "$_asks${_asks:+ }$_i"
}
both='echo start 2.; echo start 2.;' well='echo end 0 0.; echo end 1 0.'
again='scontrol requeue 7'
# Slurm kills a task before it has said all that it would: what is missing may be any of its lines, from the last one on, or all of them.
ways() { # STATUS-OF-RANK-0 STATUS-OF-RANK-1: ways to say it
    for _0 in '' 'echo start 2.' "echo start 2.; echo end 0 $1."; do
        for _1 in '' 'echo start 2.' "echo start 2.; echo end 1 $2."; do echo "$_0; $_1;" | sed 's/^; *//; s/^; *//; s/; ;/;/'; done
    done
}
# whatever STATUS ASKED WHEN-SRUN-SAYS STATUSES OF RANKS
whatever() {
    ways "$4" "$5" >ways
    while read -r way <&9; do
        job "$1" "$2" "srun says $3 after '$way'" "$way exit $3"
    done 9<ways
}
whatever 75 "$again" 75 75 75
whatever 75 "$again" 75 75 137
for own in 2 3 4 126 127; do whatever $own '' $own $own 137; done
# What a task says counts where srun tells how others were ended, which failed, too, or were not yet done with starting.
for own in 1 2 3 4 126 127; do
    job $own '' "a rank ends with status $own, and the other is ended" "$both echo end 1 $own.; exit 143"
    job $own '' "a rank ends with status $own, and the other is killed" "$both echo end 1 $own.; exit 137"
    job $own '' "status $own ends the one rank that could start" "echo start 2.; echo end 1 $own.; exit 1"
done
job 75 "$again" 'a rank stops, and the other is killed' "$both echo end 1 75.; exit 137"
job 1 '' 'srun says 1 after all ranks have started' "$both exit 1"
job 1 '' 'srun says 1 after all ranks have started, and one was killed' "$both echo end 0 137.; exit 1"
# A rank or a node is lost.
for lost in 5 134 137 139 143 253; do
    job $lost "$again" "a rank is lost and srun says $lost" "$both echo end 0 5.; exit $lost"
    job $lost "$again" "a rank is lost and srun says $lost, and no rank how it ended" "$both exit $lost"
done
job 137 "$again" 'a line of a task that was killed is not complete' "$both printf 'end 0 1'; exit 137"
job 138 "$again" 'a rank is told to stop before it could say that it had started' 'echo start 2.; exit 138'
job 5 "$again" 'srun says 0, and no rank that it is through' "$both exit 0"
job 5 "$again" 'srun says 0, and the node of rank 0 was lost at the very end' "$both echo end 1 0.; exit 0"
job 0 '' 'rank 0 is through, which is the last thing, and another node was lost' "$both echo end 0 0.; exit 0"
job 0 '' 'rank 0 is through, and the other is killed' "$both echo end 0 0.; exit 137"
job 0 '' 'all ranks end well' "$both $well"
# Ranks do not start.
job 0 'sleep 10' 'srun says by status 1 that it could not start the ranks' 'exit 1' "$both $well"
job 0 'sleep 10' 'srun could not start the ranks and ends with status 0' 'exit 0' "$both $well"
job 0 'sleep 10' 'srun starts one of two ranks and says 0' 'echo start 2.; exit 0' "$both $well"
job 0 'sleep 10 sleep 20' 'srun starts only one of two ranks' \
    'echo start 2.; echo end 0 5.; exit 5' 'echo start 2.; exit 137' "$both $well"
job 0 'sleep 10' 'the line of a start is not complete' 'echo start 2.; printf "start 2"; exit 137' "$both $well"
# Restarts: of what Slurm counts, those that were stops do not count.
export SLURM_RESTART_COUNT=3 GNN_RESTARTS=3
job 5 '' 'a rank was lost once too often' "$both echo end 0 5.; exit 5"
job 5 '' 'srun could not start the ranks once too often' 'exit 1'
for other in 17 71 ''; do echo a >model.stops.$other; done
for stop in 1 2; do
    job 75 "$again" "ranks stop with a checkpoint, which is not counted, time $stop" "$both echo end 0 75.; echo end 1 75.; exit 75"
    check "train.sbatch notes stop $stop beside the model" test "$(wc -l <model.stops.7)" -eq $stop
done
job 5 "$again" 'a rank was lost after 3 restarts, 2 of them for a stop' "$both exit 5"
job 5 'sleep 10 sleep 20' 'srun could not start the ranks twice after 3 restarts, 2 of them for a stop' 'exit 1' 'exit 1' 'exit 1'
for end in 'exit 1' "$well" 'exit 3'; do # each has a job of its own
    echo a >model.stops.7
    case $end in *3) job 3 '' 'the ranks fail after a stop' "$both $end" ;; *1) job 5 'sleep 10' 'srun could not start the ranks after a stop' "$end" "$end" ;; *) job 0 '' 'all ranks end well after a stop' "$both $end" ;; esac
    check "train.sbatch leaves no note of stops after '$end'" test ! -e model.stops.7
    check "train.sbatch leaves what other jobs have noted after '$end'" test "$(cat model.stops.*)" = "$(printf 'a\na\na')"
done
echo a >model.stops.7
SLURM_RESTART_COUNT=0 job 75 "$again" 'a job stops for the first time, and one with its number did long ago' "$both exit 75"
check 'train.sbatch does not count the stops of a job that had the same number long ago' test "$(grep -c ' ' model.stops.7)$(wc -l <model.stops.7)" = 11
rm model.stops.*
export GNN_RESTARTS=5
job 5 'sleep 10 sleep 20' 'srun could not start the ranks in GNN_RESTARTS attempts' 'exit 1' 'exit 1' 'exit 1'
unset SLURM_RESTART_COUNT
for GNN_RESTARTS in ten -1 3x; do
    job 2 '' "GNN_RESTARTS is $GNN_RESTARTS"
    env PATH="$PWD/bin:$PATH" SLURM_JOB_ID=7 sh "$GNN_TOP/scripts/slurm/train.sbatch" P model 2>said
    check "train.sbatch names a GNN_RESTARTS of $GNN_RESTARTS" grep -qx "train.sbatch: GNN_RESTARTS: '$GNN_RESTARTS' is not a count" said
done
unset GNN_RESTARTS

# Who sends a signal to all processes of a job sends it to this script, too.
echo "kill -USR1 0; $both $well" >step.1
echo 0 >number
check 'train.sbatch outlives a signal that the time is nearly over' \
    env PATH="$PWD/bin:$PATH" SLURM_JOB_ID=7 perl -e 'setpgrp; exec @ARGV' sh "$GNN_TOP/scripts/slurm/train.sbatch" P model
export GNN_SRUN_MPI=pmx
job 2 '' 'GNN_SRUN_MPI names a plug-in that srun lacks'
unset GNN_SRUN_MPI
said() { grep -q "$1" said; }
script() { env PATH="$PWD/bin:$PATH" SLURM_JOB_ID=7 "$@" 2>said; }
for name in train pipeline; do
    GNN_SRUN_MPI=pmx script bash "$GNN_TOP/scripts/slurm/$name.sbatch" P model
    check "$name.sbatch names a GNN_SRUN_MPI that srun lacks" said "^$name.sbatch: GNN_SRUN_MPI: srun has no 'pmx'"
done
# What makes the FIFOs is a step as well.
echo 0 >number
echo : >step.1
cp step.1 step.2
status 5 'pipeline.sbatch fails when srun could not start the tasks and ends with status 0' \
    script bash "$GNN_TOP/scripts/slurm/pipeline.sbatch" P model
check 'pipeline.sbatch says that srun did not start all tasks' said '^pipeline.sbatch: srun did not start all tasks'
# The step of each stage does what the file of its name says, and what makes the FIFOs only makes their directory.
cat >bin/srun <<'P'
#!/bin/sh
case "$*" in
--mpi=list) echo "MPI plugin types are... pmix none" ;;
*mkfifo*) for dir; do :; done; mkdir "$dir"; echo start 1. ;;
*'rm -rf'*) for dir; do :; done; rm -rf "$dir" ;;
*)
    for name in sample gather train; do
        case "$*" in *" sh gnn-$name "*)
            trap "rm -f running.$name" EXIT
            . "./$name.step" ;;
        esac
    done ;;
esac
P
# Half a minute is not over before the steps have ended.
cat >bin/sleep <<'P'
#!/bin/sh
echo >>slept
while [ "$(wc -l <slept)" -ge 25 ] && ls running.* >/dev/null 2>&1; do /bin/sleep .05; done
P
# pipe STATUS WHEN SAMPLE GATHER TRAIN
pipe() {
    echo "$3" >sample.step
    echo "$4" >gather.step
    echo "$5" >train.step
    touch running.sample running.gather running.train
    : >slept
    status "$1" "pipeline.sbatch ends with status $1 when $2" script env TMPDIR="$PWD" bash "$GNN_TOP/scripts/slurm/pipeline.sbatch" P model
}
well='echo start 2.; echo start 2.; echo end 0.; echo end 0.' cut='echo start 2.; echo start 2.; echo end 3.; exit 143'
pipe 0 'all stages end well' "$well" "$well" "$well"
pipe 0 'gnn-train has had enough' "$both exit 141" "$both exit 143" "$well"
export SAMPLE_OPTIONS='-z 3
  --labor' GATHER_OPTIONS='-q
-j 2'
pipe 0 'options of the first stages are on several lines' "echo \"\$*\" >given.1; $well" "echo \"\$*\" >given.2; $well" "$well"
check 'pipeline.sbatch gives gnn-sample options of several lines' grep -q -e ' -z 3 --labor ' given.1
check 'pipeline.sbatch gives gnn-gather options of several lines' grep -q -e ' -q -j 2 ' given.2
unset SAMPLE_OPTIONS GATHER_OPTIONS
pipe 2 'a rank of gnn-train ends with status 2, and the other is ended' "$well" "$well" "$both echo end 2.; exit 143"
pipe 5 'srun could not start all ranks of gnn-sample and says 0' 'echo start 2.; echo end 0.' "$well" "$cut"
pipe 5 'srun could not start all ranks of gnn-train and says 1' "$well" "$well" 'echo start 2.; exit 1'
pipe 3 'a file is damaged, which gnn-train says' "$well" "$well" "$cut"
# The cause counts, whichever of the stages is seen to end first: each of them ends last in its turn.
piped="$both echo end 141.; echo end 5.; exit 137"
cause() { # STATUS WHEN SAMPLE GATHER TRAIN
    pipe "$1" "$2" "$3" "$4" "$5"
    # shellcheck disable=SC2016
    late='while [ "$(ls running.* | wc -l)" -gt 1 ]; do /bin/sleep .05; done; /bin/sleep .1;'
    pipe "$1" "$2, and gnn-sample ends last" "$late $3" "$4" "$5"
    pipe "$1" "$2, and gnn-gather ends last" "$3" "$late $4" "$5"
    pipe "$1" "$2, and gnn-train ends last" "$3" "$4" "$late $5"
}
cause 2 'a rank of gnn-sample ends with status 2, and the other is ended' "$both echo end 2.; exit 143" "$cut" "$cut"
cause 3 'srun says 3, and no rank of gnn-gather how it ended' "$piped" "$both exit 3" "$cut"
cause 137 'a rank of gnn-sample is killed' "$both exit 137" "$cut" "$cut"
cause 137 'a rank of gnn-gather is killed, and its shell is not' "$piped" "$both echo end 137.; echo end 5.; exit 143" "$cut"
cause 139 'a rank of gnn-gather crashes' "$piped" "$both echo end 139.; echo end 143.; exit 143" "$cut"
cause 4 'gnn-train has no device' "$piped" "$piped" "$both echo end 4.; exit 137"
cause 1 'gnn-train cannot write' "$both exit 141" "$piped" "$both echo end 1.; exit 143"
cause 5 'gnn-train loses a rank' "$piped" "$both exit 141" "$both echo end 5.; exit 5"
cause 143 'all are ended' "$both exit 143" "$both exit 143" "$both exit 143"
# A stage that still waits for its input is ended; what it says then is no cause.
# shellcheck disable=SC2016
waits='rm running.$name; trap "exit 137" TERM; while :; do /bin/sleep .05; done'
pipe 2 'gnn-sample ends with status 2 before it has opened its FIFOs' "$both echo end 2.; exit 2" "$waits" "$waits"
pipe 3 'gnn-gather finds a damaged store before it has opened its FIFOs' "$waits" "$both echo end 3.; exit 3" "$waits"

# Arrays: a task draws its own stretch, whatever else was submitted with it, or refuses.
array() { # STATUS WHAT MIN-MAX COUNT TASK...; options and the environment are in $draw and $with
    _want=$1 _what=$2 _min=${3%-*} _max=${3#*-} _count=$4
    shift 4
    for _task; do
        # shellcheck disable=SC2086
        status "$_want" "sample-array.sbatch ends with status $_want for task $_task $_what" \
            env $with SLURM_ARRAY_TASK_ID="$_task" SLURM_ARRAY_TASK_MIN="$_min" SLURM_ARRAY_TASK_MAX="$_max" SLURM_ARRAY_TASK_COUNT="$_count" \
            sh "$GNN_TOP/scripts/slurm/sample-array.sbatch" S out $draw
        mv err said
    done
}
whole() { cat out.*.gnb | gnn-inspect -q --diff - whole.gnb; }
files() { ls -i out.* | tr '\n' ' ' && cksum out.*; }
gnn-import -q --no-provenance -o S sbm:nodes=3000,degree=12,features=1 || _not_ok 'gnn-import makes the graph'
draw='-qf5,5 -b 50 --eval valid --no-provenance' with=GNN=0
gnn-sample $draw -o whole.gnb S || _not_ok 'gnn-sample draws an epoch'
array 0 'of 0-4' 0-4 5 0 1 2 3 4
check 'sample-array.sbatch draws in 5 tasks what one process draws' whole
files >before
array 2 'of 1,3' 1-3 2 1 3
check 'sample-array.sbatch says what it must be told to draw tasks again' said '^sample-array.sbatch: .*set TASKS'
array 2 'of 0-4:2' 0-4 3 0 2 4
array 3 'of 0,1 of the five' 0-1 2 0 1
check 'sample-array.sbatch says which file is of another division' said '^sample-array.sbatch: out.00000-of-00005.gnb: .*set TASKS'
with=EPOCHS=5
array 3 'of 0-4 for five epochs' 0-4 5 0
with=GNN=0 draw="$draw --seed 2"
array 3 'of 0-4 with another seed' 0-4 5 0 4
check 'sample-array.sbatch says why a file is not replaced' said "^sample-array.sbatch: out.00004-of-00005.gnb: .*'sampling.seed'"
draw=${draw% --seed 2}
array 0 'of 0-4, again' 0-4 5 2
check 'sample-array.sbatch says that a file is there' said '^sample-array.sbatch: out.00002-of-00005.gnb: complete already'
with=TASKS=5
array 2 'of 1,5 of five' 1-5 2 5
files >after
check 'sample-array.sbatch has changed no file' cmp before after
rm out.00001-* out.00003-*
array 0 'of 1,3 of five' 1-3 2 1 3
check 'sample-array.sbatch draws the tasks that are missing as they were' whole
# What is there, and is not what the task draws, is refused and stays.
instead() { # WHAT WHY: in place of task 1's file
    mv made out.00001-of-00005.gnb
    cp out.00001-of-00005.gnb before
    array 3 "of 1,3 of five, where the file is $1" 1-3 2 1
    check "sample-array.sbatch says why a file that is $1 is not replaced" said "^sample-array.sbatch: out.00001-of-00005.gnb: .*$2"
    check "sample-array.sbatch does not change a file that is $1" cmp before out.00001-of-00005.gnb
}
for size in 0 9 9999; do
    head -c $size out.00003-of-00005.gnb >made
    instead "cut to $size bytes" 'remove it'
done
for wrong in '--steps 7:13' '--steps 8:14' '--steps 7:14 --epochs 1:2' '--steps 7:14 --epochs 2' '--steps 14:21' '--steps 7:14 --batch 25' '--steps 7:14 --split valid'; do
    gnn-sample $draw $wrong -o made S || _not_ok "gnn-sample draws $wrong"
    instead "made with $wrong" 'but not of these batches'
done
gnn-sample $draw --steps 7:14 -o made S
cat made made >twice && mv twice made
instead 'the right one twice' 'remove it'
{ gnn-sample $draw --steps 7:9 S; gnn-sample $draw --steps 9:14 S; } >out.00001-of-00005.gnb
array 0 'of 1,3 of five, where the file is made of two streams' 1-3 2 1
rm out.*
with=TASKS=5
array 0 'of 0-4:2 of five' 0-4 3 0 2 4
array 0 'of 1-3:2 of five' 1-3 2 1 3
check 'sample-array.sbatch draws in two arrays what one process draws' whole
rm out.*
printf '#!/bin/sh\nexit 137\n' >bin/gnn-inspect
chmod +x bin/gnn-inspect
PATH="$PWD/bin:$PATH" array 1 'of 0-4 where gnn-inspect is killed' 0-4 5 0 4
rm bin/gnn-inspect
check 'sample-array.sbatch says that it does not know the steps of an epoch' said '^sample-array.sbatch: gnn-inspect does not tell'
for with in TASKS=0 TASKS=x TASKS=-1 EPOCHS=0 EPOCHS=2; do array 2 "of 0-4 with $with" 0-4 5 0; done
with=GNN=0
for option in '--epochs 3' --epochs=3 '--steps 0' --steps=0:4 '-o x' -ox '-qo x' -rqox --output=x '--output x'; do
    draw="-f 5,5 $option"
    array 2 "with $option" 0-4 5 0
    check "sample-array.sbatch names $option, which it sets itself" said "^sample-array.sbatch: ${option%% *}: set by this script"
done
check 'sample-array.sbatch has left no file of what it refused' sh -c '! ls out.* x 2>/dev/null'
for option in -fnode/to/node=10,5 '-f node/to/node=5,5' '-qf node/to/node=5,5' '-qrf 5 -z 1'; do
    draw="-b 500 --no-provenance $option"
    array 0 "with $option" 0-0 1 0
    check "sample-array.sbatch draws with $option" gnn-inspect -q --verify out.00000-of-00001.gnb
    rm -f out.*
done
letters() { gnn-sample --completion | sed -n "s/^--[a-z-]*,-\(.\) $1.*/\1/p" | sort | tr -d '\n'; }
check 'sample-array.sbatch knows which letters take no argument' grep -qF -e "-[$(letters flag)]*o" "$GNN_TOP/scripts/slurm/sample-array.sbatch"

# Without sbatch.
for name in train pipeline sample-array; do
    status 2 "$name.sbatch ends with status 2 outside of Slurm" \
        env -u SLURM_JOB_ID -u SLURM_ARRAY_TASK_ID PATH="$PWD/bin:$PATH" bash "$GNN_TOP/scripts/slurm/$name.sbatch" A B -f 5
    mv err said
    check "$name.sbatch says what is missing outside of Slurm" said "^$name.sbatch: SLURM_[A-Z_]*ID is not set: .*sbatch"
    check "$name.sbatch says no more than that" test "$(wc -l <said)" -eq 1
done
done_testing
