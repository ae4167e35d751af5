# SPDX-License-Identifier: Apache-2.0
# gnn-train --induced on devices that are emulated: each layer learns from edges among the nodes of a batch as on the CPU.
# How many of them the last layer uses, only the device knows.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/device/train.sh"
how="--induced -f 4,3 -b 20" usual_epochs=1
gnn-import -q -o s sbm:nodes=400,degree=7,features=12
gnn-import -q -o h sbm:nodes=200,types=3
gnn-partition -q -k 3 -o s3 s
gnn-import -q --directed "$GNN_TOP/tests/train/data/weighted.npz" -o wf
gnn-partition -q -k 3 --method random -o wf3 wf
perl -e 'print "source,target,weight\n"; print $_ % 200, ",", ($_ * 37 + int($_ / 7)) % 200, ",", $_ % 5 / 4, "\n" for 1 .. 1500' >e.csv
perl -e 'print $_ % 3, "\n" for 1 .. 200' >y.csv
perl -e 'print join(",", $_ % 3, $_ % 5, $_ % 7), "\n" for 1 .. 200' >x.csv
gnn-import -q -u --labels y.csv --features x.csv --split random:0.5,0.25,0.25 -o w e.csv
# A batch of wf is an epoch, so that several steps show whether the gradients were right.
epochs=2 trains "SAGE" s
cp a.st model.st
trains "SAGE of three layers with --frontier new, layer norm and dropout" s --layers 3 --frontier new --layer-norm --dropout 0.4
hidden='' trains "SAGE of one layer from several parts in trees" s3 --layers 1 --disjoint
trains "SAGE with --aggr max, --normalize, --project and dropout from several parts" s3 --aggr max --normalize --project --dropout 0.2
trains "SAGE for several node types with batch norm and evaluation" h --batch-norm --eval valid
trains "SAGE of three layers with jumping knowledge for several node types" h --layers 3 --jk cat --head 0 --residual
trains "GCN with dropout" s --model gcn --dropout 0.2
trains "GCN with edge weights" w --model gcn --edge-weight weight --eval valid
trains "GIN from several parts with --train-eps and dropout" s3 --model gin --train-eps --dropout 0.2
epochs=6 trains "GINE with features of edges" wf --model gine --edge-features --train-eps --eval valid
epochs=6 trains "GINE of three layers from several parts with batch norm" wf3 --model gine --edge-features --layers 3 --batch-norm --frontier new
trains "GAT with heads and dropout of edges" s3 --model gat --heads 4 --attention-dropout 0.2
epochs=6 trains "GAT with features of edges and dropout of them" wf --model gat --heads 4 --edge-features --attention-dropout 0.2 --eval valid
epochs=6 trains "GAT of three layers with features of edges and without self-loops" \
    wf3 --model gat --heads 2 --edge-features --no-self-loops --layers 3 --batch-norm
epochs=6 trains "GATv2 with features of edges and dropout of them" wf3 --model gatv2 --heads 4 --edge-features --attention-dropout 0.2
hidden='' epochs=6 trains "GATv2 of one layer with features of edges and without self-loops" wf --model gatv2 --heads 2 --edge-features --no-self-loops --layers 1
trains "GATv2 for several node types with dropout of edges" h --model gatv2 --heads 2 --attention-dropout 0.3 --batch-norm
trains "HGT for several node types" h --model hgt --heads 2 --encoder 8 --head 0 --dropout 0.2 --eval valid
trains "R-GCN with bases" h --model rgcn --bases 2 --dropout 0.2 --eval valid
# Where sources are wide, GAT sums up rows as they are.
gnn-import -q --split random:0.03,0.1,0.1 -o wide sbm:nodes=2000,degree=7,features=512
trains "GAT with wide rows" wide -b 30 --model gat --heads 16 --hidden 512 --optimizer sgd --lr 0.1

# The graph in the memory of the host, a cache of rows; pipes.
T="-q --no-provenance --hidden 8 --epochs 2 --keep last --lr 0.01 --dropout 0 --no-layer-norm"
check "gnn-train --induced learns with the graph and most rows in the memory of the host" \
    "$emu/gnn-train" $T --eval none --store s --induced -f 4,3 -b 20 --device cuda:0,1 --cache 0.2 --graph-memory uva -o c.st
check "gnn-train --induced writes the same model with the graph and most rows in the memory of the host" cmp model.st c.st
for from in "$emu/gnn-sample --device cuda --transport cuda" gnn-sample; do
    check "gnn-train learns on a device from a pipe of induced edges (${from##*/})" sh -c "$from -q --no-provenance --induced -f 4,3 -b 20 --epochs 2 s |
        $emu/gnn-gather -q --no-provenance --device cuda --transport cuda s |
        $emu/gnn-train -q --no-provenance --hidden 8 --keep last --lr 0.01 --dropout 0 --no-layer-norm --device cuda -o c.st"
    check "gnn-train writes the same model from a pipe of induced edges as from --store (${from##*/})" cmp model.st c.st
done
done_testing
