# SPDX-License-Identifier: Apache-2.0
# The memory that gnn-train computes for full batches: by the formula of gnn-fullbatch(7), and about as much as the process takes.
. "$GNN_TOP/tests/lib.sh"
export OMP_NUM_THREADS=1
/usr/bin/python3 -c 'import numpy' 2>err || {
    skip 'gnn-train computes the memory of full batches' 'no NumPy'
    done_testing
}
perl -e 'srand 4; print "source,target\n"; printf "%d,%d\n", int rand 401, int rand 380 for 1 .. 4000' >e.csv
perl -e 'print $_ % 3, "\n" for 1 .. 401' >y.csv
perl -e 'srand 5; print join(",", map { rand } 1 .. 10), "\n" for 1 .. 401' >x.csv
gnn-import -q --directed --labels y.csv --features x.csv --split random:0.5,0.25,0.25 -o w e.csv && gnn-partition -q -k 5 -o w5 w &&
    gnn-import -q -o t sbm:nodes=300,types=3,features=6 && gnn-partition -q -k 4 -o t4 t || _not_ok 'gnn-import makes graphs'
for s in w w5 t t4; do check "gnn-inspect exports $s" gnn-inspect --raw --export $s.npz $s; done
# formula STORE LAYER LAYERS HIDDEN HEADS NORM "WORDS OF full_size.py" OPTION...
formula() {
    _store=$1 _layer=$2 _layers=$3 _hidden=$4 _heads=$5 _norm=$6 _words=$7
    shift 7
    case $_norm in
    none) set -- --no-layer-norm "$@" ;;
    batch) set -- --batch-norm "$@" ;;
    esac
    check "gnn-train --full-batch -m $_layer $* learns from $_store" \
        gnn-train -q --full-batch --store $_store --epochs 2 --layers $_layers --hidden $_hidden -m $_layer --metrics m.json -o m.st "$@"
    check "gnn-train --full-batch -m $_layer $* computes its memory for $_store" \
        /usr/bin/python3 "$GNN_TOP/tests/train/full_size.py" $_store.npz m.st m.json 1 1 $_layer $_layers $_hidden $_heads $_norm $_words
}
while IFS='|' read -r store layer layers hidden heads norm words opts; do
    turn 4 || continue
    formula $store $layer $layers $hidden $heads $norm "$words" $opts
done <<'END'
w|sage|3|16|1|batch||
w5|sage|3|16|1|batch||
w5|sage|2|8|1|layer||
w5|sage|3|12|1|none||
w5|sage|2|8|1|none|copied|--feature-norm row
w5|sage|2|8|1|none|copied|--dropout-input 0.2
w5|sage|2|8|1|none|max|--aggr max
w5|gcn|3|16|1|batch||
w|gcn|2|4|1|layer||
w5|gin|3|8|1|batch||
w|gat|3|16|4|batch||--heads 4
w5|gat|3|16|4|batch||--heads 4
w5|gat|2|6|2|none||--heads 2
w5|gat|3|8|2|layer|keep|--heads 2 --remote-rows keep
w5|gatv2|3|8|2|batch||--heads 2
t|sage|2|8|1|layer||
t4|sage|3|8|1|batch||
t4|gat|3|8|2|batch||--heads 2
t4|hgt|2|8|2|none||--heads 2 --head 0
t|hgt|3|8|2|layer||--heads 2 --head 0
END
check 'gnn-train tells the formula' gnn-train --full-batch --store w5 --epochs 1 -o m.st
mv err said
check 'in a line' grep -qE '^gnn-train: memory of the largest rank by the formula of gnn-fullbatch\(7\): [0-9.]+ MB \(edges [0-9.]+, features [0-9.]+, rows [0-9.]+, gradients [0-9.]+, messages [0-9.]+, parameters [0-9.]+\), and [0-9.]+ MB that the program had before$' said
while read -r opts; do
    check "gnn-train $opts learns" gnn-train --full-batch --store w5 --epochs 1 -o m.st --metrics m.json $opts
    mv err said
    check "gnn-train $opts has no formula" sh -c '! grep -q formula said m.json && grep -q memory_bytes m.json'
done <<'END'
--memory 1G
--needed-only
--boundary 0.5
--message-dtype bf16
END
# As much memory as the formula says, and a constant for the program: the slope between a model and a wider one. Scratch memory for
# 2,048 rows at a time grows with the width, too: to rows of attention, which are 25,000 here, it adds 8 %.
if [ -n "${GNN_SAN:-}" ]; then
    skip 'the memory of full batches is at most 1.1 times the formula' 'sanitizers take memory of their own'
    done_testing
fi
gnn-import -q -o big products:scale=0.01 && gnn-partition -q -k 4 --method ldg -o big4 big || _not_ok 'gnn-import makes a graph'
turns=0
while read -r s bound opts; do
    turn 2 || continue
    for hidden in 16 128; do
        check "gnn-train $opts --hidden $hidden learns from $s" gnn-train -q --full-batch --store $s --layers 3 --batch-norm --epochs 2 --hidden $hidden --metrics $hidden.json -o m.st $opts
    done
    check "gnn-train $opts takes from $s at most $bound times what the formula says" /usr/bin/python3 -c '
import json, sys
a, b = (next(e for e in map(json.loads, open(f)) if e["event"] == "full_batch") for f in ("16.json", "128.json"))
more = b["memory_bytes"] - a["memory_bytes"], b["formula_bytes"] - a["formula_bytes"]
assert more[1] > 30e6 and 0.8 * more[1] < more[0] < float(sys.argv[1]) * more[1], (more, a, b)' $bound
done <<'END'
big 1.1 -m sage
big 1.2 -m gat --heads 4
END
# Of 4 million edges and 15 heads, numbers for each would take 240 MB; there is space for those of an eighth of the edges.
gnn-import -q -o dense sbm:nodes=40000,degree=100,features=16 && gnn-partition -q -k 2 --method ldg -o dense2 dense || _not_ok 'gnn-import makes a dense graph'
turns=3
while read -r s opts; do
    turn 4 || continue
    for heads in 1 16; do
        check "gnn-train $opts --heads $heads learns from $s" gnn-train -q --full-batch --store $s --layers 2 --epochs 1 --hidden 32 --heads $heads --metrics $heads.json -o m.st $opts
    done
    check "gnn-train $opts keeps no number of each edge and head of $s" /usr/bin/python3 -c '
import json
a, b = (next(e for e in map(json.loads, open(f)) if e["event"] == "full_batch")["memory_bytes"] for f in ("1.json", "16.json"))
assert b - a < 120e6, (a, b)'
done <<'END'
dense -m gat
dense -m gat --attention-dropout 0.2
dense2 -m gat
dense -m hgt --head 0
END
done_testing
