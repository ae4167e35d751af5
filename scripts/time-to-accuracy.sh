#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trains in minibatches and in full batches until the validation set reaches an accuracy, and prints for each the median
# number of steps and of seconds of training (evaluation is not counted), and the least and the most of the latter.
# DATA: amazon-computers, from $GNN_DATA, or debian, the graph of demo.sh; default: both.
# usage: time-to-accuracy.sh [DATA...]
# environment: SEEDS how many runs of each (default: 3)
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
PATH=${GNN_BIN:-$top/build/bin}:$PATH
LC_ALL=C
export PATH LC_ALL
work=$(mktemp -d "${TMPDIR:-/tmp}/gnn-time.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# The steps and seconds at which a run reached the target; status 1 if it never did.
reached() { # METRICS TARGET
    python3 - "$@" <<'PY'
import json, sys
steps, seconds = 0, 0.0
for event in map(json.loads, open(sys.argv[1])):
    if event["event"] == "step":
        steps += 1
    elif event["event"] == "epoch":
        seconds += event["train_s"]
        if event["valid"]["accuracy"] >= float(sys.argv[2]):
            print(max(steps, 1), round(seconds, 2))
            sys.exit()
sys.exit("time-to-accuracy.sh: %s was not reached" % sys.argv[2])
PY
}

measure() { # DATA TARGET NAME OPTIONS...
    store=$work/$1 target=$2 label="$1, $3"
    shift 3
    : >"$work/runs"
    for seed in $(seq "${SEEDS:-3}"); do
        gnn-train -q --store "$store" --seed "$seed" --patience 0 --metrics "$work/metrics" -o "$work/model" "$@"
        reached "$work/metrics" "$target" >>"$work/runs"
    done
    median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
    printf '%-40s valid accuracy %s: %5d steps, %6.1f s (%s to %s s)\n' "$label" "$target" "$(awk '{ print $1 }' "$work/runs" | median)" \
        "$(awk '{ print $2 }' "$work/runs" | median)" "$(awk '{ print $2 }' "$work/runs" | sort -n | head -n 1)" \
        "$(awk '{ print $2 }' "$work/runs" | sort -n | tail -n 1)"
}

[ $# -gt 0 ] || set -- amazon-computers debian
for data; do
    case $data in
    amazon-computers)
        gnn-import -q "${GNN_DATA:?GNN_DATA must name the folder with the real graphs}/$data.zip" -o "$work/$data"
        options='--hidden 128 --dropout 0.5 --residual'
        # shellcheck disable=SC2086
        {
            measure $data 0.90 minibatches $options --lr 0.003 -f 15,15 -b 512 --epochs 0:25
            measure $data 0.90 'full batches' $options --lr 0.003 --full-batch --layers 2 --epochs 200
        }
        ;;
    debian)
        perl "$top/scripts/debian-graph.pl" -l "${LISTS:-/var/lib/apt/lists}" "$work/packages"
        gnn-import -q --undirected --dedup --split random:0.6,0.2,0.2 --seed 1 -o "$work/$data" "$work/packages"
        options='--hidden 256 --layer-norm --dropout 0.5 --lr 0.01'
        # shellcheck disable=SC2086
        {
            measure $data 0.80 minibatches $options -f 10,5 -b 512 --epochs 0:8
            measure $data 0.80 'full batches' $options --full-batch --layers 2 --epochs 60
        }
        ;;
    *)
        echo "time-to-accuracy.sh: no such data: $data" >&2
        exit 2
        ;;
    esac
done
