# SPDX-License-Identifier: Apache-2.0
# The scripts for Slurm, on three fake nodes, give the bits that come without it.
. "$GNN_TOP/tests/ranks/slurm.sh"
scripts=$GNN_TOP/scripts/slurm
export TMPDIR=$PWD
gnn-import -q --no-provenance -o S sbm:nodes=3000,degree=12,features=8 || { _not_ok 'gnn-import makes the graph'; done_testing; }
gnn-partition -q --no-provenance -k 3 -o want S || _not_ok 'gnn-partition makes 3 parts'

part=$(submit $scripts/partition.sbatch S P 3 -q --no-provenance)
draw='-q -f 5,5 -b 50 --eval valid --no-provenance'
array=$(EPOCHS=2 submit --array=0-7 $scripts/sample-array.sbatch S drawn $draw)
few=$(submit --array=0-6 $scripts/sample-array.sbatch S few -q -f 5,5 -b 500 --no-provenance)
odd=$(submit --array=0-6:2 $scripts/sample-array.sbatch S odd $draw)
check 'partition.sbatch runs gnn-partition as a job' finished $part
check 'partition.sbatch makes the parts that gnn-partition makes without Slurm' gnn-inspect --diff P want
learn='-q -f 5,5 -b 100 --epochs 4 --eval valid --hidden 32 --lr 0.01 --dropout 0 --no-layer-norm --no-provenance'
train=$(submit --nodes=3 $scripts/train.sbatch P trained $learn)
whole='-q --full-batch -m gat --heads 2 --layers 2 --hidden 32 --batch-norm --epochs 4 --eval valid --no-provenance'
full=$(submit --nodes=3 $scripts/train.sbatch P full $whole)
pipe=$(FANOUT=5,5 BATCH=100 EPOCHS=4 submit --nodes=3 $scripts/pipeline.sbatch P piped -q --hidden 32 --lr 0.01 --dropout 0 --no-layer-norm --no-provenance)
normed=$(FANOUT=5,5 BATCH=100 EPOCHS=1 SAMPLE_OPTIONS='--count-once --seed 2' GATHER_OPTIONS='--replicate 0.2' submit --nodes=3 $scripts/pipeline.sbatch P normed -q --batch-norm)
stopped=$(FANOUT=5,5 BATCH=100 EPOCHS=500 submit --nodes=3 $scripts/pipeline.sbatch P stopped --hidden 8 --patience 1)
typo=$(submit --nodes=3 $scripts/train.sbatch P never --hiden 16)
wrong=$(FANOUT=5,x submit --nodes=3 $scripts/pipeline.sbatch P never)

check 'gnn-sample draws two epochs in one process' gnn-sample $draw --epochs 2 -o whole.gnb S
check 'sample-array.sbatch draws two epochs in an array of 8 jobs' finished $array
cat drawn.*.gnb >cat.gnb
check 'sample-array.sbatch draws the stream of one process in 8 jobs' gnn-inspect --diff cat.gnb whole.gnb
check 'sample-array.sbatch writes a stream for each of 8 jobs' test "$(ls drawn.*.gnb | wc -l)" -eq 8
rm drawn.00003-* drawn.00006-*
redo=$(EPOCHS=2 TASKS=8 submit --array=3,5-6 $scripts/sample-array.sbatch S drawn $draw)
check 'sample-array.sbatch draws two of 8 jobs again, and keeps what is there of a third' finished $redo
cat drawn.*.gnb >cat.gnb
check 'sample-array.sbatch draws two of 8 jobs as they were' gnn-inspect --diff cat.gnb whole.gnb
check 'sample-array.sbatch says what is there' grep -q 'drawn.00005-of-00008-in-2-epochs.gnb: complete already' ${redo}_5.txt
short=$(EPOCHS=2 submit --array=0-1 $scripts/sample-array.sbatch S drawn $draw)
check 'sample-array.sbatch runs with more jobs than steps' finished $few
check 'sample-array.sbatch writes one stream for each step when there are more jobs' test "$(ls few.*.gnb | wc -l)" -eq 4
cat few.*.gnb >cat.gnb
failed() { ! finished $1 >why.txt && [ "$(cat state)" = FAILED ] && grep -q "$2" $1_*.txt; }
check 'sample-array.sbatch refuses 0-6:2 without the number of tasks' failed $odd 'set TASKS in the environment'
check 'sample-array.sbatch refuses the first 2 of 8 jobs without their number' failed $short 'set TASKS and EPOCHS as they were'
check 'sample-array.sbatch writes nothing when it refuses' sh -c '! ls odd.* drawn.*-00002-* 2>/dev/null'
check 'gnn-sample draws one epoch in one process' gnn-sample -q -f 5,5 -b 500 --no-provenance -o whole.gnb S
check 'sample-array.sbatch draws the stream of one process with more jobs than steps' gnn-inspect --diff cat.gnb whole.gnb

check 'gnn-train learns on 3 ranks under mpirun' ranks 3 gnn-train --store P $learn -o model
check 'train.sbatch learns on 3 nodes' finished $train
check 'train.sbatch writes the model that mpirun gives' cmp trained model
check 'gnn-train learns from full batches on 3 ranks under mpirun' ranks 3 gnn-train --store P $whole -o full.want
check 'train.sbatch learns from full batches on 3 nodes' finished $full
check 'train.sbatch writes the model of full batches that mpirun gives' cmp full full.want
check 'pipeline.sbatch learns on 3 nodes' finished $pipe
check 'pipeline.sbatch writes the model that mpirun gives' cmp piped model
check 'pipeline.sbatch runs with options for each stage' finished $normed
check 'pipeline.sbatch writes a model with options for each stage' test -s normed
check 'pipeline.sbatch ends well when its gnn-train stops early' finished $stopped
check 'pipeline.sbatch writes a model when its gnn-train stops early' test -s stopped
finished $typo >typo.txt
check 'train.sbatch fails with the status of gnn-train and is not requeued after a wrong option' \
    sh -c 'grep -qx FAILED state && grep -q "Restarts=0 .*ExitCode=2:0" job'
finished $wrong >wrong.txt
check 'pipeline.sbatch fails with the status of gnn-sample after a wrong option' \
    sh -c 'grep -qx FAILED state && grep -q "ExitCode=2:0" job || { grep -E "State|ExitCode" job; cat wrong.txt; false; }'
check 'pipeline.sbatch passes on the message of gnn-sample after a wrong option' grep -q 'gnn-sample: .*rank 0.*x' wrong.txt
check 'train.sbatch and pipeline.sbatch leave no model after a wrong option' test ! -e never
check 'pipeline.sbatch leaves no FIFO behind' sh -c '! ls -d gnn-pipeline.* 2>/dev/null'
done_testing
