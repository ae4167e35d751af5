# SPDX-License-Identifier: Apache-2.0
# OnDiskDatasets of GraphBolt, made from their description, give the graph, features, sets, labels and links that they describe; what does
# not fit together, and YAML that would mean something else, is refused by its place. (What GraphBolt itself loads: tests/peers/89-ondisk.t.)
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/python/lib.sh"
refusing=gnn-import
check 'data sets are written' env PYTHONPATH="$GNN_TOP/tests/import" "$python" -B "$GNN_TOP/tests/import/ondisk_files.py"
for name in d t; do
    check "gnn-import reads $name" gnn-import --directed -o S$name $name
    cp err said
    check "gnn-import reads the arrays of $name" gnn-import --directed -o T$name $name.npz
    check "$name gives the store of its arrays" gnn-inspect --diff --ignore provenance S$name T$name
    check "gnn-import reads all files of $name" sh -c '! grep "not read:.*\.\(npy\|pt\|csv\)" said'
done
check 'gnn-import names keys that it does not read' sh -c \
    'gnn-import -o S d 2>&1 | grep -qF "gnn-import: d: not read: tasks[0].num_classes (a key of metadata.yaml)"'
rm -rf S
check 'gnn-import reads a folder in a folder' sh -c 'mkdir in && cp -r d in && gnn-import --directed -o S in'
check 'it is the same store' gnn-inspect --diff --ignore provenance S Sd
rm -rf S
check 'gnn-import reads edges that are packed' sh -c 'cp -r d w && gzip w/edges/e.csv && sed -i "s/e.csv/e.csv.gz/" w/metadata.yaml && gnn-import --directed -o S w'
check 'packed edges are the same' gnn-inspect --diff --ignore provenance S Sd

damaged() { # FOLDER SED-SCRIPT [FILE TO]: w, a copy with another metadata.yaml and file
    rm -rf w
    cp -r "$1" w
    sed -i "$2" w/metadata.yaml
    [ $# -eq 2 ] || cp "put/$3.npy" "w/$4.npy"
}
rm -rf S
damaged d 's/name: born/name: label/; s/name: score/name: a=b/'
check 'gnn-import reads labels of all nodes beside those of a task' gnn-import -o S w
cp err said
check 'gnn-import says which are a field' grep -qF \
    "w/metadata.yaml: labels of task 'node_classification' are the field node/node_classification_labels: there are other labels" said
check 'gnn-import names features that can be no field' grep -qF 'node/a=b (a feature of a name that fields cannot have)' said
rm -rf S
damaged d '/- name: .node_c/s/name: .*/num_classes: 4/; 0,/num_classes: 4$/! s/num_classes/x/'
check 'gnn-import reads a task without a name' gnn-import -o S w
check 'its split has the name of ids' sh -c 'gnn-inspect S | grep -q "ids/train"'

# Sets of links.
check 'gnn-import reads a graph with sets of links' gnn-import --directed -o Sl l
cp err said
check 'gnn-import says what reads the links' grep -qF "has sets of links; to make a split of the store: gnn-import --split-links node/to/node=graphbolt:l STORE" said
check 'gnn-import says how it writes the name of the task' grep -qF "l/metadata.yaml: tasks[0].name: the task is called 'link_prediction' here" said
check 'gnn-import reads links of an OnDiskDataset' gnn-import --split-links node/to/node=graphbolt:l -o L Sl
check 'gnn-import reads the same links from files' gnn-import --split-links node/to/node=train=train.npy,valid=valid.npy,test=test.npy \
    --negatives valid=tails.npy,test=more.npy -o M Sl
check 'they are the same links and negatives' gnn-inspect --diff --ignore provenance L M
rm -rf S
check 'a task is chosen by its name' gnn-import --split-links 'node/to/node=graphbolt:l:link prediction' -o S Sl
rm -rf S
links() { # WHY SED-SCRIPT [FILE TO]
    why=$1
    shift
    damaged l "$@"
    refuses 3 "^gnn-import: w/metadata.yaml: $why" "links after $*" gnn-import --split-links node/to/node=graphbolt:w -o S Sl
}
at='tasks\[0\].test_set\[0\].data'
links "$at\[2\]: row 8: index 0 has more negatives than others: each link must have as many" '' odd indexes
links "$at\[2\]: row 5: index 0 is that of another link with label 1" '' ones bits
links "$at\[2\]: 40 indexes for 20 seeds: each has one, in shape (N)" '' wide indexes
links "$at\[2\]: 0 indexes for 20 seeds: each has one, in shape (N)" '' none indexes
links "$at\[1\]: no label is 1" '' zeros bits
links "$at\[1\]: no label is 1" /indexes.npy/d zeros bits
links 'tasks\[0\].train_set\[0\].data\[0\]: no seeds, in shape (0, 2)' '' empty train
links "$at\[1\]: with indexes, labels must be 1 of links and 0 of negatives" '' classes bits
links "$at\[1\]: indexes without labels do not say which seeds are links" /bits.npy/d
links "$at\[0\]: '.*', and\|$at\[1\]: 'seeds', and $at\[0\] is the same of this set" 's/labels, format: numpy, path: bits/seeds, format: numpy, path: mixed/'
links 'tasks\[0\].validation_set\[0\].data\[1\]: 3 rows for 5 seeds' '' triples tails
refuses 3 "^gnn-import: t/metadata.yaml: no edge type 'node/to/node'" 'links of no type' gnn-import --split-links node/to/node=graphbolt:t -o S Sl
refuses 3 "^gnn-import: d/metadata.yaml: no task has sets of links of node/to/node" 'sets that are none' gnn-import --split-links node/to/node=graphbolt:d -o S Sl
refuses 3 "^gnn-import: l/metadata.yaml: no 'x' task has sets of links" 'a task that is none' gnn-import --split-links node/to/node=graphbolt:l:x -o S Sl
refuses 2 'expected S/R/D=graphbolt:FOLDER' 'no folder' gnn-import --split-links node/to/node=graphbolt: -o S Sl
damaged l '/indexes.npy/d'
check 'labels of links without indexes are shared negatives' gnn-import --split-links node/to/node=graphbolt:w -o Z Sl
check 'they are there' sh -c 'gnn-inspect Z | grep -q "negatives"'
damaged l '/indexes.npy/d' classes bits
check 'gnn-import reads links that have classes' gnn-import --split-links node/to/node=graphbolt:w -o C Sl
cp err said
check 'gnn-import names their labels as not read' grep -q 'not read: labels' said
damaged l 's/negative_dsts/negative_srcs/'
check 'gnn-import reads links with negatives of heads' gnn-import --split-links node/to/node=graphbolt:w -o H Sl
cp err said
check 'gnn-import names them as not read' grep -q 'not read: negative_srcs (candidates of heads' said
rm -rf S

# What does not fit together.
wrong() { # FOLDER WHY SED-SCRIPT [FILE TO]
    from=$1 why=$2
    shift 2
    damaged "$from" "$@"
    refuses 3 "^gnn-import: $why" "$from after $*" gnn-import -o S w
    check 'gnn-import leaves nothing of it' test ! -e S
}
y=w/metadata.yaml
wrong d "$y: graph.nodes\[0\].num: '0' is no number of nodes" 's/num: 20/num: 0/'
wrong d "$y: graph.nodes\[0\].num: '2x' is no number of nodes" 's/num: 20/num: 2x/'
wrong d "$y: graph.nodes\[0\].num: '020' begins with 0, as octal numbers of YAML do" 's/num: 20/num: 020/'
wrong d "$y: graph.nodes\[0\].num: is missing" 's/num: 20/nun: 20/'
wrong d "$y: tasks\[0\].train_set\[0\].data\[0\]: node 9, of 9" 's/num: 20/num: 9/'
wrong d "w: node/to/node/edges: edge 1: id [0-9]*, but there are 5 nodes of type node" 's/num: 20/num: 5/; /^feature_data/,$d; /feature_data:/d; /born/d'
wrong d "$y: graph.edges\[0\].format: 'parquet' is neither csv nor numpy" 's/format: csv/format: parquet/'
wrong d "w/edges/f.csv: cannot open" 's/e.csv/f.csv/'
wrong d "$y: graph.edges\[0\].path: '/etc/passwd' is absolute: only files of the data set's own folder are read" 's|edges/e.csv|/etc/passwd|'
wrong d "$y: graph.edges\[0\].path: 'edges/../../d/edges/e.csv' leads out of the folder by .." 's|edges/e.csv|edges/../../d/edges/e.csv|'
wrong d "$y: feature_data\[0\].domain: neither node, edge nor graph" '0,/domain: node$/s//domain: nodes/'
wrong d "$y: feature_data\[0\].format: 'csv' is neither numpy nor torch" '0,/    format: numpy/s//    format: csv/'
wrong d "$y: feature_data\[0\].in_memory: neither true nor false" 's/in_memory: false/in_memory: maybe/'
wrong d "$y: feature_data\[2\].name: a second feature 'feat' of this type" 's/name: score/name: feat/'
wrong d "$y: feature_data\[1\].type: 'paper' is no type of the graph" 's/type: null/type: paper/'
wrong d "w/data/weight.pt: not a whole .npy file of numbers" 's/format: torch/format: numpy/'
wrong d "w: node/to/node/weight: 20 rows for 60 edges" '/^    format: torch/{N; s|torch|numpy|; s|weight.pt|score.npy|}'
wrong d "w/data/score.npy: not a file of torch.save" 's|data/weight.pt|data/score.npy|'
wrong d "w: .*born: 60 rows for 20 nodes" 's|numpy, path: data/born.npy|torch, path: data/weight.pt|'
wrong d "$y: tasks\[0\].train_set\[0\].data\[1\]: 3 rows for 10 seeds" '' far set/train-y
wrong d "$y: tasks\[0\].train_set\[0\].data\[0\]: seeds are neither nodes, of shape (N), nor pairs, of shape (N, 2)" '' triples set/train
wrong d "$y: tasks\[0\].test_set\[0\]: no seeds" 's/{name: seeds, format: numpy/{name: sheep, format: numpy/'
wrong d "$y: tasks\[0\].test_set\[0\].data\[0\]: seeds are no integers" '' real set/test
wrong d "w: node/node_classification.test_idx: .*40" '' far set/test
wrong d "$y: tasks\[0\].test_set\[0\].data\[0\].name: is missing" 's/{name: seeds, format: numpy/{format: numpy/'
wrong t "$y: graph.nodes\[1\].type: is missing" '0,/type: item/s//name: item/'
wrong t "$y: graph.nodes\[1\].type: a second node type 'user'" '0,/type: item/s//type: user/'
wrong t "$y: graph.edges\[0\].type: 'user:buys:shop' is between types that are not in graph.nodes" 's/user:buys:item/user:buys:shop/'
wrong t "$y: graph.edges\[1\].type: a second edge type 'user:buys:item'" 's/user:knows:user/user:buys:item/'
wrong t "$y: graph.edges\[0\].type: 'buys' is no SRC:REL:DST" 's/user:buys:item/buys/'
wrong t "$y: feature_data\[0\].type: is no type of edges, of which domain says it is" 's/domain: node/domain: edge/'
wrong t "$y: tasks\[0\].train_set\[0\].data\[0\]: node 40, of 7" '' far users
wrong t "$y: tasks\[0\].train_set\[0\].data\[0\]: node -3, of 7" '' negative users
wrong t "$y: tasks\[0\].train_set\[0\].data\[1\]: node 0 has label 1, and label .* in another row" '' again users
wrong t "$y: tasks\[0\].train_set\[0\].type: is a type of edges, and the seeds are nodes" 's/- type: user$/- type: user:knows:user/; 0,/- type: user:knows:user/s//- type: user/'
again='as another array is: rename one'
wrong d "$y: tasks\[0\].train_set\[0\].data\[0\]: would be node/train_idx, $again" 's/- name: "node_c.*/- num_classes: 4/; 0,/num_classes/! s/num_classes/x/; s/name: score/name: train_idx/'
wrong d "$y: tasks\[0\].train_set\[0\].data\[1\]: would be node/nc_labels, $again" 's/"node_classification"/nc/; s/name: born/name: y/; s/name: score/name: nc_labels/'
wrong d "$y: tasks\[0\].train_set\[1\].data\[0\]: would be node/node_classification.train_idx, $again" \
    '/^    train_set:/a\      - data: [{name: seeds, format: numpy, path: set/train.npy}]'
damaged t '/^    train_set:/s/$/\n      - {type: item, data: [{name: seeds, format: numpy, path: users.npy}]}/'
echo '  - {name: kind_user, train_set: [{type: user, data: [{name: seeds, format: numpy, path: users.npy}]}]}' >>w/metadata.yaml
refuses 3 "^gnn-import: $y: tasks\[1\].name: 'kind_user' is the split of other sets, of task 'kind': rename one" 'a task called as sets of another' gnn-import -o S w
sed -i '$s/train_set: \[{type: user/test_set: [{type: item/' w/metadata.yaml
refuses 3 "^gnn-import: $y: tasks\[1\].name: 'kind_user' is the split of other sets" 'such a task of another type' gnn-import -o S w
# Two names of splits that are one when a node type is added to them.
long=a_task_with_a_name_of_30_bytes
damaged t "/^    train_set:/s/\$/\\n      - {type: item, data: [{name: seeds, format: numpy, path: users.npy}]}/; s/name: kind\$/name: ${long}1/"
echo "  - {name: ${long}2, train_set: [{type: item, data: [{name: seeds, format: numpy, path: users.npy}]}, {type: user, data: [{name: seeds, format: numpy, path: users.npy}]}]}" >>w/metadata.yaml
refuses 3 "^gnn-import: $y: tasks\[1\].name: '${long}_user' would be the split of sets of user, as of task '${long}1' and user: rename one" 'sets of two tasks as one split' gnn-import -o S w
wrong t "w/knows.npy: edges must have shape (2, E)" '' triples knows

# YAML.
wrong d "$y: line 3: YAML: a second key 'dataset_name'" '2p'
wrong d "$y: line 5: YAML: a tag, which is not read: 'tag:yaml.org,2002:python/object:os.system'" 's/num: 20/num: !!python\/object:os.system x/'
wrong d "$y: line [0-9]*: YAML: an alias, in whose place must stand what it means: 'x'" 's/num: 20/num: \&x 20/; s/e.csv$/*x/; s|edges/\*x|*x|'
wrong d "$y: line [0-9]*: YAML: " 's/num: 20/num: [20/'
wrong d "$y: line [0-9]*: YAML: lists and mappings that are too deep" 's/num: 20/num: [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]/'
wrong d "$y: line [0-9]*: YAML: a key that is a list or a mapping" 's/num: 20/[num]: 20/'
damaged d ''
printf '%s\nx: 1\n' --- >>w/metadata.yaml
refuses 3 "^gnn-import: $y: line [0-9]*: YAML: a second document" 'two documents' gnn-import -o S w
damaged d ''
printf '\377\376' >>w/metadata.yaml
refuses 3 "^gnn-import: $y: byte [0-9]*: YAML: invalid" 'bytes that are no UTF-8' gnn-import -o S w
"$python" -c 'print("x: [" + ",".join("a" * 200000) + "]")' >>d/metadata.yaml
refuses 3 '^gnn-import: d/metadata.yaml: line [0-9]*: YAML: too many values' 'many values' gnn-import -o S d
"$python" -c 'print("#" * (1 << 20))' >>d/metadata.yaml
refuses 3 '^gnn-import: d/metadata.yaml: more than 1048576 bytes of YAML' 'a large file' gnn-import -o S d

# Which metadata.yaml is one, however it is written.
as_d() { # HOW: w, whose metadata.yaml is written so
    rm -rf S
    check "gnn-import reads a data set with $1" gnn-import --directed -o S w
    check "the store of $1 is the same" gnn-inspect --diff --ignore provenance S St
}
damaged t ''
"$python" -c 'print("x:"); [print("  - {a: %s}" % ("b" * 80)) for i in range(1000)]' >late
cat late t/metadata.yaml >w/metadata.yaml
as_d 'graph behind 86 KiB'
damaged t '1s/^graph:/"graph":/; s/^feature_data:/"feature_data":/; s/^tasks:/"tasks" :/'
as_d 'keys in quotes'
damaged t ''
{ printf '\357\273\277' && cat t/metadata.yaml; } >w/metadata.yaml
as_d 'a byte order mark'
rm -rf S w
cp -r l w
sed -i '1s/.*/{graph: {nodes: [{num: 12}], edges: [{format: csv, path: e.csv}]}, dataset_name: l}/; 2,$d' w/metadata.yaml
check 'gnn-import reads a data set in flow style' gnn-import --directed -o S w
check 'the store of it has its nodes' sh -c 'gnn-inspect S | grep -qw 12'
rm -rf S w
mkdir w && printf '0,1\n1,2\n' >w/edges.csv && printf 'a: [1\nb: 2\n' >w/metadata.yaml
refuses 3 '^gnn-import: w/metadata.yaml: line [0-9]*: YAML: ' 'YAML that cannot be read, beside data' gnn-import -o S w
for text in '' '# nothing' 'author: somebody' '- a list'; do
    rm -rf S
    echo "$text" >w/metadata.yaml
    check "gnn-import reads edges beside metadata.yaml of '$text'" gnn-import -o S w
    cp err said
    check "gnn-import names that metadata.yaml of '$text' is not read" grep -q 'not read: metadata.yaml' said
done
rm -rf S

# What GraphBolt makes of a data set has no edges that can be read.
damaged t ''
mkdir w/preprocessed
printf 'graph_topology: {type: FusedCSCSamplingGraph, path: preprocessed/fused_csc_sampling_graph.pt}\nfeature_data: []\n' >w/preprocessed/metadata.yaml
: >w/preprocessed/fused_csc_sampling_graph.pt
check 'gnn-import reads a folder that GraphBolt preprocessed' gnn-import --directed -o S w
cp err said
check 'gnn-import names what it does not read of it' grep -q '^gnn-import: w/preprocessed: not read: GraphBolt made it of the other files' said
check 'the store is the same' gnn-inspect --diff --ignore provenance S St
rm -r S w/buys.csv
refuses 3 '^gnn-import: w/preprocessed/fused_csc_sampling_graph.pt: a graph of GraphBolt, .*scipy.sparse.save_npz' 'a folder whose edges are gone' gnn-import -o S w
rm w/metadata.yaml
for folder in w w/preprocessed; do
    refuses 3 '^gnn-import: w/preprocessed/metadata.yaml: preprocessed/fused_csc_sampling_graph.pt: a graph of GraphBolt, .*scipy.sparse.save_npz' \
        "what GraphBolt made alone, as $folder" gnn-import -o S "$folder"
done
tar cf t.tar t
refuses 3 '^gnn-import: t.tar: t/metadata.yaml: an archive of an OnDiskDataset of GraphBolt: unpack it first' 'an archive' gnn-import -o S t.tar
mkdir other && printf 'name: x\ngraph:\n  nodes: 3\n' >other/metadata.yaml && printf '0 1\n1 2\n' >other/edges.txt
check 'gnn-import takes no other metadata.yaml for one' gnn-import -o S other
rm -rf S
check 'gnn-import leaves nothing of them' test ! -e S
done_testing
