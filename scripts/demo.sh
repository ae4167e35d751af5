#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The whole pipeline on a real graph that every Debian machine can make offline: its packages and what they depend
# on. Installs what is missing, builds, trains, and shows what came out.
# usage: demo.sh [DIR]     results go to DIR (default: build/demo)
# environment: LISTS apt's package lists (default: /var/lib/apt/lists); GNN_BIN programs to use, and none are built
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
case ${1:-} in
-*) echo 'usage: demo.sh [DIR]' >&2; exit 2 ;;
'') out=$top/build/demo ;;
/*) out=$1 ;;
*) out=$PWD/$1 ;;
esac
lists=${LISTS:-/var/lib/apt/lists}
missing=$(sh "$top/scripts/install-deps.sh" --missing | wc -l)
[ "$missing" -eq 0 ] || echo "Installing $missing Debian packages that are missing here. This can take some minutes."
sh "$top/scripts/install-deps.sh"
if [ -n "${GNN_BIN:-}" ]; then bin=$(cd "$GNN_BIN" && pwd); else
    bin=$top/build/bin
    echo 'Building what is not built yet: 1 to 5 minutes on 2 processors, with a line for each file.'
    make -s -C "$top" -j"$(nproc)" all
fi
echo 'The rest takes 1 to 4 minutes on 2 processors.'
mkdir -p "$out"
cd "$out"
rm -rf debian debian-*.txt store parts ./*.safetensors ./*.ndjson classes.npy plot.png curve.* times
PATH=$bin:$PATH
LC_ALL=C
export PATH LC_ALL

# stage NAME HOW-LONG COMMAND: shows the command and how long it takes on 2 processors, runs it, notes its seconds.
stage() {
    stage=$1 long=$2
    shift 2
    printf '\n$ %s\n# %s\n' "$*" "$long"
    start=$(date +%s.%N)
    sh -euc "$*"
    end=$(date +%s.%N)
    echo "$stage $start $end" | awk '{ printf "%-26s %8.1f s\n", $1, $3 - $2 }' >>"times"
}

if ls "$lists"/*_main_binary-*_Packages* >/dev/null 2>&1; then
    echo 'The graph: the packages of the Debian archive, an edge where one depends on, recommends or suggests another.'
    echo 'To be learned: the section of a package, from the words of its description and its neighbours.'
    stage graph '10 to 30 seconds' "perl $top/scripts/debian-graph.pl -l $lists debian"
    stage gnn-import 'a few seconds' 'gnn-import --undirected --dedup --split random:0.6,0.2,0.2 --seed 1 -o store debian'
else
    echo "There are no package lists of apt in $lists ('apt-get update' fetches them)."
    echo 'The graph is a generated one with communities instead; to be learned: the community.'
    stage gnn-import 'a few seconds' 'gnn-import --split random:0.6,0.2,0.2 --seed 1 -o store sbm:nodes=60000,classes=40,features=128,degree=10,signal=0.15,homophily=0.5'
fi
stage gnn-partition 'a few seconds' 'gnn-partition -k 4 -o parts store'
options='--epochs 0:12 --hidden 256 --layer-norm --dropout 0.5 --schedule cosine --lr 0.01'
stage 'training,with-edges' '1 to 2 minutes, with a line after each of the 12 epochs' "gnn-sample -f 10,5 -b 512 --epochs 0:12 --eval valid --eval test parts |
    gnn-gather parts |
    gnn-train $options --metrics edges.ndjson -o model.safetensors"
stage 'training,without-edges' '10 to 30 seconds, with a line after each of the 12 epochs' "gnn-sample -f 0,0 -b 512 --epochs 0:12 --eval valid --eval test parts |
    gnn-gather parts |
    gnn-train $options --metrics text.ndjson -o text.safetensors"
stage gnn-predict '5 to 10 seconds' 'gnn-predict --split test --metrics predict.ndjson -o classes.npy parts model.safetensors'

# Curves: one line an epoch, "epoch loss accuracy-on-valid", from the metrics.
curve() {
    sed -n '/"event":"epoch"/s/.*"epoch":\([0-9]*\).*"loss":\([0-9.]*\),"lr".*"valid":{"accuracy":\([0-9.]*\).*/\1 \2 \3/p' "$1" \
        >"$2"
}
curve edges.ndjson curve.edges
curve text.ndjson curve.text
plot() {
    printf '%s\n' "set title 'gnn-tools demo'" 'set xlabel "epoch"' 'set ylabel "accuracy (valid)"' 'set key bottom right' \
        'set yrange [0:1]' 'set grid' "$@"
}
lines='"curve.edges" using 1:3 with linespoints title "with edges", "curve.text" using 1:3 with linespoints title "without edges"'
plot 'set terminal pngcairo size 800,500' 'set output "plot.png"' 'set ytics nomirror' 'set y2tics' \
    'set y2label "loss (train)"' 'set y2range [0:*]' \
    "plot $lines, 'curve.edges' using 1:2 axes x1y2 with lines dashtype 2 title 'loss, with edges'" | gnuplot
plot 'set terminal dumb 78 20 noenhanced' 'unset grid' 'set yrange [0.3:1]' "plot $lines" | gnuplot | tr -d '\f'

# percent FILE EVENT PATTERN: the accuracy on the test set.
percent() { sed -n "/\"event\":\"$2\"/s/.*$3\"accuracy\":\([0-9.]*\).*/\1/p" "$1" | awk '{ printf "%.1f %%", 100 * $1 }'; }
printf '\n%s\n' '--------------------------------------------------'
gnn-inspect parts | sed -n 's/^  \(nodes\|edges\|task\) */\1 /p'
cat times
echo "test accuracy with edges        $(percent predict.ndjson score '')  exact: gnn-predict uses all neighbours of each node"
echo "  as gnn-train measured it      $(percent edges.ndjson end '"test":{')  sampled: batches have at most 10 of them, and 5 of each of these"
echo "the same model without edges    $(percent text.ndjson end '"test":{')"
echo "model, predictions, plot.png:   $out"
