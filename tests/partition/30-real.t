# SPDX-License-Identifier: Apache-2.0
# Real graphs: typed, with weights and times, with many splits, large.
. "$GNN_TOP/tests/lib.sh"
[ "${GNN_DATA:-}" ] || { skip "gnn-partition makes partitions of real graphs" "GNN_DATA is not set"; done_testing; }

prove() { # NAME PARTS IMPORT-ARGUMENT...
    name=$1 parts=$2
    shift 2
    rm -rf whole parts again
    check "gnn-import reads $name" gnn-import -q -o whole "$@"
    check "gnn-partition makes $parts partitions of $name" gnn-partition -k "$parts" -o parts whole
    check "gnn-inspect --verify finds $parts partitions of $name to be the graph of the whole" gnn-inspect --verify --against whole parts
    check "gnn-partition -k 1 puts $parts partitions of $name together" gnn-partition -q --no-provenance -k 1 -o again parts
    check "gnn-partition -k 1 makes of $parts partitions of $name the store that they came from" gnn-inspect --diff --ignore provenance whole again
}
prove acm 7 "$GNN_DATA/acm.zip"
check "gnn-partition --balance types,train makes partitions of acm" gnn-partition -k 4 --balance types,train -o types whole
check "gnn-inspect --verify finds balanced partitions of acm to be the graph of the whole" gnn-inspect --verify --against whole types
check "gnn-partition --balance types,train makes each type of acm even" sh -c 'gnn-partition --force -k 4 --balance types,train -o types whole |
    awk "\$1 == \"balance\" && (\$2 == \"paper\" || \$2 == \"author\" || \$2 == \"train\") && \$3 > 1.1 { bad = 1 } END { exit bad }"'
prove cora 4 "$GNN_DATA/cora.zip"
prove tolokers 3 --undirected --map x=node_features,y=node_labels "$GNN_DATA/tolokers.npz"
prove bitcoin-otc 5 --columns source=from,target=to,weight=feature,time=time "$GNN_DATA/bitcoin-otc.csv"
prove WN18RR 4 "$GNN_DATA/WN18RR.tar.gz"
prove web-NotreDame 16 "$GNN_DATA/web-NotreDame.txt.gz"
done_testing
