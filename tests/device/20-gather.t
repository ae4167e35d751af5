# SPDX-License-Identifier: Apache-2.0
# gnn-gather on devices that are emulated: the same bytes as on the CPU, wherever rows lie.
. "$GNN_TOP/tests/lib.sh"
on_device=$GNN_B/emu/bin/gnn-gather
gat() { gnn-gather --no-provenance "$@"; }
smp() { gnn-sample -q --no-provenance "$@"; }
gnn-import -q --no-provenance -o s sbm:nodes=300,degree=6,features=13
gnn-import -q --no-provenance -o h sbm:nodes=120,types=3,weights=1
gnn-import -q --no-provenance -o t sbm:nodes=300,degree=6,times=1
gnn-partition -q -k 3 -o k h
smp -f 3,2 -b 30 -o s.gnb s
smp -f 3,2 -b 16 --edge-ids -o h.gnb h
smp -f 3,2 -b 16 --edge-ids -o k.gnb k
smp -f 3,2 -b 16 --edge-ids --original-ids -o ko.gnb k
smp -f 3,2 -b 16 --frontier new -o hn.gnb h
gnn-sample -q -f 3,2 -b 30 --count --frequency s.npy s >stats
gnn-sample -q -f 3,2 -b 16 --count --frequency k.npy k >stats

# Devices: how many are used, how many reach each other, in which order work is done. Then a store, its batches, options that
# both get, and options of the device.
seed=0
heard() { grep -v 'ASan doesn.t fully support makecontext' "$1"; }
devices() { # N CLIQUE COMMAND...
    _spec=cuda:$(seq -s , 0 $(($1 - 1))) _n=$1 _clique=$2
    shift 2
    seed=$((seed + 1))
    GNN_FAKE_DEVICES=$_n GNN_FAKE_CLIQUE=$_clique GNN_FAKE_SEED=$seed "$@" --device "$_spec"
}
same() { # N CLIQUE STORE "OPTIONS" "DEVICE'S OPTIONS"
    # shellcheck disable=SC2086
    gat "$3" -i "$3${batches-}.gnb" $4 -o want && devices "$1" "$2" "$on_device" --no-provenance "$3" -i "$3${batches-}.gnb" $4 $5 --metrics m -o got && cmp want got
}
try() { check "gnn-gather with $1 devices in cliques of $2 gives the bytes of the CPU: $3${batches-}${4:+ }$4${5:+ }$5" same "$@"; }
figure() { tail -n 1 m | grep -o "\"$1\":[^,}]*" | head -n 1 | cut -d: -f2; }

try 1 1 s "" ""
check "gnn-gather caches every row on a device that has space for them" \
    sh -c 'tail -n 1 m | grep -q "\"replicated\":300,\"sharded\":0,.*\"host\":{\"rows\":0,"'
for cache in none 0.001 100 0.5 8k 1 1G; do
    try 1 1 s "--fields x,y,degree" "--cache $cache"
done
for policy in auto replicate shard; do
    for cache in 0.003 0.2 0.5 1; do
        try 2 2 s "" "--cache $cache --cache-policy $policy"
    done
    try 4 2 h "--fields x,y,weight,degree" "--cache 0.3 --cache-policy $policy --cache-order access"
    try 3 2 k "--fields x,y,weight,degree" "--cache 0.2 --cache-policy $policy --cache-order k.npy"
    try 4 4 k "--fields weight,x,degree" "--cache 0.2 --cache-policy $policy"
    batches=o try 3 1 k "--fields x,y,weight,degree" "--cache 0.4 --cache-policy $policy --cache-order access"
done
for dtype in f16 bf16 f32; do
    try 1 1 s "--dtype $dtype" "--cache 0.3 --cache-order s.npy"
    try 2 2 h "--dtype $dtype --fields x,weight,y" "--cache none"
done
gnn-import -q --no-provenance --dtype f16 -o f sbm:nodes=300,degree=6,features=13 # what is short in the store travels so
smp -f 3,2 -b 30 -o f.gnb f
for dtype in stored f32 bf16; do
    try 2 2 f "--dtype $dtype" "--cache 0.3"
done
gnn-import -q --no-provenance --dtype int8 -o i sbm:nodes=300,degree=6,features=13 # with scales, packed where they are cached
gnn-partition -q --no-provenance -k 3 --dtype int8 -o i3 h
smp -f 3,2 -b 30 -o i.gnb i
smp -f 3,2 -b 16 --edge-ids -o i3.gnb i3
gnn-sample -q -f 3,2 -b 30 --count --frequency i.npy i >stats
for cache in none 0.3 1; do
    try 1 1 i "" "--cache $cache"
    try 2 2 i3 "--fields x,weight,y" "--cache $cache --cache-policy shard"
done
for dtype in f16 bf16; do
    try 2 2 i "--dtype $dtype" "--cache 0.3 --cache-policy replicate"
    try 3 2 i3 "--dtype $dtype" "--cache 0.2 --cache-order access"
done
for options in "--fields y" "--fields weight" "--fields degree,weight" "-z 3"; do
    try 2 2 k "$options" "--cache 0.5"
    batches=o try 2 1 k "$options" ""
done
batches=n try 2 2 h "" "--cache 0.7 --cache-policy shard"
gat k -i k.gnb --fields y -o k2.gnb
batches=2 try 2 2 k "--fields x" "--cache 0.7" # original ids are there already
smp -f 3,2 -b 30 --seeds - -o snone.gnb s </dev/null
batches=none try 2 2 s "" "--cache 0.3"
smp --walk-length 6 --walks-per-seed 2 -b 30 -o swalk.gnb s
smp --walk-length 6 --pairs 2 -b 30 -o spair.gnb s
batches=walk try 2 2 s "" "--cache 0.3"
batches=pair try 1 1 s "" ""
smp --time-rule le --seeds /dev/stdin -f 3,2 -b 30 -o ttimed.gnb t <<END
$(awk 'BEGIN { for (i = 0; i < 200; i++) print i, i * 37 % 1500 }')
END
batches=timed try 2 2 t "" "--cache 0.3"

# Who holds what.
devices 4 2 "$on_device" s -i s.gnb --cache 0.25 --cache-policy shard --metrics m -o got
check "gnn-gather finds two cliques of two devices" test "$(figure devices) $(figure cliques)" = "4 2"
check "gnn-gather --cache-policy shard caches twice as many rows in a clique of two devices" \
    test "$(figure replicated)" = 0 -a "$(figure sharded)" -ge 149
check "gnn-gather --cache-policy shard reads rows from a peer" grep -q '"peer":{"rows":[1-9]' m
devices 4 2 "$on_device" s -i s.gnb --cache 0.25 --cache-policy replicate --metrics m -o got
check "gnn-gather --cache-policy replicate caches the same quarter of the rows on every device" test "$(figure replicated) $(figure sharded)" = "75 0"
check "gnn-gather --cache-policy replicate reads no row from a peer" grep -q '"peer":{"rows":0,' m
devices 4 1 "$on_device" s -i s.gnb --cache 0.25 --cache-policy shard --metrics m -o got
check "gnn-gather --cache-policy shard replicates rows on devices that are not peers" \
    test "$(figure cliques) $(figure replicated) $(figure sharded)" = "4 75 0"
devices 2 2 "$on_device" s -i s.gnb --cache 0.6 --cache-policy shard --metrics m -o got
check "gnn-gather --cache-policy shard reads no row from the host when two devices cache all of them" grep -q '"host":{"rows":0,' m

# The planner said it before: the same rows, the same misses.
for order in degree access s.npy i.npy; do
    case $order in i*) s=i ;; *) s=s ;; esac
    gnn-gather --plan -i $s.gnb --cache 0.3 --cache-order $order $s >plan
    devices 1 1 "$on_device" $s -i $s.gnb --cache 0.3 --cache-order $order --count -F x >stats 2>err
    want=$(awk '/%/ { print $3, $NF }' plan | tr -d %)
    got=$(sed -n 's/^cache: \([0-9]*\) of.*/\1/p' stats; sed -n 's/.*host [0-9]* (\([0-9.]*\) %.*/\1/p' stats)
    check "gnn-gather caches in the order of $order what --plan foretold: $want, $(echo $got)" \
        awk -v a="$want" -v b="$(echo $got)" 'BEGIN {
            split(a, x, " "); split(b, y, " "); d = x[2] - y[2]; exit !(x[1] == y[1] && d < 0.06 && d > -0.06) }'
done

# Counting, and what is said with -v.
devices 1 1 "$on_device" s -i s.gnb --count >got
gnn-gather s -i s.gnb --count >want
check "gnn-gather --count on a device counts what the CPU counts" \
    sh -c 'grep -v -e ^first -e ^seconds -e ^rate want >w && grep -v -e ^first -e ^seconds -e ^rate -e ^cache: -e ^rows: got | cmp w -'
check "gnn-gather --count says where the rows were found" grep -q '^rows: local .*, peer 0 (0.00 %, 0.0 MB), host 0 ' got
status 0 "gnn-gather -v gathers on a device" devices 1 1 "$on_device" s -i s.gnb -v -o got
check "gnn-gather -v says where the rows were found" test -n "$(grep 'gnn-gather: rows: local ' err)"
# Of no row there is no share: the seeds' type has no features.
printf 'source,target\n' >none.csv && printf 'id,y,set\n0,0,train\n1,1,train\n' >user.csv && printf 'id,f0\n0,1\n1,2\n' >item.csv
gnn-import -q -o bare --edge-type user/buys/item --nodes user=user.csv --nodes item=item.csv none.csv && gnn-sample -q -f 2 -o bare.gnb bare
check "gnn-gather gathers no row on a device" devices 1 1 "$on_device" bare -i bare.gnb --count --metrics m
cp out none
check "gnn-gather prints no share of no row" grep -q '^rows: local 0 (0.0 MB), peer 0 (0.0 MB), host 0 (0.0 MB)$' none
check "gnn-gather --metrics has null for it" test "$(grep -o '"share":null' m | wc -l)" = 3

# Stores are copied to pinned memory, ours or the run-time's, or pinned where they lie; a device with little memory keeps little.
for how in GNN_FAKE_MAP GNN_FAKE_NO_REGISTER; do
    export $how=1
    try 2 2 k "--fields x,y,weight,degree" "--cache 0.3"
    try 1 1 s "" ""
    unset $how
done
partial=0
for bytes in 260000 265000 270000; do
    export GNN_FAKE_MEMORY=$bytes
    try 1 1 s "" ""
    kept=$(figure replicated)
    [ "$kept" -gt 0 ] && [ "$kept" -lt 300 ] && partial=1
done
check "gnn-gather caches a part of the rows on a device with too little memory for all of them" test $partial = 1
GNN_FAKE_MEMORY=16384
status 1 "gnn-gather refuses a --cache that does not fit into the memory of the device" devices 1 1 "$on_device" s -i s.gnb --cache 1 -o got2
cp err said
check "gnn-gather says that the device has too little memory for the cache" \
    grep -q "^gnn-gather: not enough device memory: 15600 bytes for the cache$" said
GNN_FAKE_MEMORY=8192
status 1 "gnn-gather fails when the device has too little memory for batches" devices 1 1 "$on_device" s -i s.gnb -o got2
check "gnn-gather says in one line that the device has too little memory for batches" test "$(heard err | wc -l)" = 1
unset GNN_FAKE_MEMORY

# Damage: the same words, the same status, as on the CPU.
said_same=0 wrong='' edges=0
part=k/part-00001.gnb
bytes=$(stat -c %s $part)
for at in $(awk -v n="$bytes" 'BEGIN { srand(3); for (i = 0; i < 24; i++) print 8192 + int(rand() * (n - 8300)) }'); do
    rm -rf bad
    cp -r k bad && printf '\377\377\377\377' | dd of=bad/part-00001.gnb bs=1 seek="$at" conv=notrunc 2>/dev/null
    gat bad -i k.gnb --no-verify --fields weight,x,degree -o want 2>err.cpu
    rc=$?
    devices 2 2 "$on_device" --no-provenance bad -i k.gnb --no-verify --fields weight,x,degree --cache none -o got 2>err.device
    _rc=$?
    heard err.device >err.heard
    if [ $rc -ne $_rc ] || ! cmp -s err.cpu err.heard || { [ $rc -eq 0 ] && ! cmp -s want got; }; then wrong="$wrong $at:$rc:$_rc"; fi
    edges=$((edges + $(grep -c 'not an edge of its node' err.device)))
    rm -f want got
done
check "gnn-gather on devices treats damaged stores as the CPU does$wrong" test -z "$wrong"
check "gnn-gather on devices finds ids in damaged stores that are no edges of their node ($edges)" test "$edges" -gt 0
rm -rf bad
cp -r s bad && printf '\377\377' | dd of=bad/part-00000.gnb bs=1 seek=$(($(stat -c %s s/part-00000.gnb) / 2)) conv=notrunc 2>/dev/null
status 3 "gnn-gather on a device refuses a damaged store" devices 1 1 "$on_device" bad -i s.gnb --fields x,y,degree -o got2
head -c 3000 s.gnb >cut.gnb
status 3 "gnn-gather on a device refuses a stream that is cut off" devices 1 1 "$on_device" s -i cut.gnb -o got2
cp err said
check "gnn-gather on a device names the stream that is cut off" grep -q '^gnn-gather: cut.gnb: ' said
status 3 "gnn-gather on a device refuses fields that the stream has already" devices 1 1 "$on_device" s -i want.gnb -o got2
status 3 "gnn-gather on a device refuses a stream from another store" devices 1 1 "$on_device" h -i s.gnb -o got2
check "gnn-gather on a device leaves nothing behind when it fails" sh -c '! ls got2* 2>/dev/null'

# Every call to the run-time may fail: an error in one line, no output, or no harm done.
gnn-sample -q --no-provenance -f 2 -b 16 --edge-ids --original-ids --steps 0:2 -o f.gnb k
fail() { GNN_FAKE_FAIL=$1 GNN_FAKE_DEVICES=2 timeout 600 "$on_device" --no-provenance --device cuda:0,1 k -i f.gnb -F x,y,weight,degree --cache 0.3 -o got2; }
gat k -i f.gnb -F x,y,weight,degree -o want
fail 0 2>err
calls=$(sed -n 's/fake device: \([0-9]*\) calls/\1/p' err)
wrong='' overcome=0 tried=0
[ "${GNN_SWEEP-}" = all ] && step=1 || step=13
for k in $(seq 1 $step "${calls:-0}"); do
    rm -f got2
    fail "$k" 2>err
    rc=$?
    tried=$((tried + 1))
    case $rc in
    1 | 4) [ "$(heard err | wc -l)" = 1 ] && [ -z "$(ls got2* 2>/dev/null)" ] || wrong="$wrong $k" ;;
    0) cmp -s want got2 && overcome=$((overcome + 1)) || wrong="$wrong $k" ;;
    *) wrong="$wrong $k:$rc" ;;
    esac
done
check "gnn-gather ends cleanly when a call to a device fails ($tried of $calls tried, $overcome without harm$wrong)" \
    test -z "$wrong" -a "$tried" -gt 20 -a "$overcome" -lt $((tried / 4))

# Options.
status 2 "gnn-gather refuses --cache without --device" gnn-gather s -i s.gnb --cache 0.1
check "gnn-gather says what --cache requires" test -n "$(grep -e '--cache requires --device cuda or --plan' err)"
status 2 "gnn-gather refuses --cache-policy with --device cpu" gnn-gather s -i s.gnb --device cpu --cache-policy shard
status 2 "gnn-gather refuses --cache-order without --device" gnn-gather s -i s.gnb --cache-order access
status 2 "gnn-gather refuses a --cache that is no size" "$on_device" s -i s.gnb --device cuda --cache 0.1,0.2
status 2 "gnn-gather refuses two --cache-order" "$on_device" s -i s.gnb --device cuda --cache-order access --cache-order degree
status 2 "gnn-gather refuses -j with --device cuda" "$on_device" s -i s.gnb --device cuda -j 2
status 2 "gnn-gather refuses --plan with --device cuda" "$on_device" s -i s.gnb --device cuda --plan --cache 0.1
status 2 "gnn-gather refuses an unknown --device" "$on_device" s -i s.gnb --device gpu
status 4 "gnn-gather --device cuda:1 fails with one device" "$on_device" s -i s.gnb --device cuda:1
status 3 "gnn-gather refuses a --cache-order file that does not exist" "$on_device" s -i s.gnb --device cuda --cache 0.1 --cache-order hottest -o got2
export GNN_FAKE_DEVICES=0
status 4 "gnn-gather --device cuda fails without a device" "$on_device" s -i s.gnb --device cuda -o got2
status 0 "gnn-gather --device auto runs without a device" "$on_device" --no-provenance s -i s.gnb --device auto --cache 0.2 -o got2
cp err said
check "gnn-gather --device auto says that it uses the CPU" grep -q 'gnn-gather: using cpu: no CUDA device' said
gat s -i s.gnb -o want
check "gnn-gather --device auto without a device gives the bytes of the CPU" cmp want got2
done_testing
