/* SPDX-License-Identifier: Apache-2.0 */
/* Generator specifications: NAME:key=value,... */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/import/generate/gen.h"
#include "lib/base/suggest.h"

struct values {
    double nodes, edges, degree, classes, features, types, homophily, signal, flip, train, valid,
        seed;
    double scale, factor, a, b, c, community, weights, times, directed, targets, dtype;
};

/* Which generator takes the key (bit = kind), where its value goes, and the range. */
enum {
    R = 1 << GNN_GEN_RMAT,
    S = 1 << GNN_GEN_SBM,
    P = 1 << GNN_GEN_PRODUCTS,
    I = 1 << GNN_GEN_IGBH
};
#define AT(f) offsetof(struct values, f)
static const struct {
    const char *key;
    unsigned kinds;
    size_t at;
    double min, max;
    bool whole;
} keys[] = {
    {"nodes", S, AT(nodes), 1, 4294967294.0, true},
    {"classes", R | S | I, AT(classes), 0, 65535, true},
    {"degree", S, AT(degree), 0, 1e6, false},
    {"features", R | S | P | I, AT(features), 0, 65536, true},
    {"types", S, AT(types), 1, 64, true},
    {"homophily", S | P | I, AT(homophily), 0, 1, false},
    {"signal", R | S | P | I, AT(signal), 0, 1000, false},
    {"flip", R | S | P | I, AT(flip), 0, 1, false},
    {"train", R | S | I, AT(train), 0, 1, false},
    {"valid", R | S | I, AT(valid), 0, 1, false},
    {"weights", R | S | P, AT(weights), 0, 1, true},
    {"times", R | S | P, AT(times), 0, 1, true},
    {"targets", R | S | P, AT(targets), 0, 4096, true},
    {"seed", R | S | P | I, AT(seed), 0, 9007199254740992.0, true},
    {"dtype", I, AT(dtype), 16, 32, true},
    {"edges", R, AT(factor), 0, 1e6, false},
    {"a", R, AT(a), 0, 1, false},
    {"b", R, AT(b), 0, 1, false},
    {"c", R, AT(c), 0, 1, false},
    {"scale", R | P | I, AT(scale), 0, 1000, false},
};

static const char *const names[] = {"rmat", "sbm", "products", "igbh"};

static int kind_of(const char *s)
{
    for (int k = 0; k < 4; k++) {
        size_t n = strlen(names[k]);
        if (!strncmp(s, names[k], n) && s[n] == ':')
            return k;
    }
    return -1;
}

bool gnn_gen_is(const char *input)
{
    return kind_of(input) >= 0;
}

static int no_key(int kind, const char *key, size_t n, struct gnn_err *e)
{
    char word[GNN_SUGGEST_WORD];
    struct gnn_suggest s = {.word = word};
    snprintf(word, sizeof word, "%.*s", (int)n, key);
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        if (keys[k].kinds >> kind & 1)
            gnn_suggest_add(&s, keys[k].key);
    return gnn_fail(e, GNN_E_USAGE, "%s: no parameter '%s'%s", names[kind], word,
                    gnn_suggest_text(&s, "parameters"));
}

static int parse_pairs(int kind, const char *spec, struct values *v, struct gnn_err *e)
{
    const char *s = strchr(spec, ':') + 1;
    while (*s) {
        size_t len = strcspn(s, ","), klen = strcspn(s, "=,");
        unsigned k = 0, nkeys = sizeof keys / sizeof *keys;
        while (k < nkeys && !(strlen(keys[k].key) == klen && !strncmp(keys[k].key, s, klen) &&
                              (keys[k].kinds >> kind & 1)))
            k++;
        if (k == nkeys)
            return no_key(kind, s, klen, e);
        char text[64], *end = text;
        double x = 0;
        if (s[klen] == '=' && len > klen + 1 && len - klen - 1 < sizeof text) {
            memcpy(text, s + klen + 1, len - klen - 1);
            text[len - klen - 1] = 0;
            x = strtod(text + (*text == 'f' && keys[k].at == AT(dtype)), &end);
            static const char suffix[] = "kMGT";
            const char *k1000 =
                end > text && *end && !end[1] ? strchr(suffix, *end == 'K' ? 'k' : *end) : NULL;
            for (const char *c = suffix; k1000 && c <= k1000; c++)
                x *= 1000;
            end += k1000 != NULL;
        }
        if (end == text || *end || !(x >= keys[k].min && x <= keys[k].max) ||
            (keys[k].whole && x != floor(x)))
            return gnn_fail(e, GNN_E_USAGE, "%s: '%.*s': expected %s from %.16g to %.16g",
                            names[kind], (int)len, s, keys[k].whole ? "a whole number" : "a number",
                            keys[k].min, keys[k].max);
        *(double *)((char *)v + keys[k].at) = x;
        s += len;
        if (*s == ',' && !*++s)
            return gnn_fail(e, GNN_E_USAGE, "%s: '%s' ends in a comma", names[kind], spec);
    }
    return GNN_OK;
}

static int parse_igbh(struct gnn_gen_params *p, const struct values *v, struct gnn_err *e)
{
    if (v->scale < 1e-7 || v->scale > 10)
        return gnn_fail(e, GNN_E_USAGE, "igbh: scale is from 1e-07 to 10");
    if (v->classes < 1)
        return gnn_fail(e, GNN_E_USAGE, "igbh: classes must be from 1 to 65535");
    if (v->dtype != 16 && v->dtype != 32)
        return gnn_fail(e, GNN_E_USAGE, "igbh: dtype is f16 or f32");
    if (v->train + v->valid > 1)
        return gnn_fail(e, GNN_E_USAGE, "igbh: train + valid is more than 1");
    p->factor = v->scale;
    p->share[0] = v->train;
    p->share[1] = v->valid;
    p->wide = v->dtype == 32;
    return GNN_OK;
}

static uint64_t at_least(double x, uint64_t min)
{
    uint64_t n = (uint64_t)(x + 0.5);
    return n < min ? min : n;
}

int gnn_gen_parse(struct gnn_gen_params *p, const char *spec, struct gnn_err *e)
{
    int kind = kind_of(spec);
    if (kind < 0)
        return gnn_fail(e, GNN_E_USAGE, "'%s' is not a generator", spec);
    struct values v = {.nodes = 1000,
                       .degree = 10,
                       .classes = -1,
                       .features = 16,
                       .types = 1,
                       .homophily = 0.8,
                       .signal = 0.35,
                       .flip = 0,
                       .train = 0.6,
                       .valid = 0.2,
                       .seed = -1,
                       .scale = 14,
                       .factor = 16,
                       .a = 0.57,
                       .b = 0.19,
                       .c = 0.19};
    if (kind == GNN_GEN_RMAT)
        v.classes = v.features = 0;
    if (kind == GNN_GEN_PRODUCTS) {
        v.scale = 1, v.classes = 47, v.features = 100;
        v.homophily = 0.7, v.signal = 0.15, v.flip = 0.08;
    }
    if (kind == GNN_GEN_IGBH) {
        v.scale = 1, v.classes = 2983, v.features = 1024, v.dtype = 16;
        v.homophily = 0.6, v.signal = 0.05;
    }
    int rc = parse_pairs(kind, spec, &v, e);
    if (rc)
        return rc;
    if (v.classes < 0)
        v.classes = v.nodes < 4 ? v.nodes : 4;
    *p = (struct gnn_gen_params){.kind = (enum gnn_gen_kind)kind,
                                 .name = names[kind],
                                 .types = (uint32_t)v.types,
                                 .classes = (uint32_t)v.classes,
                                 .features = (uint32_t)v.features,
                                 .homophily = v.homophily,
                                 .signal = v.signal,
                                 .flip = v.flip,
                                 .weights = v.weights > 0,
                                 .times = v.times > 0,
                                 .targets = (uint32_t)v.targets,
                                 .seed_given = v.seed >= 0,
                                 .seed = v.seed >= 0 ? (uint64_t)v.seed : 0,
                                 .mirror = true};
    if (kind == GNN_GEN_IGBH)
        return parse_igbh(p, &v, e);
    if (kind == GNN_GEN_SBM) {
        if (v.classes < 1 || v.classes > v.nodes)
            return gnn_fail(e, GNN_E_USAGE, "sbm: classes must be from 1 to the number of nodes");
        p->nodes = (uint64_t)v.nodes;
        p->edges = v.nodes < 2 || v.degree <= 0
                       ? 0
                       : at_least(v.nodes * v.degree / 2, 1); /* there are no loops */
    } else if (kind == GNN_GEN_RMAT) {
        if (v.scale != floor(v.scale) || v.scale > 31)
            return gnn_fail(e, GNN_E_USAGE, "rmat: scale is a whole number from 0 to 31");
        if (v.a + v.b + v.c > 1)
            return gnn_fail(e, GNN_E_USAGE, "rmat: a + b + c is more than 1");
        p->mirror = false;
        p->scale = (uint32_t)v.scale;
        p->nodes = 1ull << p->scale;
        p->edges = v.factor > 0 ? at_least((double)p->nodes * v.factor, 1) : 0;
        p->quad[0] = (uint32_t)(v.a * 65536), p->quad[1] = (uint32_t)(v.b * 65536);
        p->quad[2] = (uint32_t)(v.c * 65536);
    } else {
        if (v.scale < 1e-6 || v.scale > 30)
            return gnn_fail(e, GNN_E_USAGE, "products: scale is from 1e-06 to 30");
        p->nodes = at_least(2449029 * v.scale, 2);
        p->edges = at_least(61859140 * v.scale, 1);
        p->community = 800;
        p->skewed = true;
        v.train = 196615.0 / 2449029, v.valid = 39323.0 / 2449029;
    }
    if (v.targets > 0 && v.classes < 1)
        return gnn_fail(e, GNN_E_USAGE, "%s: targets requires classes", names[kind]);
    if (v.train + v.valid > 1)
        return gnn_fail(e, GNN_E_USAGE, "%s: train + valid is more than 1", names[kind]);
    p->train = (uint64_t)((double)p->nodes * v.train + 0.5);
    p->valid = (uint64_t)((double)p->nodes * v.valid + 0.5);
    if (p->train + p->valid > p->nodes)
        p->valid = p->nodes - p->train;
    if (p->edges >> 48) /* leaves space for what is made of it */
        return gnn_fail(e, GNN_E_USAGE, "%s: too many edges", names[kind]);
    return GNN_OK;
}
