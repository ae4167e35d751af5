# SPDX-License-Identifier: Apache-2.0
# Options that would have no effect are refused, or, where that depends on the graph, named in a warning; fields of edges that
# are not there, and what a stream lacks, are answered with what helps.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-gather
gnn-import -q -o s sbm:nodes=120,features=6 && gnn-import -q -o bare sbm:nodes=120,features=0 && gnn-import -q -o w sbm:nodes=120,features=6,weights=1 || exit 1
/usr/bin/python3 - <<'EOF'
import struct, zipfile
def npy(type, shape, values):
    head = "{'descr': '<%s4', 'fortran_order': False, 'shape': %r, }" % (type, shape)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%d%s" % (len(values), type), *values)
with zipfile.ZipFile("x.npz", "w") as z:
    z.writestr("edges.npy", npy("i", (60, 2), [v for k in range(60) for v in (k % 20, k * 7 % 20)]))
    z.writestr("edge_attr.npy", npy("f", (60, 1), [0.5 + k % 3 for k in range(60)]))
    z.writestr("node_features.npy", npy("f", (20, 3), [k % 5 for k in range(60)]))
    z.writestr("node_labels.npy", npy("i", (20,), [k % 2 for k in range(20)]))
EOF
gnn-import -q --directed --split random:0.5,0.25,0.25 -o x x.npz || exit 1
train() { gnn-train --store "$@" -b 60 --epochs 1 --eval none -o m; }
refused() { # OPTIONS PATTERN
    refusing=gnn-train refuses 2 "^gnn-train: $2$" "$1" train $1
    check "gnn-train leaves no model of $1" test ! -e m
}
while IFS='|' read -r opts message; do
    refused "$opts" "$message"
done <<EOF
s -f 3 --hidden 8|--hidden requires a hidden layer: two layers, or --head
s -f 3 --layer-norm|--layer-norm requires a hidden layer: two layers, or --head
s -f 3 --batch-norm|--batch-norm requires a hidden layer: two layers, or --head
s -f 3 --batch-norm --encoder 8|--batch-norm requires a hidden layer: two layers, or --head
s -f 3 --residual|--residual requires a hidden layer: two layers, or --head
s -f 3 --ffn|--ffn requires a hidden layer: two layers, or --head
s -f 3 --activation relu|--activation requires hidden rows: two layers, --head or --encoder
s -f 3 --activation elu|--activation requires hidden rows: two layers, --head or --encoder
s -f 3 --dropout 0.3|--dropout requires hidden rows: two layers, --head or --encoder
s -f 3 -m gin --dropout 0.3|--dropout requires hidden rows: two layers, --head or --encoder
s -f 3 --jk cat --head 0|--jk requires two layers: it joins the outputs of several layers
s -f 3,3 -m gcn --edge-weight nosuch|s: edges have no field 'nosuch', nor any other
w -f 3,3 -m gcn --edge-weight weigth|w: edges have no field 'weigth'; did you mean 'weight'? fields of edges: weight
EOF
while IFS='|' read -r opts message; do
    check "gnn-train trains with $opts" train $opts
    mv err said
    if [ -n "$message" ]; then
        check "gnn-train says what has no effect of $opts" grep -qx -e "gnn-train: warning: $message" said
        check "gnn-train warns once of $opts" test "$(grep -c 'has no effect' said)" -eq 1
    else
        check "gnn-train has nothing to say of $opts" sh -c '! grep -e "no effect" -e "not used" said'
    fi
    rm -f m
done <<EOF
s -f 3,3 --residual|--residual has no effect: no hidden layer makes rows as wide as those it reads (see --residual-projection)
s -f 3,3 --residual --hidden 6|
s -f 3,3 --residual --residual-projection|
s -f 3,3 --residual --residual-projection --hidden 6|--residual-projection has no effect: all hidden layers make rows as wide as those they read
s -f 3,3 --ffn --residual-projection --hidden 6|--residual-projection has no effect: all hidden layers make rows as wide as those they read
s -f 3,3 --ffn --residual|
s -f 3,3,3 --residual --layer-norm --activation relu --jk none --dropout 0.2|
bare -f 3,3 --feature-norm row|--feature-norm has no effect: nodes have no features
s -f 3,3 --feature-norm row|
s -f 3 --no-layer-norm --dropout 0|
s -f 3 -m gin --activation elu --batch-norm|
s -f 3,3 -m gat --last-heads concat|--last-heads has no effect: there is one head
s -f 3,3 -m gatv2 --heads 2 --last-heads mean --head 0|--last-heads has no effect: with --head, heads of all layers are side by side
s -f 3,3 -m gatv2 --heads 2 --last-heads mean --no-self-loops|
s -f 3 --encoder 4 --activation elu --dropout 0.2|
s -f 3 --head 0 --hidden 8 --batch-norm --residual --residual-projection|
x -f 3,3 -m gcn --edge-weight x|
EOF

# The remedy for a stream that lacks something is all that it lacks.
for have in '-F x,y' '-F x,y,degree' '-F x,y,degree:weight'; do
    gnn-sample -q w -f 3,3 -b 60 | gnn-gather -q $have w >b.gnb
    status 3 "gnn-train refuses a stream of gnn-gather $have" gnn-train -i b.gnb -m gcn --edge-weight weight -o m
    mv err said
    check "gnn-train says all that a stream of gnn-gather $have lacks" \
        grep -q ': use gnn-sample --edge-ids and gnn-gather --fields x,y,weight,degree:weight$' said
done
gnn-sample -q w -f 3,3 -b 60 --edge-ids | gnn-gather -q --fields x,y,weight,degree:weight w >b.gnb
check "gnn-train learns from a stream that was made as it says" gnn-train -q -i b.gnb -m gcn --edge-weight weight -o m
refuses 2 "w: edges have no field 'nosuch'; fields of edges: weight" "the sums of a weight that edges do not have" sh -c 'gnn-sample -q w -f 3,3 | gnn-gather -F x,y,degree:nosuch w >x.gnb'
done_testing
