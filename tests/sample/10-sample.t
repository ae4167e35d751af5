# gnn-sample: what it draws does not depend on how it is asked.
. "$GNN_TOP/tests/lib.sh"
smp() { gnn-sample --no-provenance "$@"; }
# The same payloads, whatever the headers say.
same_batches() { gnn-inspect --export 1.npz "$1" && gnn-inspect --export 2.npz "$2" && cmp 1.npz 2.npz; }
check "a store" gnn-import sbm:nodes=3000,degree=8 -o s --no-provenance
check "a typed store" gnn-import sbm:nodes=700,types=3,weights=1 -o h --no-provenance
check "sampling" smp s -f 5,3 -b 100 --epochs 0:2 --eval valid -o a
for j in 2 3 8; do
    check "-j$j" smp s -f 5,3 -b 100 --epochs 0:2 --eval valid -j$j -o b
    check "-j$j: the same bytes" cmp a b
done
smp s -f 5,3 -b 100 --epochs 0:2 --eval valid | cat >b
check "through a pipe" cmp a b
check "a stream verifies" gnn-inspect --verify a --against s

# Any slice of a run can be made by itself: the slices in a row are the run.
smp s -f 5,3 -b 100 --epochs 0:1 --eval valid -o e0
smp s -f 5,3 -b 100 --epochs 1:2 --eval valid -o e1
cat e0 e1 >ee
check "epochs one by one" gnn-inspect --diff a ee
smp s -f 5,3 -b 100 -o all
for r in 0:1 1:7 7:18; do smp s -f 5,3 -b 100 --steps $r; done >parts
check "steps in slices" gnn-inspect --diff all parts
check "steps past the end are cut" smp s -f 5,3 -b 100 --steps 15:900 -o b
check "three are left" sh -c 'gnn-inspect b | grep -q "batches 3,"'
smp s -f 5,3 -b 100 --steps 0:17 --eval valid -o b
check "evaluation follows an epoch's last step only" sh -c 'gnn-inspect b | grep -q "batches 17,"'

count() { smp "$@" --count --metrics m >out && sed 's/.*"batches":\([0-9]*\),"seeds":\([0-9]*\),.*/\1 \2/' m; }
check "all seeds" test "$(count s -f 2 -b 1000)" = "2 1800"
check "--drop-last" test "$(count s -f 2 -b 1000 --drop-last)" = "1 1000"
check "--eval" test "$(count s -f 2 -b 1000 --eval valid --eval test --epochs 3:5)" = "8 6000"
check "another epoch, other batches" sh -c '! gnn-inspect --diff e0 e1'
smp s -f 5,3 -b 100 --seed 2 -o b
check "another seed, other batches" sh -c '! gnn-inspect --diff all b'

# Seeds by id.
check "an ordered list" sh -c 'seq 0 249 >ids && gnn-sample s -f 3 -b 100 --seeds ids -o l --no-provenance'
smp s -f 3 -b 100 --seeds - -o p <ids
check "a list and a pipe draw the same" same_batches l p
smp s -f 3 -b 100 --seeds - --steps 1:2 -o p1 <ids
smp s -f 3 -b 100 --seeds ids --steps 1:2 -o l1
check "steps of a pipe" same_batches l1 p1
smp s -f 3 --seeds - -o none </dev/null
check "no ids, a complete empty stream" sh -c 'gnn-inspect none | grep -q "batches 0"'
echo 7 7 7 8 | smp s -f 0 --seeds - -o dup
check "seeds twice count once" sh -c 'gnn-inspect dup | grep -q " 2 seeds"'
(echo 1; sleep 0.3; echo 2 3) | smp s -f 2 -b 2 --seeds - -o slow
check "ids that trickle in" sh -c 'gnn-inspect slow | grep -q "batches 2, 3 seeds"'

# Typed graphs.
key=$(gnn-inspect -t h | sed -n 's|.* edge/\([^ ]*\)/indptr .*|\1|p' | head -n 1)
check "a fan-out for one edge type" smp h -f "$key=4,3" -b 64 -o h1
check "no other type is sampled" test "$(gnn-inspect -t h1 | sed -n 's|.*hop/0/\([^ ]*\)/indptr .*|\1|p')" = "$key"
smp h -f "$key=2,1" -f 4,3 -b 64 -o h1
smp h -f 4,3 -f "$key=2,1" -b 64 -o h2
check "one type overrides all, in any order" cmp h1 h2
check "typed, all types" smp h -f 4,3 -b 64 --edge-ids -o ht
check "typed: verifies" gnn-inspect --verify ht --against h

# Parts: after mapping to original ids the batches are the same.
for f in all new; do
    for st in s h; do
        for k in 2 5; do
            rm -rf k
            gnn-partition $st -k $k -o k -q
            smp $st -f 6,4,-1 -b 50 --frontier $f --edge-ids --steps 0:6 -o one
            smp k -f 6,4,-1 -b 50 --frontier $f --edge-ids --steps 0:6 -o many -j2
            check "$st: $k parts, --frontier $f" gnn-inspect --diff --original --store $st --store k one many
            smp $st -f 6,4 -r -b 50 --frontier $f --steps 0:6 --original-ids -o one
            smp k -f 6,4 -r -b 50 --frontier $f --steps 0:6 --original-ids -o many
            check "$st: $k parts, original ids" same_batches one many
        done
    done
done
seq 5 3 200 | smp s -f 3 --seeds - --original-ids -o one
gnn-partition s -k 3 -o k3 -q
seq 5 3 200 | smp k3 -f 3 --seeds - --original-ids -o many
check "ids of --seeds are original ones" same_batches one many

# Nothing is allocated for further batches, once there have been enough for the largest.
calls() { env FAULT_OP=malloc FAULT_N=0 FAULT_COUNT=n LD_PRELOAD="$GNN_B/shim.so" "$@" >/dev/null && cat n; }
if [ -n "${GNN_SAN-}" ] || [ ! -e "${GNN_B-}/shim.so" ]; then skip "no allocation" "cannot count calls here"; else
    check "no allocation in a long run" test "$(calls gnn-sample s -f 5,3 -b 100 --epochs 0:20 -c)" = "$(calls gnn-sample s -f 5,3 -b 100 --epochs 0:40 -c)"
    smp s -f 5,3 -b 100 --epochs 0:20 -o b2
    smp s -f 5,3 -b 100 --epochs 0:40 -o b6
    check "nor in gathering" test "$(calls gnn-gather -j 1 -c -i b2 s)" = "$(calls gnn-gather -j 1 -c -i b6 s)"
fi

# Mistakes.
status 2 "no fan-out" smp s
status 2 "not a fan-out" smp s -f 5,x -o x
status 2 "too small a fan-out" smp s -f -2 -o x
status 2 "an empty fan-out" smp s -f 5, -o x
status 2 "unknown edge type" smp s -f node/at/node=3 -o x
status 2 "hops differ" smp h -f 3,3 -f 2 -o x
status 2 "no such set" smp s -f 3 --split nope -o x
check "--epochs 2 are the first two" sh -c 'gnn-sample s --no-provenance -f 5,3 -b 100 --eval valid --epochs 2 | cmp - a'
check "--steps 3 is one step" test "$(count s -f 2 -b 100 --steps 3)" = "1 100"
status 2 "no epoch" smp s -f 3 --epochs 0 -o x
status 2 "too large" smp s -f 3 -b 2G -o x
mv err said
check "says by whole numbers" grep -q 'between 1 and 1073741824' said
status 2 "no epochs" smp s -f 3 --epochs 3:3 -o x
status 2 "endless epochs" smp s -f 3 --epochs 3: -o x
status 2 "steps past the end" smp s -f 3 -b 100 --steps 18:20 -o x
status 2 "shuffled pipe" smp s -f 3 --seeds - --shuffle -o x
status 2 "a batch of 0" smp s -f 3 -b 0 -o x
status 2 "unknown rule" smp s -f 3 --frontier some -o x
status 2 "a set beside ids" smp s -f 3 --seeds ids --split train -o x
status 2 "a type of no ids" smp s -f 3 --seed-type node -o x
status 2 "compressed nothing" smp s -f 3 -c -z 3
status 2 "the seed has no letter" smp s -f 3 -s 3 -o x
status 2 "unknown device" smp s -f 3 --device gpu -o x
echo 5 x >bad && status 3 "not an id" smp s -f 3 --seeds bad -o x
check "names the place" test -n "$(grep "bad: line 1: not a node id" err)"
printf '1\n3000\n' >bad && status 3 "id out of range" smp s -f 3 --seeds bad -o x
check "names the line" test -n "$(grep "bad: line 2:" err)"
echo -1 >bad && status 3 "negative id" smp s -f 3 --seeds bad -o x
status 3 "no store" smp nowhere -f 3 -o x
check "nothing left behind" test -z "$(ls -d x x.* 2>/dev/null)"
done_testing
