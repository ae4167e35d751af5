/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/inspect/redraw.h"

#include <inttypes.h>
#include <string.h>

#include "lib/data/source.h"
#include "lib/sample/sampler.h"

enum { SKIP_MAX = 64 }; /* steps that are drawn for nothing before another start is made */

/* Whether a split is a set of the store, or all links of a type, and not a file's. */
static bool has_set(const struct gnn_sampling *s, uint32_t i, const struct gnn_schema *c)
{
    if (!s->links.type)
        return gnn_sampling_find_set(s, i, c) >= 0;
    const int set = gnn_schema_find_links(c, s->links.etype, s->split[i]);
    return (!i && !strcmp(s->split[i], GNN_ALL_LINKS)) ||
           (set >= 0 && c->set[set].count == s->split_seeds[i]);
}

void gnn_redraw_init(struct gnn_redraw *r, struct gnn_store *store, const struct gnn_meta *m)
{
    const struct gnn_sampling *s = &m->sampling;
    *r = (struct gnn_redraw){.store = store, .m = m};
    if (s->ranks)
        r->why_not = "they are the share of one of several ranks";
    for (uint32_t i = 0; i < s->nsplits && !r->why_not; i++)
        if (!has_set(s, i, &store->meta.schema))
            r->why_not = "their seeds are those of no set";
}

void gnn_redraw_release(struct gnn_redraw *r)
{
    gnn_source_free(r->src);
    *r = (struct gnn_redraw){0};
}

/* A source that gives the batch with b's key, after at most the last training batch and the
 * evaluation batches before it. */
static int start_at(struct gnn_redraw *r, const struct gnn_batch *b, struct gnn_err *e)
{
    const struct gnn_sampling *s = &r->m->sampling;
    struct gnn_sampler_opts o;
    gnn_sampler_opts_init(&o);
    o.sampling = *s;
    o.split = s->split[0];
    o.eval = (const char *const *)(s->split + 1);
    o.neval = s->nsplits - 1;
    o.epoch_from = b->epoch;
    o.epoch_to = UINT64_C(1) << 32;
    o.step_first = b->split && s->steps[0] ? s->steps[0] - 1 : b->step;
    o.threads = 1;
    gnn_source_free(r->src);
    r->src = gnn_sampler_source_new(r->store, &o, e);
    return r->src ? 0 : e->code;
}

static int compare_keys(const struct gnn_batch *a, const struct gnn_batch *b)
{
    return a->epoch != b->epoch   ? (a->epoch < b->epoch ? -1 : 1)
           : a->split != b->split ? (a->split < b->split ? -1 : 1)
           : a->step != b->step   ? (a->step < b->step ? -1 : 1)
                                  : 0;
}

/* Whether the batch with b's key comes soon after a. */
static bool is_near(const struct gnn_batch *a, const struct gnn_batch *b)
{
    return a->epoch == b->epoch && a->split == b->split && b->step - a->step <= SKIP_MAX;
}

/* *drawn: the batch with b's key, if the source has it: next, soon or, with `far`, anywhere; else
 * NULL. */
static int take_drawn(struct gnn_redraw *r, const struct gnn_batch *b, bool far,
                      struct gnn_batch **drawn, struct gnn_err *e)
{
    int rc = 0;
    for (bool more = r->src; more;) {
        if ((rc = gnn_source_next(r->src, drawn, e)))
            break;
        const int order = compare_keys(*drawn, b);
        if (!order)
            return 0;
        more = order < 0 && (far || is_near(*drawn, b));
        gnn_batch_put(*drawn);
    }
    *drawn = NULL;
    return rc == GNN_END ? 0 : rc;
}

static bool is_same(const struct gnn_tensor *a, const struct gnn_tensor *b)
{
    uint64_t n;
    return b && a->dtype == b->dtype && a->ndim == b->ndim &&
           !memcmp(a->shape, b->shape, a->ndim * sizeof *a->shape) && gnn_tensor_bytes(a, &n) &&
           (!n || !memcmp(a->data, b->data, n));
}

/* Whether gnn-gather has added it. */
static bool is_gathered(const struct gnn_tensor *t)
{
    return gnn_batch_is_rows(t) || !strncmp(t->name, "node/", 5);
}

/* The first tensor that was drawn in a and that b has otherwise, or not at all; NULL: none. */
static const char *find_other(const struct gnn_batch *a, const struct gnn_batch *b)
{
    for (uint32_t i = 0; i < a->tensors.n; i++) {
        const struct gnn_tensor *t = gnn_tensors_at(&a->tensors, i);
        if (!is_gathered(t) && !is_same(t, gnn_tensors_find(&b->tensors, t->name)))
            return t->name;
    }
    return NULL;
}

int gnn_redraw_check(struct gnn_redraw *r, const struct gnn_batch *b, struct gnn_err *e)
{
    struct gnn_batch *d = NULL;
    const char *name;
    if (r->why_not)
        return 0;
    if (take_drawn(r, b, false, &d, e) ||
        (!d && (start_at(r, b, e) || take_drawn(r, b, true, &d, e))))
        return e->code;
    if (!d)
        return gnn_fail(e, GNN_E_INPUT, "is not among those that the header's recipe draws");
    if (!(name = find_other(d, b)))
        name = find_other(b, d);
    if (name)
        gnn_fail(e, GNN_E_INPUT,
                 "tensor '%s': not what the header's recipe draws from %s: changed, or of another "
                 "key or recipe",
                 name, r->store->path);
    gnn_batch_put(d);
    return e->code;
}
