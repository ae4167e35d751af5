# SPDX-License-Identifier: Apache-2.0
# Full batches on ranks with devices, which are emulated: ranks that share one, NCCL, faults and checkpoints. tests/full compares
# what models learn.
. "$GNN_TOP/tests/ranks/setup.sh"
train=$emu/gnn-train
perl -e 'srand 4; print "source,target,weight\n"; printf "%d,%d,%.3f\n", int rand 301, int rand 280, .1 + rand for 1 .. 2000; print "5,5,2\n"' >e.csv
perl -e 'print $_ % 3, "\n" for 1 .. 301' >y.csv
perl -e 'srand 5; print join(",", $_ % 3 + rand, rand, 1), "\n" for 1 .. 301' >x.csv
# Partition 0 has one node, 1 none that has edges or a label set; the others share the rest.
perl -e 'print $_ == 9 ? 0 : $_ >= 285 ? 1 : 2 + $_ % 3, "\n" for 0 .. 300' >assign
gnn-import -q --directed --labels y.csv --features x.csv --split random:0.5,0.25,0.25 -o W e.csv && gnn-partition -q --from assign -o w W ||
    _not_ok 'gnn-import and gnn-partition make a store'
learn='--hidden 8 --epochs 2 --layers 3 --lr 0.01 --no-provenance'
"$train" -q --full-batch --device cuda $learn --store w -m gat --heads 2 -o m1 || _not_ok 'gnn-train learns in one process on a device'
check 'gnn-train --full-batch --pipeline-depth 3 learns on 4 ranks with 2 devices' on 4 2 gnn-train -q --full-batch --device cuda $learn --store w -m gat --heads 2 --pipeline-depth 3 -o m4
check 'gnn-train --full-batch --pipeline-depth 3 makes the model of one rank on 4' cmp m1 m4
# How ranks exchange rows: by NCCL, or by the host, with the same result.
opts="$learn --store w -m gat --heads 2 --batch-norm"
check 'gnn-train --full-batch learns on 3 ranks and logs the calls of NCCL' env GNN_FAKE_NCCL_LOG="$PWD/calls" GNN_FAKE_DEVICES=3 \
    mpirun --quiet -n 3 "$train" --timeout 120 -v --full-batch --device cuda $opts --metrics m -o nccl
cp err said
check 'gnn-train --full-batch says that NCCL exchanges the rows' grep -q '^gnn-train: .*rows and gradients of 3 ranks are exchanged by NCCL$' said
check 'gnn-train --full-batch records in its metrics that NCCL does' grep -q '"event": *"exchange", *"by": *"nccl"' m
# Two steps and evaluations of three layers; rows are fetched again going back, gradients are pushed, and both sums are exchanges.
check 'gnn-train --full-batch asks NCCL for an exchange in each round' test "$(grep -c ^exchange calls)" -eq $((3 * 2 * (4 * (4 * 3) + 2)))
check 'gnn-train --full-batch learns on 3 ranks without NCCL' env GNN_NCCL=none GNN_FAKE_DEVICES=3 \
    mpirun --quiet -n 3 "$train" --timeout 120 -v --full-batch --device cuda $opts --metrics m -o host
cp err said
check 'gnn-train --full-batch says why the host exchanges the rows' \
    grep -q '^gnn-train: .*rows and gradients of 3 ranks are exchanged by the host, not by NCCL: rank 0: GNN_NCCL is none' said
check 'gnn-train --full-batch records in its metrics why the host does' grep -q '"by": *"host", *"why": *"rank 0: GNN_NCCL is none' m
check 'gnn-train --full-batch writes the same model with and without NCCL' cmp nccl host
# The rows that evaluation needs are others than those of steps, and go the same way.
rm calls
opts="$learn --store w -m gat --heads 2 --needed-only"
check 'gnn-train --needed-only learns on 3 ranks and logs the calls of NCCL' env GNN_FAKE_NCCL_LOG="$PWD/calls" GNN_FAKE_DEVICES=3 \
    mpirun --quiet -n 3 "$train" --timeout 120 -q --full-batch --device cuda $opts -o nccl
check 'gnn-train --needed-only asks NCCL for an exchange in each round of steps and of evaluations' \
    test "$(grep -c ^exchange calls)" -eq $((3 * 2 * (4 * (4 * 3) + 2)))
check 'gnn-train --needed-only learns in one process' "$train" -q --full-batch --device cuda $opts -o host
check 'gnn-train --needed-only writes the model of one process with NCCL' cmp nccl host
opts="$learn --store w -m gat --heads 2 --batch-norm"
ends() { # WANT PATTERN NAME RANKS SETTING: the status, a line of ours, and no model
    GNN_FAKE_DEVICES=$4 mpirun --quiet -n $4 sh -c "r=\$OMPI_COMM_WORLD_RANK; $5 exec timeout 600 $train --timeout 20 -q --full-batch --device cuda $opts -o never" >out 2>err
    _rc=$?
    if [ $_rc -eq "$1" ] && grep -q "^gnn-train: .*$2" err && [ "$(grep -c '^gnn-train:' err)" -le $4 ] && [ ! -e never ]; then
        _ok "$3"
    else
        _not_ok "$3 (status $_rc)"
        grep -v '^-*$' err | head -n 5 | sed 's/^/# /'
    fi
}
for k in 2 70; do
    ends 5 'rank 1: NCCL: .*unhandled system error' "gnn-train --full-batch ends on all ranks when NCCL fails to make exchange $k" 2 \
        "test \$r = 0 || export GNN_FAKE_NCCL_FAIL=$k;"
done
ends 5 'no answer from the other ranks for 20 seconds (NCCL exchange)' 'gnn-train --full-batch ends on all ranks when the device of one of them hangs' 3 \
    'test $r != 2 || export GNN_FAKE_NCCL_HANG=70;'
check 'gnn-train --full-batch keeps a checkpoint on 3 ranks with devices' on 3 3 gnn-train -q --full-batch --device cuda $learn --store w --checkpoint C --checkpoint-every 1 --epochs 2 -o part
check 'gnn-train --full-batch resumes on 2 ranks with devices' on 2 2 gnn-train -q --full-batch --device cuda $learn --store w --checkpoint C --resume --epochs 4 -o got
check 'gnn-train --full-batch learns in one process on a device' "$train" -q --full-batch --device cuda $learn --store w --epochs 4 -o want
check 'gnn-train --full-batch resumes on another number of devices to the same model' cmp want got
done_testing
