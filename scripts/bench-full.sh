# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154
# Full batches on a tenth of the graph: sourced by bench.sh, whose helpers and directory it uses. In turns with DGL, where that is
# installed, with as many threads; beside the bound: matrix products at their peak, and the rows of all edges that have to be
# read, at the rate at which rows of 1 KiB in random places are.
say "full batches, products:scale=$(calc "$scale / 10"), 3 layers, batch norm: gnn-train --full-batch"
python=${GNN_PYTHON:-/usr/bin/python3}
rm -rf full full1 full4
gnn-import -q -o full "products:scale=$(awk "BEGIN { print $scale / 10 }")"
gnn-partition -q -k 1 -o full1 full
peer=
if "$python" -c 'import dgl' 2>/dev/null; then
    peer=yes
    gnn-inspect --raw --export full.npz full1
else
    echo 'DGL: skipped, not installed'
fi
edges=$(gnn-inspect full | awk '$1 == "edges" { print $3; exit }')
rows=$(sed -n 's/.*1 KiB: \([0-9.]*\) GB.s.*/\1/p' layers)
full_epoch() { # STORE OPTIONS...: seconds of the fastest epoch but the first, matrix products in GFLOP, memory in MB
    gnn-train -q --full-batch --store "$@" --layers 3 --batch-norm --dropout 0.5 --lr 0.01 --epochs 3 --eval none --patience 0 --keep last \
        --metrics full.json -o model.safetensors
    awk -F'[:,}]' '/"event":"epoch"/ { for (i = 1; i < NF; i++) { if ($i == "\"train_s\"") s = $(i + 1); if ($i == "\"gflops\"") g = $(i + 1) }
            if (n++ && (!best || s < best)) { best = s; work = s * g } }
        /"memory_bytes"/ { for (i = 1; i < NF; i++) if ($i == "\"memory_bytes\"") m = $(i + 1) / 1e6 }
        END { print best, work, m }' full.json
}
# MODEL FLOATS ASKED-BOUND ASKED-PEER ASKED-MEMORY OPTIONS...; FLOATS of each edge are read in a step
full_model() {
    model=$1 floats=$2 bound=$3 faster=$4 smaller=$5
    shift 5
    : >ours
    : >theirs
    for _ in 1 2; do
        full_epoch full1 "$@" | tee -a ours | awk -v m="$model" '{ printf "%s: %.2f s an epoch, %.0f GFLOP of products, memory %.0f MB\n", m, $1, $2, $3 }'
        [ -z "$peer" ] || "$python" "$top/scripts/bench-peer-full.py" "$model" full.npz "$cores" 3 2>/dev/null | tee -a theirs | awk '{ printf "DGL: %.2f s, %.0f MB\n", $1, $2 }'
    done
    best() { sort -n "$1" | head -n 1; }
    [ -z "$bound" ] || row "full batch, $model, of the bound" "$bound" \
        "$(best ours | awk -v g="$(limit gemm-f32 "$cores")" -v e="$edges" -v f="$floats" -v r="$rows" -v c="$cores" \
            '{ printf "%.0f", 100 * ($2 / g + e * f * 4e-9 / (r * c)) / $1 }') %" "$(best ours | awk '{ print $1 }') s an epoch"
    [ -s theirs ] || return 0
    row "full batch, $model, over DGL, rate" "$faster x" "$(best ours | awk -v t="$(best theirs | awk '{ print $1 }')" '{ printf "%.2f", t / $1 }') x" "$cores threads"
    row "full batch, $model, over DGL, memory" "<= $smaller x" "$(best ours | awk -v t="$(best theirs | awk '{ print $2 }')" '{ printf "%.2f", $3 / t }') x" \
        "$(best ours | awk '{ print $3 }') MB"
}
# Rows of 256 and of 47 floats, forward and back; the features are aggregated in the first epoch only.
full_model sage 606 '80 %' 1.10 0.60 -m sage --hidden 256
full_model gat 0 '' 2.00 0.40 -m gat --heads 4 --hidden 512
# The same within 0.4 times DGL's memory.
if [ -s theirs ]; then
    gnn-partition -q -k 4 --method ldg -o full4 full
    : >ours
    for _ in 1 2; do
        full_epoch full4 -m gat --heads 4 --hidden 512 --memory "$(best theirs | awk '{ printf "%.0f", 0.39e6 * $2 }')" | tee -a ours |
            awk '{ printf "gat --memory: %.2f s an epoch, memory %.0f MB\n", $1, $3 }'
    done
    row 'full batch, gat --memory, over DGL, rate' '2.00 x' "$(best ours | awk -v t="$(best theirs | awk '{ print $1 }')" '{ printf "%.2f", t / $1 }') x" \
        "$(best ours | awk -v t="$(best theirs | awk '{ print $2 }')" '{ printf "%.2f", $3 / t }') of its memory"
fi
rm -rf full full1 full4 full.npz
