# SPDX-License-Identifier: Apache-2.0
# Ranks that gather and learn from features of int8: their scales travel with the rows, into copies and caches as well.
. "$GNN_TOP/tests/ranks/setup.sh"
/usr/bin/python3 -c 'import numpy, xxhash' 2>/dev/null || { skip 'ranks gather int8' 'no numpy, or no xxhash'; done_testing; }
gathered() { # STORE DTYPE N: what NumPy makes of the store's rows
    for _r in $(seq 0 $(($3 - 1))); do /usr/bin/python3 "$GNN_TOP/tests/interop/int8.py" gathered "$1" "g.$_r.gnb" "$2" || return 1; done
}
gnn-import -q --no-provenance -o S sbm:nodes=600,degree=6,features=13
gnn-partition -q --no-provenance -k 4 --method random --dtype int8 -o P4 S
gnn-partition -q --no-provenance -k 1 --dtype f32 -o one P4
gnn-partition -q --no-provenance -k 4 --method random -o F4 one
for many in 2 4; do
    ranks $many gnn-sample -q --no-provenance -f 3,2 -b 60 -o 'r.%r.gnb' P4
    for copies in '' '--replicate 0.4'; do
        for dtype in stored bf16; do
            case $dtype in stored) np='<f4' ;; *) np=$dtype ;; esac
            check "gnn-gather --dtype $dtype $copies on $many ranks gathers int8" ranks $many gnn-gather -q $copies --dtype $dtype P4 -i 'r.%r.gnb' -o 'g.%r.gnb' --metrics 'm.%r'
            check "gnn-gather --dtype $dtype $copies on $many ranks gives the numbers that rows stand for" gathered P4 "$np" $many
            [ "$dtype$copies" != stored ] || cp m.0 int8.m
        done
    done
    for cache in none 0.3 1; do
        for options in '' '--dtype f16'; do
            rm -f got.* want.*
            ranks $many gnn-gather -q --no-provenance P4 -i 'r.%r.gnb' $options -o 'want.%r'
            GNN_FAKE_CLIQUE=2 check "gnn-gather $options --cache $cache on $many ranks with a device each gives the bytes of the CPU" \
                on $many 4 gnn-gather --no-provenance P4 -i 'r.%r.gnb' $options --device cuda --cache $cache --cache-policy shard -o 'got.%r'
            check "which are those of all $many ranks: $options --cache $cache" same_files $many
        done
    done
    rm -f got.*
    ranks $many gnn-gather -q --no-provenance P4 -i 'r.%r.gnb' -o 'want.%r'
    GNN_FAKE_CLIQUE=1 check "gnn-gather --replicate on $many ranks with devices gathers int8" \
        on $many 2 gnn-gather --no-provenance P4 -i 'r.%r.gnb' --replicate 0.4 --device cuda --cache none -o 'got.%r'
    check "gnn-gather --replicate on $many ranks with devices gives the bytes of the CPU" same_files $many
done
# A row of 13 features takes 20 bytes, not 52, between ranks; its original id 4 more.
ranks 4 gnn-sample -q --no-provenance -f 3,2 -b 60 -o 'r.%r.gnb' F4
ranks 4 gnn-gather -q F4 -i 'r.%r.gnb' -o 'g.%r.gnb' --metrics 'm.%r'
remote() { sed -n 's/.*"fetched_rows":\([0-9]*\),"fetched_bytes":\([0-9]*\).*/\2 \1/p' "$1" | tail -n 1 | awk '{ print $1 / $2 }'; }
check "rows of int8 travel with their scales alone: $(remote int8.m) bytes for $(remote m.0)" test "$(remote int8.m) $(remote m.0)" = '24 56'
# What is learned is what the numbers of f32 teach.
learn() { # STORE MODEL OPTIONS
    _s=$1 _m=$2
    shift 2
    ranks 2 gnn-train -q --no-provenance --store "$_s" --hidden 8 --seed 3 "$@" -o "$_m.st" && gnn-predict -q "$_s" "$_m.st" -o "$_m.npy"
}
for how in '-f 4,3 -b 40 --epochs 2' '--full-batch --epochs 3'; do
    check "gnn-train on 2 ranks learns from int8: $how" learn P4 a $how
    check "gnn-train on 2 ranks learns from f32: $how" learn F4 b $how
    check "and the same: $how" cmp a.npy b.npy
done
check 'gnn-train --full-batch learns from int8 on a device' "$emu/gnn-train" -q --no-provenance --full-batch --store P4 --hidden 8 --seed 3 --epochs 3 --device cuda -o c.st
check 'gnn-train --full-batch learns from f32 on a device' "$emu/gnn-train" -q --no-provenance --full-batch --store F4 --hidden 8 --seed 3 --epochs 3 --device cuda -o d.st
check 'gnn-predict reads int8 on a device' "$emu/gnn-predict" -q --device cuda P4 c.st -o c.npy
check 'gnn-predict reads f32 on a device' "$emu/gnn-predict" -q --device cuda F4 d.st -o d.npy
check 'and what is learned on a device is the same' cmp c.npy d.npy
done_testing
