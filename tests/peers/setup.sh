# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests here, after lib.sh: gnn-sample beside other samplers, where nothing is left to chance. Cases are drawn first
# and then compared by one process, as the other systems take seconds to load.
py=${GNN_PEERS:-python3}
rosetta() { "$py" "$GNN_TOP/tests/peers/rosetta.py" "$@"; }
: >cases
: >lacks
# Seeds, of node and of the types a and row: some have no in-edges, one (30) only such of weight 0. Two are one node at different times.
printf '%s\n' 0 3 1 7 39 5 20 30 >ids
printf '%s\n' 0 3 0 7 3 >twice
printf '%s\n' 0 3 1 7 29 >a
printf '%s\n' 0 3 1 7 19 >rows
printf '%s\n' '0 4' '3 -2' '1 11' '7 3' '39 5' '5 -9' '20 0' '0 -1' >times
printf '%s\n' '0 4' '3 -2' '1 9' '7 3' '29 5' '0 -1' >atimes
# stores KIND...: graphs of graphs.py
stores() {
    rosetta --make "$@" || exit 1
    for _kind; do
        case $_kind in matrix) _from='-u matrix.mtx' ;; typed*) _from="--directed $_kind" ;; *) _from="--directed $_kind.npz" ;; esac
        gnn-import -q -o "$_kind.store" $_from || exit 1
    done
}
# same SYSTEM KIND SEEDS NAME OPTIONS...: the system picks the same edges, and each as often
same() { agree same "$@"; }
# same_set SYSTEM KIND SEEDS NAME OPTIONS...: the same edges, some of them more often or in trees
same_set() { agree 'set' "$@"; }
agree() {
    _want=$1 _system=$2 _kind=$3 _seeds=$4 _name=$5
    shift 5
    draw "$_want" "$_system" "$_kind" "$_seeds" "$_system and gnn-sample agree: $_name" "$@"
}
# differs WANT SYSTEM KIND SEEDS NAME OPTIONS...: a known difference (WANT: see rosetta.py); NAME says which side is wrong, and why
differs() {
    _want=$1 _system=$2 _kind=$3 _seeds=$4 _name=$5
    shift 5
    draw "$_want" "$_system" "$_kind" "$_seeds" "differs: $_name" "$@"
}
draw() {
    _case="$2|$3|stream.$(($(wc -l <cases) + 1))|$4|$1|$5" _store=$3.store _ids=$4
    shift 5
    gnn-sample -q --no-provenance "$_store" --seeds "$_ids" --edge-ids -b 1000 "$@" -o "stream.$(($(wc -l <cases) + 1))" ||
        echo "# gnn-sample fails: $*"
    echo "$_case" >>cases
}
# verdicts WHAT: each line of `results' (ok, skip or anything else|name|what was seen) as a test; how many of WHAT were skipped, and why
verdicts() {
    while IFS='|' read -r _verdict _name _seen; do
        case $_verdict in
        ok) _ok "$_name" ;;
        skip) echo "$_seen" >>lacks ;;
        *) _not_ok "$_name" && echo "# $_seen" ;;
        esac
    done <results
    sort lacks | uniq -c | while read -r _n _why; do echo "$_n of $1|$_why"; done >missing
    while IFS='|' read -r _name _why; do skip "$_name" "$_why"; done <missing
}
compare() {
    rosetta cases >results 2>err || sed 's/^/# /' err
    verdicts "$(wc -l <cases) comparisons"
    check "all cases are compared" test "$(wc -l <results)" -eq "$(wc -l <cases)"
}
