# METIS in its child: killed, starved, left behind; and its cut against gpmetis.
. "$GNN_TOP/tests/lib.sh"

gnn-import -q products:scale=0.1 -o big || exit 1

child_of() { # waits for METIS's process
    for _ in $(seq 300); do
        child=$(cat "/proc/$1/task/$1/children" 2>/dev/null)
        [ -n "$child" ] && return 0
        [ -d "/proc/$1" ] || return 1
        sleep 0.01
    done
    return 1
}

gnn-partition -k 8 -o cut big >out.metis 2>err.metis &
parent=$!
if check "METIS is a child" child_of $parent; [ -n "$child" ]; then
    kill -9 "$child"
    wait $parent
    rc=$?
    check "its death is status 1" test $rc -eq 1
    check "and one line that says so" sh -c 'test "$(wc -l <err.metis)" -eq 1 && grep -q "METIS was ended by signal 9" err.metis'
fi
check "no store, no remains" sh -c '! ls -d cut* 2>/dev/null'

for sig in TERM INT KILL; do
    # Not in the background of a plain shell, which would have it ignore SIGINT.
    perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' gnn-partition -k 8 -o cut big >out 2>err &
    parent=$!
    child_of $parent
    kill -$sig $parent
    wait $parent 2>/dev/null
    rc=$?
    case $sig in TERM) want=143 ;; INT) want=130 ;; KILL) want=137 ;; esac
    check "SIG$sig ends gnn-partition" test $rc -eq $want
    gone() {
        for _ in $(seq 100); do
            kill -0 "$child" 2>/dev/null || return 0
            sleep 0.02
        done
        return 1
    }
    check "SIG$sig: METIS does not outlive it" gone
    check "SIG$sig: no store" test ! -e cut
done

if [ "${GNN_SAN:-}" ]; then
    skip "METIS without memory" "address space limits do not fit sanitizers"
else
    status 1 "METIS without memory" sh -c 'ulimit -v 400000; gnn-partition -j 1 -k 8 -o cut big 2>err.last'
    check "says so in one line" sh -c 'test "$(wc -l <err.last)" -eq 1 && grep -q memory err.last'
fi

if [ -z "${GNN_DATA:-}" ]; then
    skip "4elt against gpmetis" "GNN_DATA is not set"
else
    check "4elt imported" gnn-import -q "$GNN_DATA/4elt.graph" -o elt
    ours() { sed -n 's/^pairs cut \([0-9]*\) of.*/\1/p' "$1"; }
    for k in 4 32; do
        gnn-partition --seed 5 -k $k -o elt$k elt >elt.out
        check "4elt, k = $k is proved" gnn-inspect --verify --against elt elt$k
        if command -v gpmetis >/dev/null; then
            cp "$GNN_DATA/4elt.graph" .
            theirs=$(gpmetis -seed=5 4elt.graph $k | sed -n 's/.*Edgecut: \([0-9]*\).*/\1/p')
            check "4elt, k = $k: cut $(ours elt.out), gpmetis $theirs" \
                awk -v a="$(ours elt.out)" -v b="$theirs" 'BEGIN { exit !(a > 0 && a <= 1.05 * b) }'
            gnn-partition --from 4elt.graph.part.$k -o from elt >from.out
            check "4elt: gpmetis's parts have gpmetis's cut" grep -q "^cut *$((2 * theirs)) of" from.out
            rm -rf from
        else
            skip "4elt against gpmetis" "gpmetis is not installed"
        fi
    done
fi
done_testing
