#!/bin/sh
# Trains on the real graphs in $GNN_DATA and prints accuracy beside what is asked and what was published; status 1 if one
# falls short. Usage: scripts/accuracy.sh [--quick] [DATA...]   (--quick: one run each, asked 0.02 less; DATA: cora, ...)
# Of each run the epoch that is best on the validation set is kept; the test set is then predicted exactly, from all neighbours.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
PATH=${GNN_BIN:-$top/build/bin}:$PATH
data=${GNN_DATA:?GNN_DATA must name the folder with the real graphs}
quick=
[ "${1:-}" = --quick ] && quick=1 && shift
work=$(mktemp -d "${TMPDIR:-/tmp}/gnn-accuracy.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# run STORE SPLIT_PREFIX SEED OPTIONS...: prints the value on the test set
run() {
    s=$1 p=$2 seed=$3
    shift 3
    gnn-train --store "$work/$s" --split "${p}train" --eval "${p}valid" --seed "$seed" -q -o "$work/m.safetensors" "$@"
    gnn-predict "$work/$s" "$work/m.safetensors" -n -q --split "${p}test" --metrics "$work/p.json"
    sed -n 's/.*"event":"score".*"\(accuracy\|roc-auc\)":\([0-9.]*\).*/\2/p' "$work/p.json"
}

missed=0
# row NAME WHAT ASKED PUBLISHED RUNS OPTIONS...: @ in the options' first word is the run's number
row() {
    name=$1 what=$2 asked=$3 published=$4 runs=$5 prefix=$6
    shift 6
    case " ${wanted:-$name} " in *" $name "*) ;; *) return 0 ;; esac
    [ -z "$quick" ] || runs=1
    start=$(date +%s)
    i=0
    while [ $i -lt "$runs" ]; do
        case $prefix in
        @/) run "$name" "$i/" 1 "$@" ;;
        *) run "$name" "" $((i + 1)) "$@" ;;
        esac
        i=$((i + 1))
    done >"$work/values"
    line=$(awk -v asked="$asked" -v slack="${quick:+0.02}" '
        { s += $1; if (NR == 1 || $1 < lo) lo = $1; if ($1 > hi) hi = $1 }
        END { m = NR ? s / NR : 0
              printf "%8.4f %8.4f %8.4f  %s", m, lo, hi, (NR && m >= asked - slack ? "yes" : "NO") }' "$work/values")
    case $line in *NO) missed=1 ;; esac
    printf '%-18s %-30s %4d %s %7s %10s %6ds\n' "$name" "$what" "$runs" "$line" "$asked" "$published" $(($(date +%s) - start))
}

wanted="$*"
tolokers_epochs=50
[ -z "$quick" ] || tolokers_epochs=25
printf '%-18s %-30s %4s %8s %8s %8s  %s %6s %10s %6s\n' data model runs mean least most met asked published time
[ -n "$wanted" ] || wanted="cora amazon-computers tolokers acm"
for d in $wanted; do
    case $d in
    tolokers) gnn-import -q -u "$data/tolokers.npz" -o "$work/$d" ;;
    cora | amazon-computers | acm) gnn-import -q "$data/$d.zip" -o "$work/$d" ;;
    *) echo "accuracy.sh: no such data: $d" >&2; exit 2 ;;
    esac
done
row cora "GCN 2x16, all neighbours" 0.81 0.815 10 "" -m gcn -f -1,-1 -b 140 --hidden 16 --epochs 0:200 \
    --lr 0.01 --weight-decay 5e-4 --dropout 0.5 --dropout-input 0.5 --feature-norm row
row amazon-computers "SAGE 2x128, fan-out 15,15" 0.90 - 5 "" -f 15,15 --frontier new -b 512 --hidden 128 --epochs 0:15 \
    --lr 0.003 --dropout 0.3 --layer-norm
row tolokers "SAGE 3x128, ROC-AUC" 0.80 0.824 10 @/ -f 15,15,10 --frontier new -b 512 --hidden 128 --epochs "0:$tolokers_epochs" \
    --lr 0.003 --dropout 0.2 --layer-norm --residual
row acm "SAGE 2x64 per relation" 0.87 - 5 "" -f -1,-1 -b 180 --hidden 64 --epochs 0:30 \
    --lr 0.003 --dropout 0.5 --layer-norm
exit $missed
