# gnn-gather: the rows that belong to the nodes, whatever the way.
. "$GNN_TOP/tests/lib.sh"
smp() { gnn-sample --no-provenance "$@"; }
gat() { gnn-gather --no-provenance "$@"; }
same_batches() { gnn-inspect --export 1.npz "$1" && gnn-inspect --export 2.npz "$2" && cmp 1.npz 2.npz; }
gnn-import sbm:nodes=2000,degree=8,features=13 -o s -q --no-provenance
gnn-import sbm:nodes=700,types=3,weights=1 -o h -q --no-provenance
smp s -f 5,3 -b 100 -o b
check "gathering" gat s -i b -o a
for j in 1 3; do
    check "-j$j" gat s -i b -j$j -o c
    check "-j$j: the same bytes" cmp a c
done
gat s <b | cat >c
check "through a pipe" cmp a c
check "checksums are right" gnn-inspect --verify a --against s
for t in f32 f16 bf16; do
    check "--dtype $t" gat s -i b --dtype $t -o t
    check "$t is what travels" sh -c "gnn-inspect -t t | grep -q 'node/node/x *$t'"
done
gat s -i b --fields y -o y
check "labels only" sh -c 'gnn-inspect -t y | grep -q node/node/y && ! gnn-inspect -t y | grep -q node/node/x'
check "the rest afterwards" sh -c 'gnn-gather --no-provenance s -i y --fields x -o xy && gnn-inspect --verify xy --against s'
check "compressed" gat s -i b -z 3 -o z
check "compressed holds the same" gnn-inspect --diff a z
check "--count" sh -c 'gnn-gather s -i b --count | grep -q "^batches 12"'

smp h -f 4,3 -b 64 --edge-ids -o hb
check "typed" gat h -i hb --fields x,y,weight -o ha
check "typed: verifies" gnn-inspect --verify ha --against h
for k in 2 4; do
    rm -rf k
    gnn-partition h -k $k -o k -q
    smp k -f 4,3 -b 64 --edge-ids | gat k --fields x,y,weight -o many
    check "$k parts: verifies" gnn-inspect --verify many --against k
    smp h -f 4,3 -b 64 --edge-ids --original-ids | gat h --fields x,y,weight -o one
    smp k -f 4,3 -b 64 --edge-ids --original-ids | gat k --fields x,y,weight -o many
    check "$k parts: the same rows" same_batches one many
done

gnn-partition s -k 3 -o k3 -q
smp s -f 4,3 -b 64 --original-ids | gat s --fields x,degree -o one
smp k3 -f 4,3 -b 64 --original-ids | gat k3 --fields x,degree -o many
check "degrees travel" test -n "$(gnn-inspect -t one | grep 'node/node/degree.to *u32')"
check "degrees do not depend on parts" same_batches one many

status 3 "another store" gat h -i b -o x
check "says so" test -n "$(grep "sampled from another store" err)"
status 2 "no such field" gat s -i b --fields z -o x
status 2 "a field twice" gat s -i b --fields x,x -o x
status 2 "no field" gat s -i b --fields x, -o x
smp h -f 2 -o nb
status 2 "edge fields need edge ids" gat h -i nb --fields weight -o x
check "says so" test -n "$(grep "edge ids" err)"
status 2 "compressed nothing" gat s -i b -c -z 3
status 2 "one way to name the stream" gat s b -o x
status 2 "unknown dtype" gat s -i b --dtype f8 -o x
size=$(stat -c %s b)
for cut in 0 1 100 $((size / 2)) $((size - 1)); do
    head -c $cut b >cutb
    status 3 "cut at $cut of $size" gat s -i cutb -o x
    check "names the file" test -n "$(grep '^gnn-gather: cutb: ' err)"
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
check "damage without checksums does no harm$crashed" test -z "$crashed"
rm -rf bad
hurt $((bytes / 2))
status 3 "damage is found" sh -c 'gnn-sample bad -f -1,-1 -b 500 | gnn-gather bad -o x --fields x,y'
check "by name" test -n "$(grep "part-00000.gnb: " err)"

status 3 "fields that are there already" gat s -i a -o x
cp err said
check "say so" grep -q "batch 0/0: 'node/node/x' is already present" said
check "nothing left behind" test -z "$(ls -d x x.* 2>/dev/null)"
done_testing
