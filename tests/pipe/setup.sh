# SPDX-License-Identifier: Apache-2.0
# Sourced: a store S with labels, a batch stream B, the same gathered G, a model M.
gnn-import -q -o S sbm:nodes=2000,degree=8,features=16 &&
    gnn-sample -q --no-provenance -f 5,5 -b 256 -o B S && gnn-gather -q --no-provenance -o G -i B S &&
    gnn-train -q --no-provenance --hidden 8 -o M -i G || { _not_ok 'the programs make the inputs of this test'; done_testing; }
# quiet_pipe WHO COMMAND...: the reader leaves after a byte; the writer must die of SIGPIPE without a word.
quiet_pipe() {
    _name="$1 dies of SIGPIPE without a word when its reader leaves"
    shift
    rm -f rc
    { "$@" 2>err; echo $? >rc; } | head -c 1 >/dev/null
    _rc=$(cat rc)
    if [ "$_rc" -eq 141 ] && [ ! -s err ]; then _ok "$_name"; else _not_ok "$_name: status $_rc, $(head -n 1 err)"; fi
}
# says_one NAME: the last status/check left one line on stderr.
says_one() {
    _n=$(wc -l <err)
    if [ "$_n" -eq 1 ]; then _ok "$1"; else _not_ok "$1: $_n lines"; sed 's/^/# /' err; fi
}
absent() { if [ ! -e "$1" ]; then _ok "$2"; else _not_ok "$2"; rm -rf "$1"; fi; }
same() { if _said=$(cmp "$1" "$2" 2>&1); then _ok "$3"; else _not_ok "$3"; echo "# $_said"; fi; }
