/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/other_names.h"

#include <string.h>

/* Names that are a slip of ours are found without this table. */
static const struct {
    const char *ours, *theirs;
} table[] = {
    {"activation", "act|act-fn|nonlinearity"},
    {"aggr", "aggregation|aggregator|aggregator-type|agg"},
    {"attention-dropout", "attn-drop|attn-dropout"},
    {"balance", "balance-edges|balance-ntypes|balance-train"},
    {"bases", "num-bases"},
    {"batch", "batch-size|train-batch-size"},
    {"batch-norm", "batchnorm|bn|use-bn"},
    {"cache", "cache-size|feature-cache|gpu-cache"},
    {"checkpoint", "checkpoint-dir|ckpt|ckpt-dir"},
    {"class-weights", "pos-weight"},
    {"clip", "clip-grad|clip-norm|gradient-clip|grad-clip|max-grad-norm|max-norm"},
    {"device", "cuda|gpu|gpus"},
    {"dropout", "dropout-rate|drop-rate|feat-drop"},
    {"epochs", "max-epochs|num-epochs|n-epochs"},
    {"eval", "val|validation|val-split"},
    {"fanout", "fanouts|neighbors|neighbours|num-neighbors|num-neighbours|sample-sizes|sizes"},
    {"features", "feat|feats|node-features"},
    {"fields", "feat|feats|node-features|prefetch-labels|prefetch-node-feats"},
    {"heads", "attention-heads|nheads|num-heads|n-heads"},
    {"hidden",
     "hidden-channels|hidden-dim|hidden-feats|hidden-size|hidden-units|hid-dim|num-hidden|"
     "n-hidden"},
    {"induced", "subgraph|subgraph-type"},
    {"init", "load|load-model|pretrained"},
    {"input", "input-file"},
    {"jk", "jumping-knowledge"},
    {"labels", "label|target|targets"},
    {"latest", "temporal-strategy"},
    {"layer-norm", "layernorm|ln|use-ln"},
    {"layers", "nlayers|num-layers|n-layers"},
    {"lr", "learning-rate"},
    {"model", "arch|architecture|conv|gnn|layer-type|model-type"},
    {"output", "out|output-file|save|save-dir|save-model|save-path"},
    {"parts", "nparts|num-partitions|num-parts|n-parts"},
    {"patience", "early-stop|early-stopping"},
    {"precision", "amp|mixed-precision"},
    {"prefetch", "num-workers|prefetch-factor|workers"},
    {"replace", "replacement|with-replacement"},
    {"residual", "res|skip|skip-connections"},
    {"schedule", "lr-schedule|lr-scheduler|scheduler"},
    {"seed", "manual-seed|random-seed|rng-seed|random-state"},
    {"seed-balance", "balanced-sampler|imbalanced-sampler"},
    {"seeds", "input-nodes|nids|train-idx|train-nids"},
    {"self-loops", "add-self-loop|add-self-loops|remove-self-loop|remove-self-loops"},
    {"split", "set|subset"},
    {"store", "data|dataset|data-dir|data-path|graph|root"},
    {"threads", "jobs|num-threads|num-workers|n-jobs|workers"},
    {"time", "time-attr"},
    {"time-rule", "time-attr|input-time"},
    {"transport", "handoff"},
    {"undirected", "bidirected|to-undirected|to-bidirected"},
    {"weight", "edge-prob|prob|weight-attr"},
    {"weight-decay", "l2|wd"},
};

static char fold_letter(char c)
{
    return c == '_' ? '-' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool other_name_among(const char *words, const char *word, size_t n)
{
    while (*words) {
        size_t i = 0;
        while (i < n && words[i] && words[i] == (n > 1 ? fold_letter(word[i]) : *word))
            i++; /* letters differ by case */
        if (n && i == n && (!words[i] || words[i] == '|'))
            return true;
        words += strcspn(words, "|");
        words += *words == '|';
    }
    return false;
}

const char *other_name(const char *name, size_t n, unsigned nth)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (other_name_among(table[i].theirs, name, n) && !nth--)
            return table[i].ours;
    return NULL;
}
