# SPDX-License-Identifier: Apache-2.0
# gnn-train on links: decoders, the same models from a pipe and from a store, resumption, and what is refused. Gradients are in
# tests/unit/test_net.c.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-train
gnn-import -q -o s sbm:nodes=600,degree=8,features=8
gnn-import -q -o h sbm:nodes=300,types=3,features=6
gnn-partition -q -k 3 -o sp s
links='--links node/to/node -f 5,3 -b 256'
for d in dot cosine mlp; do
    negatives='--negatives binary:1 --strict'
    gnn-sample -q s $links $negatives --exclude reverse --epochs 2 --no-provenance | gnn-gather -q s | gnn-train -q --decoder $d --hidden 8 --no-provenance -o piped
    gnn-train -q --store s $links $negatives --epochs 2 --decoder $d --hidden 8 --no-provenance -o stored
    check "gnn-train makes the model of a pipeline: $d" gnn-inspect --diff piped stored
    gnn-train -q --store sp $links $negatives --epochs 2 --decoder $d --hidden 8 --no-provenance -o parted
    check "partitions do not change what is learned: $d" gnn-inspect --diff --ignore provenance stored parted
    gnn-train -q --store h --links t0/up/t1 --negatives triplet:2 --negative-end both -f 4,4 -b 100 --epochs 2 --decoder $d --hidden 8 --metrics m.json -o typed
    check "gnn-train learns from links between types: $d" grep -q '"loss"' m.json
    check "gnn-inspect tells of the model: $d" sh -c 'gnn-inspect typed | grep -q "task   links"'
done
check "a model learns from links that needs degrees" gnn-train -q --store s $links -m gcn --hidden 8 --epochs 1 -o x
gnn-train -q --store s $links -m gat --heads 2 --decoder cosine --hidden 8 --epochs 1 -o gat
check "a model of attention heads has heads of links, too" gnn-train -q --store s $links -m gat --heads 2 --decoder cosine --hidden 8 --epochs 1 --init gat -o x
gnn-train --store s --links node/to/node -f 4,4 --epochs 30 --lr 0.02 --dropout 0 --hidden 16 --decoder mlp --metrics m.json -o x 2>said
check "gnn-train says the default of negatives" grep -q 'negatives: one for each link' said
check "the loss falls" /usr/bin/python3 -c '
import json
x = [e["loss"] for e in map(json.loads, open("m.json")) if e.get("event") == "epoch"]
assert len(x) == 30 and x[-1] < 0.9 * x[0] and x[-1] < 0.65, x'

# A run that is cut goes on to the same model.
learn="-q --store s $links --negatives binary:1 --decoder mlp --hidden 8 --no-provenance --epochs 4"
gnn-train $learn -o whole
gnn-train $learn --epochs 2 --checkpoint c -o x
gnn-train $learn --checkpoint c --resume -o resumed
check "a resumed run makes the same model" gnn-inspect --diff whole resumed
status 3 "a run with other negatives does not go on" gnn-train -q --store s $links --negatives binary:2 --decoder mlp --hidden 8 --epochs 4 --checkpoint c --resume -o x
status 3 "a run with another decoder does not go on" gnn-train -q --store s $links --negatives binary:1 --decoder dot --hidden 8 --epochs 4 --checkpoint c --resume -o x
gnn-train -q --store s $links --negatives binary:1 --init whole --epochs 1 -o x 2>said
check "gnn-train goes on with the decoder of --init" sh -c 'gnn-inspect x | grep -q decoder.lins.1.weight'

# What cannot be.
refuses 2 'requires links' 'a decoder of nodes' gnn-train --store s -f 4 --decoder mlp -o x
refuses 2 'see --decoder' 'a head' gnn-train --store s $links --head 0 -o x
refuses 2 'does not apply to links' 'weights of classes' gnn-train --store s $links --class-weights balanced -o x
refuses 2 'nothing is sampled' 'full batches' gnn-train --store s --links node/to/node --full-batch -o x
refuses 2 'is of nodes, not of links' 'a set of nodes' gnn-train --store s $links --eval valid -o x
refuses 2 'requires --store' 'links of a stream as an option' sh -c "gnn-sample -q s $links | gnn-train --links node/to/node -o x"
refuses 2 'have no negatives' 'links without negatives' sh -c "gnn-sample -q s $links | gnn-gather -q s | gnn-train -o x"
gnn-train -q --store s -f 5,3 --epochs 1 --hidden 8 -o nodes
refuses 3 'links task' 'to go on with a model of nodes' gnn-train --store s $links --init nodes -o x
refusing=gnn-gather
refuses 2 'labels are of nodes' 'labels of links' sh -c "gnn-sample -q s $links | gnn-gather s -F x,y -o x"
refusing=gnn-predict
mkdir forged
if /usr/bin/python3 "$GNN_TOP/tests/train/forge.py" whole forged <<'EOF'; then
d["decoder"] = "bad"
del d["decoder"]
d["link_heads"] = 9
d["head"] = [1]
d["task"] = "binary"
EOF
    for k in 1 2 3 4 5; do
        refuses 3 'of the model' "a description that is wrong ($k)" gnn-predict s forged/$k
    done
else
    skip 'descriptions that are wrong are refused' 'python3 finds no libxxhash'
fi
check "nothing is left of them" sh -c '! ls x.tmp* 2>/dev/null'
done_testing
