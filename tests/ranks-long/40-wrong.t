# SPDX-License-Identifier: Apache-2.0
# Ranks that do not fit together end, all of them and at once, with one reason.
. "$GNN_TOP/tests/ranks/setup.sh"
gnn-import -q -o S sbm:nodes=1000,degree=8,features=8 && gnn-import -q -o T sbm:nodes=1000,degree=8,features=8,seed=5 ||
    _not_ok 'gnn-import makes two graphs'
gnn-partition -q -k 3 -o P S && gnn-partition -q -k 3 -o Q T && gnn-partition -q -k 3 --method random -o R S ||
    _not_ok 'gnn-partition makes three stores of 3 parts'
gnn-partition -q -k 2 -o two S || _not_ok 'gnn-partition makes 2 parts'
draws='gnn-sample -q --timeout 200 -b 50 -o r.%r.gnb'
draw="$draws -f 5,5"
learns='gnn-train -q --timeout 200 -f 5,5 -b 50 --eval none'
learn="$learns --epochs 2 --keep last --hidden 8"
# ends STATUS NAME REASON COMMAND...: with one line that says why, and no result
ends() {
    _st=$1 _nm=$2 _why=$3
    shift 3
    status $_st "$_nm" timeout 600 mpirun --quiet "$@"
    if grep -qE "^gnn-[a-z]+: rank [0-9]+: $_why" err && [ -z "$(find . -name 'r.*.gnb*' -o -name 'model*')" ]; then
        _ok "$_nm: $(grep -cE '^gnn-' err) of them say why, and there is no result"
    else
        _not_ok "$_nm: none says why, or there is a result"
        grep -E '^gnn' err | sed 's/^/# /'
        rm -rf r.*.gnb* model*
    fi
}
last() { echo "-n 2 $1 : -n 1 $2"; } # the last of three ranks is different
ends 3 'gnn-sample ends when a rank has another store' '.*(rank 2|another).*' $(last "$draw P" "$draw Q")
ends 3 'gnn-sample ends when a rank has another partitioning' '.*(rank 2|another).*' $(last "$draw P" "$draw R")
ends 3 'gnn-sample ends when a rank has another --seed' 'rank 2 and rank 0: mismatched options' $(last "$draw P" "$draw --seed 2 P")
ends 3 'gnn-sample ends when a rank has another fan-out' 'rank 2 and rank 0: mismatched options' $(last "$draw P" "$draws -f 5,4 P")
ends 3 'gnn-sample ends when a rank has other --steps' 'rank 2 and rank 0: mismatched options' $(last "$draw P" "$draw --steps 0:2 P")
ends 3 'gnn-train ends when a rank has another --seed' \
    'rank 2 and rank 0: mismatched .*' $(last "$learn --store P -o model" "$learn --store P --seed 2 -o model")
ends 3 'gnn-train ends when a rank has another learning rate' \
    'rank 2 and rank 0: mismatched .*' $(last "$learn --store P -o model" "$learn --store P --lr 0.02 -o model")
ends 3 'gnn-train ends when a rank has another --hidden width' \
    'rank 2 and rank 0: mismatched .*' $(last "$learn --store P -o model" "$learns --epochs 2 --keep last --hidden 9 --store P -o model")
ends 3 'gnn-train ends when a rank has more epochs' \
    'rank 2 and rank 0: mismatched options' $(last "$learn --store P -o model" "$learns --epochs 3 --keep last --hidden 8 --store P -o model")
ends 3 'gnn-train ends when a rank writes more checkpoints' \
    'rank 2 and rank 0: mismatched options' $(last "$learn --store P -o model" "$learn --store P --checkpoint C --checkpoint-every 5 -o model")
check 'gnn-sample on 3 ranks writes a stream for each rank' ranks 3 gnn-sample -q -f 5,5 -b 50 -o 's.%r.gnb' P
collect='gnn-gather -q --timeout 200 -i s.%r.gnb -o r.%r.gnb'
ends 3 'gnn-gather ends when a rank gathers other fields' 'rank 2 and rank 0: mismatched options' $(last "$collect P" "$collect -F x P")
ends 3 'gnn-gather ends when a rank gathers another --dtype' 'rank 2 and rank 0: mismatched options' $(last "$collect P" "$collect --dtype f16 P")
ends 3 'gnn-sample ends when a rank runs gnn-train' 'rank 2 and rank 0: mismatched program or version' $(last "$draw P" "$learn --store P -o model")
export GNN_MPI="$GNN_B/lib/gnn-tools/gnn-mpi.so"
have=$(gnn-sample --version | cut -d ' ' -f 2)
perl -pe "s/\\b\\Q$have\\E\\b/${have%.*}.9/g" "$(command -v gnn-sample)" >other && chmod +x other
ends 3 'gnn-sample ends when a rank runs another version' \
    'rank 2 and rank 0: mismatched program or version' $(last "$draw P" "./other ${draw#gnn-sample } P")

for f in $(choice '0 1 2' 2); do
    rm -rf B
    cp -r P B
    rm B/part-0000$f.gnb
    ends 3 "gnn-sample ends when part $f is missing" ".*B/part-0000$f.*" -n 3 $draw B
    head -c 20000 P/part-0000$f.gnb >B/part-0000$f.gnb
    ends 3 "gnn-sample ends when part $f is cut" ".*B/part-0000$f.*" -n 3 $draw B
    cp R/part-0000$f.gnb B/part-0000$f.gnb
    ends 3 "gnn-sample ends when part $f is of another partitioning" ".*" -n 3 $draw B
done
ends 3 'gnn-sample ends when there are more ranks than parts' '.*2 parts.*|.*3 ranks.*' -n 3 $draw two
ends 3 'gnn-train ends when the streams of its ranks do not exist' '.*' -n 3 gnn-train -q -i none.%r --keep last -o model
mv s.1.gnb s.tmp && mv s.0.gnb s.1.gnb && mv s.tmp s.0.gnb
ends 3 "gnn-train ends when its ranks read each other's streams" \
    '.*rank 1 of 3, but this is rank 0.*|.*rank 0 of 3, but this is rank 1.*' -n 3 gnn-train -q -i s.%r.gnb --keep last -o model
# Launchers and MPI that do not fit.
status 5 'gnn-sample fails alone when its launcher says that it is one of four ranks' \
    timeout 600 env OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=1 gnn-sample -q -f 5,5 -o 'r.%r.gnb' P
status 1 'gnn-sample fails when its MPI plug-in is missing' \
    timeout 600 env GNN_MPI=/nowhere.so OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=1 gnn-sample -q -f 5,5 -o 'r.%r.gnb' P
grep -q 'MPI plug-in is missing: /nowhere.so' err && _ok 'gnn-sample names the MPI plug-in that is missing' ||
    _not_ok 'gnn-sample names the MPI plug-in that is missing'

# The checkpoint is there before a rank ends, however long the disk takes.
slow="env LD_PRELOAD=$GNN_B/shim.so FAULT_OP=fsync FAULT_N=1 FAULT_STICKY=1 FAULT_SLOW=2"
mpirun --quiet -n 1 $slow gnn-train -q --store P -f 5,5 -b 50 --eval none --epochs 4000 --keep last --checkpoint C -o never : \
    -n 2 $note gnn-train -q --store P -f 5,5 -b 50 --eval none --epochs 4000 --keep last --checkpoint C -o never 2>slow.err &
pid=$!
until [ -e C/checkpoint.lock ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
sleep 0.5
kill -USR1 "$(cat pid.2)"
wait $pid
rc=$?
check "gnn-train ends with status 75 on SIGUSR1 although the disk is slow ($rc)" logged slow.err test $rc -eq 75
check 'gnn-train leaves a checkpoint although the disk is slow' test -s C/checkpoint.safetensors
check 'gnn-train leaves nothing but the checkpoint although the disk is slow' test "$(ls C)" = checkpoint.safetensors
done_testing
