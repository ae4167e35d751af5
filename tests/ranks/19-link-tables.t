# SPDX-License-Identifier: Apache-2.0
# gnn-predict on ranks: pairs by ids and names, which rank 0 reads, and tables, which it writes: those of one process.
. "$GNN_TOP/tests/ranks/setup.sh"
import() { gnn-import -q --no-provenance "$@"; }
learn() { gnn-train -q --no-provenance -f 4,3 -b 50 --hidden 8 --epochs 1 "$@"; }
/usr/bin/python3 - <<'PY'
import random
random.seed(5)
with open("rated.csv", "w") as f, open("x.csv", "w") as x:
    print("source,target,kind", file=f)
    for i in range(2000):
        u, v = random.randrange(200), random.randrange(200)
        print(f"{u},{v},{u % 2 + v % 3}", file=f)
    for v in range(200):
        print(f"{v % 2},{v % 3 == 0:d},{v % 3 == 1:d}", file=x)
pairs = [(random.randrange(200), random.randrange(200)) for _ in range(333)]
with open("pairs", "w") as f:
    for u, v in pairs:
        print(f"{u},{v}", file=f)
name = lambda v: ['plain%d', 'has, comma %d', 'two  words %d', 'éà%d'][v % 4] % v
quote = lambda s: '"%s"' % s
with open("named.csv", "w") as f, open("asked", "w") as a:
    print("user,item", file=f)
    for i in range(1500):
        print(f'{quote(name(random.randrange(150)))},{7 * random.randrange(90) + 1000}', file=f)
    for _ in range(250):
        print(f'{quote(name(random.randrange(150)))},{7 * random.randrange(90) + 1000}', file=a)
with open('since.csv', 'w') as f:
    print('id,a,b', file=f)
    for v in range(100):
        print(f'n{v},{random.random():.3f},{random.random():.3f}', file=f)
with open('shared', 'w') as f:
    for _ in range(77):
        print(random.randrange(200), random.randrange(200), file=f)
for of, ids in ('user', [quote(name(v)) for v in range(150)]), ('item', range(1000, 1630, 7)):
    with open(of + '.csv', 'w') as f:
        print('id,a,b', file=f)
        for v in ids:
            print(f'{v},{random.random():.3f},{random.random():.3f}', file=f)
with open("told.csv", "w") as f, open("when", "w") as a:
    print("source,target,time", file=f)
    for i in range(1500):
        print(f"n{random.randrange(100)},n{random.randrange(100)},{random.randrange(90)}", file=f)
    for i in range(120):
        print(f"n{random.randrange(100)}\tn{random.randrange(100)}\t{random.randrange(100)}" + "\n" * (i % 3 == 0), file=a)
PY
import --directed --features x.csv -o G rated.csv
import --split-links node/to/node=70/15/15 -o C G
import -u --edge-type user/buys/item --columns source=user,target=item --features user=user.csv --features item=item.csv -o B named.csv
import --split-links user/buys/item=80/10/10 -o S B
import --directed --features since.csv -o T told.csv
import --split-links node/to/node=70/15/15 --negatives test=shared -o D G
for g in C D S T; do gnn-partition -q --no-provenance -k 4 --method random -o ${g}4 $g || exit 1; done
learn --store C --links node/to/node --negatives binary:1.3 --eval-negatives triplet:3 --strict --eval valid -o told
learn --store C --links node/to/node --negatives binary:1 --eval-negatives binary:1.3 --eval valid -o binary
learn --store C --links node/to/node --target kind -o kind
learn --store S --links user/buys/item --negatives triplet:2 --strict -o bought
learn --store T --links node/to/node --negatives binary:1 --time-rule lt -o timed
same='
import csv
a, b = (list(csv.reader(open(f))) for f in ("one.csv", "many.csv"))
assert len(a) == len(b) > 100 and a[0] == b[0], (len(a), len(b))
numbers = [i for i, c in enumerate(a[0]) if c in ("score", "probability") or c[:9] in ("embedding", "probabili")]
exact = [i for i in range(len(a[0])) if i not in numbers and a[0][i] != "class"]
for x, y in zip(a[1:], b[1:]):
    assert [x[i] for i in exact] == [y[i] for i in exact], (x, y)
    assert all(abs(float(x[i]) - float(y[i])) < 1e-4 for i in numbers), (x, y)
assert len(numbers) and len({tuple(x[i] for i in numbers) for x in a}) > 20'
k=2
while read -r g model options; do
    k=$((6 - k))
    # shellcheck disable=SC2086
    gnn-predict -q --store $g -o one.csv $options $model
    for many in $(choice '2 4' $k); do
        rm -f many.csv
        # shellcheck disable=SC2086
        check "gnn-predict on $many ranks: $g $options of $model" ranks "$many" gnn-predict -q --store ${g}4 -o many.csv $options $model </dev/null
        check "it writes the table of one process" /usr/bin/python3 -c "$same"
    done
done <<'END'
C told --seeds pairs
C told --split valid --split test --negatives triplet:3
C binary --split test
C binary --split test --negatives binary:0.7
C told --split test --negatives joint:3:4
C told --split test --negatives in-batch:2
D told --split test
C told --split valid --output-kind embeddings
C kind --seeds pairs
C kind --split test --output-kind probs
S bought --seeds asked
S bought --split test --negatives triplet:2 --strict
T timed --seeds when
END
gnn-predict -q --store S --seeds asked bought >one.csv
ranks 3 gnn-predict -q --store S4 --seeds - bought <asked >many.csv
check 'pairs come on standard input, and the table goes to standard output' /usr/bin/python3 -c "$same"
gnn-predict -q --store S --seeds asked -o one.npy bought
ranks 2 gnn-predict -q --store S4 --seeds asked -o many.npy bought
check 'scores of pairs are an array, too' /usr/bin/python3 -c '
import numpy as np
a, b = np.load("one.npy"), np.load("many.npy")
assert a.shape == b.shape == (250,) and np.allclose(a, b, atol=1e-4)'

if [ -x "$emu/gnn-predict" ]; then
    gnn-predict -q --store S --seeds asked -o one.csv bought
    check 'devices of ranks predict pairs' on 2 1 gnn-predict -q --device cuda --store S4 --seeds asked -o many.csv bought
    check 'as one process does' /usr/bin/python3 -c "$same"
fi

# gnn-sample reads pairs in the same way, and draws what one process draws.
smp='--links node/to/node -f 3 -b 40 --time-rule lt --negatives triplet:2 --strict --no-provenance'
gnn-sample -q T $smp --seeds when -o one.gnb
ranks 2 gnn-sample -q T4 $smp --seeds - -o 'r.%r.gnb' <when
check 'gnn-sample on ranks takes names of nodes from a pipe' \
    /usr/bin/python3 "$GNN_TOP/tests/ranks/union.py" T4 one.gnb r.0.gnb r.1.gnb

# What cannot be.
refusing=gnn-predict
# wrong MESSAGE NAME FILE STORE MODEL
wrong() {
    gnn-predict -q --store "$4" --seeds "$3" -o never.csv "$5" 2>alone
    check "$2: one process says so" grep -q -- "$1" alone
    refuses 3 "$1" "$2, on ranks" ranks 2 gnn-predict -q --store "${4}4" --seeds "$3" -o never.csv "$5"
}
{ cat asked && printf '\n"no such","1000"\n"nor this",1000\n'; } >unknown
wrong "unknown: line 252: 'no such' is not the id of a node of type 'user'" 'a name that no rank knows' unknown S bought
printf '"plain0",1000\n"plain4",1001\n' >other
wrong "other: line 2: '1001' is not the id of a node of type 'item'" 'an id that no rank knows' other S bought
printf '1,2\n3,2000\n' >beyond
wrong "beyond: line 2: '2000' is out of range" 'a number that is too large' beyond C told
printf '1,2\n\n3\n' >short
wrong 'short: line 3: expected a head, a tail and no more' 'a head alone' short C told
: >none
wrong 'none: no links in it' 'an empty file' none C told
refuses 3 'gone: cannot open' 'a file that is gone' ranks 2 gnn-predict -q --store C4 --seeds gone -o never.csv told
check "nothing is left of them" sh -c '! ls never* 2>/dev/null'
done_testing
