# SPDX-License-Identifier: Apache-2.0
# Jobs of Slurm that are interrupted go on to the model that would have come without. They are mostly waiting, and so are side by side.
CLUSTER_NODES=13
. "$GNN_TOP/tests/ranks/slurm.sh"
gnn-import -q -o S sbm:nodes=3000,degree=12,features=8 && gnn-partition -q -k 3 -o P S ||
    { _not_ok "gnn-import and gnn-partition make the store"; done_testing; }
wides='' learn='-q -f 10,10 -b 20 --epochs 45 --eval valid --patience 0 --hidden 64 --lr 0.01 --dropout 0 --no-layer-norm --no-provenance --timeout 15'
train() { # MODEL OPTION-OF-SBATCH [OPTION]...
    _model=$1 _how=$2
    shift 2
    submit --nodes=2 $_how "$GNN_TOP/scripts/slurm/train.sbatch" P "$_model" $learn --checkpoint-every 20 "$@"
}
working() { # MODEL: until there is a checkpoint, and more was done since
    until [ -e "$1.checkpoint/checkpoint.safetensors" ]; do sleep 0.2; done
    sleep 0.3
}
restarts() { sed -n 's/.* Restarts=\([0-9]*\).*/\1/p' job; } # of the job that finished last
goes_on() { # NAME JOB MODEL [MODEL-OF-MPIRUN]
    check "train.sbatch ends well after $1" finished $2
    n_r=$(restarts)
    check "train.sbatch is started again by Slurm after $1 ($n_r times)" test "${n_r:-0}" -ge 1
    check "train.sbatch writes the same model after $1 as without" cmp $3 ${4:-want}
    sed -n 's/^gnn-train: /# /p; s/^train.sbatch: /# &/p' $2.txt | head -n 8
}
# Stops, at least so many, and restarts, which are counted by themselves. There are some on a busy machine: messages of the controller that
# nobody answers in time are sent again, and may stop or kill the step of the job that goes on, as it has the number of the one before.
counted() { # JOB STOPS
    grep '^train.sbatch: ' $1.txt | awk -v least=$2 -v restarts="$(restarts)" '
        /: stopped with a checkpoint; requeueing the job$/ { stops++; next }
        /: a rank was lost .*; requeueing the job/ && index($0, "(" (lost + 1) " of 3)") { lost++; next }
        { bad = 1; print "# " $0 }
        END { exit bad || stops < least || stops + lost != restarts }'
}
last_node() { scontrol show hostnames "$(squeue -h -j $1 -o %N)" | tail -n 1; }

# How fast this machine learns now, of which follows for how many epochs a job goes on after the 40 seconds that another one has.
begun=$(date +%s)
check 'gnn-train learns on 2 ranks under mpirun' ranks 2 gnn-train --store P $learn -o want
many=$((45 * 80 / ($(date +%s) - begun + 1)))
[ $many -gt 50 ] || many=50

# Stops for which a job asks are not restarts, of which these jobs may have three. Of one the time is over again and again; three are told
# twice each, in several ways.
long=$(GNN_RESTARTS=3 train long '--nodelist=n9,n10 --time=2 --signal=USR1@80' --epochs $many)
tell() { # MODEL JOB OPTION-OF-SCANCEL...
    _model=$1 _job=$2 _point=$1.checkpoint/checkpoint.safetensors
    shift 2
    for _t in 1 2; do
        until [ $_t -eq 1 ] && [ -e $_point ] || find $_point -newer $_model.stops.$_job | grep -q . || ! squeue -h -j $_job | grep -q .; do sleep 0.2; done
        scancel "$@" $_job
        until [ "$(grep -c . $_model.stops.$_job)" -ge $_t ] || ! squeue -h -j $_job | grep -q .; do sleep 0.2; done
    done 2>/dev/null
}
told1=$(GNN_RESTARTS=3 train told1 --nodelist=n11,n12 --epochs 200)
told2=$(GNN_RESTARTS=3 train told2 --nodelist=n11,n12 --epochs 200)
told3=$(GNN_RESTARTS=3 train told3 --nodelist=n11,n12 --epochs 200)
tell told1 $told1 --signal=USR1 &
telling=$!
tell told2 $told2 --full --signal=USR1 &
telling="$telling $!"
tell told3 $told3 --signal=TERM &
telling="$telling $!"
# A failure of the program's own, which it finds after MPI has begun, is never tried again.
ranks 2 gnn-train --store P $learn --epochs 1 --checkpoint other.checkpoint --checkpoint-every 20 -o other || _not_ok 'gnn-train leaves a checkpoint'
for try in 1 2 3 4 5; do
    cp -r other.checkpoint wide$try.checkpoint
    wides="$wides $(train wide$try --nodelist=n9,n10 --hidden 32)"
done

# These two have no other nodes to go to. One loses its last node, the other that of its batch script.
ten=$(train ten --nodelist=n5,n6)
sixty=$(train sixty --nodelist=n7,n8)
lost=$(train lost --exclude=n[0-1,5-12]) # n2 to n4: one to spare
for _m in ten sixty lost; do working $_m; done
cluster kill-node "$_cluster" n6
cluster kill-node "$_cluster" n7
lost_node=$(last_node $lost)
cluster kill-node "$_cluster" $lost_node
(sleep 10 && cluster revive-node "$_cluster" n6 && sleep 50 && cluster revive-node "$_cluster" n7) &
reviving=$!

killed=$(train killed --nodelist=n0,n1)
gone=$(train gone --nodelist=n0,n1)
# On a busy machine, too, the rank has to be found before the job is done.
working killed
node=$(last_node $killed)
for pid in $(grep -lsx gnn-train /proc/[0-9]*/comm | tr -dc '0-9\n'); do
    tr '\0' '\n' </proc/$pid/environ >env 2>/dev/null
    [ $(grep -cxF -e "SLURMD_NODENAME=$node" -e "SLURM_JOB_ID=$killed" -e "SLURM_CONF=$SLURM_CONF" env) -eq 3 ] && break
done
check 'a rank is found and killed' kill -9 $pid
working gone
scancel $gone

check 'gnn-train learns 200 epochs under mpirun' ranks 2 gnn-train --store P $learn --epochs 200 -o want.200
check 'gnn-train learns as many epochs as a job under mpirun' ranks 2 gnn-train --store P $learn --epochs $many -o want.long
for try in 1 2 3 4 5; do
    wide=$(echo $wides | cut -d' ' -f$try)
    finished $wide >/dev/null
    check "train.sbatch fails with the status of gnn-train and is not started again with a checkpoint of another width, try $try" \
        sh -c 'grep -qx FAILED state && grep -q "Restarts=0 .*ExitCode=3:0" job'
done
wait $telling
for how in 'told1 USR1' 'told2 USR1 to all processes' 'told3 TERM'; do
    eval "job=\$${how%% *}"
    goes_on "a signal ${how#* }, twice" $job ${how%% *} want.200
    check "train.sbatch counts no restart for a signal ${how#* }, twice" counted $job 2
done
goes_on 'a time limit' $long long want.long
check 'train.sbatch counts no restart for time limits' counted $long 1
check 'train.sbatch leaves no note of stops' sh -c '! ls ./*.stops.* 2>/dev/null'
goes_on 'the end of a rank by SIGKILL' $killed killed
finished $gone >/dev/null
check 'train.sbatch stays cancelled after scancel' grep -qx CANCELLED state
check 'train.sbatch leaves no model after scancel' test ! -e gone
goes_on 'the loss of a node' $lost lost
goes_on 'the loss of one of all its nodes for 10 seconds' $ten ten
goes_on 'the loss of one of all its nodes for 60 seconds' $sixty sixty
wait $reviving
check 'train.sbatch leaves no temporary file of killed ranks' test -z "$(find . -name '*.tmp*')"
for job in $told1 $told2 $told3 $long $killed $lost $ten $sixty; do
    check "train.sbatch passes on no output of MPI in job $job" sh -c "! grep 'MPI_ABORT\|MPI communication peer\|Open MPI' $job.txt"
done
done_testing
