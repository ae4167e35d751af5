# SPDX-License-Identifier: Apache-2.0
# Every public data set: the published counts, and every tensor as NumPy reads it.
. "$GNN_TOP/tests/lib.sh"
[ -n "${GNN_DATA-}" ] || { skip 'gnn-import reads the public data sets' 'GNN_DATA is not set'; done_testing; }
python=
for p in python3 /usr/bin/python3; do
    $p -c 'import numpy' 2>/dev/null && python=$p && break
done
one() { # NAME FILE NODES EDGES OPTION...
    name=$1 file=$2 nodes=$3 edges=$4
    shift 4
    rm -rf S m
    check "gnn-import reads $name" gnn-import "$GNN_DATA/$file" -o S --metrics m "$@"
    check "gnn-import finds $nodes nodes and $edges edges in $name" grep -q "\"nodes\":$nodes,\"edges\":$edges," m
    check "gnn-inspect --verify finds the store of $name sound" gnn-inspect --verify S
    if [ -n "$python" ]; then
        check "the store of $name holds what NumPy reads in its file" \
            env PYTHONDONTWRITEBYTECODE=1 "$python" "$GNN_TOP/tests/import/real.py" "$GNN_DATA" "$name" S
    else skip "the store of $name holds what NumPy reads in its file" 'no numpy'; fi
}
one cora cora.zip 2708 10556
one amazon-computers amazon-computers.zip 13752 491722
one acm acm.zip 11246 34852
one tolokers tolokers.npz 11758 1038000 --undirected
one bitcoin-otc bitcoin-otc.csv 5881 35592 --columns source=from,target=to,weight=feature,time=time
one web-NotreDame web-NotreDame.txt.gz 325729 1497134
one WN18RR WN18RR.tar.gz 40943 93003
one 4elt 4elt.graph 15606 91756
one test test.mgraph 766 2628
check 'gnn-import --columns names all columns of bitcoin-otc' \
    gnn-import --no-provenance "$GNN_DATA/bitcoin-otc.csv" -o A --columns source=from,target=to,weight=feature,time=4
check 'gnn-import --weight names the weight of bitcoin-otc' gnn-import --no-provenance "$GNN_DATA/bitcoin-otc.csv" -o B --weight feature
check 'gnn-import makes the same store of bitcoin-otc by --columns and by --weight' cmp A/part-00000.gnb B/part-00000.gnb
done_testing
