/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of nodes (lib/store/ids.h): from original ones to those of the store, and ids read from text.
 * Partitions renumber nodes so that each owns a range; node/TYPE/id says what they were. */
#include "lib/store/ids.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/text.h"
#include "kernels/pick.h"

enum { SHOWN = 64 }; /* capacity for what messages show of a line */

static int fill_inverse(struct gnn_store *s, uint32_t t, uint32_t *inv, struct gnn_err *e)
{
    const struct gnn_ntype *nt = &s->meta.schema.ntype[t];
    memset(inv, 0xff, nt->count * sizeof *inv);
    for (uint32_t p = s->from; p < s->to; p++) {
        const struct gnn_tensor *x = gnn_store_findf(s, p, "node/%s/id", nt->name);
        const uint64_t first = s->book[t][p], n = gnn_store_owned(s, p, t);
        const uint32_t *id = x ? x->data : NULL;
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t o = id ? id[i] : first + i;
            if (o >= nt->count || inv[o] != UINT32_MAX)
                return gnn_fail(e, GNN_E_INPUT,
                                "%s: tensor 'node/%s/id': row %" PRIu64 ": id %" PRIu64 " is %s",
                                gnn_store_part_path(s, p), nt->name, i, o,
                                o >= nt->count ? "out of range" : "a duplicate");
            inv[o] = (uint32_t)(first + i);
        }
    }
    return 0;
}

int gnn_store_nodes(struct gnn_store *s, uint32_t t, uint32_t **ids, struct gnn_err *e)
{
    *ids = gnn_alloc(s->meta.schema.ntype[t].count, sizeof **ids, "original ids", e);
    if (*ids && fill_inverse(s, t, *ids, e)) {
        gnn_free(*ids);
        *ids = NULL;
    }
    return *ids ? 0 : e->code;
}

int gnn_store_inverse(struct gnn_store *s, uint32_t t, uint32_t **inverse, struct gnn_err *e)
{
    const struct gnn_ntype *nt = &s->meta.schema.ntype[t];
    bool renamed = false;
    *inverse = NULL;
    for (uint32_t p = s->from; p < s->to; p++)
        renamed = renamed || gnn_store_findf(s, p, "node/%s/id", nt->name);
    if (!renamed)
        return 0;
    return gnn_store_nodes(s, t, inverse, e);
}

int gnn_store_all_gather(const struct gnn_store *s, uint32_t t, uint32_t *v, struct gnn_err *e)
{
    const uint64_t *book = s->rank_book[t], own = book[s->comm->rank],
                   n = book[s->comm->rank + 1] - own;
    struct gnn_exchange x = {0};
    if (s->comm->size == 1)
        return 0;
    int rc = gnn_exchange_init(&x, s->comm, gnn_comm_tag(GNN_COMM_CONTROL, GNN_COMM_SOURCES), e);
    if (!rc)
        rc = gnn_comm_all_gather(s->comm, &x, v + own, n * sizeof *v, e);
    for (uint32_t r = 0; !rc && r < s->comm->size; r++) {
        const uint64_t bytes = (book[r + 1] - book[r]) * sizeof *v;
        if (x.in[r].bytes != bytes)
            rc = gnn_fail(e, GNN_E_RANK, "malformed reply from rank %u", r);
        else if (r != s->comm->rank)
            memcpy(v + book[r], x.in[r].data, bytes);
    }
    gnn_exchange_release(&x);
    return rc;
}

int gnn_store_bad_node(const struct gnn_batch *b, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "batch %" PRIu64 "/%" PRIu64 ": node id out of range", b->epoch,
                    b->step);
}

int gnn_store_batch_ids(const struct gnn_store *s, const struct gnn_batch *b, uint32_t t,
                        uint64_t n, const uint32_t *inverse, struct gnn_buf *capacity,
                        const uint32_t **ids, struct gnn_err *e)
{
    const uint64_t limit = s->meta.schema.ntype[t].count;
    const uint32_t *id = *ids = b->type[t].node;
    if (inverse && gnn_buf_fit(capacity, n, sizeof *id, "node ids", e))
        return e->code;
    for (uint64_t i = 0; i < n; i++) {
        if (id[i] >= limit)
            return gnn_store_bad_node(b, e);
        if (inverse)
            ((uint32_t *)capacity->data)[i] = inverse[id[i]];
    }
    if (inverse)
        *ids = capacity->data;
    return 0;
}

static int compare_u32(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void gnn_u32_sort(uint32_t *v, uint64_t n)
{
    qsort(v, n, sizeof *v, compare_u32);
}

void gnn_id_reader_init(struct gnn_id_reader *r, int fd, const char *name, const char *what,
                        uint64_t limit)
{
    *r = (struct gnn_id_reader){
        .fd = fd, .name = name, .what = what, .limit = limit, .line = 1, .fresh = true};
}

void gnn_id_reader_release(struct gnn_id_reader *r)
{
    gnn_buf_release(&r->text);
}

/* The next byte, or -1 at the end, or -2 on failure. */
static int read_byte(struct gnn_id_reader *r, struct gnn_err *e)
{
    while (r->at == r->have) {
        if (r->over)
            return -1;
        ssize_t n = read(r->fd, r->buf, sizeof r->buf);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            (void)(errno == EISDIR ? gnn_fail_open(e, r->name)
                                   : gnn_fail_errno(e, "%s: cannot read", r->name));
            return -2;
        }
        r->over = n == 0;
        r->at = 0;
        r->have = (uint32_t)n;
    }
    return (unsigned char)r->buf[r->at++];
}

/* The same, but a line ends in one newline, whether it ends in LF, CR or both. */
static int next_byte(struct gnn_id_reader *r, struct gnn_err *e)
{
    int c = read_byte(r, e);
    if (c == '\n' && r->returned)
        c = read_byte(r, e);
    r->returned = c == '\r';
    return c == '\r' ? '\n' : c;
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\t';
}

/* A number that is too large already stays so. */
static uint64_t add_digit(uint64_t v, int c)
{
    return v < 1000000000000 ? v * 10 + (uint64_t)(c - '0') : v;
}

static int out_of_range(const struct gnn_id_reader *r, const char *digits, uint32_t n,
                        struct gnn_err *e)
{
    char shown[SHOWN];
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: line %" PRIu64 ": %s %s is out of range: there are %" PRIu64, r->name,
                    r->at_line, r->what, gnn_text_shown(shown, sizeof shown, digits, n), r->limit);
}

/* The next id, and in *c what follows it, blank or not; GNN_END at the end of the input, or of a
 * list of `some` ids. */
static int next_id(struct gnn_id_reader *r, bool some, uint32_t *id, int *c, struct gnn_err *e)
{
    *c = next_byte(r, e);
    while (is_blank(*c) || *c == '\n') {
        const bool empty = *c == '\n' && r->fresh;
        r->line += *c == '\n';
        r->fresh = r->fresh || *c == '\n';
        if (empty && some && r->lists) {
            *c = 0;
            return GNN_END;
        }
        *c = next_byte(r, e);
    }
    if (*c < 0)
        return *c == -1 ? GNN_END : e->code;
    uint64_t v = 0;
    char digits[SHOWN + 1];
    uint32_t n = 0;
    for (; *c >= '0' && *c <= '9'; *c = next_byte(r, e)) {
        v = add_digit(v, *c);
        digits[n] = (char)*c;
        n += n < SHOWN; /* one more than are shown says that there are more */
    }
    if (*c == -2)
        return e->code;
    if (*c != -1 && *c != '\n' && !is_blank(*c))
        return gnn_fail(e, GNN_E_INPUT, "%s: line %" PRIu64 ": not a %s", r->name, r->line,
                        r->what);
    r->at_line = r->line;
    r->fresh = *c == '\n';
    *id = (uint32_t)v;
    return v < r->limit ? 0 : out_of_range(r, digits, n, e);
}

/* The next line that is not blank, without blanks round it; GNN_END at the end, or at that of a
 * list of `some` ids. */
static int next_line(struct gnn_id_reader *r, bool some, struct gnn_err *e)
{
    int c = ' ';
    r->from = r->len = 0;
    while (c == '\n' || is_blank(c)) {
        c = next_byte(r, e);
        r->line += c == '\n';
        if (c == '\n' && some && r->lists)
            return GNN_END;
    }
    r->at_line = r->line;
    for (; c >= 0 && c != '\n'; c = next_byte(r, e)) {
        if (gnn_buf_reserve(&r->text, (uint64_t)r->len + 2, 1, "a line", e))
            return e->code;
        if (r->len == UINT32_MAX / 2)
            return gnn_fail(e, GNN_E_INPUT, "%s: line %" PRIu64 ": too long", r->name, r->line);
        ((char *)r->text.data)[r->len++] = (char)c;
    }
    char *text = r->text.data;
    while (r->len && is_blank(text[r->len - 1]))
        r->len--;
    if (r->len)
        text[r->len] = 0;
    r->line += c == '\n';
    return c == -2 ? e->code : r->len ? 0 : GNN_END;
}

/* The node that n bytes of the line name, in quotes or not; false: none. */
static bool find_name(const struct gnn_id_reader *r, uint32_t n, uint32_t *id)
{
    const char *text = r->text.data;
    return r->names->find(r->names, text, n, id) || (n > 1 && *text == '"' && text[n - 1] == '"' &&
                                                     r->names->find(r->names, text + 1, n - 2, id));
}

/* The number at r->from of the line. */
static int next_number(struct gnn_id_reader *r, uint32_t end, uint32_t *id, struct gnn_err *e)
{
    const char *text = r->text.data;
    const uint32_t from = r->from;
    char shown[SHOWN];
    uint64_t v = 0;
    for (; r->from < end && text[r->from] >= '0' && text[r->from] <= '9'; r->from++)
        v = add_digit(v, text[r->from]);
    if (r->from == from || (r->from < end && !is_blank(text[r->from])))
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: line %" PRIu64 ": no node is called '%s', and it is no %s", r->name,
                        r->at_line, gnn_text_shown(shown, sizeof shown, text, end), r->what);
    if (v >= r->limit)
        return out_of_range(r, text + from, r->from - from, e);
    while (r->from < end && is_blank(text[r->from]))
        r->from++;
    *id = (uint32_t)v;
    return 0;
}

/* The id in the first n bytes of the line, which are a name or begin with a number. */
static int id_of_line(struct gnn_id_reader *r, uint32_t n, uint32_t *id, struct gnn_err *e)
{
    const char *text = r->text.data;
    char shown[SHOWN];
    if (!find_name(r, n, id))
        return next_number(r, n, id, e);
    r->from = n;
    if (strspn(text, "0123456789") < n)
        return 0;
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: line %" PRIu64 ": %s is the name of a node, and may be a position: "
                    "write names in quotes",
                    r->name, r->at_line, gnn_text_shown(shown, sizeof shown, text, n));
}

/* The next id where there are names. */
static int next_named(struct gnn_id_reader *r, bool some, uint32_t *id, struct gnn_err *e)
{
    if (r->from < r->len)
        return next_number(r, r->len, id, e);
    const int rc = next_line(r, some, e);
    return rc ? rc : id_of_line(r, r->len, id, e);
}

int gnn_id_reader_next(struct gnn_id_reader *r, uint32_t *ids, uint64_t want, uint64_t *got,
                       struct gnn_err *e)
{
    int c = 0, rc;
    for (*got = 0; *got < want; ++*got) {
        rc = r->names ? next_named(r, *got, &ids[*got], e) : next_id(r, *got, &ids[*got], &c, e);
        if (rc)
            return rc == GNN_END ? 0 : rc;
        r->line += c == '\n';
    }
    return 0;
}

/* The time in the n bytes of text, which has space for one more; `ended`: nothing follows. */
static int parse_time(const struct gnn_id_reader *r, char *text, size_t n, bool ended, bool real,
                      int64_t *time, struct gnn_err *e)
{
    double v;
    text[n] = '\n';
    const char *end = real ? gnn_text_f64(text, &v) : gnn_text_i64(text, time);
    if (!n || !end || *end != '\n' || !ended || (real && isnan(v)))
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: line %" PRIu64 ": expected a %s and its time, which is %s", r->name,
                        r->at_line, r->what,
                        real ? "a number" : "a whole number, as times of edges are");
    if (real)
        *time = gnn_time_bits(v);
    return 0;
}

/* The time in the rest of the line after an id, of which c is the first byte. */
static int rest_of_line(struct gnn_id_reader *r, int c, bool real, int64_t *time, struct gnn_err *e)
{
    char text[64];
    size_t n = 0;
    while (is_blank(c))
        c = next_byte(r, e);
    for (; c >= 0 && c != '\n' && n < sizeof text - 1; c = next_byte(r, e))
        text[n++] = (char)c;
    if (c == -2)
        return e->code;
    while (n && is_blank(text[n - 1]))
        n--;
    int rc = parse_time(r, text, n, c == '\n' || c == -1, real, time, e);
    r->line += !rc && c == '\n';
    r->fresh = true;
    return rc;
}

/* A line with a name or a number, and its time: the last word. */
static int next_timed(struct gnn_id_reader *r, bool some, uint32_t *id, bool real, int64_t *time,
                      struct gnn_err *e)
{
    int rc = next_line(r, some, e);
    if (rc)
        return rc;
    char *text = r->text.data;
    uint32_t at = r->len;
    while (at && !is_blank(text[at - 1]))
        at--;
    uint32_t n = at;
    while (n && is_blank(text[n - 1]))
        n--;
    rc = n ? id_of_line(r, n, id, e) : parse_time(r, text, 0, true, real, time, e);
    return rc ? rc : parse_time(r, text + at, r->len - at, r->from == n, real, time, e);
}

int gnn_id_reader_timed(struct gnn_id_reader *r, uint32_t *ids, int64_t *times, bool real,
                        uint64_t want, uint64_t *got, struct gnn_err *e)
{
    int c, rc;
    for (*got = 0; *got < want; ++*got)
        if (r->names ? (rc = next_timed(r, *got, &ids[*got], real, &times[*got], e))
                     : ((rc = next_id(r, *got, &ids[*got], &c, e)) ||
                        (rc = rest_of_line(r, c, real, &times[*got], e))))
            return rc == GNN_END ? 0 : rc;
    return 0;
}
