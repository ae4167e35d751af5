# SPDX-License-Identifier: Apache-2.0
# gnn-sample: what it draws does not depend on how it is asked.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-sample
smp() { gnn-sample --no-provenance "$@"; }
# The same payloads, whatever the headers say.
same_batches() { gnn-inspect --export 1.npz "$1" && gnn-inspect --export 2.npz "$2" && cmp 1.npz 2.npz; }
# Other nodes in the batches; headers and numbers of batches differ in any case.
nodes_of() { gnn-inspect --export b.npz "$1" && unzip -p b.npz '*/nodes/node.npy' >"$2"; }
other_nodes() { nodes_of "$1" 1.npy && nodes_of "$2" 2.npy && test -s 1.npy && ! cmp -s 1.npy 2.npy; }
check "gnn-import makes the store to sample" gnn-import sbm:nodes=3000,degree=8 -o s --no-provenance
check "gnn-import makes the typed store to sample" gnn-import sbm:nodes=700,types=3,weights=1 -o h --no-provenance
check "gnn-sample draws two epochs and a set to evaluate" smp s -f 5,3 -b 100 --epochs 0:2 --eval valid -o a
for j in 2 3 8; do
    check "gnn-sample -j$j draws two epochs and a set to evaluate" smp s -f 5,3 -b 100 --epochs 0:2 --eval valid -j$j -o b
    check "gnn-sample -j$j draws the same bytes as by default" cmp a b
done
smp s -f 5,3 -b 100 --epochs 0:2 --eval valid | cat >b
check "gnn-sample writes the same through a pipe" cmp a b
check "gnn-inspect --verify finds each sampled edge in the store" gnn-inspect --verify a --against s

# Any slice of a run can be made by itself: the slices in a row are the run.
smp s -f 5,3 -b 100 --epochs 0:1 --eval valid -o e0
smp s -f 5,3 -b 100 --epochs 1:2 --eval valid -o e1
cat e0 e1 >ee
check "gnn-sample draws epochs one by one as in one run" gnn-inspect --diff a ee
smp s -f 5,3 -b 100 -o all
for r in 0:1 1:7 7:18; do smp s -f 5,3 -b 100 --steps $r; done >parts
check "gnn-sample draws steps in slices as in one run" gnn-inspect --diff all parts
check "gnn-sample --steps accepts steps past the end" smp s -f 5,3 -b 100 --steps 15:900 -o b
check "gnn-sample --steps ends with the last step" sh -c 'gnn-inspect b | grep -q "batches 3,"'
smp s -f 5,3 -b 100 --steps 0:17 --eval valid -o b
check "gnn-sample --eval draws the set only after the last step of an epoch" sh -c 'gnn-inspect b | grep -q "batches 17,"'

count() { smp "$@" --count --metrics m >out && sed 's/.*"batches":\([0-9]*\),"seeds":\([0-9]*\),.*/\1 \2/' m; }
check "gnn-sample draws for all seeds of train" test "$(count s -f 2 -b 1000)" = "2 1800"
check "gnn-sample --drop-last leaves out the last batch" test "$(count s -f 2 -b 1000 --drop-last)" = "1 1000"
check "gnn-sample --eval draws for both sets in each epoch" test "$(count s -f 2 -b 1000 --eval valid --eval test --epochs 3:5)" = "8 6000"
check "gnn-sample draws other batches in another epoch" other_nodes e0 e1
smp s -f 5,3 -b 100 --seed 2 -o b
check "gnn-sample --seed 2 draws other batches" other_nodes all b

# Seeds by id.
check "gnn-sample --seeds reads a list" sh -c 'seq 0 249 >ids && gnn-sample s -f 3 -b 100 --seeds ids -o l --no-provenance'
smp s -f 3 -b 100 --seeds - -o p <ids
check "gnn-sample --seeds draws the same from a list and a pipe" same_batches l p
smp s -f 3 -b 100 --seeds - --steps 1:2 -o p1 <ids
smp s -f 3 -b 100 --seeds ids --steps 1:2 -o l1
check "gnn-sample --seeds --steps draws the same from a list and a pipe" same_batches l1 p1
for r in 0:18:4 1::4 2:99:4 3::4; do smp s -f 5,3 -b 100 --steps $r -o part.$r; done
check "gnn-sample --steps A:B:STRIDE divides an epoch among four, uneven ends included" sh -c '
    for f in part.*; do gnn-inspect "$f" | sed -n "s/.* batches \([0-9]*\),.*/\1/p"; done | tr "\n" " " | grep -qx "5 5 4 4 "'
smp s -f 5,3 -b 100 --steps 6 -o want
smp s -f 5,3 -b 100 --steps 6:18:40 -o got
check "gnn-sample --steps 6:18:40 draws step 6" same_batches want got
status 2 "gnn-sample refuses a stride of 0" smp s -f 3 --steps 0:4:0 -o x
check "gnn-sample --eval with a stride follows the last step alone" test "$(count s -f 2 -b 100 --steps 1:18:4 --eval valid)/$(count s -f 2 -b 100 --steps 0:18:4 --eval valid)" = "11 1100/5 500"
seq 0 249 | awk '{ print } NR == 30 || NR == 31 || NR == 131 || NR == 231 { print "\n" }' >lists
smp s -f 3 -b 100 --seeds - -o lists.gnb <lists
check "an empty line ends a batch of gnn-sample --seeds -, unless it has no seeds yet" sh -c 'gnn-inspect lists.gnb | grep -q "batches 5, 250 seeds"'
smp s -f 3 -b 100 --seeds lists -o listed.gnb
check "gnn-sample --seeds FILE passes over empty lines" sh -c 'gnn-inspect listed.gnb | grep -q "batches 3, 250 seeds"'
smp s -f 3 --seeds - -o none </dev/null
check "gnn-sample --seeds makes a whole stream of no ids" sh -c 'gnn-inspect none | grep -q "batches 0"'
echo 7 7 7 8 | smp s -f 0 --seeds - -o dup
check "gnn-sample --seeds counts seeds of a batch once" sh -c 'gnn-inspect dup | grep -q " 2 seeds"'
(echo 1; sleep 0.3; echo 2 3) | smp s -f 2 -b 2 --seeds - -o slow
check "gnn-sample --seeds waits for ids that come late" sh -c 'gnn-inspect slow | grep -q "batches 2, 3 seeds"'

# Typed graphs.
key=$(gnn-inspect -t h | sed -n 's|.* edge/\([^ ]*\)/indptr .*|\1|p' | head -n 1)
check "gnn-sample -f samples one edge type" smp h -f "$key=4,3" -b 64 -o h1
check "gnn-sample -f with one edge type samples no other" test "$(gnn-inspect -t h1 | sed -n 's|.*hop/0/\([^ ]*\)/indptr .*|\1|p')" = "$key"
smp h -f "$key=2,1" -f 4,3 -b 64 -o h1
smp h -f 4,3 -f "$key=2,1" -b 64 -o h2
check "gnn-sample -f of one edge type overrides that of all, in any order" cmp h1 h2
check "gnn-sample -f samples all edge types" smp h -f 4,3 -b 64 --edge-ids -o ht
check "gnn-inspect --verify finds each sampled edge of all types in the store" gnn-inspect --verify ht --against h

# Parts: after mapping to original ids the batches are the same.
for f in all new; do
    for st in s h; do
        for k in 2 5; do
            rm -rf k
            gnn-partition $st -k $k -o k -q
            smp $st -f 6,4,-1 -b 50 --frontier $f --edge-ids --steps 0:6 -o one
            smp k -f 6,4,-1 -b 50 --frontier $f --edge-ids --steps 0:6 -o many -j2
            check "gnn-sample --frontier $f draws the same from store $st and from its $k partitions" \
                gnn-inspect --diff --original --store $st --store k one many
            smp $st -f 6,4 -r -b 50 --frontier $f --steps 0:6 --original-ids -o one
            smp k -f 6,4 -r -b 50 --frontier $f --steps 0:6 --original-ids -o many
            check "gnn-sample --frontier $f -r --original-ids draws the same from store $st and from its $k partitions" same_batches one many
        done
    done
done
seq 5 3 200 | smp s -f 3 --seeds - --original-ids -o one
gnn-partition s -k 3 -o k3 -q
seq 5 3 200 | smp k3 -f 3 --seeds - --original-ids -o many
check "gnn-sample --seeds takes original ids of partitions" same_batches one many

# Nothing is allocated for further batches, once there have been enough for the largest.
calls() { env FAULT_OP=malloc FAULT_N=0 FAULT_COUNT=n LD_PRELOAD="$GNN_B/shim.so" "$@" >/dev/null && cat n || echo "$* fails"; }
if [ -n "${GNN_SAN-}" ] || [ ! -e "${GNN_B-}/shim.so" ]; then
    skip "gnn-sample and gnn-gather allocate nothing more in a long run" "cannot count calls here"
else
    check "gnn-sample allocates nothing more in a long run" \
        test "$(calls gnn-sample s -f 5,3 -b 100 --epochs 0:20 -c)" = "$(calls gnn-sample s -f 5,3 -b 100 --epochs 0:40 -c)"
    smp s -f 5,3 -b 100 --epochs 0:20 -o b2
    smp s -f 5,3 -b 100 --epochs 0:40 -o b6
    check "gnn-gather allocates nothing more in a long run" test "$(calls gnn-gather -j 1 -c -i b2 s)" = "$(calls gnn-gather -j 1 -c -i b6 s)"
fi

# Mistakes.
status 2 "gnn-sample refuses to work without a fan-out" smp s
status 2 "gnn-sample refuses a fan-out that is no number" smp s -f 5,x -o x
status 2 "gnn-sample refuses a fan-out of -2" smp s -f -2 -o x
status 2 "gnn-sample refuses an empty fan-out" smp s -f 5, -o x
status 2 "gnn-sample refuses a fan-out for an unknown edge type" smp s -f node/at/node=3 -o x
status 2 "gnn-sample refuses fan-outs of different numbers of hops" smp h -f 3,3 -f 2 -o x
status 2 "gnn-sample refuses an unknown set" smp s -f 3 --split nope -o x
check "gnn-sample --epochs 2 draws the first two epochs" sh -c 'gnn-sample s --no-provenance -f 5,3 -b 100 --eval valid --epochs 2 | cmp - a'
check "gnn-sample --steps 3 draws one step" test "$(count s -f 2 -b 100 --steps 3)" = "1 100"
status 2 "gnn-sample refuses --epochs 0" smp s -f 3 --epochs 0 -o x
refuses 2 'between 1 and 1073741824' "a batch that is too large" smp s -f 3 -b 2G -o x
status 2 "gnn-sample refuses --epochs 3:3" smp s -f 3 --epochs 3:3 -o x
status 2 "gnn-sample refuses --epochs 3:" smp s -f 3 --epochs 3: -o x
status 2 "gnn-sample refuses --steps that begin past the end" smp s -f 3 -b 100 --steps 18:20 -o x
status 2 "gnn-sample refuses to shuffle a pipe" smp s -f 3 --seeds - --shuffle -o x
status 2 "gnn-sample refuses a batch of 0" smp s -f 3 -b 0 -o x
status 2 "gnn-sample refuses an unknown frontier policy" smp s -f 3 --frontier some -o x
status 2 "gnn-sample refuses --split beside --seeds" smp s -f 3 --seeds ids --split train -o x
status 2 "gnn-sample refuses --seed-type without --seeds" smp s -f 3 --seed-type node -o x
status 2 "gnn-sample refuses compression with --count" smp s -f 3 -c -z 3
status 2 "gnn-sample refuses -s, as --seed has no letter" smp s -f 3 -s 3 -o x
status 2 "gnn-sample refuses an unknown device" smp s -f 3 --device gpu -o x
echo 5 x >bad && status 3 "gnn-sample --seeds refuses a word" smp s -f 3 --seeds bad -o x
check "gnn-sample --seeds names the line of a word" test -n "$(grep "bad: line 1: not a node id" err)"
printf '1\n3000\n' >bad && status 3 "gnn-sample --seeds refuses an id out of range" smp s -f 3 --seeds bad -o x
check "gnn-sample --seeds names the line of an id out of range" test -n "$(grep "bad: line 2:" err)"
echo -1 >bad && status 3 "gnn-sample --seeds refuses a negative id" smp s -f 3 --seeds bad -o x
status 3 "gnn-sample refuses a store that is not there" smp nowhere -f 3 -o x
check "gnn-sample leaves nothing where it refuses its arguments" test -z "$(ls -d x x.* 2>/dev/null)"
done_testing
