# SPDX-License-Identifier: Apache-2.0
# Ranks that gather on devices, which are emulated: the bytes of the ranks that gather on the CPU, wherever rows are kept.
. "$GNN_TOP/tests/ranks/setup.sh"
refusing=gnn-gather
gnn-import -q --no-provenance -o s sbm:nodes=600,degree=6,features=13
gnn-import -q --no-provenance -o h sbm:nodes=240,types=3,weights=1
gnn-partition -q --no-provenance -k 4 -o s4 s
gnn-partition -q --no-provenance -k 5 --method random -o h5 h
for many in 1 2 4; do
    ranks $many gnn-sample -q --no-provenance -f 3,2 -b 60 -o "s4.$many.%r.gnb" s4
    ranks $many gnn-sample -q --no-provenance -f 3,2 -b 30 --edge-ids -o "h5.$many.%r.gnb" h5
done
gnn-sample -q -f 3,2 -b 30 --count --frequency s4.npy s4 >stats

# gather RANKS DEVICES CLIQUE ARGUMENTS...
gather() {
    _n=$1 _d=$2 _c=$3
    shift 3
    GNN_FAKE_CLIQUE=$_c on "$_n" "$_d" gnn-gather --no-provenance "$@"
}
# on_cpu RANKS STORE OPTIONS: want.R of the ranks that gather on the CPU, which is done once for each
on_cpu() {
    _key=cpu.$(echo "$*" | tr ' /' '__')
    if [ ! -e "$_key.0" ]; then
        # shellcheck disable=SC2086
        ranks "$1" gnn-gather -q --no-provenance "$2" -i "$2.$1.%r.gnb" $3 -o "$_key.%r" || return
    fi
    for _r in $(seq 0 $(($1 - 1))); do ln -f "$_key.$_r" "want.$_r"; done
}
# try RANKS DEVICES CLIQUE STORE "OPTIONS" DEVICE "DEVICE'S OPTIONS"
together() {
    # shellcheck disable=SC2086
    on_cpu "$1" "$4" "$5" && gather "$1" "$2" "$3" "$4" -i "$4.$1.%r.gnb" $5 --device "$6" $7 --metrics 'm.%r' -o 'got.%r' && same_files "$1"
}
try() {
    rm -f got.* want.* m.*
    check "gnn-gather on $1 ranks with $6 of $2 devices, of which $3 are peers, gives the bytes of the CPU: $4${5:+ }$5${7:+ }$7" together "$@"
}
# Left out unless GNN_SWEEP=all: what differs from a try beside it in one respect only.
more() { [ "${GNN_SWEEP-}" != all ] || try "$@"; }
figure() { grep -o "\"$1\":[^,}]*" "m.$2" | tail -n 1 | cut -d: -f2; }
rows() { tail -n 1 "m.$2" | grep -o "\"$1\":{\"rows\":[0-9]*" | grep -o '[0-9]*$'; }

try 1 1 1 s4 '' cuda ''
try 2 2 2 s4 '' cuda ''
check 'gnn-gather gives each rank a device of its own, which caches every row' test "$(figure replicated 0) $(rows host 0) $(rows peer 0)" = '600 0 0'
for cache in $(choice 'none 0.001 100 8k 0.3 1' 'none 8k'); do
    try 2 2 2 s4 '--fields x,y,degree' cuda "--cache $cache"
done
! turn 4 || try 4 4 4 s4 '' cuda '--cache 0.2'
! turn 4 || try 4 4 2 s4 '--fields x,y,degree' cuda '--cache 0.2 --cache-policy shard --cache-order access'
! turn 4 || try 4 2 2 h5 '--fields weight,x,y,degree' cuda '--cache 0.1 --cache-policy replicate --cache-order access'
! turn 4 || try 2 4 4 h5 '--fields x,weight' cuda:0,1,2,3 '--cache 0.2 --cache-policy shard'
! turn 4 || try 2 4 2 s4 '' cuda:0,2,1,3 '--cache 0.3 --cache-policy shard --cache-order s4.npy'
! turn 4 || try 2 4 1 s4 '' cuda:3,1 '--cache 0.3'
for policy in auto replicate shard; do
    more 4 4 4 s4 '' cuda "--cache 0.2 --cache-policy $policy"
    more 4 4 2 s4 '--fields x,y,degree' cuda "--cache 0.2 --cache-policy $policy --cache-order access"
    more 4 2 2 h5 '--fields weight,x,y,degree' cuda "--cache 0.1 --cache-policy $policy --cache-order access"
    more 2 4 4 h5 '--fields x,weight' cuda:0,1,2,3 "--cache 0.2 --cache-policy $policy"
    more 2 4 2 s4 '' cuda:0,2,1,3 "--cache 0.3 --cache-policy $policy --cache-order s4.npy"
    more 2 4 1 s4 '' cuda:3,1 "--cache 0.3 --cache-policy $policy"
done
for dtype in $(choice 'f16 bf16 f32' bf16); do
    ! turn 4 || try 2 2 2 s4 "--dtype $dtype" cuda '--cache 0.3 --cache-policy shard'
    ! turn 4 || try 4 2 1 h5 "--dtype $dtype --fields x,weight,degree" cuda '--cache 0.2'
done
! turn 4 || try 4 1 1 s4 '--fields y' cuda ''
! turn 4 || try 2 2 2 s4 '-z 3' cuda '--cache 0.5'
# Copies of others' rows that the host keeps as well.
try 2 2 1 s4 '--fields x,y,degree --replicate 0.3 --cache-order halo' cuda '--cache 0.1'
check 'gnn-gather --replicate finds rows among those that the host has replicated' test "$(figure replicated_rows 0)" -gt 0
try 4 2 2 h5 '--dtype bf16 --fields x,weight --replicate 0.2' cuda '--cache 0.1 --cache-order degree --cache-policy shard'
export GNN_FAKE_MAP=1
try 2 2 2 h5 '--fields x,y,weight,degree' cuda '--cache 0.3'
unset GNN_FAKE_MAP

# Who holds what.
try 4 4 4 s4 '' cuda '--cache 0.1 --cache-policy shard'
check 'gnn-gather --cache-policy shard caches four times as many rows on four peers' \
    test "$(figure replicated 3) $(figure sharded 3) $(figure cliques 3)" = '0 240 1'
check 'gnn-gather --cache-policy shard reads rows from the devices of other ranks' test "$(rows peer 0)" -gt 0 -a "$(rows peer 3)" -gt 0
check 'gnn-gather --cache-policy shard reads more rows from the own device than from peers' test "$(rows local 1)" -gt "$(rows peer 1)"
try 4 4 2 s4 '' cuda '--cache 0.1 --cache-policy shard'
check 'gnn-gather --cache-policy shard caches twice as many rows in each of two cliques' test "$(figure sharded 0)" = 120
try 4 4 4 s4 '' cuda '--cache 0.1 --cache-policy replicate'
check 'gnn-gather --cache-policy replicate caches the same tenth of the rows on every device' \
    test "$(figure replicated 1) $(figure sharded 1) $(rows peer 1)" = '60 0 0'
try 2 1 1 s4 '' cuda '--cache 0.5 --cache-policy shard'
check 'gnn-gather reads the cached rows of other ranks on a device that they share' test "$(figure sharded 0) $(rows host 0)" = '600 0'
try 2 2 2 s4 '' cuda '--cache 0.5 --cache-policy shard'
check 'gnn-gather reads no row from the host when two devices cache all of them' test "$(rows host 0) $(figure fetched_rows 0)" = '0 0'

# Devices of other machines are nobody's peers.
apart() { ranks 2 sh -c 'export GNN_FAKE_HOST=$OMPI_COMM_WORLD_RANK; exec '"$emu"'/gnn-gather --no-provenance "$@"' sh "$@"; }
ranks 2 gnn-gather -q --no-provenance s4 -i s4.2.%r.gnb -o want.%r
rm -f got.* m.*
check 'gnn-gather runs on devices of two machines' apart s4 -i s4.2.%r.gnb --device cuda --cache 0.2 --cache-policy shard --metrics m.%r -o got.%r
check 'gnn-gather on devices of two machines gives the bytes of the CPU' same_files 2
check 'gnn-gather on devices of two machines reads nothing from a peer' test "$(figure cliques 0) $(rows peer 0) $(figure replicated 0)" = '1 0 120'

# Ranks that each see one device, which another rank does not see: each works alone, and is told so.
hidden() { ranks 2 sh -c 'export GNN_FAKE_FIRST=$OMPI_COMM_WORLD_RANK; exec '"$emu"'/gnn-gather --no-provenance "$@"' sh "$@"; }
rm -f got.* m.*
check 'gnn-gather runs where each rank sees only its own device' \
    hidden s4 -i s4.2.%r.gnb --device cuda --cache 0.2 --cache-policy shard --metrics m.%r -o got.%r
cp err said
check 'gnn-gather gives the bytes of the CPU where each rank sees only its own device' same_files 2
check 'gnn-gather reads nothing from a peer where each rank sees only its own device' \
    test "$(figure cliques 0) $(rows peer 0) $(figure replicated 0)" = '1 0 120'
check "gnn-gather says in one line that ranks do not see each other's GPUs, and what to do" sh -c \
    'test "$(grep -c "no GPU peers" said)" -eq 1 && grep -q "^gnn-gather: no GPU peers: rank [01] does not see the GPU of rank [01] .*make all GPUs of a host visible" said'
rm -f got.*
check 'gnn-gather --cache none runs where each rank sees only its own device' hidden s4 -i s4.2.%r.gnb --device cuda --cache none -o got.%r
mv err said
check 'gnn-gather --cache none says nothing of GPU peers' sh -c '! grep -q "no GPU peers" said'
export GNN_FAKE_NO_EXPORT=1
rm -f got.*
check 'gnn-gather runs where the system allows no CUDA IPC between processes' gather 2 2 2 s4 -i s4.2.%r.gnb --device cuda --cache 0.2 -o got.%r
mv err said
check 'gnn-gather says in one line that CUDA IPC does not work between the ranks' \
    test "$(grep -c '^gnn-gather: no GPU peers: CUDA IPC does not work between ranks 0 and 1' said)" -eq 1
unset GNN_FAKE_NO_EXPORT
rm -f got.*
check 'gnn-gather -v runs where no path joins the devices' gather 2 2 1 s4 -i s4.2.%r.gnb --device cuda --cache 0.2 -o got.%r -v
mv err said
check 'gnn-gather -v says that no NVLink joins the GPUs of the ranks' grep -q 'no GPU peers: the GPUs of ranks 0 and 1 .* neither NVLink' said

# A rank that stops answering ends the others, before anything is written.
head -c 5000 s4.2.1.gnb >half.gnb
mkfifo slow.1 && cp s4.2.0.gnb slow.0
(cat half.gnb && : >fed && exec sleep 300) >slow.1 &
feeding=$!
rm -f got.*
GNN_FAKE_DEVICES=2 mpirun --quiet -n 2 $note "$emu/gnn-gather" --timeout 20 s4 -i slow.%r --device cuda --cache 0.3 --cache-policy shard -o got2.%r 2>lost.txt &
pid=$!
until [ -e fed ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
sleep 0.5
kill -STOP "$(cat pid.1)" # which rank 0 waits for
wait $pid
rc=$?
kill $feeding
check "gnn-gather ends with status 5 and names the rank that stopped answering ($rc)" \
    logged lost.txt sh -c "test $rc -eq 5 && grep -q 'rank 1 did not answer for 20 seconds' lost.txt"
check 'gnn-gather writes nothing when a rank stops answering' sh -c '! ls got2* 2>/dev/null'

# Counting, and one of many who has no device.
ranks 2 gnn-gather s4 -i s4.2.%r.gnb --count >want.txt
gather 2 2 2 s4 -i s4.2.%r.gnb --device cuda --count >got.txt
check 'gnn-gather --count on devices counts what the CPU counts' \
    sh -c 'for f in want got; do grep -e ^batches -e ^seeds -e ^nodes -e ^edges $f.txt >$f.n; done; cmp want.n got.n'
some() { ranks 2 sh -c 'export GNN_FAKE_DEVICES=$OMPI_COMM_WORLD_RANK; exec '"$emu"'/gnn-gather --no-provenance "$@"' sh "$@"; }
rm -f got.*
check 'gnn-gather --device auto runs on ranks of which one has no device' some s4 -i s4.2.%r.gnb --device auto -o got.%r
check 'gnn-gather --device auto gives the bytes of the CPU when one rank has no device' same_files 2
status 4 'gnn-gather --device cuda refuses to run when one rank has no device' some s4 -i s4.2.%r.gnb --device cuda -o got2.%r
mixed() { ranks 2 sh -c 'exec '"$emu"'/gnn-gather --no-provenance "$@" $(test $OMPI_COMM_WORLD_RANK = 0 || echo --device cuda)' sh "$@"; }
status 3 'gnn-gather refuses --device for some of its ranks only' mixed s4 -i s4.2.%r.gnb -o got2.%r
differ() { GNN_FAKE_DEVICES=2 ranks 2 sh -c 'exec '"$emu"'/gnn-gather --no-provenance "$@" --cache-policy $(test $OMPI_COMM_WORLD_RANK = 0 && echo shard || echo replicate)' sh "$@"; }
refuses 3 'rank 1 and rank 0: mismatched options' 'ranks with different cache policies' differ s4 -i s4.2.%r.gnb --device cuda -o got2.%r
check 'gnn-gather leaves nothing behind when it refuses its ranks' sh -c '! ls got2* 2>/dev/null'

ranks 2 gnn-sample -q --no-provenance -f 2 -b 60 --edge-ids --steps 0:2 -o 'f.%r.gnb' h5
ranks 2 gnn-gather -q --no-provenance h5 -i 'f.%r.gnb' -F x,y,weight,degree -o 'want.%r'
one_device_fails gnn-gather h5 -i f.%r.gnb -F x,y,weight,degree --cache 0.1 --cache-policy shard
done_testing
