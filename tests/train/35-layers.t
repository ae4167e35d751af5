# SPDX-License-Identifier: Apache-2.0
# Every layer on graphs and options that are hard on it: a node with very many neighbours, nodes and edge types without edges,
# options of other layers, parameters of other models.
. "$GNN_TOP/tests/lib.sh"

# Node 0 has 300,000 edges, self-loops and parallel edges among them; the last node has none that lead to it.
perl -e 'print "source,target,weight\n"; print $_ % 900, ",0,", $_ % 7, "\n" for 1 .. 300000; print "5,$_,1\n" for 1 .. 899; print "999,0,1\n"' >hub.csv
perl -e 'print $_ % 3, "\n" for 1 .. 901' >y.csv
perl -e 'print join(",", $_ % 3, $_ % 5, 1), "\n" for 1 .. 901' >x.csv
check "gnn-import imports a node with 300,000 edges" \
    gnn-import -q --directed --labels y.csv --features x.csv --split random:0.5,0.25,0.25 -o hub hub.csv
train() { gnn-train -q --no-provenance --eval none --hidden 8 --epochs 1 --lr 0.01 "$@"; }
while read -r opts; do
    check "gnn-train $opts learns with a node of 300,000 neighbours and a node of none" train --store hub -f -1,-1 -b 600 $opts -o m.st
    check "gnn-predict predicts with $opts for a node of 300,000 neighbours and a node of none" gnn-predict -q hub m.st --output-kind probs -o p.npy
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
-m gatv2 --heads 2
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
typed -m rgcn --bases 2 --encoder 6
typed -m hgt --heads 2
EOF

# Options of other layers, and such as exclude each other.
gnn-import -q -o s sbm:nodes=200,features=6
while IFS='|' read -r opts message; do
    status 2 "gnn-train refuses $opts" gnn-train --store s -f 3,3 $opts -o x
    mv err said
    check "gnn-train says why it refuses $opts" grep -q -e "$message" said
done <<EOF
-m sage --heads 2|--heads requires --model gat
-m gat --aggr max|--aggr requires --model sage
-m gin --share-weights|--share-weights requires --model gatv2
-m sage --edge-weight w|--edge-weight requires --model gcn
-m gcn --edge-features|--edge-features requires --model gine
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

# Parameters of other models.
train --store s -f 3,3 -m gat --heads 4 -o gat4.st
train --store s -f 3,3 -m sage -o sage.st
train --store s -f 3,3 -m sage --encoder 8 --head 0 -o around.st
while IFS='|' read -r file opts message; do
    status 3 "gnn-train $opts refuses the parameters of $file" gnn-train --store s -f 3,3 --hidden 8 $opts --init $file -o x
    mv err said
    check "gnn-train $opts names the tensor of $file that does not fit" grep -q -e "$message" said
done <<EOF
gat4.st|-m gat --heads 8|tensor convs.0.att_src:
gat4.st|-m gatv2 --heads 4|its parameters are of gat, not of gatv2
sage.st|-m gat --heads 4|its parameters are of sage, not of gat
sage.st|-m gcn|no tensor convs.0.bias: its parameters are of sage, not of gcn
gat4.st|-m rgcn|its parameters are of gat, not of rgcn
sage.st|--encoder 8|no tensor encoder.weight
around.st|-m sage|convs.0.lin_l.weight: shape (8, 8) instead of (8, 6)
EOF

# What a layer reaches: of the types, only b leads to the labelled type a, and nothing leads to b.
/usr/bin/python3 - "$GNN_TOP/tests/train/data" <<'EOF'
import gzip, sys, zipfile
with zipfile.ZipFile(sys.argv[1] + "/typed.zip") as old, zipfile.ZipFile("one.zip", "w") as new:
    for n in old.namelist():
        new.writestr(n, gzip.compress(b"b,of.x,a\n") if n.endswith("triplet-type-list.csv.gz") else old.read(n))
EOF
check "gnn-import imports one relation between two types" gnn-import -q one.zip -o one
for jk in cat max; do
    status 2 "gnn-train refuses --jk $jk with a layer that makes no rows of the labelled type" gnn-train --store one -f 3,3 --hidden 4 --jk $jk --head 0 -o x
    mv err said
    check "gnn-train --jk $jk names the layer that makes no rows" grep -q 'node type a from every layer, but layer 1 makes none' said
    check "gnn-train --jk $jk learns where each layer makes rows" gnn-train -q --store one -f 3 --hidden 4 --jk $jk --head 0 --epochs 1 -o x
done

# A run goes on with the model that it began with.
while IFS='|' read -r first later; do
    rm -rf C
    check "gnn-train $first leaves a checkpoint" train --store s -f 3,3 $first --checkpoint C --checkpoint-every 1 -o m.st
    status 3 "gnn-train $later refuses to resume what was begun with $first" train --store s -f 3,3 $later --checkpoint C --resume -o x
done <<EOF
--encoder 8|--encoder 16
-m gat --heads 2|-m gat --heads 4
-m gat --heads 2|-m gat --heads 2 --negative-slope 0.3
-m gat|-m gat --no-self-loops
-m sage|-m sage --aggr max
--residual|--residual --residual-projection
--head 0|--head 0 --jk max
EOF
done_testing
