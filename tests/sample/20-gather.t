# SPDX-License-Identifier: Apache-2.0
# gnn-gather: the rows that belong to the nodes, whatever the way.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-gather
smp() { gnn-sample --no-provenance "$@"; }
gat() { gnn-gather --no-provenance "$@"; }
same_batches() { gnn-inspect --export 1.npz "$1" && gnn-inspect --export 2.npz "$2" && cmp 1.npz 2.npz; }
gnn-import sbm:nodes=2000,degree=8,features=13 -o s -q --no-provenance
gnn-import sbm:nodes=700,types=3,weights=1 -o h -q --no-provenance
smp s -f 5,3 -b 100 -o b
check "gnn-gather gathers features" gat s -i b -o a
for j in 1 3; do
    check "gnn-gather -j$j gathers features" gat s -i b -j$j -o c
    check "gnn-gather -j$j gathers the same bytes as by default" cmp a c
done
gat s <b | cat >c
check "gnn-gather writes the same through a pipe" cmp a c
check "gnn-inspect --verify finds gathered rows in the store" gnn-inspect --verify a --against s
for t in f32 f16 bf16; do
    check "gnn-gather --dtype $t gathers features" gat s -i b --dtype $t -o t
    check "gnn-gather --dtype $t writes $t" sh -c "gnn-inspect -t t | grep -q 'node/node/x *$t'"
done
gat s -i b --fields y -o y
check "gnn-gather --fields y gathers labels only" sh -c 'gnn-inspect -t y | grep -q node/node/y && ! gnn-inspect -t y | grep -q node/node/x'
check "gnn-gather --fields x adds features to a stream that has labels" \
    sh -c 'gnn-gather --no-provenance s -i y --fields x -o xy && gnn-inspect --verify xy --against s'
check "gnn-gather -z 3 compresses" gat s -i b -z 3 -o z
check "gnn-gather -z 3 compresses the same batches" gnn-inspect --diff a z
check "gnn-gather --count counts batches" sh -c 'gnn-gather s -i b --count | grep -q "^batches 12"'

smp h -f 4,3 -b 64 --edge-ids -o hb
check "gnn-gather gathers fields of nodes and edges of a typed graph" gat h -i hb --fields x,y,weight -o ha
check "gnn-inspect --verify finds gathered fields of a typed graph in the store" gnn-inspect --verify ha --against h
for k in 2 4; do
    rm -rf k
    gnn-partition h -k $k -o k -q
    smp k -f 4,3 -b 64 --edge-ids | gat k --fields x,y,weight -o many
    check "gnn-inspect --verify finds gathered fields in $k partitions of a typed graph" gnn-inspect --verify many --against k
    smp h -f 4,3 -b 64 --edge-ids --original-ids | gat h --fields x,y,weight -o one
    smp k -f 4,3 -b 64 --edge-ids --original-ids | gat k --fields x,y,weight -o many
    check "gnn-gather gathers the same from $k partitions as from the whole" same_batches one many
done

gnn-partition s -k 3 -o k3 -q
smp s -f 4,3 -b 64 --original-ids | gat s --fields x,degree -o one
smp k3 -f 4,3 -b 64 --original-ids | gat k3 --fields x,degree -o many
check "gnn-gather --fields degree writes degrees" test -n "$(gnn-inspect -t one | grep 'node/node/degree.to *u32')"
check "gnn-gather gathers the same degrees from partitions as from the whole" same_batches one many

status 3 "gnn-gather refuses batches of another store" gat h -i b -o x
check "gnn-gather says that batches were sampled from another store" test -n "$(grep "sampled from another store" err)"
status 2 "gnn-gather refuses an unknown field" gat s -i b --fields z -o x
status 2 "gnn-gather refuses a field twice" gat s -i b --fields x,x -o x
status 2 "gnn-gather refuses an empty field" gat s -i b --fields x, -o x
smp h -f 2 -o nb
status 2 "gnn-gather refuses fields of edges without edge ids" gat h -i nb --fields weight -o x
check "gnn-gather says that fields of edges need edge ids" test -n "$(grep "edge ids" err)"
status 2 "gnn-gather refuses compression with --count" gat s -i b -c -z 3
status 2 "gnn-gather refuses a stream without -i" gat s b -o x
status 2 "gnn-gather refuses an unknown dtype" gat s -i b --dtype f8 -o x
size=$(stat -c %s b)
for cut in 0 1 100 $((size / 2)) $((size - 1)); do
    head -c $cut b >cutb
    status 3 "gnn-gather refuses a stream cut at byte $cut of $size" gat s -i cutb -o x
    check "gnn-gather names the file of a stream cut at byte $cut" test -n "$(grep '^gnn-gather: cutb: ' err)"
done
# A damaged store: found by its checksums; without them, by the ranges, or the numbers are other numbers.
part=s/part-00000.gnb
bytes=$(stat -c %s $part)
hurt() { cp -r s bad && printf '\377\377\377\377' | dd of=bad/${part#s/} bs=1 seek="$1" conv=notrunc 2>/dev/null; }
crashed=
for at in $(awk -v n="$bytes" 'BEGIN { srand(7); for (i = 0; i < 60; i++) print 4096 + int(rand() * (n - 4200)) }'); do
    rm -rf bad
    hurt "$at"
    gnn-sample bad -f 5,-1 -b 500 --no-verify 2>err | gnn-gather bad --no-verify --count >/dev/null 2>err2
    rc=$?
    [ $rc -eq 0 ] || [ $rc -eq 3 ] || crashed="$crashed $at:$rc"
    ! grep -q -i -e fault -e sanitizer err err2 || crashed="$crashed $at"
done
check "gnn-sample and gnn-gather --no-verify survive damage$crashed" test -z "$crashed"
rm -rf bad
hurt $((bytes / 2))
status 3 "gnn-sample or gnn-gather finds damage of the store" sh -c 'gnn-sample bad -f -1,-1 -b 500 | gnn-gather bad -o x --fields x,y'
check "gnn-sample or gnn-gather names the damaged partition" test -n "$(grep "part-00000.gnb: " err)"

refuses 3 "batch 0/0: 'node/node/x' is already present" "fields that the stream has already" gat s -i a -o x
check "gnn-gather leaves nothing of what it refuses" test -z "$(ls -d x x.* 2>/dev/null)"
done_testing
