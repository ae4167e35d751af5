# The NumPy reader and writer that were made from gnb(5) alone agree with the C ones.
. "$GNN_TOP/tests/lib.sh"

PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
python=
for p in python3 /usr/bin/python3; do
    $p -c 'import numpy' 2>/dev/null && python=$p && break
done
[ -n "$python" ] || { skip "numpy reads what C writes" "no numpy"; done_testing; }
gnb=$GNN_TOP/tests/interop/gnb.py
try=$GNN_TOP/tests/interop/roundtrip.py

check "the reader has at most 150 lines" test "$(wc -l <"$gnb")" -le 150
gnn-import -q sbm:nodes=300 -o one || exit 1
gnn-partition -q -k 3 -o three one || exit 1
for s in one three; do
    check "$s: exported" gnn-inspect --export $s.npz $s
    check "$s: numpy's own reader and ours agree" "$python" "$try" export $s $s.npz
done

cut() {
    head -c "$2" "$1" >cut.gnb
    ! "$python" "$gnb" cut.gnb 2>/dev/null
}
part=three/part-00001.gnb
size=$(wc -c <$part)
check "reads a part" "$python" "$gnb" $part
for at in 1 63 64 5000 $((size - 1)); do
    check "a part cut at byte $at is refused" cut $part "$at"
done

if "$python" -c 'import xxhash' 2>/dev/null; then
    for s in one three; do
        check "$s: written by numpy" "$python" "$try" copy $s $s.py
        check "$s: found sound by C" gnn-inspect --verify --against $s $s.py
        check "$s: and the same" gnn-inspect --diff --ignore provenance --ignore identity $s $s.py
    done
    check "a stream written by numpy" "$python" "$try" stream one batches.gnb
    check "is found sound by C" gnn-inspect --verify --against one batches.gnb
    check "exported" gnn-inspect --export batches.npz batches.gnb
    check "read back" "$python" "$try" batches batches.gnb batches.npz
    cat batches.gnb batches.gnb >twice.gnb
    check "concatenated streams are read through" "$python" "$gnb" twice.gnb
    printf 'X' | dd of=batches.gnb bs=1 seek=3000 conv=notrunc 2>/dev/null
    status 1 "a changed byte is refused" "$python" "$gnb" batches.gnb
else
    skip "C reads what numpy writes" "no python3-xxhash"
fi

check "a stream by gnn-sample" gnn-sample -q -f 5,3 -b 32 --epochs 0:1 -o sampled.gnb one
check "exported" gnn-inspect --export sampled.npz sampled.gnb
check "is what numpy reads" "$python" "$try" batches sampled.gnb sampled.npz
if "$python" -c 'import zstandard' 2>/dev/null; then
    check "a packed one" gnn-sample -q -z 3 -f 5,3 -b 32 --epochs 0:1 -o packed.gnb one
    check "is smaller" test "$(wc -c <packed.gnb)" -lt "$(wc -c <sampled.gnb)"
    check "and what numpy reads" "$python" "$try" batches packed.gnb sampled.npz
else
    skip "numpy reads packed streams" "no python3-zstandard"
fi
done_testing
