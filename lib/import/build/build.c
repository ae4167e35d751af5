/* SPDX-License-Identifier: Apache-2.0 */
/* From a data set to a store: plans the edge types, writes them, and streams the node fields. */
#include <string.h>

#include "lib/import/build/build_impl.h"
#include "lib/import/build/reverses.h"
#include "lib/import/build/node_fields.h"
#include "lib/import/nodeids.h"
#include "lib/import/build/scaling.h"
#include "lib/base/mem.h"

static int copy_etype(struct build *b, uint32_t in, uint32_t src, const char *rel, uint32_t dst,
                      unsigned mode, struct gnn_err *e)
{
    const struct gnn_etype *from = &b->d->schema.etype[in];
    uint32_t t = b->meta.schema.netypes;
    if (src == dst && b->o->loops == GNN_LOOPS_REMOVE)
        mode |= GNN_CSC_DROP_LOOPS;
    b->plan[t] = (struct plan){.in = in, .mode = mode};
    b->plan[t].add_loops = src == dst && b->o->loops == GNN_LOOPS_ADD;
    int rc = gnn_schema_add_etype(&b->meta.schema, src, rel, dst, 0, e);
    for (uint32_t f = 0; !rc && f < from->nfields; f++)
        rc = gnn_schema_add_efield(&b->meta.schema, t, from->field[f].name, from->field[f].dtype,
                                   from->field[f].width, e);
    return rc;
}

static int plan_etypes(struct build *b, struct gnn_err *e)
{
    const struct gnn_schema *in = &b->d->schema;
    bool both = (b->o->undirected || b->d->mirror) && !b->o->directed;
    b->plan = gnn_alloc_zero(2 * (uint64_t)in->netypes, sizeof *b->plan, "edge types", e);
    int rc = b->plan ? GNN_OK : GNN_E_NOMEM;
    for (uint32_t t = 0; !rc && t < in->netypes; t++) {
        const struct gnn_etype *et = &in->etype[t];
        if (!both || et->src == et->dst) {
            rc = copy_etype(b, t, et->src, et->rel, et->dst,
                            both ? GNN_CSC_FWD | GNN_CSC_REV : GNN_CSC_FWD, e);
            continue;
        }
        char *rev = gnn_strf(e, "rev_%s", et->rel);
        rc = rev ? copy_etype(b, t, et->src, et->rel, et->dst, GNN_CSC_FWD, e) : GNN_E_NOMEM;
        if (!rc)
            rc = copy_etype(b, t, et->dst, rev, et->src, GNN_CSC_REV, e);
        gnn_free(rev);
    }
    return rc;
}

static bool has_type(const struct gnn_field *field, uint32_t n, enum gnn_dtype dtype)
{
    for (uint32_t f = 0; f < n; f++)
        if (field[f].dtype == dtype && (dtype != GNN_I8 || field[f].scaled))
            return true;
    return false;
}

/* A type that features were to have, which none has. */
static int check_dtype(const struct build *b, struct gnn_err *e)
{
    const struct gnn_schema *out = &b->meta.schema;
    const enum gnn_dtype dtype = b->o->dtype;
    bool found = !dtype || dtype == GNN_F32;
    for (uint32_t t = 0; t < out->nntypes; t++)
        found = found || has_type(out->ntype[t].field, out->ntype[t].nfields, dtype);
    for (uint32_t t = 0; t < out->netypes && dtype != GNN_I8; t++)
        found = found || has_type(out->etype[t].field, out->etype[t].nfields, dtype);
    return found ? GNN_OK
                 : gnn_fail(e, GNN_E_USAGE, "--dtype: nodes of %s have no features x", b->d->name);
}

/* The store's schema: node types and fields as they are, edge types as planned, the splits. */
static int plan_schema(struct build *b, struct gnn_err *e)
{
    const struct gnn_schema *in = &b->d->schema;
    struct gnn_schema *out = &b->meta.schema;
    int rc = gnn_build_times(b, e);
    for (uint32_t t = 0; !rc && t < in->nntypes; t++) {
        const struct gnn_ntype *nt = &in->ntype[t];
        rc = gnn_schema_add_ntype(out, nt->name, nt->count, e);
        for (uint32_t f = 0; !rc && f < nt->nfields; f++) {
            rc = gnn_schema_add_nfield(out, t, nt->field[f].name, gnn_build_field(b, &nt->field[f]),
                                       nt->field[f].width, e);
            if (!rc && nt->field[f].dtype != GNN_I8 && out->ntype[t].field[f].dtype == GNN_I8)
                rc = gnn_schema_set_scaled(out, t, nt->field[f].name, e);
        }
    }
    out->task = in->task;
    out->label_ntype = in->label_ntype;
    out->nclasses = in->nclasses;
    out->nparts = 1;
    if (!rc)
        rc = plan_etypes(b, e);
    if (!rc)
        rc = check_dtype(b, e);
    if (!rc)
        rc = gnn_reverses_declare(b, e);
    if (!rc)
        rc = gnn_splits_plan(&b->splits, b->d, b->o, e);
    for (uint32_t i = 0; !rc && i < b->splits.n; i++)
        rc = gnn_schema_add_set(out, b->splits.set[i].split, b->splits.set[i].name,
                                b->splits.set[i].ntype, b->splits.set[i].count, e);
    if (!rc && in->class_name)
        rc = gnn_schema_set_classes(out, (const char *const *)in->class_name, e);
    if (!rc)
        rc = gnn_scaling_plan(b->d, b->o, &b->splits, out, e);
    b->st.columns = gnn_alloc_zero(in->nntypes, sizeof *b->st.columns, "node types", e);
    return rc ? rc : e->code;
}

/* Whether another type of the input has the reverses of those edges of type t, which joins two node
 * types. */
static bool has_reverse_type(const struct build *b, uint32_t t)
{
    const struct gnn_schema *s = &b->meta.schema;
    for (uint32_t i = 0; i < s->netypes; i++)
        if (b->plan[i].mode & GNN_CSC_FWD && s->etype[i].src == s->etype[t].src &&
            s->etype[i].dst == s->etype[t].dst && b->plan[i].read == b->plan[t].read &&
            b->plan[i].balance == b->plan[t].balance)
            return true;
    return false;
}

static void release_plan(struct plan *p)
{
    gnn_sort_release(&p->sort);
    gnn_free(p->has_loop);
}

/* Types rev_NAME that would repeat a type of the input. */
static void drop_repeated(struct build *b)
{
    struct gnn_schema *s = &b->meta.schema;
    for (uint32_t t = s->netypes; t--;) {
        if (b->plan[t].mode & GNN_CSC_FWD || !b->plan[t].read || !has_reverse_type(b, t))
            continue;
        release_plan(&b->plan[t]);
        gnn_schema_drop_etype(s, t);
        memmove(&b->plan[t], &b->plan[t + 1], (s->netypes - t) * sizeof *b->plan);
        b->st.rev_left++;
    }
}

static int sum_up(struct build *b, struct gnn_err *e)
{
    const struct gnn_schema *s = &b->meta.schema;
    struct gnn_import_stats *st = &b->st;
    st->type = gnn_alloc_zero(s->netypes, sizeof *st->type, "counts of edges", e);
    if (!st->type)
        return GNN_E_NOMEM;
    st->ntypes = s->netypes;
    for (uint32_t t = 0; t < s->netypes; t++) {
        struct plan *p = &b->plan[t];
        b->meta.schema.etype[t].count = p->sort.csc.nedges;
        st->edges += p->sort.csc.nedges;
        st->duplicates += p->duplicates;
        st->loops_added += p->loops_added;
        st->input_edges += p->mode & GNN_CSC_FWD ? p->read : 0;
        p->dir.edges = p->sort.csc.nedges;
        p->dir.loops += p->loops_added;
        const uint32_t of = s->etype[t].reverse_of;
        st->type[t] = (struct gnn_import_edges){.in = p->in,
                                                .reverse_of = (int)of - 1,
                                                .exact = of && gnn_reverses_exact(b, t, of - 1),
                                                .d = p->dir,
                                                .same = s->etype[t].src == s->etype[t].dst,
                                                .rev = !(p->mode & GNN_CSC_FWD),
                                                .order = gnn_build_ordered(b, t)};
    }
    st->mirrored = b->d->mirror && !b->o->directed && !(b->d->guessed && st->two_way);
    return GNN_OK;
}

static int count_all(struct build *b, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint32_t t = 0; !rc && t < b->meta.schema.netypes; t++) {
        rc = gnn_build_count(b, t, e);
        if (!rc)
            rc = gnn_build_order(b, t, e);
        if (!rc && b->o->dedup)
            rc = gnn_build_dedup(b, t, e);
    }
    if (!rc) {
        drop_repeated(b);
        rc = gnn_reverses_find(b, e);
    }
    if (!rc) {
        rc = sum_up(b, e);
    }
    return rc ? rc : gnn_schema_check_counts(&b->meta.schema, b->d->name, e);
}

GNN_PRINTF(7, 8)
static int declare_tensor(struct build *b, enum gnn_dtype dt, uint64_t rows, uint64_t width,
                          uint32_t *id, struct gnn_err *e, const char *fmt, ...)
{
    char name[GNN_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof name)
        return gnn_fail(e, GNN_E_INPUT, "%s: the name '%.60s...' is too long", b->d->name, name);
    uint64_t shape[2] = {rows, width};
    return gnn_part_declare(&b->w, name, dt, width ? 2 : 1, shape, id, e);
}

static int declare_etype(struct build *b, uint32_t t, struct gnn_err *e)
{
    struct plan *p = &b->plan[t];
    const struct gnn_schema *s = &b->meta.schema;
    const struct gnn_etype *et = &s->etype[t];
    char key[GNN_ETYPE_KEY_CAPACITY];
    gnn_etype_key(s, t, key, sizeof key);
    int rc = declare_tensor(b, GNN_U64, s->ntype[et->dst].count + 1, 0, &p->indptr_id, e,
                            "edge/%s/indptr", key);
    if (!rc)
        rc = declare_tensor(b, GNN_U32, et->count, 0, &p->indices_id, e, "edge/%s/indices", key);
    for (uint32_t f = 0; !rc && f < et->nfields; f++)
        rc = declare_tensor(b, et->field[f].dtype, et->count, et->field[f].width, &p->field_id[f],
                            e, "edge/%s/%s", key, et->field[f].name);
    return rc;
}

/* Tensor numbers of everything that belongs to nodes, in order of declaration. */
struct node_ids {
    uint32_t key, word, word_at, book;
    uint32_t field[GNN_FIELDS_MAX];
};

/* Ids that are stored have the name of a tensor that no field can have then. */
static int check_taken(const struct build *b, const struct gnn_ntype *nt,
                       const struct gnn_nodeids *ids, struct gnn_err *e)
{
    const char *taken = ids->kind == GNN_IDS_WORDS ? "name" : ids->key ? "key" : NULL;
    return taken && gnn_field_find(nt->field, nt->nfields, taken)
               ? gnn_fail(e, GNN_E_INPUT,
                          "%s: a field of nodes is called '%s', as their ids are stored: "
                          "--map NEW=%s gives it another name",
                          b->d->name, taken, taken)
               : GNN_OK;
}

static int declare_ntype(struct build *b, uint32_t t, struct node_ids *id, struct gnn_err *e)
{
    const struct gnn_ntype *nt = &b->meta.schema.ntype[t];
    const struct gnn_nodeids *orig = b->d->ids ? &b->d->ids[t] : NULL;
    int rc = orig ? check_taken(b, nt, orig, e) : GNN_OK;
    if (!rc && orig && orig->key)
        rc = declare_tensor(b, GNN_I64, nt->count, 0, &id->key, e, "node/%s/key", nt->name);
    if (!rc && orig && orig->kind == GNN_IDS_WORDS) {
        rc = declare_tensor(b, GNN_U8, orig->words.nbytes, 0, &id->word, e, "node/%s/name",
                            nt->name);
        if (!rc)
            rc = declare_tensor(b, GNN_U64, nt->count + 1, 0, &id->word_at, e,
                                "node/%s/name_offsets", nt->name);
    }
    for (uint32_t f = 0; !rc && f < nt->nfields; f++)
        rc = declare_tensor(b, gnn_field_stored_dtype(&nt->field[f]), nt->count,
                            gnn_field_stored_width(&nt->field[f]), &id->field[f], e, "node/%s/%s",
                            nt->name, nt->field[f].name);
    if (!rc)
        rc = declare_tensor(b, GNN_U64, 2, 0, &id->book, e, "book/%s", nt->name);
    return rc;
}

static int write_ntype(struct build *b, uint32_t t, const struct node_ids *id, struct gnn_err *e)
{
    const struct gnn_ntype *nt = &b->meta.schema.ntype[t];
    const struct gnn_nodeids *orig = b->d->ids ? &b->d->ids[t] : NULL;
    uint64_t book[2] = {0, nt->count};
    int rc = gnn_part_write(&b->w, id->book, book, sizeof book, e);
    if (!rc && orig && orig->key)
        rc = gnn_part_write(&b->w, id->key, orig->key, nt->count * sizeof *orig->key, e);
    if (!rc && orig && orig->kind == GNN_IDS_WORDS) {
        rc = gnn_part_write(&b->w, id->word, orig->words.byte.data, orig->words.nbytes, e);
        if (!rc)
            rc = gnn_part_write(&b->w, id->word_at, orig->words.at.data,
                                (nt->count + 1) * sizeof(uint64_t), e);
    }
    for (uint32_t f = 0; !rc && f < nt->nfields; f++)
        rc = gnn_rows_write(b->d, b->o, t, f, &nt->field[f], &b->w, id->field[f], &b->st.columns[t],
                            e);
    return rc;
}

static int write_part(struct build *b, struct gnn_err *e)
{
    const struct gnn_schema *s = &b->meta.schema;
    struct node_ids *id = gnn_alloc_zero(s->nntypes, sizeof *id, "node types", e);
    uint32_t *set_id = gnn_alloc_zero(s->nsets, sizeof *set_id, "splits", e);
    int rc = id && set_id ? gnn_part_begin(&b->w, 0, e) : GNN_E_NOMEM;
    for (uint32_t t = 0; !rc && t < s->nntypes; t++)
        rc = declare_ntype(b, t, &id[t], e);
    for (uint32_t t = 0; !rc && t < s->netypes; t++)
        rc = declare_etype(b, t, e);
    for (uint32_t i = 0; !rc && i < s->nsets; i++)
        rc = declare_tensor(b, GNN_U32, s->set[i].count, 0, &set_id[i], e, "split/%s/%s",
                            s->set[i].split, s->set[i].set);
    if (!rc)
        rc = gnn_part_layout(&b->w, e);
    for (uint32_t t = 0; !rc && t < s->netypes; t++)
        rc = gnn_build_edges(b, t, e);
    for (uint32_t t = 0; !rc && t < s->nntypes; t++)
        rc = write_ntype(b, t, &id[t], e);
    for (uint32_t i = 0; !rc && i < s->nsets; i++) {
        uint32_t *ids;
        rc = gnn_splits_ids(&b->splits, i, &ids, e);
        if (!rc)
            rc = gnn_part_write(&b->w, set_id[i], ids, s->set[i].count * sizeof *ids, e);
        gnn_free(ids);
    }
    if (!rc)
        rc = gnn_part_finish(&b->w, e);
    gnn_free(id);
    gnn_free(set_id);
    return rc;
}

int gnn_import_write(struct gnn_dataset *d, const struct gnn_import_opts *o, const char *path,
                     bool force, const char *provenance, struct gnn_import_stats *st,
                     struct gnn_err *e)
{
    char *target = gnn_store_target(path, force,
                                    e); /* temporary files lie there, and not beside a link to it */
    struct build b = {.d = d, .o = o, .path = target};
    int rc = target ? plan_schema(&b, e) : e->code;
    if (!rc)
        rc = gnn_meta_add_provenance(&b.meta, provenance, e);
    if (!rc)
        rc = count_all(&b, e);
    if (!rc)
        rc = gnn_store_create(&b.w, path, &b.meta, force, e);
    if (!rc)
        rc = write_part(&b, e);
    if (!rc)
        rc = gnn_store_commit(&b.w, e);
    gnn_store_abandon(&b.w);
    for (uint32_t t = 0; t < b.meta.schema.nntypes; t++)
        b.st.nodes += b.meta.schema.ntype[t].count;
    for (uint32_t t = 0; b.plan && t < b.meta.schema.netypes; t++)
        release_plan(&b.plan[t]);
    for (uint32_t t = 0; b.time && t < d->schema.nntypes; t++)
        gnn_free(b.time[t]);
    gnn_free(b.time);
    gnn_free(b.plan);
    gnn_splits_release(&b.splits);
    gnn_meta_release(&b.meta);
    gnn_free(target);
    *st = b.st;
    return rc;
}
