/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/link_given.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/data/time.h"

/* ---- what is asked ---- */

bool gnn_link_given_is(const char *text)
{
    const size_t n = strcspn(text, "=");
    return gnn_link_archive_is(text) || (text[n] && gnn_link_set_find(text, n) >= 0);
}

static int parse_files(struct link_given *g, const char *p, struct gnn_err *e)
{
    for (bool more = true; more; p += more) {
        const size_t n = strcspn(p, ","), word = strcspn(p, "=,");
        const int set = gnn_link_set_find(p, word);
        const char *file = p + word + 1;
        if (set < 0 || word + 1 >= n || g->file[set])
            return gnn_fail(e, GNN_E_USAGE,
                            "--split-links %s: expected S/R/D=train=FILE,valid=FILE,test=FILE, of "
                            "which any may be missing",
                            g->text);
        if (!(g->file[set] = gnn_strf(e, "%.*s", (int)(p + n - file), file)))
            return e->code;
        p += n;
        more = *p;
    }
    return 0;
}

/* Times as edges have them: those of f32 are rounded, as they were when the edges were imported. */
static uint64_t key_of(enum gnn_dtype order, int64_t time)
{
    uint64_t key = 0;
    double real;
    if (order != GNN_F32 && order != GNN_F64)
        return order == GNN_U64 ? (uint64_t)time : (uint64_t)time ^ (uint64_t)1 << 63;
    memcpy(&real, &time, sizeof real);
    const float rounded = (float)real;
    (void)gnn_time_key(order, order == GNN_F32 ? (const void *)&rounded : &real, 0, &key);
    return key;
}

static int read_set(struct link_given *g, uint32_t set, struct gnn_link_text x,
                    enum gnn_dtype order, struct gnn_err *e)
{
    g->list[set] = x;
    g->list[set].name = g->file[set];
    if (g->own ? gnn_link_archive_links(g->archive, set, &g->list[set], e)
               : gnn_link_text_open(&g->list[set], e))
        return e->code;
    const uint64_t n = g->list[set].n;
    if (gnn_buf_reserve(&g->all, g->n + n, sizeof(struct link_listed), "links", e))
        return e->code;
    struct link_listed *all = g->all.data;
    const uint32_t *node = g->list[set].node.data;
    const int64_t *time = g->list[set].time.data;
    for (uint64_t i = 0; i < n; i++)
        all[g->n++] = (struct link_listed){.head = node[2 * i],
                                           .tail = node[2 * i + 1],
                                           .time = time ? key_of(order, time[i]) : 0,
                                           .set = set,
                                           .at = i};
    return 0;
}

struct gnn_link_text gnn_link_text_of(const struct gnn_view *v, uint32_t etype)
{
    const struct gnn_etype *t = &v->store->meta.schema.etype[etype];
    return (struct gnn_link_text){.store = v->store,
                                  .ntype = {t->src, t->dst},
                                  .to_store = {v->to_store[t->src], v->to_store[t->dst]},
                                  .to_orig = {v->to_orig[t->src], v->to_orig[t->dst]},
                                  .numbers = GNN_LINK_IDS};
}

/* Sets that the archive has. */
static int open_archive(struct link_given *g, const char *text, const struct gnn_view *v,
                        uint32_t etype, struct gnn_err *e)
{
    g->own = true;
    if (gnn_link_archive_open(g->archive, text, &v->store->meta.schema, etype, e))
        return e->code;
    for (uint32_t i = 0; i < GNN_LINK_SETS; i++)
        if (g->archive->member[i] >= 0 &&
            !(g->file[i] = gnn_link_archive_name(g->archive, i, "links", e)))
            return e->code;
    return 0;
}

int gnn_link_given_read(struct link_given *g, const char *option, const char *text,
                        const struct gnn_view *v, uint32_t etype, enum gnn_dtype order,
                        enum gnn_dtype times, struct gnn_err *e)
{
    struct gnn_link_text x = gnn_link_text_of(v, etype);
    x.times = times;
    x.untimed = "edges of the type have no times";
    g->text = option;
    if (gnn_link_archive_is(text) ? open_archive(g, text, v, etype, e) : parse_files(g, text, e))
        return e->code;
    for (uint32_t i = 0; i < GNN_LINK_SETS; i++)
        if (g->file[i] && read_set(g, i, x, order, e))
            return e->code;
    return 0;
}

/* ---- links by their ends ---- */

/* By tail, head and time; links that are the same in both directions begin with their lesser node.
 */
static int by_ends(const void *a, const void *b)
{
    const struct link_listed *x = a, *y = b;
    return x->tail != y->tail   ? (x->tail < y->tail ? -1 : 1)
           : x->head != y->head ? (x->head < y->head ? -1 : 1)
           : x->time != y->time ? (x->time < y->time ? -1 : 1)
           : x->set != y->set   ? (x->set < y->set ? -1 : 1)
                                : (x->at > y->at) - (x->at < y->at);
}

static bool same_ends(const struct link_listed *x, const struct link_listed *y)
{
    return x->tail == y->tail && x->head == y->head && x->time == y->time;
}

static int fail_both(const struct link_given *g, const struct link_listed *x,
                     const struct link_listed *y, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: line %" PRIu64 ": this link is in set %s, too, by line %" PRIu64 " of %s",
                    g->file[y->set], gnn_link_text_line(&g->list[y->set], y->at),
                    gnn_link_set_name[x->set], gnn_link_text_line(&g->list[x->set], x->at),
                    g->file[x->set]);
}

static void order_ends(struct link_listed *x)
{
    const uint32_t least = x->head < x->tail ? x->head : x->tail;
    x->tail = x->head < x->tail ? x->tail : x->head;
    x->head = least;
}

int gnn_link_given_sort(struct link_given *g, bool both, uint64_t again[GNN_LINK_SETS],
                        struct gnn_err *e)
{
    struct link_listed *all = g->all.data;
    uint64_t first = 0; /* of those of the same ends */
    g->both = both;
    if (!(g->found = gnn_alloc_zero(g->n / 64 + 1, sizeof *g->found, "links", e)))
        return e->code;
    for (uint64_t i = 0; both && i < g->n; i++)
        order_ends(&all[i]);
    if (g->n)
        qsort(all, g->n, sizeof *all, by_ends);
    for (uint64_t i = 1; i < g->n; i++) {
        first = same_ends(&all[first], &all[i]) ? first : i;
        if (all[first].set != all[i].set && !g->own)
            return fail_both(g, &all[i - 1], &all[i], e);
        again[all[i].set] += all[first].set != all[i].set;
    }
    return 0;
}

uint32_t gnn_link_given_find(struct link_given *g, uint32_t head, uint32_t tail, uint64_t time)
{
    const struct link_listed *all = g->all.data;
    struct link_listed want = {.head = head, .tail = tail, .time = time};
    if (g->both)
        order_ends(&want);
    uint64_t low = 0, high = g->n;
    while (low < high) {
        const uint64_t mid = low + (high - low) / 2;
        if (by_ends(&all[mid], &want) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    const uint32_t set = low < g->n && same_ends(&all[low], &want) ? all[low].set : GNN_LINK_SETS;
    for (; low < g->n && same_ends(&all[low], &want); low++)
        g->found[low / 64] |= (uint64_t)1 << low % 64;
    return set;
}

int gnn_link_given_absent(const struct link_given *g, uint64_t absent[GNN_LINK_SETS],
                          struct gnn_err *e)
{
    const struct link_listed *first = NULL;
    for (uint64_t i = 0; i < g->n; i++) {
        const struct link_listed *x = (const struct link_listed *)g->all.data + i;
        if (g->found[i / 64] >> i % 64 & 1)
            continue;
        absent[x->set]++;
        if (x->set == GNN_LINKS_TRAIN && (!first || x->at < first->at))
            first = x;
    }
    return first ? gnn_fail(e, GNN_E_INPUT,
                            "%s: %s %" PRIu64
                            ": this link is no edge of the store; those of valid and test need not "
                            "be edges, but those of train carry messages",
                            g->file[GNN_LINKS_TRAIN], g->own ? "row" : "line",
                            gnn_link_text_line(&g->list[GNN_LINKS_TRAIN], first->at))
                 : 0;
}

void gnn_link_given_release(struct link_given *g)
{
    for (int i = 0; i < GNN_LINK_SETS; i++) {
        gnn_free(g->file[i]);
        gnn_link_text_release(&g->list[i]);
    }
    gnn_buf_release(&g->all);
    gnn_free(g->found);
    *g = (struct link_given){.n = 0};
}
