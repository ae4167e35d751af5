# SPDX-License-Identifier: Apache-2.0
# Jobs of Slurm that are interrupted go on to the model that would have come without. They are mostly waiting, and so are side by side.
CLUSTER_SLURMD_TIMEOUT=10 CLUSTER_NODES=9
export CLUSTER_SLURMD_TIMEOUT
. "$GNN_TOP/tests/ranks/slurm.sh"
gnn-import -q -o S sbm:nodes=3000,degree=12,features=8 && gnn-partition -q -k 3 -o P S ||
    { _not_ok "gnn-import and gnn-partition make the store"; done_testing; }
learn='-q -f 10,10 -b 20 --epochs 45 --eval valid --patience 0 --hidden 64 --lr 0.01 --dropout 0 --no-layer-norm --no-provenance --timeout 15'
train() { # MODEL OPTION-OF-SBATCH
    submit --nodes=2 "$2" "$GNN_TOP/scripts/slurm/train.sbatch" P "$1" $learn --checkpoint-every 20
}
working() { # MODEL: until there is a checkpoint, and more was done since
    until [ -e "$1.checkpoint/checkpoint.safetensors" ]; do sleep 0.2; done
    sleep 0.3
}
restarts() { scontrol show job "$1" | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p'; }
goes_on() { # NAME JOB MODEL
    check "train.sbatch ends well after $1" finished $2
    n_r=$(restarts $2)
    check "train.sbatch is started again by Slurm after $1 ($n_r times)" test "${n_r:-0}" -ge 1
    check "train.sbatch writes the same model after $1 as without" cmp $3 want
    sed -n 's/^gnn-train: /# /p; s/^train.sbatch: /# &/p' $2.txt | head -n 8
}
last_node() { scontrol show hostnames "$(squeue -h -j $1 -o %N)" | tail -n 1; }

# These two have no other nodes to go to. One loses its last node, the other that of its batch script.
ten=$(train ten --nodelist=n5,n6)
sixty=$(train sixty --nodelist=n7,n8)
lost=$(train lost --exclude=n0,n1,n5,n6,n7,n8) # n2 to n4: one to spare
for _m in ten sixty lost; do working $_m; done
cluster kill-node "$_cluster" n6
cluster kill-node "$_cluster" n7
lost_node=$(last_node $lost)
cluster kill-node "$_cluster" $lost_node
(sleep 10 && cluster revive-node "$_cluster" n6 && sleep 50 && cluster revive-node "$_cluster" n7) &
reviving=$!

told=$(train told --nodelist=n0,n1)
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
working told
scancel --signal=USR1 $told
working gone
scancel $gone

check 'gnn-train learns on 2 ranks under mpirun' ranks 2 gnn-train --store P $learn -o want
goes_on 'a signal that the time is over' $told told
check 'train.sbatch stops with a checkpoint on a signal that the time is over' \
    grep -q 'rank 0: stopped after epoch .* the checkpoint is in told.checkpoint' $told.txt
goes_on 'the end of a rank by SIGKILL' $killed killed
finished $gone >/dev/null
check 'train.sbatch stays cancelled after scancel' grep -qx CANCELLED state
check 'train.sbatch leaves no model after scancel' test ! -e gone
goes_on 'the loss of a node' $lost lost
goes_on 'the loss of one of all its nodes for 10 seconds' $ten ten
goes_on 'the loss of one of all its nodes for 60 seconds' $sixty sixty
wait $reviving
check 'train.sbatch leaves no temporary file of killed ranks' test -z "$(find . -name '*.tmp*')"
for job in $told $killed $lost $ten $sixty; do
    check "train.sbatch passes on no output of MPI in job $job" sh -c "! grep 'MPI_ABORT\|MPI communication peer\|Open MPI' $job.txt"
done
done_testing
