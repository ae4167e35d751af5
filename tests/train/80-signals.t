# A signal in the middle of a matrix product: always a checkpoint and status 75, at whatever instruction it arrives.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q -o S sbm:nodes=2000,degree=20,features=300 || exit 1
stop() { # SIGNAL TENTHS
    rm -rf C M
    gnn-train -q --store S -f 10,10 --hidden 64 --epochs 0:100000 --checkpoint C -o M 2>stop.err &
    _pid=$!
    perl -e 'select undef, undef, undef, $ARGV[0] / 10' "$2"
    kill -s "$1" $_pid
    wait $_pid
}
for try in 1 2 3 4 5 6 7 8 9 10 11 12; do
    [ $((try % 2)) -eq 0 ] && sig=TERM || sig=USR1
    status 75 "SIG$sig, try $try" stop $sig "$(awk "BEGIN { print 3 + $try * 0.7 }")"
    check 'left a checkpoint and no model' test -s C/checkpoint.safetensors -a ! -e M
done
done_testing
