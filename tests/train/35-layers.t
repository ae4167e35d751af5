# SPDX-License-Identifier: Apache-2.0
# Every layer on graphs and options that are hard on it: a node with very many neighbours, nodes and edge types without edges,
# options of other layers, parameters of other models.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-train

# Node 0 has 300,000 edges, self-loops and parallel edges among them; the last node has none that lead to it.
perl -e 'print "source,target,weight\n"; print $_ % 900, ",0,", $_ % 7, "\n" for 1 .. 300000; print "5,$_,1\n" for 1 .. 899; print "999,0,1\n"' >hub.csv
perl -e 'print $_ % 3, "\n" for 1 .. 901' >y.csv
perl -e 'print join(",", $_ % 3, $_ % 5, 1), "\n" for 1 .. 901' >x.csv
check "gnn-import imports a node with 300,000 edges" \
    gnn-import -q --directed --labels y.csv --features x.csv --split random:0.5,0.25,0.25 -o hub hub.csv
# The same with one feature per edge.
sed '2,$s/$/.5/' hub.csv >hubx.csv
gnn-import -q --directed --labels y.csv --features x.csv --split random:0.5,0.25,0.25 --map x=weight -o hubx hubx.csv
train() { gnn-train -q --no-provenance --eval none --hidden 8 --epochs 1 --lr 0.01 "$@"; }
while read -r opts; do
    case $opts in *--edge-features*) hub=hubx ;; *) hub=hub ;; esac
    check "gnn-train $opts learns with a node of 300,000 neighbours and a node of none" train --store $hub -f -1,-1 -b 600 $opts -o m.st
    check "gnn-predict predicts with $opts for a node of 300,000 neighbours and a node of none" gnn-predict -q $hub m.st --output-kind probs -o p.npy
    check "gnn-predict gives finite probabilities with $opts" /usr/bin/perl -e 'local $/; open F, "<:raw", "p.npy"; $_ = <F>;
        my @p = unpack "f<*", substr $_, 10 + unpack "v", substr $_, 8, 2; exit !(@p == 2703 && !grep { !($_ >= 0 && $_ <= 1) } @p)'
done <<EOF
-m sage
-m sage --aggr max --normalize
-m sage --aggr sum --lr 1e-9
-m gcn
-m gcn --edge-weight weight
-m gin --lr 1e-9
-m gat --heads 2 --attention-dropout 0.3
-m gat --heads 2 --no-self-loops
-m gat --heads 2 --edge-features
-m gatv2 --heads 2
-m gatv2 --heads 2 --edge-features
-m rgcn
-m rgcn --bases 2
-m hgt --heads 2 --head 0
EOF

# An edge type of which there are no edges.
/usr/bin/python3 - "$GNN_TOP/tests/train/data" <<'EOF'
import gzip, sys, zipfile
for kind in ("typed", "gin-typed"):
    with zipfile.ZipFile("%s/%s.zip" % (sys.argv[1], kind)) as old, zipfile.ZipFile(kind + ".zip", "w") as new:
        for n in old.namelist():
            data = old.read(n)
            if "relations/a___cites___a/edge" in n:
                data = gzip.compress(b"")
            if "relations/a___cites___a/num-edge-list" in n:
                data = gzip.compress(b"0\n")
            new.writestr(n, data)
EOF
for kind in typed gin-typed; do
    check "gnn-import imports an edge type without edges ($kind)" gnn-import -q $kind.zip -o $kind
done
while read -r store opts; do
    check "gnn-train $opts learns with an edge type without edges" train --store $store -f 3,3 -b 7 $opts -o m.st
    check "gnn-predict predicts with $opts for an edge type without edges" gnn-predict -q $store m.st -o p.npy
done <<EOF
typed -m sage
typed -m sage --aggr max
gin-typed -m gin
typed -m gat --heads 2
typed -m gatv2 --heads 2
typed -m gat --heads 2 --conv-residual
typed -m rgcn --bases 2 --encoder 6
typed -m hgt --heads 2
EOF

# Options of other layers, and such as exclude each other.
gnn-import -q -o s sbm:nodes=200,features=6
while IFS='|' read -r opts message; do
    refuses 2 "$message" "$opts" gnn-train --store s -f 3,3 $opts -o x
done <<EOF
-m sage --heads 2|--heads requires --model gat
-m gat --aggr max|--aggr requires --model sage
-m sage --conv-residual|--conv-residual requires --model gat or gatv2
-m gin --share-weights|--share-weights requires --model gatv2
-m sage --edge-weight w|--edge-weight requires --model gcn
-m gcn --edge-features|--edge-features requires --model gine or gat or gatv2
-m gat --edge-features|edges have no features x, which the model uses
-m gat --heads 3 --hidden 8|heads
-m hgt --heads 3 --hidden 8|multiples
-m gat --heads 0|--heads
-m gat --heads 65|--heads
-m gat --attention-dropout 1|--attention-dropout
-m gat --heads 2 --last-heads concat --head 0|last-heads has no effect
--jk cat|--jk requires --head
--residual-projection|--residual-projection requires --residual
--ffn --no-residual|--ffn and --no-residual exclude each other
--head 0,4|--head: 0: expected
--head -1|--head
--head 4,|--head
--encoder 0|--encoder
--activation gelu2|--activation
--layer-norm --batch-norm|exclude each other
--jk max --head 0 --hidden 8,9|layers of equal width, not 8 and 9
--hidden 8,8|--hidden names 2 widths; 2 hops need 1
--hidden 8 --head 0 --hidden 8,8,8|--hidden names 3 widths; 2 hops need 2
EOF
status 2 "gnn-train refuses --ffn without a hidden layer" gnn-train --store s -f 3 --ffn -o x
status 2 "gnn-train refuses --activation without hidden rows" gnn-train --store s -f 3 --activation elu -o x

# Parameters of other models, as state dicts: without the description, which --init compares (26-init.t).
train --store s -f 3,3 -m gat --heads 4 -o gat4.st
train --store s -f 3,3 -m gat --heads 4 --conv-residual -o res4.st
train --store s -f 3,3 -m sage -o sage.st
train --store s -f 3,3 -m sage --encoder 8 --head 0 -o around.st
# dict FROM TO
dict() {
    mkdir -p dict && echo 'import json; head(lambda h: json.dumps({k: v for k, v in json.loads(h).items() if k != "__metadata__"}))' |
        /usr/bin/python3 "$GNN_TOP/tests/train/forge.py" "$1" dict && mv dict/1 "$2" || exit 1
}
for f in gat4 res4 sage around; do dict $f.st $f.st; done
while IFS='|' read -r file opts message; do
    status 3 "gnn-train $opts refuses the parameters of $file" gnn-train --store s -f 3,3 --hidden 8 $opts --init $file -o x
    mv err said
    check "gnn-train $opts names the tensor of $file that does not fit" grep -q -e "$message" said
done <<EOF
gat4.st|-m gat --heads 4 --conv-residual|no tensor convs.0.res.weight
res4.st|-m gat --heads 4|tensor convs.0.res.weight is not part of the model
gat4.st|-m gat --heads 8|tensor convs.0.att_src:
gat4.st|-m gatv2 --heads 4|its parameters are of gat, not of gatv2
sage.st|-m gat --heads 4|its parameters are of sage, not of gat
sage.st|-m gcn|no tensor convs.0.bias: its parameters are of sage, not of gcn
gat4.st|-m rgcn|its parameters are of gat, not of rgcn
sage.st|--encoder 8|no tensor encoder.weight
around.st|-m sage|convs.0.lin_l.weight: shape (8, 8) instead of (8, 6)
EOF

# Features of edges: four columns instead of five, and parameters with and without them.
/usr/bin/python3 - "$GNN_TOP/tests/train/data/weighted.npz" <<'EOF'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as old, zipfile.ZipFile("narrow.npz", "w") as new:
    for n in old.namelist():
        data = old.read(n)
        new.writestr(n, data.replace(b"(240, 5)", b"(240, 4)")[:-960] if n == "edge_attr.npy" else data)
EOF
gnn-import -q --directed "$GNN_TOP/tests/train/data/weighted.npz" -o wide && gnn-import -q --directed narrow.npz -o narrow || exit 1
edges_of() { # LAYER
    m=$1
    train --store wide -f 3,3 -m $m -o plain.st
    train --store wide -f 3,3 -m $m --edge-features -o edges.st
    dict plain.st plain.sd
    dict edges.st edges.sd
    while IFS='|' read -r what message; do
        status 3 "$m: $what" $what
        mv err said
        check "$m: $what says why" grep -q -e "$message" said
    done <<EOF
train --store wide -f 3,3 -m $m --edge-features --init plain.sd -o x|plain.sd: no tensor convs.0.lin_edge.weight
train --store wide -f 3,3 -m $m --init edges.sd -o x|edges.sd: tensor convs.0.lin_edge.weight is not part of the model
train --store narrow -f 3,3 -m $m --edge-features --init edges.sd -o x|tensor convs.0.lin_edge.weight: shape (8, 5) instead of (8, 4)
train --store wide -f 3,3 -m gin --init edges.sd -o x|its parameters are of $m, not of gin
gnn-predict -q narrow edges.st -o x|edges of type node/to/node have 4 features x; the model needs 5
EOF
    gnn-sample -q wide -f 3,3 -b 20 --epochs 1 | gnn-gather -q wide >bare.gnb
    status 3 "gnn-train -m $m --edge-features refuses a stream without features of edges" gnn-train -i bare.gnb -m $m --edge-features -o x
    mv err said
    check "gnn-train -m $m --edge-features says how to get them" grep -q 'use gnn-sample --edge-ids and gnn-gather --fields x,y$' said
}
edges_of gat
edges_of gatv2

# What a layer reaches: of the types, only b leads to the labelled type a, and nothing leads to b.
/usr/bin/python3 - "$GNN_TOP/tests/train/data" <<'EOF'
import gzip, sys, zipfile
with zipfile.ZipFile(sys.argv[1] + "/typed.zip") as old, zipfile.ZipFile("one.zip", "w") as new:
    for n in old.namelist():
        if "/relations/" not in n or "/b___of.x___a/" in n:
            new.writestr(n, gzip.compress(b"b,of.x,a\n") if n.endswith("triplet-type-list.csv.gz") else old.read(n))
EOF
check "gnn-import imports one relation between two types" gnn-import -q one.zip -o one
for jk in cat max; do
    refuses 2 'node type a from every layer, but layer 1 makes none' "--jk $jk with a layer that makes no rows of the labelled type" gnn-train --store one -f 3,3 --hidden 4 --jk $jk --head 0 -o x
    check "gnn-train --jk $jk learns where each layer makes rows" gnn-train -q --store typed -f 3,3 --hidden 4 --jk $jk --head 0 --epochs 1 -o x
done

# Where no edge type is within a node type there are no degrees.
status 2 "gnn-train -m gcn refuses an edge type between two node types" gnn-train --store one -f 3,3 -m gcn -o x
mv err said
check "gnn-train -m gcn names the edge type between two node types" grep -q 'gcn is defined for relations within one node type, not for b/of.x/a; use sage' said
refusing=gnn-gather refuses 2 "degrees are counted along edge types within one node type, and one has none" "degrees where no edge type is within a node type" sh -c 'gnn-sample -q one -f 3 | gnn-gather -F x,y,degree one >x.gnb'
check "gnn-train -m gat learns where no edge type is within a node type" gnn-train --store one -f 3 -m gat --self-loops --eval none --epochs 1 -o x
mv err said
check "gnn-train -m gat says that no node is its own neighbour there" grep -qx 'gnn-train: warning: --self-loops has no effect: no relation is within a node type' said
check "gnn-train -m gin learns from types of different widths behind an encoder" train --store typed -f 3,3 -m gin --encoder 8 -o x

# A run goes on with the model that it began with.
while IFS='|' read -r first later said; do
    rm -rf C
    check "gnn-train $first leaves a checkpoint" train --store s -f 3,3 $first --checkpoint C --checkpoint-every 1 -o m.st
    status 3 "gnn-train $later refuses to resume what was begun with $first" train --store s -f 3,3 $later --checkpoint C --resume -o x
    mv err told
    check "gnn-train $later names what is another than with $first" grep -q -F -e "$said" told
done <<EOF
--encoder 8|--encoder 16|made with --encoder 8, and this run has --encoder 16
-m gat --heads 2|-m gat --heads 4|made with --heads 2, and this run has --heads 4
-m gat --heads 2|-m gat --heads 2 --negative-slope 0.25|made without --negative-slope 0.25, which this run has
-m gat|-m gat --no-self-loops|made without --no-self-loops, which this run has
-m gat|-m gat --attention-dropout 0.25|made without --attention-dropout 0.25, which this run has
-m gatv2|-m gatv2 --conv-residual|made without --conv-residual, which this run has
-m sage|-m sage --aggr max|made without --aggr max, which this run has
-m sage|-m gcn|made with --model sage, and this run has --model gcn
-m rgcn|-m rgcn --bases 1|made without --bases 1, which this run has
--residual|--residual --residual-projection|made without --residual-projection, which this run has
--head 0|--head 0 --jk max|made without --jk max, which this run has
--activation elu|--activation relu|made with --activation elu, and this run without
--class-weights 1,2,1,1|--class-weights none|made with --metric accuracy --class-weights 1,2,1,1, and this run has --metric accuracy
EOF
done_testing
