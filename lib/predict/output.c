/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs of a model in the form in which they are written, and the rows of all ranks in order. */
#include "lib/predict/output.h"

#include <string.h>

#include "lib/base/io.h"
#include "lib/base/mem.h"
#include "lib/base/option.h"
#include "lib/model/task.h"

enum { ROWS = 4096 };

void gnn_output_release(struct gnn_output *o)
{
    gnn_free(o->row);
    *o = (struct gnn_output){0};
}

/* ---- the form ---- */

/* Whether a kind is of links that are told from negatives, of classes or of numbers. */
static bool is_of_task(const struct gnn_model *m, int what)
{
    const bool told = gnn_model_tells_links(&m->c), values = !gnn_tasks[m->c.task].probs;
    return what == GNN_OUT_SCORES ? told : what == GNN_OUT_VALUES ? values : !told && !values;
}

/* What a model of links has: embeddings of nodes and, of pairs of them, what its task is. */
static int choose_of_links(const struct gnn_model *m, bool nodes, const char *word, int n,
                           int *what, struct gnn_err *e)
{
    const bool told = gnn_model_tells_links(&m->c), values = !gnn_tasks[m->c.task].probs;
    const char *usual = told ? "scores" : values ? "values" : "classes";
    if (*what < 0)
        *what = told ? GNN_OUT_SCORES : values ? GNN_OUT_VALUES : GNN_OUT_CLASSES;
    if (*what != GNN_OUT_EMBEDDINGS && is_of_task(m, *what) && nodes)
        return gnn_fail(e, GNN_E_USAGE,
                        "the model is of links, and %s are of pairs of nodes: expected "
                        "--output-kind embeddings, or --store STORE --seeds FILE",
                        usual);
    return *what == GNN_OUT_EMBEDDINGS || is_of_task(m, *what)
               ? 0
               : gnn_fail(e, GNN_E_USAGE,
                          "--output-kind %.*s: the model is of %s: expected %s%s or embeddings", n,
                          word, told ? "links" : "labels of links", usual,
                          told || values ? "" : ", probs");
}

int gnn_output_choose(const struct gnn_model *m, bool nodes, int *what, struct gnn_err *e)
{
    const bool values = !gnn_tasks[m->c.task].probs;
    int n = 0;
    const char *word = *what < 0 ? "" : gnn_choice_word(GNN_OUTPUT_WORDS, (uint32_t)*what, &n);
    if (m->c.decoder)
        return choose_of_links(m, nodes, word, n, what, e);
    if (*what < 0)
        *what = values ? GNN_OUT_VALUES : GNN_OUT_CLASSES;
    if (*what == GNN_OUT_SCORES)
        return gnn_fail(e, GNN_E_USAGE,
                        "--output-kind scores: the model is of nodes, not of links");
    return !values || (*what != GNN_OUT_CLASSES && *what != GNN_OUT_PROBS)
               ? 0
               : gnn_fail(e, GNN_E_USAGE,
                          "--output-kind %.*s: a %s has no classes: expected values or embeddings",
                          n, word, gnn_task_name(m->c.task));
}

uint64_t gnn_output_columns(const struct gnn_output *o)
{
    if (gnn_output_one_class(o))
        return o->text ? 2 : 1;
    return o->width;
}

static void form_classes(const struct gnn_output *o, float *z, uint64_t n, float *cells)
{
    const struct gnn_task_ops *t = &gnn_tasks[o->m->c.task];
    const uint64_t w = o->width, step = o->text ? 2 : 1;
    for (uint64_t i = 0; i < n; i++, z += w, cells += step) {
        const uint32_t best = t->best(z, w);
        cells[0] = (float)best;
        if (!o->text)
            continue;
        t->probs(z, 1, w);
        cells[1] = !gnn_task_labels[o->m->c.task].outputs ? z[best] : best ? z[0] : 1 - z[0];
    }
}

void gnn_output_form(const struct gnn_output *o, float *z, uint64_t n, float *cells)
{
    const uint64_t w = o->width;
    if (gnn_output_one_class(o)) {
        form_classes(o, z, n, cells);
        return;
    }
    for (uint64_t i = 0; o->what == GNN_OUT_CLASSES && i < n * w; i++)
        z[i] = z[i] > 0;
    if (o->what == GNN_OUT_PROBS)
        gnn_tasks[o->m->c.task].probs(z, n, w);
    if (cells != z)
        memmove(cells, z, n * w * sizeof *z);
}

/* ---- the rows of all ranks ---- */

/* The rows of the file that are being put together: this rank's, each as its position among them,
 * its length and, in `bytes`, what it is. */
struct piece {
    uint32_t at, len;
};
struct rows {
    const struct gnn_output *o;
    gnn_output_put put;
    void *arg;
    struct gnn_buf z, cells, bytes, pieces;
    struct gnn_buf message, found; /* with several ranks */
    struct gnn_exchange x;
};

static uint64_t row_of(const struct gnn_output *o, uint64_t i)
{
    return o->row ? o->row[i] : i;
}

/* This rank's rows of [first, first + k). */
static int make_pieces(struct rows *r, uint64_t first, uint64_t k, uint64_t *npieces,
                       uint64_t *nbytes, struct gnn_err *e)
{
    const struct gnn_output *o = r->o;
    const uint64_t w = o->width, columns = gnn_output_columns(o);
    const uint64_t wide = o->formed ? columns : w;
    float *z = r->z.data, *cells = o->formed ? z : r->cells.data;
    struct piece *piece = r->pieces.data;
    uint64_t n = 0;
    for (uint64_t i = 0; i < k; i++) {
        const uint64_t row = row_of(o, first + i);
        if (row == UINT32_MAX)
            continue;
        memcpy(z + n * wide, o->data + row * wide, wide * sizeof *z);
        piece[n++].at = (uint32_t)i;
    }
    if (!o->formed)
        gnn_output_form(o, z, n, cells);
    *npieces = n;
    *nbytes = 0;
    for (uint64_t j = 0; j < n; j++) {
        const uint64_t before = *nbytes;
        if (r->put(r->arg, row_of(o, first + piece[j].at), cells + j * columns, &r->bytes, nbytes,
                   e))
            return e->code;
        piece[j].len = (uint32_t)(*nbytes - before);
    }
    return 0;
}

static int send_pieces(struct rows *r, uint64_t npieces, uint64_t nbytes, struct gnn_err *e)
{
    struct gnn_comm *c = r->o->comm;
    const uint64_t head = npieces * sizeof(struct piece), count = npieces;
    if (gnn_buf_fit(&r->message, sizeof count + head + nbytes, 1, "output rows", e))
        return e->code;
    char *to = r->message.data;
    memcpy(to, &count, sizeof count);
    if (npieces)
        memcpy(to + sizeof count, r->pieces.data, head);
    if (nbytes)
        memcpy(to + sizeof count + head, r->bytes.data, nbytes);
    for (uint32_t i = 0; i < c->size; i++)
        r->x.out[i] = (struct gnn_span){to, i ? 0 : sizeof count + head + nbytes};
    return gnn_comm_exchange(c, &r->x, e);
}

/* Of k rows from `first` on, those of rank p, to found[k]. */
static int find_pieces(struct rows *r, uint32_t p, uint64_t k, struct gnn_span *found,
                       struct gnn_err *e)
{
    const struct gnn_span in = r->x.in[p];
    const char *text = in.data;
    uint64_t count = 0, at = sizeof count;
    if (in.bytes >= sizeof count)
        memcpy(&count, text, sizeof count);
    bool good = in.bytes >= sizeof count && count <= k &&
                count * sizeof(struct piece) <= in.bytes - sizeof count;
    at += good ? count * sizeof(struct piece) : 0;
    for (uint64_t j = 0; good && j < count; j++) {
        struct piece q;
        memcpy(&q, text + sizeof count + j * sizeof q, sizeof q);
        good = q.at < k && q.len <= in.bytes - at;
        if (good)
            found[q.at] = (struct gnn_span){text + at, q.len};
        at += good ? q.len : 0;
    }
    return good ? 0 : gnn_fail(e, GNN_E_RANK, "malformed reply from rank %u", p);
}

/* Rank 0 writes what all have. */
static int write_found(struct rows *r, uint64_t first, uint64_t k, struct gnn_io *io,
                       struct gnn_err *e)
{
    struct gnn_comm *c = r->o->comm;
    if (c->rank)
        return 0;
    if (gnn_buf_fit(&r->found, k, sizeof(struct gnn_span), "output rows", e))
        return e->code;
    struct gnn_span *found = r->found.data;
    memset(found, 0, k * sizeof *found);
    for (uint32_t p = 0; p < c->size; p++)
        if (find_pieces(r, p, k, found, e))
            return e->code;
    uint64_t n = 0;
    for (uint64_t i = 0; i < k; i++) {
        if (!found[i].data)
            return gnn_fail(e, GNN_E_INPUT, "no batch had seed %llu",
                            (unsigned long long)(first + i));
        if (gnn_buf_reserve(&r->bytes, n + found[i].bytes, 1, "output rows", e))
            return e->code;
        memcpy((char *)r->bytes.data + n, found[i].data, found[i].bytes);
        n += found[i].bytes;
    }
    return gnn_io_write(io, r->bytes.data, n, e);
}

static int write_all(struct rows *r, struct gnn_io *io, struct gnn_err *e)
{
    const struct gnn_output *o = r->o;
    const uint64_t columns = gnn_output_columns(o), wide = o->width > columns ? o->width : columns;
    if (gnn_buf_fit(&r->z, ROWS * wide, sizeof(float), "output rows", e) ||
        gnn_buf_fit(&r->cells, ROWS * wide, sizeof(float), "output rows", e) ||
        gnn_buf_fit(&r->pieces, ROWS, sizeof(struct piece), "output rows", e))
        return e->code;
    for (uint64_t i = 0; i < o->n; i += ROWS) {
        const uint64_t k = o->n - i < ROWS ? o->n - i : ROWS;
        uint64_t npieces, nbytes;
        if (make_pieces(r, i, k, &npieces, &nbytes, e))
            return e->code;
        if (o->comm->size == 1 && npieces == k) {
            if (gnn_io_write(io, r->bytes.data, nbytes, e))
                return e->code;
            continue;
        }
        if (send_pieces(r, npieces, nbytes, e) || write_found(r, i, k, io, e))
            return e->code;
    }
    return 0;
}

int gnn_output_rows(const struct gnn_output *o, gnn_output_put put, void *arg, struct gnn_io *io,
                    struct gnn_err *e)
{
    struct rows r = {.o = o, .put = put, .arg = arg};
    int rc = gnn_exchange_init(&r.x, o->comm, gnn_comm_tag(GNN_COMM_CONTROL, GNN_COMM_OUTPUT), e);
    if (!rc)
        rc = write_all(&r, io, e);
    gnn_exchange_release(&r.x);
    struct gnn_buf *const all[] = {&r.z, &r.cells, &r.bytes, &r.pieces, &r.message, &r.found};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gnn_buf_release(all[i]);
    return rc;
}
