/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/train_weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli.h"
#include "cmd/sampling_opts.h"
#include "cmd/train_feed.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"
#include "lib/train/trainer.h"

/* Labels of each class in the training set. */
static uint64_t *count_labels(const struct gnn_schema *c)
{
    struct gnn_err e = {0};
    uint64_t *count = gnn_alloc(c->nclasses, sizeof *count, "counts of classes", &e);
    const int set = gnn_schema_find_set(c, train_feed.split); /* it is there: the sampler has it */
    if (!count || gnn_class_counts(&feed.store, (uint32_t)set, count, &e))
        cli_fail(&e);
    return count;
}

/* n / (classes * count), which scikit-learn calls balanced; a class that does not occur has 0. */
static void balance_weights(float *w, const struct gnn_schema *c)
{
    uint64_t n = 0, *count = count_labels(c);
    for (uint32_t k = 0; k < c->nclasses; k++)
        n += count[k];
    for (uint32_t k = 0; k < c->nclasses; k++)
        w[k] = count[k] ? (float)((double)n / ((double)c->nclasses * (double)count[k])) : 0;
    gnn_free(count);
    if (!n)
        cli_die(3, "--class-weights balanced: no node of set %s has a label", train_feed.split);
}

/* With none, nothing would be learned. */
static void check_weights(const float *w, const struct gnn_schema *c)
{
    uint64_t n = 0, *count = feed.store_path ? count_labels(c) : NULL;
    for (uint32_t k = 0; count && k < c->nclasses; k++)
        n += w[k] > 0 ? count[k] : 0;
    if (count && !n)
        cli_usage("--class-weights: no node of set %s is of a class with a weight > 0",
                  train_feed.split);
    gnn_free(count);
}

/* Into w, which has space for so many; returns how many there are. */
static uint32_t list_weights(const char *text, float *w, uint32_t capacity)
{
    uint32_t n = 0;
    bool any = false;
    for (const char *s = text;; s++) {
        char *end;
        const float v = strtof(s, &end);
        const size_t len = strcspn(s, ",");
        if (end == s || end != s + len || !isfinite(v) || v < 0)
            cli_usage("--class-weights: '%.*s': expected a number >= 0, balanced or none", (int)len,
                      s);
        if (n < capacity)
            w[n] = v;
        n++;
        any = any || v > 0;
        if (!*(s = end))
            break;
    }
    if (!any)
        cli_usage("--class-weights: all weights are 0");
    return n;
}

void train_weights_check(const char *text)
{
    const char *draws = sampling_opts_draws();
    if (!text || !strcmp(text, "none"))
        return;
    if (strcmp(text, "balanced") != 0) {
        (void)list_weights(text, NULL, 0);
        return;
    }
    if (!feed.store_path)
        cli_usage(
            "--class-weights balanced requires --store: a stream does not tell the counts of classes");
    if (draws && !strcmp(draws, "--seed-balance"))
        cli_usage("--class-weights balanced and --seed-balance exclude each other: classes that "
                  "are drawn equally often would be weighted by their counts as well");
    if (draws)
        cli_note("warning: --class-weights balanced is by the counts of classes in the set, not by "
                 "how often %s draws them",
                 draws);
}

enum { FEW_LABELS = 50 }; /* gnn-settings(7) says the same */

/* Fewer seeds than so many for each class say it, too. */
static void tell_few_seeds(const struct gnn_schema *c, const struct gnn_sampling *s)
{
    const unsigned long long seeds = s->split_seeds[0];
    if (s->seed_ntype == c->label_ntype && seeds && seeds < (uint64_t)FEW_LABELS * c->nclasses)
        cli_note("set %s has %llu seed%s, so at least one of %u classes has fewer than %d labels: "
                 "gnn-settings(7) has settings for few labels",
                 s->split[0], seeds, gnn_plural(seeds), c->nclasses, FEW_LABELS);
}

void train_weights_tell_few(const struct gnn_schema *c, const struct gnn_sampling *s)
{
    char number[16], labels[24] = "none";
    uint32_t few = 0, least = 0;
    if (!gnn_task_one_class(c->task) || s->links.type)
        return;
    if (!feed.store_path) {
        tell_few_seeds(c, s);
        return;
    }
    const int set = gnn_schema_find_set(c, train_feed.split);
    if (set < 0 || c->set[set].ntype != c->label_ntype)
        return;
    uint64_t n = 0, *count = count_labels(c);
    for (uint32_t k = 0; k < c->nclasses; k++) {
        n += count[k];
        few += count[k] < FEW_LABELS;
        least = count[k] < count[least] ? k : least;
    }
    snprintf(number, sizeof number, "%u", least);
    if (count[least])
        snprintf(labels, sizeof labels, "%llu", (unsigned long long)count[least]);
    if (n && few)
        cli_note("%u of %u classes %s fewer than %d labels in set %s (fewest: class %s, with %s): "
                 "gnn-settings(7) has settings for few labels",
                 few, c->nclasses, few > 1 ? "have" : "has", FEW_LABELS, train_feed.split,
                 c->class_name ? c->class_name[least] : number, labels);
    gnn_free(count);
}

const float *train_weights_read(const char *text, const struct gnn_schema *c)
{
    struct gnn_err e = {0};
    if (!text || !strcmp(text, "none"))
        return NULL;
    if (!gnn_task_one_class(c->task))
        cli_usage("--class-weights does not apply to %s tasks", gnn_task_name(c->task));
    float *w = gnn_alloc(c->nclasses, sizeof *w, "weights of classes", &e);
    if (!w)
        cli_fail(&e);
    if (!strcmp(text, "balanced")) {
        balance_weights(w, c);
        return w;
    }
    const uint32_t n = list_weights(text, w, c->nclasses);
    if (n != c->nclasses)
        cli_usage("--class-weights: %u weight%s for %u classes", n, gnn_plural(n), c->nclasses);
    check_weights(w, c);
    return w;
}
