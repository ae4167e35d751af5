# SPDX-License-Identifier: Apache-2.0
# Sourced by the *.t scripts: TAP helpers. The test's directory is $PWD, empty at first.
# check NAME COMMAND...        passes if the command does
# status WANT NAME COMMAND...  passes if the exit status is WANT; stdout in ./out, stderr in ./err
# refuses WANT WHY WHAT COMMAND...   the same of a mistake: stderr matches WHY, and is left in ./said; $refusing names the program
# check NAME logged FILE COMMAND... shows the end of the file if the command fails, such as a test of the status of what wrote it
# skip NAME WHY                visible skip
# wide                         whether all of a test's matrix is run: see the tiers in CONTRIBUTING.md
# turn N                       true for one in N calls, beginning with the first; for each of them in the wider tiers
# Standard input is empty.
exec </dev/null
PATH=$GNN_BIN:$PATH
export PATH
[ -z "${GNN_PEERS-}" ] || export TMPDIR="$PWD" # PyTorch leaves files there
n=0 failed=0 turns=0 refusing="the program"
_ok() { n=$((n + 1)); echo "ok $n - $1"; }
_not_ok() { n=$((n + 1)); failed=1; echo "not ok $n - $1"; }
check() {
    _name=$1
    shift
    if "$@" >out 2>err; then _ok "$_name"; else
        _not_ok "$_name"
        echo "# command: $*"
        sed 's/^/# /' out err | tail -n 20
    fi
}
status() {
    _want=$1 _name=$2
    shift 2
    "$@" >out 2>err
    _rc=$?
    if [ "$_rc" -eq "$_want" ]; then _ok "$_name"; else
        _not_ok "$_name"
        echo "# command: $*"
        echo "# status $_rc instead of $_want"
        tail -n 20 err | sed 's/^/# /'
    fi
}
refuses() {
    _rc=$1 _why=$2 _what=$3
    shift 3
    status "$_rc" "$refusing refuses $_what" "$@"
    cp err said
    check "$refusing says what is wrong: $_why" grep -q -- "$_why" said
}
wide() { case ${GNN_SWEEP-} in more | all) ;; *) return 1 ;; esac; }
turn() {
    turns=$((turns + 1))
    wide || [ $(((turns - 1) % $1)) -eq 0 ]
}
logged() {
    _log=$1
    shift
    "$@" || { _rc=$?; tail -n 20 "$_log"; return $_rc; }
}
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }
done_testing() { echo "1..$n"; exit $failed; }
