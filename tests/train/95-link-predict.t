# SPDX-License-Identifier: Apache-2.0
# gnn-predict of models of links: scores of pairs and of streams, metrics of sets, embeddings, and what is refused.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-predict
python=/usr/bin/python3
gnn-import -q -o base sbm:nodes=600,degree=12,features=8 && gnn-import -q --split-links node/to/node=80/10/10 -o s base || exit 1
gnn-partition -q -k 3 -o sp s
learn="--links node/to/node -b 256 --hidden 16 --lr 0.02"

# On the store of training, the figures of an epoch are those of gnn-train, to the last digit.
while read -r name options; do
    metric=$(echo "$options" | grep -o -e '--metric.*')
    gnn-train -q --store s $learn -f 5,3 --epochs 3 $options --eval valid --eval test --metrics t.json -o m
    gnn-predict -n --store s $metric --split test --split valid --metrics p.json m 2>said
    check "gnn-predict measures as gnn-train does: $name" "$python" -c '
import json, sys
rows = [json.loads(x) for n in ("t.json", "p.json") for x in open(n)]
score = {x["set"]: x for x in rows if x.get("event") == "score"}
best = max((x for x in rows if x.get("event") == "epoch"), key=lambda x: (x["valid"][sys.argv[1]], -x["epoch"]))
assert set(score) == {"test", "valid"}
for s in score:
    for k in (sys.argv[1], "loss"):
        assert best[s][k] == score[s][k], (s, k, best[s][k], score[s][k])' "$name"
    gnn-predict -n --store sp $metric --split test --metrics parted.json m 2>err
    for f in p parted; do grep -o '"set":"test".*' $f.json >$f.test; done
    check "partitions do not change it: $name" cmp p.test parted.test
done <<'EOT'
mrr-realistic
roc-auc --negatives binary:1 --strict
average-precision --negatives binary:1 --metric average-precision
precision@20 --negatives binary:1 --metric precision@20
mrr-realistic --negatives triplet:20 --strict
hits@3-realistic --negatives triplet:20 --metric hits@3
hits@20-shared --negatives binary:2 --negative-end both --metric hits@20
EOT
check "gnn-predict says which links are meant" grep -q 'links are of type node/to/node, which m was trained on' said
gnn-predict -n --store s --split test --metric mrr --negatives triplet:5 m 2>said
check "options replace what the model's file says of negatives" grep -q 'test: mrr-realistic 0\..*, 2106 pairs' said

# With all neighbours, scores are what the decoder makes of exact embeddings.
awk 'BEGIN { for (i = 0; i < 500; i++) print i % 600, (i * i * 7 + 3) % 600 }' >pairs
cat >decode.py <<'EOT'
import json, numpy as np, struct, sys
raw = open(sys.argv[1], "rb").read()
n, = struct.unpack("<Q", raw[:8])
t = {k: np.frombuffer(raw[8 + n:][slice(*v["data_offsets"])], "<f4").reshape(v["shape"]).astype("f8")
     for k, v in json.loads(raw[8:8 + n]).items() if k.startswith("decoder.")}
x, z, ends = np.load("e.npy").astype("f8"), np.load("z.npy"), np.load("ends.npy")
h, d = np.loadtxt("pairs", int).T
assert np.abs(ends - np.stack([x[h], x[d]], 1)).max() < 1e-5
p = x[h] * x[d]
if sys.argv[1] == "cosine":
    p /= np.linalg.norm(x[h], axis=1)[:, None] * np.linalg.norm(x[d], axis=1)[:, None]
want = p.sum(1)
if sys.argv[1] == "cosine":
    want *= t["decoder.scale"].item()
if sys.argv[1] == "mlp":
    p = np.maximum(p @ t["decoder.lins.0.weight"].T + t["decoder.lins.0.bias"], 0)
    want = (p @ t["decoder.lins.1.weight"].T + t["decoder.lins.1.bias"])[:, 0]
assert z.shape == (500,) and np.abs(z - want).max() < 1e-5, np.abs(z - want).max()
rows = [x.split(",") for x in open("z.csv").read().splitlines()]
assert rows.pop(0) == ["head", "tail", "score", "probability"]
assert [r[0] for r in rows] == [str(i) for i in h] and [r[1] for r in rows] == [str(i) for i in d]
assert (np.array([r[2] for r in rows], "f4") == z).all()
assert np.abs(np.array([r[3] for r in rows], "f8") - 1 / (1 + np.exp(-z.astype("f8")))).max() < 1e-6
EOT
for d in dot cosine mlp; do
    gnn-train -q --store s $learn -f -1,-1 --epochs 2 --negatives binary:1 --strict --decoder $d -o $d
    pairs="gnn-predict -q --store s --seeds pairs --exclude none $d"
    $pairs -o z.npy && $pairs -o z.csv && $pairs --output-kind embeddings -o ends.npy
    gnn-predict -q s $d --output-kind embeddings -o e.npy
    check "scores of pairs are those of exact embeddings: $d" "$python" decode.py $d
done
$pairs >stdout.csv
check "scores go to stdout as a table" cmp stdout.csv z.csv
awk 'NR == 1 { printf "\357\273\277" } { printf "\"%d\",\"%d\"\r\n", $1, $2 }' pairs >quoted
check "pairs may be written as spreadsheets write them: quoted, after a byte order mark" \
    sh -c "gnn-predict -q --store s --seeds quoted --exclude none mlp | cmp - z.csv"
$pairs -j 1 --prefetch 1 -o one.npy && $pairs -j 2 --prefetch 4 -o two.npy && $pairs --memory 1 --metrics spilled -o spilled.npy
check "scores do not depend on threads" cmp one.npy two.npy
check "an array that does not stay in memory is the same" cmp z.npy spilled.npy
check "and --metrics has its bytes" grep -q "\"spilled_bytes\":$(($(wc -l <pairs) * 4))," spilled
gnn-predict -q --store sp --seeds pairs --exclude none $d -o parted.npy
check "the ids of pairs do not depend on partitions" perl "$GNN_TOP/tests/train/npygap.pl" z.npy parted.npy 1e-5
gnn-predict -q --store sp --seeds pairs --exclude none $d -o parted.csv
check "nor do those that are written" sh -c 'for f in z parted; do cut -d, -f1,2 $f.csv >$f.ids; done; cmp z.ids parted.ids'
gnn-predict -q sp $d --output-kind embeddings -o parted.npy
check "embeddings of nodes do not depend on partitions" perl "$GNN_TOP/tests/train/npygap.pl" e.npy parted.npy 1e-5
$pairs --output-kind embeddings -o ends.csv
check "embeddings of ends have a row each" sh -c "[ \$(wc -l <ends.csv) = 1001 ] && head -n 1 ends.csv | grep -q '^input,end,id,embedding_0,' && sed -n 3p ends.csv | grep -q '^0,tail,3,'"
sed 's/$/\n/; s/ /,/' pairs | $pairs --seeds - | cmp - z.csv
check "pairs come from standard input, with blank lines" test $? -eq 0

gnn-sample -q -f -1,-1 -b 256 --links node/to/node --seeds pairs s | gnn-gather -q s | gnn-predict -q -o streamed.npy $d
check "the same batches in a stream have the same scores" cmp z.npy streamed.npy

# A stream, with and without negatives.
gnn-sample -q -f 5,3 -b 100 --links node/to/node --split test --negatives triplet:2 s | gnn-gather -q s >links.gnb
check "gnn-predict scores the links of a stream, and their negatives" gnn-predict -q -i links.gnb -o links.csv dot
check "a row says which link it is of, and whether it is a negative" "$python" -c '
import csv, collections
rows = list(csv.DictReader(open("links.csv")))
n = max(int(r["input"]) for r in rows) + 1
kinds = collections.Counter((r["input"], r["negative"]) for r in rows)
assert len(rows) == 3 * n and all(kinds[str(i), "0"] == 1 and kinds[str(i), "1"] == 2 for i in range(n))
assert all(r["set"] == "test" for r in rows)
head = {r["input"]: r["head"] for r in rows if r["negative"] == "0"}
assert all(head[r["input"]] == r["head"] for r in rows)'
gnn-predict -q -i links.gnb -o links.npy dot
check "an array has the links alone" sh -c 'head -c 128 links.npy | grep -aq "(351,)"'
gnn-predict -n -i links.gnb dot 2>said
check "gnn-predict measures the sets of a stream" grep -q 'test: mrr-realistic 0\..*, 1053 pairs' said
gnn-sample -q -f 5,3 --links node/to/node --seeds pairs s | gnn-gather -q s | gnn-predict -q -o asked.csv dot
check "links of a stream need no negatives to be scored" sh -c '[ $(wc -l <asked.csv) = 501 ] && head -n 1 asked.csv | grep -qx input,head,tail,score,probability,set'
gnn-predict -q --store s --split test --split valid -o sets.csv dot
check "links of sets are in the order of the sets" sh -c "grep ',0,test$' sets.csv | wc -l | grep -qx 351 && grep -n ',0,valid$' sets.csv | head -n 1 | grep -q '^704:0,'"

# Names, types, duplicates.
printf '%s\n' user,item ann,tea 'ann,"milk, hot"' bob,tea bob,rum cid,rum cid,jam dan,jam dan,tea >bought.csv
gnn-import -q -u --edge-type user/buys/item --columns source=user,target=item -o shop bought.csv
gnn-train -q --store shop -f -1,-1 -b 4 --links user/buys/item --negatives binary:1 --exclude none --hidden 4 --decoder mlp --epochs 2 -o shop.st
printf '%s\n' 'ann,"milk, hot"' bob,jam ann,tea 'ann,"milk, hot"' >asked
check "pairs are read and written by name" sh -c 'gnn-predict -q --store shop --seeds asked shop.st >named.csv && sed 1d named.csv | sed "s/,[^,]*,[^,]*$//" | cmp - asked'
check "a pair that is there twice has two equal rows" sh -c '[ "$(sed -n 2p named.csv)" = "$(sed -n 5p named.csv)" ]'
gnn-predict -q shop shop.st --output-kind embeddings -o items.csv && gnn-predict -q shop shop.st --output-kind embeddings --seed-type user -o users.csv
check "embeddings are of tails, or of heads" sh -c "grep -q '^rum,' items.csv && grep -q '^dan,' users.csv && ! grep -q '^dan,' items.csv"
cp asked asked.wrong && echo tea,ann >>asked.wrong
refuses 3 "line 5: 'tea' is not the id of a node of type 'user'" 'a pair of wrong types' gnn-predict --store shop --seeds asked.wrong -o x shop.st
refuses 2 'is of links from user to item' 'links of other types' gnn-predict --store shop --seeds asked --links item/rev_buys/user -o x shop.st
printf '%s\n' user,item 3,100 3,200 7,100 7,300 9,200 9,300 >bought.num
gnn-import -q -u --edge-type user/buys/item --columns source=user,target=item -o numbers bought.num
printf '%s\n' 3,300 7,200 >asked.num
gnn-predict -q --store numbers --seeds asked.num shop.st >numbers.csv
check "numbers are those of the data set" sh -c 'cut -d, -f1,2 numbers.csv | sed 1d | cmp - asked.num'
refuses 3 "line 1: '0' is not the id of a node" 'a position' sh -c 'echo 0,1 | gnn-predict --store numbers --seeds - -o x shop.st'
echo 4 601 >asked.out
refuses 3 "'601' is out of range" 'a node that is not there' gnn-predict --store s --seeds asked.out -o x dot
: >empty
refuses 3 'no links in it' 'an empty file' gnn-predict --store s --seeds empty -o x dot
check "nothing is left of them" sh -c '! ls x* 2>/dev/null'

# Times.
awk 'BEGIN { OFS = ","; print "source,target,time"; for (i = 0; i < 400; i++) print i % 40, (i * 7 + 1) % 40, 10 * i }' >told.csv
gnn-import -q --directed -o told told.csv
gnn-train -q --store told -f 4,4 -b 50 --time-rule lt --links node/to/node --hidden 8 --epochs 2 -o told.st
printf '%s\n' 1,8,5 1,8,2000 1,8,4000 1,8,2000 >when
gnn-predict -q --store told --seeds when -o when.csv told.st
check "pairs are scored at a time" sh -c 'cut -d, -f1-3 when.csv | sed 1d | cmp - when && head -n 1 when.csv | grep -qx head,tail,time,score,probability &&
    [ "$(sed -n 3p when.csv)" = "$(sed -n 5p when.csv)" ] && [ $(cut -d, -f4 when.csv | sort -u | wc -l) = 3 ]'
gnn-predict -q --store told --seeds when --output-kind embeddings -o at.csv told.st
check "and so are the embeddings of ends" sh -c 'sed -n 4p at.csv | grep -q "^1,head,1,2000,"'
refuses 3 'expected a head, a tail and a time' 'pairs without a time' gnn-predict --store told --seeds pairs -o x told.st

# Another name for the type.
gnn-import -q --edge-type user/got/item -u --columns source=user,target=item -o other bought.csv
map='--map user/got/item=user/buys/item --map item/rev_got/user=item/rev_buys/user'
gnn-predict -q --store other $map --seeds asked shop.st >mapped.csv
check "the type of links is mapped like others" cmp mapped.csv named.csv

# Outputs.
status 1 "a full disk is an error" sh -c 'gnn-predict -q --store s --seeds pairs dot >/dev/full'
cp err said
check "it is said in one line" sh -c '[ $(wc -l <said) = 1 ] && grep -q "No space left" said'
check "a closed pipe ends it quietly" bash -c 'gnn-predict -q --store s --seeds pairs dot 2>why | true; [ ${PIPESTATUS[0]} -eq 141 ] && [ ! -s why ]'
refuses 2 'never overwritten\|is the input' 'to overwrite the pairs' gnn-predict --store s --seeds pairs -o pairs dot
mkdir forged
if echo 't.update({k: [v[0], v[1], struct.pack("<f", 1e30) * (len(v[2]) // 4)] for k, v in t.items() if "convs.1" in k})' | "$python" "$GNN_TOP/tests/train/forge.py" dot forged; then
    refuses 1 'the score of link 0 of set seeds is not finite' 'scores that are not finite' gnn-predict --store s --seeds pairs -o x forged/1
else
    skip 'scores that are not finite are refused' 'python3 finds no libxxhash'
fi

# What cannot be.
refuses 2 'expected scores or embeddings' 'classes of links' gnn-predict --store s --seeds pairs --output-kind classes -o x dot
refuses 2 'expected scores or embeddings' 'probabilities of links' gnn-predict s dot --output-kind probs -o x
refuses 2 'scores are of pairs of nodes' 'scores of all nodes' gnn-predict s dot -o x
refuses 2 'not defined for links tasks' 'metrics of numbers' gnn-predict -n --store s --split test --metric rmse dot
refuses 2 'requires negatives of each link' 'MRR of shared negatives' gnn-predict -n --store s --split test --metric mrr dot
refuses 2 '--seeds FILE or --split SET is missing' 'no links' gnn-predict --store s -o x dot
refuses 2 'whose metrics require batches' 'metrics of all nodes' gnn-predict -n s dot --split test
refuses 2 'exclude each other' 'pairs and a set' gnn-predict --store s --seeds pairs --split test -o x dot
refuses 2 'have no negatives' 'negatives of pairs' gnn-predict --store s --seeds pairs --strict -o x dot
refuses 2 "no set 'tets'" 'a set that is not there' gnn-predict --store s --split tets -o x dot
refuses 2 "no set 'foo'" 'two sets that are not there' gnn-predict --store s --split foo --split bar -o x dot
refuses 2 'is named twice' 'a set twice' gnn-predict --store s --split test --split links/test -o x dot
refuses 2 'negatives .foo.: expected binary:A' 'negatives of no kind' gnn-predict --store s --split test --negatives foo -n dot
gnn-import -q --split-links node/to/node=80/5/15 -o uneven base # about 180 and 540 links
gnn-sample -q -f 5,3 --links node/to/node --negatives binary:1 --eval valid --eval test uneven | gnn-gather -q uneven >uneven.gnb
check "a set may have as many negatives as hits@K requires where another of the stream has fewer" gnn-predict -n -i uneven.gnb --split test --metric hits@300 dot
refuses 2 'requires as many negatives' 'more negatives than there are' gnn-predict --store s --split test --metric hits@1000000 -n dot
refuses 2 'requires --store' 'pairs beside a stream' gnn-predict -i links.gnb --seeds pairs -o x dot
refuses 2 'metrics tell links from negatives' 'metrics without negatives' sh -c 'gnn-sample -q -f 5,3 --links node/to/node --seeds pairs s | gnn-gather -q s | gnn-predict -n dot'
refuses 2 'requires STORE' 'a node type of batches' gnn-predict --store s --seeds pairs --seed-type node -o x dot
refuses 2 'the model has embeddings of user and item' 'another node type' gnn-predict shop shop.st --output-kind embeddings --seed-type tag -o x
gnn-train -q --store base -f 5,3 --epochs 1 --hidden 8 -o nodes
refuses 2 'requires a model of links' 'pairs of a model of nodes' gnn-predict --store base --seeds pairs -o x nodes
refuses 2 'the model is of nodes' 'scores of a model of nodes' gnn-predict base nodes --output-kind scores -o x
refuses 2 'no edge type' 'links of no type' gnn-predict --store s --seeds pairs --links node/two/node -o x dot
check "nothing is left of them" sh -c '! ls x x.tmp* 2>/dev/null'
done_testing
