/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/data/recipe.h"

#include <string.h>

#include "lib/base/json.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"

char *gnn_recipe_text(const struct gnn_meta *m, bool full, struct gnn_err *e)
{
    /* Neither changes what is trained; the graph's identity is that of all its partitions. */
    struct gnn_meta same = *m;
    same.sampling.edge_ids = same.sampling.original_ids = false;
    same.sampling.rank = same.sampling.ranks = 0;
    json_t *sampling = gnn_meta_sampling_json(&same, e);
    if (!sampling)
        return NULL;
    gnn_json_watch();
    json_t *j = json_pack("{s:s, s:o}", "graph", gnn_meta_graph(m), "sampling", sampling);
    if (j && full)
        json_object_set_new(j, "full_batch", json_true());
    char *text = j && !gnn_json_starved() ? gnn_json_text(j, JSON_COMPACT, e) : NULL;
    if (!text && !e->code)
        gnn_fail_nomem(e, 0, "the record of the training");
    json_decref(j);
    return text;
}

/* False: not a dtype that features are converted to. */
static bool read_dtype(struct gnn_recipe *r)
{
    const json_t *name = json_object_get(r->j, "dtype");
    const char *word = json_string_value(name);
    const enum gnn_dtype d = word ? gnn_dtype_parse(word) : 0;
    r->dtype = d == GNN_F16 || d == GNN_BF16 ? d : 0;
    return !name || r->dtype;
}

int gnn_recipe_parse(struct gnn_recipe *r, const char *text, const char *path, struct gnn_err *e)
{
    *r = (struct gnn_recipe){0};
    if (!(r->j = gnn_json_parse(text, strlen(text), path, e)))
        return e->code;
    const char *graph = json_string_value(json_object_get(r->j, "graph"));
    r->sampling = json_object_get(r->j, "sampling");
    r->full = json_is_true(json_object_get(r->j, "full_batch"));
    const bool good = graph && strlen(graph) == sizeof r->graph - 1 && gnn_recipe_set(r, 0),
               known = read_dtype(r);
    if (good && known) {
        memcpy(r->graph, graph, sizeof r->graph);
        return 0;
    }
    gnn_recipe_release(r);
    return gnn_fail(e, GNN_E_INPUT, "%s: damaged: the record of the training has no %s", path,
                    good ? "dtype of features" : "graph or set");
}

char *gnn_recipe_arrange(const char *text, const char *path, const uint32_t *order, uint32_t n,
                         struct gnn_err *e)
{
    struct gnn_recipe r;
    json_t *hop;
    size_t i;
    if (!order)
        return gnn_strdup(text, e);
    if (gnn_recipe_parse(&r, text, path, e))
        return NULL;
    gnn_json_watch();
    json_t *hops = json_object_get(r.sampling, "fanout");
    json_array_foreach(hops, i, hop)
    {
        json_t *to = json_array();
        for (uint32_t k = 0; k < n; k++)
            json_array_append(to, json_array_get(hop, order[k]));
        json_array_set_new(hops, i, to);
    }
    char *out = gnn_json_starved() ? NULL : gnn_json_text(r.j, JSON_COMPACT, e);
    if (!out && !e->code)
        gnn_fail_nomem(e, 0, "the record of the training");
    gnn_recipe_release(&r);
    return out;
}

void gnn_recipe_release(struct gnn_recipe *r)
{
    json_decref(r->j);
    *r = (struct gnn_recipe){0};
}

const char *gnn_recipe_set(const struct gnn_recipe *r, uint32_t i)
{
    const json_t *set = json_array_get(json_object_get(r->sampling, "splits"), i);
    return json_string_value(json_object_get(set, "name"));
}

/* Takes over the text and the value. */
static char *set_member(char *text, const char *key, json_t *value, struct gnn_err *e)
{
    char *with = NULL;
    json_t *j = gnn_json_parse(text, strlen(text), "a recipe", e);
    if (!j)
        json_decref(value);
    if (j && json_object_set_new(j, key, value))
        gnn_fail_nomem(e, 0, "the record of the training");
    else if (j)
        with = gnn_json_text(j, JSON_COMPACT, e);
    json_decref(j);
    gnn_free(text);
    return with;
}

char *gnn_recipe_at(char *text, uint64_t epoch, struct gnn_err *e)
{
    return set_member(text, "epoch", json_integer((json_int_t)epoch), e);
}

char *gnn_recipe_narrowed(char *text, enum gnn_dtype dtype, struct gnn_err *e)
{
    return dtype ? set_member(text, "dtype", json_string(gnn_dtype_name(dtype)), e) : text;
}

/* Whether a member of one is that of the other, without `but`. */
static bool same_member(const json_t *a, const json_t *b, const char *key, const char *but)
{
    json_t *x = json_copy(json_object_get(a, key)), *y = json_copy(json_object_get(b, key));
    json_object_del(x, but);
    json_object_del(y, but);
    const bool same = x && y ? json_equal(x, y) : x == y;
    json_decref(x);
    json_decref(y);
    return same;
}

const struct gnn_sampling_member *gnn_recipe_differs(const struct gnn_recipe *r,
                                                     const json_t *other)
{
    const struct gnn_sampling_member *last = NULL; /* what implies others comes after them */
    EACH_MEMBER(x)
    {
        const char *key = x->group ? x->group : x->key;
        const bool same =
            !x->lacks || (x->kind == GNN_MEMBER_U32
                              ? !json_object_get(r->sampling, key) == !json_object_get(other, key)
                              : same_member(r->sampling, other, key, "seeds"));
        last = same ? last : x;
    }
    return last;
}

const char *gnn_recipe_links(const struct gnn_recipe *r)
{
    return json_string_value(json_object_get(json_object_get(r->sampling, "links"), "type"));
}

int gnn_recipe_take_links(struct gnn_recipe *r, const struct gnn_meta *m,
                          const struct gnn_given *given, bool pairs, struct gnn_err *e)
{
    json_t *from = gnn_meta_sampling_json(m, e), *to = json_object_get(r->sampling, "links");
    if (!from)
        return e->code;
    gnn_json_watch();
    EACH_MEMBER(x)
    {
        if (!x->group || strcmp(x->group, "links") != 0)
            continue;
        json_t *value = json_object_get(json_object_get(from, "links"), x->key);
        if (!x->option) { /* of a file of training */
            json_object_del(to, x->key);
            continue;
        }
        const bool has = given->has(given->arg, x->option);
        if (value && (!strcmp(x->key, "type") || has))
            json_object_set(to, x->key, value);
        r->changed |= has;
        /* Sets that are evaluated are the ones that are sampled. */
        if (!strcmp(x->key, "eval_negatives")) {
            json_t *evaluated = json_object_get(to, x->key);
            if (evaluated && !given->has(given->arg, "negatives"))
                json_object_set(to, "negatives", evaluated);
            json_object_del(to, x->key);
        }
        /* As the header of a stream of pairs has it. */
        if (pairs && (!strcmp(x->key, "negatives") || !strcmp(x->key, "eval_negatives")))
            json_object_del(to, "negatives");
        else if (pairs && (!strcmp(x->key, "end") || !strcmp(x->key, "strict")))
            json_object_set(to, x->key, value);
        else if (pairs && !strcmp(x->key, "weight"))
            json_object_del(to, x->key);
    }
    json_decref(from);
    return gnn_json_starved() ? gnn_fail_nomem(e, 0, "the record of the training") : 0;
}

/* What a store of other partitions cannot have is said first. */
static int check_clusters(const struct gnn_recipe *r, const struct gnn_schema *c, const char *path,
                          struct gnn_err *e)
{
    const json_int_t n = json_integer_value(json_object_get(r->sampling, "clusters"));
    return n <= c->nparts
               ? 0
               : gnn_fail(e, GNN_E_INPUT,
                          "%s: was trained on batches of %lld partition%s, and the store "
                          "has %u (gnn-partition makes more)",
                          path, (long long)n, gnn_plural((uint64_t)n), c->nparts);
}

int gnn_recipe_sampling(const struct gnn_recipe *r, const struct gnn_schema *c, uint32_t target,
                        const char *path, struct gnn_meta *m, uint64_t *epoch, struct gnn_err *e)
{
    const json_t *at = json_object_get(r->j, "epoch");
    const json_int_t n = json_integer_value(at);
    struct gnn_err why = {0};
    *m = (struct gnn_meta){.is_stream = true};
    if (check_clusters(r, c, path, e) || gnn_schema_copy(&m->schema, c, e))
        return e->code;
    if (at && (!json_is_integer(at) || n < 0 || n >= (json_int_t)1 << 32))
        gnn_fail(&why, GNN_E_INPUT, "bad epoch");
    else if (json_object_set_new(r->sampling, "seed_type", json_string(c->ntype[target].name)))
        gnn_fail_nomem(&why, 0, "the record of the training");
    else
        (void)!gnn_meta_sampling_parse(m, r->sampling, &why);
    *epoch = (uint64_t)n;
    if (!why.code) { /* to predict: each seed once, in order */
        struct gnn_sampling *s = &m->sampling;
        s->shuffle = s->drop_last = s->original_ids = s->seed_balance = false;
        gnn_free((void *)(uintptr_t)s->seed_weight);
        s->seed_weight = NULL;
        return 0;
    }
    gnn_meta_release(m);
    return why.code == GNN_E_NOMEM ? gnn_fail_as(e, &why)
           : r->changed
               ? gnn_fail(e, GNN_E_USAGE, "batches as %s was trained on, with these options: %s",
                          path, why.msg)
               : gnn_fail(e, GNN_E_INPUT,
                          "%s: how the batches were sampled that it was trained on does not fit "
                          "this graph: %s",
                          path, why.msg);
}
