# gnn-partition's memory: 12 bytes a node, some bits, and buffers; nothing for each edge.
. "$GNN_TOP/tests/lib.sh"
if [ -n "${GNN_SAN:-}" ]; then
    skip "memory" "a sanitizer needs its own"
    done_testing
fi
# Files are mapped, so it is the memory allocated that is limited: to half of what the sources of all edges take.
edges=$((32768 * 1024)) kib=$((32768 * 1024 * 4 / 2 / 1024))
gnn-import -q --sort-memory 8M -o s rmat:scale=15,edges=1024 || exit 1
check "$edges edges, random" sh -c "ulimit -d $kib && gnn-partition -q -j 2 --method random -k 4 -o p-random s"
check "$edges edges, ldg" sh -c "ulimit -d $kib && gnn-partition -q -j 2 --method ldg --passes 1 -k 4 -o p-ldg s"
check "from parts" sh -c "ulimit -d $kib && gnn-partition -q -j 2 --method random -k 3 -o p3 p-random"
check "without edge ids" sh -c "ulimit -d $kib && gnn-partition -q -j 2 --method random --no-edge-ids -k 3 -o bare p3"
check "and back" sh -c "ulimit -d $kib && gnn-partition -q -j 2 -k 1 -o back bare"
check "the whole, byte for byte" gnn-inspect --diff --ignore provenance s back
status 1 "too little to hold the edges" sh -c "ulimit -d $kib && gnn-partition -q -j 2 -k 4 -o none s"
mv err said
check "says so" grep -q "out of memory" said
done_testing
