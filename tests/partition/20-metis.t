# SPDX-License-Identifier: Apache-2.0
# METIS in its child: killed, starved, left behind; and its cut against gpmetis.
. "$GNN_TOP/tests/lib.sh"

gnn-import -q products:scale=0.1 -o big || exit 1

child_of() { # waits for METIS's process
    while true; do
        child=$(cat "/proc/$1/task/$1/children" 2>/dev/null)
        [ -n "$child" ] && return 0
        [ -d "/proc/$1" ] || return 1
        sleep 0.01
    done
    return 1
}

gnn-partition -k 8 -o cut big >out.metis 2>err.metis &
parent=$!
if check "gnn-partition runs METIS in a child" child_of $parent; [ -n "$child" ]; then
    kill -9 "$child"
    wait $parent
    rc=$?
    check "gnn-partition ends with status 1 when METIS is killed" logged err.metis test $rc -eq 1
    check "gnn-partition says in one line that METIS was killed" \
        sh -c 'test "$(wc -l <err.metis)" -eq 1 && grep -q "METIS was ended by signal 9" err.metis'
fi
check "gnn-partition leaves nothing when METIS is killed" sh -c '! ls -d cut* 2>/dev/null'

for sig in TERM INT KILL; do
    # Not in the background of a plain shell, which would have it ignore SIGINT.
    perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' gnn-partition -k 8 -o cut big >said 2>&1 &
    parent=$!
    child_of $parent
    kill -$sig $parent
    wait $parent 2>/dev/null
    rc=$?
    case $sig in TERM) want=143 ;; INT) want=130 ;; KILL) want=137 ;; esac
    check "SIG$sig ends gnn-partition" logged said test $rc -eq $want
    gone() {
        for _ in $(seq 3000); do
            kill -0 "$child" 2>/dev/null || return 0
            sleep 0.02
        done
        return 1
    }
    check "METIS does not outlive a gnn-partition that SIG$sig ends" gone
    check "gnn-partition leaves no store when SIG$sig ends it" test ! -e cut
done

if [ "${GNN_SAN:-}" ]; then
    skip "gnn-partition ends with status 1 when METIS runs out of memory" "address space limits do not fit sanitizers"
else
    status 1 "gnn-partition ends with status 1 when METIS runs out of memory" sh -c 'ulimit -v 400000; gnn-partition -j 1 -k 8 -o cut big 2>err.last'
    check "gnn-partition says in one line that METIS ran out of memory" sh -c 'test "$(wc -l <err.last)" -eq 1 && grep -q memory err.last'
fi

if [ -z "${GNN_DATA:-}" ]; then
    skip "gnn-partition cuts 4elt like gpmetis" "GNN_DATA is not set"
else
    check "gnn-import reads 4elt" gnn-import -q "$GNN_DATA/4elt.graph" -o elt
    ours() { sed -n 's/^pairs cut \([0-9]*\) of.*/\1/p' "$1"; }
    for k in 4 32; do
        gnn-partition --seed 5 -k $k -o elt$k elt >elt.out
        check "gnn-inspect --verify finds $k partitions of 4elt to be the graph of the whole" gnn-inspect --verify --against elt elt$k
        if command -v gpmetis >/dev/null; then
            cp "$GNN_DATA/4elt.graph" .
            theirs=$(gpmetis -seed=5 4elt.graph $k | sed -n 's/.*Edgecut: \([0-9]*\).*/\1/p')
            check "gnn-partition -k $k cuts $(ours elt.out) edges of 4elt, gpmetis $theirs" \
                awk -v a="$(ours elt.out)" -v b="$theirs" 'BEGIN { exit !(a > 0 && a <= 1.05 * b) }'
            gnn-partition --from 4elt.graph.part.$k -o from elt >from.out
            check "gnn-partition --from counts the cut of $k partitions of 4elt as gpmetis does" grep -q "^cut *$((2 * theirs)) of" from.out
            rm -rf from
        else
            skip "gnn-partition -k $k cuts 4elt like gpmetis" "gpmetis is not installed"
        fi
    done
fi
done_testing
