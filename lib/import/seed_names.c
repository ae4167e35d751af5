/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/seed_names.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/import/words.h"
#include "lib/store/names.h"

enum { MANY = 64 };

struct seed_names {
    struct gnn_id_names base; /* first */
    struct gnn_words words;
    struct gnn_buf id; /* u32 (words.n) whose they are; with one rank, the words' numbers say it */
};

static bool find_name(const struct gnn_id_names *names, const char *text, size_t n, uint32_t *id)
{
    const struct seed_names *s = (const struct seed_names *)names;
    gnn_words_find(&s->words, &(struct gnn_word){text, n}, 1, id);
    if (*id == UINT32_MAX)
        return false;
    if (s->id.data)
        *id = ((const uint32_t *)s->id.data)[*id];
    return true;
}

bool gnn_seed_names_has(struct gnn_store *s, uint32_t ntype, bool keys)
{
    const struct gnn_ntype *t = &s->meta.schema.ntype[ntype];
    return gnn_store_findf(s, s->from, "node/%s/name_offsets", t->name) ||
           (keys && !gnn_field_find(t->field, t->nfields, "key") &&
            gnn_store_findf(s, s->from, "node/%s/key", t->name));
}

/* Names of many nodes, as they are added together. */
struct many {
    uint32_t n;
    uint32_t id[MANY];
    struct gnn_word word[MANY];
    char buf[MANY][GNN_NODE_NAME_CAPACITY];
};

static int add_many(struct seed_names *n, struct gnn_store *s, uint32_t ntype, struct many *m,
                    struct gnn_err *e)
{
    uint32_t number[MANY];
    const uint64_t all = (uint64_t)n->words.n + m->n;
    if (s->comm->size > 1) {
        if (gnn_buf_reserve(&n->id, all, sizeof *m->id, "node names", e))
            return e->code;
        memcpy((uint32_t *)n->id.data + n->words.n, m->id, m->n * sizeof *m->id);
    }
    if (gnn_words_add(&n->words, m->word, m->n, number, e))
        return e->code;
    m->n = 0;
    return n->words.n == all
               ? 0
               : gnn_fail(e, GNN_E_INPUT, "%s: tensor node/%s/name: a name is there twice", s->path,
                          s->meta.schema.ntype[ntype].name);
}

/* Those of this rank's nodes. */
static int add_names(struct seed_names *n, struct gnn_store *s, uint32_t ntype,
                     const uint32_t *inverse, struct gnn_err *e)
{
    const uint64_t all = s->meta.schema.ntype[ntype].count;
    struct gnn_names names;
    struct many m = {.n = 0};
    int rc = gnn_names_init(&names, s, ntype, e);
    if (rc)
        return rc;
    for (uint64_t v = 0; !rc && v < all; v++) {
        const uint32_t id = inverse ? inverse[v] : (uint32_t)v;
        if (!gnn_store_owns(s, ntype, id))
            continue;
        m.id[m.n] = (uint32_t)v;
        m.word[m.n].p = gnn_names_of(&names, id, m.buf[m.n], &m.word[m.n].n);
        if (++m.n == MANY)
            rc = add_many(n, s, ntype, &m, e);
    }
    if (!rc && m.n)
        rc = add_many(n, s, ntype, &m, e);
    gnn_names_release(&names);
    return rc;
}

struct gnn_id_names *gnn_seed_names_new(struct gnn_store *s, uint32_t ntype,
                                        const uint32_t *inverse, struct gnn_err *e)
{
    struct seed_names *n = gnn_alloc_zero(1, sizeof *n, "node names", e);
    if (!n)
        return NULL;
    n->base.find = find_name;
    if (!add_names(n, s, ntype, inverse, e))
        return &n->base;
    gnn_seed_names_free(&n->base);
    return NULL;
}

static void release_names(struct seed_names *n)
{
    gnn_words_release(&n->words);
    gnn_buf_release(&n->id);
}

void gnn_seed_names_free(struct gnn_id_names *names)
{
    if (names)
        release_names((struct seed_names *)names);
    gnn_free(names);
}
