# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests here that train, after lib.sh: gnn-train on two devices that are emulated, beside the CPU.
emu=$GNN_B/emu/bin
export GNN_FAKE_DEVICES=2
steps() { grep '"event": *"step"' "$1" | grep -o '"loss":[-0-9.e+]*' | cut -d: -f2; }
# near A B: losses of steps agree to 1e-4
near() {
    steps "$1" >la
    steps "$2" >lb
    [ -s la ] && [ "$(wc -l <la)" -eq "$(wc -l <lb)" ] &&
        paste la lb | awk '{ d = $1 - $2; d = d < 0 ? -d : d; if (d > 1e-4 * ($1 > 1 ? $1 : 1)) { print; bad = 1 } } END { exit bad }'
}
# again OPTIONS: a second run, with the devices exchanged and everything in another order, writes the same bits
again() {
    # shellcheck disable=SC2086
    GNN_FAKE_SEED=7 "$emu/gnn-train" $1 --device cuda:1,0 -o b.st 2>>err && cmp a.st b.st >>err
}
# trains NAME GRAPH OPTIONS...: losses near those of the CPU, and the same bits in a second run; for sanitizers, it trains. One in three
# calls from $turns=0 on, or $of, unless the tier is wider. $how: how batches are sampled; usual_epochs: 2 unless set
trains() {
    trained=
    turn ${of-3} || return 0
    trained=1
    [ -n "${GNN_SAN-}" ] && _same='' || _same=' as the CPU does, with the same bits in two runs'
    _name="gnn-train ${how?} on devices learns $1$_same" _g=$2
    shift 2
    _t="-q --no-provenance --store $_g $how ${hidden---hidden 8} --epochs ${epochs:-${usual_epochs:-2}} --keep last --eval none --lr 0.01 --dropout 0 --no-layer-norm $*"
    # shellcheck disable=SC2086
    if GNN_FAKE_SEED=1 "$emu/gnn-train" $_t --device cuda -o a.st --metrics a.json 2>err && { [ -n "${GNN_SAN-}" ] ||
        { again "$_t" && gnn-train $_t -o cpu.st --metrics cpu.json && near cpu.json a.json >>err; }; }; then
        _ok "$_name"
    else
        _not_ok "$_name"
        sed 's/^/# /' err
    fi
}
# predicts WHAT STORE [STORE-ON-CPU]: the probabilities of the model that trains left, if it did train, are the CPU's to 1e-4
predicts() {
    [ -n "$trained" ] || return 0
    check "gnn-predict runs $1 on a device" "$emu/gnn-predict" -q --device cuda "$2" a.st --output-kind probs -o p.npy
    [ -z "${GNN_SAN-}" ] || return 0
    check "gnn-predict runs $1 on the CPU" gnn-predict -q "${3-$2}" a.st --output-kind probs -o q.npy
    check "gnn-predict on a device agrees with the CPU to 1e-4 for $1" perl "$GNN_TOP/tests/train/npygap.pl" p.npy q.npy 1e-4
}
