# SPDX-License-Identifier: Apache-2.0
# gnn-inspect --leaks of links: what batches and splits give away is counted, and nothing else.
. "$GNN_TOP/tests/lib.sh"
python=/usr/bin/python3
"$python" -c 'import numpy, xxhash' 2>/dev/null || { skip 'gnn-inspect --leaks counts leaks of links' 'no numpy or xxhash'; done_testing; }
smp() { gnn-sample -q --no-provenance "$@"; }
leaks() { "$python" "$GNN_TOP/tests/inspect/link_leaks.py" "$@"; }
# WHAT of FILE: a number of the report
number() { perl -MJSON::PP -0777 -e 'my $x = decode_json(<STDIN>); $x = $x->{$_} for split m{/}, $ARGV[0]; print $x' "$1" <"$2"; }

# Few nodes, so that there are parallel edges, reverses and equal times; edges of weight 0; and a type with its reverse.
perl -e 'srand 3; print "source,target,time,weight\n"; print int rand 60, ",", int(60 * rand() ** 2), ",", int rand 20, ",", int rand 4, "\n" for 1 .. 900' >t.csv
gnn-import -q --directed -o t t.csv
perl -e 'srand 4; print "source,target\n"; print int rand 60, ",", int(60 * rand() ** 2), "\n" for 1 .. 900' >s.csv
gnn-import -q --directed -o s s.csv
perl -e 'srand 5; print "u,i\n"; print "u", int rand 50, ",i", int rand 30, "\n" for 1 .. 400' >ui.csv
gnn-import -q -u --columns source=u,target=i --edge-type user/buys/item -o h ui.csv
perl "$GNN_TOP/tests/import/both_ways.pl" data 5 <ui.csv
gnn-import -q --reverse-of item/sold_to/user=user/buys/item -o n data
gnn-import -q -o u sbm:nodes=100,degree=6
while read -r g split; do
    gnn-partition -q -k 4 --method random -o ${g}p $g
    # shellcheck disable=SC2086
    for p in '' p; do gnn-import -q --split-links $split -o $g$p-split $g$p; done
    gnn-partition -q -k 2 --method random -o $g-whole $g-split
done <<END
s node/to/node=80/10/10 --supervision 0.4
h user/buys/item=80/10/10
n user/buys/item=80/10/10
t node/to/node=time:70/15/15
u node/to/node=60/20/20
END

# none STORE OPTION...: batches that exclude their links, with strict negatives, leak nothing.
batches=0
none() {
    store=$1
    shift
    smp $store --exclude reverse --negatives binary:1 --strict -b 2 "$@" -o none.gnb
    check "no leaks in $store: $*" sh -c "gnn-inspect --json --leaks --against $store none.gnb >json"
    batches=$((batches + $(number batches json)))
    rm none.gnb
}
for how in '-f 4,3' '-f 4,3 --replace' '-f 4,3 --labor' '-f -1,2' '-f 3,3 --disjoint' '-f 4,2 --induced' '-f 3,3,2 --frontier new' '-f 4,3 --edge-ids' \
    '-f 4,3 --negative-end both' '-f 3,2 --negatives triplet:3 --negative-end head --disjoint' \
    '-f 4,3 --negatives joint:3:2'; do
    # shellcheck disable=SC2086
    for p in '' p; do
        none s$p --links node/to/node $how
        none u$p --links node/to/node $how
        none h$p --links user/buys/item $how
        none n$p --links item/sold_to/user $how
    done
    # shellcheck disable=SC2086
    for store in s-split sp-split s-whole u-split up-split h-split hp-split np-split n-whole; do
        type=node/to/node
        case $store in [hn]*) type=user/buys/item ;; esac
        none $store --links $type $how --eval valid --eval test
    done
done
for how in '-f 4,3 --weight weight' '-f 4,3 --weight weight --replace' '-f 1,-1 --weight weight' '-f 4,3 --top weight' '-f 4,3 --weight weight --induced'; do
    # shellcheck disable=SC2086
    for p in '' p; do none t$p --links node/to/node $how; done
done
for rule in lt le; do
    for how in '' '--latest' '--window 3' '--window 6 --latest' '--weight weight' '--top weight' '--labor' '--hop-time edge' '--disjoint --edge-ids' '--induced'; do
        # shellcheck disable=SC2086
        for store in t tp; do none $store --links node/to/node -f 4,3 --time-rule $rule $how; done
        # shellcheck disable=SC2086
        for store in t-split tp-split t-whole; do none $store --links node/to/node -f 4,3 --time-rule $rule $how --eval valid --eval test; done
    done
done
check "gnn-inspect --leaks looked at $batches batches" test $batches -ge 30000

# Of batches that exclude less, and whose negatives are any, all leaks are counted.
counts() {
    store=$1
    shift
    rm -f some.gnb
    smp $store "$@" -o some.gnb
    count_all "$store: $*"
}
count_all() {
    gnn-inspect --json --leaks --against $store some.gnb >json
    check "gnn-inspect --leaks counts what there is in $1" leaks count $store some.gnb json
    sed 's/^/# /' out
}
for exclude in none self; do
    for how in '-f 4,3' '-f 4,3 --replace --edge-ids' '-f 3,3 --disjoint --negatives triplet:2' '-f 4,2 --induced' '-f 3,3 --frontier new --original-ids'; do
        # shellcheck disable=SC2086
        for store in s sp; do counts $store --links node/to/node -b 10 --exclude $exclude --negatives binary:1 $how; done
        # shellcheck disable=SC2086
        for store in hp np; do counts $store --links user/buys/item -b 10 --exclude $exclude --negatives binary:1 $how; done
        # shellcheck disable=SC2086
        counts u-split --links node/to/node -b 10 --exclude $exclude --negatives binary:2.5 --eval valid $how
        # shellcheck disable=SC2086
        for rule in le 'le --window 3' 'le --hop-time edge' lt; do
            case "$rule $how" in *edge*induced*) continue ;; esac
            counts t --links node/to/node -b 10 --exclude $exclude --negatives binary:1 $how --time-rule $rule
        done
    done
done

# Of batches from which links are removed once neighbours are drawn, ends are too short.
for how in '-f 4,3' '-f 4,3 --disjoint' '-f 3,-1 --frontier new' '-f 4,3 --replace'; do
    for store in s u hp; do
        type=node/to/node
        [ $store = hp ] && type=user/buys/item
        # shellcheck disable=SC2086
        smp $store --links $type -b 10 --negatives binary:1 $how -o all.gnb
        leaks remove $store all.gnb some.gnb
        count_all "$store, of which links were removed: $how"
        check "and there are some" test "$(number short_ends/count json)" -gt 20
        check "but no links" test "$(number link_edges/count json)$(number reverse_edges/count json)" = 00
        rm all.gnb
    done
done

# One of each kind.
smp u --links node/to/node -f 4,3 -b 10 --exclude reverse --negatives binary:1 --strict --disjoint -o good.gnb
smp h --links user/buys/item -f 4,3 -b 10 --exclude reverse --negatives binary:1 --strict --disjoint -o typed.gnb
check "gnn-inspect --leaks finds nothing to begin with" sh -c 'gnn-inspect -q --leaks --against u good.gnb >said && gnn-inspect -q --leaks --against h typed.gnb >>said && test ! -s said'
while IFS='|' read -r store kind line; do
    good=good.gnb
    [ $store = h ] && good=typed.gnb
    check "a leak is planted: $kind in $store" leaks plant $kind $store $good planted.gnb
    status 1 "gnn-inspect --leaks has status 1: $kind in $store" gnn-inspect -q --leaks --against $store planted.gnb
    cp out said
    sed 's/^/# /' said
    check "it says where it is: $kind in $store" grep -qE "^$line$" said
    check "and nothing else: $kind in $store" test "$(wc -l <said)" -eq 1
done <<'END'
u|link_edges|edges that are links of their batch: 1 of [0-9]+ in [0-9]+ batches; first: batch [0-9]+: hop 0: edge [0-9]+ of node/to/node: [0-9]+ -> [0-9]+
u|reverse_edges|edges that are reverses of links of their batch: 1 of [0-9]+ in [0-9]+ batches; first: batch [0-9]+: hop 0: edge [0-9]+ of node/to/node: [0-9]+ -> [0-9]+
u|short_ends|ends of links with fewer edges than others would have: 1; first: batch [0-9]+: hop 0: node [0-9]+ has 3 edges of node/to/node, and should have 4
u|true_negatives|negatives that are edges: 1 of [0-9]+, which are strict; first: batch 0: negative 0: [0-9]+ -> [0-9]+
u|strayed_negatives|negatives of another tree or time than their link: 2; first: batch 0: negative 0: [0-9]+ -> [0-9]+
h|link_edges|edges that are links of their batch: 1 of [0-9]+ in [0-9]+ batches; first: batch [0-9]+: hop 0: edge [0-9]+ of user/buys/item: [0-9]+ -> [0-9]+
h|reverse_edges|edges that are reverses of links of their batch: 1 of [0-9]+ in [0-9]+ batches; first: batch [0-9]+: hop 0: edge [0-9]+ of item/rev_buys/user: [0-9]+ -> [0-9]+
h|short_ends|ends of links with fewer edges than others would have: 1; first: batch [0-9]+: hop 0: node [0-9]+ has 3 edges of user/buys/item, and should have 4
h|true_negatives|negatives that are edges: 1 of [0-9]+, which are strict; first: batch 0: negative 0: [0-9]+ -> [0-9]+
END
smp t --links node/to/node -f 4,3 -b 10 --time-rule lt --exclude reverse --negatives binary:1 --strict -o timed.gnb
leaks plant strayed_negatives t timed.gnb planted.gnb
status 1 "gnn-inspect --leaks finds negatives of another time" gnn-inspect --json --leaks --against t planted.gnb
cp out json
check "and counts them" test "$(number strayed_negatives/count json)" -eq 2

# Splits: of the store alone, or with a stream of it.
for store in s-split sp-split s-whole h-split hp-split n-split np-split n-whole t-split t-whole u-split up-split u u-whole; do
    check "gnn-inspect -q --leaks finds nothing in the split $store" sh -c "test -z \"\$(gnn-inspect -q --leaks $store)\""
done
gnn-partition -q -k 1 -o u-one u-split
while IFS='|' read -r store what shared; do
    to=$store-$what
    check "a link is planted in the test set of $store: $what" leaks set $store $to $what
    messages=$(cat out)
    gnn-inspect --json --leaks $to >json
    check "gnn-inspect --leaks counts links in two sets of $to" test "$(number shared_links/count json)" -eq $shared
    check "it counts edges of $to that are links of test: $messages" test "$(number link_messages/count json)" -eq $messages
done <<'END'
u-whole|link|1
u-whole|reverse|1
u-one|link|1
h-whole|link|1
n-whole|link|1
s-whole|link|1
s-whole|reverse|0
s-whole|message|0
END
status 1 "gnn-inspect --leaks has status 1 for a split" gnn-inspect --leaks u-one-link
cp out said
check "it names the link and its sets" grep -qE "^links in several sets of one split of the store: 1; first: split links: link [0-9]+ -> [0-9]+ is in train and in test$" said
check "and the edge" grep -qE "^edges of the store that are links of valid or test, or reverses: 2; first: edge [0-9]+ -> [0-9]+ of node/to/node: a link of set links/test or the reverse of one$" said
smp u-one-link --links node/to/node -f 3 -b 20 --exclude reverse -o split.gnb
status 1 "a stream of such a split has its leaks, too" gnn-inspect -q --leaks --against u-one-link split.gnb
cp out said
check "and no others" test "$(wc -l <said)" -eq 2

# Citations among nodes with times: the reverse of a link is as old as its own source, so its time is another one.
perl -e 'srand 3; print "id,time\n"; print "$_,", int rand 100, "\n" for 0 .. 299' >nodes.csv
perl -e 'srand 4; print "source,target\n"; print int rand 300, ",", int rand 300, "\n" for 1 .. 900' >cited.csv
gnn-import -q -u --nodes nodes.csv:id -o cited cited.csv
check "a split by time of such a graph is made" gnn-import --split-links node/to/node=time:85/5/10 -o dated cited
cp err said
check "and says what its reverses are" grep -q 'ordered by effective_time, so the reverse of a link may have another time' said
dated() { gnn-sample -q --links node/to/node --split test --time-rule lt -f -1 --exclude "$1" --no-provenance -o dated.gnb dated && gnn-inspect --leaks dated.gnb --against dated; }
dated none >said
check "reverses of another time are counted" grep -q '^edges that are reverses of links of their batch: [1-9]' said
dated reverse >said
check "and not there with --exclude reverse" grep -q '^edges that are reverses of links of their batch: 0 of' said
check "gnn-inspect --verify --against draws such batches again" gnn-inspect --verify dated.gnb --against dated
status 1 "edges of such a split tell links" gnn-inspect --leaks dated
cp out said
check "and are counted" grep -q '^edges of the store that are links of valid or test, or reverses: [1-9]' said
check "gnn-train excludes reverses of any time by default" gnn-train --store dated --task links -f 3,3 --epochs 1 -b 64 --hidden 8 -o dated.st
cp err said
check "and says so" grep -q -e '--exclude reverse' said

# What is refused.
refusing='gnn-inspect --leaks'
refuses 2 '--leaks: requires --against, unless its input is a store' 'a stream without its store' gnn-inspect --leaks good.gnb
refuses 2 '--against: has no effect with --leaks u, which is a store' 'two stores' gnn-inspect --leaks --against u u
refuses 3 'sampled from another store' 'another store' gnn-inspect --leaks --against h good.gnb
done_testing
