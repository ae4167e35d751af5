# SPDX-License-Identifier: Apache-2.0
# Full batches: batch norm, threads, how they resume, what they send, and what is refused. tests/full compares what models learn.
. "$GNN_TOP/tests/lib.sh"
refusing='gnn-train --full-batch'
export OMP_NUM_THREADS=1
perl -e 'srand 4; print "source,target,weight\n"; printf "%d,%d,%.3f\n", int rand 401, int rand 380, .1 + rand for 1 .. 4000; print "5,5,2\n7,7,0.5\n"' >e.csv
perl -e 'print $_ % 3, "\n" for 1 .. 401' >y.csv
perl -e 'srand 5; print join(",", $_ % 3 + rand, rand, 1), "\n" for 1 .. 401' >x.csv
# Partition 0 has a single node, 1 has no edges and no seeds (the last nodes have none), 2 and 3 share the rest.
perl -e 'print $_ == 9 ? 0 : $_ >= 390 ? 1 : 2 + $_ % 2, "\n" for 0 .. 400' >assign
gnn-import -q --directed --labels y.csv --features x.csv --split random:0.5,0.25,0.25 -o w e.csv && gnn-partition -q -k 1 -o w1 w &&
    gnn-partition -q -k 5 -o w5 w && gnn-partition -q --from assign -k 4 -o w4 w || _not_ok 'gnn-import and gnn-partition make a graph'
# Batch norm is over all nodes, in a batch over those that it has: all are seeds.
gnn-import -q --split random:1,0,0 -o all sbm:nodes=200,features=6 && gnn-partition -q -k 3 -o all3 all || _not_ok "gnn-import makes a graph of training nodes"
for opts in '-m sage' '-m gin' '-m gcn --ffn'; do
    bn="--eval none --patience 0 --keep last --dropout 0 --batch-norm --optimizer sgd --lr 0.01 --hidden 8 --epochs 4 $opts"
    check "gnn-train $opts --batch-norm learns from all nodes in one batch" gnn-train -q --store all -f -1,-1 -b 200 --no-shuffle --metrics m.json -o m.st $bn
    check "gnn-train --full-batch $opts --batch-norm learns" gnn-train -q --full-batch --store all3 --metrics f.json -o f.st $bn
    check "gnn-train --full-batch $opts --batch-norm has the losses of one batch" /usr/bin/python3 -c '
import json
a, b = ([json.loads(l)["loss"] for l in open(f) if json.loads(l)["event"] == "epoch"] for f in ("m.json", "f.json"))
assert len(a) == len(b) == 4 and all(abs(x - y) < 1e-4 * abs(x) for x, y in zip(a, b)), (a, b)'
done

full="gnn-train -q --full-batch --store w5 --hidden 8 --no-provenance --dropout 0.3 --batch-norm --lr 0.01 --layers 3"
check 'gnn-train --full-batch learns for six epochs' $full --epochs 6 -o want
check 'gnn-train --full-batch keeps a checkpoint' $full --epochs 3 --checkpoint C --checkpoint-every 1 -o part
check 'gnn-train --full-batch resumes' $full --epochs 6 --checkpoint C --resume -o got
check 'gnn-train --full-batch writes the same model after resuming' cmp want got
# A checkpoint that was made before its epoch was evaluated: the first epoch after resuming has no step.
wide='gnn-train --full-batch --store w5 --hidden 256 --layers 3'
gradients() { sed -n 's/.*between partitions: .* and \([0-9.]*\) MB of gradients a step.*/\1/p' "$1"; }
$wide --epochs 3 -o wide 2>whole
$wide --epochs 2 --checkpoint W --checkpoint-every 1 -o wide 2>begun
$wide --epochs 3 --checkpoint W --resume -o wide 2>resumed
check "gnn-train --full-batch tells what a step sends after resuming: $(gradients resumed) MB" \
    test "$(gradients whole)" != 0.0 -a "$(gradients whole)" = "$(gradients resumed)"
# The library of matrix products may divide them by the number of threads, so that last bits differ.
for j in 1 2; do
    check "gnn-train --full-batch learns with $j threads" env OMP_NUM_THREADS=$j $full --epochs 6 --metrics threads$j.json -o got$j
done
check 'gnn-train --full-batch has the same losses with two threads but for rounding' /usr/bin/python3 -c '
import json
a, b = ([json.loads(l)["loss"] for l in open(f) if json.loads(l)["event"] == "epoch"] for f in ("threads1.json", "threads2.json"))
assert len(a) == len(b) == 6 and all(abs(x - y) < 1e-5 * abs(x) for x, y in zip(a, b)), (a, b)'
status 3 'gnn-train refuses to resume minibatches from a checkpoint of full batches' gnn-train -q --store w5 -f 0,0,0 -b 200 --no-shuffle --hidden 8 \
    --no-provenance --dropout 0.3 --batch-norm --lr 0.01 --epochs 6 --checkpoint C --resume -o other
check 'gnn-train --eval-every evaluates every third epoch and the last' $full --epochs 8 --eval-every 3 --metrics every.json -o xx
check 'it says so' /usr/bin/python3 -c '
import json
assert [e["epoch"] for e in map(json.loads, open("every.json")) if e["event"] == "epoch" and "valid" in e] == [2, 5, 7]'
check 'gnn-train --eval-every trains the same model' $full --epochs 8 --keep last -o last
check 'gnn-train --eval-every 3 trains the same model' $full --epochs 8 --keep last --eval-every 3 -o every
check 'these are equal' cmp last every
# What goes between partitions: B rows as wide as they are sent, and their gradients where sources are no features. What was
# gathered of these in the first epoch is there in the second, and for evaluation.
gnn-partition -q -k 5 --metrics halo.json -o s5 w || _not_ok 'gnn-partition tells the halo'
while read -r forward backward evaluated opts; do
    check "gnn-train --full-batch $opts learns and tells what it sends" gnn-train -q --full-batch --store s5 --epochs 2 --metrics sent.json -o sent $opts
    check "gnn-train --full-batch $opts sends $forward columns forward, $backward back and $evaluated for evaluation" /usr/bin/python3 -c '
import json, sys
b = next(e["halo"] for e in map(json.loads, open("halo.json")) if "halo" in e)
x = next(e for e in map(json.loads, open("sent.json")) if e["event"] == "full_batch")
assert b > 300 and [x[k + "_bytes"] / (2 * 4 * b) for k in ("fetched", "pushed", "evaluated")] == [float(v) for v in sys.argv[1:]], (b, x)' $forward $backward $evaluated
done <<EOF
4.5 3 3 -m sage --hidden 8
6 3 6 -m sage --hidden 8 --dropout-input 0.1
6 6 6 -m sage --layers 1 --encoder 6 --aggr max
1.5 0 0 -m sage --layers 1 --aggr max
3 3 3 -m gcn --layers 1 --encoder 5
28 14 14 -m gat --heads 2 --hidden 8
28 14 14 -m gatv2 --heads 2 --hidden 8 --eval valid
14 14 14 -m gat --heads 2 --hidden 8 --remote-rows keep
11 8 11 -m gin --hidden 8
19 19 19 -m rgcn --encoder 3 --hidden 8 --layers 3 --eval test
64 32 32 -m hgt --heads 2 --head 0 --hidden 8
EOF
$full --epochs 90 --lr 0 --patience 7 --eval-every 4 --metrics patience.json -o patience 2>err
check 'gnn-train --patience counts epochs, not evaluations' /usr/bin/python3 -c '
import json
assert [e["epoch"] for e in map(json.loads, open("patience.json")) if e["event"] == "epoch"][-1] == 11'
# Damage that no checksum is asked about: the array of one tensor, found by its bytes.
damage() { # TENSOR ELEMENT VALUE: store `bad', partition 2
    rm -rf bad && cp -r w4 bad
    /usr/bin/python3 - "$@" <<'PY'
import struct, sys, zipfile
name, at, value = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
whole = zipfile.ZipFile("w4.npz").read("part-2/" + name + ".npy")
head = 10 + struct.unpack("<H", whole[8:10])[0]
file = open("bad/part-00002.gnb", "r+b")
offset = file.read().index(whole[head:])
file.seek(offset + 4 * at)
file.write(struct.pack("<I", value))
PY
}
check 'gnn-inspect exports the partitions' gnn-inspect --raw --export w4.npz w4
while IFS='|' read -r tensor at value message; do
    damage "$tensor" "$at" "$value"
    refuses 3 "^gnn-train: bad/part-00002.gnb: $message$" "$tensor with element $at = $value" gnn-train -q --full-batch --store bad --no-verify --hidden 8 --epochs 2 -o never
done <<'EOF'
edge/node/to/node/indices|7|4000000000|tensor 'edge/node/to/node/indices' is damaged: edge 7: source 4000000000 of 401
edge/node/to/node/indices|0|401|tensor 'edge/node/to/node/indices' is damaged: edge 0: source 401 of 401
edge/node/to/node/indptr|20|4000000000|tensor 'edge/node/to/node/indptr' is damaged at row .*
split/random/train|3|0|split/random/train: element 3 is node 0, which the partition does not own
split/random/valid|3|400|split/random/valid: element 3 is node 400, which the partition does not own
EOF
# More edges than a block numbers, which a hole of the file holds: they are refused before they are read.
gnn-import -q -o tiny sbm:nodes=40,degree=3,features=4 || _not_ok 'gnn-import makes a small graph'
check 'gnn-train --full-batch takes a store that was written anew' sh -c '/usr/bin/python3 "$GNN_TOP/tests/train/sparse.py" tiny like 100 &&
    gnn-train -q --full-batch --store like --no-verify --epochs 1 -o like.st'
for edges in 4294967296 20000000000; do
    check "a file system holds a store with a hole of $edges edges" /usr/bin/python3 "$GNN_TOP/tests/train/sparse.py" tiny many$edges $edges
    while IFS='|' read -r opts message; do
        status 3 "gnn-train --full-batch $opts refuses $edges edges" gnn-train -q --full-batch --store many$edges --no-verify -o never $opts
        mv err said
        check "gnn-train --full-batch $opts says that $edges edges are too many" grep -qxF -e \
            "gnn-train: many$edges/part-00000.gnb: more than 2^32 edges$message: full batches require more partitions (gnn-partition -k)" said
    done <<EOF
-m sage| from one partition
-m gat --heads 2|
EOF
    rm -r many$edges
done
gat="gnn-train -q --full-batch --store w5 -m gat --heads 2 --hidden 8 --no-provenance --attention-dropout 0.2 --lr 0.01 --layers 3 --epochs 3"
check 'gnn-train --full-batch -m gat learns' $gat -o gat
for how in '--remote-rows keep' '--remote-rows all' '--pipeline-depth 3' '--remote-rows keep --pipeline-depth 2'; do
    check "gnn-train --full-batch $how learns" $gat $how -o how
    check "gnn-train --full-batch $how makes the same model" cmp gat how
done
check 'gnn-train learns with rows fetched ahead in one process' gnn-train --full-batch --store w5 --pipeline-depth 2 --epochs 1 -o how
mv err said
check 'gnn-train says that they are not' grep -qxF \
    'gnn-train: warning: --pipeline-depth has no effect: rows travel only between ranks, and there is one' said
while IFS='|' read -r opts message; do
    status 2 "gnn-train refuses $opts" gnn-train $opts -o never
    mv err said
    check "gnn-train says why it refuses $opts" grep -qxF -e "gnn-train: $message" said
done <<EOF
--full-batch|--full-batch requires --store
--store w --eval-every 2|--eval-every requires --full-batch
--store w --pipeline-depth 2|--pipeline-depth requires --full-batch
--store w --remote-rows keep|--remote-rows requires --full-batch
--store w1 --full-batch --pipeline-depth 2|--pipeline-depth has no effect: the store has one partition
--store w5 --full-batch --remote-rows keep|--remote-rows keep has no effect: the backward pass of this model needs no rows of other partitions
--store w5 --full-batch -m gat --remote-rows all --pipeline-depth 3|--pipeline-depth has no effect with --remote-rows all
--store w5 --full-batch --eval none --patience 0 --keep last --eval-every 3|--eval-every requires a set to evaluate: --eval valid
--store w --layers 3|--layers requires --full-batch, --induced or --clusters; else -f determines the layers
--full-batch --store w -f 5,5|--fanout has no effect with --full-batch: nothing is sampled
--full-batch --store w -b 5|--batch has no effect with --full-batch: nothing is sampled
--full-batch --store w --dtype f16|--dtype cannot be used with --full-batch: import features as that type
EOF
check 'gnn-train leaves no model of options that it refuses' test ! -e never
done_testing
