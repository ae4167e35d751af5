# SPDX-License-Identifier: Apache-2.0
# What training never saw an edge of is in the model file, and is left out wherever the model is applied: what gnn-train reports of a
# set, gnn-predict reports, too. The figures of a run are of batches with all neighbours, so that they must agree.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q -o two sbm:nodes=600,classes=3,types=2 && gnn-import -q -o one sbm:nodes=400,classes=3,features=6 || exit 1
# figures FILE SET: "ACCURACY LOSS" of the last epoch, or of gnn-predict
figures() {
    perl -MJSON::PP -e 'open F, shift; while (<F>) { $j = decode_json($_); $v = $j if $j->{event} eq "score" && $j->{set} =~ m{(^|/)$ARGV[0]$};
        $v = $j->{$ARGV[0]} if $j->{event} eq "epoch" } printf "%.4f %.3f\n", $v->{accuracy}, $v->{loss}' "$1" "$2"
}
# agrees NAME STORE OPTIONS...: the last epoch's figures of test are those of gnn-predict
agrees() {
    _agrees=$1 _store=$2
    shift 2
    check "gnn-train trains $_agrees" gnn-train --store "$_store" --hidden 15 --epochs 20 --patience 0 --keep last --eval test -o m.st --metrics t.json "$@"
    cp err said
    check "gnn-predict has the figures of gnn-train for $_agrees" gnn-predict -n --split test "$_store" m.st --metrics p.json
    cp err told
    check "these are $(figures t.json test)" test "$(figures t.json test)" = "$(figures p.json test)"
}
for m in gat sage rgcn 'hgt --heads 3' gatv2 'gin --batch-norm'; do
    # shellcheck disable=SC2086
    agrees "-m $m with a fan-out for one edge type of five" two -m $m -f t0/to/t0=-1,-1
    check "gnn-train says which edge types its model leaves out" grep -q 'had no edge of these types, which the model leaves out: layer 0: t0/up/t1, ' said
    check "gnn-predict says it, too" grep -q 'm.st: leaves out edges of types that training never saw: layer 0: t0/up/t1, ' told
done
agrees "a fan-out of 0 in one hop for one edge type" two -f -1,-1 -f t1/rev_up/t0=-1,0
for o in '' '-m gcn' '-m gat' '-m gin'; do
    # shellcheck disable=SC2086
    agrees "a fan-out of 0 in hop 1, ${o:-sage}" one $o -f -1,0
    check "gnn-train names layer 0 alone" grep -q 'leaves out: layer 0: node/to/node$' said
done
gnn-import -q -o weights sbm:nodes=400,classes=3,features=6,weights=1 || exit 1
agrees "a fan-out of 0 in hop 1, weighted gcn" weights -m gcn --edge-weight weight -f -1,0
agrees "all edge types" two -f -1,-1
check "gnn-train says nothing where training saw all" sh -c '! grep -q "leaves out" said told'

# Edges of a type that lead to nodes of the test set only: no batch of training has one, though all have a fan-out.
/usr/bin/python3 - <<'PY' || exit 1
import os, random
random.seed(1)
N = 60
train, valid, test = range(0, 36), range(36, 40), range(40, 60)
edges = {"p": [(random.randrange(N), v) for v in range(N) for k in range(3)], "q": [(random.randrange(N), v) for v in test for k in range(3)]}
def put(path, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "w").write("".join(",".join(map(str, r)) + "\n" for r in rows))
for r, e in edges.items():
    put(f"d/raw/relations/n___{r}___n/edge.csv", e)
    put(f"d/raw/relations/n___{r}___n/num-edge-list.csv", [(len(e),)])
put("d/raw/node-feat/n/node-feat.csv", [[round(random.gauss(0, 1), 3) for k in range(4)] for v in range(N)])
put("d/raw/node-label/n/node-label.csv", [(random.randrange(3),) for v in range(N)])
put("d/raw/num-node-dict.csv", [("n",), (N,)])
put("d/raw/triplet-type-list.csv", [("n", r, "n") for r in edges])
for s, ids in (("train", train), ("valid", valid), ("test", test)):
    put(f"d/split/made/n/{s}.csv", [(v,) for v in ids])
open("d/split/made/nodetype-has-split.csv", "w").write("n\nTrue\n")
PY
gnn-import -q --directed -o far d || exit 1
for m in sage gat rgcn; do
    agrees "-m $m with edges that only the test set has" far -m $m -f -1,-1
    check "gnn-train says that its model leaves them out" grep -q 'leaves out: layer 1: n/q/n$' said
done

# The list goes through checkpoints, and is that of all ranks, of streams, and of the best epoch.
opts='-f 3,3 -f t1/rev_up/t0=3,0 -f t0/up/t1=0,0 --hidden 8 --no-provenance -q'
check "gnn-train makes a checkpoint after each step" gnn-train --store two $opts --epochs 3 -b 50 --checkpoint ck --checkpoint-every 1 -o a.st
check "gnn-train goes on from a checkpoint" gnn-train --store two $opts --epochs 6 -b 50 --checkpoint ck --resume -o b.st
gnn-train --store two $opts --epochs 6 -b 50 -o c.st
check "it writes the model of a run that was not stopped" cmp b.st c.st
check "gnn-train reads the same batches from a stream" sh -c "gnn-sample -q two -f 3,3 -f t1/rev_up/t0=3,0 -f t0/up/t1=0,0 --epochs 0:6 -b 50 --eval valid |
    gnn-gather -q two | gnn-train --hidden 8 --no-provenance -q -o d.st"
check "it writes the same model, with the same record of its training" cmp c.st d.st
gnn-inspect --json c.st >c.json
check "gnn-inspect shows what is left out, by layer" perl -MJSON::PP -0777 -ne '
    $a = decode_json($_)->{architecture}; exit !("@{$a->{untrained}[0]};@{$a->{untrained}[1]}" eq "1 2;")' c.json
check "gnn-inspect shows what the model was trained on" perl -MJSON::PP -0777 -ne '
    $t = decode_json($_)->{trained_on}; exit !($t->{sampling}{splits}[0]{name} eq "train" && $t->{sampling}{fanout}[1][2] == 0)' c.json
check "gnn-inspect names the layers" sh -c "gnn-inspect c.st | grep -q 'edges  t1/rev_up/t0, left out in layer 0$'"
done_testing
