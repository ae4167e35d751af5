/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a store as rows in parts (lib/gather/field_rows.h), and the tensors that gathered rows
 * become. The gatherers on the CPU, on devices and over ranks all use these jobs, so that a batch
 * has the same tensors, and an error the same words, wherever it is made. */
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/xxh.h"
#include "lib/base/mem.h"
#include "lib/data/label_check.h"
#include "lib/gather/gather_impl.h"
#include "lib/store/out_of_core.h"

/* Features, that is f32 rows, or those that stand for them, may be narrowed; everything else is in
 * batches as stored. */
static enum gnn_dtype on_the_wire(const struct gnn_field *f, bool label, enum gnn_dtype dtype)
{
    const enum gnn_dtype is = gnn_field_stands_for(f);
    return dtype && is == GNN_F32 && (f->width || f->scaled) && !label ? dtype : is;
}

static void read_at_random(const struct gnn_store *s, const struct gnn_tensor *t)
{
    uint64_t bytes;
    if (gnn_tensor_bytes(t, &bytes))
        gnn_store_at_random(s, t->data, bytes);
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
                             .nparts = s->nparts,
                             .ahead = s->out_of_core ? s : NULL};
    if (!(j->part = gnn_alloc_zero(s->nparts, sizeof *j->part, "a field", e)))
        return e->code;
    for (uint32_t p = 0; p < s->nparts; p++) {
        /* A part that another rank has is empty here, but keeps its place: parts are searched by
         * their first row. */
        j->part[p].first = s->book[type][p];
        if (!gnn_store_has(s, p))
            continue;
        const struct gnn_tensor *t = gnn_store_findf(s, p, "node/%s/%s", name, f->name);
        if (!t)
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor 'node/%s/%s' is missing",
                            gnn_store_part_path(s, p), name, f->name);
        j->part[p] = (struct gnn_gather_part){
            .first = s->book[type][p], .count = gnn_store_owned(s, p, type), .data = t->data};
        read_at_random(s, t);
    }
    return 0;
}

/* Whether all pages of the tensor are in memory; a system that does not tell says so of all. */
static bool is_resident(const struct gnn_tensor *t)
{
    enum { PAGES = 4096 };
    uint64_t bytes = 0;
    (void)gnn_tensor_bytes(t, &bytes);
    const uint64_t page = gnn_page_size(), from = (uintptr_t)t->data / page * page,
                   to = (uintptr_t)t->data + bytes;
    unsigned char in[PAGES];
    for (uint64_t at = from; at < to; at += PAGES * page) {
        const uint64_t n = to - at < PAGES * page ? to - at : PAGES * page;
        if (mincore((void *)(uintptr_t)at, n, in))
            return true;
        for (uint64_t i = 0; i < (n + page - 1) / page; i++)
            if (!(in[i] & 1))
                return false;
    }
    return true;
}

void gnn_gather_job_in_place(struct gather_job *j, struct gnn_store *s)
{
    const struct gnn_field *f = j->field;
    const bool good = f->dtype == GNN_F32 || f->dtype == GNN_BF16;
    if (strcmp(f->name, "x") || !good || j->wire != f->dtype || !f->width || s->nparts != 1 ||
        s->comm->size != 1 || s->out_of_core || !s->meta.schema.ntype[j->type].count)
        return;
    j->in_place = gnn_store_findf(s, 0, "node/%s/x", s->meta.schema.ntype[j->type].name);
    if (!j->in_place || is_resident(j->in_place))
        return;
    struct gnn_err ignored = {0}; /* if this fails, training waits for the disk instead */
    if ((j->touch = gnn_alloc_zero(1, sizeof *j->touch, "pages", &ignored)))
        gnn_flag_set(&j->touch->on, true);
}

/* Pages are looked at for powers of two, so that this costs little in all. */
static bool touches_pages(const struct gather_job *j)
{
    struct gather_touch *t = j->touch;
    if (!t || !gnn_flag_get(&t->on))
        return false;
    const uint32_t nth = __atomic_add_fetch(&t->batches, 1, __ATOMIC_RELAXED);
    if (!(nth & (nth - 1)) && is_resident(j->in_place))
        gnn_flag_set(&t->on, false);
    return gnn_flag_get(&t->on);
}

uint64_t gnn_gather_job_refer(const struct gather_job *j, const uint32_t *ids, uint64_t n)
{
    const bool touch = touches_pages(j);
    const uint64_t bytes = j->field->width * gnn_dtype_bytes(j->field->dtype),
                   count = j->part->count, page = gnn_page_size();
    const char *x = j->in_place->data;
    for (uint64_t i = 0; i < n; i++) {
        if (ids[i] >= count)
            return i;
        if (touch) {
            for (uint64_t at = 0; at < bytes; at += page)
                (void)*(const volatile char *)(x + ids[i] * bytes + at);
            (void)*(const volatile char *)(x + ids[i] * bytes + bytes - 1);
        }
    }
    return n;
}

int gnn_gather_job_edge(struct gather_job *j, struct gnn_store *s, uint32_t type,
                        const struct gnn_field *f, enum gnn_dtype dtype, struct gnn_err *e)
{
    const uint32_t dst = s->meta.schema.etype[type].dst;
    char key[GNN_ETYPE_KEY_CAPACITY];
    gnn_etype_key(&s->meta.schema, type, key, sizeof key);
    *j = (struct gather_job){.edge = true,
                             .type = type,
                             .field = f,
                             .wire = on_the_wire(f, false, dtype),
                             .nparts = s->nparts,
                             .ahead = s->out_of_core ? s : NULL};
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
        read_at_random(s, t);
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

int gnn_gather_job_numbers(struct gather_job *j, uint32_t type, const struct gnn_field *f, void *of,
                           uint64_t n, struct gnn_err *e)
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
    gnn_free(j->touch);
}

struct gather_copy gnn_gather_job_sent(const struct gather_job *j)
{
    const struct gnn_field *f = j->field;
    return (struct gather_copy){f->scaled || j->wire == f->dtype ? GNN_GATHER_AS_IS
                                : j->wire == GNN_F16             ? GNN_GATHER_F32_F16
                                                                 : GNN_GATHER_F32_BF16,
                                gnn_field_row_bytes(f)};
}

struct gather_copy gnn_gather_job_then(const struct gather_job *j)
{
    if (!j->field->scaled || j->as_sent)
        return (struct gather_copy){GNN_GATHER_AS_IS, gnn_gather_job_out(j)};
    return (struct gather_copy){j->wire == GNN_F16   ? GNN_GATHER_I8_F16
                                : j->wire == GNN_F32 ? GNN_GATHER_I8_F32
                                                     : GNN_GATHER_I8_BF16,
                                gnn_field_columns(j->field)};
}

struct gather_copy gnn_gather_job_copy(const struct gather_job *j)
{
    return j->field->scaled ? gnn_gather_job_then(j) : gnn_gather_job_sent(j);
}

static void sum_piece(void *sum, const void *piece, size_t bytes)
{
    XXH3_64bits_update(sum, piece, bytes);
}

/* Asks for rows `from` to `to` - 1 of n. */
static void ask_rows(const struct gnn_store *s, const struct gnn_gather *g, uint64_t from,
                     uint64_t to, uint64_t n)
{
    const size_t bytes = gnn_gather_row_bytes(g->cast, g->bytes);
    for (uint64_t i = from; i < to && i < n; i++) {
        const uint64_t v = g->id ? g->id[i] : g->id64[i];
        const struct gnn_gather_part *a =
            &g->part[gnn_owner_find(&g->part->first, sizeof *g->part, g->nparts, v)];
        if (v - a->first < a->count)
            gnn_store_ask(s, (const char *)a->data + (v - a->first) * bytes, bytes);
    }
}

/* gnn_gather_rows of a store that is out of core. */
static uint64_t gather_ahead(const struct gnn_store *s, const struct gnn_gather *all)
{
    const uint64_t n = all->n, block = GNN_OUT_OF_CORE_AHEAD;
    const size_t bytes = gnn_gather_out_bytes(all->cast, all->bytes);
    bool good = true;
    uint64_t at = 0;
    ask_rows(s, all, 0, block, n);
    while (at < n && good) {
        struct gnn_gather g = *all;
        ask_rows(s, all, at + block, at + 2 * block, n);
        g.n = n - at < block ? n - at : block;
        g.id = all->id ? all->id + at : NULL;
        g.id64 = all->id64 ? all->id64 + at : NULL;
        g.out = (char *)all->out + at * bytes;
        const uint64_t got = gnn_gather_rows(&g);
        good = got == g.n;
        at += got;
    }
    return at;
}

uint64_t gnn_gather_job_rows(const struct gather_job *j, struct gather_copy c, const uint32_t *ids,
                             const uint64_t *rows, uint64_t n, bool sums, struct gnn_tensor *t)
{
    XXH3_state_t sum;
    struct gnn_gather g = {.part = j->part,
                           .nparts = j->nparts,
                           .cast = c.cast,
                           .bytes = c.bytes,
                           .n = n,
                           .id = ids,
                           .id64 = rows,
                           .out = t->data};
    if (sums) {
        XXH3_64bits_reset(&sum);
        g.show = sum_piece;
        /* The checksum is made of each piece while it is in the cache. */
        g.arg = &sum;
    }
    const uint64_t got = j->ahead ? gather_ahead(j->ahead, &g) : gnn_gather_rows(&g);
    if (sums)
        t->sum = XXH3_64bits_digest(&sum);
    t->has_sum = sums;
    return got;
}

/* ---- the tensors of a batch ---- */

bool gnn_gather_wanted(const struct gather_job *j, const struct gnn_batch *b, uint32_t hop)
{
    return j->edge ? gnn_batch_block(b, hop, j->type)->indptr != NULL
                   : hop == 0 && !(j->original && b->type[j->type].orig);
}

uint64_t gnn_gather_nodes(const struct gatherer *g, const struct gather_job *j,
                          const struct gnn_batch *b, uint32_t hop, uint32_t *type)
{
    const struct gnn_block *k = j->edge ? gnn_batch_block(b, hop, j->type) : NULL;
    *type = k ? g->meta.schema.etype[j->type].dst : j->type;
    return k          ? (uint64_t)k->first + k->n
           : j->label ? b->type[*type].count[0]
                      : gnn_batch_nodes(b, *type);
}

static const char *name_of(const struct gatherer *g, const struct gather_job *j, uint32_t hop,
                           const char *field, char name[GNN_NAME_MAX + 1])
{
    const struct gnn_schema *c = &g->meta.schema;
    char key[GNN_ETYPE_KEY_CAPACITY];
    return j->edge ? gnn_tensor_name(name, "hop/%u/%s/%s", hop,
                                     gnn_etype_key(c, j->type, key, sizeof key), field)
                   : gnn_tensor_name(name, "node/%s/%s", c->ntype[j->type].name, field);
}

int gnn_gather_add(const struct gatherer *g, const struct gather_job *j, struct gnn_batch *b,
                   uint32_t hop, const struct gnn_mem *mem, struct gnn_tensor **t,
                   struct gnn_err *e)
{
    char name[GNN_NAME_MAX + 1];
    uint32_t type;
    const bool in_place = j->in_place && b->type[j->type].x;
    const uint64_t n = in_place  ? 0
                       : j->edge ? gnn_batch_block(b, hop, j->type)->edges
                                 : gnn_gather_nodes(g, j, b, hop, &type),
                   shape[2] = {n, j->as_sent ? gnn_gather_job_out(j) : j->field->width};
    name_of(g, j, hop, j->field->name, name);
    if (gnn_tensors_find(&b->tensors, name))
        return gnn_fail(e, GNN_E_INPUT,
                        "batch %" PRIu64 "/%" PRIu64
                        ": '%s' is already present: a field is gathered once",
                        b->epoch, b->step, name);
    return gnn_tensors_add_in(&b->tensors, mem, name, j->as_sent ? GNN_U8 : j->wire,
                              shape[1] ? 2 : 1, shape, t, e);
}

int gnn_gather_bad_id(const struct gatherer *g, const struct gather_job *j,
                      const struct gnn_batch *b, uint32_t hop, struct gnn_err *e)
{
    char name[GNN_NAME_MAX + 1];
    name_of(g, j, hop, j->edge ? "id" : j->field->name, name);
    return gnn_fail(e, GNN_E_INPUT, "batch %" PRIu64 "/%" PRIu64 ": tensor '%s': %s", b->epoch,
                    b->step, name, j->edge ? "not an edge of its node" : "node id out of range");
}

int gnn_gather_check_labels(const struct gatherer *g, const struct gnn_batch *b,
                            const struct gnn_tensor *y, struct gnn_err *e)
{
    const struct gnn_schema *c = &g->meta.schema;
    struct gnn_err why = {0};
    if (g->meta.sampling.seed_ntype != c->label_ntype || !gnn_labels_valid(c, y, &why))
        return 0;
    return gnn_fail(e, GNN_E_INPUT, "%s: batch %" PRIu64 "/%" PRIu64 ": tensor '%s': %s",
                    g->store->path, b->epoch, b->step, y->name, why.msg);
}
