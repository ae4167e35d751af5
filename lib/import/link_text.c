/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/link_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/text.h"
#include "kernels/pick.h"
#include "lib/import/seed_names.h"

enum { SHOWN = 80, HEAD = 0, TAIL = 1, PIECE = 4096 };

struct reading {
    struct gnn_link_text *x;
    const char *what; /* "line" or "row" */
    uint64_t line;
    /* Nodes before this one, counted through, may have names that only other ranks know. */
    uint64_t known;
    struct gnn_err *e;
};

void gnn_link_text_release(struct gnn_link_text *x)
{
    for (unsigned i = 0; i < 2; i++)
        gnn_seed_names_free(x->names[i]);
    gnn_buf_release(&x->node);
    gnn_buf_release(&x->time);
    gnn_buf_release(&x->line);
    *x = (struct gnn_link_text){.n = 0};
}

uint64_t gnn_link_text_line(const struct gnn_link_text *x, uint64_t i)
{
    return x->line.data ? ((const uint64_t *)x->line.data)[i] : i + 1;
}

static const struct gnn_ntype *type_of(const struct gnn_link_text *x, unsigned end)
{
    return &x->store->meta.schema.ntype[x->ntype[end]];
}

/* ---- nodes ---- */

static int fail_field(const struct reading *r, unsigned end, const char *field, size_t n,
                      const char *why)
{
    char shown[SHOWN];
    return gnn_fail(r->e, GNN_E_INPUT, "%s: %s %" PRIu64 ": '%s' %s of type '%s'", r->x->name,
                    r->what, r->line, gnn_text_shown(shown, sizeof shown, field, n), why,
                    type_of(r->x, end)->name);
}

/* Whether another rank may know the name. */
static bool may_be_remote(const struct reading *r, unsigned end, const uint32_t *id)
{
    return r->x->names[end] && (uint64_t)(id - (const uint32_t *)r->x->node.data) < r->known;
}

/* The original id of the node that a field names: by a name or a number, which is quoted in tables
 * only. */
static int find_node(const struct reading *r, unsigned end, const char *field, size_t n,
                     uint32_t *id)
{
    const struct gnn_id_names *names = r->x->names[end];
    const uint32_t *to_orig = r->x->to_orig[end];
    const bool quoted = field[n] == '"', ids = r->x->numbers == GNN_LINK_IDS;
    uint64_t v;
    if (names && names->find(names, field, n, id))
        return quoted || ids || strspn(field, "0123456789") < n
                   ? 0
                   : fail_field(r, end, field, n,
                                "is the name of a node, and may be a position (write names in "
                                "quotes),");
    const bool named = ids ? names != NULL : quoted;
    const char *after = named ? NULL : gnn_text_u64(field, &v);
    if ((!after || after != field + n) && may_be_remote(r, end, id)) {
        *id = UINT32_MAX;
        return 0;
    }
    if (!after || after != field + n)
        return fail_field(r, end, field, n,
                          ids     ? "is not the id of a node"
                          : names ? "is neither the name nor the position of a node"
                                  : "is not the position of a node");
    if (v >= type_of(r->x, end)->count)
        return fail_field(r, end, field, n, "is out of range: there are fewer nodes");
    *id = to_orig && r->x->numbers == GNN_LINK_POSITIONS ? to_orig[v] : (uint32_t)v;
    return 0;
}

static int find_time(const struct reading *r, const char *field, size_t n, int64_t *time)
{
    const bool real = r->x->times == GNN_F64;
    double v = 0;
    const char *after = field[n] == '"' ? NULL
                        : real          ? gnn_text_f64(field, &v)
                                        : gnn_text_i64(field, time);
    if (!n || after != field + n || isnan(v))
        return gnn_fail(r->e, GNN_E_INPUT, "%s: line %" PRIu64 ": the time of the link is not %s",
                        r->x->name, r->line,
                        real ? "a number" : "a whole number, as times of edges are");
    if (real)
        *time = gnn_time_bits(v);
    return 0;
}

static int make_space(const struct reading *r, uint64_t rows)
{
    struct gnn_link_text *x = r->x;
    return gnn_buf_reserve(&x->node, rows * x->width, sizeof(uint32_t), "links", r->e) ||
                   (x->times && gnn_buf_reserve(&x->time, rows, sizeof(int64_t), "links", r->e))
               ? r->e->code
               : 0;
}

static void choose_rows(struct gnn_link_text *x, uint32_t width)
{
    x->width = width;
    if (x->rows == GNN_LINK_EITHER)
        x->rows = width == 2 ? GNN_LINK_PAIRS : GNN_LINK_TAILS;
}

/* ---- text ---- */

static int fail_width(const struct reading *r, bool more)
{
    const struct gnn_link_text *x = r->x;
    if (x->rows == GNN_LINK_TAILS)
        return gnn_fail(r->e, GNN_E_INPUT,
                        "%s: line %" PRIu64 ": expected %u tails, as in the first", x->name,
                        r->line, x->width);
    return gnn_fail(r->e, GNN_E_INPUT, "%s: line %" PRIu64 ": expected a head, a tail%s%s%s%s",
                    x->name, r->line, x->times ? " and a time" : " and no more",
                    more && x->times ? ", and no more" : "", more && !x->times ? ": " : "",
                    more && !x->times ? x->untimed : "");
}

static uint32_t count_fields(const char *p)
{
    const char sep = gnn_text_separator(p), *field;
    uint32_t n = 0;
    size_t len;
    for (bool last = false; !last && gnn_text_field(p, sep, &field, &len, &p, &last);)
        n++;
    return n;
}

/* The line at *p, which moves behind it. */
static int take_line(const struct reading *r, const char **p)
{
    struct gnn_link_text *x = r->x;
    const char sep = gnn_text_separator(*p), *next = *p, *field;
    uint32_t *node = (uint32_t *)x->node.data + x->n * x->width;
    bool last = false;
    size_t n;
    for (uint32_t i = 0; i < x->width + (x->times != 0); i++) {
        if (last || !gnn_text_field(next, sep, &field, &n, &next, &last))
            return fail_width(r, false);
        const unsigned end = x->rows == GNN_LINK_TAILS || i ? TAIL : HEAD;
        if (i < x->width ? find_node(r, end, field, n, &node[i])
                         : find_time(r, field, n, (int64_t *)x->time.data + x->n))
            return r->e->code;
    }
    if (!last)
        return fail_width(r, true);
    *p = next + 1;
    return 0;
}

/* Lines are kept from the first empty one on: before it, they are the rows' numbers. */
static int note_line(const struct reading *r)
{
    struct gnn_link_text *x = r->x;
    if (!x->line.data && r->line == x->n + 1)
        return 0;
    const bool first = !x->line.data;
    if (gnn_buf_reserve(&x->line, x->n + 1, sizeof(uint64_t), "links", r->e))
        return r->e->code;
    uint64_t *line = x->line.data;
    for (uint64_t i = 0; first && i < x->n; i++)
        line[i] = i + 1;
    line[x->n] = r->line;
    return 0;
}

static int find_names(struct gnn_link_text *x, struct gnn_err *e)
{
    for (unsigned i = 0; i < 2; i++)
        if (!x->names[i] && (i || x->rows != GNN_LINK_TAILS) &&
            gnn_seed_names_has(x->store, x->ntype[i], x->numbers == GNN_LINK_IDS) &&
            !(x->names[i] = gnn_seed_names_new(x->store, x->ntype[i], x->to_store[i], e)))
            return e->code;
    return 0;
}

static int read_lines(struct reading *r, const char *text, uint64_t n)
{
    struct gnn_link_text *x = r->x;
    /* Tables may begin with a byte order mark. */
    const char *p = text + (n > 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0);
    for (; p < text + n; r->line++) {
        if (*gnn_text_blanks(p) == '\n') {
            p = gnn_text_blanks(p) + 1;
            continue;
        }
        if (!x->width)
            choose_rows(x, x->rows == GNN_LINK_PAIRS ? 2 : count_fields(p));
        if (make_space(r, x->n + 1) || note_line(r) || take_line(r, &p))
            return r->e->code;
        x->n++;
    }
    return 0;
}

/* Every rank has read all lines, and knows the names of its own nodes. *known: how many nodes come
 * before the first that none knows. */
static int share_nodes(struct gnn_link_text *x, uint64_t *known, struct gnn_err *e)
{
    const uint64_t all = x->n * x->width;
    uint32_t *node = x->node.data;
    uint64_t v[PIECE];
    *known = all;
    for (uint64_t first = 0; first < all; first += PIECE) {
        const uint64_t n = all - first < PIECE ? all - first : PIECE;
        for (uint64_t i = 0; i < n; i++)
            v[i] = node[first + i] == UINT32_MAX ? 0 : 1 + (uint64_t)node[first + i];
        if (gnn_comm_all_reduce(x->store->comm, v, n, GNN_REDUCE_MAX, e))
            return e->code;
        for (uint64_t i = 0; i < n; i++) {
            node[first + i] = (uint32_t)(v[i] - 1);
            if (!v[i] && *known == all)
                *known = first + i;
        }
    }
    return 0;
}

int gnn_link_text_read(struct gnn_link_text *x, const char *text, uint64_t n, struct gnn_err *e)
{
    const bool ranks = x->store->comm->size > 1;
    struct reading r = {.x = x, .what = "line", .line = 1, .known = ranks ? UINT64_MAX : 0, .e = e};
    if (find_names(x, e) || read_lines(&r, text, n))
        return e->code;
    if (!ranks || (!x->names[HEAD] && !x->names[TAIL]))
        return 0;
    if (share_nodes(x, &r.known, e) || r.known == x->n * x->width)
        return e->code;
    /* Its line is read again, to say what is there. */
    x->n = 0;
    r.line = 1;
    return read_lines(&r, text, n);
}

/* ---- arrays ---- */

/* Whether a number is its node's original id, as it is where nodes have no other ids. */
static bool is_number(const struct gnn_link_text *x, unsigned end, int64_t v)
{
    return !x->names[end] && (!x->to_orig[end] || x->numbers != GNN_LINK_POSITIONS) && v >= 0 &&
           (uint64_t)v < type_of(x, end)->count;
}

static int take_row(const struct reading *r, const int64_t *row)
{
    struct gnn_link_text *x = r->x;
    uint32_t *node = (uint32_t *)x->node.data + x->n * x->width;
    char text[32];
    for (uint32_t i = 0; i < x->width; i++) {
        const unsigned end = x->rows == GNN_LINK_TAILS || i ? TAIL : HEAD;
        if (is_number(x, end, row[i])) {
            node[i] = (uint32_t)row[i];
            continue;
        }
        const int n = snprintf(text, sizeof text, "%" PRId64 "\n", row[i]);
        if (find_node(r, end, text, (size_t)n - 1, &node[i]))
            return r->e->code;
    }
    if (x->times == GNN_F64)
        ((int64_t *)x->time.data)[x->n] = gnn_time_bits((double)row[x->width]);
    else if (x->times)
        ((int64_t *)x->time.data)[x->n] = row[x->width];
    return 0;
}

static int fail_array_width(const struct gnn_link_text *x, uint64_t width, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "%s: rows of %" PRIu64 ": expected %s", x->name, width,
                    x->rows == GNN_LINK_TAILS ? "tails"
                    : x->times                ? "a head, a tail and a time"
                                              : "a head and a tail");
}

int gnn_link_text_rows(struct gnn_link_text *x, const int64_t *row, uint64_t n, uint64_t width,
                       struct gnn_err *e)
{
    struct reading r = {.x = x, .what = "row", .line = x->n + 1, .e = e};
    if (!x->width)
        choose_rows(x, x->rows == GNN_LINK_PAIRS ? 2 : (uint32_t)width);
    if (!width || width != x->width + (x->times != 0))
        return fail_array_width(x, width, e);
    if (find_names(x, e) || make_space(&r, x->n + n))
        return e->code;
    for (uint64_t i = 0; i < n && !take_row(&r, row + i * width); i++, r.line++)
        x->n++;
    return e->code;
}
