# SPDX-License-Identifier: Apache-2.0
# gnn-sample --links --split: batches whose seeds are the links of a split's sets.
. "$GNN_TOP/tests/lib.sh"
python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || { skip 'gnn-sample draws links of sets' 'no numpy'; done_testing; }
smp() { gnn-sample -q --no-provenance "$@"; }
links() { "$python" "$GNN_TOP/tests/sample/links.py" "$@"; }
import() { gnn-import -q --no-provenance "$@"; }
refusing=gnn-sample
import -o s sbm:nodes=300,degree=5
import -o h sbm:nodes=200,types=3
perl -e 'srand 3; print "source,target,time\n"; print int rand 100, ",", int rand 100, ",", int rand 50, "\n" for 1 .. 900' >t.csv
import --directed -o t t.csv
homo=node/to/node typed=t0/up/t1
while read -r g split; do
    gnn-partition -q -k 3 --method random -o ${g}p $g
    # shellcheck disable=SC2086
    for p in '' p; do import --split-links $split -o $g$p-split $g$p; done
    gnn-partition -q -k 2 --method random -o $g-whole $g-split
done <<END
s $homo=80/10/10 --supervision 0.4
h $typed=80/10/10
t $homo=time:70/15/15
END
gnn-inspect --verify t-split >/dev/null

for how in '' '--negatives binary:1 --strict' '--negatives triplet:2 --negative-end head --strict --disjoint' '--negatives binary:2 --negative-end both --strict' \
    '--negatives binary:0.5 --no-shuffle'; do
    for g in s h t; do
        type=$homo lt=
        [ $g = h ] && type=$typed
        [ $g = t ] && lt='--time-rule lt'
        # shellcheck disable=SC2086
        set -- --links $type -f 4,3 $lt $how -b 40 --epochs 0:2 --eval valid --eval links/test
        smp $g-split "$@" -o one
        check "links of sets of $g are those of the split: $how" links check $g-split one
        check "gnn-inspect draws links of sets of $g again: $how" gnn-inspect --verify one --against $g-split
        smp $g-split "$@" --original-ids -o whole
        smp ${g}p-split "$@" --original-ids -o parts -j 3
        check "links of sets of $g do not depend on partitions: $how" gnn-inspect --diff --original whole parts
        smp $g-whole "$@" --original-ids -o complete
        check "and are those of a complete store: $how" gnn-inspect --diff --original whole complete
    done
done

# Evaluations of two epochs differ in what is drawn for them, not in their negatives.
smp s-split --links $homo -f 4 --negatives binary:1 -b 40 --epochs 0:2 --eval valid -o two
links list s-split two >list
check "evaluation negatives are the same in each epoch" sh -c 'sed -n "s/^0 \([0-9]* 1 negative\)/\1/p" list >a; sed -n "s/^1 \([0-9]* 1 negative\)/\1/p" list >b; test -s a && cmp a b'
check "training negatives are not" sh -c 'sed -n "s/^0 \([0-9]* 0 negative\)/\1/p" list >a; sed -n "s/^1 \([0-9]* 0 negative\)/\1/p" list >b; test -s a && ! cmp -s a b'

# What the links are, if nothing is said.
names() { "$python" -c "import sys; sys.path.insert(0, '$GNN_TOP/tests/interop'); import gnb; print(*(x['name'] for x in gnb.read_stream(sys.argv[1])[0]['sampling']['splits']))" "$1"; }
smp s-split --links $homo -f 2 -b 100 -o x1
smp s --links $homo -f 2 -b 100 -o x2
smp s-split --links $homo -f 2 -b 100 --split edges -o x3
smp h-split --links t1/down/t0 -f 2 -b 100 -o x4
check "set train is the default, where there is one" test "$(for i in 1 2 3 4; do names x$i; done | tr '\n' ' ')" = "train $(printf 'edges %.0s' 2 3 4)"
for x in "s-split x1" "s x2" "s-split x3" "h-split x4"; do
    # shellcheck disable=SC2086
    check "$x has them" links check $x
done
smp s-split --links $homo -f 2 -b 30 --split test --negatives binary:3 --strict -o alone
check "a set that is evaluated may come alone" links check s-split alone
check "with negatives that are no edges at all" gnn-inspect --verify alone --against s-split
perl -e 'srand 5; print int rand 300, " ", int rand 300, "\n" for 1 .. 100' >pairs
smp s-split --links $homo -f 2 --seeds pairs -b 30 --negatives binary:2 --strict -o listed
check "negatives of a file are no edges at all" links check s-split listed pairs

# Rows that are kept.
smp s-split --links $homo -f 2 -b 50 --negatives binary:1 --strict --eval valid --keep-index -o kept
smp s-split --links $homo -f 2 -b 50 --negatives binary:1 --strict --eval valid -o again
check "kept rows give the same" gnn-inspect --diff kept again
check "they are those of sets, too" sh -c 'ls s-split.index | grep -q all'

# What cannot be.
refuses 2 "no set 'mine'" 'a set that is not there' gnn-sample s-split --links $homo -f 1 --split mine -o x
refuses 2 'the store has no sets of such links' 'a store without sets of links' gnn-sample s --links $homo -f 1 --split mine -o x
refuses 2 "set 'random/train' is of nodes, not of links 'to': gnn-import --split-links makes sets of links" 'a set of nodes' gnn-sample s-split --links $homo -f 1 --split random/train -o x
refuses 2 "set 'train' is of links 'up', not of 'down'" 'links of another type' gnn-sample h-split --links t1/down/t0 -f 1 --split train -o x
refuses 2 "set 'links/train' is of links 'to', not of nodes: --links S/R/D" 'links in place of nodes' gnn-sample s-split -f 1 --split links/train -o x
refuses 2 'have no times' 'times that are not there' gnn-sample s-split --links $homo -f 1 --time-rule lt -o x
refuses 2 'named twice' 'a set twice' gnn-sample s-split --links $homo -f 1 --eval valid --eval links/valid -o x
refuses 2 'and --seeds exclude each other' 'a file and a set' gnn-sample s-split --links $homo -f 1 --seeds pairs --split train -o x
done_testing
