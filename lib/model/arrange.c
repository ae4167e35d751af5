/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/arrange.h"

#include <string.h>

#include "lib/base/mem.h"

static uint32_t find_ntype(const struct gnn_model_config *c, const char *name)
{
    uint32_t t = 0;
    while (t < c->nntypes && strcmp(c->ntype[t].name, name) != 0)
        t++;
    return t;
}

static uint32_t find_etype(const struct gnn_model_config *c, uint32_t src, const char *rel,
                           uint32_t dst)
{
    uint32_t r = 0;
    while (r < c->netypes &&
           !(c->etype[r].src == src && c->etype[r].dst == dst && !strcmp(c->etype[r].rel, rel)))
        r++;
    return r;
}

/* nt[t], et[r]: which of the model's types the graph's are. false: not all are there. */
static bool find_types(const struct gnn_model_config *c, const struct gnn_schema *s, uint32_t *nt,
                       uint32_t *et, bool *same)
{
    *same = true;
    for (uint32_t t = 0; t < s->nntypes; t++) {
        nt[t] = find_ntype(c, s->ntype[t].name);
        *same = *same && nt[t] == t;
        if (nt[t] == c->nntypes)
            return false;
    }
    for (uint32_t r = 0; r < s->netypes; r++) {
        const struct gnn_etype *x = &s->etype[r];
        et[r] = find_etype(c, nt[x->src], x->rel, nt[x->dst]);
        *same = *same && et[r] == r;
        if (et[r] == c->netypes)
            return false;
    }
    return true;
}

/* The lists of c in another order, from copies of what they were. */
static void move_types(struct gnn_model_config *c, const struct gnn_schema *s, const uint32_t *nt,
                       const uint32_t *et, const struct gnn_model_ntype *ntype,
                       const struct gnn_model_etype *etype, const bool *untrained)
{
    const uint32_t target = c->target, heads = c->heads, ne = c->netypes;
    for (uint32_t t = 0; t < c->nntypes; t++) {
        c->ntype[t] = ntype[nt[t]];
        if (nt[t] == target)
            c->target = t;
        if (c->decoder && nt[t] == heads)
            c->heads = t;
    }
    for (uint32_t r = 0; r < ne; r++) {
        c->etype[r] = etype[et[r]];
        c->etype[r].src = s->etype[r].src;
        c->etype[r].dst = s->etype[r].dst;
    }
    for (uint64_t i = 0; c->untrained && i < (uint64_t)c->nlayers * ne; i++)
        c->untrained[i] = untrained[i / ne * ne + et[i % ne]];
}

static void *copy_list(const void *list, uint64_t n, size_t size, struct gnn_err *e)
{
    void *to = gnn_alloc(n, size, "types", e);
    if (to && list)
        memcpy(to, list, n * size);
    return to;
}

int gnn_model_arrange(struct gnn_model_config *c, const struct gnn_schema *s, uint32_t **order,
                      struct gnn_err *e)
{
    const uint64_t n = (uint64_t)c->nlayers * c->netypes;
    bool same = true;
    *order = NULL;
    if (s->nntypes != c->nntypes || s->netypes != c->netypes)
        return 0;
    uint32_t *nt = gnn_alloc(c->nntypes, sizeof *nt, "types", e),
             *et = gnn_alloc(c->netypes, sizeof *et, "types", e);
    struct gnn_model_ntype *ntype = copy_list(c->ntype, c->nntypes, sizeof *ntype, e);
    struct gnn_model_etype *etype = copy_list(c->etype, c->netypes, sizeof *etype, e);
    bool *untrained = copy_list(c->untrained, n, sizeof *untrained, e);
    if (!e->code && find_types(c, s, nt, et, &same) && !same) {
        move_types(c, s, nt, et, ntype, etype, untrained);
        *order = et;
        et = NULL;
    }
    gnn_free(nt);
    gnn_free(et);
    gnn_free(ntype);
    gnn_free(etype);
    gnn_free(untrained);
    return e->code;
}

int gnn_model_arrange_params(struct gnn_model *m, const uint32_t *order, struct gnn_err *e)
{
    const uint32_t ne = m->c.netypes;
    for (uint32_t i = 0; i < m->nparams; i++) {
        const struct gnn_param *p = &m->param[i];
        if (!p->relations)
            continue;
        const uint64_t size = p->count / p->shape[0]; /* of a part; those of each head follow */
        float *was = copy_list(m->slab + p->at, p->count, sizeof *was, e);
        if (!was)
            return e->code;
        for (uint32_t k = 0; k < p->shape[0]; k++)
            memcpy(m->slab + p->at + k * size, was + (k / ne * ne + order[k % ne]) * size,
                   size * sizeof *was);
        gnn_free(was);
    }
    return 0;
}
