# SPDX-License-Identifier: Apache-2.0
# What GNN_GPU_OFF switches off for measurements, on emulated devices.
. "$GNN_TOP/tests/lib.sh"
emu=$GNN_B/emu/bin
gnn-import -q -o s sbm:nodes=400,degree=7,features=12
train() { # OUT ENVIRONMENT...: 48 steps
    _out=$1
    shift
    env "$@" "$emu/gnn-train" --no-provenance --store s -f 4,3 -b 20 --hidden 8 --epochs 4 --keep last --eval none --dropout 0 \
        --no-layer-norm --device cuda --metrics m.json -o "$_out" 2>said
}
check "gnn-train trains on a device" train plain.st A=
check "gnn-train trains with GNN_GPU_OFF=priority,gather2" train t.st GNN_GPU_OFF=priority,gather2
check "gnn-train with GNN_GPU_OFF=priority,gather2 writes the same model" cmp plain.st t.st
for order in priority reverse; do
    check "gnn-train trains where streams go by priority ($order)" train t.st GNN_FAKE_ORDER=$order
    check "gnn-train writes the same model where streams go by priority ($order)" cmp plain.st t.st
done
refusing=gnn-train
refuses 2 "GNN_GPU_OFF: 'fast' is none of priority, gather2" "an unknown word in GNN_GPU_OFF" \
    env GNN_GPU_OFF=gather2,fast "$emu/gnn-train" --store s -f 4,3 --device cuda -o t.st
done_testing
