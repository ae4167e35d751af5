/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a split of links: what stores of it say, and their parts (lib/import/link_part.h). */
#include "lib/import/link_split.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/xxh.h"
#include "lib/base/mem.h"
#include "lib/data/tensors.h"
#include "lib/import/link_part.h"
#include "lib/store/base_store.h"

/* What all splits have in common that are the same but for the partitions of their base. */
static void name_graph(const struct gnn_link_writing *k, char out[17])
{
    XXH3_state_t h;
    const struct gnn_schema *c = &k->s->meta.schema;
    char key[GNN_ETYPE_KEY_CAPACITY];
    XXH3_64bits_reset(&h);
    XXH3_64bits_update(&h, gnn_meta_graph(&k->s->meta), 16);
    for (uint32_t i = 0; i < k->x->ntypes; i++) {
        const struct link_edge_sets *t = &k->x->edges[i];
        gnn_etype_key(c, t->etype, key, sizeof key);
        XXH3_64bits_update(&h, key, strlen(key) + 1);
        XXH3_64bits_update(&h, t->of, t->n);
    }
    for (uint32_t i = GNN_LINKS_TRAIN + 1; i < GNN_LINK_SETS; i++)
        if (k->x->carries[i])
            XXH3_64bits_update(&h, gnn_link_set_name[i], strlen(gnn_link_set_name[i]) + 1);
    /* What files list follows from these, not from the edges. */
    for (uint32_t i = 0; i < LINK_WRITTEN_SETS; i++) {
        const struct link_members *m = link_members_of(k, i);
        if (i < GNN_LINK_SETS ? !k->x->listed : !m->n)
            continue;
        if (i >= GNN_LINK_SETS && link_sets_vary(k->x, i - GNN_LINK_SETS))
            XXH3_64bits_update(&h, GNN_RAGGED_SPLIT, sizeof GNN_RAGGED_SPLIT);
        XXH3_64bits_update(&h, &m->n, sizeof m->n);
        XXH3_64bits_update(&h, m->ends, 2 * m->n * sizeof *m->ends);
        if (m->time)
            XXH3_64bits_update(&h, m->time, m->n * sizeof *m->time);
    }
    snprintf(out, 17, "%016llx", (unsigned long long)XXH3_64bits_digest(&h));
}

static int add_set(const struct gnn_link_writing *k, uint32_t i, struct gnn_meta *m,
                   struct gnn_err *e)
{
    struct gnn_schema *c = &m->schema;
    const uint32_t etype = k->x->edges[0].etype;
    if (gnn_schema_add_links(c, link_split_of(k, i), gnn_link_set_name[i % GNN_LINK_SETS], etype,
                             link_time_of(k, i), link_members_of(k, i)->n, e))
        return e->code;
    struct gnn_split_set *set = &c->set[c->nsets - 1];
    set->fields = link_members_of(k, i)->id && c->etype[etype].nfields > 0;
    set->messages = i > GNN_LINKS_TRAIN && i < GNN_LINK_SETS && k->x->carries[i];
    return 0;
}

static int make_meta(struct gnn_link_writing *k, struct gnn_meta *m, const char *path,
                     const char *provenance, struct gnn_err *e)
{
    if (gnn_meta_copy(m, &k->s->meta, e))
        return e->code;
    char *target = gnn_temp_target(path, true, e);
    m->base.path = target ? gnn_base_name_from(target, k->s->path, e) : NULL;
    memcpy(m->base.identity, k->s->meta.identity, sizeof m->base.identity);
    gnn_free(target);
    name_graph(k, m->graph);
    for (uint32_t i = 0; i < k->x->ntypes; i++) {
        const struct gnn_etype *t = &m->schema.etype[k->x->edges[i].etype];
        m->schema.etype[k->x->edges[i].etype].count = k->kept[i][m->schema.ntype[t->dst].count];
    }
    for (uint32_t i = 0; i < LINK_WRITTEN_SETS && !e->code; i++)
        if (link_members_of(k, i)->n)
            (void)!add_set(k, i, m, e);
    return e->code ? e->code : gnn_meta_add_provenance(m, provenance, e);
}

static int write_store(struct gnn_link_writing *k, const char *path, bool force,
                       const char *provenance, struct gnn_err *e)
{
    struct gnn_meta meta = {0};
    int rc = gnn_link_writing_init(k, e);
    if (!rc)
        rc = make_meta(k, &meta, path, provenance, e);
    if (!rc)
        rc = gnn_store_create(&k->w, path, &meta, force, e);
    for (; !rc && k->part < k->s->nparts; k->part++)
        rc = gnn_link_part_write(k, e);
    if (!rc)
        rc = gnn_store_verified(k->s, e);
    if (!rc)
        rc = gnn_store_commit(&k->w, e);
    gnn_store_abandon(&k->w);
    gnn_meta_release(&meta);
    return rc;
}

/* What cannot be split again. */
static int check_store(const struct gnn_store *s, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    if (s->base)
        return gnn_fail(e, GNN_E_USAGE,
                        "--split-links: %s is a split of %s: split that store, or make this one "
                        "complete (gnn-partition)",
                        s->path, s->base->path);
    for (uint32_t i = 0; i < c->nsets; i++)
        if (!strcmp(c->set[i].split, GNN_LINK_SPLIT))
            return gnn_fail(e, GNN_E_USAGE, "--split-links: %s has a split '%s' already", s->path,
                            GNN_LINK_SPLIT);
    return 0;
}

int gnn_link_split_write(struct gnn_store *s, const struct gnn_link_split_opts *o, const char *path,
                         bool force, const char *provenance, struct gnn_link_split_stats *st,
                         struct gnn_err *e)
{
    struct gnn_view v = {0};
    struct link_sets x = {0};
    struct gnn_link_writing k = {.s = s, .x = &x};
    *st = (struct gnn_link_split_stats){.rev = -1};
    if (!check_store(s, e) && !gnn_view_init(&v, s, e) && !gnn_link_sets_init(&x, &v, o, e) &&
        !gnn_link_sets_messages(&x, o, e) && !gnn_link_sets_negatives(&x, o, e) &&
        !write_store(&k, path, force, provenance, e)) {
        const struct gnn_schema *c = &s->meta.schema;
        *st = (struct gnn_link_split_stats){.etype = x.edges[0].etype,
                                            .rev = x.ntypes > 1 ? (int)x.edges[1].etype : -1,
                                            .symmetric = x.symmetric,
                                            .timed = x.time,
                                            .pairs = x.pairs,
                                            .listed = x.listed,
                                            .unlisted = x.unlisted};
        snprintf(st->unread, sizeof st->unread, "%s", x.archive.unread);
        for (int i = 0; i < GNN_LINK_SETS; i++) {
            st->set[i] = x.set[i].n;
            st->kept[i] = k.of_set[i];
            st->absent[i] = x.absent[i];
            st->again[i] = x.again[i];
            st->same[i] = x.same[i];
            st->each[i] = x.each[i];
            st->given[i] = x.set[i].n && x.each[i] ? x.given[i].n / x.set[i].n : x.given[i].n;
            st->fewest[i] = x.fewest[i];
            st->most[i] = x.most[i];
        }
        st->messages = k.kept[0][c->ntype[c->etype[st->etype].dst].count];
        st->rev_messages = st->rev < 0 ? 0 : k.kept[1][c->ntype[c->etype[st->rev].dst].count];
    }
    gnn_link_writing_release(&k);
    gnn_link_sets_release(&x);
    gnn_view_release(&v);
    return e->code;
}
