# SPDX-License-Identifier: Apache-2.0
# gnn-sample --labor: destinations pick the same sources.
. "$GNN_TOP/tests/lib.sh"
refusing='gnn-sample --labor'
smp() { gnn-sample --no-provenance "$@"; }
gnn-import -q -o s sbm:nodes=1500,degree=20

# Slices end in the midst of steps that share variates.
for how in '' '--batch-dependency 4'; do
    smp s -f 5,3 -b 60 --labor $how --eval valid --epochs 2 -o whole
    for r in 0:2 2:9 9:15; do smp s -f 5,3 -b 60 --labor $how --steps $r --eval valid; done >slices
    for r in 0:2 2:9 9:15; do smp s -f 5,3 -b 60 --labor $how --steps $r --eval valid --epochs 1:2; done >>slices
    check "gnn-sample --labor $how draws steps in slices as in one run" gnn-inspect --diff whole slices
done

# Fewer nodes, as many edges of the first hop; ever fewer with dependencies.
nodes() { gnn-inspect "$1" | sed -n 's/.*mean nodes after each hop: .* //p'; }
edges() { gnn-inspect "$1" | sed -n 's/.*mean edges of each hop: \([^ ]*\).*/\1/p'; }
smp s -f 5,5 -b 60 -o uniform
smp s -f 5,5 -b 60 --labor -o labor
smp s -f 5,5 -b 60 --labor --layer-dependency -o layer
echo "# nodes of a batch: uniform $(nodes uniform), LABOR $(nodes labor), with layer dependency $(nodes layer)"
check "gnn-sample --labor finds fewer nodes than uniform sampling" awk "BEGIN { exit !($(nodes labor) < 0.85 * $(nodes uniform)) }"
check "gnn-sample --labor --layer-dependency finds fewer still" awk "BEGIN { exit !($(nodes layer) < 0.95 * $(nodes labor)) }"
check "gnn-sample --labor takes as many edges for a seed" test "$(edges labor)" = "$(edges uniform)"
smp s -f 5,5 -b 60 --labor --layer-dependency --frontier new -o new
check "gnn-sample --labor --layer-dependency finds the same nodes with both frontier policies" test "$(nodes layer)" = "$(nodes new)"
# What is picked in consecutive steps: distinct nodes of an epoch's first four.
distinct() { smp s -f 3 -b 60 --steps "$1" --labor $2 --count --frequency f.npy >/dev/null && perl -0777 -ne 's/^\x93NUMPY.*?\n//s; print scalar(grep { $_ } unpack("f<*", $_)), "\n"' f.npy; }
check "gnn-sample --labor --batch-dependency finds fewer nodes in steps that share variates" test "$(distinct 0:4 '--batch-dependency 4')" -lt "$(distinct 0:4)"
smp s -f 5,3 -b 60 --labor --batch-dependency 4 --steps 0:1 -o one
smp s -f 5,3 -b 60 --labor --steps 0:1 -o many
for b in one many; do gnn-inspect --export b.npz $b && unzip -p b.npz | cksum >$b.sum; done
check "gnn-sample --labor --batch-dependency begins with the batch of step 0" cmp one.sum many.sum

# Two destinations with the same neighbours pick the same; parallel edges are taken one by one.
{ for i in $(seq 2 41); do echo "$i 0"; echo "$i 1"; done; for i in 1 2 3 4 5; do echo "43 42"; done; echo 44 42; } >edges.txt
gnn-import -q --directed -o w edges.txt
echo 0 1 >two
smp w -f 7 -b 2 --seeds two --labor -o x
check "gnn-sample --labor picks the same for two nodes with the same neighbours" sh -c "gnn-inspect x | grep -q 'nodes after each hop: 2 9$'"
echo 42 >loop
smp w -f 4 -b 1 --seeds loop --labor -o x
check "gnn-sample --labor takes parallel edges one by one" sh -c "gnn-inspect x | grep -q 'edges of each hop: 4'"

# Headers.
check "gnn-inspect names the rule" sh -c 'gnn-inspect labor | grep -q -e " --labor --batch-dependency 1$"'
check "gnn-inspect names the dependencies" sh -c 'smp() { gnn-sample --no-provenance "$@"; }; smp s -f 2 --steps 0 --labor --layer-dependency --batch-dependency 7 | gnn-inspect - | grep -q -e " --labor --layer-dependency --batch-dependency 7$"'
status 1 "gnn-inspect --diff tells a stream by LABOR from one without" gnn-inspect --diff labor uniform
status 3 "streams by LABOR and without cannot be one" sh -c 'cat labor uniform | gnn-gather -c s'
status 3 "streams of different dependencies cannot be one" sh -c 'cat labor layer | gnn-gather -c s'

# What is refused.
refuses 2 'no effect: all neighbours are taken' "to take all neighbours throughout" smp s -f -1,-1 --labor -o x2
status 2 "gnn-sample --labor refuses -r" smp s -f 3 --labor -r -o x2
status 2 "gnn-sample --labor refuses --weight" smp s -f 3 --labor --weight weight -o x2
status 2 "gnn-sample --labor refuses --disjoint" smp s -f 3 --labor --disjoint -o x2
status 2 "gnn-sample refuses --layer-dependency without --labor" smp s -f 3 --layer-dependency -o x2
status 2 "gnn-sample refuses --batch-dependency without --labor" smp s -f 3 --batch-dependency 2 -o x2
status 2 "gnn-sample refuses --batch-dependency 0" smp s -f 3 --labor --batch-dependency 0 -o x2
status 2 "gnn-train refuses --labor with --full-batch" gnn-train --store s --full-batch --labor -o x2
status 2 "gnn-train refuses --labor for a stream" sh -c 'gnn-train --labor -o x2 <labor'
check "nothing is left of what was refused" test -z "$(ls -d x2 x2.* 2>/dev/null)"

# Training, and going on with it.
t='--store s -f 5,3 --labor --batch-dependency 2 --eval valid --hidden 8'
check "gnn-train --labor trains" gnn-train -q $t --epochs 2 -o a.safetensors
gnn-sample -q s -f 5,3 --labor --batch-dependency 2 --epochs 2 --eval valid | gnn-gather -q s | gnn-train -q --hidden 8 -o b.safetensors
check "gnn-train --labor makes the model of a pipeline" gnn-inspect --diff --ignore provenance a.safetensors b.safetensors
done_testing
