/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/link_dict.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/npy.h"
#include "kernels/pick.h"
#include "lib/base/mem.h"

typedef const struct gnn_pickle_value *value;

enum { WIDEST = GNN_NEGATIVES_MAX };

/* ---- keys ---- */

/* A whole number of Python or NumPy. */
static bool read_number(const struct link_dict *d, value v, int64_t *out)
{
    struct gnn_strided a;
    uint8_t bytes[8];
    uint64_t bad;
    char why[128];
    if (gnn_pickle_int(v, out))
        return true;
    if (!gnn_torch_is_array(v) || gnn_torch_array(d->file, v, &a, why, sizeof why) || a.ndim ||
        a.count != 1)
        return false;
    gnn_strided_copy(&a, 0, 1, bytes);
    return gnn_npy_to_i64(a.dtype, bytes, out, 1, &bad);
}

static int fail_key(const struct link_dict *d, value key, struct gnn_err *e)
{
    char shown[128];
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: the key of a link is %s: expected (head, tail, time), three whole numbers",
                    d->name, gnn_pickle_describe(&d->file->pickle, key, shown, sizeof shown));
}

static int by_link(const void *a, const void *b)
{
    const struct link_dict_entry *x = a, *y = b;
    return x->head != y->head   ? (x->head < y->head ? -1 : 1)
           : x->tail != y->tail ? (x->tail < y->tail ? -1 : 1)
                                : (x->time > y->time) - (x->time < y->time);
}

static int read_keys(struct link_dict *d, struct gnn_err *e)
{
    const struct gnn_pickle *p = &d->file->pickle;
    const uint64_t n = gnn_pickle_count(p, p->root);
    if (!(d->entry = gnn_alloc(n, sizeof *d->entry, "candidates", e)))
        return e->code;
    for (; d->n < n; d->n++) {
        value key = gnn_pickle_key(p, p->root, d->n);
        struct link_dict_entry *x = &d->entry[d->n];
        x->tails = gnn_pickle_item(p, p->root, d->n);
        if (gnn_pickle_kind(key) != GNN_PICKLE_TUPLE || gnn_pickle_count(p, key) != 3 ||
            !read_number(d, gnn_pickle_item(p, key, 0), &x->head) ||
            !read_number(d, gnn_pickle_item(p, key, 1), &x->tail) ||
            !read_number(d, gnn_pickle_item(p, key, 2), &x->time))
            return fail_key(d, key, e);
    }
    if (n)
        qsort(d->entry, n, sizeof *d->entry, by_link);
    return 0;
}

/* A pipe comes once only, and is left to the reader of other files. */
static bool is_pipe(const char *file)
{
    struct stat st;
    return !strcmp(file, "-") || (!stat(file, &st) && S_ISFIFO(st.st_mode));
}

int gnn_link_dict_open(struct link_dict *d, const char *file, struct gnn_err *e)
{
    struct gnn_input *in = NULL;
    struct gnn_err why = {0}; /* which the reader of other files says */
    *d = (struct link_dict){.name = file};
    if (is_pipe(file))
        return 0;
    if (!(d->held = gnn_alloc_zero(1, sizeof *d->held, "input", e)))
        return e->code;
    if (gnn_input_open(&in, &file, 1, &why) || gnn_input_members(in) != 1) {
        gnn_input_free(in);
        return why.code == GNN_E_NOMEM ? gnn_fail_as(e, &why) : 0;
    }
    if (!gnn_input_values(in, d->held, &d->file, e) && d->file) {
        const struct gnn_pickle *p = &d->file->pickle;
        if (gnn_pickle_kind(p->root) == GNN_PICKLE_DICT &&
            gnn_pickle_kind(gnn_pickle_key(p, p->root, 0)) == GNN_PICKLE_TUPLE)
            (void)!read_keys(d, e);
    }
    gnn_input_free(in);
    return e->code;
}

void gnn_link_dict_release(struct link_dict *d)
{
    gnn_array_list_free(d->held);
    gnn_free(d->entry);
    *d = (struct link_dict){.n = 0};
}

/* ---- candidates ---- */

/* What a set has for each link, and how tails are numbered. */
struct taking {
    const struct link_dict *d;
    struct link_sets *x;
    uint32_t set;
    uint64_t first, tails;      /* number of the first tail; how many there are */
    uint64_t fewest, most, all; /* candidates of a link; of all links */
    int64_t *row;               /* [most] as they are numbered, in memory after */
    uint8_t *raw;               /* [most] as they are there */
    uint32_t *to;               /* the pair that is made next */
};

static int64_t time_of(const struct link_sets *x, int64_t time)
{
    double real;
    if (x->time != GNN_F64)
        return time;
    memcpy(&real, &time, sizeof real);
    return (int64_t)real;
}

static int fail_link(const struct taking *k, uint64_t i, const char *what, struct gnn_err *e)
{
    const struct link_members *m = &k->x->set[k->set];
    return gnn_fail(e, GNN_E_INPUT, "%s: link (%" PRIu32 ", %" PRIu64 ", %" PRId64 ") of set %s %s",
                    k->d->name, m->ends[2 * i], k->first + m->ends[2 * i + 1],
                    time_of(k->x, m->time[i]), gnn_link_set_name[k->set], what);
}

static const struct link_dict_entry *find_link(const struct taking *k, uint64_t i)
{
    const struct link_members *m = &k->x->set[k->set];
    const struct link_dict_entry want = {.head = m->ends[2 * i],
                                         .tail = (int64_t)(k->first + m->ends[2 * i + 1]),
                                         .time = time_of(k->x, m->time[i])};
    return bsearch(&want, k->d->entry, k->d->n, sizeof want, by_link);
}

static void turn_link(const struct taking *k, uint64_t i)
{
    uint32_t *link = k->x->set[k->set].ends + 2 * i, head = link[0];
    link[0] = link[1];
    link[1] = head;
}

/* The array of link i. A link that is the same in both directions gets the one that its candidates
 * have. */
static int find_tails(const struct taking *k, uint64_t i, struct gnn_strided *a, struct gnn_err *e)
{
    const struct link_dict_entry *found = find_link(k, i);
    char why[256], what[320];
    if (!found && k->x->symmetric) {
        turn_link(k, i);
        if (!(found = find_link(k, i)))
            turn_link(k, i);
    }
    if (!found)
        return fail_link(k, i, "is not in it", e);
    if (!gnn_torch_is_array(found->tails))
        return fail_link(k, i, "has no array of candidates", e);
    if (gnn_torch_array(k->d->file, found->tails, a, why, sizeof why)) {
        snprintf(what, sizeof what, "has candidates that are not read: %s", why);
        return fail_link(k, i, what, e);
    }
    return a->ndim == 1 ? 0 : fail_link(k, i, "has candidates that are no list", e);
}

/* How many candidates links have. */
static int count_tails(struct taking *k, struct gnn_err *e)
{
    const uint64_t n = k->x->set[k->set].n;
    struct gnn_strided a;
    k->fewest = UINT64_MAX;
    for (uint64_t i = 0; i < n; i++) {
        if (find_tails(k, i, &a, e))
            return e->code;
        if (a.count > WIDEST)
            return fail_link(k, i, "has more than 65536 candidates", e);
        k->fewest = a.count < k->fewest ? a.count : k->fewest;
        k->most = a.count > k->most ? a.count : k->most;
        k->all += a.count;
    }
    k->x->fewest[k->set] = k->fewest;
    k->x->most[k->set] = k->most;
    return k->most ? 0
                   : gnn_fail(e, GNN_E_INPUT, "%s: no link of set %s has a candidate", k->d->name,
                              gnn_link_set_name[k->set]);
}

static int alloc_pairs(struct taking *k, struct gnn_err *e)
{
    struct link_members *to = &k->x->given[k->set];
    to->n = k->all + (k->fewest < k->most ? k->x->set[k->set].n : 0);
    if (!(k->row = gnn_alloc(k->most, sizeof *k->row, "candidates", e)) ||
        !(k->raw = gnn_alloc(k->most, 8, "candidates", e)) ||
        !(to->ends = gnn_alloc(2 * to->n, sizeof *to->ends, "negatives", e)))
        return e->code;
    k->to = to->ends;
    return 0;
}

static int fail_tail(const struct taking *k, uint64_t i, int64_t tail, struct gnn_err *e)
{
    char what[128];
    snprintf(what, sizeof what, "has the candidate %" PRId64 ": tails are %" PRIu64 " to %" PRIu64,
             tail, k->first, k->first + k->tails - 1);
    return fail_link(k, i, what, e);
}

static void put_pair(struct taking *k, uint32_t head, uint32_t tail)
{
    *k->to++ = head;
    *k->to++ = tail;
}

/* The pairs of link i. Of lists of different lengths each ends with the link, which cannot be a
 * candidate then. */
static int take_link(struct taking *k, uint64_t i, struct gnn_err *e)
{
    const uint32_t *link = k->x->set[k->set].ends + 2 * i;
    const bool vary = k->fewest < k->most;
    struct gnn_strided a;
    uint64_t bad;
    if (find_tails(k, i, &a, e))
        return e->code;
    gnn_strided_copy(&a, 0, a.count, k->raw);
    if (!gnn_npy_to_i64(a.dtype, k->raw, k->row, a.count, &bad))
        return fail_link(k, i, "has a candidate that is no whole number", e);
    for (uint64_t j = 0; j < a.count; j++) {
        const uint64_t tail = (uint64_t)k->row[j] - k->first;
        if (k->row[j] < 0 || tail >= k->tails)
            return fail_tail(k, i, k->row[j], e);
        if (vary && tail == link[1])
            return fail_link(k, i,
                             "has its own tail among its candidates, which is read only if all "
                             "links have as many",
                             e);
        put_pair(k, link[0], (uint32_t)tail);
        k->x->same[k->set] += tail == link[1];
    }
    if (vary)
        put_pair(k, link[0], link[1]);
    return 0;
}

int gnn_link_dict_take(const struct link_dict *d, struct link_sets *x, uint32_t set,
                       struct gnn_err *e)
{
    const struct gnn_schema *c = &x->view->store->meta.schema;
    const struct gnn_etype *t = &c->etype[x->edges[0].etype];
    const struct link_members *m = &x->set[set];
    struct taking k = {.d = d,
                       .x = x,
                       .set = set,
                       .first = t->src == t->dst ? 0 : c->ntype[t->src].count,
                       .tails = c->ntype[t->dst].count};
    if (!m->n)
        return gnn_fail(e, GNN_E_INPUT, "--negatives %s=%s: there are no links of this set",
                        gnn_link_set_name[set], d->name);
    if (!m->time)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: candidates by (head, tail, time), but edges of the type have no times",
                        d->name);
    x->each[set] = true;
    if (!count_tails(&k, e) && !alloc_pairs(&k, e))
        for (uint64_t i = 0; i < m->n && !take_link(&k, i, e); i++)
            ;
    gnn_free(k.row);
    gnn_free(k.raw);
    return e->code;
}
