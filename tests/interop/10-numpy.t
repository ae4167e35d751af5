# SPDX-License-Identifier: Apache-2.0
# The NumPy reader and writer that were made from gnb(5) alone agree with the C ones.
. "$GNN_TOP/tests/lib.sh"

PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
python=
for p in python3 /usr/bin/python3; do
    $p -c 'import numpy' 2>/dev/null && python=$p && break
done
[ -n "$python" ] || { skip "NumPy reads what the programs write" "no numpy"; done_testing; }
gnb=$GNN_TOP/tests/interop/gnb.py
try=$GNN_TOP/tests/interop/roundtrip.py

check "the NumPy reader has at most 150 lines" test "$(wc -l <"$gnb")" -le 150
gnn-import -q sbm:nodes=300 -o one || exit 1
gnn-partition -q -k 3 -o three one || exit 1
for s in one three; do
    check "gnn-inspect --export writes store $s" gnn-inspect --raw --export $s.npz $s
    check "the NumPy reader finds in store $s what gnn-inspect exports" "$python" "$try" export $s $s.npz
done

cut() {
    head -c "$2" "$1" >cut.gnb
    ! "$python" "$gnb" cut.gnb 2>/dev/null
}
part=three/part-00001.gnb
size=$(wc -c <$part)
check "the NumPy reader reads a partition" "$python" "$gnb" $part
for at in 1 63 64 5000 $((size - 1)); do
    check "the NumPy reader refuses a partition cut at byte $at" cut $part "$at"
done

if "$python" -c 'import xxhash' 2>/dev/null; then
    for s in one three; do
        check "the NumPy writer writes store $s" "$python" "$try" copy $s $s.py
        check "gnn-inspect --verify finds store $s by NumPy sound" gnn-inspect --verify --against $s $s.py
        check "gnn-inspect --diff finds store $s by NumPy the same" gnn-inspect --diff --ignore provenance --ignore identity $s $s.py
    done
    check "the NumPy writer writes a stream" "$python" "$try" stream one batches.gnb
    check "gnn-inspect --verify finds a stream by NumPy sound" gnn-inspect --verify --against one batches.gnb
    check "gnn-inspect --export writes a stream by NumPy" gnn-inspect --export batches.npz batches.gnb
    check "the NumPy reader finds in its own stream what gnn-inspect exports" "$python" "$try" batches batches.gnb batches.npz
    cat batches.gnb batches.gnb >twice.gnb
    check "the NumPy reader reads concatenated streams" "$python" "$gnb" twice.gnb
    printf 'X' | dd of=batches.gnb bs=1 seek=3000 conv=notrunc 2>/dev/null
    status 1 "the NumPy reader refuses a changed byte" "$python" "$gnb" batches.gnb
else
    skip "the programs read what NumPy writes" "no python3-xxhash"
fi

check "gnn-sample draws the stream to read" gnn-sample -q -f 5,3 -b 32 --epochs 0:1 -o sampled.gnb one
check "gnn-inspect --export writes a stream of gnn-sample" gnn-inspect --export sampled.npz sampled.gnb
check "the NumPy reader finds in a stream of gnn-sample what gnn-inspect exports" "$python" "$try" batches sampled.gnb sampled.npz
if "$python" -c 'import zstandard' 2>/dev/null; then
    check "gnn-sample -z 3 draws the stream to read" gnn-sample -q -z 3 -f 5,3 -b 32 --epochs 0:1 -o packed.gnb one
    check "gnn-sample -z 3 writes a smaller stream" test "$(wc -c <packed.gnb)" -lt "$(wc -c <sampled.gnb)"
    check "the NumPy reader finds in a packed stream what gnn-inspect exports" "$python" "$try" batches packed.gnb sampled.npz
else
    skip "the NumPy reader reads packed streams" "no python3-zstandard"
fi
done_testing
