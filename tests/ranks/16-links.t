# SPDX-License-Identifier: Apache-2.0
# Links on several ranks: the same links, negatives and picks as in one process, and the same model.
. "$GNN_TOP/tests/ranks/setup.sh"
union() { /usr/bin/python3 "$GNN_TOP/tests/ranks/union.py" "$@" >union.txt 2>&1 && ! grep -q '^0 batches' union.txt; }
streams() { for _r in $(seq 0 $(($2 - 1))); do echo "$1.$_r.gnb"; done; }
gnn-import -q --no-provenance -o S sbm:nodes=900,degree=10,features=8 || { _not_ok "gnn-import makes the graph"; done_testing; }
gnn-import -q --no-provenance --split-links node/to/node=80/10/10 -o C S
for s in S C; do gnn-partition -q --no-provenance -k 4 --method random -o "$s"4 $s || _not_ok "gnn-partition makes 4 parts of $s"; done
# same NAME STORE PARTS RANKS OPTIONS: what the ranks draw of PARTS is what one process draws of STORE; one case in three, unless the tier
# is wider
same() {
    _case=$1 _s=$2 _p=$3 _k=$4
    shift 4
    turn 3 || return 0
    rm -f one.gnb r.*.gnb
    check "gnn-sample in one process draws $_case" gnn-sample -q "$_s" --links node/to/node "$@" -o one.gnb
    check "gnn-sample on $_k ranks draws $_case" ranks "$_k" gnn-sample -q "$_p" --links node/to/node "$@" -o 'r.%r.gnb'
    # shellcheck disable=SC2046
    check "the ranks' batches of $_case are those of one process" union "$_p" one.gnb $(streams r "$_k")
    check "gnn-inspect --verify accepts $_case of ranks" sh -c "for f in r.*.gnb; do gnn-inspect --verify \$f --against $_p || exit 1; done"
}
same 'links without negatives' S S4 3 -f 4,3 -b 70
same 'negatives' S S4 4 -f 4,3 -b 70 --negatives binary:1.5 --steps 0:9
same 'strict negatives' S S4 2 -f 4,3 -b 70 --negatives triplet:3 --strict --steps 0:9
same 'strict heads' S S4 3 -f 4 -b 70 --negatives triplet:2 --strict --negative-end head --steps 0:9
same 'strict pairs' S S4 4 -f 4 -b 70 --negatives binary:2 --strict --negative-end both --steps 0:9
same 'excluded links' S S4 4 -f 5,3 -b 70 --exclude reverse --negatives binary:1 --strict --steps 0:9
same 'excluded links of trees' S S4 3 -f 5,3 -b 40 --exclude self --negatives triplet:2 --disjoint --steps 0:9
same 'sets of a split' C C4 4 -f 4,3 -b 70 --split train --eval valid --negatives binary:1 --eval-negatives triplet:4 --strict --exclude reverse
same 'one link a batch' C C4 4 -f 3 -b 1 --split valid --negatives binary:1 --strict --steps 0:20
same 'nothing beside the ends' C C4 2 -f 0 -b 90 --split test --negatives triplet:2 --strict

# Given negatives, which all ranks know.
/usr/bin/python3 - <<'PY'
import random
random.seed(6)
for name, n in ("valid", 130), ("test", 90):
    pairs = sorted({(u, v) for u, v in ((random.randrange(450), random.randrange(450, 900)) for _ in range(n))})
    pairs = [p for i, p in enumerate(pairs) if i % 2 == (name == "test")]
    with open("given." + name, "w") as links, open("given.%s.each" % name, "w") as each, open("given.%s.all" % name, "w") as all_of:
        for u, v in pairs:
            print(u + (name == "test"), v, file=links)
            print(*(random.randrange(900) for _ in range(7)), file=each)
        for _ in range(300):
            print(random.randrange(900), random.randrange(900), file=all_of)
PY
for kind in each all; do
    gnn-import -q --no-provenance --split-links node/to/node=valid=given.valid,test=given.test \
        --negatives valid=given.valid.$kind,test=given.test.$kind -o G$kind S
    gnn-partition -q --no-provenance -k 4 --method random -o G${kind}4 G$kind
    same "given negatives of $kind" G$kind G${kind}4 4 -f 4,3 -b 70 --split train --eval valid --eval test --negatives binary:1 --strict
    same "those of a set alone, $kind" G$kind G${kind}4 3 -f 4,3 -b 20 --split test --negatives given --strict --disjoint --exclude reverse
done

# A directed graph: rows of heads are put together from all ranks' edges. Times.
/usr/bin/python3 - <<'PY' >told.csv
import random
random.seed(5)
print("source,target,time")
for i in range(4000):
    print("%d,%d,%d" % (random.randrange(300), random.randrange(300), i // 2))
PY
gnn-import -q --no-provenance --directed -o T told.csv
gnn-import -q --no-provenance --split-links node/to/node=time:80/10/10 -o TC T
gnn-partition -q --no-provenance -k 4 --method random -o T4 T
gnn-partition -q --no-provenance -k 4 --method random -o TC4 TC
same 'strict tails of a directed graph' T T4 4 -f 4,3 -b 90 --negatives binary:1 --strict --steps 0:9
same 'strict tails by degree' T T4 4 -f 4,3 -b 90 --negatives triplet:2 --strict --negative-weight degree:0.75 --steps 0:9
same 'joint tails' T T4 4 -f 4,3 -b 90 --negatives joint:5:8 --strict --negative-weight degree:0.75 --steps 0:9
same 'joint heads' S S4 3 -f 4 -b 70 --negatives joint:3 --negative-end head --exclude reverse --steps 0:9
same 'tails within a batch' S S4 4 -f 4,3 -b 70 --negatives in-batch:4 --strict --steps 0:9
same 'heads within a batch' T T4 2 -f 4,3 -b 90 --negatives in-batch:2 --negative-end head --steps 0:9
same 'heads by degree' T T4 3 -f 4 -b 90 --negatives binary:1 --negative-end head --negative-weight degree --steps 0:9
same 'strict pairs of a directed graph' T T4 3 -f 4 -b 90 --negatives binary:1 --strict --negative-end both --steps 0:9
same 'earlier neighbours' T T4 4 -f 4,3 -b 90 --time-rule lt --negatives binary:1 --strict --steps 0:9
same 'neighbours of until then, links excluded' T T4 2 -f 4,3 -b 90 --time-rule le --exclude self --negatives triplet:2 --steps 0:9
same 'timed sets' TC TC4 4 -f 4,3 -b 90 --time-rule lt --split train --eval valid --eval test --negatives binary:1 --strict
/usr/bin/python3 - <<'PY'
import pickle, random
random.seed(9)
rows = [tuple(map(int, line.split(","))) for line in open("told.csv").readlines()[1:]]
some = {k: [v for v in random.sample(range(300), random.randrange(6)) if v != k[1]] for k in rows}
import numpy as np
pickle.dump({k: np.array(v, "i8") for k, v in some.items()}, open("some.pkl", "wb"), 4)
PY
perl -e 'srand 8; print join(",", map { rand } 1 .. 4), "\n" for 1 .. 300' >told.x
gnn-import -q --no-provenance --directed --features told.x -o TX told.csv
gnn-import -q --no-provenance --split-links node/to/node=time:80/10/10 --negatives valid=some.pkl,test=some.pkl -o TR TX
gnn-partition -q --no-provenance -k 4 --method random -o TR4 TR
same 'candidates of different numbers' TR TR4 4 -f 4,3 -b 90 --time-rule lt --split train --eval valid --eval test --negatives binary:1 --strict
same 'those of a set alone' TR TR4 3 -f 4,3 -b 20 --time-rule le --split test --negatives given --disjoint
# What ranks make of links with fewer candidates than others, also where they learn from them.
for loss in bce bpr softmax; do
    for k in 1 3; do
        ranks $k gnn-train --hidden 8 --no-provenance --task links --split valid --eval test --negatives given -f 4,2 -b 90 --epochs 2 \
            --loss $loss --store TR4 -o lists.$k 2>said
        sed -n 's/.*\(epoch [01]: loss [0-9.]*\),.*/\1/p' said >curve.$k
        ranks $k gnn-predict --metric mrr --split test --store TR4 -o table.$k.csv lists.1 2>&1 | sed -n 's/.*test: //p' >measured.$k
    done
    check "gnn-train learns from lists on 3 ranks as on one: $loss" sh -c 'test -s curve.1 && cmp curve.1 curve.3'
    check "gnn-predict measures and writes them on 3 ranks as on one: $loss" sh -c 'test -s measured.1 && cmp measured.1 measured.3 && for k in 1 3; do cut -d , -f 1-4,7 table.$k.csv >lines.$k; done && cmp lines.1 lines.3'
    rm -f table.*
done
/usr/bin/python3 - <<'PY' # positions in the partitioned store, and the same nodes in the other
import os, sys
sys.path.insert(0, os.environ["GNN_TOP"] + "/tests/interop")
import gnb, numpy as np
ids = np.concatenate([p["node/node/id"] for p in gnb.read_store("S4")[1]])
pairs = [(1, 2), (3, 400), (500, 6), (7, 8), (9, 10), (2, 1), (899, 0)]
open("pairs4", "w").writelines("%d,%d\n" % p for p in pairs)
open("pairs1", "w").writelines("%d,%d\n" % (ids[a], ids[b]) for a, b in pairs)
PY
file='--links node/to/node -f 4 -b 4 --negatives triplet:2 --strict --no-provenance'
rm -f r.*.gnb
gnn-sample -q S $file --seeds pairs1 -o one.gnb
check 'gnn-sample on 4 ranks draws links of a file' ranks 4 gnn-sample -q S4 $file --seeds pairs4 -o 'r.%r.gnb'
check 'which are those of one process, too' union S4 one.gnb $(streams r 4)

# Nodes with times, of which negatives are those that are there.
perl -e 'print "id,time\n"; print "$_,", $_ < 5 ? 0 : $_, "\n" for 0 .. 299' >since.csv
perl -e 'srand 4; print "source,target,time\n"; print int rand 300, ",", int rand 300, ",", int rand 400, "\n" for 1 .. 1500' >late.csv
gnn-import -q --no-provenance --directed --nodes since.csv -o L late.csv
gnn-partition -q --no-provenance -k 4 --method random -o L4 L
same 'tails that are there' L L4 4 -f 4 -b 90 --time-rule le --negatives joint:3:4 --strict --steps 0:9
same 'pairs that are there' L L4 3 -f 4 -b 90 --time-rule lt --negatives binary:2 --negative-end both --negative-weight degree --steps 0:9

# Two types of nodes.
awk 'BEGIN { srand(7); print "user,item"; for (i = 0; i < 900; i++) print int(120 * rand()) "," 1000 + int(80 * rand()) }' >bought.csv
gnn-import -q --no-provenance -u --edge-type user/buys/item --columns source=user,target=item -o B bought.csv
gnn-partition -q --no-provenance -k 3 --method random -o B3 B
rm -f one.gnb r.*.gnb
shop='--links user/buys/item -f 3,3 -b 50 --negatives binary:2 --strict --exclude reverse'
gnn-sample -q B $shop -o one.gnb
check 'gnn-sample on 3 ranks draws links between two types' ranks 3 gnn-sample -q B3 $shop -o 'r.%r.gnb'
check 'which are those of one process' union B3 one.gnb $(streams r 3)

# Nodes that batch norm counts once, from hop 0 on; halos; devices; streams.
rm -f one.gnb r.*.gnb
some='--links node/to/node -f 4,3 -b 60 --negatives binary:1 --strict --steps 0:7'
gnn-sample -q S $some -o one.gnb
check 'gnn-sample --count-once on 3 ranks draws links' ranks 3 gnn-sample -q S4 $some --count-once -o 'r.%r.gnb'
check 'each node is counted by one rank' union S4 one.gnb $(streams r 3)
check 'nodes were counted' grep -q ' [1-9][0-9]* nodes counted' union.txt
gnn-partition -q --no-provenance -k 4 --halo-edges -o H4 S
rm -f r.*.gnb
check 'gnn-sample on 4 ranks draws links from parts with halo edges' ranks 4 gnn-sample -q H4 $some -o 'r.%r.gnb'
check 'which are those of one process' union H4 one.gnb $(streams r 4)
gnn-sample -q S $some --exclude reverse -o one.gnb
rm -f r.*.gnb
check 'links are excluded from parts with halo edges' ranks 4 gnn-sample -q H4 $some --exclude reverse -o 'r.%r.gnb'
check 'as they are in one process' union H4 one.gnb $(streams r 4)
if [ -x "$emu/gnn-sample" ]; then
    gnn-sample -q S $some -o one.gnb
    rm -f r.*.gnb
    check 'gnn-sample on 2 ranks with devices draws links' on 2 2 gnn-sample -q S4 --device cuda $some -o 'r.%r.gnb'
    check 'devices draw those of one process' union S4 one.gnb $(streams r 2)
fi
rm -f r.*.gnb
gnn-sample -q C --links node/to/node --split train -f 4,3 -b 100 --negatives binary:1 --strict --exclude reverse -o one.gnb
ranks 2 gnn-sample -q C4 --links node/to/node --split train -f 4,3 -b 100 --negatives binary:1 --strict --exclude reverse -o 'r.%r.gnb'
check 'gnn-gather on 2 ranks gathers for links' ranks 2 gnn-gather -q C4 -i 'r.%r.gnb' -o 'g.%r.gnb'
check 'the rows are those that the store has' union C4 one.gnb $(streams g 2)
check 'gnn-train on 2 ranks learns from streams of links' \
    ranks 2 gnn-train -q --hidden 8 --no-provenance -i 'g.%r.gnb' -o piped
check 'gnn-train with the store makes the same model' \
    ranks 2 gnn-train -q --store C4 --links node/to/node -f 4,3 -b 100 --epochs 1 --eval none --hidden 8 --no-provenance -o stored
check 'bit for bit' gnn-inspect --diff piped stored
check 'gnn-inspect --verify --against accepts the batches of one of the ranks' gnn-inspect --verify r.0.gnb --against C4

rm -f q.*
draw='--links node/to/node --split train --eval valid -f 3 -b 40 --negatives binary:1.3 --eval-negatives triplet:3'
ranks 2 gnn-sample -q C4 $draw -o 'q.%r.gnb'
check 'gnntools reads the batches of ranks' env PYTHONPATH="$GNN_TOP/formats/python" /usr/bin/python3 -c '
from gnntools import Stream
n = [len(list(Stream("q.%d.gnb" % r))) for r in (0, 1)]
assert n[0] == n[1] > 50, n'
refusing=gnn-sample
rm -f r.*.gnb
gnn-sample -q S $file --seeds pairs1 -o one.gnb
ranks 2 gnn-sample -q S4 $file --seeds - -o 'r.%r.gnb' <pairs4
check 'rank 0 reads links from a pipe, for all ranks' union S4 one.gnb $(streams r 2)
refuses 2 'keep-index' 'an index that ranks make for themselves' ranks 2 gnn-sample -q S4 $some --keep-index -o 'z.%r'
printf '0,1\n' | awk '{ for (i = 1; i < 900; i++) print "0," i }' >all.csv
gnn-import -q --no-provenance -o A all.csv && gnn-partition -q --no-provenance -k 2 -o A2 A
refuses 3 'joins it to all nodes' 'a node without a negative, on ranks' \
    ranks 2 gnn-sample -q A2 --links node/to/node -f 2 --negatives binary:1 --strict -o 'z.%r'

# Learning: the same losses, and metrics.
learn='--links node/to/node -f 4,3 -b 100 --epochs 2 --eval valid --hidden 16 --lr 0.01 --dropout 0 --no-layer-norm'
compare='
import json, sys
a, b = ([json.loads(l) for l in open(f)] for f in ("m1", "m4"))
x, y = ([e["loss"] for e in s if e["event"] == "step"] for s in (a, b))
assert len(x) == len(y) > 20 and all(abs(p - q) <= 1e-3 * abs(p) for p, q in zip(x, y)), max(abs(p - q) / abs(p) for p, q in zip(x, y))
u, v = ([e["valid"] for e in s if e["event"] == "epoch"] for s in (a, b))
assert len(u) == len(v) == 2
for p, q in zip(u, v):
    keys = [k for k in p if k not in ("rows",)]
    assert set(p) == set(q) and len(keys) > 1, (p, q)
    assert all(abs(p[k] - q[k]) <= 0.01 * abs(p[k]) for k in keys if isinstance(p[k], float)), (p, q)'
learned=0 turns=0
for more in '' '--decoder mlp --negatives binary:2 --strict --metric hits@20' '--decoder cosine --negatives triplet:4 --metric average-precision --batch-norm' \
    '--negatives triplet:5 --strict --metric recall@3' '--loss bpr --negatives binary:1.5' '--loss softmax --negatives joint:32:50 --strict' \
    '--loss softmax --negatives in-batch:24 --strict --eval-negatives triplet:4' '--decoder cosine --negatives joint:40 --negative-end head --strict'; do
    learned=$((learned + 1))
    turn 3 || continue
    check "gnn-train learns links in one process, $learned" gnn-train -q --store C $learn $more --metrics m1 -o one
    check "gnn-train learns links on 4 ranks, $learned" ranks 4 gnn-train -q --store C4 $learn $more --metrics m4 -o four
    check "gnn-train on 4 ranks has the losses and metrics of links of one process, $learned" /usr/bin/python3 -c "$compare"
done
few='--links node/to/node --split valid -f 3,2 -b 2 --epochs 1 --eval none --hidden 8 --lr 0.001 --dropout 0 --no-layer-norm'
check 'gnn-train on 4 ranks learns from batches in which some have no link' ranks 4 gnn-train -q --store C4 $few -o few
check 'gnn-train resumes links on ranks' sh -c "mpirun --quiet -n 2 gnn-train -q --store C4 $learn --epochs 1 --checkpoint K -o k &&
    mpirun --quiet -n 2 gnn-train -q --no-provenance --store C4 $learn --checkpoint K --resume -o k && mpirun --quiet -n 2 gnn-train -q --no-provenance --store C4 $learn -o k2 && cmp k k2"
done_testing
