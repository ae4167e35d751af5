# SPDX-License-Identifier: Apache-2.0
# What train.sbatch makes of the ways in which a step of srun may end, which here are those of a script. tests/ranks-long/30-requeue.t has nodes
# that fail.
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
both='echo start 2; echo start 2;'
job 0 '' 'all ranks end well' "$both echo end 0 0; echo end 1 0"
job 0 'sleep 10' 'srun says by status 1 that it could not start the ranks' 'exit 1' "$both echo end 0 0; echo end 1 0"
job 0 'sleep 10' 'srun could not start the ranks and ends with status 0' 'exit 0' "$both echo end 0 0; echo end 1 0"
job 0 'sleep 10 sleep 20' 'srun starts only one of two ranks' \
    'echo start 2; echo end 0 5; exit 5' 'echo start 2; exit 137' "$both echo end 1 0; echo end 0 0"
for own in 1 2 3 4 126 127; do
    job $own '' "a rank ends with status $own" "$both echo end 1 $own; exit 143"
done
job 2 '' 'a wrong option ends the one rank that could start' 'echo start 2; echo end 1 2; exit 1'
job 75 'scontrol requeue 7' 'ranks stop with a checkpoint' "$both echo end 0 75; echo end 1 75; exit 75"
job 5 'scontrol requeue 7' 'a rank was lost' "$both echo end 0 5; exit 5"
job 137 'scontrol requeue 7' 'a rank was killed' "$both echo end 1 137; exit 137"
job 5 'scontrol requeue 7' 'a node was lost at the very end' "$both echo end 0 0; exit 0"
export SLURM_RESTART_COUNT=3 GNN_RESTARTS=3
job 5 '' 'a rank was lost once too often' "$both echo end 0 5; exit 5"
job 5 '' 'srun could not start the ranks once too often' 'exit 1'
job 75 'scontrol requeue 7' 'ranks stop with a checkpoint, which is not counted' "$both echo end 0 75; echo end 1 75; exit 75"
export GNN_RESTARTS=5
job 5 'sleep 10 sleep 20' 'srun could not start the ranks in GNN_RESTARTS attempts' 'exit 1' 'exit 1' 'exit 1'
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
done_testing
