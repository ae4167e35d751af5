# SPDX-License-Identifier: Apache-2.0
# gnn-predict's memory: activations of two layers at a time, and not more of them than --memory says.
. "$GNN_TOP/tests/lib.sh"
nodes=56000 width=512
layer=$((nodes * width * 4))
gnn-import --dtype f16 -o s sbm:nodes=$nodes,features=256,degree=4,train=0.001 &&
    gnn-train --store s -f 1,1,1,1,1,1 -b 64 --epochs 1 --eval none --no-layer-norm --dropout 0 --hidden $width -q -o m.st || exit 1
peak() { sed -n 's/.*"event":"end".*"peak_bytes":\([0-9]*\).*/\1/p' "$1"; }
at_most() { echo "$1 of $2" && [ "$1" -gt 0 ] && [ "$1" -le "$2" ]; }

# Five hidden layers: to keep them all would take 450 MB. 80 MB are for the model, 8192 rows, the program and its libraries.
check "gnn-predict runs a model of six wide layers" gnn-predict -j 1 s m.st -o wide.npy --metrics j.json
check "gnn-predict holds the activations of two layers at a time" at_most "$(peak j.json)" $((2 * layer + $(wc -c <s/part-00000.gnb) + 80000000))

# Files are mapped, so it is the memory allocated that is limited here: to less than a layer. The libraries take most of it.
mkdir tmp
export TMPDIR="$PWD/tmp"
check "gnn-predict --memory 1M runs in less memory than one layer takes, with tables in files" \
    sh -c "ulimit -d $((layer / 1024 - 4000)) && gnn-predict -j 1 s m.st --memory 1M -o thin.npy"
check "gnn-predict writes the same bytes from tables in files as from memory" cmp wide.npy thin.npy
check "gnn-predict leaves no table file in TMPDIR" test -z "$(ls tmp)"
status 1 "gnn-predict fails in less memory than one layer takes without --memory" \
    sh -c "ulimit -d $((layer / 1024 - 4000)) && gnn-predict -j 1 s m.st -o none.npy"
mv err said
check "gnn-predict says what there is no memory for" grep -q "out of memory: [0-9]* bytes for [a-z]" said

# A header of 2 KB that declares 65536 features: a model would have four times 134 MB before the first batch shows that there are none.
gnn-import -q -o wide sbm:nodes=24,features=65536,degree=2,classes=2,train=0.5 && gnn-sample -q -f 2,2 -b 6 -o wide.b wide &&
    gnn-gather -q -i wide.b -o wide.g wide || exit 1
status 3 "gnn-train takes no memory for features that a stream declares and its batches lack" \
    sh -c "ulimit -d 300000 && gnn-train -j 1 -i wide.b -o none.st"
mv err said
check "gnn-train names the declared features that the first batch lacks" grep -q "node/node/x of width 65536, but the first batch has none" said
check "gnn-train trains on 65536 features that a stream has" gnn-train -j 1 -q --hidden 130 -i wide.g -o wide.st
done_testing
