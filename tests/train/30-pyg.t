# SPDX-License-Identifier: Apache-2.0
# The same models in PyG and here, both ways. The data were recorded by record.py; PyG reading ours runs where PyG is installed.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-predict
D=$GNN_TOP/tests/train/data
gap() { perl "$GNN_TOP/tests/train/npygap.pl" "$@"; }
gnn-import --directed "$D/graph.npz" -o g && gnn-import -q --directed "$D/weighted.npz" -o gw && gnn-import "$D/typed.zip" -o t && gnn-import "$D/gin-typed.zip" -o gt && gnn-partition -k 3 --method random g -o g3 &&
    gnn-partition -q -k 3 --method random gw -o gw3 &&
    gnn-partition -q -k 3 --method random gt -o gt3 || exit 1

for k in sage sage-norm gcn gin gin-batch typed gin-typed sage-batch gat gatv2 gat-typed gatv2-typed gat-res gatv2-res hgt-typed; do
    case $k in
    gin-typed) s=gt ;;
    *typed) s=t ;;
    *) s=g ;;
    esac
    check "gnn-predict reads PyG's state dict of $k" gnn-predict $s "$D/$k.safetensors" --output-kind probs -o $k.npy
    mv err said
    check "gnn-predict gives the probabilities of PyG to 1e-5 for $k" gap $k.npy "$D/$k.npy" 1e-5
done
check "gnn-predict says that a file from another program has no checksum" grep -q 'hgt-typed.safetensors: no checksum' said
# All relations share the parameters of R-GCN, in the order of the store's edge types.
for k in rgcn rgcn-bases; do
    check "gnn-predict reads PyG's state dict of $k" gnn-predict gt "$D/$k.safetensors" --output-kind probs -o $k.npy
    check "gnn-predict gives the probabilities of PyG to 1e-5 for $k" gap $k.npy "$D/$k.npy" 1e-5
    check "gnn-predict reads PyG's state dict of $k for a store of three parts" gnn-predict gt3 "$D/$k.safetensors" --output-kind probs -o $k.3.npy
    check "gnn-predict gives the same to 1e-6 for $k from three parts" gap $k.3.npy $k.npy 1e-6
done
refuses 3 'tensor convs.0.weight: shape (5, 7, 16) instead of (1, 11, 16)' "a state dict of R-GCN for another number of edge types" gnn-predict g "$D/rgcn.safetensors" -o x.npy
status 2 "gnn-train -m rgcn refuses node types of different widths" gnn-train --store t -m rgcn -f 3,3 --epochs 0:1 --eval none -o x
mv err said
check "gnn-train -m rgcn names the types, the widths and the remedy" \
    grep -q 'rgcn requires node types of the same width, but a has 7 and b 9 features; use --encoder N' said
# What a state dict does not tell of its layers is given, or assumed.
while read -r k opts; do
    check "gnn-predict reads PyG's state dict of $k with $opts" gnn-predict g "$D/$k.safetensors" $opts --output-kind probs -o $k.npy
    cp err said
    check "gnn-predict assumes nothing of $k with $opts" sh -c '! grep "read as" said'
    check "gnn-predict gives the probabilities of PyG to 1e-5 for $k with $opts" gap $k.npy "$D/$k.npy" 1e-5
    check "gnn-predict reads PyG's state dict of $k for a store of three parts with $opts" \
        gnn-predict g3 "$D/$k.safetensors" $opts --output-kind probs -o $k.3.npy
    check "gnn-predict gives the same to 1e-6 for $k from three parts with $opts" gap $k.3.npy $k.npy 1e-6
done <<EOF
sage-max --aggr max --no-normalize --activation relu --no-residual --feature-norm none
sage-sum --aggr sum --no-normalize --activation relu --no-residual --feature-norm none
sage-more --aggr max --normalize --activation relu --no-residual --feature-norm none
EOF
while IFS='|' read -r s k opts said; do
    check "gnn-predict reads a state dict of $k with $opts" gnn-predict $s "$D/$k.safetensors" $opts -o x.npy
    mv err said
    check "gnn-predict says how it reads it: $said" grep -q "$k.safetensors: assuming $said: a state dict does not record it" said
done <<EOF
g|sage-max|--normalize|--aggr mean --activation relu --no-residual --feature-norm none
g|sage-max|--activation elu --residual --feature-norm row|--aggr mean --no-normalize
g|sage-norm||LayerNorm(mode="node"), not PyG's default "graph"
g|gcn||GCNConv(normalize=True, add_self_loops=True, improved=False)
g|gat||GATConv(fill_value="mean")
t|typed||HeteroConv(aggr="sum")
gt|rgcn||RGCNConv(aggr="mean") with relations in the order of the store's edge types
t|hgt-typed||HGTConv with relations in the order of the store's edge types
EOF
# A model of gnn-train as a state dict, with the options that it was trained with, predicts the same.
while read -r s opts; do
    o=$(echo "$opts" | grep -oe '--\(activation\|edge-weight\|feature-norm\) [a-z]*' -e '--residual' | tr '\n' ' ')
    gnn-train -q --store $s -f 3,3,3 --epochs 1 --eval none --hidden 8 --no-layer-norm $opts -o whole.st && gnn-predict -q $s whole.st --output-kind probs -o whole.npy &&
        echo 'import json; head(lambda h: json.dumps({k: v for k, v in json.loads(h).items() if k != "__metadata__"}))' |
        /usr/bin/python3 "$GNN_TOP/tests/train/forge.py" whole.st . || exit 1
    check "gnn-predict reads a state dict with $o" gnn-predict -q $s 1 $o --output-kind probs -o dict.npy
    check "it predicts what the model with a description does" cmp whole.npy dict.npy
done <<EOF
g --activation elu
g --activation leaky --residual
g --feature-norm row
gw -m gcn --edge-weight weight
EOF
status 2 "gnn-predict refuses --activation for a model that says it itself" gnn-predict gw whole.st --activation elu -o x.npy
refuses 2 '--aggr: the layers of .*gcn.safetensors are gcn' "--aggr for a state dict of GCN" gnn-predict g "$D/gcn.safetensors" --aggr max -o x.npy
gnn-train -q --store g -f 3,3 --epochs 0:1 --eval none --hidden 8 --aggr max -o max.st
refuses 2 '--aggr: max.st is a model of gnn-train' "--aggr for a model that says it itself" gnn-predict g max.st --aggr mean -o x.npy
for k in sage gcn gin gat gatv2; do
    check "gnn-predict reads PyG's state dict of $k for a store of three parts" gnn-predict g3 "$D/$k.safetensors" --output-kind probs -o $k.3.npy
    check "gnn-predict gives the same to 1e-6 for $k from three parts" gap $k.3.npy $k.npy 1e-6
done
check "gnn-predict --memory 1 predicts with tables on disk" \
    env TMPDIR=. gnn-predict g "$D/sage-norm.safetensors" --memory 1 --output-kind probs -o disk.npy
check "gnn-predict gives the same bytes from tables on disk as from memory" cmp disk.npy sage-norm.npy
status 3 "gnn-predict refuses PyG's state dict of another graph" gnn-predict t "$D/sage.safetensors" -o x.npy

# What is used of edges is not in a state dict; --init does not need it to be.
while read -r k opts; do
    check "gnn-train starts from PyG's state dict of $k" gnn-train --store gw $opts -f 3,3 --hidden 16 \
        --init "$D/$k.safetensors" --lr 0 --dropout 0 --no-layer-norm --epochs 1 --eval none -q -o $k.st
    check "gnn-predict reads a model of $k" gnn-predict -q gw $k.st --output-kind probs -o $k.npy
    check "gnn-predict gives the probabilities of PyG to 1e-5 for $k" gap $k.npy "$D/$k.npy" 1e-5
done <<EOF
gcn-weight -m gcn --edge-weight weight
gine -m gine --edge-features --train-eps
gat-edge -m gat --edge-features --heads 4
gatv2-edge -m gatv2 --edge-features --heads 4
EOF
gnn-train --store gw -m gcn --edge-weight weight -f 3,3 --hidden 16 --init "$D/gcn-weight.safetensors" --no-layer-norm --epochs 1 --eval none -o x.st 2>said
check "gnn-train --init names the options that it assumes of a state dict" grep -q 'safetensors: assuming --activation relu --no-residual --feature-norm none: a state dict does not record it' said
check "gnn-train --init names what no option changes of a state dict" grep -q 'assuming GCNConv(normalize=True, add_self_loops=True, improved=False): a state dict' said
for k in gine gat-edge gatv2-edge; do
    for s in gw gw3; do
        check "gnn-predict reads PyG's state dict of $k for store $s" gnn-predict -q $s "$D/$k.safetensors" --output-kind probs -o edges.npy
        check "gnn-predict gives the probabilities of PyG to 1e-5 for PyG's state dict of $k and store $s" gap edges.npy "$D/$k.npy" 1e-5
    done
done
refuses 2 'edges have no features x, which the model uses' "a state dict with lin_edge for a graph without features of edges" gnn-predict g "$D/gat-edge.safetensors" -o x.npy
refuses 3 'edges of type node/to/node have 0 features x; the model needs 5' "a GINE for a graph without features of edges" gnn-predict g gine.st -o x.npy
status 2 "gnn-train -m gine requires --edge-features" gnn-train --store gw -m gine -f 3,3 -o x
mv err said
check "gnn-train -m gine says that it requires --edge-features" grep -q 'gine requires --edge-features' said
status 2 "gnn-train --edge-features requires features" gnn-train --store g -m gine --edge-features -f 3,3 -o x
gnn-sample -q gw -f 3,3 -b 20 --epochs 1 | gnn-gather -q gw >bare.gnb
refusing=gnn-train refuses 3 'use gnn-sample --edge-ids and gnn-gather --fields x,y$' "a stream without features of edges" gnn-train -i bare.gnb -m gine --edge-features -o x
gnn-sample -q gw -f 3,3 -b 20 --epochs 1 --edge-ids | gnn-gather -q gw >full.gnb
check "gnn-train learns from a stream with features of edges" gnn-train -q --no-provenance -i full.gnb -m gine --edge-features -o stream.st
gnn-train -q --no-provenance --store gw -f 3,3 -b 20 --epochs 1 --eval none -m gine --edge-features -o store.st
check "gnn-train makes the same model from a stream with features of edges as from the store" cmp stream.st store.st
refuses 3 'edge type node/to/node has no field weight to weight its edges by' "a GCN with edge weights for a graph without" gnn-predict g gcn-weight.st -o x.npy
status 2 "gnn-train refuses weights of edges that have none" gnn-train --store g -m gcn --edge-weight weight -f 3,3 -o x
refusing=gnn-train refuses 2 '--edge-weight requires --model gcn' "--edge-weight for a layer that has no use for it" gnn-train --store gw -m gin --edge-weight weight -f 3,3 -o x
perl -e 'print "source,target,weight\n0,1,1\n1,0,-0.5\n"' >minus.csv
perl -e 'print "0\n1\n"' >miny.csv
gnn-import -q --directed --labels miny.csv --split random:0.5,0.5,0 -o minus minus.csv || exit 1
check "gnn-train learns a GCN on a graph without features" gnn-train -q --store minus -m gcn -f 3,3 --epochs 1 --eval none -o x
refusing=gnn-train refuses 3 "'edge/node/to/node/weight' is -0.5 at edge 0: weights of neighbours are finite numbers >= 0" "negative weights" gnn-train --store minus -m gcn --edge-weight weight -f 3,3 --eval none -o x

# As GINConv keeps it, eps is a vector of one number.
perl -0777 -pe 's/("convs.0.eps":\{"dtype":"F32","shape":)\[1\]/$1\[ \]/' "$D/gin.safetensors" >eps.safetensors
refuses 3 'tensor convs.0.eps: shape' "a state dict whose eps has another shape" gnn-predict g eps.safetensors -o x.npy
status 2 "gnn-train -m gin refuses sources and destinations of different widths" \
    gnn-train --store t -m gin -f 3,3 --epochs 0:1 --eval none -o x
mv err said
check "gnn-train -m gin names the edge type and both widths" \
    grep -q 'gin requires source and destination nodes of the same width, but b/of.x/a has 9 and 7 features; use --encoder N, or sage' said

py=${GNN_PYTHON:-/usr/bin/python3}
have=$($py -c 'import torch_geometric, safetensors.torch' 2>/dev/null && echo yes)
train() { gnn-train --store "$1" -b 7 --epochs 0:3 --hidden 16 --eval none --lr 0.01 --dropout 0 --no-layer-norm --no-provenance -q -o "$2" $3; }
while read -r k s opts; do
    check "gnn-train trains $k for PyG" train $s $k.st "$opts"
    gnn-predict $s $k.st --output-kind probs -o $k.p.npy || exit 1
    if [ -z "$have" ]; then
        skip "PyG loads the $k model of gnn-train and predicts the same" "$py has no torch_geometric or safetensors"
        continue
    fi
    check "PyG loads the $k model of gnn-train and predicts the same" sh -c "
        cd '$D' && d=\$($py ../record.py --check $k '$PWD/$k.st' '$PWD/$k.p.npy') && echo \"\$d\" &&
        perl -e 'exit !(\$ARGV[0] < 1e-5)' \"\$d\""
done <<EOF
sage g -f 3,3
sage-norm g -f 3,3,3 --layer-norm
sage-batch g -f 3,3,3 --batch-norm
gcn g -m gcn -f 3,3
typed t -f 3,3
gin g -m gin --train-eps -f 3,3
gin-batch g -m gin -f 3,3,3 --batch-norm
gin-typed gt -m gin --train-eps -f 3,3 --layer-norm
sage-max g --aggr max -f 3,3
sage-sum g --aggr sum -f 3,3
sage-more g --aggr max --normalize --project -f 3,3
gcn-weight gw -m gcn --edge-weight weight -f 3,3
gine gw -m gine --edge-features --train-eps -f 3,3
gat-edge gw -m gat --edge-features --heads 4 -f 3,3
gatv2-edge gw -m gatv2 --edge-features --heads 4 -f 3,3
gat g -m gat --heads 4 -f 3,3
gatv2 g -m gatv2 --heads 4 -f 3,3
gat-res g -m gat --heads 4 --conv-residual -f 3,3
gatv2-res g -m gatv2 --heads 4 --conv-residual -f 3,3
gatv2-share g -m gatv2 --heads 4 --share-weights --no-self-loops -f 3,3,3
gat-typed t -m gat --heads 4 -f 3,3
gatv2-typed t -m gatv2 --heads 4 -f 3,3
hgt-typed t -m hgt --heads 4 -f 3,3
EOF

# Models of the Python package (model.py), with what stands around the layers: outputs, and a step of SGD on all nodes at once.
seq 0 59 >g.seeds && seq 0 39 >t.seeds && cp g.seeds gw.seeds && cp t.seeds gt.seeds
step() { # STORE LAYERS FROM TO OPTIONS
    fields=x,y,degree
    case $5 in *--edge-weight*) fields=x,y,degree:weight,weight ;; *--edge-features*) fields=x,y ;; esac
    gnn-sample -q --edge-ids "$1" --seeds "$1.seeds" -b 60 --frontier new -f "$(seq -s , "$2" | sed 's/[0-9]*/-1/g')" |
        gnn-gather -q -F "$fields" "$1" |
        gnn-train --init "$3" --optimizer sgd --lr 64 --dropout 0 --hidden 8 --no-layer-norm --keep last -q -o "$4" $5
}
while read -r k s layers opts; do
    [ "$k" != '#' ] || continue
    was=$D/case-$k.safetensors
    check "gnn-predict reads the model $k of load_model" gnn-predict $s "$was" --output-kind probs -o $k.npy
    check "gnn-predict gives the probabilities of PyG to 1e-5 for $k" gap $k.npy "$D/case-$k.npy" 1e-5
    check "gnn-train takes a step from the model $k of load_model" step $s $layers "$was" $k.after "$opts"
    check "gnn-train takes the step that PyG's gradients make for $k, to 1e-5 of its size" \
        perl "$GNN_TOP/tests/train/stepgap.pl" "$was" "$D/case-$k.step.safetensors" $k.after 1e-5
    [ -n "$have" ] || { skip "load_model loads the $k model of gnn-train and predicts the same" "$py has no torch_geometric or safetensors"; continue; }
    train $s $k.st "-f $(seq -s , "$layers" | sed 's/[0-9]*/3/g') $opts" && gnn-predict $s $k.st --output-kind probs -o $k.p.npy || exit 1
    check "load_model loads the $k model of gnn-train and predicts the same" sh -c "
        cd '$D' && d=\$($py ../record.py --load $s '$PWD/$k.st' '$PWD/$k.p.npy') && echo \"\$d\" &&
        perl -e 'exit !(\$ARGV[0] < 1e-5)' \"\$d\""
done <"$GNN_TOP/tests/train/cases.txt"
# Models that leave out edges, of a layer or of types.
while read -r s opts; do
    name="load_model leaves out the edges that gnn-train $opts never saw, as gnn-predict does"
    [ -n "$have" ] || { skip "$name" "$py has no torch_geometric or safetensors"; continue; }
    train $s out.st "$opts" && gnn-predict -q $s out.st --output-kind probs -o out.npy || exit 1
    check "$name" sh -c "cd '$D' && d=\$($py ../record.py --load $s '$PWD/out.st' '$PWD/out.npy') && echo \"\$d\" &&
        gnn-inspect --json '$PWD/out.st' | grep -q untrained && perl -e 'exit !(\$ARGV[0] < 1e-5)' \"\$d\""
done <<EOF
g -f 3,0
g -m gcn -f 3,0
gw -m gcn --edge-weight weight -f 3,0
gw -m gine --edge-features -f 0,3
gw -m gat --edge-features --heads 4 -f 3,0
gt -m gin -f a/cites/a=3,0
t -f a/cites/a=3,3
t -m gat --heads 4 -f a/cites/a=3,3 -f b/of.x/a=3,0
gt -m rgcn -f a/cites/a=3,3 -f b/of.x/a=3,0
t -m hgt --heads 4 -f a/cites/a=3,3 -f b/of.x/a=3,0
EOF
# KIND MEMBERS: what load_model says of the description of a model of that kind, with further members.
unknown() {
    PYTHONPATH=$GNN_TOP/formats/python PYTHONDONTWRITEBYTECODE=1 $py -c 'import json, sys; from gnntools.model import GnnModel; from safetensors import safe_open
GnnModel({**json.loads(safe_open(sys.argv[1], "pt").metadata()["gnn"]), **json.loads(sys.argv[2])})' "$D/case-$1.safetensors" "$2" 2>&1 | tail -n 1
}
while read -r k members said; do
    [ -n "$have" ] || { skip "load_model refuses what it does not know: $said" "$py has no torch_geometric or safetensors"; continue; }
    check "load_model refuses what it does not know: $said" test "$(unknown "$k" "$members")" = "NotImplementedError: $said"
done <<EOF
sage {"kind":"mlp"} kind mlp
gin {"jk":"lstm","activation":"tanh"} activation tanh, jk lstm
sage {"train_eps":true,"edges":"x"} edges, train_eps
EOF

# Evaluation on batches of full neighbourhoods is exact inference: the losses agree.
loss() { perl -MJSON::PP -ne '$j = decode_json($_); $v = $j->{valid}{loss} if $j->{valid};
    $v = $j->{loss} if $j->{event} eq "score"; END { printf "%.9f\n", $v }' "$1"; }
while read -r s opts; do
    gnn-train --store $s --lr 0.01 --dropout 0 --no-layer-norm $opts -b 7 --hidden 8 --epochs 0:4 --eval valid --metric loss -q -o e.st --metrics e.json &&
        gnn-predict $s e.st -n --split valid --metric loss -q --metrics p.json || exit 1
    check "gnn-train evaluates full neighbourhoods as gnn-predict does ($s $opts): loss $(loss e.json) and $(loss p.json)" \
        perl -e 'exit !(abs($ARGV[0] - $ARGV[1]) < 1e-5)' "$(loss e.json)" "$(loss p.json)"
done <<EOF
g -f -1,-1 -m gcn --frontier new
g -f -1,-1,-1 -m gcn --frontier all --layer-norm --residual
g3 -f -1,-1 -m gcn
g -f -1,-1,-1 --frontier new --batch-norm
g3 -f -1,-1,-1 --batch-norm --residual
t -f -1,-1 --batch-norm
g -f -1,-1 --frontier new --feature-norm row
g -f -1,-1,-1 --frontier all --residual
t -f -1,-1 --frontier new --layer-norm
t -f -1,-1,-1 --frontier all --residual
gw -f -1,-1 -m gcn --edge-weight weight --frontier new
gw -f -1,-1,-1 -m gcn --edge-weight weight --frontier all --layer-norm
gw -f -1,-1 -m gine --edge-features --frontier new
gw -f -1,-1,-1 -m gine --edge-features --frontier all --batch-norm
gw -f -1,-1 -m gat --edge-features --heads 2 --frontier new
gw3 -f -1,-1,-1 -m gat --edge-features --heads 4 --last-heads concat --layer-norm
gw3 -f -1,-1 -m gatv2 --edge-features --heads 2 --frontier new
gw -f -1,-1,-1 -m gatv2 --edge-features --heads 4 --share-weights --batch-norm
g -f -1,-1 -m gin --frontier new
g3 -f -1,-1,-1 -m gin --train-eps --frontier all --layer-norm --residual
g3 -f -1,-1 -m gin --batch-norm
gt -f -1,-1,-1 -m gin --train-eps --batch-norm --residual
g3 -f -1,-1,-1 --encoder 8 --ffn --head 0 --layer-norm
t -f -1,-1 --encoder 6 --ffn --head 5,4 --batch-norm --activation elu --residual-projection
g3 -f -1,-1,-1 -m gcn --jk cat --head 6 --layer-norm --residual --residual-projection --activation leaky
t -f -1,-1 --frontier all --jk max --head 0
g3 -f -1,-1,-1 --aggr max --normalize --project --frontier new --layer-norm --residual
t -f -1,-1 --aggr max --normalize
t -f -1,-1 --frontier all --aggr sum --project --batch-norm
gt -f -1,-1 -m rgcn --frontier new
gt3 -f -1,-1,-1 -m rgcn --bases 2 --frontier all --layer-norm --residual
t -f -1,-1 -m rgcn --bases 2 --encoder 6 --batch-norm --ffn --head 0
t -f -1,-1 --aggr mean --normalize --residual
g -f -1,-1 -m gat --heads 2 --frontier new
g3 -f -1,-1,-1 -m gat --heads 4 --last-heads concat --layer-norm --residual
t -f -1,-1 -m gat --heads 2 --head 0 --frontier all --batch-norm
g3 -f -1,-1 -m gatv2 --heads 2 --share-weights --negative-slope 0.1
t -f -1,-1,-1 -m gatv2 --heads 8 --no-self-loops --layer-norm
g3 -f -1,-1,-1 -m gat --heads 2 --conv-residual --frontier all --batch-norm
t -f -1,-1 -m gatv2 --heads 2 --conv-residual --last-heads concat --ffn
g3 -f -1,-1 -m hgt --heads 4 --frontier new --layer-norm
t -f -1,-1,-1 -m hgt --heads 2 --encoder 8 --head 0 --frontier all --batch-norm --residual
EOF
done_testing
