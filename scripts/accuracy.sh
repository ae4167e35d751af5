#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trains on the real graphs in $GNN_DATA and prints accuracy beside what is asked and what was published; status 1 if one
# falls short. Of each run the epoch that is best on the validation set is kept; then a set is predicted exactly, from all
# neighbours. DATA: cora, amazon-computers, tolokers, acm, or one of these with another model: cora:gat, tolokers:gcn,
# tolokers:sage, tolokers:gat, acm:rgcn, acm:gat, acm:hgt, or in full batches: cora:gcn-full, cora:gat-full; default: all.
# usage: accuracy.sh [--quick] [DATA...]   the test set; --quick: one run each, asked 0.02 less
#        accuracy.sh --choose [DATA...]    the validation set for a grid of settings, by which chosen() was made
#        accuracy.sh --defaults [DATA...]  the test set for what gnn-train does by default, beside its defaults up to version 0.1;
#                                          DATA may also be debian, the graph of demo.sh
# environment: RANKS=N trains with N ranks on a store of N parts, under mpirun; the hop rule is `all` then, also where N is 1
#              PRECISION=bf16 trains and predicts with matrix products in bf16; RUNS=N makes N runs of each
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
PATH=${GNN_BIN:-$top/build/bin}:$PATH
data=${GNN_DATA:?GNN_DATA must name the folder with the real graphs}
LC_ALL=C
export PATH LC_ALL
mode=
ranks=${RANKS:-} precision=${PRECISION:-f32}
case ${1:-} in --quick | --choose | --defaults) mode=$1 && shift ;; esac
work=$(mktemp -d "${TMPDIR:-/tmp}/gnn-accuracy.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

frontier=new
[ -z "$ranks" ] || frontier=all
# OPTIONS...: gnn-train on one store, or with the ranks on its parts
train() {
    set -- --precision "$precision" "$@"
    if [ -n "$ranks" ]; then
        mpirun --quiet -n "$ranks" gnn-train --store "$work/${name%:*}.parts" "$@"
    else
        gnn-train --store "$work/${name%:*}" "$@"
    fi
}

# OPTIONS of two hops of all neighbours, as full batches
in_full() { echo "$1" | sed 's/-f -1,-1 -b 140/--full-batch --layers 2/'; }

# NAME: the options that no grid varies. Cora's are all of Kipf and Welling's (2017), but that their weight decay spared the
# second layer.
fixed() {
    case $1 in
    cora) echo "-m gcn -f -1,-1 -b 140 --hidden 16 --epochs 0:200 --lr 0.01 --weight-decay 5e-4" \
        "--dropout 0.5 --dropout-input 0.5 --feature-norm row --no-layer-norm" ;;
    cora:gcn-full) in_full "$(fixed cora)" ;;
    cora:gat-full) in_full "$(fixed cora:gat)" ;;
    amazon-computers) echo "-f 15,15 --frontier $frontier -b 512 --hidden 128 --epochs 0:15" ;;
    tolokers) echo "-f 15,15,10 --frontier $frontier -b 512 --hidden 128 --epochs 0:$([ "$mode" = --quick ] && echo 25 || echo 50)" ;;
    acm) echo "-f -1,-1 -b 180 --hidden 64 --epochs 0:30" ;;
    # Velickovic et al. (2018): eight heads of eight, ELU, dropout 0.6 of features, rows and attention
    cora:gat) echo "-m gat --heads 8 --activation elu -f -1,-1 -b 140 --hidden 64 --epochs 0:500 --lr 0.005 --weight-decay 5e-4" \
        "--dropout 0.6 --dropout-input 0.6 --attention-dropout 0.6 --feature-norm row --no-layer-norm" ;;
    # Platonov et al. (2023): linear layers before and after, feed-forward blocks
    tolokers:*)
        heads='' epochs=50
        [ "$1" != tolokers:gat ] || { heads='--heads 4' && epochs=100; }
        [ "$mode" != --quick ] || epochs=25
        echo "-m ${1#*:} $heads --encoder 128 --ffn --residual --head 0 --hidden 128" \
            "-f 15,15,10 --frontier $frontier -b 512 --epochs 0:$epochs"
        ;;
    acm:rgcn) echo "-m rgcn --encoder 64 --hidden 64 --residual -f -1,-1 -b 180 --epochs 0:30" ;;
    acm:gat) echo "-m gat --heads 4 --hidden 64 --residual -f -1,-1 -b 180 --epochs 0:30" ;;
    acm:hgt) echo "-m hgt --heads 4 --encoder 64 --hidden 64 --head 0 -f -1,-1 -b 30 --epochs 0:30" ;;
    esac
}

# NAME
grid() {
    case $1 in *:*)
        for dropout in 0.2 0.5; do
            for lr in 0.0005 0.001 0.003; do echo "--lr $lr --dropout $dropout"; done
        done
        return ;;
    esac
    for norm in ' --no-layer-norm' ' --residual'; do
        for dropout in 0.2 0.5; do
            for lr in 0.001 0.003 0.01; do
                echo "--lr $lr --dropout $dropout$norm"
            done
        done
    done
}

# NAME: the setting of the grid with the best mean on the validation set (--choose); no test set was looked at. The mean is of
# seeds 1 and 2, or splits 0 and 1; amazon-computers has seed 1 alone.
chosen() {
    case $1 in
    amazon-computers) echo "--lr 0.003 --dropout 0.5 --residual" ;;
    tolokers) echo "--lr 0.01 --dropout 0.2 --residual" ;;
    acm) echo "--lr 0.001 --dropout 0.5 --residual" ;;
    tolokers:*) echo "--lr 0.001 --dropout 0.2" ;;
    acm:hgt) echo "--lr 0.0005 --dropout 0.2" ;;
    acm:*) echo "--lr 0.003 --dropout 0.5" ;;
    esac
}

# NAME SET RUNS OPTIONS...: a value a run, each with a seed of its own, or with a split of its own where there are ten
values() {
    name=$1 set=$2 runs=$3 i=0
    shift 3
    while [ $i -lt "$runs" ]; do
        prefix='' seed=$((i + 1))
        [ "${name%:*}" != tolokers ] || { prefix=$i/ && seed=1; }
        train --split "${prefix}train" --eval "${prefix}valid" --patience 0 --seed $seed -q -o "$work/m" "$@"
        gnn-predict "$work/${name%:*}" "$work/m" -n -q --precision "$precision" --split "$prefix$set" --metrics "$work/p.json"
        sed -n 's/.*"event":"score".*"\(accuracy\|roc-auc\)":\([0-9.]*\).*/\2/p' "$work/p.json"
        i=$((i + 1))
    done
}

# NAME: a line for each setting, and the best again
choose() {
    n=2
    [ "$1" != amazon-computers ] || n=1
    grid "$1" | while read -r setting; do
        # shellcheck disable=SC2046,SC2086
        values "$1" valid $n $(fixed "$1") $setting >"$work/values"
        awk -v n="$1" -v o="$setting" '{ s += $1; v = v sprintf(" %8.4f", $1) }
            END { printf "%-18s %8.4f  %-40s %s\n", n, s / NR, o, v }' "$work/values"
    done | tee "$work/table"
    sort -k2,2nr "$work/table" | sed -n '1s/^/best: /p'
}

# NAME WHICH OPTIONS...: a line, over three seeds (splits of tolokers)
by_default() {
    name=$1 which=$2
    shift 2
    for i in 0 1 2; do
        prefix=''
        [ "$name" != tolokers ] || prefix=$i/
        train --split "${prefix}train" --seed $((i + 1)) -q --metrics "$work/t.json" -o "$work/m" "$@"
        gnn-predict "$work/$name" "$work/m" -n -q --split "${prefix}test" --metrics "$work/p.json"
        sed -n 's/.*"event":"end".*"epochs":\([0-9]*\).*"seconds":\([0-9.]*\).*/\1 \2/p' "$work/t.json" | tr '\n' ' '
        sed -n 's/.*"event":"score".*"\(accuracy\|roc-auc\)":\([0-9.]*\).*/\2/p' "$work/p.json"
    done | awk -v n="$name" -v w="$which" '{ e += $1; t += $2; s += $3; if (NR == 1 || $3 < lo) lo = $3; if ($3 > hi) hi = $3 }
        END { printf "%-18s %-7s %8.4f %8.4f %8.4f %7.0f %8.1f\n", n, w, s / NR, lo, hi, e / NR, t / NR }'
}

missed=0
# NAME ASKED PUBLISHED RUNS MODEL
row() {
    case " $wanted " in *" $1 "*) ;; *) return 0 ;; esac
    start=$(date +%s)
    # shellcheck disable=SC2046
    values "$1" test "$([ "$mode" = --quick ] && echo 1 || echo "${RUNS:-$4}")" $(fixed "$1") $(chosen "$1") >"$work/values"
    awk -v asked="$2" -v slack="$([ "$mode" != --quick ] || echo 0.02)" -v name="$1" -v published="$3" -v model="$5" \
        -v seconds=$(($(date +%s) - start)) '
        { s += $1; if (NR == 1 || $1 < lo) lo = $1; if ($1 > hi) hi = $1 }
        END { m = NR ? s / NR : 0
              met = NR && m >= asked - slack
              printf "%-18s %4d %8.4f %8.4f %8.4f %5s %6s %10s %5ds  %s\n", name, NR, m, lo, hi, met ? "yes" : "NO", asked, published, seconds, model
              exit !met }' "$work/values" || missed=1
}

wanted=${*:-cora cora:gat cora:gcn-full cora:gat-full amazon-computers tolokers tolokers:gcn tolokers:sage tolokers:gat acm acm:rgcn acm:gat acm:hgt}
for d in $wanted; do
    d=${d%:*}
    [ ! -e "$work/$d" ] || continue
    case $d in
    tolokers) gnn-import -q -u "$data/tolokers.npz" -o "$work/$d" ;;
    cora | amazon-computers | acm) gnn-import -q "$data/$d.zip" -o "$work/$d" ;;
    debian)
        perl "$top/scripts/debian-graph.pl" -l "${LISTS:-/var/lib/apt/lists}" "$work/packages"
        gnn-import -q --undirected --dedup --split random:0.6,0.2,0.2 --seed 1 -o "$work/$d" "$work/packages"
        ;;
    *) echo "accuracy.sh: no such data: $d" >&2; exit 2 ;;
    esac
    [ -z "$ranks" ] || gnn-partition -q -k "$ranks" -o "$work/$d.parts" "$work/$d"
done
if [ "$mode" = --choose ]; then
    printf '%-18s %8s  %-40s %s\n' data mean setting 'runs (validation set)'
    for d in $wanted; do
        [ "${d%:*}" = cora ] || choose "$d"
    done
    exit
fi
if [ "$mode" = --defaults ]; then
    printf '%-18s %-7s %8s %8s %8s %7s %8s\n' data default mean least most epochs seconds
    for d in $wanted; do
        by_default "$d" before --lr 0.01 --dropout 0 --no-layer-norm --eval none --epochs 10
        by_default "$d" now
    done
    exit
fi
printf '%-18s %4s %8s %8s %8s %5s %6s %10s %6s  %s\n' data runs mean least most met asked published time model
row cora 0.81 0.815 10 'GCN 2x16, all neighbours'
row amazon-computers 0.90 - 5 'SAGE 2x128, fan-out 15,15'
row tolokers 0.80 0.824 10 'SAGE 3x128, ROC-AUC'
row acm 0.87 - 5 'SAGE 2x64 per relation'
row cora:gat 0.825 0.830 10 'GAT 8 heads of 8, all neighbours'
row cora:gcn-full 0.814 0.815 10 'GCN 2x16, full batches'
row cora:gat-full 0.825 0.830 10 'GAT 8 heads of 8, full batches'
row tolokers:gcn 0.83 0.836 10 'GCN 3x128 with encoder, blocks, head, ROC-AUC'
row tolokers:sage 0.82 0.824 10 'SAGE 3x128 with encoder, blocks, head, ROC-AUC'
row tolokers:gat 0.83 0.837 10 'GAT 3x128, 4 heads, with encoder, blocks, head, ROC-AUC'
row acm:rgcn 0.89 - 5 'R-GCN 2x64 with encoder'
row acm:gat 0.89 - 5 'R-GAT 2x64, 4 heads'
row acm:hgt 0.89 - 5 'HGT 2x64, 4 heads, with encoder and head'
exit $missed
