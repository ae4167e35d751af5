#include "lib/gather/rows.h"

#include "formats/xxh.h"
#include "kernels/owner.h"
#include "lib/mem.h"

/* Features, that is f32 rows, may be narrowed; everything else travels as stored. */
static enum gnn_dtype on_the_wire(const struct gnn_field *f, bool label, enum gnn_dtype dtype)
{
    return dtype && f->dtype == GNN_F32 && f->width && !label ? dtype : f->dtype;
}

int gnn_gather_job_node(struct gather_job *j, struct gnn_store *s, uint32_t type, const struct gnn_field *f,
                        bool label, enum gnn_dtype dtype, struct gnn_err *e)
{
    const char *name = s->meta.schema.ntype[type].name;
    *j = (struct gather_job){.type = type, .field = f, .label = label, .wire = on_the_wire(f, label, dtype)};
    if (!(j->part = gnn_alloc_zero(s->nparts, sizeof *j->part, "a field", e)))
        return e->code;
    for (uint32_t p = 0; p < s->nparts; p++) {
        const struct gnn_tensor *t = gnn_store_findf(s, p, "node/%s/%s", name, f->name);
        if (!t)
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor 'node/%s/%s' is missing", gnn_store_part_path(s, p), name, f->name);
        j->part[p] = (struct gnn_gather_part){s->book[type][p], gnn_store_owned(s, p, type), t->data};
    }
    return 0;
}

int gnn_gather_job_edge(struct gather_job *j, struct gnn_store *s, uint32_t type, const struct gnn_field *f,
                        enum gnn_dtype dtype, struct gnn_err *e)
{
    const uint32_t dst = s->meta.schema.etype[type].dst;
    char key[GNN_ETYPE_KEY_ROOM];
    gnn_etype_key(&s->meta.schema, type, key, sizeof key);
    *j = (struct gather_job){.edge = true, .type = type, .field = f, .wire = on_the_wire(f, false, dtype)};
    j->part = gnn_alloc_zero(s->nparts, sizeof *j->part, "a field", e);
    j->edges = gnn_alloc_zero(s->nparts, sizeof *j->edges, "a field", e);
    if (!j->part || !j->edges)
        return e->code;
    uint64_t first = 0;
    for (uint32_t p = 0; p < s->nparts; p++) {
        const struct gnn_tensor *t = gnn_store_findf(s, p, "edge/%s/%s", key, f->name);
        const struct gnn_tensor *indptr = gnn_store_findf(s, p, "edge/%s/indptr", key);
        const struct gnn_tensor *id = gnn_store_findf(s, p, "edge/%s/id", key);
        if (!t || !indptr)
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor 'edge/%s/%s' is missing", gnn_store_part_path(s, p), key, f->name);
        const uint64_t n = t->shape[0];
        j->part[p] = (struct gnn_gather_part){first, n, t->data};
        j->edges[p] = (struct gather_edges){s->book[dst][p], gnn_store_owned(s, p, dst), indptr->data,
                                            id ? id->data : NULL, n};
        first += n;
    }
    return 0;
}

void gnn_gather_job_release(struct gather_job *j)
{
    gnn_free(j->part);
    gnn_free(j->edges);
}

static void sum_piece(void *sum, const void *piece, size_t bytes)
{
    XXH3_64bits_update(sum, piece, bytes);
}

uint64_t gnn_gather_job_rows(const struct gather_job *j, uint32_t nparts, const uint32_t *ids,
                             const uint64_t *rows, uint64_t n, bool sums, struct gnn_tensor *t)
{
    XXH3_state_t sum;
    struct gnn_gather g = {.part = j->part, .nparts = nparts, .n = n, .id = ids, .id64 = rows, .out = t->data};
    g.bytes = (j->field->width ? j->field->width : 1) * gnn_dtype_bytes(j->field->dtype);
    if (j->wire != j->field->dtype)
        g.cast = j->wire == GNN_F16 ? GNN_GATHER_F32_F16 : GNN_GATHER_F32_BF16;
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

bool gnn_gather_job_find_edges(const struct gather_job *j, uint32_t nparts, const uint32_t *dst,
                               const struct gnn_block *k, uint64_t *rows)
{
    for (uint32_t i = 0; i < k->n; i++) {
        const uint32_t p = gnn_owner_find(&j->edges->first, sizeof *j->edges, nparts, dst[i]);
        const struct gather_edges *a = &j->edges[p];
        const uint64_t v = dst[i] - a->first;
        if (v >= a->count)
            return false;
        const uint64_t from = a->indptr[v], to = a->indptr[v + 1];
        if (from > to || to > a->nedges)
            return false;
        const uint64_t base = from == to ? 0 : a->id ? a->id[from] : from;
        for (uint32_t q = k->indptr[i]; q < k->indptr[i + 1]; q++) {
            const uint64_t at = k->id[q] - base; /* wraps below base, and is then too large */
            if (at >= to - from || (a->id && a->id[from + at] != k->id[q]))
                return false;
            rows[q] = j->part[p].first + from + at;
        }
    }
    return true;
}
