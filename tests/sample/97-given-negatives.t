# SPDX-License-Identifier: Apache-2.0
# Negatives that are given for sets of links: gnn-import --negatives, and what takes them.
. "$GNN_TOP/tests/import/splits.sh"
smp() { gnn-sample -q --no-provenance --original-ids "$@"; }
given() { "$python" "$GNN_TOP/tests/sample/given_negatives.py" "$@"; }
import -o s sbm:nodes=200,degree=6,features=4
perl -e 'srand 5; print int rand 50, ",", int rand 30, "\n" for 1 .. 400; print "49,29\n"' >ui.csv
perl "$GNN_TOP/tests/import/both_ways.pl" data <ui.csv
import -o h data
for g in s h; do cut -k 4 --method random -o ${g}p $g; done
# Links and negatives of both: 37 and 23 links, 101 and 5 pairs, 6 candidates; links may be edges, and negatives are any.
"$python" - <<'PY'
import numpy as np
r = np.random.default_rng(1)
for g, ends in ("s", (200, 200)), ("h", (50, 30)):
    every = r.permutation(ends[0] * ends[1])[:60]
    pairs = np.stack([every // ends[1], every % ends[1]], 1)
    if g == "s":
        pairs = np.sort(pairs, 1)
        pairs = np.unique(pairs, axis=0)[r.permutation(len(np.unique(pairs, axis=0)))]
    for name, links, shared in ("valid", pairs[:37], 101), ("test", pairs[37:60], 5):
        np.savetxt(f"{g}.{name}", links, "%d", ",")
        np.savetxt(f"{g}.{name}.pairs", np.stack([r.integers(0, n, shared) for n in ends], 1), "%d", ",")
        tails = r.integers(0, ends[1], (len(links), 6))
        tails[:, 0] = (links[:, 1] + 1) % ends[1]
        np.savetxt(f"{g}.{name}.tails", tails, "%d", ",")
        np.save(f"{g}.{name}.npy", tails.astype("i4"))
PY
while read -r g type kind of; do
    files=$type=valid=$g.valid,test=$g.test negatives=valid=$g.valid.$of,test=$g.test.$of
    import --split-links $files --negatives $negatives -o one-$g$kind $g
    import --split-links $files --negatives $negatives -o four-$g$kind ${g}p
    check "$g: a split with $of verifies" gnn-inspect --verify one-$g$kind
    check "so it does of four partitions, and is the same" gnn-inspect --verify four-$g$kind --against one-$g$kind
    cut -k 3 --method random -o cut-$g$kind one-$g$kind
    cut -k 1 -o whole-$g$kind four-$g$kind
    for how in '-f 3,2' '-f 3,2 --disjoint' '-f 2 --exclude reverse'; do
        # shellcheck disable=SC2086
        smp one-$g$kind $how --links $type -b 10 --negatives binary:1 --strict --eval valid --eval test -o one.gnb
        check "$g: evaluated sets have their negatives: $of $how" given one.gnb valid=$g.valid=$g.valid.$of test=$g.test=$g.test.$of
        check "gnn-inspect draws them again: $of $how" gnn-inspect --verify one.gnb --against one-$g$kind
        for store in four cut whole; do
            # shellcheck disable=SC2086
            smp $store-$g$kind $how --links $type -b 10 --negatives binary:1 --strict --eval valid --eval test -j 3 -o other.gnb
            check "and they are those of $store: $of $how" gnn-inspect --diff --original one.gnb other.gnb
        done
    done
    smp one-$g$kind -f 2 --links $type -b 8 --split test --negatives given --shuffle -o alone.gnb
    [ $of = pairs ] || check "a set alone, shuffled, has its candidates" given alone.gnb test=$g.test=$g.test.$of
    smp one-$g$kind -f 2 --links $type -b 8 --split test --negatives given --no-shuffle -o alone.gnb
    check "a set alone has its $of" given alone.gnb test=$g.test=$g.test.$of
    check "gnn-train --task links takes them" gnn-train --store one-$g$kind --links $type --task links -f 2,2 -b 50 --epochs 2 -o m-$g$kind.m
    cp err said
    check "and says so" grep -q 'negatives of evaluated sets are those given in the store (--eval-negatives given)' said
    check "and so does gnn-predict, with the same result" sh -c "
        gnn-predict -n --split test --store one-$g$kind m-$g$kind.m 2>&1 | sed -n 's/.*test: \([a-z-]* [0-9.]*\)[, ].*/\1/p' >last
        test -s last && grep -q \"best epoch.* test \$(cat last)\" said"
done <<'END'
s node/to/node p pairs
s node/to/node t tails
s node/to/node n npy
h user/buys/item p pairs
h user/buys/item t tails
END
check "arrays and text give the same" sh -c 'gnn-inspect --diff one-sn one-st'
status 1 "other negatives drawn, if they are asked for" sh -c 'gnn-train --store one-sp --task links -f 2 --epochs 1 --eval-negatives triplet:3 -o z.m 2>&1 | grep "those given"'
check "pairs can be given for shares" sh -c 'gnn-import -q --split-links node/to/node=80/10/10 --negatives valid=s.valid.pairs -o shares s && gnn-inspect --verify shares'
check "and are taken where all sets have some" sh -c 'gnn-train --store shares --task links --eval valid -f 2 --epochs 1 -o z.m 2>&1 | grep "those given"'
status 1 "but not otherwise" sh -c 'gnn-train --store shares --task links -f 2 --epochs 1 --force -o y.m 2>&1 | grep "those given"'
gnn-predict -n --split test --metric hits@5 --store one-sp m-sp.m 2>said
check "hits@K are of shared negatives" grep -q 'test: hits@5-shared' said
gnn-predict -n --split test --metric hits@5 --store one-st m-st.m 2>said
check "or of each link's" grep -q 'test: hits@5-realistic' said
for end in tail head both; do
    gnn-predict -n --split test --metric recall@2 --negative-end $end --store one-st m-st.m 2>&1 | sed 's/, loss.*//' >recall.$end
done
check "the recall of given candidates is of heads, whichever end would be drawn" sh -c 'grep -q recall@2 recall.tail && cmp recall.tail recall.head && cmp recall.tail recall.both'

# A header has the sum of the negatives: streams of others are of another kind.
head -n 100 s.valid.pairs >fewer
tail -n 1 s.test.pairs >>fewer
import --split-links node/to/node=valid=s.valid,test=s.test --negatives valid=fewer,test=s.test.pairs -o changed s
smp one-sp -f 2 --links node/to/node --split valid --negatives given --epochs 0:1 -o a.gnb
smp changed -f 2 --links node/to/node --split valid --negatives given --epochs 1:2 -o b.gnb
status 3 'streams of other negatives cannot be put together' sh -c 'cat a.gnb b.gnb | gnn-inspect --verify -'
grep -ao '"sum": *"[0-9a-f]*"' a.gnb | head -1 >sum.a
grep -ao '"sum": *"[0-9a-f]*"' b.gnb | head -1 >sum.b
check 'whose headers say so' sh -c 'test -s sum.a && test -s sum.b && ! cmp -s sum.a sum.b'

# What is wrong.
refusing='gnn-import --negatives'
wrong() { refuses "$1" "$2" "$3" gnn-import --split-links node/to/node=valid=s.valid,test=s.test --negatives "$4" -o x s; }
head -n 20 s.valid.tails >short
wrong 3 'short: 20 rows of candidates, and set valid has 37 links' 'too few rows' valid=short
sed '3s/,[0-9]*$//' s.valid.tails >uneven
wrong 3 'uneven: line 3: expected 6 tails, as in the first' 'rows of other lengths' valid=uneven
sed '5s/^[0-9]*/777/' s.valid.tails >far
wrong 3 "far: line 5: '777' is out of range" 'a tail that there is not' valid=far
sed '2s/,.*/,x/' s.test.pairs >word
wrong 3 "word: line 2: 'x' is not the position of a node\|word: line 2: 'x' is not the id of a node" 'a pair that is no numbers' test=word
: >none
wrong 3 'none: no links in it' 'an empty file' valid=none
wrong 2 'expected valid=FILE or test=FILE' 'negatives of training' train=s.test.pairs
wrong 2 'expected valid=FILE or test=FILE' 'a set that is there twice' valid=s.test.pairs,valid=s.test.pairs
wrong 2 'expected valid=FILE or test=FILE' 'no set' s.test.pairs
wrong 2 'negatives' 'an empty list' ''
wrong 2 'negatives' 'a file after a comma that is not there' valid=s.valid.pairs,
refuses 2 'requires --split-links' 'no split' gnn-import --negatives valid=s.test.pairs -o x sbm:nodes=9
refuses 3 'there are no links of this set' 'a set that is empty' gnn-import --split-links node/to/node=90/10/0 --negatives test=s.test.pairs -o x s
refuses 3 'are candidates of each link, in the order of the links of set valid, which no file lists' 'candidates of shares' \
    gnn-import --split-links node/to/node=80/10/10 --negatives valid=s.valid.tails -o x s
perl -F, -lane 'print $F[1]' s.valid >self
gnn-import --split-links node/to/node=valid=s.valid --negatives valid=self -o itself s 2>said
check "candidates that are the link itself are counted" grep -q 'warning: 37 of the candidates of set valid are the tail of the link itself' said
check "nothing is left of these" sh -c '! ls x* 2>/dev/null'
refusing=gnn-sample
refuses 2 "set 'train' has no given negatives (gnn-import --negatives" 'given negatives of training' \
    gnn-sample one-sp -f 2 --links node/to/node --negatives given -o z
refuses 2 'binary:A, A above 0, or triplet:K, .*, or given' 'other words' \
    gnn-sample one-sp -f 2 --links node/to/node --negatives some -o z
import --split-links node/to/node=valid=s.valid,test=s.test --negatives valid=s.valid.pairs,test=s.test.tails -o mixed s
refuses 2 'have given negatives of different kinds' 'sets of two kinds' \
    gnn-sample mixed -f 2 --links node/to/node --negatives binary:1 --eval valid --eval test -o z
done_testing
