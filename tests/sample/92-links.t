# SPDX-License-Identifier: Apache-2.0
# gnn-sample --links: batches whose seeds are links, with negatives.
. "$GNN_TOP/tests/lib.sh"
python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || { skip 'gnn-sample draws links' 'no numpy'; done_testing; }
smp() { gnn-sample -q --no-provenance "$@"; }
links() { "$python" "$GNN_TOP/tests/sample/links.py" "$@"; }
refusing=gnn-sample
gnn-import -q -o s sbm:nodes=400,degree=5
gnn-import -q -o h sbm:nodes=300,types=3
gnn-partition -q -k 4 -o sp s
gnn-partition -q -k 3 --method random -o hp h
perl -e 'srand 3; print "source,target,time\n"; print int rand 200, ",", int rand 200, ",", int rand 50, "\n" for 1 .. 900' >t.csv
gnn-import -q --directed -o t t.csv
gnn-partition -q -k 3 -o tp t
homo='--links node/to/node' typed='--links t0/up/t1'

for how in '' '--negatives binary:1' '--negatives binary:0.3 --negative-end head --no-shuffle' '--negatives binary:2.5 --negative-end both' \
    '--negatives triplet:3 --strict' '--negatives triplet:2 --negative-end head --strict --disjoint' '--negatives binary:1 --negative-end both --strict' \
    '--negatives binary:1 --induced' '--frontier new --negatives binary:1' '--labor --negatives binary:1'; do
    # shellcheck disable=SC2086
    for store in s h; do
        turn 3 || continue
        [ $store = s ] && set -- $homo -f 4,3 || set -- $typed -f 4,3
        smp $store "$@" $how -b 64 -o one
        check "links of $store are those of the graph: $how" links check $store one
        check "gnn-inspect --verify --against draws links of $store again: $how" gnn-inspect --verify one --against $store
        case $how in *new* | *induced*) continue ;; esac
        smp ${store}p "$@" $how -b 64 --original-ids -o parts -j 3
        smp $store "$@" $how -b 64 --original-ids -o whole
        check "links of $store do not depend on partitions and threads: $how" gnn-inspect --diff --original whole parts
    done
done
check "streams of links are of version 3" test "$(od -An -tu2 -j4 -N2 one)" -eq 3
smp s $homo -f 4 --negatives binary:1 -b 64 --epochs 0:2 -o two
smp s $homo -f 4 --negatives binary:1 -b 64 --epochs 1:2 -o second
smp s $homo -f 4 --negatives binary:1 -b 64 --epochs 0:1 -o first
check "epochs of links follow each other" sh -c 'cat first second | gnn-inspect --diff two -'
check "another epoch has other negatives" sh -c "\"$python\" \"$GNN_TOP/tests/sample/links.py\" list s two | sed 's/^[01] //' | sort | uniq -d | grep -c . | grep -qx 0"

# Rows that strict negatives need may be kept, and are not trusted.
gnn-import -q --directed -o d sbm:nodes=400,degree=5,directed=1 2>/dev/null || cp -r t d
for end in tail head; do
    gnn-sample -q d $homo -f 2 -b 64 --negatives binary:1 --negative-end $end --strict --no-provenance -o made
    gnn-sample -q d $homo -f 2 -b 64 --negatives binary:1 --negative-end $end --strict --no-provenance --keep-index -o kept
    gnn-sample -q d $homo -f 2 -b 64 --negatives binary:1 --negative-end $end --strict --no-provenance -o again
    check "batches are the same with rows that were kept: $end" sh -c 'gnn-inspect --diff made kept && gnn-inspect --diff made again'
done
check "there are kept rows" test -d d.index
find d.index -name '*.gnb' -exec perl -e 'for (@ARGV) { open F, "+<", $_; seek F, -5000, 2; print F "\xff" x 64; close F }' {} +
status 3 "damaged rows are refused" gnn-sample d $homo -f 2 -b 64 --negatives binary:1 --strict -o x
rm -rf d.index

# Times: of edges, or of a file; negatives have those of their positives.
for how in '' '--negatives binary:1 --negative-end both' '--negatives triplet:2 --disjoint' '--hop-time edge --negatives binary:1'; do
    # shellcheck disable=SC2086
    smp t $homo -f 4,4 --time-rule lt $how -b 50 -o timed
    check "links have times: $how" links check t timed
    check "gnn-inspect --verify --against draws them again: $how" gnn-inspect --verify timed --against t
    # shellcheck disable=SC2086
    smp tp $homo -f 4,4 --time-rule lt $how -b 50 --original-ids -o parts
    # shellcheck disable=SC2086
    smp t $homo -f 4,4 --time-rule lt $how -b 50 --original-ids -o whole
    check "timed links do not depend on partitions: $how" gnn-inspect --diff --original whole parts
done

# Links of a file, which may be no edges, in each way to write them.
perl -e 'srand 5; print int rand 400, " ", int rand 400, "\n" for 1 .. 100' >pairs
smp s $homo -f 3 --seeds pairs -b 30 --negatives binary:1 --strict -o listed
check "links of a file come in its order" links check s listed pairs
for sep in , ';' '\t' ' , '; do
    perl -pe "s/ /$sep/" pairs >other
    smp s $homo -f 3 --seeds other -b 30 --negatives binary:1 --strict -o again
    check "fields may be separated by '$sep'" gnn-inspect --diff listed again
done
smp s $homo -f 3 --seeds - -b 30 --negatives binary:1 --strict -o again <pairs
check "links may come from standard input" gnn-inspect --diff listed again
smp sp $homo -f 3 --seeds pairs --original-ids -b 30 --negatives binary:1 --strict -o parts
check "a file may have original ids" links check sp parts pairs
perl -ne 'chomp; print "$_ ", int rand 50, "\n" if /^(\d+) (\d+)/ && $1 < 200 && $2 < 200' pairs >timed.txt
smp t $homo -f 3 --seeds timed.txt --time-rule le -b 30 --negatives binary:1 -o timed
check "links of a file have its times" links check t timed timed.txt
perl -e 'print "source,target\n"; print "n", $_ % 7, ",n", ($_ * 3 + 1) % 7, "\n" for 0 .. 20' >named.csv
gnn-import -q -o named named.csv
printf 'n0,n1\n"n3", n2\n' >by-name
smp named $homo -f 3 --seeds by-name -o by-name.gnb
check "links of a file may name nodes" sh -c "\"$python\" -c 'import sys; sys.path.insert(0, \"$GNN_TOP/tests/interop\"); import gnb; b = gnb.read_stream(\"by-name.gnb\")[1][0]; assert b[\"pair\"].shape == (2, 2)'"

# Laws.
printf 'source,target\n0,1\n0,2\n1,2\n3,0\n4,4\n5,0\n5,1\n5,2\n5,3\n5,4\n' >few.csv
gnn-import -q --directed -o few few.csv
perl -e 'print "0 1\n5 0\n4 2\n" x 10000' >many
wide && draws=2000 || draws=400
for how in tail head both; do
    for strict in '' --strict; do
        [ "$how$strict" = tail--strict ] && continue
        smp few $homo -f 1 --seeds many -b 3 --negatives triplet:$((draws / 40)) --negative-end $how $strict --steps 0:$draws -o drawn
        check "negatives are uniform: $how $strict" links law few drawn
        sed 's/^/# /' out
    done
done
perl -e 'print "0 1\n4 2\n1 0\n" x 10000' >many
smp few $homo -f 1 --seeds many -b 3 --negatives triplet:10 --strict --steps 0:$draws -o drawn
check "negatives are uniform: tail --strict" links law few drawn

# Negatives by weight: of node 4, whose row has most of the weight, and of others; degrees are 0 to 5.
perl -e 'print "id,importance\n"; print "$_,", (0.5, 2, 0, 3.25, 1, 7)[$_], "\n" for 0 .. 5' >nodes.csv
gnn-import -q --directed --nodes nodes.csv -o weighed few.csv
gnn-partition -q -k 3 --method random -o weighedp weighed
perl -e 'print "0 1\n4 2\n1 0\n3 2\n" x 10000' >many
turns=0
for weight in degree degree:0.75 degree:0.25 importance; do
    for how in tail head both 'tail --strict' 'head --strict'; do
        turn 3 || continue
        # shellcheck disable=SC2086
        smp weighed $homo -f 1 --seeds many -b 4 --negatives triplet:$((draws / 10)) --negative-weight $weight --negative-end $how --steps 0:$draws -o drawn
        check "negatives have the law of their weights: $weight, $how" links law weighed drawn
        sed 's/^/# /' out
        # shellcheck disable=SC2086
        smp weighedp $homo -f 1 --seeds many --original-ids -b 4 --negatives triplet:$((draws / 10)) --negative-weight $weight --negative-end $how --steps 0:20 -o parts -j 3
        # shellcheck disable=SC2086
        smp weighed $homo -f 1 --seeds many --original-ids -b 4 --negatives triplet:$((draws / 10)) --negative-weight $weight --negative-end $how --steps 0:20 -o whole
        check "negatives by weight do not depend on partitions and threads: $weight, $how" gnn-inspect --diff --original whole parts
    done
done
for weight in degree,uniform importance,degree:0.5 uniform,importance; do
    smp weighed $homo -f 1 --seeds many -b 4 --negatives triplet:$((draws / 10)) --negative-weight $weight --negative-end both --steps 0:$draws -o drawn
    check "each end has a weight of its own: $weight" links law weighed drawn
done
status 1 "a uniform law is told from that of weights" sh -c "gnn-sample -q weighed $homo -f 1 --seeds many -b 4 --negatives triplet:40 --steps 0:400 -o u --no-provenance &&
    gnn-sample -q weighed $homo -f 1 --seeds many -b 4 --negatives triplet:40 --steps 0:400 -o w --negative-weight degree --no-provenance && gnn-inspect --diff u w"
# A head with edges to all heavy nodes: its negatives are found by the pass over its row.
perl -e 'print "source,target\n"; for my $v (1 .. 40) { print "$_,$v\n" for 0, 50 .. 99 } print "1,$_\n" for 41 .. 46' >hub.csv
gnn-import -q --directed -o hub hub.csv
yes '0 1' | head -n 2000 >hubs
smp hub $homo -f 1 --seeds hubs -b 1 --negatives triplet:8 --negative-weight degree --strict -o drawn
check "negatives of a node that is joined to nearly all weight have their law" links law hub drawn
for how in 'tail --strict' 'head' 'both'; do
    # shellcheck disable=SC2086
    smp h $typed -f 4,3 --negatives binary:1.5 --negative-weight degree:0.75 --negative-end $how -b 64 -o by
    check "negatives by weight between types: $how" links check h by
    check "gnn-inspect --verify --against draws them again: $how" gnn-inspect --verify by --against h
done

# Nodes that several links share: in groups, or within a batch.
for how in joint:5 'joint:3:7 --strict' 'joint:4:2 --negative-end head --strict' 'joint:6:100 --negative-weight degree:0.75 --strict' 'joint:2:3 --disjoint' in-batch:4 'in-batch:9 --strict' \
    'in-batch:3 --negative-end head --strict --negative-weight degree'; do
    for store in s h; do
        turn 3 || continue
        [ $store = s ] && set -- $homo -f 4,3 || set -- $typed -f 4,3
        # shellcheck disable=SC2086
        smp $store "$@" --negatives $how -b 37 -o by
        check "links of $store have the negatives that they share: $how" links check $store by
        check "gnn-inspect --verify --against draws them again: $store, $how" gnn-inspect --verify by --against $store
        # shellcheck disable=SC2086
        smp ${store}p "$@" --negatives $how -b 37 --original-ids -o parts -j 3
        # shellcheck disable=SC2086
        smp $store "$@" --negatives $how -b 37 --original-ids -o whole
        check "they do not depend on partitions and threads: $store, $how" gnn-inspect --diff --original whole parts
    done
done
smp t $homo -f 4 --time-rule lt --negatives joint:3:5 -b 50 -o timed
check "joint negatives have the times of their links" links check t timed
# A shared node that a link may not have is replaced by its own, so that the law of each link's negatives does not change.
perl -e 'print "0 1\n4 2\n1 0\n3 2\n" x 10000' >many
for how in '' --strict '--strict --negative-weight degree:0.75'; do
    # shellcheck disable=SC2086
    smp weighed $homo -f 1 --seeds many -b 4 --negatives joint:$((draws / 10)):4 $how --steps 0:$draws -o drawn
    check "joint negatives have the law of each link's own: $how" links law weighed drawn
done
smp s $homo -f 4,3 --negatives triplet:50 -b 64 -o apart
smp s $homo -f 4,3 --negatives joint:50 -b 64 -o joint
check "joint negatives make smaller batches" sh -c '[ $(wc -c <joint) -lt $(wc -c <apart) ]'
refuses 2 'share the nodes of one end' 'joint pairs' gnn-sample s $homo -f 1 --negatives joint:2 --negative-end both -o x
refuses 2 'expected binary:A' 'a group of none' gnn-sample s $homo -f 1 --negatives joint:2:0 -o x
refuses 2 'expected binary:A' 'half a node' gnn-sample s $homo -f 1 --negatives in-batch:1.5 -o x
refuses 2 'expected binary:A' 'groups of triplets' gnn-sample s $homo -f 1 --negatives triplet:2:3 -o x

# Nodes with times: negatives are there at the time of their link; of the first links, hardly any are.
perl -e 'print "id,time\n"; print "$_,", $_ < 3 ? 0 : $_, "\n" for 0 .. 199' >since.csv
perl -e 'srand 4; print "source,target,time\n"; print int rand 200, ",", int rand 200, ",", 150 + int rand 60, "\n" for 1 .. 600' >late.csv
gnn-import -q --directed --nodes since.csv -o late late.csv
gnn-partition -q -k 3 --method random -o latep late
perl -e 'srand 6; print int rand 3, " ", int rand 3, " ", int rand 200, "\n" for 1 .. 300' >asked.then
for how in 'binary:2' 'binary:1 --negative-end both' 'triplet:3 --negative-end head --strict' 'joint:4:5 --strict' 'in-batch:3' 'triplet:2 --negative-weight degree --strict'; do
    case $how in *weight*) set -- --split edges ;; *) set -- --seeds asked.then ;; esac
    # shellcheck disable=SC2086
    smp late $homo -f 3 --time-rule le "$@" --negatives $how -b 40 -o there
    check "negatives are there at the time of their link: $how" links check late there asked.then
    check "gnn-inspect --verify --against draws them again: $how" gnn-inspect --verify there --against late
    # shellcheck disable=SC2086
    smp latep $homo -f 3 --time-rule le "$@" --original-ids --negatives $how -b 40 -o parts -j 3
    # shellcheck disable=SC2086
    smp late $homo -f 3 --time-rule le "$@" --original-ids --negatives $how -b 40 -o whole
    check "those that are there do not depend on partitions and threads: $how" gnn-inspect --diff --original whole parts
done
for how in tail both; do
    [ $how = tail ] && lines='0 1 1\n1 0 5\n1 2 9\n' || lines='0 1 5\n1 0 5\n1 2 5\n'
    perl -e "print \"$lines\" x 10000" >many
    smp late $homo -f 1 --time-rule lt --seeds many -b 3 --negatives triplet:$((draws / 10)) --negative-end $how --steps 0:$draws -o drawn
    check "those that are there are equally likely, also where they are few: $how" links law late drawn
done
printf '0 1 -1\n' >before
refuses 3 "no negative for link 0-1: no node 'node' is there at its time" 'a time before all nodes' gnn-sample late $homo -f 1 --time-rule le --seeds before --negatives binary:1 -o x
refuses 2 'cannot be used with --negative-end both' 'strict pairs of nodes with times' gnn-sample late $homo -f 1 --time-rule le --seeds asked.then --negatives binary:1 --strict --negative-end both -o x
refuses 2 'drawn uniformly' 'weights of pairs that are no edges' gnn-sample few $homo -f 1 --negatives binary:1 --negative-end both --strict --negative-weight degree -o x
refuses 2 'expected 0.25, 0.5, 0.75 or 1' 'another power' gnn-sample few $homo -f 1 --negatives binary:1 --negative-weight degree:0.7 -o x
refuses 2 "no field 'importnce' with weights of negatives" 'a field that is not there' gnn-sample weighed $homo -f 1 --negatives binary:1 --negative-weight importnce -o x
refuses 2 "no field 'degree,uniform' with weights" 'weights of two ends, of which one is drawn' gnn-sample weighed $homo -f 1 --negatives binary:1 --negative-weight degree,uniform -o x
refuses 2 "no field '' with weights" 'a weight of one end' gnn-sample weighed $homo -f 1 --negatives binary:1 --negative-end both --negative-weight degree, -o x
refuses 2 'degree:2: expected 0.25' 'another power of tails' gnn-sample weighed $homo -f 1 --negatives binary:1 --negative-end both --negative-weight degree,degree:2 -o x
refuses 2 'requires --negatives' 'weights of nothing' gnn-sample few $homo -f 1 --negative-weight degree -o x
perl -e 'print "source,target\n"; for my $v (1 .. 3) { print "0,$v\n" } print "4,1\n"' >joined.csv
gnn-import -q --directed -o joined joined.csv
printf '0 1\n' >one.txt
refuses 3 'joins it to all nodes with a weight' 'a node that is joined to all weight' gnn-sample joined $homo -f 1 --seeds one.txt --negatives binary:1 --strict --negative-weight degree -o x
perl -e 'print "id,importance\n"; print "$_,", $_ == 2 ? -1 : 1, "\n" for 0 .. 5' >nodes.csv
gnn-import -q --directed --nodes nodes.csv -o below few.csv
refuses 3 'weight -1 of node' 'a weight below 0' gnn-sample below $homo -f 1 --negatives binary:1 --negative-weight importance -o x

# What cannot be.
printf '5 0\n' >full
refuses 3 'no negative for a link of node 5' 'a node that is joined to all' gnn-sample few $homo -f 1 --seeds full --negatives binary:1 --strict -o x
perl -e 'print "source,target\n"; for my $u (0 .. 3) { for my $v (0 .. 3) { print "$u,$v\n" if $u != $v } }' >all.csv
gnn-import -q -o all all.csv
refuses 3 'joins all nodes to all' 'a complete graph' gnn-sample all $homo -f 1 --negatives binary:1 --negative-end both --strict -o x
refuses 2 "no edge type 'a/b/c'" 'a type that is not there' gnn-sample s --links a/b/c -f 1 -o x
refuses 2 'expected binary:A' 'a wrong rule' gnn-sample s $homo -f 1 --negatives some -o x
refuses 2 'expected binary:A' 'a part of a negative for each' gnn-sample s $homo -f 1 --negatives triplet:0.5 -o x
refuses 2 'expected binary:A' 'no negatives' gnn-sample s $homo -f 1 --negatives binary:0 -o x
refuses 2 'requires --negatives' 'strict links' gnn-sample s $homo -f 1 --strict -o x
refuses 2 'requires --links' 'negatives of nodes' gnn-sample s -f 1 --negatives binary:1 -o x
refuses 2 "is of nodes, not of links 'to'" 'a set of nodes' gnn-sample s $homo -f 1 --split train -o x
refuses 2 'cannot be used with --links' 'walks from links' gnn-sample s $homo --walk-length 3 -o x
refuses 2 'have no times' 'times that are not there' gnn-sample s $homo -f 1 --time-rule lt -o x
refuses 3 'no links' 'an empty file' gnn-sample s $homo -f 1 --seeds /dev/null -o x
for bad in '1' '1 2 3' '1,2,3' 'a b' '1 400' '-1 2' '1 99999999999999999999' '"1" 2' '1 "2'; do
    printf '1 2\n%s\n' "$bad" >bad
    refuses 3 'bad: line 2: ' "the line $bad" gnn-sample s $homo -f 1 --seeds bad -o x
done
printf '%s\n' source,target 10,20 20,30 30,40 >sparse.csv
gnn-import -q -o sparse sparse.csv
printf '0 1\n' >places
gnn-sample $homo -f 1 --seeds places -o placed sparse 2>said
check "gnn-sample says that pairs are positions where nodes have other ids" grep -q 'has positions in the store; nodes of type node have other ids' said
echo 1 | gnn-sample -f 1 --seeds - -o placed1 sparse 2>said
check "and so it does of nodes" grep -q 'has positions in the store; nodes of type node have other ids' said
gnn-sample $homo -f 1 --seeds places -o placed2 s 2>said
status 1 "but not where positions are the ids" grep -q 'positions' said
printf '1 2 x\n' >bad
refuses 3 'bad: line 1: the time' 'a time that is none' gnn-sample t $homo -f 1 --seeds bad --time-rule lt -o x
check "nothing is left of them" sh -c '! ls x* 2>/dev/null'
smp h $typed -f 4,3 --negatives binary:1 -b 64 -o one
check "gnn-inspect tells of links" sh -c "gnn-inspect one | grep -q -e '--links t0/up/t1 --negatives binary:1 --negative-end tail'"

# The header tells links of a file from others, so that streams of different files are not put together.
gnn-import -q -o summed sbm:nodes=300,degree=8
gnn-partition -q -k 2 --method random -o summed2 summed
printf '0,1\n2,3\n' >sum.a
printf '0,1\n2,4\n' >sum.b
sum() { gnn-sample -q --links node/to/node -f 2 -b 1 --original-ids --seeds "$1" --steps "$3" --no-provenance -o "$4" "$2"; }
sum sum.a summed 0:1 a.0 && sum sum.a summed 1:2 a.1 && sum sum.b summed 1:2 b.1 && sum sum.a summed2 0:1 parted.0
check 'streams of links of the same file can be put together' sh -c 'cat a.0 a.1 | gnn-inspect --verify -'
status 3 'streams of links of different files cannot' sh -c 'cat a.0 b.1 | gnn-inspect --verify -'
cp err said
check 'a message says why' grep -q links.sum said
for f in a.0 parted.0; do grep -ao '"sum": *"[0-9a-f]*"' $f >$f.sum; done
check 'partitions have the same sum of links' cmp a.0.sum parted.0.sum
check 'which is there' grep -q sum a.0.sum
done_testing
