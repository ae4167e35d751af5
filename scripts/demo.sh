#!/bin/sh
# The whole pipeline on a real graph that every Debian machine can make offline: its packages and what they depend
# on. Installs what is missing, builds, trains, and prints what came out.
# usage: demo.sh [DIR]     results go to DIR (default build/demo)
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
case ${1:-} in
-*) echo "usage: demo.sh [DIR]" >&2; exit 2 ;;
'') out=$top/build/demo ;;
/*) out=$1 ;;
*) out=$PWD/$1 ;;
esac

sh "$top/scripts/install-deps.sh"
make -s -C "$top" -j"$(nproc)" all
mkdir -p "$out"
cd "$out"
rm -rf debian store parts ./*.safetensors ./*.ndjson ./*.gnb ./*.npy plot.png times
PATH=$top/build/bin:$PATH
LC_ALL=C
export PATH LC_ALL

# Runs a stage, shows its command, notes its seconds.
stage() {
    name=$1
    shift
    printf '\033[1m%s\033[0m\n' "\$ $*" | if [ -t 1 ]; then cat; else sed 's/.\[[01]m//g'; fi
    start=$(date +%s.%N)
    sh -euc "$*"
    date +%s.%N | awk -v name="$name" -v start="$start" '{ printf "%s %.1f\n", name, $1 - start }' >>times
}

epochs=12
valid_and_test='--eval valid'
if ls /var/lib/apt/lists/*_main_binary-*_Packages* >/dev/null 2>&1; then
    what="packages of this machine's Debian archive, joined by Depends, Recommends and Suggests; class: Section"
    stage graph "perl '$top/scripts/debian-graph.pl' debian"
    stage import "gnn-import --undirected --dedup --split random:0.6,0.2,0.2 --seed 1 -o store debian"
else
    echo "No package lists of apt on this machine (apt-get update makes them): using a generated graph instead."
    what='a generated graph with communities (sbm:)'
    stage import "gnn-import --split random:0.6,0.2,0.2 --seed 1 -o store sbm:"
fi
stage partition "gnn-partition -k 4 -o parts store"
