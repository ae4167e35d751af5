/* SPDX-License-Identifier: Apache-2.0 */
/* The text form of gnn-inspect's reports. The library makes JSON (lib/inspect), and everything here
 * prints from that JSON, so --json and the text cannot differ. Sections follow the report: schema,
 * stream, tensors, statistics, model, differences. */
#include "cmd/inspect_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cli.h"
#include "formats/tensor.h"
#include "lib/model/layer.h"
#include "lib/base/plural.h"

static const char *text_of(const json_t *o, const char *key)
{
    return cli_shown(json_string_value(key ? json_object_get(o, key) : o));
}

static long long whole_of(const json_t *o, const char *key)
{
    return (long long)json_integer_value(json_object_get(o, key));
}

static double real_of(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

/* Bytes for people: powers of 1024. */
static const char *human_bytes(double n)
{
    static char buf[4][32];
    static unsigned turn;
    static const char unit[] = "BKMGTPE";
    char *out = buf[turn++ % 4];
    int i = 0;
    while (n >= 1024 && unit[i + 1]) {
        n /= 1024;
        i++;
    }
    snprintf(out, sizeof buf[0], i ? "%.1f %ciB" : "%.0f %c", n, unit[i]);
    return out;
}

/* Long lists are shortened to their first few entries and a summary, unless -v is given. */
enum { MANY = 12, FEW = 5 };

static size_t shown_items(const json_t *list)
{
    const size_t n = json_array_size(list);
    return n > MANY && common.verbose <= 0 ? FEW : n;
}

static void print_fields(const json_t *list)
{
    size_t i;
    json_t *f;
    json_array_foreach((json_t *)(uintptr_t)list, i, f)
    {
        if (i == shown_items(list)) {
            printf(", ... %zu more", json_array_size(list) - i);
            break;
        }
        printf("%s %s %s", i ? "," : ":", text_of(f, "name"), text_of(f, "dtype"));
        if (whole_of(f, "width"))
            printf("[%lld]", whole_of(f, "width"));
        if (json_is_true(json_object_get(f, "standardized")))
            printf(" standardized");
    }
}

/* The summary line of a shortened list, whose entries all have a count. */
static void print_rest(const char *what, const json_t *list)
{
    const json_t *x, *least = json_array_get(list, 0), *most = least;
    const size_t from = shown_items(list), n = json_array_size(list);
    long long sum = 0;
    for (size_t i = 0; i < n; i++) {
        x = json_array_get(list, i);
        sum += whole_of(x, "count");
        least = whole_of(x, "count") < whole_of(least, "count") ? x : least;
        most = whole_of(x, "count") > whole_of(most, "count") ? x : most;
    }
    if (from < n)
        printf("  %s  ... %zu more (-v lists them); all %zu: %lld, from %lld to %lld each\n", what,
               n - from, n, sum, whole_of(least, "count"), whole_of(most, "count"));
}

static void print_types(const char *what, const json_t *list)
{
    size_t i;
    json_t *x;
    json_array_foreach((json_t *)(uintptr_t)list, i, x)
    {
        if (i == shown_items(list))
            break;
        printf("  %s  %-24s %12lld", what, text_of(x, "name"), whole_of(x, "count"));
        print_fields(json_object_get(x, "fields"));
        if (json_object_get(x, "order"))
            printf("; in-edges ordered by %s", text_of(x, "order"));
        if (json_object_get(x, "reverse_of"))
            printf("; reverses of %s", text_of(x, "reverse_of"));
        putchar('\n');
    }
    print_rest(what, list);
}

static void print_schema(const json_t *r)
{
    const json_t *splits = json_object_get(r, "splits");
    size_t i;
    json_t *x;
    print_types("nodes", json_object_get(r, "node_types"));
    print_types("edges", json_object_get(r, "edge_types"));
    json_array_foreach((json_t *)(uintptr_t)splits, i, x)
    {
        if (i == shown_items(splits))
            break;
        char name[512];
        snprintf(name, sizeof name, "%s/%s", text_of(x, "split"), text_of(x, "set"));
        const bool links = json_object_get(x, "links");
        printf("  split  %-24s %12lld  of %s%s\n", name, whole_of(x, "count"),
               text_of(x, links ? "links" : "node_type"),
               json_object_get(x, "messages") ? ", and carries messages" : "");
    }
    print_rest("split", splits);
    if (json_object_get(r, "classes"))
        printf("  task   %s of %s, %lld %s\n", text_of(r, "task"), text_of(r, "label_type"),
               whole_of(r, "classes"),
               strcmp(text_of(r, "task"), "regression") ? "classes"
               : whole_of(r, "classes") == 1            ? "output"
                                                        : "outputs");
    const json_t *names = json_object_get(r, "class_names");
    json_array_foreach((json_t *)(uintptr_t)names, i, x)
    {
        if (i == shown_items(names)) {
            printf(", ... %zu more (-v lists them)", json_array_size(names) - i);
            break;
        }
        printf("%s%s", i ? ", " : "  class  ", text_of(x, NULL));
    }
    if (names)
        putchar('\n');
}

static void print_numbers(const char *what, const json_t *list)
{
    size_t i;
    json_t *x;
    printf("  %s", what);
    json_array_foreach((json_t *)(uintptr_t)list, i, x) printf(" %.10g", json_number_value(x));
    putchar('\n');
}

/* The fan-outs of the hops that find nodes, by edge type: " 3/2,4/4". */
static void print_fanouts(const json_t *s)
{
    const json_t *hops = json_object_get(s, "fanout");
    const size_t all = json_array_size(hops), find = all - (json_object_get(s, "induced") && all);
    size_t i, t;
    json_t *x, *n;
    json_array_foreach((json_t *)(uintptr_t)hops, i, x)
    {
        if (i == find)
            break;
        json_array_foreach(x, t, n)
        {
            if (t == shown_items(x)) {
                printf("/... %zu more", json_array_size(x) - t);
                break;
            }
            printf("%s%lld", t ? "/" : i ? "," : " ", (long long)json_integer_value(n));
        }
    }
}

static void print_stream(const json_t *r)
{
    const json_t *s = json_object_get(r, "sampling");
    size_t i;
    json_t *x;

    printf("  drawn  for %s, fan-out", text_of(s, "seed_type"));
    print_fanouts(s);
    printf(": %s\n", text_of(s, "options"));
    json_array_foreach(json_object_get(s, "sets"), i, x)
        printf("  set    %-24s %12lld seed%s in %lld step%s an epoch\n", text_of(x, "set"),
               whole_of(x, "seeds"), gnn_plural((unsigned long long)whole_of(x, "seeds")),
               whole_of(x, "steps"), gnn_plural((unsigned long long)whole_of(x, "steps")));
    const json_t *share = json_object_get(r, "share_of");
    if (share)
        printf("  rank   %lld of %lld: what follows is its share\n", whole_of(share, "rank"),
               whole_of(share, "ranks"));
    const json_t *first = json_object_get(r, "first"), *last = json_object_get(r, "last");
    printf("  batches %lld, %lld seed%s, %s", whole_of(r, "batches"), whole_of(r, "seeds"),
           gnn_plural((unsigned long long)whole_of(r, "seeds")), human_bytes(real_of(r, "bytes")));
    if (first)
        printf("; epoch %lld step %lld to epoch %lld step %lld", whole_of(first, "epoch"),
               whole_of(first, "step"), whole_of(last, "epoch"), whole_of(last, "step"));
    putchar('\n');
    if (whole_of(r, "batches"))
        print_numbers("mean nodes after each hop:", json_object_get(r, "mean_nodes"));
    if (whole_of(r, "batches") && !json_object_get(s, "walks"))
        print_numbers("mean edges of each hop:", json_object_get(r, "mean_edges"));
}

static void print_tensors(const json_t *list)
{
    size_t i, d;
    json_t *t, *n;
    bool parts = json_object_get(json_array_get(list, 0), "part") != NULL;
    printf("%s%-40s %-5s %-24s %s\n", parts ? "part  " : "", "tensor", "dtype", "shape", "bytes");
    json_array_foreach((json_t *)(uintptr_t)list, i, t)
    {
        char shape[128] = "";
        size_t at = 0;
        json_array_foreach(json_object_get(t, "shape"), d, n) if (at < sizeof shape) at +=
            (size_t)snprintf(shape + at, sizeof shape - at, "%s%lld", d ? " x " : "",
                             (long long)json_integer_value(n));
        if (parts)
            printf("%-5lld ", whole_of(t, "part"));
        printf("%-40s %-5s %-24s %lld\n", text_of(t, "name"), text_of(t, "dtype"), shape,
               whole_of(t, "bytes"));
    }
}

static void print_degrees(const char *what, const json_t *d)
{
    if (json_is_null(json_object_get(d, "mean"))) {
        printf("    %s not defined: there are no such nodes\n", what);
        return;
    }
    printf("    %s min %lld, median %lld, mean %.4g, max %lld, zero %lld\n", what,
           whole_of(d, "min"), whole_of(d, "median"), real_of(d, "mean"), whole_of(d, "max"),
           whole_of(d, "zero"));
}

/* Large values such as times and ids are printed with all digits before the point, not as
 * 1.2e+09. */
static const char *number_text(const json_t *o, const char *key)
{
    static char buf[4][32];
    static unsigned turn;
    char *out = buf[turn++ % 4];
    const double x = real_of(o, key);
    snprintf(out, sizeof buf[0], (x >= 1e6 || x <= -1e6) && x < 1e15 && x > -1e15 ? "%.0f" : "%.6g",
             x);
    return out;
}

/* Which way the edges run, if both ends are of one type. */
static void print_direction(const json_t *x)
{
    const char *way = json_string_value(json_object_get(x, "direction"));
    const long long from = whole_of(x, "estimated_from");
    if (way && strcmp(way, "directed") != 0)
        printf(" %s;", cli_shown(way));
    else if (way && from)
        printf(" directed, about %.2f %% have their reverse (estimated from %lld);",
               100 * real_of(x, "reverse_share"), from);
    else if (way)
        printf(" directed, %.2f %% have their reverse;", 100 * real_of(x, "reverse_share"));
}

static void print_edge_stats(const json_t *list)
{
    const size_t few = shown_items(list), n = json_array_size(list);
    long long loops = 0, parallel = 0, symmetric = 0;
    size_t i;
    json_t *x;
    json_array_foreach((json_t *)(uintptr_t)list, i, x)
    {
        const char *way = json_string_value(json_object_get(x, "direction"));
        loops += whole_of(x, "self_loops");
        parallel += whole_of(x, "parallel_edges");
        symmetric += way && !strcmp(way, "symmetric");
        if (i >= few)
            continue;
        printf("  %s:", text_of(x, "name"));
        print_direction(x);
        printf(" self-loops %lld, parallel edges %lld\n", whole_of(x, "self_loops"),
               whole_of(x, "parallel_edges"));
        print_degrees("in-degree ", json_object_get(x, "in_degree"));
        print_degrees("out-degree", json_object_get(x, "out_degree"));
    }
    if (few < n)
        printf(
            "  ... %zu more (-v lists them); all %zu edge types: %lld symmetric, self-loops %lld, parallel edges %lld\n",
            n - few, n, symmetric, loops, parallel);
}

static double span_of(const json_t *column)
{
    return real_of(column, "max") - real_of(column, "min");
}

static void print_column(const char *what, const json_t *list, size_t i)
{
    const json_t *x = json_array_get(list, i);
    if (json_is_null(json_object_get(x, "mean")))
        printf("    %scolumn %zu: no number\n", what, i + 1);
    else
        printf("    %scolumn %zu: min %s, mean %s, max %s\n", what, i + 1, number_text(x, "min"),
               number_text(x, "mean"), number_text(x, "max"));
}

/* The ranges of columns; of many, those of the widest and of the narrowest one that varies. */
static void print_columns(const json_t *list)
{
    const size_t n = json_array_size(list);
    size_t wide = 0, narrow = n;
    for (size_t i = 0; i < n; i++) {
        const double span = span_of(json_array_get(list, i));
        if (span > span_of(json_array_get(list, wide)))
            wide = i;
        if (span > 0 && (narrow == n || span < span_of(json_array_get(list, narrow))))
            narrow = i;
        if (n <= MANY || common.verbose > 0)
            print_column("", list, i);
    }
    if (n > MANY && common.verbose <= 0) {
        print_column("widest of all: ", list, wide);
        if (narrow < n)
            print_column("narrowest that varies: ", list, narrow);
    }
}

/* "members of each class: bird 97, cat 98". */
static void print_classes(const json_t *names, const json_t *counts)
{
    size_t i;
    json_t *x;
    if (!names) {
        print_numbers("members of each class:", counts);
        return;
    }
    printf("  members of each class:");
    json_array_foreach((json_t *)(uintptr_t)counts, i, x)
    {
        if (i == shown_items(counts)) {
            printf(", ... %zu more (-v lists them)", json_array_size(counts) - i);
            break;
        }
        printf("%s %s %lld", i ? "," : "", text_of(json_array_get(names, i), NULL),
               (long long)json_integer_value(x));
    }
    putchar('\n');
}

/* What the numbers of a field are over, unless it is all values. */
static void print_missing(const json_t *x)
{
    if (whole_of(x, "nan") || whole_of(x, "infinite"))
        printf(", %lld NaN, %lld infinite of %lld", whole_of(x, "nan"), whole_of(x, "infinite"),
               whole_of(x, "values"));
    if (whole_of(x, "unlabelled"))
        printf("; of %lld label%s, and %lld not known", whole_of(x, "values"),
               gnn_plural((unsigned long long)whole_of(x, "values")), whole_of(x, "unlabelled"));
}

/* names: of classes, or NULL. */
static void print_stats(const json_t *s, const json_t *names)
{
    const json_t *fields = json_object_get(s, "fields");
    size_t i, types = 0;
    json_t *x;
    const char *key;
    print_edge_stats(json_object_get(s, "edges"));
    json_object_foreach(json_object_get(s, "isolated"), key,
                        x) if (types++ < MANY || common.verbose > 0)
        printf("  isolated nodes of %s: %lld\n", cli_shown(key), (long long)json_integer_value(x));
    if (types > MANY && common.verbose <= 0)
        printf("  ... %zu more node types (-v lists them)\n", types - MANY);
    json_array_foreach((json_t *)(uintptr_t)fields, i, x)
    {
        if (i == shown_items(fields)) {
            printf("  ... %zu more fields (-v lists them)\n", json_array_size(fields) - i);
            break;
        }
        if (json_is_null(json_object_get(x, "mean")))
            printf("  %s: no number", text_of(x, "name"));
        else
            printf("  %s: min %s, mean %s, max %s", text_of(x, "name"), number_text(x, "min"),
                   number_text(x, "mean"), number_text(x, "max"));
        print_missing(x);
        putchar('\n');
        print_columns(json_object_get(x, "columns"));
    }
    if (json_object_get(s, "classes"))
        print_classes(names, json_object_get(s, "classes"));
    if (whole_of(s, "unlabelled"))
        printf("  nodes without a label: %lld\n", whole_of(s, "unlabelled"));
}

void inspect_text_report(const json_t *r)
{
    size_t i;
    json_t *x;
    bool store = !strcmp(text_of(r, "kind"), "store");

    if (store)
        printf("store %s: %lld partition%s, identity %s, %s\n", text_of(r, "path"),
               whole_of(r, "parts"), gnn_plural((unsigned long long)whole_of(r, "parts")),
               text_of(r, "identity"), human_bytes(real_of(r, "bytes")));
    else
        printf("stream of batches from store %s in %lld partition%s\n", text_of(r, "identity"),
               whole_of(r, "parts"), gnn_plural((unsigned long long)whole_of(r, "parts")));
    if (json_object_get(r, "base"))
        printf("  base   store %s, identity %s\n", text_of(json_object_get(r, "base"), "path"),
               text_of(json_object_get(r, "base"), "identity"));
    print_schema(r);
    if (!store)
        print_stream(r);
    json_array_foreach(json_object_get(r, "provenance"), i, x)
        printf("  by     %s\n", text_of(x, NULL));
    if (json_object_get(r, "tensors"))
        print_tensors(json_object_get(r, "tensors"));
    if (json_object_get(r, "statistics"))
        print_stats(json_object_get(r, "statistics"), json_object_get(r, "class_names"));
}

/* What was chosen for the layers, by the names of gnn-train's options: ", train-eps". */
static void print_options(const json_t *a)
{
    const struct gnn_layer *layer = gnn_layer_find(text_of(a, "kind"));
    for (uint32_t k = 0; layer && k < layer->noptions; k++) {
        const json_t *v = json_object_get(a, layer->option[k].name);
        if (json_is_number(v))
            printf(", %s %g", layer->option[k].word, json_number_value(v));
        else if (json_is_string(v))
            printf(", %s %s", layer->option[k].word, cli_shown(json_string_value(v)));
        else if (json_is_boolean(v))
            printf(", %s%s", json_is_true(v) ? "" : "no-", layer->option[k].word);
    }
}

/* The modules around the layers (gnn-models(7)). */
static void print_surroundings(const json_t *a)
{
    size_t i;
    json_t *x;
    if (json_object_get(a, "encoder"))
        printf(", encoder %lld", whole_of(a, "encoder"));
    if (json_object_get(a, "activation"))
        printf(", %s", text_of(a, "activation"));
    if (json_is_true(json_object_get(a, "ffn")))
        printf(", feed-forward blocks");
    if (json_is_true(json_object_get(a, "residual_projection")))
        printf(", residual projection");
    if (json_object_get(a, "jk"))
        printf(", jumping knowledge %s", text_of(a, "jk"));
    json_array_foreach(json_object_get(a, "head"), i, x)
        printf("%s%lld", i ? ", " : ", head ", (long long)json_integer_value(x));
}

/* ", not in layer 0, 1": where edges of type r are left out. */
static void print_untrained(const json_t *layers, json_int_t r)
{
    unsigned n = 0;
    size_t l, k;
    json_t *list, *x;
    json_array_foreach((json_t *)(uintptr_t)layers, l, list) json_array_foreach(list, k, x)
    {
        if (json_integer_value(x) == r)
            printf("%s%zu", n++ ? ", " : ", left out in layer ", l);
    }
}

static void print_architecture(const json_t *a)
{
    const json_t *node_types = json_object_get(a, "node_types");
    size_t i;
    json_t *x;
    if (json_object_get(a, "unknown")) {
        printf("  layers not known: %s\n", text_of(a, "unknown"));
        return;
    }
    printf("  layers %s, widths", text_of(a, "kind"));
    json_array_foreach(json_object_get(a, "width"), i, x)
        printf("%s%lld", i ? ", " : " ", (long long)json_integer_value(x));
    print_options(a);
    print_surroundings(a);
    printf("%s%s%s%s%s\n", json_is_true(json_object_get(a, "layer_norm")) ? ", layer norm" : "",
           json_is_true(json_object_get(a, "batch_norm")) ? ", batch norm" : "",
           json_is_true(json_object_get(a, "residual")) ? ", residual" : "",
           !strcmp(text_of(a, "feature_norm"), "row") ? ", features divided by their sum" : "",
           json_is_true(json_object_get(a, "guessed")) ? "; inferred from names and shapes" : "");
    if (json_object_get(a, "task"))
        printf("  task   %s of %s\n", text_of(a, "task"),
               text_of(json_array_get(node_types, (size_t)whole_of(a, "target")), "name"));
    json_array_foreach((json_t *)(uintptr_t)node_types, i, x)
        printf("  nodes  %-24s %12lld feature%s\n", text_of(x, "name"), whole_of(x, "features"),
               gnn_plural((unsigned long long)whole_of(x, "features")));
    json_array_foreach(json_object_get(a, "edge_types"), i, x)
    {
        const json_t *src =
            json_array_get(node_types, (size_t)json_integer_value(json_array_get(x, 0)));
        const json_t *dst =
            json_array_get(node_types, (size_t)json_integer_value(json_array_get(x, 2)));
        printf("  edges  %s/%s/%s", text_of(src, "name"), text_of(json_array_get(x, 1), NULL),
               text_of(dst, "name"));
        print_untrained(json_object_get(a, "untrained"), (json_int_t)i);
        putchar('\n');
    }
}

/* What the model's file says of its batches. */
static void print_recipe(const json_t *t)
{
    const json_t *sampling = json_object_get(t, "sampling");
    size_t i;
    json_t *x;
    printf("  trained on graph %s, set", text_of(t, "graph"));
    json_array_foreach(json_object_get(sampling, "splits"), i, x) printf(i > 1 ? ", %s"
                                                                         : i   ? "; evaluated on %s"
                                                                               : " %s",
                                                                         text_of(x, "name"));
    if (json_object_get(t, "dtype"))
        printf("; features converted to %s", text_of(t, "dtype"));
    printf("%s\n", json_is_true(json_object_get(t, "full_batch")) ? "; full batches" : "");
}

static void print_training(const json_t *t)
{
    if (!json_is_true(json_object_get(t, "any")))
        printf("  state  before the first step");
    else
        printf("  state  after epoch %lld, step %lld%s", whole_of(t, "epoch"), whole_of(t, "step"),
               json_is_true(json_object_get(t, "epoch_complete")) ? ", the epoch complete" : "");
    printf("; %lld step%s of the optimiser%s\n", whole_of(t, "optimizer_steps"),
           gnn_plural((unsigned long long)whole_of(t, "optimizer_steps")),
           json_is_true(json_object_get(t, "stopped_early")) ? ", stopped early" : "");
    if (json_object_get(t, "best"))
        printf("  best   epoch %lld, %s %.6g, %lld epoch%s since\n", whole_of(t, "best_epoch"),
               text_of(t, "metric"), real_of(t, "best"), whole_of(t, "epochs_since_best"),
               gnn_plural((unsigned long long)whole_of(t, "epochs_since_best")));
    printf("  optimizer %s, lr %g, schedule %s\n", text_of(t, "optimizer"), real_of(t, "lr"),
           text_of(t, "schedule"));
}

void inspect_text_model(const json_t *r)
{
    const json_t *p = json_object_get(r, "parameters");
    size_t i;
    json_t *x;
    printf("%s %s: %s, %s\n", text_of(r, "kind"), text_of(r, "path"),
           human_bytes(real_of(r, "bytes")),
           json_is_true(json_object_get(r, "checksum")) ? "checksum correct"
                                                        : "no checksum, not verified");
    print_architecture(json_object_get(r, "architecture"));
    printf("  parameters %lld number%s in %lld tensor%s, %s\n", whole_of(p, "numbers"),
           gnn_plural((unsigned long long)whole_of(p, "numbers")), whole_of(p, "tensors"),
           gnn_plural((unsigned long long)whole_of(p, "tensors")),
           human_bytes(real_of(p, "bytes")));
    if (json_object_get(r, "trained_on"))
        print_recipe(json_object_get(r, "trained_on"));
    if (json_object_get(r, "training"))
        print_training(json_object_get(r, "training"));
    json_array_foreach(json_object_get(r, "provenance"), i, x)
        printf("  by     %s\n", text_of(x, NULL));
    if (json_object_get(r, "tensors"))
        print_tensors(json_object_get(r, "tensors"));
    else
        printf("  -t lists the tensors\n");
}

void inspect_text_proofs(const json_t *r)
{
    size_t i;
    json_t *x;
    json_array_foreach(json_object_get(r, "proved"), i, x) printf("ok  %s\n", text_of(x, NULL));
}

/* One kind of leak, if it was counted; with -q only if there is one. */
static void print_leak(const json_t *r, const char *key, const char *what, const char *of)
{
    const json_t *leak = json_object_get(r, key);
    if (!leak || (!whole_of(leak, "count") && common.verbose < 0))
        return;
    printf("%s: %lld%s", what, whole_of(leak, "count"), of);
    if (whole_of(leak, "count"))
        printf("; first: %s", text_of(leak, "first"));
    putchar('\n');
}

void inspect_text_leaks(const json_t *r)
{
    char of[96], links[96];
    snprintf(of, sizeof of, " of %lld in %lld batches", whole_of(r, "edges"),
             whole_of(r, "batches"));
    snprintf(links, sizeof links, " of %lld, which are%s strict", whole_of(r, "negatives"),
             json_is_true(json_object_get(r, "strict")) ? "" : " not");
    print_leak(r, "future_edges", "edges of the future", of);
    print_leak(r, "shared_seeds", "nodes that are seeds in several sets", "");
    print_leak(r, "link_edges", "edges that are links of their batch", of);
    print_leak(r, "reverse_edges", "edges that are reverses of links of their batch", of);
    print_leak(r, "short_ends", "ends of links with fewer edges than others would have", "");
    print_leak(r, "true_negatives", "negatives that are edges", links);
    print_leak(r, "strayed_negatives", "negatives of another tree or time than their link", "");
    print_leak(r, "overlapping_sets", "nodes in several sets of one split of the store", "");
    print_leak(r, "shared_links", "links in several sets of one split of the store", "");
    print_leak(r, "link_messages",
               "edges of the store that are links of valid or test, or reverses", "");
}

void inspect_text_diff(const json_t *d)
{
    if (json_is_true(json_object_get(d, "equal")))
        return;
    printf("%s: %s | %s\n", text_of(d, "where"), text_of(d, "a"), text_of(d, "b"));
}
