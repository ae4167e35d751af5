# Jobs of Slurm that are interrupted go on to the model that would have come without.
CLUSTER_SLURMD_TIMEOUT=5
export CLUSTER_SLURMD_TIMEOUT
. "$GNN_TOP/tests/ranks/slurm.sh"
gnn-import -q -o S sbm:nodes=3000,degree=12,features=8 && gnn-partition -q -k 3 -o P S || { _not_ok inputs; done_testing; }
learn='-q -f 10,10 -b 20 --epochs 40 --eval valid --hidden 64 --no-provenance --timeout 3'
check 'ranks under mpirun' ranks 2 gnn-train --store P $learn -o want
train() { submit --nodes=2 "$GNN_TOP/scripts/slurm/train.sbatch" P "$1" $learn --checkpoint-every 20; }
working() { # MODEL: until there is a checkpoint, and more was done since
    _t=0
    until [ -e "$1.checkpoint/checkpoint.safetensors" ] || [ $_t -gt 300 ]; do _t=$((_t + 1)); sleep 0.1; done
    sleep 0.5
}
restarts() { scontrol show job "$1" | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p'; }
goes_on() { # NAME JOB MODEL
    check "$1: the job ends well" finished $2 120
    n_r=$(restarts $2)
    check "$1: it was started again ($n_r)" test "${n_r:-0}" -ge 1
    check "$1: the same model" cmp $3 want
    sed -n 's/^gnn-train: /# /p' $2.txt | head -n 6
}

job=$(train told)
working told
scancel --signal=USR1 $job
goes_on 'told that the time is over' $job told
check 'told that the time is over: it stopped with a checkpoint' grep -q 'rank 0: stopped after epoch .* the checkpoint is in told.checkpoint' $job.txt

job=$(train killed)
working killed
node=$(scontrol show hostnames "$(squeue -h -j $job -o %N)" | tail -n 1)
pid=$(for p in /proc/[0-9]*; do grep -qsx gnn-train $p/comm && tr '\0' '\n' <$p/environ 2>/dev/null |
    grep -qx "SLURMD_NODENAME=$node" && tr '\0' '\n' <$p/environ | grep -qx "SLURM_CONF=$SLURM_CONF" && echo ${p#/proc/}; done)
kill -9 $pid
goes_on 'a rank was killed' $job killed

job=$(train lost)
working lost
node=$(scontrol show hostnames "$(squeue -h -j $job -o %N)" | tail -n 1)
cluster kill-node "$_cluster" $node
goes_on 'a node was lost' $job lost
cluster revive-node "$_cluster" $node

job=$(train gone)
working gone
scancel $job
finished $job 60 >/dev/null
check 'cancelled: it stays cancelled' grep -qx CANCELLED state
check 'cancelled: no model' test ! -e gone
done_testing
