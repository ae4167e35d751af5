# SPDX-License-Identifier: Apache-2.0
# The k-th read, write, fsync, rename, close, mmap, mprotect or fallocate fails, or does half of its work.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/faults/sweep.sh"
. "$GNN_TOP/tests/faults/runs.sh"
check 'the programs make the inputs of failing runs' inputs
for p in $programs; do
    out=$(out_of "$p") run=$(run_of "$p") call=$(call_of "$p")
    sweep "$call ends cleanly when a read fails" read "$out" FAULT_ERR=5 -- $run
    sweep "$call ends cleanly when reads are short" read "$out" FAULT_SHORT=1 FAULT_STICKY=1 -- $run
    # Those that read no store.
    case $p in import | import-sort | train | export-batch) ;; *) sweep "$call ends cleanly when mmap fails" mmap "$out" -- $run ;; esac
    # What prints does so by stdio, whose writes the shim does not see; tests/pipe has full devices.
    [ "$out" != - ] || continue
    # They write as the programs' other runs do.
    case $p in partition-access | train | train-weights | train-numbers | train-full | train-approx | train-needed) wide || continue ;; esac
    sweep "$call ends cleanly when a write finds no space" write "$out" FAULT_ERR=28 -- $run
    sweep "$call ends cleanly when writes find no space from one on" write "$out" FAULT_ERR=28 FAULT_STICKY=1 -- $run
    sweep "$call ends cleanly when a write is short" write "$out" FAULT_SHORT=1 -- $run
    sweep "$call ends cleanly when fsync fails" fsync "$out" FAULT_ERR=5 -- $run
    sweep "$call ends cleanly when rename fails" rename "$out" FAULT_ERR=5 -- $run
    sweep "$call ends cleanly when close fails" close "$out" FAULT_ERR=5 -- $run
    if [ "$p" = train-memory ]; then
        sweep "$call ends cleanly when memory cannot be taken or given back" mprotect "$out" -- $run
        sweep "$call ends cleanly when the temporary file cannot grow" fallocate "$out" FAULT_ERR=28 -- $run
        sweep "$call does without space set aside where there is no such thing" fallocate "$out" FAULT_ERR=95 FAULT_STICKY=1 -- $run
    fi
    case $p in sample | train-store | import-sort) ;; *) continue ;; esac
    sweep "$call without O_TMPFILE ends cleanly when rename fails" rename "$out" FAULT_ERR=5 FAULT_NAMED=1 -- $run
    sweep "$call without O_TMPFILE ends cleanly when a write finds no space" write "$out" FAULT_ERR=28 FAULT_NAMED=1 -- $run
    sweep "$call ends cleanly where files cannot be locked" flock "$out" FAULT_ERR=37 FAULT_STICKY=1 FAULT_NAMED=1 -- $run
done
done_testing
