# SPDX-License-Identifier: Apache-2.0
# gnn-partition's memory: 12 bytes a node, some bits, and buffers; nothing for each edge.
. "$GNN_TOP/tests/lib.sh"
# Files are mapped, so it is the memory allocated that is limited: to half of what the sources of all edges take.
edges=$((32768 * 1024)) kib=$((32768 * 1024 * 4 / 2 / 1024))
gnn-import -q --sort-memory 8M -o s rmat:scale=15,edges=1024 || exit 1
check "gnn-partition --method random takes little memory for $edges edges" \
    sh -c "ulimit -d $kib && gnn-partition -q -j 2 --method random -k 4 -o p-random s"
check "gnn-partition --method ldg takes little memory for $edges edges" \
    sh -c "ulimit -d $kib && gnn-partition -q -j 2 --method ldg --passes 1 -k 4 -o p-ldg s"
check "gnn-partition --method random takes little memory for $edges edges of partitions" \
    sh -c "ulimit -d $kib && gnn-partition -q -j 2 --method random -k 3 -o p3 p-random"
check "gnn-partition --no-edge-ids takes little memory for $edges edges" \
    sh -c "ulimit -d $kib && gnn-partition -q -j 2 --method random --no-edge-ids -k 3 -o bare p3"
check "gnn-partition -k 1 takes little memory to put partitions without edge ids together" \
    sh -c "ulimit -d $kib && gnn-partition -q -j 2 -k 1 -o back bare"
check "gnn-partition -k 1 makes of partitions without edge ids the store that they came from" gnn-inspect --diff --ignore provenance s back
status 1 "gnn-partition --method metis cannot hold $edges edges in little memory" sh -c "ulimit -d $kib && gnn-partition -q -j 2 -k 4 -o none s"
mv err said
check "gnn-partition --method metis says that it is out of memory" grep -q "out of memory" said
# For DGL, a graph takes 33 bytes an edge.
gnn-import -q --sort-memory 8M -o less rmat:scale=13,edges=1024 || exit 1
check "gnn-partition --layout dgl takes little memory for $((8192 * 1024)) edges" \
    sh -c "ulimit -d $((96 << 10)) && gnn-partition -q -j 2 --layout dgl -k 1 -o one less && test \$(wc -c <one/part0/graph.dgl) -gt $((200 << 20))"
done_testing
