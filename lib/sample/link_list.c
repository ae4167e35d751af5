/* SPDX-License-Identifier: Apache-2.0 */
/* Links that are listed (lib/sample/links.h): by a set of the store, or a file, which has a line
 * for each, its fields between commas, semicolons, tabs or blanks. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/text.h"
#include "formats/xxh.h"
#include "lib/base/io.h"
#include "lib/sample/links.h"
#include "lib/sample/seed_names.h"

enum { PIECE = 1 << 20, SHOWN = 80 };

struct reading {
    const struct link_edges *q;
    const char *name;
    uint64_t line;
    enum link_numbers numbers;
    enum gnn_dtype times;
    struct gnn_id_names *names[LINK_ENDS]; /* or NULL */
    struct gnn_err *e;
};

void gnn_link_list_release(struct link_list *x)
{
    gnn_buf_release(&x->links);
    gnn_buf_release(&x->times);
    gnn_buf_release(&x->label);
    *x = (struct link_list){.n = 0};
}

/* The whole file, which ends with a newline then. */
static int read_file(struct gnn_buf *text, uint64_t *n, int fd, const char *name, struct gnn_err *e)
{
    struct gnn_io io;
    uint64_t got = 1;
    gnn_io_init(&io, fd, name);
    for (*n = 0; got; *n += got)
        if (gnn_buf_reserve(text, *n + PIECE + 1, 1, "links", e) ||
            gnn_io_read(&io, (char *)text->data + *n, PIECE, &got, e))
            return e->code;
    if (*n && ((char *)text->data)[*n - 1] != '\n')
        ((char *)text->data)[(*n)++] = '\n';
    return 0;
}

static int fail_field(const struct reading *r, unsigned end, const char *field, size_t n,
                      const char *why)
{
    char shown[SHOWN];
    return gnn_fail(r->e, GNN_E_INPUT, "%s: line %" PRIu64 ": '%s' %s of type '%s'", r->name,
                    r->line, gnn_text_shown(shown, sizeof shown, field, n), why,
                    r->q->store->meta.schema.ntype[r->q->ntype[end]].name);
}

/* The original id of the node that a field names: by a name or a number, which is quoted in tables
 * only. */
static int find_node(const struct reading *r, unsigned end, const char *field, size_t n,
                     uint32_t *id)
{
    const uint32_t *to_orig = r->q->to_orig[end];
    const bool quoted = field[n] == '"', ids = r->numbers == LINK_IDS;
    uint64_t v;
    if (r->names[end] && r->names[end]->find(r->names[end], field, n, id))
        return quoted || ids || strspn(field, "0123456789") < n
                   ? 0
                   : fail_field(r, end, field, n,
                                "is the name of a node, and may be a position (write names in "
                                "quotes),");
    const bool named = ids ? r->names[end] != NULL : quoted;
    const char *after = named ? NULL : gnn_text_u64(field, &v);
    if (!after || after != field + n)
        return fail_field(r, end, field, n,
                          ids             ? "is not the id of a node"
                          : r->names[end] ? "is neither the name nor the position of a node"
                                          : "is not the position of a node");
    if (v >= r->q->nodes[end])
        return fail_field(r, end, field, n, "is out of range: there are fewer nodes");
    *id = to_orig && r->numbers == LINK_POSITIONS ? to_orig[v] : (uint32_t)v;
    return 0;
}

static int find_time(const struct reading *r, const char *field, size_t n, int64_t *time)
{
    const bool real = r->times == GNN_F64;
    double v = 0;
    const char *after = field[n] == '"' ? NULL
                        : real          ? gnn_text_f64(field, &v)
                                        : gnn_text_i64(field, time);
    if (!n || after != field + n || isnan(v))
        return gnn_fail(r->e, GNN_E_INPUT, "%s: line %" PRIu64 ": the time of the link is not %s",
                        r->name, r->line,
                        real ? "a number" : "a whole number, as times of edges are");
    if (real)
        *time = gnn_time_bits(v);
    return 0;
}

/* The line at *p, which moves behind it. */
static int take_line(const struct reading *r, const char **p, struct link *x, int64_t *time)
{
    const char sep = gnn_text_separator(*p), *next = *p, *field;
    const unsigned want = LINK_ENDS + (r->times != 0);
    bool last = false;
    size_t n;
    for (unsigned i = 0; i < want; i++) {
        if (last || !gnn_text_field(next, sep, &field, &n, &next, &last))
            return gnn_fail(r->e, GNN_E_INPUT, "%s: line %" PRIu64 ": expected a head, a tail%s",
                            r->name, r->line, r->times ? " and a time" : " and no more");
        if (i < LINK_ENDS ? find_node(r, i, field, n, &x->end[i]) : find_time(r, field, n, time))
            return r->e->code;
    }
    if (!last)
        return gnn_fail(
            r->e, GNN_E_INPUT, "%s: line %" PRIu64 ": expected a head, a tail%s", r->name, r->line,
            r->times ? ", a time and no more" : " and no more (a time requires --time-rule)");
    *p = next + 1;
    return 0;
}

static int take_all(struct link_list *x, struct reading *r, const char *text, uint64_t n)
{
    /* Tables may begin with a byte order mark. */
    const char *p = text + (n > 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0);
    for (; p < text + n; r->line++) {
        if (*gnn_text_blanks(p) == '\n') {
            p = gnn_text_blanks(p) + 1;
            continue;
        }
        if (gnn_buf_reserve(&x->links, x->n + 1, sizeof(struct link), "links", r->e) ||
            (r->times && gnn_buf_reserve(&x->times, x->n + 1, sizeof(int64_t), "links", r->e)))
            return r->e->code;
        int64_t *times = x->times.data;
        if (take_line(r, &p, (struct link *)x->links.data + x->n, times ? times + x->n : NULL))
            return r->e->code;
        x->n++;
    }
    return 0;
}

static int find_names(struct reading *r)
{
    for (unsigned i = 0; i < LINK_ENDS; i++)
        /* With several ranks, no process has all names. */
        if (r->q->store->comm->size == 1 &&
            gnn_seed_names_has(r->q->store, r->q->ntype[i], r->numbers == LINK_IDS) &&
            !(r->names[i] =
                  gnn_seed_names_new(r->q->store, r->q->ntype[i], r->q->to_store[i], r->e)))
            return r->e->code;
    return 0;
}

void gnn_link_list_sum(const struct link_list *x, char text[LINK_SUM])
{
    uint64_t sum = XXH3_64bits(x->links.data, x->n * sizeof(struct link));
    if (x->times.data)
        sum = XXH3_64bits_withSeed(x->times.data, x->n * sizeof(int64_t), sum);
    snprintf(text, LINK_SUM, "%016" PRIx64, sum);
}

/* All ranks read a file, which may be one of their own. */
static int agree_on_links(const struct link_list *x, struct gnn_comm *c, struct gnn_err *e)
{
    char text[LINK_SUM];
    gnn_link_list_sum(x, text);
    return gnn_comm_agree(c, "links", text, e);
}

int gnn_link_list_read(struct link_list *x, const struct link_edges *q, int fd, const char *name,
                       enum link_numbers numbers, enum gnn_dtype times, struct gnn_err *e)
{
    struct reading r = {
        .q = q, .name = name, .line = 1, .numbers = numbers, .times = times, .e = e};
    struct gnn_buf text = {0};
    uint64_t n;
    int rc = find_names(&r);
    if (!rc)
        rc = read_file(&text, &n, fd, name, e);
    close(fd);
    if (!rc)
        rc = take_all(x, &r, text.data, n);
    if (!rc && !x->n)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: no links in it", name);
    if (!rc && q->store->comm->size > 1)
        rc = agree_on_links(x, q->store->comm, e);
    for (unsigned i = 0; i < LINK_ENDS; i++)
        gnn_seed_names_free(r.names[i]);
    gnn_buf_release(&text);
    return rc;
}

int gnn_link_list_of_set(struct link_list *x, const struct link_edges *q, uint32_t set,
                         struct gnn_err *e)
{
    const struct gnn_split_set *m = &q->store->meta.schema.set[set];
    const uint32_t *const *to_orig = (const uint32_t *const *)q->to_orig;
    uint32_t *ends = NULL;
    int64_t *times = NULL;
    if (gnn_store_links(q->store, set, &ends, &times, e) ||
        gnn_buf_reserve(&x->links, m->count, sizeof(struct link), "links", e) ||
        (times && gnn_buf_reserve(&x->times, m->count, sizeof *times, "links", e)))
        goto out;
    x->n = m->count;
    for (uint64_t i = 0; i < x->n; i++) {
        struct link *to = (struct link *)x->links.data + i;
        for (unsigned k = 0; k < LINK_ENDS; k++)
            to->end[k] = to_orig[k] && ends[2 * i + k] != UINT32_MAX ? to_orig[k][ends[2 * i + k]]
                                                                     : ends[2 * i + k];
        if (times)
            ((int64_t *)x->times.data)[i] = gnn_time_of_entry(m->time == GNN_F64, times[i]);
    }
out:
    gnn_free(ends);
    gnn_free(times);
    return e->code;
}
