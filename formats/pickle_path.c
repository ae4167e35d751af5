/* SPDX-License-Identifier: Apache-2.0 */
/* The way to a value of a pickle, for messages (formats/pickle.h): a search in breadth from the
 * root, since values do not know what they are parts of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/pickle_impl.h"

enum { STEPS = 24 }; /* shown of a way, the last ones */

/* from[v]: the value that v was found as a part of; UINT32_MAX: not found yet. */
struct search {
    const struct gnn_pickle *p;
    uint32_t *from, *queue;
    uint64_t n;
};

static void find_part(struct search *s, uint32_t from, uint32_t part)
{
    if (s->from[part] == UINT32_MAX) {
        s->from[part] = from;
        s->queue[s->n++] = part;
    }
}

static void find_parts(struct search *s, uint32_t at)
{
    const struct gnn_pickle_value *v = s->p->value + at;
    switch (gnn_pickle_kind(v)) {
    case GNN_PICKLE_TUPLE:
    case GNN_PICKLE_LIST:
    case GNN_PICKLE_DICT:
    case GNN_PICKLE_SET:
        for (uint64_t i = 0; i < v->count; i++)
            find_part(s, at, s->p->item[v->u.at + i]);
        break;
    case GNN_PICKLE_OBJECT:
        find_part(s, at, v->count);
        if (v->flags & PICKLE_BUILT)
            find_part(s, at, v->u.o.state);
        break;
    case GNN_PICKLE_PERSISTENT:
        find_part(s, at, v->count);
        break;
    default:
        break;
    }
}

static bool search_value(struct search *s, uint32_t root, uint32_t want)
{
    find_part(s, root, root);
    for (uint64_t i = 0; i < s->n && s->from[want] == UINT32_MAX; i++)
        find_parts(s, s->queue[i]);
    return s->from[want] != UINT32_MAX;
}

/* One step of a way: what Python would have behind the name of `from` to get `part`. */
static void write_step(const struct gnn_pickle *p, uint32_t from, uint32_t part, char *out,
                       size_t capacity)
{
    const struct gnn_pickle_value *v = p->value + from;
    const enum gnn_pickle_kind k = gnn_pickle_kind(v);
    const bool dict = k == GNN_PICKLE_DICT;
    char key[64];
    struct gnn_word w;
    uint64_t i = 0;
    *out = 0;
    if (k == GNN_PICKLE_OBJECT && part == v->count)
        snprintf(out, capacity, "(arguments)");
    if (k == GNN_PICKLE_PERSISTENT)
        snprintf(out, capacity, "(id)");
    if (k == GNN_PICKLE_OBJECT || k == GNN_PICKLE_PERSISTENT)
        return;
    while (i + 1 < v->count && p->item[v->u.at + i] != part)
        i++;
    if (dict && i % 2 == 0)
        snprintf(out, capacity, "(key %llu)", (unsigned long long)i / 2);
    else if (dict && gnn_pickle_text(p, p->value + p->item[v->u.at + i - 1], &w))
        snprintf(out, capacity, "['%s']", gnn_text_shown(key, sizeof key, w.p, w.n));
    else
        snprintf(out, capacity, dict ? "(value %llu)" : "[%llu]",
                 (unsigned long long)(dict ? i / 2 : i));
}

static void write_path(const struct search *s, uint32_t root, uint32_t want, char *out,
                       size_t capacity)
{
    uint32_t step[STEPS + 1], n = 0;
    size_t used = 0;
    char text[96];
    for (step[0] = want; step[n] != root && n < STEPS; n++)
        step[n + 1] = s->from[step[n]];
    if (step[n] != root)
        used = (size_t)snprintf(out, capacity, "...");
    else
        *out = 0;
    for (; n; n--) {
        write_step(s->p, step[n], step[n - 1], text, sizeof text);
        if (used + strlen(text) + 4 > capacity) {
            snprintf(out + used, capacity - used, "...");
            return;
        }
        used += (size_t)snprintf(out + used, capacity - used, "%s", text);
    }
    if (!*out) /* the state of the root, which has no name of its own */
        snprintf(out, capacity, "the value");
}

const char *gnn_pickle_path(const struct gnn_pickle *p, const struct gnn_pickle_value *v, char *out,
                            size_t capacity)
{
    struct search s = {.p = p};
    snprintf(out, capacity, v && v == p->root ? "the value" : "?");
    if (!v || v == p->root)
        return out;
    s.from = malloc(p->values * sizeof *s.from);
    s.queue = malloc(p->values * sizeof *s.queue);
    const uint32_t root = (uint32_t)(p->root - p->value), want = (uint32_t)(v - p->value);
    if (s.from && s.queue) {
        memset(s.from, 0xff, p->values * sizeof *s.from);
        if (search_value(&s, root, want))
            write_path(&s, root, want, out, capacity);
    }
    free(s.from);
    free(s.queue);
    return out;
}
