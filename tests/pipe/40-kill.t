# SPDX-License-Identifier: Apache-2.0
# A store or file whose writer is killed is not there; the next try works.
. "$GNN_TOP/tests/lib.sh"
graph=sbm:nodes=60000,degree=10,features=32
gnn-import -q -o S "$graph" || { _not_ok 'gnn-import makes the store of this test'; done_testing; }
ms() { date +%s%N | cut -c1-13; }
try() { # NAME OUT COMMAND...
    _name=$1 _out=$2
    shift 2
    _t=$(ms)
    "$@" 2>/dev/null
    _t=$(($(ms) - _t)) _bad=0 _killed=0
    for _i in 1 2 3 4 5 6 7 8 1 2 3 4 5 6 7 8; do
        [ $_killed -lt 8 ] || break
        rm -rf "$_out"
        "$@" 2>/dev/null &
        _pid=$!
        sleep "$(awk -v t=$_t -v i=$_i 'BEGIN { printf "%.3f", t * i / 9000 }')"
        kill -9 $_pid 2>/dev/null
        wait $_pid 2>/dev/null
        if [ $? -eq 137 ]; then
            _killed=$((_killed + 1))
            # Killed after the rename the store is whole.
            [ ! -e "$_out" ] || gnn-inspect --verify "$_out" >out 2>&1 || { _bad=1; sed 's/^/# /' out; }
        else
            _t=$((_t * 2 / 3)) # the machine was busier before
        fi
    done
    [ $_bad -eq 0 ] && [ $_killed -gt 0 ] && _ok "$_name" || _not_ok "$_name, $_killed times"
    rm -rf "$_out"
    check "${_name%% *} works after it was killed" "$@"
    check "${_name%% *} makes a sound result after it was killed" gnn-inspect --verify "$_out"
    rm -rf ./*.tmp*
}
try 'gnn-import leaves a whole store or none when it is killed' S2 gnn-import -q -o S2 "$graph"
try 'gnn-partition leaves a whole store or none when it is killed' P gnn-partition -q -k 4 -o P S
try 'gnn-sample leaves a whole stream or none when it is killed' B gnn-sample -q -f 5,5 -b 512 -o B S
for sig in TERM HUP; do
    rm -rf S2*
    # Under nohup the signal would be ignored, as it should be; perl puts its default action back.
    perl -e '$SIG{$ARGV[0]} = "DEFAULT"; shift; exec @ARGV' $sig gnn-import -q -o S2 sbm:nodes=600000,degree=10,features=64 2>err &
    pid=$!
    sleep 0.2
    kill -$sig $pid 2>/dev/null
    wait $pid 2>/dev/null
    rc=$?
    [ $rc -gt 128 ] && _ok "SIG$sig ends gnn-import" || _not_ok "SIG$sig ends gnn-import: status $rc"
    check "gnn-import leaves nothing behind when SIG$sig ends it" test -z "$(find . -maxdepth 1 -name 'S2*')"
    rm -rf S2*
done
left=0
for i in 1 2 3 4 5 6 7 8 9 10; do
    gnn-import -q -o S3 sbm:nodes=600000,degree=10,features=64 2>err &
    pid=$!
    sleep "0.0$i" 2>/dev/null
    kill -TERM $pid 2>/dev/null
    wait $pid 2>/dev/null
    [ -z "$(find . -maxdepth 1 -name 'S3*')" ] || left=$((left + 1))
    rm -rf S3*
done
[ $left -eq 0 ] && _ok 'gnn-import leaves nothing behind when SIGTERM ends it at ten early moments' ||
    _not_ok "gnn-import leaves something behind when SIGTERM ends it at $left of ten early moments"
done_testing
