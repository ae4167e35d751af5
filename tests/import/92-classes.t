# SPDX-License-Identifier: Apache-2.0
# Labels that are words, features that are standardized, and predictions as a table.
. "$GNN_TOP/tests/lib.sh"
awk 'BEGIN { srand(3); for (i = 0; i < 2400; i++) { a = int(120 * rand()); b = int(120 * rand()); if (a % 3 == b % 3) print a, b } }' >e.txt
seq 0 119 | awk '{ split("dog bird cat", w, " "); print w[$1 % 3 + 1] }' >y.txt
seq 0 119 | awk -v OFS=, '{ print $1 % 3, 5000 + 1000 * ($1 % 7), 4 }' >x.csv
seq 0 2 119 >train
import() { _to=$1 _labels=$2; shift 2; gnn-import -q -u --labels "$_labels" --features x.csv --split train=train -o "$_to" "$@" e.txt; }
get() { python3 -c 'import json, sys; print(eval(sys.argv[2], {"s": json.load(open(sys.argv[1]))["schema"]}))' "$1/store.json" "$2"; }

check 'labels that are words are read' import words y.txt
is() { [ "$1" = "$2" ] || { echo "# $1"; echo "# $2"; return 1; }; }
if command -v python3 >/dev/null; then
    check 'classes are in the order of their names' is "$(get words 's["class_names"]')" "['bird', 'cat', 'dog']"
    check 'and there are three' is "$(get words 's["task"], s["classes"]')" "('multiclass', 3)"
fi
gnn-inspect --stats words >stats
check 'gnn-inspect names the classes' grep -q '^  class  bird, cat, dog$' stats
check 'and counts them by name' grep -q 'members of each class: bird 40, cat 40, dog 40$' stats
check 'it shows the range of each column' grep -q '^    column 2: min 5000, mean [0-9.]*, max 11000$' stats
sed 's/cat/dog/' y.txt >two.txt
check 'two words are a binary task' import two two.txt
gnn-inspect two >shown
check 'of that name' grep -q 'task   binary of node, 2 classes' shown
sed '1s/.*/nan/; 3s/.*/N\/A/' y.txt >some.txt
check 'missing labels are no class' import some some.txt
gnn-inspect --stats some >shown
check 'and are counted' grep -q 'nodes without a label: 2' shown
sed 's/cat/"the ""cat"""/; s/dog/"a ""dog"""/' y.txt >quoted.txt
check 'a first label with quotes in it is one' import quoted quoted.txt
gnn-inspect --stats quoted >shown
check 'and has quotes in its name' grep -q '^  class  a "dog", bird, the "cat"$' shown
refusing=gnn-import
sed '5s/$/@/' y.txt | tr @ '\0' >zero.txt
refuses 3 'zero.txt: line 5: a byte of value 0, which is no text' 'a label with a byte of value 0' import bad zero.txt
sed '7s/.*/17/' y.txt >mixed.txt
refuses 3 'mixed.txt: line 7: label 17 is a number' 'a number among words' import no mixed.txt
sed 's/.*/dog/' y.txt >one.txt
refuses 3 "one.txt: all labels are 'dog'" 'labels of one class' import no one.txt
(echo label; cat y.txt) >head.txt
check 'a header is no label' import head head.txt
(echo cat; cat y.txt) >more.txt
refuses 3 'more.txt: 121 rows for 120 nodes' 'a row too many' import no more.txt
refuses 2 'labels are words, which a regression task cannot have' 'words for a regression' import no y.txt --task regression
check 'nothing is left of what was refused' test ! -e no

# Standardized features.
std() { _to=$1; shift; gnn-import -q -u --labels y.txt --features x.csv --split train=train "$@" -o "$_to" e.txt; }
check '--standardize is done' std std --standardize
gnn-inspect --stats std >shown
check 'a column without variation becomes 0' grep -q 'column 3: min 0, mean 0, max 0' shown
check 'gnn-inspect says that features are standardized' grep -q 'x f32\[3\] standardized' shown
mean() { # of the training rows, of values in a column of std, by the exported array
    gnn-inspect --raw --export std.npz std && python3 - <<'P'
import numpy as np
z = np.load("std.npz")
x = z["node/node/x"] if "node/node/x" in z else z[[k for k in z.files if k.endswith("node/x")][0]]
t = np.loadtxt("train", dtype=int)
raw = np.loadtxt("x.csv", delimiter=",")
s = raw[t].std(axis=0)
want = (raw - raw[t].mean(axis=0)) / np.where(s > 0, s, 1)
assert np.abs(x - want).max() < 1e-5, np.abs(x - want).max()
assert np.abs(x[t].mean(axis=0)).max() < 1e-6
P
}
if python3 -c 'import numpy' 2>/dev/null; then
    check 'rows are what NumPy makes of them' mean
else
    skip 'rows are what NumPy makes of them' 'no NumPy'
fi
check '--standardize-from takes the constants of another store' std again --standardize-from std
check 'and makes the same rows' gnn-inspect --diff --ignore provenance std again
gnn-import -u --labels y.txt --features x.csv -o raw e.txt 2>said
check 'columns of other sizes are told' grep -q 'column 2 has values up to 11000, column 1 up to 2 (--standardize)' said
refuses 2 'no set train of nodes node' 'a split without a training set' \
    gnn-import --standardize --features x.csv --split valid=train -o no e.txt
refuses 2 'has no features x' 'a graph without features' gnn-import --standardize -o no e.txt
refuses 2 'exclude each other' 'both' gnn-import --standardize --standardize-from std --features x.csv -o no e.txt
refuses 3 'raw: features of node type node are not standardized' 'a store that is not' std no --standardize-from raw
awk -F, -v OFS=, 'NR == 3 { $2 = "1e30" } { print }' x.csv >far.csv
refuses 3 'far.csv: row 3, column 2: [0-9.]*e+[0-9]*, standardized, is too large for f16' 'a value that is too large by these constants' \
    gnn-import --standardize-from std --features far.csv --dtype f16 -o no e.txt
cut -d, -f1,2 x.csv >narrow.csv
refuses 3 'std: node type node has 3 features; the input has 2' 'a store of other columns' \
    gnn-import --standardize-from std --features narrow.csv -o no e.txt
check 'nothing is left of what was refused' test ! -e no

# Models remember.
check 'a model of them is trained' gnn-train -q --store std -f 5,5 --hidden 16 --epochs 8 --split train -o m.safetensors
refusing=gnn-predict
gnn-import -q -u --labels y.txt --features x.csv --split train=train -o raw --force e.txt
refuses 3 'raw: features of node type node are not standardized, unlike' 'features as they are' gnn-predict -n raw m.safetensors
gnn-train -q --store raw -f 5,5 --hidden 16 --epochs 1 -o plain.safetensors
refuses 3 'std: features of node type node are standardized; the model' 'features that should not be' gnn-predict -n std plain.safetensors
sed 1d x.csv | cat - x.csv | head -n 120 >shifted.csv
gnn-import -q -u --labels y.txt --features shifted.csv --split train=train --standardize -o other e.txt
refuses 3 'standardized by other constants' 'other constants' gnn-predict -n other m.safetensors
# Labels by name: a store that lacks a class numbers the others anew.
sed 's/bird/nan/' y.txt >less.txt
gnn-import -q -u --labels less.txt --features x.csv --split train=train --standardize-from std -o less e.txt
gnn-predict -n --metric f1-macro less m.safetensors 2>said
gnn-predict -q -o less.csv less m.safetensors
awk -F, 'NR == FNR { y[FNR - 1] = $1; next } FNR > 1 && $4 == "train" && y[$1] != "nan" { n++; k += y[$1] == $2 } END { printf "%.4f\n", k / n }' less.txt less.csv >want
gnn-predict -n --metric accuracy less m.safetensors 2>said
check 'classes are compared by name' grep -q "accuracy $(cat want)" said
sed 's/bird/emu/' y.txt >more.txt
gnn-import -q -u --labels more.txt --features x.csv --split train=train --standardize-from std -o more e.txt
refuses 3 "more: the model has no class 'emu'" 'an unknown class' gnn-predict -n more m.safetensors

# Tables.
check 'gnn-predict writes a table' gnn-predict -q -o p.csv std m.safetensors
check 'with a line of names' is "$(head -n 1 p.csv)" 'id,class,probability,set'
check 'a line per node' is "$(wc -l <p.csv)" 121
check 'classes by name, probabilities and sets' is \
    "$(awk -F, 'NR > 1 && $2 ~ /^(bird|cat|dog)$/ && $3 > 0.3 && $3 <= 1 && $4 == ($1 % 2 ? "" : "train")' p.csv | wc -l)" 120
gnn-partition -q -k 3 -o parts std
check 'partitions do not change it' gnn-predict -q -o q.csv parts m.safetensors
check 'by a byte' cmp p.csv q.csv
check 'probabilities have a column per class' gnn-predict -q --output-kind probs -o q.csv std m.safetensors
check 'by name' is "$(head -n 1 q.csv)" 'id,bird,cat,dog,set'
check 'which add up to 1' is "$(awk -F, 'NR > 1 && ($2 + $3 + $4 - 1) ^ 2 < 1e-10' q.csv | wc -l)" 120
check 'embeddings are written' gnn-predict -q --output-kind embeddings -o q.csv std m.safetensors
check 'a column each' is "$(head -n 1 q.csv | tr , '\n' | wc -l)" 18
printf '%s\n' '"a,b",r,c' 'c,r,x"y' 'e,r,"a,b"' >kg.csv
printf '1\n0\n1\n0\n' >yk.txt
gnn-import -q --labels yk.txt --split random:0.5,0,0.5 --format triples -o kg kg.csv
gnn-train -q --store kg -f 2 --epochs 1 -o kg.safetensors
gnn-predict -q -o named.csv kg kg.safetensors
check 'names with commas and quotes are in quotes' grep -q '^"a,b",[01],' named.csv
check 'with quotes doubled' grep -q '^"x""y",[01],' named.csv
check 'the classes of a graph without names are numbers' is "$(awk -F, 'NR > 1 && $NF ~ /^(train|test|)$/' named.csv | wc -l)" 4
# A field of nodes that is called as ids are stored.
{ echo id,f0,key,label && seq 0 119 | awk -v OFS=, '{ print $1, $1, 1000 + $1 ".5", $1 % 3 }'; } >keyed.csv
check 'a field of nodes may be called key' gnn-import -q -u --dedup --nodes keyed.csv --split random:0.5,0.2,0.3 -o keyed e.txt
check 'a model of it is trained' gnn-train -q --store keyed -f 4 --epochs 1 -o keyed.safetensors
check 'ids are predicted' gnn-predict -q -o ids.csv keyed keyed.safetensors
check 'and not that field' is "$(sed 1d ids.csv | cut -d, -f1 | tr '\n' ' ')" "$(seq -s' ' 0 119) "
printf '0 2\n2 4\n4 0\n' >gaps.txt && printf 'id,key\n0,1\n2,2\n4,3\n' >gaps.csv
refuses 3 "gaps.txt: a field of nodes is called 'key', as their ids are stored: --map NEW=key" 'a field called like the ids' gnn-import --directed --nodes gaps.csv -o bad gaps.txt
check 'a field of that name is read under another one' gnn-import -q --directed --nodes gaps.csv --map number=key -o gaps gaps.txt
refuses 2 'ends in .csv (a table) or .npy' 'another kind of table' gnn-predict -o p.tsv std m.safetensors
refuses 1 'absent/p.csv' 'a directory that is not there' gnn-predict -q -o absent/p.csv std m.safetensors
done_testing
