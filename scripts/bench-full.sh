# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154
# Full batches on a tenth of the graph: sourced by bench.sh, whose helpers and directory it uses. Beside the bound: matrix products
# at their peak, and the rows of all edges that have to be read, at the rate at which rows of 1 KiB in random places are.
say "full batches, products:scale=$(calc "$scale / 10"), 3 layers, batch norm: gnn-train --full-batch"
rm -rf full full1
gnn-import -q -o full "products:scale=$(awk "BEGIN { print $scale / 10 }")"
gnn-partition -q -k 1 -o full1 full
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
# MODEL OPTIONS...
full_model() {
    model=$1
    shift
    for _ in 1 2; do
        full_epoch full1 "$@" | tee -a ours | awk -v m="$model" '{ printf "%s: %.2f s an epoch, %.0f GFLOP of products, memory %.0f MB\n", m, $1, $2, $3 }'
    done
}
: >ours
full_model gat -m gat --heads 4 --hidden 512
: >ours
full_model sage -m sage --hidden 256
# Rows of 256 and of 47 floats are read for each edge, forward and back; the features are aggregated in the first epoch only.
row 'full batch, sage, of the bound' '80 %' "$(sort -n ours | head -n 1 | awk -v g="$(limit gemm-f32 "$cores")" -v e="$edges" -v r="$rows" -v c="$cores" \
    '{ printf "%.0f", 100 * ($2 / g + e * 606 * 4e-9 / (r * c)) / $1 }') %" "$(sort -n ours | awk 'NR == 1 { print $1 }') s an epoch"
rm -rf full full1
