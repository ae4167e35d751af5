/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/seed_names.h"

#include "lib/import/words.h"
#include "lib/store/names.h"

enum { MANY = 64 };

struct seed_names {
    struct gnn_id_names base; /* first */
    struct gnn_words words;
};

static bool find_name(const struct gnn_id_names *names, const char *text, size_t n, uint32_t *id)
{
    const struct seed_names *s = (const struct seed_names *)names;
    gnn_words_find(&s->words, &(struct gnn_word){text, n}, 1, id);
    return *id != UINT32_MAX;
}

bool gnn_seed_names_has(struct gnn_store *s, uint32_t ntype, bool keys)
{
    const struct gnn_ntype *t = &s->meta.schema.ntype[ntype];
    return gnn_store_findf(s, s->from, "node/%s/name_offsets", t->name) ||
           (keys && !gnn_field_find(t->field, t->nfields, "key") &&
            gnn_store_findf(s, s->from, "node/%s/key", t->name));
}

static int add_names(struct seed_names *n, struct gnn_store *s, uint32_t ntype,
                     const uint32_t *inverse, struct gnn_err *e)
{
    const struct gnn_ntype *nt = &s->meta.schema.ntype[ntype];
    struct gnn_names names;
    char buf[MANY][GNN_NODE_NAME_CAPACITY];
    struct gnn_word word[MANY];
    uint32_t id[MANY];
    int rc = gnn_names_init(&names, s, ntype, e);
    if (rc)
        return rc;
    for (uint64_t v = 0; !rc && v < nt->count; v += MANY) {
        const uint64_t many = nt->count - v < MANY ? nt->count - v : MANY;
        for (uint64_t i = 0; i < many; i++)
            word[i].p = gnn_names_of(&names, inverse ? inverse[v + i] : v + i, buf[i], &word[i].n);
        rc = gnn_words_add(&n->words, word, many, id, e);
        if (!rc && n->words.n != v + many)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: tensor node/%s/name: a name is there twice", s->path,
                          nt->name);
    }
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

void gnn_seed_names_free(struct gnn_id_names *names)
{
    if (names)
        gnn_words_release(&((struct seed_names *)names)->words);
    gnn_free(names);
}
