# SPDX-License-Identifier: Apache-2.0
# gnn-import --split-links ...=ogb:ARCHIVE: sets of links and negatives of OGB's archives are those that files of text give.
. "$GNN_TOP/tests/import/splits.sh"
refusing='gnn-import --split-links'
check 'data sets are written' "$python" -B "$GNN_TOP/tests/import/ogb_links.py"
t=node/to/node
say() { gnn-import -v --no-provenance --force --split-links "$@" 2>said; }
for d in collab collab4 collabdict; do
    check "gnn-import reads the graph of $d" sh -c 'gnn-import -u --no-provenance --force -o g $1 2>said' - $d
    check "it says how to take its sets of links" grep -q "^gnn-import: $d: split 'time' has sets of links; to make a split of the store: gnn-import --split-links $t=ogb:$d STORE -o STORE2" said
    check "gnn-import takes the links of $d" say $t=ogb:$d -o s g
    check "it says what it does not read" grep -q 'not read: weight (links have no fields but times), year (edges of the store have no times)$' said
    check "it says how many links are no edges" grep -q 'links/valid: 30 links, of which 30 are no edge of the store' said
    check "it says what negatives there are" grep -q 'negatives/test: 100 given negatives of all links' said
    check "gnn-import takes the same links of files" say $t=train=collab.train,valid=collab.valid,test=collab.test \
        --negatives valid=collab.neg.valid,test=collab.neg.test -o f g
    check "both splits of $d are the same" gnn-inspect --diff s f
    check "it verifies" gnn-inspect --verify s
done
"$python" -m zipfile -c collab.zip collab
check "an archive gives the same" sh -c "gnn-import -q --no-provenance --force --split-links $t=ogb:collab.zip -o s g && gnn-inspect --diff s f"
p=collab.zip:collab/split/time
check "so do arrays in files of an archive" say $t=train=$p/train.pt:edge,valid=$p/valid.pt:edge,test=$p/test.pt:edge \
    --negatives valid=$p/valid.pt:edge_neg,test=$p/test.pt:edge_neg -o s g
check "they are the same" gnn-inspect --diff s f
p=collabdict/split/time/split_dict.pt
check "so do those in a dict of dicts" say $t=train=$p:train/edge,valid=$p:valid/edge,test=$p:test/edge --negatives valid=$p:valid/edge_neg,test=$p:test/edge_neg -o s g
check "they are the same, too" gnn-inspect --diff s f
check "negatives that are given take the place of the archive's" say $t=ogb:collab --negatives test=collab.neg.valid -o s g
check "of this set" grep -q 'negatives/test: 90 given negatives of all links' said
# The recipe of gnn-formats(7), on an archive of this layout.
awk '/^For ogbl-collab/ { on = 1 } on && /^\.Ed/ { exit } on && /^gnn-/ { print }' "$GNN_TOP/man/gnn-formats.7" >recipe
check "the recipe has four commands" sh -c '[ "$(wc -l <recipe)" -eq 4 ]'
mkdir r && cp collab.zip r
check "they run" sh -c 'cd r && sh -eu ../recipe >../said 2>&1'
check "hits@50 of test is measured" grep -qi 'hits@50' said

# Times
gnn-import -q -u --no-provenance --time year -o y collab
check "gnn-import takes links with their years" say $t=ogb:collab -o s y
check "it says what is left" grep -q 'not read: weight (links have no fields but times)$' said
check "gnn-import takes such links of files" say $t=train=year.train,valid=year.valid,test=year.test --negatives valid=collab.neg.valid,test=collab.neg.test -o f y
check "both are the same" gnn-inspect --diff s f

# A link in several sets is in the graph, if the archive has it so.
gnn-import -q -u --no-provenance -o a again
check "links may be in several sets of an archive" say $t=ogb:again -o s a
check "they are counted" grep -q '2 links of set valid are in an earlier set, too, as in the archive' said
check "in each set" grep -q '1 link of set test is in an earlier set' said
check "and their edges carry messages" grep -q ': 500 of 500 edges carry messages' said
check "such a split verifies" gnn-inspect --verify s

for d in citation vessel; do
    check "gnn-import reads the graph of $d" gnn-import --directed --no-provenance --force -o g $d
    check "gnn-import takes the links of $d" say $t=ogb:$d -o s g
    cp said said.$d
    check "gnn-import takes those of files" say $t=train=$d.train,valid=$d.valid,test=$d.test --negatives valid=$d.neg.valid,test=$d.neg.test -o f g
    check "they are the same" gnn-inspect --diff s f
done
check "candidates are of each link" grep -q 'candidates/test: 7 given negatives of each link' said.citation
check "negatives of train are not read" grep -q 'not read: edge_neg of train (its negatives are drawn)$' said.vessel

# Triples of one edge type, and of one for each relation
gnn-import -q --no-provenance --directed -o w kg
check "gnn-import takes triples of one edge type" say $t=ogb:kg -o s w
check "it says what it does not read" grep -q 'not read: relation (links have no fields but times), head_neg (candidates of heads; a split has those of tails)$' said
check "candidates of triples are tails" grep -q 'candidates/valid: 6 given negatives of each link' said
check "gnn-import takes their heads and tails of files" say $t=train=kg.train,valid=kg.valid,test=kg.test --negatives valid=kg.neg.valid,test=kg.neg.test -o f w
check "both splits of triples are the same" gnn-inspect --diff s f
check "a model is measured on them" gnn-train -q --store s --task links -f 3,3 --epochs 1 --metric mrr -o m
check "gnn-import reads a graph of a type for each relation" sh -c 'gnn-import --no-provenance --directed -o b bio 2>said'
check "it says how to take the links of a type" grep -q "^gnn-import: bio: split 'random' has sets of links of each edge type; .* --split-links disease/like/disease=ogb:bio STORE -o STORE2" said
for e in drug/treats/disease drug/hurts/disease disease/like/disease; do
    r=bio.$(basename "$(dirname $e)")
    check "gnn-import takes the triples of $e" say $e=ogb:bio -o s b
    check "it takes those of $e of files" say $e=train=$r.train,valid=$r.valid,test=$r.test --negatives valid=$r.neg.valid,test=$r.neg.test -o f b
    check "both are the same of $e" gnn-inspect --diff s f
    check "the split of $e has 9 links of test" sh -c 'gnn-inspect s | grep -q "links/test *9 "'
done
rm -r s && mv bio/split split
"$python" -m zipfile -c bio.zip bio split
refuses 3 'bio: no sets of links' 'an archive without sets' gnn-import --split-links drug/treats/disease=ogb:bio -o x b
refuses 3 'triples of several relations: no edge_reltype in raw/relations' 'relations without numbers' gnn-import --split-links drug/treats/disease=ogb:bio.zip:split -o x b
mv split bio && "$python" -m zipfile -c bio.zip bio
check "an archive of triples gives the same" say $e=ogb:bio.zip -o s b
check "it has the same links" gnn-inspect --diff s f
cp -r bio bio2
sed -i '1s/.*/2/' bio2/raw/relations/drug___treats___disease/edge_reltype.csv
refuses 3 'the same whole number for all edges of the type' 'a type of two relations' gnn-import --split-links drug/treats/disease=ogb:bio2 -o x b

# What is no such archive
check "gnn-import reads a graph of triples" sh -c 'gnn-import --no-provenance --directed -o k kg 2>said'
check "it keeps its relations" sh -c 'gnn-inspect k | grep -q "reltype i64"'
refuses 3 'nodes: split/time/split_dict.pt: train/source_node: is missing, and so is edge' 'sets of nodes' gnn-import --split-links $t=ogb:nodes -o x k
refuses 3 'two: sets of links in split/other/ and split/time/: name one, ogb:two:split/time/' 'two splits' gnn-import --split-links $t=ogb:two -o x k
"$python" -m zipfile -c two.zip two
check "one of two splits of an archive is named" say $t=ogb:two.zip:two/split/time -o s k
printf '0,1\n1,2\n' >c2.csv
gnn-import -q --nodes 60 --no-provenance --directed -o c2 c2.csv
refuses 3 'collab: split/time/train.pt: links: row [0-9]*: this link is no edge of the store' 'links of another graph' gnn-import --split-links $t=ogb:collab -o x c2
refuses 3 'said: no sets of links: expected split/NAME/ with split_dict.pt' 'another file' gnn-import --split-links $t=ogb:said -o x k
refuses 3 'gone: cannot open' 'no file' gnn-import --split-links $t=ogb:gone -o x k
refuses 2 'expected S/R/D=ogb:ARCHIVE' 'no name' gnn-import --split-links $t=ogb: -o x k
refuses 2 'has no effect on a split by files' 'a seed' gnn-import --split-links $t=ogb:collab --seed 2 -o x k
refuses 3 'valid.pt: holds several arrays, of which .*valid.pt:edge is one' 'a file without a key' gnn-import --split-links $t=valid=collab/split/time/valid.pt -o x k
refuses 3 "valid.pt: no member 'edges'" 'another key' gnn-import --split-links $t=valid=collab/split/time/valid.pt:edges -o x k
gnn-import -q -u --no-provenance --time year -o y2 collab
refuses 3 'train.pt: year: is missing: edges of the store have times' 'no years' gnn-import --split-links $t=ogb:vessel -o x y2
for f in bad/*.txt; do
    d=${f%.txt}
    status 3 "gnn-import refuses $d" gnn-import --split-links $t=ogb:"$d" -o x a
    cp err said
    check "gnn-import says in one line what is wrong with $d" sh -c '[ "$(wc -l <said)" -eq 1 ] && grep -q "^gnn-import: .*$(cat "$1")" said' - "$f"
    grep -q "$(cat "$f")" said || sed 's/^/# /' said
done
for at in 40 300 900; do
    head -c "$at" collabdict/split/time/split_dict.pt >cut
    mkdir -p c/split/time && mv cut c/split/time/split_dict.pt
    refuses 3 'cut short' "a file that is cut after $at bytes" gnn-import --split-links $t=ogb:c -o x a
done
. "$GNN_TOP/tests/faults/sweep.sh"
rm -rf S
sweep 'gnn-import --split-links of an archive ends cleanly when malloc fails' malloc S -- gnn-import -q --split-links $t=ogb:citation -o S g
sweep 'gnn-import --split-links of arrays by keys ends cleanly when malloc fails' \
    malloc S -- gnn-import -q --split-links $t=valid=collabdict/split/time/split_dict.pt:valid/edge -o S g
check "nothing is left of them, and nothing of a file is run" sh -c '! ls x* ran 2>/dev/null'
done_testing
