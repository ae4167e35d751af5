# SPDX-License-Identifier: Apache-2.0
# One line that says what is wrong, what there is instead, and what may have been meant.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q -o S sbm:nodes=200
gnn-import -q -o H sbm:nodes=300,types=2
gnn-partition -q -k 2 -o P S
gnn-sample -q -f 3 -o b S
gnn-gather -q -i b -o g S
gnn-train -q -i g -o m.st
says() { # WANTED-TEXT STATUS COMMAND...: in the one line it prints
    _want=$1 _status=$2
    shift 2
    "$@" >out 2>err
    _rc=$?
    if [ $_rc -eq "$_status" ] && [ "$(wc -l <err)" -eq 1 ] && grep -q -F -e "$_want" err; then _ok "$* says: $_want"; else
        _not_ok "$* says: $_want"
        echo "# status $_rc"
        sed 's/^/# /' err
    fi
}

# Names that are not known.
says "S: no set 'val'; did you mean 'valid'? sets: train, valid, test" 2 gnn-sample -f 3 --split val S
says "no set 'trian'; did you mean 'train'?" 2 gnn-sample -f 3 --eval trian S
says "no set 'zzz'; sets: train" 2 gnn-train --store S --eval zzz -o X
says "no set 'tets'; did you mean 'test'?" 2 gnn-predict --split tets -o X S m.st
says "no set 'trai'; did you mean 'train'?" 2 gnn-partition --method access --split trai -k 2 -o X S
says "'trai' is not nodes, edges, types or a set of S; did you mean 'train'?" 2 gnn-partition --balance trai -k 2 -o X S
says "no field 'feat'; fields of nodes: x, y" 2 gnn-gather -i b -F feat -o X S
says "no field 'feat'; fields of nodes: x, y" 2 gnn-gather -i b --plan --cache 0.1 -F feat S
says "no node type 't1x'; did you mean 't1'? node types: t0, t1" 2 gnn-sample -f 3 --seeds /dev/null --seed-type t1x H
says "node types: " 2 gnn-sample -f 3 --seeds /dev/null --seed-type '???' H
says "no edge type 'a/b/c'; edge types: " 2 gnn-sample -f 3 -f a/b/c=2 H
says "sbm: no parameter 'node'; did you mean 'nodes'? parameters: nodes, classes" 2 gnn-import -o X sbm:node=3
says "no such generator; did you mean 'sbm:'? generators: rmat:, sbm:, products:, igbh:" 3 gnn-import -o X smb:nodes=3
printf 'from,to,w\n1,2,3\n' >w.csv
says "there is no column 'too'; did you mean 'to'? columns: from, to, w" 2 gnn-import -o X --columns source=from,target=too w.csv
says '--map weight=wt: w.csv has nothing of that name; nodes have no fields; did you mean' 2 gnn-import -o X --weight wt w.csv
says "--metric: unknown value 'acuracy'; did you mean 'accuracy'? one of: accuracy, f1-micro" 2 gnn-train --metric acuracy
says "--metric: unknown value 'average_precision'; did you mean 'average-precision'?" 2 gnn-predict --metric average_precision S m
says "--metric: unknown value 'precision@'; did you mean 'precision@K'?" 2 gnn-predict --metric precision@ S m
says "--format: unknown value 'zip'; one of: auto, ogb, npz" 2 gnn-import --format zip -o X g
says "--ignore: unknown value 'provenence'; did you mean 'provenance'?" 2 gnn-inspect --diff --ignore provenence S S
says "unknown option '--epoch'; did you mean '--epochs'?" 2 gnn-train --epoch 3
says "unknown option '--no-shufle'; did you mean '--no-shuffle'?" 2 gnn-train --no-shufle
says "unknown option '--xyzzy' (see --help)" 2 gnn-train --xyzzy
says "did you mean '--epochs'?" 2 gnn-train -epochs 3
head -c 200 /dev/zero | tr '\0' x >long
says "no set 'xxxxx" 2 gnn-sample -f 3 --split "$(cat long)" S

# Arguments that are missing, too many, or in another's place.
says 'STORE and MODEL are missing: gnn-predict STORE MODEL' 2 gnn-predict
says 'MODEL is missing: gnn-predict STORE MODEL' 2 gnn-predict S
says 'STORE is missing: gnn-partition -k N -o STORE STORE' 2 gnn-partition -k 2 -o X
says 'INPUT is missing' 2 gnn-import -o X
says "unexpected argument 'b': gnn-gather STORE; batches come from stdin or -i FILE" 2 gnn-gather S b
says "unexpected argument 'S': a store is given with --store" 2 gnn-train S
says "unexpected argument '5': numbers of --fanout are separated by commas: 10,5" 2 gnn-train --store S -f 10 5
says "unexpected argument '5': numbers of --fanout are separated by commas: 10,5" 2 gnn-sample -f10 5 S
says "unexpected argument '-1': numbers of --fanout are separated by commas: -1,-1" 2 gnn-train --store S -f -1 -1
says "unexpected argument '32': numbers of --hidden are separated by commas: 64,32" 2 gnn-train --hidden=64 32 --store S
says "unexpected argument 'test': repeat the option: --eval valid --eval test" 2 gnn-train --store S --eval valid test
says "unexpected argument '5': gnn-gather STORE; batches" 2 gnn-gather S 5
says "no set 'valid,test': one set for each option (--eval, and gnn-predict --split, may be repeated)" 2 gnn-train --store S --eval valid,test
says "no set 'valid,test': one set for each option" 2 gnn-predict -n --split valid,test S m.st
says "unexpected argument 'X': gnn-partition -k N -o STORE STORE; the new store is named with -o" 2 gnn-partition -k 2 S X
says 'm.st is a model and S a store: gnn-predict STORE MODEL' 2 gnn-predict m.st S
gnn-import -q -o unlabelled rmat:scale=5
says 'unlabelled: no labels to train on (gnn-import --labels reads them; --links trains on edges)' 2 gnn-train --store unlabelled -o X
says 'unlabelled: no labels to train on' 2 gnn-train --store unlabelled --full-batch --eval valid -o X
says 'S is a store and b a stream: gnn-gather -i b S' 2 gnn-gather -i S b
says 'X: no such store, but -o S is one' 2 gnn-partition -k 2 -o S X
printf 'from,to\n1,2\n' >e.csv
gzip -k e.csv
says 'X: no such file, but -o e.csv.gz is a gzip file' 2 gnn-import -o e.csv.gz X

# What is something else.
perl -e 'print "PK\3\4", "\0" x 200' >z.zip
tar cf t.tar e.csv
says 'z.zip: this is a zip archive, not a store; gnn-import converts it into a store' 3 gnn-sample -f 3 z.zip
says 'e.csv.gz: this is a gzip file, not a store; gnn-import' 3 gnn-train --store e.csv.gz -o X
says 't.tar: this is a tar archive, not a store; gnn-import' 3 gnn-partition -k 2 -o X t.tar
says 'e.csv: not a store, which is a directory; gnn-import converts a data set into one' 3 gnn-predict e.csv m.st
says 'b: this is a stream of batches, not a store' 3 gnn-sample -f 3 b
says 'm.st: this is a model or checkpoint (safetensors), not a store' 3 gnn-train --store m.st -o X
says 'S/part-00000.gnb: this is one partition of a store, not a store; a store is named by its directory' 3 gnn-sample -f 3 S/part-00000.gnb
mkdir D
says 'D: this is a directory, not a store (no store.json)' 3 gnn-inspect --verify --against D b
says 'S: this is a store, not a stream of batches; gnn-sample samples batches from it' 3 gnn-train -i S
perl -e 'print "PK\3\4", "\0" x 22, pack("vv", 14, 0), "model/data.pkl", "\0" x 200' >model.pt
says 'model.pt: this is a file of torch.save, not a model; save parameters with safetensors.torch.save_file' 3 gnn-predict -o X S model.pt
says 'model.pt: cut short' 3 gnn-import -o X model.pt
says 'z.zip: this is a zip archive, not a stream of batches; gnn-import' 3 gnn-gather -i z.zip -o X S
says 'stdin: this is a zip archive, not a stream of batches' 3 sh -c 'gnn-gather -o X S <z.zip'
says 'stdin: this is a directory, not a stream of batches' 3 sh -c 'gnn-gather -o X S <D'
says 'stdin: this is a directory, not a stream of batches' 3 sh -c 'gnn-train -o X <S'
says 'stdin: this is a directory, not a stream of batches' 3 sh -c 'gnn-inspect <D'
says 'm.st: this is a model or checkpoint (safetensors), not a stream' 3 gnn-gather -i m.st -o X S
says 'b: this is a stream of batches, not a model' 3 gnn-predict S b
says 'S: this is a store, not a model' 3 gnn-predict S S
says 'S: this is a store, not a data set' 3 gnn-import -o X S
says 'b: this is a stream of batches, not a data set' 3 gnn-import -o X b

# The same graph in other parts.
gnn-sample -q -f 3 -o bp P
gnn-partition -q -k 3 -o Q P
says 'S: this is the same graph, but in one partition' 3 gnn-gather -i bp -o X S
says 'the batches were sampled from it in 2 partitions' 3 gnn-gather -i bp -o X S
says 'give that store instead, or sample from this one' 3 gnn-gather -i bp -o X S
says 'P: this is the same graph, but in 2 partitions' 3 gnn-gather -i b -o X P
says 'P: this is the same graph' 3 gnn-inspect --verify --against P b
says 'Q: this is the same graph, but in 3 partitions' 3 gnn-gather -i bp -o X Q
says 'H: the batches were sampled from another store' 3 gnn-gather -i bp -o X H
check 'a store that was never partitioned has one identity' sh -c '! grep -q "\"graph\"" S/store.json && grep -q "\"graph\"" P/store.json'

# gnn-predict -n reports on each set where none is named.
status 0 'gnn-predict -n works without a set' gnn-predict -n S m.st
sed 's/.*: \([a-z]*\): accuracy .*/\1/' err | xargs >sets
check 'gnn-predict -n reports on each set of the first split' grep -q '^train valid test$' sets
# Slips that are easy to make.
says 'm.st is a model, and STORE is missing' 2 gnn-predict m.st
says 'MODEL is missing' 2 gnn-predict S
says "unknown option '--out'; did you mean '--output'?" 2 gnn-sample -f 3 --out X S
says "unknown option '--ep'; did you mean '--epochs'?" 2 gnn-sample -f 3 --ep 2 S
says 'and the model is named with -o' 2 gnn-train --store S X
says "sbm: no such file, and no such generator; did you mean 'sbm:'?" 3 gnn-import -o X sbm
printf 'a,b\n0,1\n' >ab.csv
says 'ab.csv: no column is the source (--columns source=COLUMN names it); columns: a, b' 3 gnn-import -o X ab.csv
printf '0\n1\n' >y.txt
printf '0 1\n1 0\n2 0\n' >three.txt
says 'gnn-import: y.txt: 2 rows for 3 nodes' 3 gnn-import -o X --labels y.txt three.txt
gnn-import -q -o W sbm:nodes=200,weights=1
says "W: no set 'val'" 2 gnn-predict -n --split val W m.st
gnn-predict -n --metric loss --split test S m.st 2>told
check 'gnn-predict --metric loss tells the loss once' grep -q 'test: loss [0-9.]*, [0-9]* nodes$' told

# Streams that follow one another: the first thing in which they differ.
gnn-sample -q -f 3 -b 7 -o b7 S
gnn-sample -q -f 2 -o b2 S
gnn-sample -q -f 3,3 -o b33 S
gnn-sample -q -f 3 --eval valid -o bv S
differs() { # STREAM TEXT: after b
    cat b "$1" >both
    says "concatenated streams have different headers: $2" 3 gnn-inspect --verify both
}
differs b7 "'sampling.batch_size' is 1024, here 7"
differs b2 "'sampling.fanout[0][0]' is 3, here 2"
differs b33 "'sampling.fanout[1]' is absent, here [3]"
differs bv "'sampling.splits[1]' is absent, here {\"name\":\"valid\",\"steps\":1,\"seeds\":40}"
gnn-sample -q -f 3 --steps 0:1 -o first S
gnn-sample -q -f 3 --epochs 1:2 -o second S
cat first second >both
check 'gnn-inspect --verify accepts concatenated streams that other commands made' gnn-inspect -q --verify both

# Classes of another graph.
gnn-import -q -o five sbm:nodes=100,classes=5
says 'five: has 5 classes, and the model 4: its labels cannot score the model' 3 gnn-predict -n five m.st
says 'stdin: has 5 classes, and the model 4: its labels cannot score the model' 3 \
    sh -c 'gnn-sample -q -f 3 five | gnn-gather -q five | gnn-predict -n m.st'
gnn-import -q -o three sbm:nodes=100,classes=3
check 'gnn-predict reports on fewer classes than the model has' sh -c 'gnn-predict -n three m.st 2>told'
check 'gnn-predict says on what that depends' grep -qx 'gnn-predict: warning: three has 3 classes, and the model 4: the figures are wrong unless a class has the same number in both' told
gnn-train --store S --split valid -f 3 --epochs 1 -o c.st 2>told
check 'gnn-train says that a set to train on is not one to evaluate on' grep -q 'no other set valid to evaluate on: all epochs are trained' told

# What a checkpoint was made with, by its name, and that another run replaces it.
gnn-partition -q -k 2 --method random -o halves S
train="gnn-train -q --store S -b 60 --epochs 2 --eval valid --checkpoint C"
$train -f 3,3 --hidden 4 --checkpoint-every 1 -o c.st
M='C/checkpoint.safetensors: the checkpoint was made'
while IFS='|' read -r what options; do
    # shellcheck disable=SC2086
    says "$M $what" 3 $train -f 3,3 --hidden 4 --resume -o X $options
done <<'T'
with --hidden 4, and this run has --hidden 8|--hidden 8
with --model sage, and this run has --model gcn|-m gcn
without --activation elu, which this run has|--activation elu
with --layer-norm, and this run without|--no-layer-norm
without --head 0, which this run has|--head 0
without --aggr max, which this run has|--aggr max
with --batch 60, and this run has --batch 30|-b 30
with --seed 1, and this run has --seed 2|--seed 2
with --no-replace, and this run has --replace|--replace
with --shuffle, and this run has --no-shuffle|--no-shuffle
with --split train --eval valid, and this run has --split train --eval valid --eval test|--eval test
with --lr 0.003, and this run has --lr 0.1|--lr 0.1
with --weight-decay 0, and this run has --weight-decay 0.5|--weight-decay 0.5
with --warmup 0, and this run has --warmup 1|--warmup 1
with --dropout 0.5 --dropout-input 0, and this run has --dropout 0.5 --dropout-input 0.25|--dropout-input 0.25
with --metric accuracy, and this run has --metric f1-macro|--metric f1-macro
with --metric accuracy, and this run has --metric accuracy --class-weights |--class-weights balanced
with --schedule constant, and this run has --schedule cosine|--schedule cosine
without --labor, which this run has|--labor
T
says "$M with --fanout 3,3, and this run has --fanout 3,2" 3 $train -f 3,2 --hidden 4 --resume -o X
# What follows from these options differs as well, and nobody gave it.
says "$M without --induced, which this run has" 3 $train -f 3,3 --hidden 4 --induced --layers 2 --resume -o X
typed='gnn-train -q --store H --hidden 4 --epochs 1 --checkpoint T -o c.st -f t0/to/t0=3,2'
$typed
says 'made with --fanout t0/to/t0=3,2, and this run has --fanout t0/to/t0=3,2 --fanout t0/up/t1=1,1' 3 $typed -f t0/up/t1=1,1 --resume
$typed --induced
says 'made with --fanout t0/to/t0=3,2, and this run has --fanout 3,2' 3 \
    gnn-train -q --store H --hidden 4 --epochs 1 --checkpoint T -o c.st -f 3,2 --induced --resume
says 'made with --induced, and this run without' 3 $typed --resume
joined='gnn-train -q --store halves --hidden 4 --epochs 1 --checkpoint J -o c.st'
$joined --clusters 1
says 'made with --clusters 1, and this run has --clusters 2' 3 $joined --clusters 2 --resume
says 'made with --clusters 1, and this run without' 3 $joined --resume
says "$M with the store of identity " 3 $train --store halves -f 3,3 --hidden 4 --resume -o X
says "$M without --full-batch, which this run has" 3 gnn-train -q --full-batch --store S --hidden 4 --resume --checkpoint C -o X
$train -f 3,3 --hidden 4 --schedule cosine --checkpoint cosine -o c.st
says "with --epochs 2, and this run has --epochs 8: with --schedule cosine, the number of epochs cannot change" 3 \
    $train -f 3,3 --hidden 4 --schedule cosine --epochs 8 --resume --checkpoint cosine -o X
says 'C: the checkpoint was made after epoch 1, but the last epoch of --epochs is 0' 2 $train -f 3,3 --hidden 4 --epochs 1 --resume -o X
gnn-train --store S -f 3 --epochs 1 --checkpoint C -o c.st 2>told
check 'gnn-train warns that a new run will remove the checkpoint' grep -q 'warning: C/checkpoint.safetensors exists and will be removed' told
check 'gnn-train has replaced the checkpoint of the earlier run' sh -c 'gnn-inspect C/checkpoint.safetensors | grep -q "epoch 0"'
rm -r C
gnn-train --store S -f 3 --epochs 1 --checkpoint C --resume -o c.st 2>told
check 'gnn-train --resume does not warn of the checkpoint' sh -c '! grep -q "will be removed" told'
check 'gnn-train --resume starts from the beginning where there is none' grep -q 'no checkpoint in C: starting from the beginning' told
# A place is named once; a set without nodes is said to be one.
perl -e '$h = "{\x27descr\x27: \x27<i8\x27, \x27fortran_order\x27: False, \x27shape\x27: (2, 2), }"; $h .= " " x (53 - length $h) . "\n";
    print "\x93NUMPY\1\0", pack("v", length $h), $h, pack "q<4", 0 .. 3' >two.npy
printf '0 1\n1 2\n2 3\n' >pairs
says 'gnn-import: two.npy: more than one id a line' 3 gnn-import -q -o X --split train=two.npy pairs
: >nobody
printf '0\n1\n0\n1\n' >classes && printf '1,2\n3,4\n5,6\n7,8\n' >columns
gnn-import -q -o unset --features columns --labels classes --split train=nobody pairs
says "gnn-sample: unset: set 'train' is empty: there is nothing to sample" 2 gnn-sample -q -f 3 -o X unset
says "set 'train' has 120 nodes, fewer than a batch of 1000, which --drop-last leaves out" 2 gnn-train -q --store S -b 1000 --drop-last -o X
# Of two runs one of which has an option more, that option is named; a run that is refused leaves the checkpoint.
full='gnn-train -q --full-batch --store halves --hidden 4 --epochs 2 --checkpoint F'
$full --boundary 0.5 --checkpoint-every 1 -o c.st
says "made with --boundary 0.5, and this run without" 3 $full --resume -o X
says "made with --boundary 0.5, and this run has --boundary 0.25" 3 $full --boundary 0.25 --resume -o X
says "made without --message-dtype bf16, which this run has" 3 $full --boundary 0.5 --message-dtype bf16 --resume -o X
says 'cannot create' 1 $full --boundary 0.5 -o no/such/X
says 'schedule cosine requires' 2 $full --boundary 0.5 --schedule cosine --warmup 3 -o X
check 'a run that is refused leaves the checkpoint' test -s F/checkpoint.safetensors
gnn-train --full-batch --store halves --hidden 4 --epochs 4 --patience 2 --eval-every 3 -o c.st 2>told
check 'gnn-train warns of a patience shorter than --eval-every' grep -q 'warning: --patience 2 counts epochs: with --eval-every 3, the first evaluation' told
says 'F: a directory of gnn-train --checkpoint, not a store: inspect F/checkpoint.safetensors' 3 gnn-inspect F
says '--no-shuffle has no effect with --full-batch' 2 gnn-train --full-batch --store halves --no-shuffle -o X

# Ids of any length are shown whole, or said to be cut.
long=12345678901234567890123
big=$(printf '%099d' 0 | tr 0 7)
printf '%s\n' $long >long.txt
printf '%s\n' "$big" >big.txt
says "long.txt: line 1: node id $long is out of range: there are 200" 3 gnn-sample -f 3 --seeds long.txt S
says 'big.txt: line 1: node id 777777777777777777777777777777777777777777777777777777777777... is out of range' 3 gnn-sample -f 3 --seeds big.txt S
says "stdin: line 1: node id $long is out of range" 3 sh -c "echo $long | gnn-sample -f 3 --seeds - S"
says "long.txt: line 1: partition number $long is out of range" 3 gnn-partition --from long.txt -k 2 -o X S
says "long.txt: line 1: no node has the id '$long'" 3 gnn-import -o X --split train=long.txt three.txt
printf 'source,target,time\n0,1,%s\n' $long >t.csv
says "line 2: time $long is outside -2^63 to 2^63-1" 3 gnn-import -o X t.csv

says 'y.txt: frame 0 at byte 0: not a GNB frame (wrong magic), so not a stream of batches' 3 gnn-gather -i y.txt -o X S

# Nodes without features.
printf '0\n1\n0\n' >y.txt
gnn-import -q -u --labels y.txt --split random:1,0,0 -o bare three.txt
gnn-train --store bare --epochs 1 --hidden 4 -o c.st 2>told
check 'gnn-train warns that nodes have no features' grep -q 'warning: nodes have no features x: a single feature 1 is used' told

check 'programs leave no result where they refuse their arguments' test -z "$(find . -name 'X*' -o -name '*.tmp*')"
done_testing
