# SPDX-License-Identifier: Apache-2.0
# gnn-train --full-batch --boundary and --message-dtype: what they send, that sums stay unbiased, and that they resume.
. "$GNN_TOP/tests/lib.sh"
export OMP_NUM_THREADS=1
perl -e 'srand 4; print "source,target\n"; printf "%d,%d\n", int rand 401, int rand 380 for 1 .. 4000' >e.csv
perl -e 'print $_ % 3, "\n" for 1 .. 401' >y.csv
perl -e 'srand 5; print join(",", $_ % 3 + rand, rand, 1), "\n" for 1 .. 401' >x3.csv
perl -e 'srand 6; print join(",", $_ % 3 + rand, rand, 1, rand, -rand, rand() - .5), "\n" for 1 .. 401' >x6.csv
for d in 3 6; do
    gnn-import -q --directed --labels y.csv --features x$d.csv --split random:0.5,0.25,0.25 -o w$d e.csv && gnn-partition -q -k 5 -o p$d w$d &&
        gnn-inspect --raw --export p$d.npz p$d || _not_ok "gnn-import and gnn-partition make a graph of $d features"
done
cat >sample.py <<'EOF'
# The sample is drawn here once more, from the manual's words and the generator's paper.
import array, json, math, struct, sys, zipfile

def philox(c, k):
    c, (k0, k1) = list(c), k
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ k0, q & 0xffffffff, (p >> 32) ^ c[3] ^ k1, p & 0xffffffff]
        k0, k1 = (k0 + 0x9E3779B9) & 0xffffffff, (k1 + 0xBB67AE85) & 0xffffffff
    return c

def stays(q, epoch, user, row, seed=1):
    tag = 7 << 24
    key = philox([epoch, 0, user, tag], (seed, 0))[:2]
    return philox([row, 0, tag, 0], key)[0] < round(q * 2 ** 32)

class Store:
    def __init__(self, name):
        self.zip = zipfile.ZipFile(name + ".npz")
        self.parts = sum(n.endswith("/indptr.npy") for n in self.zip.namelist())
        self.x = [x for p in range(self.parts) for x in self.read(p, "node/node/x", "f")]
        self.y = [y for p in range(self.parts) for y in self.read(p, "node/node/y", "i")]
        self.train = {i for p in range(self.parts) for i in self.read(p, "split/random/train", "I")}
        self.edges, self.owner = [], []  # partition, destination, source, degree of the destination
        for p in range(self.parts):
            at, src = self.read(p, "edge/node/to/node/indptr", "Q"), self.read(p, "edge/node/to/node/indices", "I")
            first = len(self.owner)
            for i in range(len(at) - 1):
                self.edges += [(p, first + i, s, at[i + 1] - at[i]) for s in src[at[i]:at[i + 1]]]
            self.owner += [p] * (len(at) - 1)
        self.boundary = sorted({(p, s) for p, _, s, _ in self.edges if self.owner[s] != p})

    def read(self, p, name, kind):
        raw = self.zip.read("part-%d/%s.npy" % (p, name))
        return array.array(kind, raw[10 + struct.unpack("<H", raw[8:10])[0]:])

def tensors(name):
    raw = open(name, "rb").read()
    n = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8:8 + n])
    return {k: array.array("f", raw[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]])
            for k, v in head.items() if k != "__metadata__"}, head, raw[8 + n:]
EOF
# Bytes: of each of the B rows, as many columns as in an exact step, if it stays.
cat >bytes.py <<'EOF'
from sample import *
q, size, s = float(sys.argv[1]), int(sys.argv[2]), Store("p3")
kept = [sum(stays(q, e, p, r) for p, r in s.boundary) for e in range(3)] if q < 1 else [len(s.boundary)] * 3
once = sum(kept) if q < 1 else kept[0]  # exact features are aggregated once, a sample of them in each step
x = next(e for e in map(json.loads, open("sent.json")) if e["event"] == "full_batch")
want = {"fetched": size * (3 * once + 3 * sum(kept)), "pushed": size * 3 * sum(kept),
        "evaluated": size * len(s.boundary) * 3 * (3 + (3 if q < 1 else 0))}
got = {k: x[k + "_bytes"] for k in want}
assert got == want and len(s.boundary) > 300, (got, want)
assert q == 1 or all(abs(n - q * len(s.boundary)) < 4 * math.sqrt(q * (1 - q) * len(s.boundary)) for n in kept), kept
assert q == 1 or len(set(kept)) > 1, kept
EOF
while read -r q size opts; do
    check "gnn-train --full-batch $opts learns" gnn-train -q --full-batch --store p3 --epochs 3 --hidden 8 --metrics sent.json -o sent $opts
    check "it sends the rows that stay, in $size bytes a column" /usr/bin/python3 bytes.py "$q" "$size"
done <<EOF
1 4 --message-dtype f32
0.3 4 --boundary 0.3
0.05 4 --boundary 0.05
1 2 --message-dtype bf16
0.3 2 --boundary 0.3 --message-dtype bf16
0.3 4 --boundary 0.3 --remote-rows all
EOF
cat >halves.py <<'EOF'
import json
a, b = ([e for e in map(json.loads, open(f)) if e["event"] in ("full_batch", "epoch")] for f in ("f32.json", "bf16.json"))
for k in ("fetched_bytes", "pushed_bytes", "evaluated_bytes"):
    assert a[-1][k] == 2 * b[-1][k] > 0, (k, a[-1], b[-1])
for x, y in zip(a[:2], b[:2]):
    assert x["loss"] != y["loss"] and abs(x["loss"] - y["loss"]) < 0.004 * x["loss"], (x, y)
EOF
while read -r opts; do
    check "gnn-train $opts learns" gnn-train -q --full-batch --store p3 --epochs 2 --hidden 8 --metrics f32.json -o f32 $opts
    check "gnn-train $opts --message-dtype bf16 learns" gnn-train -q --full-batch --store p3 --epochs 2 --hidden 8 --metrics bf16.json -o bf16 --message-dtype bf16 $opts
    check 'it sends half of the bytes, and learns nearly the same' /usr/bin/python3 halves.py
done <<EOF
-m gcn
-m gin
-m rgcn
-m gat --heads 2
-m gatv2 --heads 2 --remote-rows keep
-m hgt --heads 2 --head 0
-m sage --aggr max --project
EOF
# With all weights 0, the gradient of lin_l is linear in what is aggregated: its mean over many steps is that of exact steps. A
# row that stays with probability Q contributes with the variance (1 - Q) / Q of its exact contribution.
cat >zero.py <<'EOF'
from sample import *
t, head, raw = tensors("some")
head.pop("__metadata__", None)
text = json.dumps(head).encode()
text += b" " * (-len(text) % 8)
open("zero", "wb").write(struct.pack("<Q", len(text)) + text + bytes(len(raw)))
EOF
cat >mean.py <<'EOF'
from sample import *
d, mean, q, steps, s = int(sys.argv[1]), sys.argv[2] == "mean", float(sys.argv[3]), int(sys.argv[4]), Store("p" + sys.argv[1])
got = next(v for k, v in tensors("mean")[0].items() if k.endswith("lin_l.weight"))
z = []
for c in range(3):
    for f in range(d):
        exact, row = 0, {}
        for p, i, r, degree in s.edges:
            if i in s.train:
                v = (1 / 3 - (s.y[i] == c)) / len(s.train) * s.x[r * d + f] / (degree if mean else 1)
                exact += v
                if s.owner[r] != p:
                    row[p, r] = row.get((p, r), 0) + v
        sd = math.sqrt((1 - q) / q * sum(v * v for v in row.values()) / steps)
        z.append((-got[c * d + f] / (1e-9 * steps) - exact) / sd)
assert max(map(abs, z)) < 4.5, [round(v, 2) for v in z]
assert 0.1 < sum(v * v for v in z) / len(z) < 5, z  # neither exact nor of another variance
EOF
steps=400
learn="gnn-train -q --full-batch --layers 1 --optimizer sgd --eval none --patience 0 --keep last --no-provenance"
while read -r d aggr q opts; do
    check "gnn-train makes a model of $d features" $learn --store p$d --lr 0 --epochs 1 --aggr "$aggr" -o some
    check 'its weights become 0' /usr/bin/python3 zero.py
    check "gnn-train --aggr $aggr --boundary $q $opts makes $steps small steps" \
        $learn --store p$d --lr 1e-9 --epochs $steps --aggr "$aggr" --init zero --boundary "$q" -o mean $opts
    check "their mean with $d features is that of exact steps, within 4.5 standard deviations" /usr/bin/python3 mean.py $d "$aggr" "$q" $steps
done <<EOF
3 sum 0.3
3 mean 0.1
6 sum 0.3
6 mean 0.5 --message-dtype bf16
EOF
# Bits: the sample and the rounding depend on epochs and partitions alone.
cat >named.py <<'EOF'
import json, sys
for e in map(json.loads, open("want.json")):
    assert (e.get("boundary") == 0.3) == ("--boundary" in sys.argv) and (e.get("message_dtype") == "bf16") == ("bf16" in sys.argv), e
EOF
full="gnn-train -q --full-batch --store p3 --hidden 8 --no-provenance --dropout 0.3 --batch-norm --lr 0.01 --layers 3"
for how in '--boundary 0.3' '--message-dtype bf16' '--boundary 0.3 --message-dtype bf16'; do
    rm -rf C
    check "gnn-train $how learns for six epochs" $full $how --epochs 6 --metrics want.json -o want
    check "all events of --metrics name $how" /usr/bin/python3 named.py $how
    check "gnn-train $how keeps a checkpoint" $full $how --epochs 3 --checkpoint C --checkpoint-every 1 -o part
    check "gnn-train $how resumes" $full $how --epochs 6 --checkpoint C --resume -o got
    check "gnn-train $how writes the same model after resuming" cmp want got
    # Last bits of products may depend on the number of threads, and what is rounded at random then a little more.
    for j in 1 2; do
        check "gnn-train $how learns with $j threads" env OMP_NUM_THREADS=$j $full $how --epochs 6 --metrics threads$j.json -o got
    done
    check "gnn-train $how has about the same losses with two threads" /usr/bin/python3 -c '
import json
a, b = ([json.loads(l)["loss"] for l in open(f) if json.loads(l)["event"] == "epoch"] for f in ("threads1.json", "threads2.json"))
assert len(a) == len(b) == 6 and all(abs(x - y) < 1e-3 * abs(x) for x, y in zip(a, b)), (a, b)'
    check "gnn-train $how learns with rows fetched ahead" $full $how --epochs 6 --pipeline-depth 3 -o got
    check "gnn-train $how writes the same model then" cmp want got
    check "gnn-train $how learns with another seed" $full $how --epochs 6 --seed 2 -o got
    check "gnn-train $how writes another model then" sh -c '! cmp -s want got'
    for other in '' '--boundary 0.31' '--message-dtype bf16' '--boundary 0.3' '--boundary 0.3 --message-dtype bf16'; do
        [ "$other" = "$how" ] ||
            status 3 "gnn-train ${other:-without approximation} refuses to resume from a checkpoint of $how" $full $other --epochs 6 --checkpoint C --resume -o other
    done
done
gat="gnn-train -q --full-batch --store p3 -m gat --heads 2 --hidden 8 --no-provenance --message-dtype bf16 --lr 0.01 --layers 3 --epochs 3"
check 'gnn-train -m gat --message-dtype bf16 learns' $gat -o gat
for how in keep all; do
    check "gnn-train --remote-rows $how learns from rounded rows" $gat --remote-rows $how -o how
    check "gnn-train --remote-rows $how makes the same model of them" cmp gat how
done
status 0 'gnn-train trains with both approximations' gnn-train --full-batch --store p3 --epochs 3 --boundary 0.25 --message-dtype bf16 -o both
mv err said
for line in 'epoch 0' 'epoch 1' 'epoch 2' 'best epoch' 'between partitions'; do
    check "its line on \"$line\" names them" grep -q "^gnn-train: $line.*, boundary 0.25, bf16 messages\$" said
done
# On a graph that is easy to learn, both learn it.
gnn-import -q -o easy sbm:nodes=2000,features=16 && gnn-partition -q -k 6 -o easy6 easy || _not_ok 'gnn-import makes an easy graph'
for how in '' '--boundary 0.1' '--message-dtype bf16'; do
    check "gnn-train ${how:-exactly} learns an easy graph" gnn-train -q --full-batch --store easy6 --epochs 60 --patience 0 --lr 0.01 --metrics "easy$how.json" -o easy.st $how
done
check 'approximate training is as accurate within 2 points' /usr/bin/python3 -c '
import json
best = [max(e["valid"]["accuracy"] for e in map(json.loads, open("easy%s.json" % how)) if e["event"] == "epoch")
        for how in ("", "--boundary 0.1", "--message-dtype bf16")]
assert best[0] > 0.8 and min(best[1:]) > best[0] - 0.02, best'
while IFS='|' read -r opts message; do
    status 2 "gnn-train refuses $opts" gnn-train --eval none --patience 0 --keep last $opts -o never
    mv err said
    check "gnn-train says why it refuses $opts" grep -qxF -e "gnn-train: $message" said
done <<EOF
--store w3 --boundary 0.5|--boundary requires --full-batch
--store w3 --message-dtype bf16|--message-dtype requires --full-batch
--store w3 --full-batch --boundary 0.5|--boundary has no effect: the store has one partition
--store w3 --full-batch --message-dtype bf16|--message-dtype has no effect: the store has one partition
--store p3 --full-batch --boundary 1|--boundary 1 has no effect: all rows are used
--store p3 --full-batch --boundary 0|--boundary: '0' is not between 1e-06 and 1
--store p3 --full-batch --boundary 0.5 --remote-rows keep|--remote-rows keep has no effect: the backward pass of this model needs no rows of other partitions
--store p3 --full-batch --boundary 0.5 -m gat|--boundary requires layers that compute sums or means of neighbours: with these options, a sample would bias gat
--store p3 --full-batch --boundary 0.5 -m gatv2|--boundary requires layers that compute sums or means of neighbours: with these options, a sample would bias gatv2
--store p3 --full-batch --boundary 0.5 -m hgt --head 0|--boundary requires layers that compute sums or means of neighbours: with these options, a sample would bias hgt
--store p3 --full-batch --boundary 0.5 -m sage --aggr max|--boundary requires layers that compute sums or means of neighbours: with these options, a sample would bias sage
EOF
check 'gnn-train leaves no model of options that it refuses' test ! -e never
done_testing
