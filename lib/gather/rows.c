#include "lib/gather/rows.h"

#include "formats/xxh.h"
#include "lib/base/mem.h"

/* Features, that is f32 rows, may be narrowed; everything else travels as stored. */
static enum gnn_dtype on_the_wire(const struct gnn_field *f, bool label, enum gnn_dtype dtype)
{
    return dtype && f->dtype == GNN_F32 && f->width && !label ? dtype : f->dtype;
}

int gnn_gather_job_node(struct gather_job *j, struct gnn_store *s, uint32_t type,
                        const struct gnn_field *f, bool label, enum gnn_dtype dtype,
                        struct gnn_err *e)
{
    const char *name = s->meta.schema.ntype[type].name;
    *j = (struct gather_job){.type = type,
                             .field = f,
                             .label = label,
                             .wire = on_the_wire(f, label, dtype),
                             .nparts = s->nparts};
    if (!(j->part = gnn_alloc_zero(s->nparts, sizeof *j->part, "a field", e)))
        return e->code;
    for (uint32_t p = 0; p < s->nparts; p++) {
        j->part[p].first = s->book[type][p];
        if (!gnn_store_has(s, p))
            continue;
        const struct gnn_tensor *t = gnn_store_findf(s, p, "node/%s/%s", name, f->name);
        if (!t)
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor 'node/%s/%s' is missing",
                            gnn_store_part_path(s, p), name, f->name);
        j->part[p] =
            (struct gnn_gather_part){s->book[type][p], gnn_store_owned(s, p, type), t->data};
    }
    return 0;
}

int gnn_gather_job_edge(struct gather_job *j, struct gnn_store *s, uint32_t type,
                        const struct gnn_field *f, enum gnn_dtype dtype, struct gnn_err *e)
{
    const uint32_t dst = s->meta.schema.etype[type].dst;
    char key[GNN_ETYPE_KEY_ROOM];
    gnn_etype_key(&s->meta.schema, type, key, sizeof key);
    *j = (struct gather_job){.edge = true,
                             .type = type,
                             .field = f,
                             .wire = on_the_wire(f, false, dtype),
                             .nparts = s->nparts};
    j->part = gnn_alloc_zero(s->nparts, sizeof *j->part, "a field", e);
    j->edges = gnn_alloc_zero(s->nparts, sizeof *j->edges, "a field", e);
    if (!j->part || !j->edges)
        return e->code;
    uint64_t first = 0;
    for (uint32_t p = 0; p < s->nparts; p++) {
        j->part[p].first = first;
        j->edges[p].first = s->book[dst][p];
        if (!gnn_store_has(s, p))
            continue;
        const struct gnn_tensor *t = gnn_store_findf(s, p, "edge/%s/%s", key, f->name);
        const struct gnn_tensor *indptr = gnn_store_findf(s, p, "edge/%s/indptr", key);
        const struct gnn_tensor *id = gnn_store_findf(s, p, "edge/%s/id", key);
        if (!t || !indptr)
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor 'edge/%s/%s' is missing",
                            gnn_store_part_path(s, p), key, f->name);
        const uint64_t n = t->shape[0];
        j->part[p] = (struct gnn_gather_part){first, n, t->data};
        j->edges[p] = (struct gnn_edges_part){.first = s->book[dst][p],
                                              .count = gnn_store_owned(s, p, dst),
                                              .row = first,
                                              .nedges = n,
                                              .indptr = indptr->data,
                                              .id = id ? id->data : NULL};
        first += n;
    }
    return 0;
}

int gnn_gather_job_numbers(struct gather_job *j, uint32_t type, const struct gnn_field *f,
                           uint32_t *of, uint64_t n, struct gnn_err *e)
{
    *j = (struct gather_job){.type = type, .field = f, .wire = f->dtype, .nparts = 1, .own = of};
    if (!(j->part = gnn_alloc_zero(1, sizeof *j->part, "a field", e)))
        return e->code;
    *j->part = (struct gnn_gather_part){.count = n, .data = of};
    return 0;
}

void gnn_gather_job_release(struct gather_job *j)
{
    gnn_free(j->part);
    gnn_free(j->edges);
    gnn_free(j->own);
}

size_t gnn_gather_job_bytes(const struct gather_job *j)
{
    return (j->field->width ? j->field->width : 1) * gnn_dtype_bytes(j->field->dtype);
}

enum gnn_gather_cast gnn_gather_job_cast(const struct gather_job *j)
{
    return j->wire == j->field->dtype ? GNN_GATHER_AS_IS
           : j->wire == GNN_F16       ? GNN_GATHER_F32_F16
                                      : GNN_GATHER_F32_BF16;
}

static void sum_piece(void *sum, const void *piece, size_t bytes)
{
    XXH3_64bits_update(sum, piece, bytes);
}

uint64_t gnn_gather_job_rows(const struct gather_job *j, const uint32_t *ids, const uint64_t *rows,
                             uint64_t n, bool sums, struct gnn_tensor *t)
{
    XXH3_state_t sum;
    struct gnn_gather g = {.part = j->part,
                           .nparts = j->nparts,
                           .cast = gnn_gather_job_cast(j),
                           .bytes = gnn_gather_job_bytes(j),
                           .n = n,
                           .id = ids,
                           .id64 = rows,
                           .out = t->data};
    if (sums) {
        XXH3_64bits_reset(&sum);
        g.show = sum_piece;
        g.arg = &sum;
    }
    const uint64_t got = gnn_gather_rows(&g);
    if (sums)
        t->sum = XXH3_64bits_digest(&sum);
    t->has_sum = sums;
    return got;
}
