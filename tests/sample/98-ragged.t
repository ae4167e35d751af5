# SPDX-License-Identifier: Apache-2.0
# Candidates of different numbers for each link, also of none, as in pickles of the Temporal Graph Benchmark: kept, sampled and measured.
. "$GNN_TOP/tests/import/splits.sh"
ragged() { "$python" -B "$GNN_TOP/tests/sample/ragged.py" "$@"; }
smp() { gnn-sample -q --no-provenance --original-ids "$@"; }
"$python" -B "$GNN_TOP/tests/import/candidates.py" write
"$python" -c 'import numpy as np
r = np.random.default_rng(3)
for t, n in ("user", 25), ("item", 12):
    np.savetxt(t + ".x", r.random((n, 4)), "%.4f", ",")'
type=user/edits/item
some=valid=wiki-some_val_ns.pkl,test=wiki-some_test_ns.pkl
import -u --edge-type $type --features user=user.x --features item=item.x -o u wiki.csv
cut -k 3 --method random -o up u
say() { gnn-import -v --no-provenance --force --split-links $type=time:70/15/15 "$@" 2>said; }
check 'gnn-import takes candidates of different numbers' say --negatives $some -o s u
check 'it says how many' grep -q 'candidates-ragged/test: 0 to 6 given negatives of each link' said
check 'they are those of the pickle' "$python" -B "$GNN_TOP/tests/import/candidates.py" check u s wiki-some
check 'the split verifies' gnn-inspect --verify s
check 'gnn-import takes them of three partitions' say --negatives $some -o sp up
check 'the same' gnn-inspect --verify sp --against s
check 'they are those of the pickle, too' "$python" -B "$GNN_TOP/tests/import/candidates.py" check up sp wiki-some
import --edge-type node/to/node -u -o b wiki.csv
check 'gnn-import takes them of one node type' import --split-links node/to/node=time:70/15/15 --negatives $some -o bs b
check 'turned as the keys have them' "$python" -B "$GNN_TOP/tests/import/candidates.py" check b bs wiki-some
cut -k 4 --method random -o cut s
cut -k 1 -o whole sp
check 'gnn-partition keeps them' gnn-inspect --verify cut --against s
check 'and puts them together' gnn-inspect --verify whole --against s

# Batches
sets="valid=wiki-some_val_ns.pkl test=wiki-some_test_ns.pkl"
for how in '-f 3,2' '-f 2,2 --disjoint --exclude reverse' '-f 3 --frontier new'; do
    # shellcheck disable=SC2086
    smp s $how --links $type -b 10 --negatives binary:1 --eval valid --eval test -o one.gnb
    # shellcheck disable=SC2086
    check "batches have the candidates of each link, and then the link: $how" ragged stream one.gnb 25 $sets
    check "gnn-inspect draws them again: $how" gnn-inspect --verify one.gnb --against s
    for store in sp cut whole; do
        # shellcheck disable=SC2086
        smp $store $how --links $type -b 10 --negatives binary:1 --eval valid --eval test -j 3 -o other.gnb
        check "and they are those of $store: $how" gnn-inspect --diff --original one.gnb other.gnb
    done
done
smp s -f 2 --links $type -b 8 --split test --negatives given --shuffle -o alone.gnb
check 'a set alone, shuffled, has its candidates' ragged stream alone.gnb 25 test=wiki-some_test_ns.pkl
"$python" -c 'import pickle; print(sum(map(len, pickle.load(open("wiki-some_test_ns.pkl", "rb")).values())))' >many
gnn-inspect --leaks alone.gnb --against s >leaks
check 'what fills places is no negative: the count of --leaks' grep -q "^negatives that are edges: [0-9]* of $(cat many)," leaks
check 'nor of another time' grep -q '^negatives of another tree or time than their link: 0$' leaks
check "gnb.py's rules accept them" "$python" -B "$GNN_TOP/tests/interop/gnb.py" one.gnb
smp s -f 2 --links $type -b 8 --split test --negatives triplet:2 -o drawn.gnb
check 'streams of negatives that are drawn are of version 3' test "$(od -An -tu2 -j4 -N2 drawn.gnb)" -eq 3
check 'stores with lists are of version 4' test "$(od -An -tu2 -j4 -N2 s/part-00000.gnb)" -eq 4
check 'others of version 1' test "$(od -An -tu2 -j4 -N2 u/part-00000.gnb)" -eq 1
"$python" -c 'import sys
sys.path.insert(0, sys.argv[1])
import gnb
with open("alone.gnb", "rb") as f, open("old.gnb", "wb") as g:
    (_, head), *frames, _ = gnb.read_frames(f)
    gnb.write_frames(g, head, [list(dict(t).items()) for _, t in frames], major=3)' "$GNN_TOP/tests/interop"
check "the Python package reads both" sh -c 'PYTHONPATH="$GNN_TOP/formats/python" "$0" -B -c "from gnntools import store, stream
store.Store(\"s\"), store.Store(\"sp\")
assert sum(len(b.arrays[\"pair\"]) for b in stream.Stream(\"alone.gnb\")) == 45"' "$python"
refusing=gnn-inspect refuses 3 'links with different numbers of negatives, require version 4' 'another version of such a stream' gnn-inspect --verify old.gnb

# Metrics and losses, against their definitions over the lists
for loss in bce bpr softmax; do
    check "gnn-train is measured on them: $loss" gnn-train -q --store s --task links -f 3,3 --epochs 2 --negatives triplet:2 --eval-negatives given --loss $loss -o $loss.m
    for metric in mrr hits@3 roc-auc average-precision recall@2; do
        gnn-predict --split test --metric $metric --store s -o $metric.csv $loss.m 2>said.$metric
    done
    check "gnn-predict writes no line for what is none, and measures as defined: $loss" \
        ragged table mrr.csv wiki-some_test_ns.pkl 25 $loss said.mrr said.hits@3 said.roc-auc said.average-precision said.recall@2
    check "pairs are counted without them: $loss" grep -q ", $((45 + $(cat many))) pairs$" said.mrr
    gnn-predict --split test --metric mrr --store cut -j 3 -o other.csv $loss.m 2>said.other
    check "the same of 4 partitions and 3 threads: $loss" sh -c 'for f in mrr other; do grep -o "mrr-realistic.*" said.$f; done | uniq -c | grep -q "^ *2 "'
    check "likewise the table: $loss" sh -c 'for f in mrr other; do cut -d , -f 1-4,7 $f.csv | sort >$f.lines; done; cmp mrr.lines other.lines'
done
smp s -f 3,3 --links $type --time-rule lt -b 9 --split test --negatives given --no-shuffle | gnn-gather -q s >test.gnb
gnn-predict --split test --metric mrr -o stream.csv -i test.gnb bce.m 2>said.stream
check 'gnn-predict takes streams of them' ragged table stream.csv wiki-some_test_ns.pkl 25 bce said.stream
emu=$GNN_B/emu/bin
if [ -x "$emu/gnn-predict" ]; then
    export GNN_FAKE_DEVICES=1
    "$emu/gnn-predict" --device cuda --split test --metric mrr --store s -o mrr.csv softmax.m 2>said.mrr
    check 'a device measures as defined' ragged table mrr.csv wiki-some_test_ns.pkl 25 softmax said.mrr
    check 'and learns from them' "$emu/gnn-train" -q --device cuda --store s --task links --split valid --negatives given --eval test -f 3 --epochs 1 --loss bpr -o z.m
fi
check 'gnn-train learns from them' gnn-train -q --store s --task links --split valid --negatives given --eval test -f 3 --epochs 2 --loss softmax -o learnt.m
refusing=gnn-train refuses 2 'hits@7: links have 6 negatives at most' 'hits among more than any link has' \
    gnn-train --store s --task links -f 3 --epochs 1 --metric hits@7 -o z.m
check 'hits among as many as some have' gnn-train -q --store s --task links -f 3 --epochs 1 --metric hits@6 -o z.m
import --split-links $type=time:70/15/15 --negatives valid=wiki_val_ns.pkl,test=wiki-some_test_ns.pkl -o mixed u
check 'sets of both kinds are evaluated together' gnn-train -q --store mixed --task links -f 3 --epochs 1 --metric mrr -o z.m

# Damaged lists
damaged() {
    check "a store can be made in which $1 is wrong" ragged damage whole "bad-$1" "$1"
    refusing='gnn-inspect --verify' refuses 3 "$2" "$3" gnn-inspect --verify "bad-$1"
    refusing=gnn-sample refuses 3 "$2" "$3" gnn-sample "bad-$1" -f 2 --links $type --split test --negatives given -o z
}
damaged early "bad-early: set 'candidates-ragged/test': the list of link [0-9]* \(has a candidate with another head\|is of no link\|has no end\)" 'an end too early'
damaged last "bad-last: set 'candidates-ragged/test': the list of link 44 has no end" 'no last end'
damaged head "bad-head: set 'candidates-ragged/test': the list of link 0 has a candidate with another head" 'another head'
check 'nothing is left of these' sh -c '! ls z 2>/dev/null'
. "$GNN_TOP/tests/faults/sweep.sh"
sweep 'gnn-import of lists ends cleanly when malloc fails' malloc S -- gnn-import -q --split-links $type=time:70/15/15 --negatives $some -o S u
sweep 'gnn-sample of lists ends cleanly when malloc fails' malloc o.gnb -- gnn-sample -q s -f 2 --links $type -j 1 --split test --negatives given --steps 0:2 -o o.gnb
done_testing
