# SPDX-License-Identifier: Apache-2.0
# gnn-import --split-links: splits of links, as stores that have a base store.
. "$GNN_TOP/tests/import/splits.sh"
sound() { gnn-inspect --verify "$1" >/dev/null; }
refusing=gnn-import
import -o s sbm:nodes=400,degree=5
import -o h sbm:nodes=300,types=3
perl -e 'srand 3; print "source,target,time,weight\n"; print int rand 60, ",", int rand 60, ",", int rand 50, ",", rand, "\n" for 1 .. 900' >t.csv
import --directed -o t t.csv
import --undirected -o u t.csv
perl -e 'srand 4; print "source,target\n"; print int rand 40, ",", int rand 40, "\n" for 1 .. 400' >d.csv
import --directed -o d d.csv
printf '%s\n' 0,1 1,2 0,2 3,1 4,0 4,2 5,1 6,2 7,0 7,1 8,2 9,0 9,1 9,1 >ui.csv
perl "$GNN_TOP/tests/import/both_ways.pl" data 2 <ui.csv
import --reverse-of item/sold_to/user=user/buys/item -o m data
for g in s h t u d m; do cut -k 4 --method random -o ${g}p $g; done
cut -k 3 --method random --no-edge-ids -o sn s

# Whole shares, each link once, messages of training pairs alone, the same for all partitions.
i=0
while read -r g type shares more; do
    i=$((i + 1))
    # shellcheck disable=SC2086
    split $type=$shares ${more:+--supervision $more} -o one$i $g
    check "$type=$shares $more of $g is a split by pair or time" looks check one$i $g $type $shares $more
    # shellcheck disable=SC2086
    split $type=$shares ${more:+--supervision $more} -o four$i ${g}p
    check "and of four partitions" looks check four$i ${g}p $type $shares $more
    check "both verify" sh -c "gnn-inspect --verify one$i && gnn-inspect --verify four$i"
    check "and are one graph" gnn-inspect --verify four$i --against one$i
    cut -k 1 -o whole$i four$i
    cut -k 1 -o again$i one$i
    check "gnn-partition makes both complete, and the same" gnn-inspect --diff whole$i again$i
    check "which need no base" sh -c "! grep -q '\"base\"' whole$i/store.json && gnn-inspect --verify whole$i --against one$i"
done <<'END'
s node/to/node 85/5/10
s node/to/node 0.6/0.2/0.2 0.3
h t0/up/t1 80/10/10
h t0/rev_down/t1 70/0/30 0.5
h t0/to/t0 50/50/0
m user/buys/item 60/20/20
m item/sold_to/user 60/20/20 0.5
t node/to/node 85/5/10
t node/to/node time:70/15/15
u node/to/node 80/10/10
u node/to/node time:70/15/15
d node/to/node 60/20/20
d node/to/node 100/0/0 0.25
END
check "a split without edge ids" sh -c "gnn-import -q --split-links node/to/node=85/5/10 -o n sn && gnn-inspect --verify n"
looks dump one1 >a
looks dump n >b
check "is the same" cmp a b
split node/to/node=85/5/10 --seed 2 -o other s
looks dump other >b
check "another seed gives another" sh -c '! cmp -s a b'
check "splits have the graph of each other" sh -c 'grep "\"graph\"" one1/store.json >a; grep "\"graph\"" four1/store.json | cmp a - && ! grep -q -f a other/store.json'
check "features are not copied" sh -c '! grep -q "node/node/x" one1/part-00000.gnb'

# What reads stores reads splits.
check "gnn-inspect names the base" sh -c 'gnn-inspect one1 >out && grep -q "base   store ../s" out && grep -q "split  links/train  .*of node/to/node" out'
gnn-sample -q --no-provenance one1 -f 3,3 -o batches
check "gnn-sample, gnn-gather and gnn-train read it" sh -c 'gnn-gather -q one1 <batches | gnn-train -q -o model >/dev/null'
check "batches are those that are drawn again" gnn-inspect --verify batches --against one1
gnn-sample -q --no-provenance one1 --original-ids -f 3,3 -o original
gnn-sample -q --no-provenance whole1 --original-ids -f 3,3 -o complete
check "and those of a complete store" gnn-inspect --diff --original original complete
check "Python finds features in the base, and sets of nodes" env PYTHONPATH="$GNN_TOP/formats/python" "$python" -c 'import gnntools
s, t = gnntools.Store("one1"), gnntools.Store("s")
assert (s.rows("x")[[3, 5]] == t.rows("x")[[3, 5]]).all() and (s.set("train") == t.set("train")).all()'
cut -k 3 --halo-edges -o halo one1
check "halos can have their edges" gnn-inspect --verify halo --against one1
refuses 2 "set 'links/train' is of links 'to', not of nodes" 'a set of links as seeds that are nodes' gnn-sample one1 -f 3 --split links/train -o x
mkdir -p deep/er
split node/to/node=85/5/10 -o deep/er/rel s
check "a base is found from elsewhere" sh -c 'cd deep && gnn-inspect --verify er/rel'
mkdir moved && cp -r s moved/s && cp -r one1 moved/one1
check "both can move" gnn-inspect --verify moved/one1
split node/to/node=85/5/10 -o absolute "$PWD/s"
mkdir far && mv absolute far/
check "an absolute name stays" gnn-inspect --verify far/absolute

# What is wrong with a base, or with the tensors.
refusing=gnn-inspect
mv moved/s moved/gone
refuses 3 'moved/one1: its base store moved/one1/../s is gone' 'a base that is gone' gnn-inspect moved/one1
gnn-import -q -o moved/s sbm:nodes=400,degree=6
refuses 3 "its base store $PWD/moved/s has changed: identity " 'a base that has changed' gnn-inspect moved/one1
rm -r moved/s && cp -r one2 moved/s
refuses 3 'has changed' 'another base' gnn-inspect moved/one1
flip() { perl -e 'open F, "+<", $ARGV[0]; binmode F; local $/; $_ = <F>; my $at = $ARGV[1] < 0 ? (length) + $ARGV[1] : $ARGV[1]; seek F, $at, 0; print F chr(ord(substr $_, $at, 1) ^ 64)' "$1" "$2"; }
size=$(wc -c <one1/part-00000.gnb)
for at in 100 4200 $((size / 2)) $((size - 9000)); do
    rm -rf bad && cp -r one1 bad
    flip bad/part-00000.gnb "$at"
    gnn-inspect --verify bad >out 2>&1
    check "byte $at of a split is damaged" test $? -eq 3
    sed 's/^/# /' out
    rm -rf bad && cp -r one1 bad
    truncate -s "$at" bad/part-00000.gnb
    gnn-inspect --verify bad >out 2>&1
    check "a split is cut at byte $at" test $? -eq 3
done
rm -rf bad moved && mkdir moved && cp -r s moved/s && cp -r one1 moved/one1
flip moved/s/part-00000.gnb "$(($(wc -c <moved/s/part-00000.gnb) / 2))"
refuses 3 'moved/s/part-00000.gnb: tensor .*checksum' 'a base that is damaged' gnn-inspect --verify moved/one1

# What cannot be.
refusing=gnn-import
refuses 2 'shares that add up to 100' 'shares of 90' gnn-import --split-links node/to/node=80/5/5 -o x s
refuses 2 'shares that add up to 100' 'nothing to train on' gnn-import --split-links node/to/node=0/50/50 -o x s
refuses 2 'shares that add up to 100' 'negative shares' gnn-import --split-links node/to/node=110/-10/0 -o x s
refuses 2 'shares that add up to 100' 'two shares' gnn-import --split-links node/to/node=80/20 -o x s
refuses 2 'shares that add up to 100' 'no shares' gnn-import --split-links node/to/node -o x s
refuses 2 "no edge type 'a/b/c'" 'no such type' gnn-import --split-links a/b/c=80/10/10 -o x s
refuses 2 'have no times' 'edges without times' gnn-import --split-links node/to/node=time:80/10/10 -o x s
refuses 2 'cannot be used with a split by time' 'supervision by time' gnn-import --split-links node/to/node=time:80/10/10 --supervision 0.5 -o x t
refuses 2 'requires --split-links' 'supervision alone' gnn-import --supervision 0.5 -o x sbm:nodes=10
refuses 2 'cannot be used with --split-links' 'options of other inputs' gnn-import --split-links node/to/node=80/10/10 --undirected -o x s
refuses 2 'one1 is a split of' 'a split of a split' gnn-import --split-links node/to/node=80/10/10 -o x one1
refuses 2 "has a split 'links' already" 'a split of a complete one' gnn-import --split-links node/to/node=80/10/10 -o x whole1
refuses 2 'is the same file as the input s' 'its own base' gnn-import --split-links node/to/node=80/10/10 --force -o s s
printf 'source,target\n0,1\n1,2\n' >few.csv
import --directed -o few few.csv
refuses 3 'none would be in set valid: give it a larger share, or 0' 'too few links' gnn-import --split-links node/to/node=80/10/10 -o x few
refuses 3 'it leaves none to learn from' 'too little supervision' gnn-import --split-links node/to/node=50/0/50 --supervision 0.1 -o x few
refuses 3 'd.csv: not a store' 'a file that is no store' gnn-import --split-links node/to/node=80/10/10 -o x d.csv
check "nothing is left of them" sh -c '! ls x* 2>/dev/null'
done_testing
