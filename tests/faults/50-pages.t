# SPDX-License-Identifier: Apache-2.0
# Pages of 64 KiB, as many ARM machines have: the same bits, and no call that such a system refuses, hints included.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/faults/runs.sh"
large="env FAULT_PAGE=65536 FAULT_COUNT=$PWD/refused LD_PRELOAD=$GNN_B/shim.so"
check 'the programs make the inputs of this test' inputs
# none NAME: no call was refused
none() { if [ "$(cat refused)" = 0 ]; then _ok "$1"; else _not_ok "$1: $(cat refused) calls"; fi; }
for p in $programs; do
    out=$(out_of "$p") call=$(call_of "$p")
    # Memory in use is counted in pages, which the shim does not count anew.
    run=$(run_of "$p" | sed 's/ -q / -q --no-provenance /; s/--memory 1G/--memory 8G/')
    case $p in predict | inspect | gather-plan) run=$(run_of "$p") ;; esac
    check "$call runs" $run
    if [ "$out" = - ]; then cp out want; else rm -rf want && mv "$out" want; fi
    check "$call runs on pages of 64 KiB" $large $run
    [ "$out" != - ] || { cp out result && out=result; }
    check "$call has the same result on pages of 64 KiB" diff -r want "$out"
    none "$call begins with a page whatever it asks of the system"
    rm -rf want "$out" C
done
# Fields of edges are written where the file is mapped.
gnn-import -q --no-provenance -o want "$graph,weights=1"
check 'gnn-import writes fields of edges on pages of 64 KiB' $large gnn-import -q --no-provenance -o result "$graph,weights=1"
check 'gnn-import writes the same fields of edges on pages of 64 KiB' diff -r want result
none 'gnn-import of fields of edges begins with a page whatever it asks of the system'
rm -rf want result
# Shared memory: both sides, pieces that are smaller than a page and larger than a huge one.
for f in 2 16,8; do
    gnn-sample -q --no-provenance -f $f -b 64 --epochs 0:3 S | gnn-gather -q --no-provenance S >want
    { $large gnn-sample -q --no-provenance --transport shm -f $f -b 64 --epochs 0:3 S && cp refused sent; } |
        gnn-gather -q --no-provenance S >result
    check "gnn-sample -f $f hands over the same batches on pages of 64 KiB" cmp want result
    cp sent refused
    none "gnn-sample -f $f begins with a page whatever it asks of the system"
    gnn-sample -q --no-provenance --transport shm -f $f -b 64 --epochs 0:3 S | $large gnn-gather -q --no-provenance S >result
    check "gnn-gather takes over the same batches on pages of 64 KiB (-f $f)" cmp want result
    none "gnn-gather -f $f begins with a page whatever it asks of the system"
done
done_testing
