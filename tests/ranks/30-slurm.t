# The scripts for Slurm, on three fake nodes, give the bits that come without it.
. "$GNN_TOP/tests/ranks/slurm.sh"
scripts=$GNN_TOP/scripts/slurm
export TMPDIR=$PWD
gnn-import -q --no-provenance -o S sbm:nodes=3000,degree=12,features=8 || { _not_ok inputs; done_testing; }
gnn-partition -q --no-provenance -k 3 -o want S || _not_ok parts

part=$(submit $scripts/partition.sbatch S P 3 -q --no-provenance)
draw='-q -f 5,5 -b 50 --eval valid --no-provenance'
array=$(EPOCHS=2 submit --array=0-7 $scripts/sample-array.sbatch S drawn $draw)
few=$(submit --array=3-9 $scripts/sample-array.sbatch S few -q -f 5,5 -b 500 --no-provenance)
check 'a job partitions' finished $part 30
check 'a job partitions: the same' gnn-inspect --diff P want
learn='-q -f 5,5 -b 100 --epochs 4 --eval valid --hidden 32 --lr 0.01 --dropout 0 --no-layer-norm --no-provenance'
train=$(submit --nodes=3 $scripts/train.sbatch P trained $learn)
pipe=$(FANOUT=5,5 BATCH=100 EPOCHS=4 submit --nodes=3 $scripts/pipeline.sbatch P piped -q --hidden 32 --lr 0.01 --dropout 0 --no-layer-norm --no-provenance)
normed=$(FANOUT=5,5 BATCH=100 EPOCHS=1 SAMPLE_OPTIONS='--count-once --seed 2' GATHER_OPTIONS='--replicate 0.2' submit --nodes=3 $scripts/pipeline.sbatch P normed -q --batch-norm)
stopped=$(FANOUT=5,5 BATCH=100 EPOCHS=500 submit --nodes=3 $scripts/pipeline.sbatch P stopped --hidden 8 --patience 1)
typo=$(submit --nodes=3 $scripts/train.sbatch P never --hiden 16)
wrong=$(FANOUT=5,x submit --nodes=3 $scripts/pipeline.sbatch P never)

check 'one process draws' gnn-sample $draw --epochs 2 -o whole.gnb S
check 'an array of 8 jobs draws' finished $array 60
cat drawn.*.gnb >cat.gnb
check 'an array of 8 jobs draws: together the same stream' gnn-inspect --diff cat.gnb whole.gnb
check 'an array of 8 jobs draws: 8 streams' test "$(ls drawn.*.gnb | wc -l)" -eq 8
check 'more jobs than steps' finished $few 60
check 'more jobs than steps: one stream for each step' test "$(ls few.*.gnb | wc -l)" -eq 4
cat few.*.gnb >cat.gnb
check 'more jobs than steps: one process' gnn-sample -q -f 5,5 -b 500 --no-provenance -o whole.gnb S
check 'more jobs than steps: the same stream' gnn-inspect --diff cat.gnb whole.gnb

check 'ranks train' ranks 3 gnn-train --store P $learn -o model
check 'a job trains' finished $train 60
check 'a job trains: the same model' cmp trained model
check 'a pipeline trains' finished $pipe 60
check 'a pipeline trains: the same model' cmp piped model
check 'a pipeline with options for each stage' finished $normed 60
check 'a pipeline with options for each stage: there is a model' test -s normed
check 'a pipeline whose reader has had enough' finished $stopped 60
check 'a pipeline whose reader has had enough: its model is there' test -s stopped
finished $typo 60 >typo.txt
check 'a job with a mistake fails for good, with its own status' sh -c 'grep -qx FAILED state && scontrol show job '$typo' | grep -q "Restarts=0 .*ExitCode=2:0"'
finished $wrong 60 >wrong.txt
check 'a pipeline with a mistake fails' grep -qx FAILED state
check 'a pipeline with a mistake says so' grep -q 'gnn-sample: .*rank 0.*x' wrong.txt
check 'no model of it' test ! -e never
for option in '--epochs 3' --steps=0:4 '-o x' '-qo x'; do
    check "an array does not take $option" sh -c "! sh '$scripts/sample-array.sbatch' S never -q $option 2>said && grep -q '^sample-array: ${option%% *}: ' said"
done
check 'no FIFOs are left' sh -c '! ls -d gnn-pipeline.* 2>/dev/null'
done_testing
