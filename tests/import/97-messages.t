# SPDX-License-Identifier: Apache-2.0
# gnn-import --messages: splits of links whose links of valid, too, are edges of the store.
. "$GNN_TOP/tests/import/splits.sh"
import -o s sbm:nodes=400,degree=5
import -o h sbm:nodes=300,types=3
perl -e 'srand 3; print "source,target,time,weight\n"; print int rand 60, ",", int rand 60, ",", int rand 50, ",", rand, "\n" for 1 .. 900' >t.csv
import --directed -o t t.csv
printf '%s\n' 0,1 1,2 0,2 3,1 4,0 4,2 5,1 6,2 7,0 7,1 8,2 9,0 9,1 9,1 >ui.csv
perl "$GNN_TOP/tests/import/both_ways.pl" data 2 <ui.csv
import --reverse-of item/sold_to/user=user/buys/item -o m data
for g in s h t m; do cut -k 4 --method random -o ${g}p $g; done

# The edges are those of the sets that are named, and the sets are those of the split without.
i=0
while read -r g type shares carry more; do
    i=$((i + 1))
    # shellcheck disable=SC2086
    split $type=$shares --messages $carry ${more:+--supervision $more} -o one$i $g
    check "$type=$shares $more of $g keeps edges of $carry" looks check one$i $g $type $shares ${more:-0} $carry
    # shellcheck disable=SC2086
    split $type=$shares --messages $carry ${more:+--supervision $more} -o four$i ${g}p
    check "and of four partitions" looks check four$i ${g}p $type $shares ${more:-0} $carry
    check "both verify, and are one graph" sh -c "gnn-inspect --verify one$i && gnn-inspect --verify four$i --against one$i"
    # shellcheck disable=SC2086
    split $type=$shares ${more:+--supervision $more} -o plain$i $g
    looks dump one$i | sed -n 1,3p >a
    looks dump plain$i | sed -n 1,3p >b
    check "its sets are those without --messages" cmp a b
    check "it is another graph" sh -c "grep '\"graph\"' plain$i/store.json >a && ! grep '\"graph\"' one$i/store.json | cmp -s a -"
    cut -k 1 -o whole$i four$i
    check "gnn-partition keeps what it says" sh -c "gnn-inspect whole$i | grep -q 'links/valid .*, and carries messages'"
    check "gnn-inspect --leaks finds nothing that was not asked for" gnn-inspect --leaks one$i
done <<'END'
s node/to/node 85/5/10 train,valid
s node/to/node 60/20/20 valid,train 0.3
h t0/rev_down/t1 70/10/20 train,valid
m user/buys/item 60/20/20 train,valid
t node/to/node time:70/15/15 train,valid
t node/to/node time:70/15/15 train,valid,test
END
split node/to/node=85/5/10 --messages train -o same s
check "train is the default" gnn-inspect --diff same plain1

# Links of files, if they are edges.
printf '%s\n' source,target a,b b,c c,d d,e e,a a,c b,d f,g g,h h,i i,j j,f >g.csv
import -u -o g g.csv
echo a,b >valid
echo b,d >test
echo a,e >learned
echo a,h >absent
gnn-import --split-links node/to/node=valid=valid,test=test --messages train,valid -v -o given g 2>said
check "links of a file are edges again" grep -q 'node/to/node: 22 of 24 edges carry messages' said
check "which is said" grep -q 'of these, 2 are of set valid' said
status 1 "and edges of set train are not said to be in none" grep -q 'in no set' said
gnn-import --split-links node/to/node=train=learned,valid=valid --messages train,valid -o listed g 2>said
check "others are" grep -q '20 edges are no link of a file: they carry messages, and are in no set' said

# Negatives of test are the same beside either, as no edge and no link is one; and a model has other figures.
smp() { gnn-sample -q --no-provenance --links node/to/node -f 4,4 -b 20 "$@"; }
list() { "$python" "$GNN_TOP/tests/sample/links.py" list "$@"; }
smp --split test --negatives triplet:5 --strict -o less plain1
smp --split test --negatives triplet:5 --strict -o more one1
list plain1 less >a
list one1 more >b
check "links and negatives of test are the same" sh -c 'test -s a && cmp a b'
status 1 "their edges are not" cmp -s less more
smp --split train --negatives triplet:20 --strict --exclude reverse -o train one1
check "negatives of train are no links of valid" gnn-inspect --leaks train --against one1
gnn-train -q --store plain1 --task links -f -1,-1 -b 20 --epochs 3 -o model
gnn-predict -n --store plain1 --split test --metric mrr model 2>a
gnn-predict -n --store one1 --split test --metric mrr model 2>b
check "a model is tested with more edges" sh -c 'grep -q mrr-realistic a && ! cmp -s a b'
gnn-predict -n --store four1 --split test --metric mrr model 2>a
check "the same of four partitions" cmp a b
gnn-sample -q --no-provenance --original-ids --links node/to/node -f 4,4 -b 20 --split test --negatives triplet:5 --strict -o parts four1
gnn-sample -q --no-provenance --original-ids --links node/to/node -f 4,4 -b 20 --split test --negatives triplet:5 --strict -o whole one1
check "and batches of these are the same" gnn-inspect --diff --original parts whole
cat less more >both
refuses 3 'concatenated streams have different headers' 'batches of both' gnn-inspect --verify both

# Who measures links that carry messages is told so.
warned() { check "$1" grep -q 'warning: links of set valid are edges of the store (gnn-import --messages)' said; }
gnn-sample --links node/to/node -f 2 --split train --eval valid -o x one1 2>said
warned 'gnn-sample warns of set valid'
gnn-train --store one1 --task links -f 2 -b 20 --epochs 1 -o x 2>said
warned 'gnn-train warns of set valid'
gnn-predict -n --store one1 --split valid model 2>said
warned 'gnn-predict warns of set valid'
gnn-predict -n --store one1 --split test model 2>said
status 1 'and not of set test' grep -q warning said
gnn-train --store one6 --task links -f 2 -b 20 --epochs 1 -o x 2>said
status 1 'with times, what is later is not seen' grep -q 'warning: links' said

# What cannot be.
refusing=gnn-import
rm -r x
# wrong STATUS MESSAGE NAME SPLIT MESSAGES STORE
wrong() { refuses "$1" "$2" "$3" gnn-import --split-links "node/to/node=$4" --messages "$5" -o x "$6"; }
for bad in valid train,train train,dev train, '' test; do wrong 2 'expected sets, train among them' "messages of '$bad'" 80/10/10 "$bad" s; done
wrong 2 'edges of the type have no times' 'messages of test' 80/10/10 train,test s
wrong 2 'there are no links of set valid' 'messages of an empty set' 90/0/10 train,valid s
wrong 3 '1 link of set valid is no edge of g, and cannot carry messages: import it with the graph' 'messages of links that are no edges' valid=absent,test=test train,valid g
refuses 2 'requires --split-links' 'messages alone' gnn-import --messages train -o x sbm:nodes=10
check "nothing is left of them" sh -c '! ls x* 2>/dev/null'
done_testing
