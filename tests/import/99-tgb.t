# SPDX-License-Identifier: Apache-2.0
# JODIE's tables of users and items, and candidates of the Temporal Graph Benchmark by (head, tail, time).
. "$GNN_TOP/tests/import/splits.sh"
tgb() { "$python" -B "$GNN_TOP/tests/import/candidates.py" "$@"; }
say() { gnn-import -v --no-provenance --force "$@" 2>said; }
check 'data sets are written' tgb write
check 'gnn-import reads users and items' say --directed -o w wiki.csv
check 'it says how' grep -q '^gnn-import: read as: 25 users and 12 items by number, times in column 3, state_label in column 4, and 20 features from column 5 on$' said
check 'two node types, times and features' sh -c 'gnn-inspect w >out; grep -q "user/to/item  *300: time i64, state_label i64, x f32\[20\]" out && grep -q "item  *12" out'
check 'gnn-import reads an archive with negatives in it' say --directed -o z wiki.zip
check 'it says that these are not read' grep -q 'not read: tgbl-wiki/wiki_test_ns.pkl, tgbl-wiki/wiki_val_ns.pkl' said
check 'it is the same' gnn-inspect --diff w z
check 'gnn-import reads one node type' say --directed --edge-type node/to/node -o n wiki.csv
check 'gnn-import reads both directions' say -u --edge-type user/edits/item -o u wiki.csv
check 'it verifies' gnn-inspect --verify u
check 'gnn-import reads both directions of one node type' say -u --edge-type node/to/node -o b wiki.csv
check 'gnn-import reads a table of names' say --directed -o c coin.csv
cut -k 3 --method random -o wp w
while read -r store type what files; do
    check "gnn-import takes candidates: $store $what" say --split-links $type=time:70/15/15 --negatives $files -o s $store
    check "it says how many" grep -q 'candidates/test: 6 given negatives of each link' said
    check "they are those of the pickle, of TGB's sets" tgb check $store s $what
    check "the split verifies" gnn-inspect --verify s
done <<'END'
w user/to/item wiki valid=wiki_val_ns.pkl,test=wiki_test_ns.pkl
w user/to/item wiki4 valid=wiki4_val_ns.pkl,test=wiki4_test_ns.pkl
n node/to/node wiki valid=wiki_val_ns.pkl,test=wiki_test_ns.pkl
u user/edits/item wiki valid=wiki_val_ns.pkl,test=wiki_test_ns.pkl
w user/to/item wiki valid=wiki.zip:tgbl-wiki/wiki_val_ns.pkl,test=wiki.zip:tgbl-wiki/wiki_test_ns.pkl
b node/to/node wiki valid=wiki_val_ns.pkl,test=wiki_test_ns.pkl
c node/to/node coin valid=coin_val_ns.pkl,test=coin_test_ns.pkl
END
say --split-links user/to/item=time:70/15/15 --negatives valid=wiki_val_ns.pkl,test=wiki_test_ns.pkl -o s w
say --split-links user/to/item=time:70/15/15 --negatives valid=wiki_val_ns.pkl,test=wiki_test_ns.pkl -o sp wp
cut -k 1 -o s1 s
cut -k 1 -o sp1 sp
check 'candidates are the same of partitions' gnn-inspect --diff s1 sp1
say --split-links user/edits/item=time:70/15/15 --negatives valid=wiki_val_ns.pkl,test=wiki_test_ns.pkl -o su u
check 'a model is measured on them' gnn-train -q --store su --task links -f 3,3 --epochs 1 --metric mrr -o m

mkfifo pairs
printf '0,1\n1,2\n' >pairs.csv
cat pairs.csv >pairs &
check 'negatives come through a pipe' say --split-links user/to/item=time:70/15/15 --negatives valid=pairs -o s w
wait
check 'both of them' grep -q 'negatives/valid: 2 given negatives' said

# The recipe of gnn-formats(7)
mkdir r
for f in edgelist:wiki.csv val_ns:wiki_val_ns.pkl test_ns:wiki_test_ns.pkl; do cp ${f#*:} r/tgbl-wiki_${f%%:*}_v2.${f##*.}; done
awk '/^\.It Pa NAME_edgelist/ { on = 1 } on && /^\.Ed/ { exit } on && /^(gnn-| )/ { gsub(/\\e/, "\\"); print }' "$GNN_TOP/man/gnn-formats.7" >recipe
check 'the recipe has three lines' sh -c '[ "$(wc -l <recipe)" -eq 3 ]'
check 'they run' sh -c 'cd r && sh -eu ../recipe'
check 'the split has candidates' sh -c 'gnn-inspect r/wiki-links | grep -q "candidates/test"'

# What is wrong
bad() { refuses 3 "$1" "$2" gnn-import --split-links user/to/item=time:70/15/15 --negatives valid=$3 -o x ${4:-w}; }
refusing='gnn-import --negatives'
bad 'link ([0-9]*, [0-9]*, [0-9]*) of set valid is not in it' 'a link without candidates' bad_lost_val_ns.pkl
bad 'link (.*) of set valid has its own tail among its candidates, which is read only if all links have as many' 'itself among fewer candidates' bad_own_val_ns.pkl
bad 'no link of set valid has a candidate' 'empty lists' bad_none_val_ns.pkl
bad 'has the candidate 37: tails are 25 to 36' 'a candidate that is no node' bad_range_val_ns.pkl
bad 'has the candidate 0: tails are 25 to 36' 'a user as a tail' bad_user_val_ns.pkl
bad 'has the candidate -1: tails are' 'a negative candidate' bad_negative_val_ns.pkl
bad 'has a candidate that is no whole number' 'a fraction' bad_fraction_val_ns.pkl
bad 'has no array of candidates' 'a word' bad_word_val_ns.pkl
bad 'has candidates that are no list' 'a matrix' bad_matrix_val_ns.pkl
bad 'the key of a link is a tuple of 4: expected (head, tail, time), three whole numbers' 'relations' bad_relation_val_ns.pkl
bad 'the key of a link is a tuple of 3: expected (head, tail, time), three whole numbers' 'a time between' bad_real_val_ns.pkl
bad 'system' 'a program' bad_system_val_ns.pkl
bad 'bad_cut_val_ns.pkl: ' 'a pickle that is cut' bad_cut_val_ns.pkl
bad 'of set valid is not in it' 'those of another set' wiki_test_ns.pkl
import --directed --columns source=src,target=dst -o nt coin.csv
refuses 3 'candidates by (head, tail, time), but edges of the type have no times' 'no times' \
    gnn-import --split-links node/to/node=70/15/15 --negatives valid=coin_val_ns.pkl -o x nt
refusing=gnn-import
edit() { sed "$1" wiki.csv >bad.csv; }
edit '3s/^[0-9]*/-1/'
refuses 3 'bad.csv: line 3: column 1: user is not a number from 0' 'a negative user' gnn-import -o x bad.csv
edit '4s/,[0-9]*,/,x,/'
refuses 3 'bad.csv: line 4: ' 'an item that is a word' gnn-import -o x bad.csv
edit '5s/,[0-9]*\.0,/,,/'
refuses 3 'bad.csv: line 5: column 3: time is missing, nan or infinite' 'no time' gnn-import -o x bad.csv
edit '6s/$/,1/'
refuses 3 'bad.csv: line 6: ' 'another feature' gnn-import -o x bad.csv
edit '2,$s/,.*//'
refuses 3 'bad.csv: line 2: 1 field: expected a user, an item, a time, a label' 'a column alone' gnn-import -o x bad.csv
edit '2,$d'
refuses 3 'bad.csv: a header line, and no rows' 'no rows' gnn-import -o x bad.csv
refuses 2 'columns does not apply to the format jodie' 'columns' gnn-import --columns source=item_id,target=user_id -o x wiki.csv
refuses 2 'expected SRC/REL/DST' 'two types' gnn-import --edge-type user/item -o x wiki.csv
. "$GNN_TOP/tests/faults/sweep.sh"
rm -rf S
sweep 'gnn-import of users and items ends cleanly when malloc fails' malloc S -- gnn-import -q --directed -o S wiki.csv
sweep 'gnn-import --negatives of a pickle ends cleanly when malloc fails' \
    malloc S -- gnn-import -q --split-links user/to/item=time:70/15/15 --negatives valid=wiki_val_ns.pkl -o S w
check "nothing is left of them, and nothing of a file is run" sh -c '! ls x* ran 2>/dev/null'
done_testing
