# SPDX-License-Identifier: Apache-2.0
# gnn-gather --plan: what caches miss, as expected and as measured.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q "rmat:scale=13,edges=12,a=0.5,b=0.28,c=0.12,features=4,classes=3" --split random:0.2,0.1,0.7 -o r
gnn-import -q sbm:nodes=4000,degree=12,train=0.2 -o s
gnn-import -q sbm:nodes=1500,degree=6,types=2,train=0.3 -o h
gnn-import -q sbm:nodes=2500,degree=16,train=0.2,weights=1 -o w
sizes=0.01,0.05,0.1,0.2,0.5,1
plan() { # STORE OPTIONS-OF-SAMPLE -- OPTIONS-OF-GATHER
    _store=$1 _opts=
    shift
    while [ "$1" != -- ]; do
        _opts="$_opts $1"
        shift
    done
    shift
    gnn-sample -q -b 64 $_opts "$_store" | gnn-gather -q --plan "$@" "$_store"
}
# The columns of the cache table: order, size, rows, MB, expected, measured.
near() { # FILE: within a tenth, or within half a percent of all rows
    awk '/%/ { e = $5 + 0; m = $6 + 0; d = e > m ? e - m : m - e; n++; if (d > 0.1 * m && d > 0.5) bad = 1 } END { exit bad || !n }' "$1"
}
falls() { # FILE: a larger cache never misses more, the largest nothing
    awk '/%/ { m = $6 + 0; if ($1 == was && m > last) bad = 1; if ($2 == 1 && m) bad = 1; was = $1; last = m; n++ } END { exit bad || !n }' "$1"
}
beats() { # FILE BETTER WORSE: never misses more, to a hundredth of all rows' hundredth and noise
    awk -v a="$2" -v b="$3" '/%/ { v[$1, $2] = $6 + 0; s[$2] } END { for (z in s) { n++; if (v[a, z] > v[b, z] + 0.15) bad = 1; sum += v[b, z] - v[a, z] } exit bad || !n || sum < 0 }' "$1"
}
for case in r: s: s:--replace h:; do
    st=${case%:*} by=${case#*:}
    for f in all new; do
        gnn-sample -q -b 64 -f 8,5 --frontier $f $by --epochs 0:3 --count --frequency f.npy $st >stats
        plan $st -f 8,5 --frontier $f $by --epochs 3:5 -- --cache $sizes --cache-order degree --cache-order access --cache-order f.npy >t
        check "gnn-gather --plan lists three orders for $st $by with --frontier $f" test "$(grep -c % t)" = 18
        check "gnn-gather --plan measures what it expects for $st $by with --frontier $f" near t
        check "gnn-gather --plan misses less with larger caches for $st $by with --frontier $f" falls t
        check "gnn-gather --plan misses no more by access than by degree for $st $by with --frontier $f" beats t access degree
    done
done

# Picks that are not uniform: nothing is expected, and counted frequencies give the order.
for case in 'w:--weight weight' s:--labor; do
    st=${case%%:*} by="-f 8,5 ${case#*:}"
    gnn-sample -q -b 64 $by --epochs 0:3 --count --frequency c.npy $st >stats
    plan $st $by --epochs 3:5 -- --cache $sizes >t2
    check "gnn-gather --plan $by lists degree alone, and expects nothing" \
        sh -c 'test "$(grep -c "^degree .* - .*%$" t2)" = 6 && ! grep -q -e ^access -e expected, t2'
    plan $st $by --epochs 3:5 -- --cache $sizes --cache-order degree --cache-order c.npy >t2
    check "gnn-gather --plan $by misses less with larger caches" falls t2
    check "gnn-gather --plan $by misses no more by counted frequencies than by degree" beats t2 c.npy degree
    gnn-sample -q -b 64 $by --steps 1 $st >batch
    refuses 2 '^gnn-gather: expected accesses are known of uniform picks only: count .* gnn-sample --count --frequency FILE' "--cache-order access of $by" \
        gnn-gather -q -i batch --plan --cache 0.1 --cache-order access $st
done

# Out-degrees, not in-degrees, say who is found: a graph whose two are unlike.
python=
for p in python3 /usr/bin/python3; do
    $p -c 'import numpy' 2>/dev/null && python=$p && break
done
if [ -n "$python" ]; then
    gnn-inspect --raw --export r.npz r
    "$python" -c 'import numpy as np; z = np.load("r.npz"); np.save("in.npy", np.diff(z["edge/node/to/node/indptr"].astype("i8"))[::1].astype("f4"))'
    plan r -f 8,5 -- --cache $sizes --cache-order degree --cache-order in.npy >t
    check "gnn-gather --plan misses less by out-degrees than by in-degrees" beats t degree in.npy
    check "gnn-gather --plan misses clearly less by out-degrees than by in-degrees" \
        awk '$1 == "degree" && $2 == 0.1 { a = $6 + 0 } $1 == "in.npy" && $2 == 0.1 { b = $6 + 0 } END { exit !(b > a + 1) }' t
else
    skip "gnn-gather --plan misses less by out-degrees than by in-degrees" "no numpy"
fi

# The same whatever threads, parts and ids.
plan s -f 8,5 --steps 0:4 -- --cache $sizes -j 1 --metrics m1 >a
for j in 2 3; do
    plan s -f 8,5 --steps 0:4 -- --cache $sizes -j $j >b
    check "gnn-gather --plan -j $j prints the same table" cmp a b
done
gnn-partition -q -k 3 -o s3 s
plan s3 -f 8,5 --steps 0:4 -- --cache $sizes >b
check "gnn-gather --plan prints the same table for partitions" cmp a b
plan s3 -f 8,5 --steps 0:4 --original-ids -- --cache $sizes >b
check "gnn-gather --plan prints the same table for partitions and original ids" cmp a b
plan s -f 8,5 --steps 0:4 --eval valid -- --cache $sizes >b
check "gnn-gather --plan leaves out sets for evaluation" cmp a b
plan s -f 8,5 --steps 0:4 -- --cache 1,0.5,0.2,0.1,0.05,0.01 >b
check "gnn-gather --plan takes the sizes of --cache in any order" cmp a b
check "gnn-gather --plan --metrics holds the table" \
    sh -c 'test $(grep -c "\"table\":\"cache\"" m1) = 12 && grep -q "\"order\":\"access\",\"size\":\"0.1\",\"rows\":400,\"bytes\":25600," m1'
plan s -f 8,5 --steps 0 -- --cache 6400,26k >b
check "gnn-gather --plan --cache takes sizes in bytes" sh -c 'awk "\$2 == 6400" b | grep -q " 100 " && awk "\$2 == \"26k\"" b | grep -q " 416 "'
plan s -f 8,5 --steps 0 -- --cache 0.1 -F x,y >b
check "gnn-gather --plan does not cache labels" grep -q ' 400 *0.0 ' b
gnn-sample -q -f 8,5 -b 64 --seeds - s </dev/null >none
status 2 "gnn-gather --plan refuses a stream of seeds that are no set" gnn-gather --plan --cache 0.1 -i none s

check "gnn-gather --plan counts the last batch of an epoch, which has fewer seeds" grep -q ' 64 seeds, 13 of an epoch' a
check "gnn-gather --plan --metrics has the number of batches of an epoch" grep -q '"steps":13,' m1
plan s -f 8,5 --steps 0:4 --drop-last -- --cache 0.1 >b
check "gnn-gather --plan counts no last batch that is dropped" grep -q ' 64 seeds, 12 of an epoch' b

# Parts.
plan s3 -f 8,5 -- --replicate 0.05,0.2,0.5,1,2.1 --metrics m >t
check "gnn-gather --plan --replicate --metrics holds remote rows" test "$(grep -c '"table":"remote"' m)" = 18
remote() { # ORDER ALPHA expected|measured
    awk -v o="$1" -v a="$2" -v c="$3" '$1 == o && $2 == a && NF == 5 { print c == "expected" ? $4 : $5 }' t
}
for o in degree access halo; do
    e=$(remote $o 0.2 expected) g=$(remote $o 0.2 measured)
    check "gnn-gather --plan --replicate by $o measures $g remote rows and expects $e" \
        test "$((e * 10))" -gt "$((g * 9))" -a "$((e * 9))" -lt "$((g * 10))"
    check "gnn-gather --plan --replicate by $o fetches less with more replicated" \
        test "$(remote $o 0 measured)" -gt "$(remote $o 0.05 measured)" -a "$g" -gt "$(remote $o 0.5 measured)"
done
check "gnn-gather --plan --replicate fetches less by access than by halo" test "$(remote access 0.5 measured)" -lt "$(remote halo 0.5 measured)"
check "gnn-gather --plan --replicate fetches nothing with all remote rows replicated" \
    test "$(remote access 2.1 measured)$(remote degree 2.1 measured)" = 00
# A part that samples its own seeds alone, as another run would: those nodes, counted by NumPy.
if [ -n "$python" ]; then
    gnn-sample -q -f 8,5 -b 64 s3 -o whole
    cat >remote.py <<'EOP'
import numpy as np, json, subprocess
info = [np.load("s3.npz")["part-%d/book/node" % p] for p in range(3)][0]
z, total = np.load("whole.npz"), 0
names = sorted({k.split("/")[0] for k in z.files})
for p in range(3):
    lo, hi = info[p], info[p + 1]
    for b in names:
        seeds = z[b + "/nodes/node"][: z[b + "/counts/node"][0]]
        own = [str(v) for v in seeds if lo <= v < hi]
        e, s = z[b + "/key"][0], z[b + "/key"][1]
        nodes, known = z[b + "/nodes/node"], set(i for i, v in enumerate(seeds) if lo <= v < hi)
        for h in range(2):
            ptr, idx = z["%s/hop/%d/node/to/node/indptr" % (b, h)], z["%s/hop/%d/node/to/node/indices" % (b, h)]
            known |= {int(j) for i in list(known) for j in idx[ptr[i]: ptr[i + 1]]}
        total += sum(not lo <= nodes[i] < hi for i in known)
print(total)
EOP
    gnn-inspect --export whole.npz whole
    gnn-inspect --raw --export s3.npz s3
    check "NumPy counts the remote rows of gnn-gather --plan --replicate" test "$("$python" remote.py)" = "$(remote access 0 measured)"
fi

# A real graph in METIS's parts: the shape that SALIENT++ reports. Expected frequencies save the most whatever is kept, and
# ever more against degrees; the halo is between the two while little is kept, and near the degrees in the end.
if [ -n "${GNN_DATA-}" ]; then
    gnn-import -q --split random:0.1,0.1,0.8 -o ac "$GNN_DATA/amazon-computers.zip"
    gnn-partition -q -k 4 -o ac4 ac
    plan ac4 -f 15,10,5 -b 32 -- --replicate 0.05,0.2,0.5,1 --metrics m >t
    last=100
    for a in 0.05 0.2 0.5 1; do
        v=$(remote access $a measured) d=$(remote degree $a measured) h=$(remote halo $a measured)
        check "gnn-gather --plan --replicate $a fetches least by access: $v, $d by degree, $h by halo" test "$v" -lt "$d" -a "$v" -lt "$h"
        check "gnn-gather --plan --replicate $a fetches by access $((100 * v / d)) % of that by degree" test "$((100 * v / d))" -lt "$last"
        last=$((100 * v / d))
        [ $a = 1 ] || check "gnn-gather --plan --replicate $a fetches less by halo than by degree" test "$h" -lt "$d"
    done
    check "gnn-gather --plan --replicate 1 by access saves most remote rows" test "$((v * 10))" -lt "$(($(remote access 0 measured) * 3))"
else
    skip "gnn-gather --plan --replicate saves remote rows of a real graph" "GNN_DATA is not set"
fi

status 2 "gnn-gather refuses --plan without --cache" gnn-gather --plan s
status 2 "gnn-gather --plan --cache refuses a word" gnn-gather --plan --cache 0.1,x -i whole s3
status 2 "gnn-gather --plan --cache refuses an empty size" gnn-gather --plan --cache 0.1, -i whole s3
status 2 "gnn-gather refuses --cache without --plan" gnn-gather --cache 0.1 s
status 2 "gnn-gather refuses --plan with a result" gnn-gather --plan --cache 0.1 -o x s
status 2 "gnn-gather --plan refuses --cache-order halo for one partition" gnn-gather --plan --cache 0.1 --cache-order halo s
status 2 "gnn-gather refuses --cache-order halo without --replicate" gnn-gather --device cuda --cache-order halo -i whatever s
gnn-sample -q -f 3 --steps 0 s -o b
status 2 "gnn-gather --plan refuses --replicate for one partition" gnn-gather --plan --replicate 0.1 -i b s
status 3 "gnn-gather --plan refuses batches of another store" gnn-gather --plan --cache 0.1 -i b r
status 3 "gnn-gather --plan refuses an unknown --cache-order" gnn-gather --plan --cache 0.1 --cache-order hottest -i b s
status 3 "gnn-gather --plan refuses a --cache-order counted in another store" gnn-gather --plan --cache 0.1 --cache-order f.npy -i b s
check "gnn-gather --plan says how many numbers a --cache-order of another store has" \
    test -n "$(grep 'f.npy: 3000 numbers in 1 dimensions: the store has 4000 nodes' err)"
gnn-sample -q -f 3 --count --frequency g.npy s >stats
head -c 9000 g.npy >cut.npy
status 3 "gnn-gather --plan refuses a --cache-order that is cut short" gnn-gather --plan --cache 0.1 --cache-order cut.npy -i b s
done_testing
