# SPDX-License-Identifier: Apache-2.0
# Ranks that do not belong together, or of which one fails: the job ends soon, and one line says why.
. "$GNN_TOP/tests/ranks/setup.sh"
gnn-import -q -o S sbm:nodes=800,degree=8,features=8 && gnn-partition -q -k 2 -o P S &&
    gnn-partition -q -k 2 --method random -o Q S || { _not_ok 'gnn-import and gnn-partition make the stores'; done_testing; }
# fails WANT PATTERN NAME COMMAND...: the status, and a line with the pattern
fails() {
    _want=$1 _pattern=$2 _name=$3
    shift 3
    "$@" >out 2>err
    _rc=$?
    if [ $_rc -eq "$_want" ] && grep -q "^gnn-.*$_pattern" err; then _ok "$_name"; else
        _not_ok "$_name (status $_rc)"
        grep -v '^-*$' err | head -n 5 | sed 's/^/# /'
    fi
}
each() { # COMMAND OPTION-OF-RANK-0 OPTION-OF-RANK-1: two ranks that differ; -- stands for nothing
    _a=$2 _b=$3
    [ "$_a" != -- ] || _a=
    [ "$_b" != -- ] || _b=
    # shellcheck disable=SC2086
    set -- $1
    # shellcheck disable=SC2086
    mpirun --quiet -n 1 "$@" $_a : -n 1 "$@" $_b
}
sample='gnn-sample -q P -f 3,3 -b 32 --timeout 600 -o r.%r.gnb'
ranks 2 $sample
gather='gnn-gather -q P -i r.%r.gnb -o g.%r.gnb --timeout 600'
train='gnn-train -q --store P -f 3,3 -b 32 --hidden 8 --epochs 10 --eval none -o model --timeout 600'
fails 3 'rank 1 and rank 0: mismatched options' 'gnn-sample refuses ranks with different --seed' each "$sample" '--seed 2' '--seed 3'
fails 3 'rank 1 and rank 0: mismatched options' 'gnn-gather refuses ranks with different --dtype' each "$gather" '--dtype f16' '--dtype bf16'
fails 3 'rank 1 and rank 0: mismatched options' 'gnn-gather refuses --replicate on one rank only' each "$gather" '--replicate 0.5' --
fails 3 'rank 1 and rank 0: mismatched options' 'gnn-train refuses ranks with different --epochs' each "$train" '--epochs 2' '--epochs 3'
fails 3 'rank 1 and rank 0: mismatched options' 'gnn-train refuses --checkpoint on one rank only' each "$train" '--checkpoint C' --
fails 3 'rank 1 and rank 0: mismatched store' 'gnn-sample refuses ranks with different partitionings of a graph' \
    mpirun --quiet -n 1 gnn-sample -q P -f 3,3 -o 'x.%r' : -n 1 gnn-sample -q Q -f 3,3 -o 'x.%r'
seq 0 20 >a.ids
seq 1 21 >b.ids
fails 3 'rank 1 and rank 0: mismatched seeds' 'gnn-sample refuses ranks with different --seeds' each "$sample" '--seeds a.ids' '--seeds b.ids'
fails 3 'too few for 3 ranks' 'gnn-sample refuses more ranks than there are parts' ranks 3 $sample
fails 3 'mismatched program or version' 'gnn-sample and gnn-gather refuse to run as ranks of one job' mpirun --quiet -n 1 $sample : -n 1 $gather
fails 2 'requires its own file' 'gnn-sample refuses one output file for all ranks' ranks 2 gnn-sample -q P -f 3,3 -o all.gnb
fails 2 'frontier policy' 'gnn-sample refuses --frontier new on several ranks' ranks 2 $sample --frontier new
fails 2 'requires a single process' 'gnn-gather refuses --plan on several ranks' ranks 2 gnn-gather P --plan --cache 0.1 -i 'r.%r.gnb'

# How soon ranks must answer says nothing of how soon they start.
check 'gnn-sample waits longer for a rank to start than for one to answer' \
    mpirun --quiet -n 1 gnn-sample -q P -f 3,3 -b 32 --timeout 8 -o late.%r.gnb : \
    -n 1 sh -c 'sleep 12; exec "$@"' - gnn-sample -q P -f 3,3 -b 32 --timeout 8 -o late.%r.gnb

# Our line is all that is said, also by mpirun and MPI, unless more is asked for.
mpirun -n 3 $sample 2>said
# The others leave it to rank 0 for a moment, which on a busy machine is over before mpirun has ended them; they say the same.
check 'gnn-sample says only why the ranks end, and mpirun says nothing' \
    sh -c 'sed "s/rank [012]:/rank N:/" said | sort -u >once; test "$(wc -l <once)" -eq 1 && grep -q "^gnn-sample: rank N: .* too few for 3 ranks" once'
# The launcher may end a rank while it leaves the line to rank 0: it has the status all the same.
status 2 'gnn-sample on rank 1 ends with its own status when SIGTERM ends it meanwhile' env OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 \
    LD_PRELOAD="$GNN_B/shim.so" FAULT_OP=nanosleep FAULT_N=1 FAULT_SIGNAL=15 gnn-sample --nonsense
cp err said
check 'gnn-sample on rank 1 leaves the line to rank 0 when SIGTERM ends it' test ! -s said
status 2 'gnn-sample on rank 1 ends with status 2 when no signal comes' env OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 gnn-sample --nonsense
cp err said
check 'gnn-sample on rank 1 says why it ends when no signal comes' grep -q "rank 1: unknown option '--nonsense'" said
for try in 1 2 3 4 5; do # mpirun may end before it has passed on what MPI_Abort says
    mpirun -n 3 gnn-sample P -f 3,3 -v -o 'r.%r.gnb' 2>said
    ! grep -q 'MPI_ABORT' said || break
done
check 'gnn-sample -v lets MPI say that it was aborted' grep -q 'MPI_ABORT' said

# A share of the batches is not all of them.
fails 3 'those of rank 1 of 2' 'gnn-gather refuses the stream of one of two ranks alone' gnn-gather -q P -i r.1.gnb -o g
ranks 2 $gather
fails 3 'those of rank 0 of 2' 'gnn-train refuses the stream of one of two ranks alone' gnn-train -q -i g.0.gnb -o model
cp r.0.gnb w.1.gnb && cp r.1.gnb w.0.gnb
fails 3 'those of rank 1 of 2, but this is rank 0 of 2' 'gnn-gather refuses streams that belong to other ranks' \
    ranks 2 gnn-gather -q P -i 'w.%r.gnb' -o 'g.%r.gnb'
cat r.0.gnb r.1.gnb >both.0 && cat r.1.gnb r.1.gnb >both.1
fails 3 'both.0' 'gnn-gather refuses the streams of two ranks in one file' ranks 2 gnn-gather -q P -i 'both.%r' -o 'g.%r.gnb' --timeout 600
ranks 2 gnn-sample -q P -f 3,3 -b 32 --steps 0:2 -o 'few.%r.gnb' && cp few.1.gnb r.1.gnb
fails 3 'do not' 'gnn-gather refuses streams of which one has fewer batches' ranks 2 $gather
check 'gnn-gather leaves no temporary file when it refuses the streams of ranks' sh -c '! ls | grep -q tmp'

# One rank fails alone.
# Features that half precision cannot hold, of nodes of one rank: to train on, and to evaluate on.
perl -e 'open E, ">e"; open X, ">x"; open X2, ">x2"; open X3, ">x3"; open Y, ">y";
    for (0 .. 39) { print E "$_\t$_\n"; print Y $_ % 2, "\n"; print X $_ == 3 ? "1e6\n" : "1\n"; print X2 $_ == 37 ? "1e6\n" : "1\n"; print X3 $_ % 3 ? "2e35\n" : "-1e35\n" }
    open T, ">train"; print T "$_\n" for 0 .. 29; open T, ">valid"; print T "$_\n" for 30 .. 39'
for x in x x2 x3; do
    gnn-import -q -o inf-$x e --nodes 40 --features $x --labels y --split train=train,valid=valid &&
        gnn-partition -q -k 2 --method random -o inf2-$x inf-$x || _not_ok 'gnn-import and gnn-partition make the stores'
done
train="-f 2,2 -b 100 --hidden 8 --lr 0.01 --dropout 0 --no-layer-norm --dtype f16 -q --timeout 600"
fails 1 'not finite in epoch 0, step 0: ' 'gnn-train ends on all ranks when the loss of one is not finite' \
    ranks 2 gnn-train --store inf2-x $train --eval none -o model
fails 1 'not finite in epoch 0, step 0 of set valid: ' 'gnn-train ends on all ranks when the evaluated loss of one is not finite' \
    ranks 2 gnn-train --store inf2-x2 $train --eval valid -o model
fails 1 'not finite.*after epoch 0, step 0: ' 'gnn-train ends on all ranks when weights are not finite after the last step' \
    ranks 2 gnn-train --store inf2-x3 $train --eval none --dtype stored \
    --epochs 1 --optimizer sgd --lr 1e5 -o model
check 'gnn-train on ranks leaves no model and no temporary file after values that are not finite' sh -c '! ls | grep -e tmp -e model'

if [ -e /dev/full ]; then
    ln -s /dev/full full.1
    fails 1 'No space left' 'gnn-sample ends on all ranks when the disk of one is full' \
        ranks 2 gnn-sample -q P -f 3,3 -b 8 --epochs 50 --timeout 600 -o 'full.%r'
fi
cp -r P D
chmod u+w D/part-00001.gnb
printf x | dd of=D/part-00001.gnb bs=1 seek=13000 conv=notrunc 2>/dev/null
fails 3 'part-00001.gnb' 'gnn-train ends on all ranks when a part is damaged' \
    ranks 2 gnn-train -q --store D -f 3,3 -b 32 --hidden 8 --timeout 600 -o model
rm D/part-00001.gnb
fails 3 'part-00001.gnb: partition is missing' 'gnn-sample ends on all ranks when a part is missing' ranks 2 gnn-sample -q D -f 3,3 -o 'x.%r'
cp Q/part-00001.gnb D
fails 3 'part-00001.gnb' 'gnn-sample ends on all ranks when a part is of another partitioning' ranks 2 gnn-sample -q D -f 3,3 -o 'x.%r'
check 'gnn-train and gnn-sample leave no model and no stream when a part is wrong' sh -c '! ls | grep -q "^model\|^x\."'
# A part that is cut short ends the job, by the rank that has it.
cp -r P R
mpirun --quiet -n 2 gnn-train -q --store R -f 3,3 -b 32 --hidden 8 -o model --timeout 60 --eval none --epochs 100000000 --checkpoint ck --checkpoint-every 1 >out 2>err &
pid=$!
until [ -e ck/checkpoint.safetensors ] || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
truncate -s 4096 R/part-00001.gnb
wait $pid
rc=$?
if [ $rc -eq 1 ] && grep -q '^gnn-train: rank 1: R/part-00001.gnb: cut to 4096 bytes while it was in use' err; then
    _ok 'gnn-train names on its rank a part that is cut short while it is in use'
else
    _not_ok "gnn-train names on its rank a part that is cut short while it is in use: status $rc"
    sed 's/^/# /' err
fi
# Rank 0 may be killed, and then leaves the lock, which holds nobody up.
check 'gnn-train leaves only its last checkpoint when a part is cut short' \
    sh -c 'rm -f ck/checkpoint.lock && test ! -e model && test -z "$(find . -name "*.tmp*")" && test "$(ls ck)" = checkpoint.safetensors'
done_testing
