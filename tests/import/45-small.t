# SPDX-License-Identifier: Apache-2.0
# Graphs without edges and graphs of one node: from every generator and format, and through every program.
. "$GNN_TOP/tests/lib.sh"
export OMP_NUM_THREADS=1
imp() { gnn-import --no-provenance --metrics m.json "$@"; }
counts() { grep -q "\"nodes\":$1,\"edges\":$2," m.json; }
gives() { # NODES EDGES IMPORT-ARGUMENT...
    nodes=$1 edges=$2
    shift 2
    rm -rf S
    check "gnn-import makes a store of $*" imp -o S "$@"
    check "gnn-import finds $nodes nodes and $edges edges in $*" counts "$nodes" "$edges"
    check "gnn-inspect --verify finds the store of $* sound" gnn-inspect --verify S
}
gives 1 0 sbm:nodes=1
gives 1 0 sbm:nodes=1,degree=0,classes=1,weights=1
gives 5 0 sbm:nodes=5,degree=0
gives 30 0 sbm:nodes=10,degree=0,types=3
gives 1 16 rmat:scale=0
gives 8 0 rmat:scale=3,edges=0,features=2,classes=2
gives 2 124 products:scale=1e-6
gives 59 1130 igbh:scale=1e-7
gives 59 1130 igbh:scale=1e-7,classes=1,features=0

printf '# no edges\n' >none.txt
printf 'from,to,weight\n' >none.csv
printf '2 0\n\n\n' >none.graph
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 0\n' >none.mtx
printf '%%%%MatrixMarket matrix array real general\n1 1\n0\n' >one.mtx
printf '0 0\n' >one.txt
printf 'a r a\n' >one-triple.txt
mkdir -p ogb/raw
: >ogb/raw/edge.csv
echo 0 >ogb/raw/num-edge-list.csv
echo 1 >ogb/raw/num-node-list.csv
echo 0 >ogb/raw/node-label.csv
# An array of shape (2, 0), and one of (0, 2).
perl -e 'my $h = "{\x27descr\x27: \x27<i8\x27, \x27fortran_order\x27: False, \x27shape\x27: ($ARGV[0]), }";
    $h .= " " x (63 - (10 + length $h) % 64) . "\n"; print "\x93NUMPY\1\0", pack("v", length $h), $h' '2, 0' >wide.npy
perl -e 'my $h = "{\x27descr\x27: \x27<i8\x27, \x27fortran_order\x27: False, \x27shape\x27: ($ARGV[0]), }";
    $h .= " " x (63 - (10 + length $h) % 64) . "\n"; print "\x93NUMPY\1\0", pack("v", length $h), $h' '0, 2' >tall.npy
gives 3 0 --nodes 3 none.txt
gives 3 0 --nodes 3 none.csv
gives 2 0 none.graph
gives 2 0 none.mtx
gives 1 0 one.mtx
gives 1 1 one.txt
gives 1 1 --format triples one-triple.txt
gives 1 0 ogb
gives 4 0 --nodes 4 wide.npy
gives 4 0 --nodes 4 tall.npy
gives 2 2 --self-loops add --dedup -u none.mtx
for f in none.txt none.csv wide.npy; do
    status 3 "gnn-import refuses $f without --nodes" imp "$f" -o bad
done

# One node, and three without edges, of one type and of two.
through() { # NAME SPEC
    rm -rf S P2 P3
    check "gnn-import makes $1" imp -o S "$2"
    for m in metis ldg fennel access random; do
        check "gnn-partition --method $m makes two partitions of $1" gnn-partition -q --force -k 2 --method $m -o P2 S
        check "gnn-inspect --verify finds the partitions of $1 by $m sound" gnn-inspect --verify P2
    done
    check "gnn-inspect -s counts $1" gnn-inspect -s S
    check "gnn-sample draws batches from $1" gnn-sample -q -f 2,2 -b 2 -o B S
    check "gnn-gather adds features to batches from $1" gnn-gather -q -i B -o G S
    check "gnn-inspect reads batches from $1" gnn-inspect G
    check "gnn-train learns from batches from $1" gnn-train -q --hidden 4 -i G -o M
    check "gnn-train --store learns from $1" gnn-train -q --store S -f 2,2 -b 2 --hidden 4 --epochs 2 --eval train -o M
    check "gnn-train --store learns from the partitions of $1" gnn-train -q --store P2 -f 2,2 -b 2 --hidden 4 --epochs 2 --eval train -o M2
    check "gnn-predict predicts $1" gnn-predict -q -o Y.npy S M
    check "gnn-predict predicts the partitions of $1" gnn-predict -q -o Y2.npy P2 M2
    check "gnn-predict gives the partitions of $1 the classes of the whole" cmp Y.npy Y2.npy
}
through 'a graph of one node' sbm:nodes=1,train=1,valid=0
through 'a graph without edges' sbm:nodes=3,degree=0,train=1,valid=0
through 'a typed graph without edges' sbm:nodes=3,degree=0,types=2,train=1,valid=0
done_testing
