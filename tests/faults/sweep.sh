# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests here: makes the k-th call of a kind fail in a run of a program.
# GNN_SWEEP=all tries every k, otherwise the first calls and a spread of the later ones: 26 with GNN_SWEEP=more, else 5.
shim=$GNN_B/shim.so
fault() { # OP K [VAR=VALUE...] -- COMMAND...
    _op=$1 _k=$2
    shift 2
    _set=
    while [ "$1" != -- ]; do _set="$_set $1"; shift; done
    shift
    # shellcheck disable=SC2086
    timeout 600 env FAULT_OP="$_op" FAULT_N="$_k" $_set LD_PRELOAD="$shim" "$@" >fault.out 2>fault.err </dev/null
}
ks() { # N: which calls out of N
    if [ "${GNN_SWEEP-}" = all ]; then seq 1 "$1"; else
        wide && set -- "$1" 10 16 || set -- "$1" 2 3
        awk -v n="$1" -v first="$2" -v later="$3" 'BEGIN { for (k = 1; k <= n && k <= first; k++) print k
            for (i = 1; i <= later; i++) { k = first + int((n - first) * i / later); if (k > first && k != last) print k; last = k } }'
    fi
}
sum() { # contents of a file or directory
    if [ -d "$1" ]; then (cd "$1" && find . -type f ! -name 'store.json' | sort | xargs cat); else cat "$1"; fi | cksum
}
# sweep NAME OP OUT SETTINGS -- COMMAND...   COMMAND writes OUT; every failing call must give status 1, one line and no OUT (or all of it),
# or be overcome: status 0 and the same OUT. OUT "-": stdout.
sweep() {
    _name=$1 _what=$2 _out=$3
    shift 3
    [ -z "${GNN_SAN-}" ] || [ "$_what" != malloc ] || { skip "$_name" 'the sanitizer allocates memory'; return; }
    _settings=
    while [ "$1" != -- ]; do _settings="$_settings $1"; shift; done
    shift
    rm -rf "$_out" count
    # shellcheck disable=SC2086
    if ! fault "$_what" 0 FAULT_COUNT=count -- "$@" || ! grep -q "[1-9]" count; then
        _not_ok "$_name: the run without faults fails, or makes no such call"
        sed 's/^/# /' fault.err
        return
    fi
    [ "$_out" = - ] && _want=$(sum fault.out) || _want=$(sum "$_out")
    _n=$(cat count) _bad=0 _tried=0
    for _i in $(ks "$_n"); do
        rm -rf "$_out"
        # shellcheck disable=SC2086
        fault "$_what" "$_i" $_settings -- "$@"
        _rc=$? _why=
        _lines=$(wc -l <fault.err)
        _tried=$((_tried + 1))
        case $_rc in
        0)
            [ "$_out" = - ] && _got=$(sum fault.out) || _got=$(sum "$_out")
            [ "$_got" = "$_want" ] || _why='status 0 with another result'
            ;;
        1)
            [ "$_lines" -eq 1 ] || _why="$_lines lines on stderr"
            # After the rename only whole results can be there, whatever fails then.
            [ "$_out" = - ] || [ ! -e "$_out" ] || [ "$(sum "$_out")" = "$_want" ] || _why="$_out is there and not whole"
            ;;
        *) _why="status $_rc" ;;
        esac
        _left=$(find . -maxdepth 1 -name "*.tmp*")
        [ -z "$_left" ] || { _why="$_why left behind: $_left"; rm -rf ./*.tmp*; }
        [ -z "$_why" ] || { _bad=$((_bad + 1)); [ $_bad -gt 5 ] || echo "# $_what $_i of $_n: $_why: $(head -n 1 fault.err)"; }
    done
    [ $_bad -eq 0 ] && _ok "$_name ($_tried of $_n calls)" || _not_ok "$_name ($_bad of $_tried wrong)"
}
