# SPDX-License-Identifier: Apache-2.0
# gnn-sample --frequency: how many batches had each node, against counting them in the written stream.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q sbm:nodes=1500,degree=8 -o s
gnn-import -q sbm:nodes=400,types=3 -o h
gnn-partition -q -k 3 -o s3 s
gnn-partition -q -k 2 -o h2 h
freq() { gnn-sample -q -f 5,3 -b 50 --epochs 0:2 --count --frequency "$@" >stats; }

check "gnn-sample --frequency counts" freq a.npy s
for j in 2 3 8; do
    check "gnn-sample --frequency -j $j counts" freq b.npy -j $j s
    check "gnn-sample --frequency writes the same file with -j $j" cmp a.npy b.npy
done
freq b.npy s3
check "gnn-sample --frequency writes the same file for partitions" cmp a.npy b.npy
freq b.npy --original-ids s3
check "gnn-sample --frequency writes the same file for partitions with --original-ids" cmp a.npy b.npy
check "gnn-sample --frequency prints its statistics" test -n "$(grep '^batches 36$' stats)"
check "gnn-sample --frequency counts nodes of all types" freq t.npy h
freq u.npy h2
check "gnn-sample --frequency writes the same file for partitions of a typed graph" cmp t.npy u.npy
freq b.npy --seed 2 s
check "gnn-sample --frequency --seed 2 writes another file" sh -c '! cmp -s a.npy b.npy'

python=
for p in python3 /usr/bin/python3; do
    $p -c 'import numpy' 2>/dev/null && python=$p && break
done
cat >count.py <<'EOP'
import sys, numpy as np
f, export, *sizes = sys.argv[1:]
have, batches = np.load(f), np.load(export)
want, first = [], 0
for t in sizes:
    name, n = t.split("=")
    c = np.zeros(int(n), "u4")
    for key in batches.files:
        if key.endswith("/nodes/" + name):
            np.add.at(c, np.unique(batches[key]), 1)
    want.append(c)
assert have.dtype == np.dtype("u4") and np.array_equal(have, np.concatenate(want)), "other counts"
assert have.max() > have.min()
EOP
if [ -n "$python" ]; then
    gnn-sample -q -f 5,3 -b 50 --epochs 0:2 s | gnn-inspect --export s.npz -
    check "NumPy counts what gnn-sample --frequency counts" "$python" count.py a.npy s.npz node=1500
    gnn-sample -q -f 5,3 -b 50 --epochs 0:2 h | gnn-inspect --export h.npz -
    check "NumPy counts what gnn-sample --frequency counts for all types" "$python" count.py t.npy h.npz t0=400 t1=400 t2=400
else
    skip "NumPy counts what gnn-sample --frequency counts" "no numpy"
fi

status 2 "gnn-sample refuses --frequency without --count" gnn-sample -f 3 --frequency x.npy -o y s
status 2 "gnn-sample refuses --frequency on stdout" gnn-sample -f 3 --count --frequency - s
status 1 "gnn-sample --frequency fails in a directory that is not there" gnn-sample -f 3 --count --frequency no/such/x.npy s
status 1 "gnn-sample --frequency fails on a full disk" gnn-sample -f 3 --count --frequency /dev/full s
check "gnn-sample --frequency leaves nothing where it fails" test -z "$(ls -d x.npy* y* 2>/dev/null)"
done_testing
