# SPDX-License-Identifier: Apache-2.0
# gnn-import's memory: what --sort-memory says, and 8 bytes a node; nothing for each edge.
. "$GNN_TOP/tests/lib.sh"
peak() { sed -n 's/.*"peak_bytes": *\([0-9]*\).*/\1/p' "$1"; }
at_most() { echo "$1 of $2" && [ "$1" -gt 0 ] && [ "$1" -le "$2" ]; }

# 2^24 edges are 67 MB in memory. 25 MB are for the program, its libraries and the generator's buffers.
for o in '' --dedup; do
    # shellcheck disable=SC2086
    check "gnn-import --sort-memory 8M${o:+ $o} reads 16 M edges" gnn-import --force --sort-memory 8M $o -o s --metrics m.json rmat:scale=16,edges=256
    check "gnn-import --sort-memory 8M${o:+ $o} takes no more memory than it is given" at_most "$(peak m.json)" $((65536 * 8 + 8388608 + 25000000))
    check "gnn-import --sort-memory 8M${o:+ $o} leaves no temporary file" test -z "$(find . -name '*.tmp*')"
done
# Each of nine types, of 18 MB, fits alone; all are sorted before anything is written. One thread, as each has buffers of its own.
check 'gnn-import --sort-memory 20M --dedup reads 20 M edges of several types' \
    gnn-import -j 1 --force -q --sort-memory 20M --dedup -o s --metrics m.json sbm:nodes=20000,degree=200,types=3,weights=1
check 'gnn-import --sort-memory 20M --dedup takes no more for all types together' at_most "$(peak m.json)" $((20000 * 8 * 3 + 20971520 + 32000000))
check "gnn-import without --sort-memory reads 16 M edges" gnn-import --force -o s --metrics m.json rmat:scale=16,edges=256
check "gnn-import without --sort-memory takes more memory" [ "$(peak m.json)" -gt 75000000 ]
done_testing
