# SPDX-License-Identifier: Apache-2.0
# gnn-predict on batches: the figures of gnn-train --eval, rows in order, what is refused.
. "$GNN_TOP/tests/lib.sh"
python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || { skip 'gnn-predict reads batches' 'no numpy'; done_testing; }
refusing=gnn-predict
"$python" - <<'PY' || exit 1
import numpy as np
# Nodes of three classes with times; later edges of a node say its class, earlier ones do not. late.npz: with edges of the far future.
r = np.random.default_rng(5)
n, m = 600, 6000
y = r.integers(0, 3, n)
time = r.integers(0, 100, n)
dst, t = r.integers(0, n, m), r.integers(0, 100, m)
src = np.where(t > 50, r.permutation(n)[(dst * 7 + t) % n], r.integers(0, n, m))
k = np.arange(n)
common = dict(time=time, x=np.c_[np.eye(3)[y], r.standard_normal((n, 2))].astype("f4") + r.standard_normal((n, 5)).astype("f4"), y=y,
              train_mask=k % 2 == 0, val_mask=k % 8 == 1, test_mask=k % 8 == 3, num_nodes=n)
np.savez("graph.npz", edge_index=np.stack([src, dst]), edge_time=t, edge_weight=r.integers(0, 5, m), **common)
late = r.integers(0, n, (2, m))
np.savez("late.npz", edge_index=np.c_[np.stack([src, dst]), late], edge_time=np.r_[t, np.full(m, 1000)],
         edge_weight=np.r_[r.integers(0, 5, m), np.ones(m, int)], **common)
np.savez("nothing.npz", edge_index=np.stack([src, dst]), edge_time=t, time=time, x=common["x"], num_nodes=n)
PY
gnn-import -q -o g graph.npz && gnn-import -q -o late late.npz && gnn-import -q -o nothing nothing.npz && gnn-partition -q -k 4 -o g4 g || exit 1
# What gnn-train reported of the epoch that it kept, and gnn-predict of the same sets: accuracy and loss with all digits.
trained() {
    "$python" -c '
import json, sys
e = [json.loads(l) for l in open(sys.argv[1])]
for s in sys.argv[2:]: print(s, e[-1][s]["accuracy"], e[-1][s]["loss"])' "$@"
}
scored() { "$python" -c '
import json, sys
for l in open(sys.argv[1]):
    j = json.loads(l)
    if j["event"] == "score": print(j["set"], j["accuracy"], j["loss"])' "$1"; }
train() { gnn-train -q --hidden 8 --epochs 3 --eval valid --eval test --metrics told "$@"; }
same() { # NAME: what gnn-predict has told is what gnn-train has
    trained told valid test >want
    scored got >have
    check "$1" cmp want have
}
for how in '-f 5,4 -b 60' '-f 5,4 -b 60 -r --seed 3' '-f 5,4 -b 60 --labor' '-f 5,4 -b 60 --weight weight' '-f 5,4 -b 60 --time-rule le' \
    '-f 5,4 -b 60 --time-rule lt --window 30 --latest' '-f 5,4 -b 60 --time-rule le --hop-time edge --frontier new' \
    '-f 5,4 -b 60 --induced --layers 2' '-f 5 -b 60 --induced --disjoint --layers 2 --time-rule le' '--clusters 2 --layers 2' '-f -1,-1 -b 50 -m gcn --edge-weight weight'; do
    case $how in *clusters*) s=g4 ;; *) s=g ;; esac
    check "gnn-train learns with $how" train --store $s $how -o m.st
    gnn-predict -q -n --store $s --split valid --split test --metrics got m.st
    same "gnn-predict --store finds what gnn-train --eval found to the last digit: $how"
    case $how in *labor* | *clusters*) continue ;; esac
    gnn-predict -q -n --store g4 --split valid --split test --metrics got m.st
    same "gnn-predict --store finds the same from partitions: $how"
done

# Features that were rounded for training are rounded again.
for d in f16 bf16; do
    check "gnn-train learns from features as $d" train --store g -f 5,4 -b 60 --dtype $d -o d.st
    check "gnn-predict --store says that features are converted to $d" sh -c "
        gnn-predict -n --store g --split valid --split test --metrics got d.st 2>said && grep -q 'd.st was trained on features that were converted to $d: they are' said"
    same "gnn-predict --store finds with features as $d what gnn-train --eval found"
    gnn-predict -q -n --store g4 --split valid --split test --metrics got d.st
    same "gnn-predict --store finds the same with features as $d from partitions"
done
cp got want
gnn-predict -n --store g --dtype f32 --split valid --split test --metrics got d.st 2>said
check "gnn-predict says what --dtype contradicts" grep -q 'warning: d.st was trained on features that were converted to bf16 (--dtype)' said
check "features that are not converted give other figures" sh -c '! cmp -s "$1" "$2"' - want got
check "gnn-predict says nothing of --dtype where it agrees" sh -c 'gnn-predict -n --store g --dtype bf16 --split test d.st 2>said && ! grep -q convert said'
check "gnn-predict says that layer-wise inference converts nothing" sh -c 'gnn-predict g d.st -o x.npy 2>said && grep -q "converted to bf16: layer-wise inference uses them as they are stored" said && rm x.npy'
check "gnn-inspect shows what features were converted to" sh -c 'gnn-inspect d.st | grep -q "features converted to bf16$" && gnn-inspect --json d.st | grep -q "\"dtype\": *\"bf16\""'
gnn-sample -q g -f 5,4 -b 60 --eval valid --eval test --epochs 3 | gnn-gather -q --dtype f16 g >f16.gnb
check "gnn-train learns from a stream of features as f16" sh -c 'gnn-train -q --hidden 8 --metrics told -o f16.st <f16.gnb'
gnn-predict -q -n --store g4 --split valid --split test --metrics got f16.st
same "gnn-predict --store finds with the store what gnn-train --eval found in a stream of features as f16"
gnn-sample -q g -f 5,4 -b 60 --split test | gnn-gather -q g >f32.gnb
check "gnn-predict says that features of a stream are not those of training" sh -c '
    gnn-predict -n -i f32.gnb f16.st 2>said && grep -q "warning: f16.st was trained on batches that differ from these by --dtype" said'
gnn-sample -q g -f 5,4 -b 60 --split test | gnn-gather -q --dtype f16 g | gnn-predict -n f16.st 2>said
check "gnn-predict says nothing of features that are converted alike" sh -c '! grep -q dtype said'
gnn-train -q --store g -f 5,4 --hidden 4 --epochs 1 -o plain.st
gnn-predict -n --store g --dtype f16 --split test plain.st 2>said
check "gnn-predict says that a model does not tell of --dtype" grep -q 'warning: --dtype f16: plain.st does not say that it was trained on features that were converted' said

# A stream in a pipe, a file and, without a store, the ids of its nodes.
check "gnn-train learns by time" train --store g -f 5,4 -b 60 --time-rule le -o m.st
epoch=$("$python" -c 'import json; print([json.loads(l) for l in open("told")][-1]["best_epoch"])')
gnn-sample -q g -f 5,4 -b 60 --time-rule le --eval valid --eval test --epochs "$epoch:$((epoch + 1))" | gnn-gather -q g >all.gnb
check "gnn-predict reads a stream with several sets" sh -c 'gnn-predict -n --split valid --split test --metrics got m.st <all.gnb'
same "gnn-predict finds in a stream what gnn-train --eval found"
check "gnn-predict -i reads the same from a file" gnn-predict -n --split valid --split test --metrics got -i all.gnb m.st
same "gnn-predict -i finds what gnn-train --eval found"
check "gnn-predict -n reports all sets of a stream" sh -c 'gnn-predict -n -i all.gnb m.st 2>err; [ "$(grep -c "accuracy" err)" -eq 3 ]'
check "gnn-predict writes a row for each seed of a set, in its order, from a stream as from a store" sh -c '
    gnn-predict -q --store g --split test m.st -o store.csv && gnn-predict -q --split test -i all.gnb m.st -o stream.csv &&
    [ $(wc -l <store.csv) -eq 76 ] && cmp store.csv stream.csv'
check "gnn-predict writes ids, times and sets" sh -c 'head -n 1 store.csv | grep -qx id,time,class,probability,set && sed -n 2p store.csv | grep -q "^3,[0-9]*,[012],0.*,test$"'
seq 0 599 >ids
check "gnn-predict --store writes all nodes, each at its time" sh -c 'gnn-predict -q --store g m.st -o all.csv && cut -d, -f1 all.csv | tail -n +2 | cmp - ids'
gnn-predict -q --store g4 m.st -o all4.csv
check "gnn-predict --store writes the same from partitions" cmp all.csv all4.csv
for kind in classes probs embeddings values; do
    gnn-predict -q --store g --output-kind $kind --split test m.st -o one.npy && gnn-predict -q --split test --output-kind $kind m.st -o two.npy <all.gnb
    check "gnn-predict --output-kind $kind writes the same array from a stream and a store" cmp one.npy two.npy
done
check "gnn-predict writes arrays with the rows of seeds" "$python" -c '
import numpy as np
v = np.load("one.npy"); assert v.shape == (75, 3) and v.dtype == "f4"'

# Outputs beyond --memory are in a file: the same results, and what is held does not grow with the number of seeds.
for s in "--store g" "--store g4" "-i all.gnb"; do
    for kind in embeddings classes; do
        for end in npy csv; do
            # shellcheck disable=SC2086
            check "gnn-predict $s --memory 1 writes the same $kind to a $end file" sh -c '
                gnn-predict -q '"$s --output-kind $kind"' m.st -o one.'$end' && gnn-predict -q --memory 1 '"$s --output-kind $kind"' m.st -o two.'$end' && cmp one.'$end' two.'$end
        done
    done
done
gnn-import -q -o many sbm:nodes=20000,features=8 && gnn-train -q --store many -f 2,2 -b 50 --epochs 1 --hidden 128 -o many.st
held() { gnn-predict -q --prefetch 1 --store many --output-kind embeddings --metrics got "$@" many.st -o x.npy && "$python" -c 'import json; print([json.loads(l) for l in open("got")][-1]["peak_bytes"])'; }
all=$(held)
check "gnn-predict has no temporary file for outputs that stay in memory" grep -q '"spilled_bytes":0,' got
little=$(held --memory 1M)
check "gnn-predict --metrics has the bytes of outputs in a file" grep -q "\"spilled_bytes\":$((20000 * 128 * 4))," got
check "gnn-predict --memory holds so much of outputs ($all bytes without, $little with)" test $((all - little)) -gt 2000000
check "gnn-predict names the directory where it cannot make its file" sh -c '! TMPDIR=$PWD/nowhere gnn-predict -q --memory 1 --store g m.st -o y.npy 2>err && grep -q "nowhere/gnn-predict: cannot create a temporary file" err && ! test -e y.npy'
rm -f x.npy

# The best model of a checkpoint is of its epoch, too.
check "gnn-train leaves a checkpoint" train --store g -f 5,4 -b 60 --time-rule le --checkpoint ck --checkpoint-every 5 --keep best -o ck.st
gnn-predict -q -n --store g --split valid --split test --metrics got ck/checkpoint.safetensors
same "gnn-predict --store finds with a checkpoint what gnn-train --eval found"

# A temporal model does not know the future: edges that are later than all seeds change nothing.
gnn-predict -q --store late m.st -o late.csv
check "gnn-predict --store uses no edge that is later than the node" cmp all.csv late.csv
check "gnn-predict --layer-wise does, and says so" sh -c '
    gnn-predict --layer-wise g m.st -o a.npy 2>said && gnn-predict -q --layer-wise late m.st -o b.npy && ! cmp -s a.npy b.npy && grep -q "later than" said'

# Seeds with times of their own: a node twice is two rows.
printf '7 90\n8 20\n7 10\n599 5\n7 90\n' >seeds
gnn-sample -q g -f 5,4 -b 2 --time-rule le --seeds seeds | gnn-gather -q g | gnn-predict -q m.st -o seeds.csv
check "gnn-predict writes a row for each seed of a list, in its order, with its time" sh -c '
    cut -d, -f1,2 seeds.csv >rows && printf "id,time\n7,90\n8,20\n7,10\n599,5\n7,90\n" | cmp - rows'
gnn-sample -q g4 -f 5,4 -b 2 --time-rule le --seeds seeds --original-ids | gnn-gather -q g4 | gnn-predict -q m.st -o seeds4.csv
check "gnn-predict writes the same from batches with original ids" cmp seeds.csv seeds4.csv
gnn-sample -q g -f 5,4 -b 2 --time-rule le --seeds seeds | gnn-gather -q g | gnn-train -q --hidden 4 -o listed.st
refuses 2 'came with their times' "--store for a model whose seeds came with their times" gnn-predict --store g listed.st -o x.npy

# Without labels there are predictions and no scores.
check "gnn-predict predicts where nothing has a label" sh -c 'gnn-predict -q --store nothing m.st -o none.csv && [ $(wc -l <none.csv) -eq 601 ]'
gnn-sample -q g -f 5,4 -b 60 --time-rule le --split test | gnn-gather -q -F x g >bare.gnb
check "gnn-predict predicts on a stream without labels" gnn-predict -i bare.gnb m.st -o x.npy
refuses 3 'batches have no labels node/node/y: run gnn-gather first' "to score a stream without labels" gnn-predict -i bare.gnb --split test m.st -o x.npy
gnn-sample -q g -f 5,4 -b 60 --split test | gnn-gather -q g >plain.gnb
check "gnn-predict says that batches are not of the kind that the model was trained on" sh -c '
    gnn-predict -n -i plain.gnb m.st 2>said && grep -q "warning: m.st was trained on batches that differ from these by --time-rule" said'

# What layer-wise inference does not see is asked for.
for how in '--time-rule le' '--weight weight' '--induced --layers 2'; do
    gnn-train -q --store g -f 5,4 --hidden 4 --epochs 1 $how -o s.st
    refuses 2 "was trained with ${how%% *}: .*--store g, as it was trained.*--layer-wise" "layer-wise inference after $how" gnn-predict g s.st -o x.npy
done
gnn-train -q --store g4 --clusters 2 --hidden 4 --epochs 1 -o c.st
refuses 2 'was trained with --clusters' "layer-wise inference after --clusters" gnn-predict g4 c.st -o x.npy
refuses 3 'batches of 2 partitions, and the store has 1' "clusters of a store that has too few" gnn-predict --store g c.st -o x.npy
check "gnn-predict --layer-wise allows it" gnn-predict --layer-wise g4 c.st -o x.npy
gnn-train -q --store g -f 5,4 --hidden 4 --epochs 1 --labor -o p.st
check "gnn-predict is layer-wise without a word where neighbours were sampled alike" gnn-predict g p.st -o x.npy
gnn-train -q --store g --full-batch --hidden 4 --epochs 1 -o f.st
refuses 2 'does not say how to draw batches' "--store for a model of full batches" gnn-predict --store g f.st -o x.npy
gnn-train -q --store g -f 5 --hidden 4 --head 0 --epochs 1 -o one.st
rm -f x.npy
refuses 2 'the model has 2 layers, but the batches have 1 hop' "batches with other hops than the model's layers" sh -c 'gnn-sample -q g -f 5 | gnn-gather -q g | gnn-predict p.st -o x.npy'
refuses 2 "no batches of set 'nowhere'" "a set that a stream does not have" gnn-predict -n --split nowhere -i all.gnb m.st
refuses 2 "no set 'nowhere'" "a set that the store does not have" gnn-predict -n --split nowhere --store g m.st
refuses 2 'exclude each other' "a stream and a store" gnn-predict -i all.gnb --store g m.st
refuses 2 'leave out g (gnn-predict --store g m.st)' "two stores" gnn-predict --store g g m.st
refuses 2 'leave out g (gnn-predict --input all.gnb m.st)' "a stream and a store to be read" gnn-predict -i all.gnb g m.st
refuses 2 'all.gnb is a stream of batches: gnn-predict -i all.gnb m.st' "a stream in the place of a store" gnn-predict all.gnb m.st
refuses 2 'all.gnb is a stream of batches, and MODEL is missing' "a stream in the place of a model" gnn-predict -n all.gnb
refuses 2 'm.st is a model and g a store: gnn-predict --store STORE MODEL' "a model in the place of a store" gnn-predict --store m.st g
refuses 2 'has no effect with --no-output' "--memory where no output of batches is kept" gnn-predict -n --memory 1M --store g m.st
refuses 2 'requires STORE' "--layer-wise with batches" gnn-predict --layer-wise --store g m.st
refuses 2 'requires batches' "--dtype without batches" gnn-predict --dtype bf16 g p.st
refuses 2 'requires --store' "--dtype with a stream" gnn-predict --dtype bf16 -i all.gnb m.st
refuses 2 'MODEL is missing' "a command line without a model" gnn-predict --store g
refuses 3 'not a stream of batches' "a file that is no stream" gnn-predict -i graph.npz m.st
check "gnn-predict leaves no array when it refuses" test ! -e x.npy
head -c 30000 all.gnb >cut.gnb
refuses 3 'cut short' "a stream that is cut" gnn-predict -i cut.gnb m.st -o x.npy
check "gnn-predict leaves no array of a stream that is cut" test ! -e x.npy
done_testing
