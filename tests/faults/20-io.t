# The k-th read, write, fsync, rename, close or mmap fails, or does half of its work.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/faults/sweep.sh"
. "$GNN_TOP/tests/faults/runs.sh"
[ -z "${GNN_SAN-}" ] || { skip 'failing system calls' 'the sanitizer owns them'; done_testing; }
check 'inputs' inputs
for p in $programs; do
    out=$(out_of "$p") run=$(run_of "$p")
    sweep "gnn-$p, no space" write "$out" FAULT_ERR=28 -- $run
    sweep "gnn-$p, no space from here on" write "$out" FAULT_ERR=28 FAULT_STICKY=1 -- $run
    sweep "gnn-$p, short writes" write "$out" FAULT_SHORT=1 -- $run
    sweep "gnn-$p, reads fail" read "$out" FAULT_ERR=5 -- $run
    sweep "gnn-$p, short reads" read "$out" FAULT_SHORT=1 FAULT_STICKY=1 -- $run
    sweep "gnn-$p, mmap fails" mmap "$out" -- $run
    [ "$out" != - ] || continue
    sweep "gnn-$p, fsync fails" fsync "$out" FAULT_ERR=5 -- $run
    sweep "gnn-$p, rename fails" rename "$out" FAULT_ERR=5 -- $run
    sweep "gnn-$p, close fails" close "$out" FAULT_ERR=5 -- $run
    case $p in sample | train-store | import-sort) ;; *) continue ;; esac
    sweep "gnn-$p, rename fails, where files have names" rename "$out" FAULT_ERR=5 FAULT_NAMED=1 -- $run
    sweep "gnn-$p, no space, where files have names" write "$out" FAULT_ERR=28 FAULT_NAMED=1 -- $run
    sweep "gnn-$p, no locks" flock "$out" FAULT_ERR=37 FAULT_STICKY=1 FAULT_NAMED=1 -- $run
done
done_testing
