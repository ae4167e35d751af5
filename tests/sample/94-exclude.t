# SPDX-License-Identifier: Apache-2.0
# gnn-sample --exclude: the links of a batch are absent before neighbours are drawn.
. "$GNN_TOP/tests/lib.sh"
python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || { skip 'gnn-sample excludes links' 'no numpy'; done_testing; }
smp() { gnn-sample -q --no-provenance "$@"; }
exclude() { "$python" "$GNN_TOP/tests/sample/exclude.py" "$@"; }
refusing=gnn-sample

# Few nodes, so that there are parallel edges, reverses and equal times; edges of weight 0; and types with their reverses,
# of which one pair has names of their own, and is not complete.
perl -e 'srand 3; print "source,target,time,weight\n"; print int rand 60, ",", int(60 * rand() ** 2), ",", int rand 20, ",", int rand 4, "\n" for 1 .. 900' >t.csv
gnn-import -q --directed -o t t.csv
perl -e 'srand 4; print "source,target\n"; print int rand 60, ",", int(60 * rand() ** 2), "\n" for 1 .. 900' >s.csv
gnn-import -q --directed -o s s.csv
perl -e 'srand 5; print "u,i\n"; print "u", int rand 50, ",i", int rand 30, "\n" for 1 .. 400' >ui.csv
gnn-import -q -u --columns source=u,target=i --edge-type user/buys/item -o h ui.csv
perl "$GNN_TOP/tests/import/both_ways.pl" data 5 <ui.csv
gnn-import -q --reverse-of item/sold_to/user=user/buys/item -o n data
for store in t s h n; do
    gnn-partition -q -k 3 --method random -o ${store}p $store
done

# store STORE LINKS OPTION...: batches of this recipe with each exclusion, in all ways to draw them.
store() {
    store=$1 links=$2
    shift 2
    smp $store --links $links "$@" -b 10 -o all
    for which in self reverse; do
        smp $store --links $links "$@" -b 10 --exclude $which -o one
        check "$store: $which is excluded, and nothing else changes: $*" exclude check $store one all
        sed 's/^/# /' out
        check "$store: gnn-inspect --verify --against draws them again: $which $*" gnn-inspect --verify one --against $store
        smp $store --links $links "$@" -b 10 --exclude $which --original-ids -o whole
        smp ${store}p --links $links "$@" -b 10 --exclude $which --original-ids -j 3 -o parts
        check "$store: partitions and threads do not matter: $which $*" gnn-inspect --diff --original whole parts
    done
}
for how in '-f 4,3' '-f 4,3 --replace' '-f 4,3 --labor' '-f 70,80 --labor' '-f -1,2' '-f 3,3 --disjoint' '-f 4,2 --induced' '-f 3,3,2 --frontier new' \
    '-f 4,3 --edge-ids --negatives binary:1' '-f 70,3' '-f 1100,3 --replace'; do
    # shellcheck disable=SC2086
    store s node/to/node $how
done
for how in '-f 4,3' '-f 3,2 --replace --negatives triplet:2' '-f 3,2 --labor' '-f 3,3 --disjoint --negatives binary:1'; do
    # shellcheck disable=SC2086
    store h user/buys/item $how
done
store h item/rev_buys/user -f 3,2
for how in '-f 4,3' '-f 3,3 --disjoint --negatives binary:1'; do
    # shellcheck disable=SC2086
    store n user/buys/item $how
    # shellcheck disable=SC2086
    store n item/sold_to/user $how
done
for how in '-f 4,3 --weight weight' '-f 4,3 --weight weight --replace' '-f 70,3 --weight weight' '-f 1,-1 --weight weight' '-f 4,3 --top weight' \
    '-f 70,3 --top weight' '-f 4,3 --weight weight --induced'; do
    # shellcheck disable=SC2086
    store t node/to/node $how
done
for rule in lt le; do
    for how in '' '--latest' '--window 3' '--window 6 --latest' '--weight weight' '--weight weight --replace' '--top weight' '--labor' '--hop-time edge' \
        '--disjoint --negatives binary:1' '--induced'; do
        # shellcheck disable=SC2086
        store t node/to/node -f 4,3 --time-rule $rule $how
    done
done

# Laws: of a row with excluded edges, the others are picked as often as their weights say.
perl -e 'print "source,target,weight\n"; print "$_,0,", 1 + $_ % 3, "\n" for 1 .. 9, 3, 3, 5; print "0,9,1\n"' >few.csv
gnn-import -q --directed -o few few.csv
perl -e 'print "3 0\n9 0\n" x 20000' >pairs
for how in '-f 1' '-f 3' '-f 3 --replace' '-f 3 --labor' '-f 1 --weight weight' '-f 2 --weight weight' '-f 4 --weight weight --replace'; do
    # shellcheck disable=SC2086
    smp few --links node/to/node --seeds pairs -b 2 --exclude self $how --steps 0:3000 -o drawn
    check "the others are drawn as if the excluded had never been: $how" exclude law few drawn
    sed 's/^/# /' out
done

# What cannot be.
gnn-import -q --directed --columns source=u,target=i --edge-type user/buys/item -o lone ui.csv
refuses 2 'have no reverses' 'reverses that are not there' gnn-sample lone --links user/buys/item -f user/buys/item=1 --exclude reverse -o x
refuses 2 'requires --links' 'nothing to exclude' gnn-sample s -f 1 --exclude self -o x
refuses 2 "none, self, reverse" 'a wrong word' gnn-sample s --links node/to/node -f 1 --exclude both -o x
check "nothing is left of them" sh -c '! ls x* 2>/dev/null'
check "gnn-inspect tells of it" sh -c "gnn-inspect one | grep -q -e '--exclude reverse'"
done_testing
