/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/huge_pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mapped.h"
#include "lib/base/mem.h"
#include "lib/store/out_of_core.h"
#include "lib/store/store_impl.h"

enum { SMALL = 4 << 20 };

struct piece {
    const struct gnn_tensor *t;
    uint64_t bytes;
    int order;
};

bool gnn_huge_pages_offered(const char *root)
{
    char name[256], text[64] = "";
    snprintf(name, sizeof name, "%s/sys/kernel/mm/transparent_hugepage/enabled", root);
    FILE *f = fopen(name, "re");
    const bool read = f && fgets(text, sizeof text, f);
    if (f)
        (void)fclose(f);
    return read && !strstr(text, "[never]");
}

/* Bytes of this process that are in huge pages. */
static uint64_t bytes_in_huge_pages(void)
{
    FILE *f = fopen("/proc/self/smaps_rollup", "re");
    char line[256];
    unsigned long long kb = 0;
    while (f && fgets(line, sizeof line, f) && sscanf(line, "AnonHugePages: %llu", &kb) != 1)
        continue;
    if (f)
        (void)fclose(f);
    return kb * 1024;
}

static bool ends_with(const char *s, const char *end)
{
    const size_t n = strlen(s), m = strlen(end);
    return n >= m && !strcmp(s + n - m, end);
}

/* The order in which tensors are copied: features are read by every batch, other fields by some. */
enum { GRAPH, FEATURES, OTHERS, NEVER };
static int order_of(const char *name)
{
    static const char *const unread[] = {"/id", "/key", "/name", "/name_offsets"};
    const bool edge = !strncmp(name, "edge/", 5), node = !strncmp(name, "node/", 5);
    for (size_t i = 0; i < sizeof unread / sizeof *unread; i++)
        if (ends_with(name, unread[i]))
            return NEVER;
    return edge && (ends_with(name, "/indptr") || ends_with(name, "/indices")) ? GRAPH
           : node && ends_with(name, "/x")                                     ? FEATURES
           : edge || node                                                      ? OTHERS
                                                                               : NEVER;
}

/* Of an order, the larger ones first. */
static int compare_pieces(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return x->order != y->order   ? x->order - y->order
           : x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes)
                                  : strcmp(x->t->name, y->t->name);
}

/* Of the store as it is seen: without tensors of a base store that others have taken the place of.
 */
static int list_pieces(const struct gnn_store *s, unsigned what, struct gnn_buf *list, uint64_t *n,
                       struct gnn_err *e)
{
    for (uint32_t p = s->from; p < s->to; p++)
        for (uint32_t i = 0; i < gnn_store_ntensors(s, p); i++) {
            const struct gnn_tensor *t = gnn_store_peek(s, p, i);
            struct piece x = {.t = t, .order = order_of(t->name)};
            const unsigned kind = x.order == GRAPH ? GNN_HUGE_GRAPH : GNN_HUGE_ROWS;
            if (x.order == NEVER || !(what & kind) || !gnn_tensor_bytes(t, &x.bytes) ||
                x.bytes < SMALL)
                continue;
            if (gnn_buf_reserve(list, *n + 1, sizeof x, "tensors", e))
                return e->code;
            ((struct piece *)list->data)[(*n)++] = x;
        }
    return 0;
}

int gnn_store_huge_pages(struct gnn_store *s, unsigned what, struct gnn_huge_pages *h,
                         struct gnn_err *e)
{
    const uint64_t most = gnn_store_memory(s) / 3, before = bytes_in_huge_pages();
    struct gnn_buf list = {0};
    uint64_t n = 0;
    *h = (struct gnn_huge_pages){0};
    int rc = list_pieces(s, what, &list, &n, e);
    struct piece *x = list.data;
    if (n)
        qsort(x, n, sizeof *x, compare_pieces);
    for (uint64_t i = 0; i < n && !rc; i++) {
        uint64_t copied = 0;
        const bool fits = x[i].bytes <= most - h->copied;
        if (fits)
            rc = gnn_mapped_copy(x[i].t->data, x[i].bytes, &copied, e);
        h->wanted += fits ? copied : x[i].bytes;
        h->copied += copied;
    }
    const uint64_t after = bytes_in_huge_pages();
    h->huge = after > before ? after - before : 0;
    gnn_buf_release(&list);
    return rc;
}
