# SPDX-License-Identifier: Apache-2.0
# --disjoint: a tree for each seed, with nodes and draws of its own.
. "$GNN_TOP/tests/lib.sh"
smp() { gnn-sample --no-provenance "$@"; }
trees() { /usr/bin/python3 "$GNN_TOP/tests/sample/trees.py" "$@"; }
gnn-import -q -o s sbm:nodes=1500,degree=12
gnn-import -q -o h sbm:nodes=700,types=3,weights=1
gnn-partition -q -k 4 -o s4 s

smp s -f 5,3 -b 60 --disjoint -o whole
smp s -f 5,3 -b 60 -o plain
status 1 "gnn-inspect --diff tells a stream of trees from one without" gnn-inspect --diff whole plain
check "gnn-inspect names the trees" sh -c 'gnn-inspect whole | grep -q -e " --disjoint"'
status 3 "streams of trees and without cannot be one" sh -c 'cat whole plain | gnn-gather -c s'

# Trees.
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    check "trees share no node, and edges stay in them" trees whole
    smp s -f 5,3 -b 60 --steps 0 --no-shuffle --disjoint -o a
    smp s -f 5,3 -b 37 --steps 0 --no-shuffle --disjoint -o b
    check "a tree is the same in batches of other sizes" trees a b
    smp h -f 5,3 -b 60 --steps 0 --no-shuffle --disjoint --frontier new -o a
    smp h -f 5,3 -b 37 --steps 0 --no-shuffle --disjoint --frontier new -o b
    check "a tree of several node types is the same in batches of other sizes" trees a b
else
    skip "trees share no node, and edges stay in them" "no numpy"
fi

# One seed: nothing to be disjoint from.
smp s -f 5,3,2 -b 1 --steps 0:40 --edge-ids -o shared
smp s -f 5,3,2 -b 1 --steps 0:40 --edge-ids --disjoint -o alone
for f in shared alone; do
    mkdir $f.d && gnn-inspect --export $f.npz $f && (cd $f.d && unzip -q ../$f.npz && find . -name '*.npy' ! -path '*/tree/*' | sort | xargs cksum) >$f.sums
done
check "with one seed in a batch, --disjoint draws what is drawn without" sh -c 'test $(wc -l <shared.sums) -gt 300 && cmp shared.sums alone.sums'

# A seed that occurs twice has two trees.
printf '7\n9\n7\n' >twice
check "gnn-sample --disjoint takes a seed twice" smp s -f -1 -b 3 --seeds twice --disjoint -o o
check "gnn-sample --disjoint keeps all three seeds" sh -c 'gnn-inspect o | grep -q " 3 seeds"'
check "gnn-sample --disjoint from a pipe draws the same" sh -c 'smp() { gnn-sample --no-provenance "$@"; }; smp s -f -1 -b 3 --seeds - --disjoint <twice | gnn-inspect --verify -'

# Version.
check "streams of trees are of version 2" test "$(od -An -tu2 -j4 -N2 whole)" -eq 2
check "other streams are of version 1" test "$(od -An -tu2 -j4 -N2 plain)" -eq 1
(head -c 4 whole; printf '\001'; tail -c +6 whole) >old
status 3 "a stream of trees of version 1 is refused" gnn-inspect --verify old
(head -c 4 whole; printf '\005'; tail -c +6 whole) >new
status 3 "a stream of version 5 is refused" gnn-inspect --verify new
mv err said
check "and the message says that it is newer" grep -q newer said

# Gathering and training.
check "gnn-gather gathers for batches with trees" sh -c 'gnn-gather -q -i whole s -o gathered && gnn-inspect --verify gathered --against s'
check "gnn-gather gathers the same from 4 partitions" sh -c 'gnn-sample -q s4 -f 5,3 -b 60 --disjoint | gnn-gather -q s4 -F x,y | gnn-inspect --verify - --against s4'
gnn-train -q --store s -f 5,3 -b 60 --disjoint --epochs 2 --eval valid --hidden 8 -o a.safetensors
gnn-sample -q s -f 5,3 -b 60 --disjoint --epochs 2 --eval valid | gnn-gather -q s | gnn-train -q --hidden 8 -o b.safetensors
check "gnn-train --disjoint makes the model of a pipeline" gnn-inspect --diff --ignore provenance a.safetensors b.safetensors
gnn-train -q --store s -f 5,3 -b 60 --epochs 2 --eval valid --hidden 8 -o c.safetensors
status 1 "gnn-train --disjoint makes another model than without" gnn-inspect --diff --ignore provenance a.safetensors c.safetensors
gnn-sample -q s -f 6,4 -b 60 --disjoint --count --frequency f.npy >counted
check "gnn-sample --frequency counts a node once in a batch" test "$(tail -c 6000 f.npy | od -An -v -tu4 -w4 | sort -n | tail -n 1)" -le 15
check "gnn-gather --plan counts batches with trees" gnn-gather -i whole --plan --cache 0.1 s

# What is refused.
status 2 "gnn-train refuses --disjoint with --full-batch" gnn-train --store s --full-batch --disjoint -o x
status 2 "gnn-train refuses --disjoint for a stream" sh -c 'gnn-train --disjoint -o x <whole'
check "nothing is left of what was refused" test -z "$(ls -d x x.* 2>/dev/null)"
done_testing
