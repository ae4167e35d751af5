# SPDX-License-Identifier: Apache-2.0
# gnn-train --init goes on with a model of gnn-train as its file describes it, with types found by name, as gnn-predict does; what the
# command line says differently is refused, or said.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-train
# The same graph twice, with node types and edge types in another order.
/usr/bin/python3 - <<'PY' || exit 1
import numpy as np, os
r = np.random.default_rng(1)
count = {"n": 40, "m": 25}
rel = {k: np.unique(r.integers(0, (count[k[0]], count[k[2]]), (e, 2)), axis=0)
       for k, e in ((("n", "p", "n"), 80), (("n", "q", "n"), 60), (("m", "to", "n"), 70), (("n", "back", "m"), 50))}
x, y = {t: r.standard_normal((c, 4)) for t, c in count.items()}, r.integers(0, 3, 40)
def table(path, rows, form):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    np.savetxt(path, rows, form, ",")
for name, turn in (("a", 1), ("b", -1)):
    types, kinds = [*count][::turn], [*rel][::turn]
    for k in kinds:
        d = f"{name}/raw/relations/{'___'.join(k)}"
        table(d + "/edge.csv", rel[k], "%d")
        table(d + "/num-edge-list.csv", [len(rel[k])], "%d")
    for t in types:
        table(f"{name}/raw/node-feat/{t}/node-feat.csv", x[t], "%.6f")
    table(f"{name}/raw/node-label/n/node-label.csv", y, "%d")
    open(f"{name}/raw/num-node-dict.csv", "w").write(",".join(types) + "\n" + ",".join(str(count[t]) for t in types) + "\n")
    open(f"{name}/raw/triplet-type-list.csv", "w").write("".join(",".join(k) + "\n" for k in kinds))
PY
for s in a b; do gnn-import -q --directed --split random:0.5,0.25,0.25 -o $s.store $s || exit 1; done
check "the two stores have their types in another order" sh -c '! gnn-inspect a.store | grep -e "^  edges" -e "^  nodes" >a.txt; ! gnn-inspect b.store | grep -e "^  edges" -e "^  nodes" | cmp -s - a.txt'
gap() { perl "$GNN_TOP/tests/train/npygap.pl" "$@" 1e-5; }
while read -r opts; do
    check "gnn-train trains $opts" gnn-train -q --store a.store $opts -f 4,4 -f m/to/n=4,0 --hidden 9 --epochs 4 -o m.st
    check "gnn-predict predicts" gnn-predict -q --output-kind values -o a.npy a.store m.st
    check "gnn-predict predicts for types in another order" gnn-predict -q --output-kind values -o b.npy b.store m.st
    check "gnn-predict finds them by name ($opts)" gap a.npy b.npy
    check "gnn-train makes a checkpoint whose best epoch is not its last" gnn-train -q --store a.store $opts -f 4,4 -f m/to/n=4,0 --hidden 9 --epochs 6 \
        --checkpoint ck --checkpoint-every 1 -o x.st
    gnn-predict -q --output-kind values -o x.npy a.store ck/checkpoint.safetensors && gnn-predict -q --output-kind values -o y.npy b.store ck/checkpoint.safetensors
    check "gnn-predict finds the types of a checkpoint by name" gap x.npy y.npy
    rm -rf ck
    check "gnn-train --init goes on with the model, as its file describes it" gnn-train -q --store b.store --init m.st --lr 0 -f 4,4 -f m/to/n=4,0 --epochs 1 -o n.st
    check "its parameters are those of the same types" sh -c "gnn-predict -q --output-kind values -o c.npy b.store n.st && perl '$GNN_TOP/tests/train/npygap.pl' a.npy c.npy 1e-5"
    gnn-inspect n.st >n.txt
    check "what was not trained is left out there, too" grep -q 'edges  m/to/n, left out in layer 0$' n.txt
done <<LIST
-m rgcn
-m rgcn --bases 2
-m hgt --heads 3
-m sage --aggr max --activation elu --residual-projection --residual
-m gat --heads 3 --no-self-loops
-m gin --encoder 7 --head 5 --jk cat
LIST

# Other names of the same types.
mkdir c && (cd a && tar cf - .) | (cd c && tar xf -) && for k in n___q___n:n___cites___n m___to___n:who___to___n n___back___m:n___back___who; do
    mv "c/raw/relations/${k%:*}" "c/raw/relations/${k#*:}"
done && mv c/raw/node-feat/m c/raw/node-feat/who && sed -i 's/\bm\b/who/' c/raw/num-node-dict.csv &&
    sed -i 's/n,q,n/n,cites,n/; s/m,to,n/who,to,n/; s/n,back,m/n,back,who/' c/raw/triplet-type-list.csv &&
    gnn-import -q --directed --split random:0.5,0.25,0.25 -o c.store c || exit 1
refusing=gnn-predict
maps='--map n/cites/n=n/q/n --map who/to/n=m/to/n --map n/back/who=n/back/m'
gnn-train -q --store a.store -m hgt --heads 3 --hidden 9 -f 4,4 --epochs 2 -o m.st && gnn-predict -q --output-kind values -o a.npy a.store m.st || exit 1
check "gnn-predict --map applies a model to types of other names" gnn-predict -q --output-kind values -o b.npy c.store m.st $maps
check "it predicts what the model does" cmp a.npy b.npy
refuses 3 "node type 1 is who; the model's is m" "types of other names" gnn-predict -q c.store m.st -o x.npy
refuses 2 "no edge type 'n/x/n'" "--map of no edge type" gnn-predict -q c.store m.st --map n/x/n=n/q/n -o x.npy
refuses 2 "expected S/R/D=S/R/D" "--map without a name in the model" gnn-predict -q c.store m.st --map n/cites/n -o x.npy
refuses 2 "node type who is already m of the model" "--map of a node type to two" gnn-predict -q c.store m.st --map who/to/n=m/to/n --map n/back/who=n/back/n -o x.npy
refusing=gnn-train
gnn-train -q --store a.store -m gat --heads 3 --hidden 9 --activation elu -f 4,4 --epochs 1 -o g.st || exit 1
while IFS='|' read -r opts said; do
    refuses 2 "$said" "$opts with the model of --init" gnn-train -q --store a.store --init g.st -f 4,4 --epochs 1 $opts -o x.st
done <<LIST
--hidden 8|--hidden differs from the model of --init g.st, which has 9: leave it out
-m sage|--model differs from the model of --init g.st, which has gat: leave it out
--heads 1|--heads differs from the model of --init g.st, which has 3: leave it out
--no-self-loops|--no-self-loops differs from the model of --init g.st, which has it: leave it out
--activation relu|--activation differs from the model of --init g.st, which has elu: leave it out
--no-layer-norm|--no-layer-norm differs from the model of --init g.st, which has it: leave it out
--residual|--residual differs from the model of --init g.st, which has it not: leave it out
--feature-norm row|--feature-norm differs from the model of --init g.st, which has none: leave it out
--encoder 4|--encoder differs from the model of --init g.st, which has none: leave it out
--head 0|--head differs from the model of --init g.st, which has none: leave it out
LIST
refuses 2 '1 hop, but the model of --init g.st has 2 layers' "another number of layers than the model of --init has" \
    gnn-train -q --store a.store --init g.st -f 4 --epochs 1 -o x.st
check "gnn-train takes options that say the same" gnn-train -q --store a.store --init g.st -f 4,4 -m gat --heads 3 --hidden 9 --epochs 1 -o x.st
check "gnn-train takes options of training" gnn-train -q --store a.store --init g.st -f 4,4 --attention-dropout 0.3 --dropout 0.1 --epochs 1 -o x.st
gnn-train --store a.store --init g.st -f n/p/n=4,4 --epochs 1 -o x.st 2>said
check "gnn-train says which edges of the model of --init have no fan-out" grep -q 'warning: g.st uses edges that have no fan-out here, and that the model will leave out: layer 0: ' said

again="gnn-train --store a.store --init g.st -f 4,4 --checkpoint ck --resume -o x.st"
$again --epochs 1 2>said
check "gnn-train --init --resume begins with --init" grep -q 'no checkpoint in ck: starting from the beginning' said
$again --epochs 2 2>said
check "gnn-train --init --resume says whose parameters it goes on with" grep -q 'resuming .*; its parameters are used, not those of --init$' said

done_testing
