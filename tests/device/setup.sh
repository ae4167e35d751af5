# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests here, after lib.sh: programs on devices that are emulated (tests/emu), beside the CPU.
emu=$GNN_B/emu/bin/gnn-sample
smp() { gnn-sample -q --no-provenance "$@"; }
# same WHEN DEVICES SEED DEVICE ARGUMENTS... [--with MEMORY SIZE] STORE: the stream of the CPU, from that many devices
same() {
    _name="gnn-sample gives the bytes of the CPU $1, with $4 of $2 devices"
    _n=$2 _seed=$3 _dev=$4 _memory=
    shift 4
    _args=
    while [ $# -gt 0 ]; do
        case $1 in
        --with) _memory="--graph-memory $2${3:+ --graph-cache $3}" && shift 2 ;;
        *) _args="$_args $1" ;;
        esac
        shift
    done
    smp $_args -o cpu || { _not_ok "$_name (gnn-sample fails on the CPU)"; return; }
    if GNN_FAKE_DEVICES=$_n GNN_FAKE_SEED=$_seed "$emu" -q --no-provenance $_args --device "$_dev" $_memory -o dev 2>err && cmp cpu dev >>err; then
        _ok "$_name"
    else
        _not_ok "$_name"
        echo "# seed $_seed: $_args $_memory"
        sed 's/^/# /' err
    fi
}
# A sanitizer has something to say of its own about the emulation.
clean_err() { sed -i '/^==[0-9]*==WARNING: ASan doesn.t fully support/d' err; }
# One line on stderr, and no output.
one_line() {
    clean_err
    [ "$(wc -l <err)" -eq 1 ] && [ -z "$(ls o o.tmp* 2>/dev/null)" ]
}
fails() { # STATUS NAME TEXT COMMAND...
    _want=$1 _name=$2 _text=$3
    shift 3
    rm -f o
    status "$_want" "$_name" "$@" -o o
    one_line && grep -q -- "$_text" err && _ok "$_name, and says why in one line" || {
        _not_ok "$_name, and says why in one line"
        sed 's/^/# /' err
    }
}
# sweep_calls WHEN ARGUMENTS...: whichever call of the run-time fails, the run ends with status 4, or with the right stream
sweep_calls() {
    _name=$1
    shift
    GNN_FAKE_FAIL=0 "$emu" -q --no-provenance --device cuda "$@" -o right 2>err
    _calls=$(sed -n 's/fake device: \([0-9]*\) calls/\1/p' err)
    _bad=0 _k=1
    wide && _step=3 || _step=9
    while [ "$_k" -le "$_calls" ]; do
        rm -f o
        GNN_FAKE_FAIL=$_k timeout 600 "$emu" -q --no-provenance --device cuda "$@" -o o 2>err
        _rc=$?
        { [ $_rc -eq 4 ] && one_line; } || { [ $_rc -eq 0 ] && cmp -s o right; } ||
            { _bad=$((_bad + 1)); echo "# call $_k: status $_rc: $(head -n 1 err)"; }
        _k=$((_k + (_k < 60 ? _step : 3 * _step)))
    done
    check "gnn-sample ends cleanly $_name, whichever of $_calls calls to the device fails" test $_bad -eq 0 -a "$_calls" -gt 100
}
