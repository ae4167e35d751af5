# SPDX-License-Identifier: Apache-2.0
# Induced edges on several ranks: clusters, what is refused, and training. tests/rules compares ways to sample.
. "$GNN_TOP/tests/ranks/setup.sh"
refusing=gnn-sample
gnn-import -q -o S sbm:nodes=1200,degree=12,features=8 && gnn-import -q -o T sbm:nodes=500,types=3,weights=1,features=6 ||
    { _not_ok "gnn-import makes graphs"; done_testing; }
gnn-partition -q -k 4 -o S4 S || _not_ok "gnn-partition makes 4 parts"
refuses 2 'induced edges require disjoint trees' '--induced without trees on ranks' ranks 2 gnn-sample -q S4 -f 5,4 --induced -o x.%r
refuses 2 'clusters must be disjoint' '--clusters without trees on ranks' ranks 2 gnn-sample -q S4 --clusters 2 -o x.%r

# Clusters. A batch may have none of a rank's.
gnn-partition -q -k 9 -o S9 S && gnn-partition -q -k 7 -o T7 T || _not_ok "gnn-partition makes more parts"
for s in S9 T7; do
    check "gnn-sample --clusters joins $s in one process" gnn-sample -q $s --clusters 2 --disjoint --epochs 2 --eval valid --edge-ids -o one.gnb
    for many in 2 3; do
        rm -f r.*.gnb
        check "gnn-sample --clusters on $many ranks joins $s" ranks $many gnn-sample -q $s --clusters 2 --disjoint --epochs 2 --eval valid --edge-ids -o 'r.%r.gnb'
        check "gnn-sample --clusters on $many ranks makes the batches of one process ($s)" union $s one.gnb $(streams r $many)
        check "gnn-inspect --verify proves a rank's clusters ($s)" gnn-inspect --verify r.1.gnb --against $s
    done
done
[ -z "${GNN_SAN-}" ] || { skip "gnn-train learns from induced edges on ranks" 'a matrix of runs'; done_testing; }

# Training.
while read -r s how <&3; do # mpirun reads stdin
    opts="$how --layers 3 --epochs 2 --eval valid --hidden 16 --dropout 0.2 --lr 0.01"
    check "gnn-train $how learns in one process ($s)" gnn-train -q --store $s $opts --metrics one.json -o one
    check "gnn-train $how learns on 3 ranks ($s)" ranks 3 gnn-train -q --store $s $opts --metrics many.json -o many
    check "gnn-train $how on 3 ranks has the losses of one process ($s)" /usr/bin/python3 -c '
import json
a, b = ([json.loads(l) for l in open(f)] for f in ("one.json", "many.json"))
x, y = ([e["loss"] for e in s if e["event"] == "step"] for s in (a, b))
assert len(x) == len(y) > 5 and all(abs(p - q) <= 1e-4 * abs(p) for p, q in zip(x, y)), (x, y)
x, y = ([e["valid"]["loss"] for e in s if e["event"] == "epoch"] for s in (a, b))
assert len(x) == 2 and all(abs(p - q) <= 1e-3 * abs(p) for p, q in zip(x, y)), (x, y)'
done 3<<.
S4 --induced --disjoint -f 5,4 -b 100
S9 --clusters 2 --disjoint
S9 --clusters 3 --disjoint --batch-norm
T7 --clusters 2 --disjoint
.
check "nothing is left of what was refused" test -z "$(ls -d x x.* 2>/dev/null)"
done_testing
