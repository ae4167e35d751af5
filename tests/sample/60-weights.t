# SPDX-License-Identifier: Apache-2.0
# gnn-sample --weight: neighbours in proportion to a field of edges. tests/rules compares the ways to draw them.
. "$GNN_TOP/tests/lib.sh"
refusing='gnn-sample --weight'
smp() { gnn-sample --no-provenance "$@"; }
gnn-import -q -o s sbm:nodes=1500,degree=12,weights=1

smp s -f 5,3 -b 60 --weight weight -o whole
smp s -f 5,3 -b 60 -o plain
check "gnn-sample --weight draws other batches than without" sh -c '! cmp -s whole plain'
status 1 "gnn-inspect --diff tells a stream by weight from one without" gnn-inspect --diff whole plain
check "gnn-inspect names the field" sh -c 'gnn-inspect whole | grep -q -e " --weight weight"'
status 3 "streams by weight and without cannot be one" sh -c 'cat whole plain | gnn-gather -c s'

# Nodes 1, 2 and 3 lead to node 0, with weights 0, 1 and 3; node 4 has in-edges of weight 0 only.
cat >edges.csv <<END
source,target,w,signed
1,0,0,1
2,0,1,-2
3,0,3,1
1,4,0,0
2,4,0,0
END
gnn-import -q --directed -o w edges.csv
seq 1 20000 | sed 's/.*/0/' >zeros
picks() { smp w -f "$1" -b 1 --seeds zeros --weight w --edge-ids $2 -o picked && gnn-inspect --export p.npz picked &&
    unzip -p p.npz '*/hop/0/*/id.npy' | perl -0777 -ne 's/\x93NUMPY.*?\n//sg; print join("\n", unpack("Q<*", $_)), "\n"' | sort -n | uniq -c; }
check "gnn-sample --weight never takes a neighbour of weight 0" sh -c '! grep -q " 0$"' <<END
$(picks 1)
END
share=$(picks 1 | awk '$2 == 2 { print $1 / 20000 }')
echo "# share of weight 3 beside 1: $share"
check "gnn-sample --weight takes weight 3 three times as often as weight 1" awk "BEGIN { exit !($share > 0.735 && $share < 0.765) }"
check "gnn-sample --weight takes all that have a weight where the fan-out allows" test "$(picks 2 | awk '{ print $1, $2 }' | tr '\n' ' ')" = "20000 1 20000 2 "
check "gnn-sample --weight -f -1 takes all that have a weight" sh -c "gnn-sample w -f -1,1 --frontier new --seeds zeros -b 1 --steps 0:1 --weight w -o o && gnn-inspect o | grep -q 'edges of each hop: 2 0'"
echo 4 >four
check "gnn-sample --weight draws for a node whose in-edges weigh nothing" smp w -f 2 --seeds four --weight w -o none
mv err said
check "gnn-sample --weight says how many such nodes there are" grep -q '1 node has in-edges whose w is 0 throughout' said
check "gnn-sample --weight takes none of their neighbours" sh -c "gnn-inspect none | grep -q 'edges of each hop: 0'"

# What is refused.
refuses 2 "did you mean 'weight'" "a field that there is not" smp s -f 3 --weight wieght -o x
gnn-import -q -o bare sbm:nodes=100
status 2 "gnn-sample --weight refuses a store without edge fields" smp bare -f 3 --weight weight -o x
refuses 2 'no effect: all neighbours are taken' "to take all neighbours throughout" smp s -f -1,-1 --weight weight -o x
refuses 3 "edge/node/to/node/signed' has values that are negative (the first is -2, at edge 1): --weight requires finite numbers >= 0" "negative weights" smp w -f 1 --seeds four --weight signed -o x
status 2 "gnn-train refuses --weight with --full-batch" gnn-train --store s --full-batch --weight weight -o x
status 2 "gnn-train refuses --weight for a stream" sh -c 'gnn-train --weight weight -o x <whole'
check "nothing is left of what was refused" test -z "$(ls -d x x.* 2>/dev/null)"
for bad in nan inf; do
    printf 'source,target,w\n1,0,1\n2,0,%s\n' $bad >bad.csv
    gnn-import -q --force --directed -o bad bad.csv
    refuses 3 'at edge 1' "$bad" smp bad -f 1 --seeds zeros --weight w -o x
done

# Training.
check "gnn-train --weight trains" gnn-train -q --store s -f 5,3 --weight weight --epochs 2 --eval valid --hidden 8 -o a.safetensors
gnn-sample -q s -f 5,3 --weight weight --epochs 2 --eval valid | gnn-gather -q s | gnn-train -q --hidden 8 -o b.safetensors
check "gnn-train --weight makes the model of a pipeline" gnn-inspect --diff --ignore provenance a.safetensors b.safetensors
done_testing
