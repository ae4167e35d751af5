/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/ragged.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/base/mem.h"

static int fail_list(const struct gnn_store *s, uint32_t set, uint64_t link, const char *what,
                     struct gnn_err *e)
{
    const struct gnn_split_set *m = &s->meta.schema.set[set];
    return gnn_fail(e, GNN_E_INPUT, "%s: set '%s/%s': the list of link %" PRIu64 " %s", s->path,
                    m->split, m->set, link, what);
}

int gnn_ragged_find(const struct gnn_store *s, uint32_t set, const uint32_t *link, uint64_t n,
                    const uint32_t *pair, uint64_t *first, uint64_t *longest, struct gnn_err *e)
{
    const uint64_t all = s->meta.schema.set[set].count;
    uint64_t at = 0;
    *longest = 0;
    first[0] = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t *own = link + 2 * i;
        while (at < all && pair[2 * at] == own[0] && pair[2 * at + 1] != own[1])
            at++;
        if (at == all)
            return fail_list(s, set, i, "has no end", e);
        if (pair[2 * at] != own[0])
            return fail_list(s, set, i, "has a candidate with another head", e);
        const uint64_t many = at++ - first[i];
        if (many > GNN_NEGATIVES_MAX)
            return fail_list(s, set, i, "has more than 65536 candidates", e);
        *longest = many > *longest ? many : *longest;
        first[i + 1] = at;
    }
    if (at < all)
        return fail_list(s, set, n, "is of no link", e);
    return *longest ? 0
                    : gnn_fail(e, GNN_E_INPUT, "%s: set '%s/%s': no link has a candidate", s->path,
                               s->meta.schema.set[set].split, s->meta.schema.set[set].set);
}

int gnn_ragged_verify(struct gnn_store *s, uint32_t set, struct gnn_err *e)
{
    const struct gnn_split_set *m = &s->meta.schema.set[set];
    char name[2 * GNN_WORD_MAX + 2];
    snprintf(name, sizeof name, GNN_LINK_SPLIT "/%s", m->set);
    const int of = gnn_schema_find_links(&s->meta.schema, m->etype, name);
    if (of < 0)
        return gnn_fail(e, GNN_E_INPUT, "%s: set '%s/%s' has no links: there is no set '%s'",
                        s->path, m->split, m->set, name);
    const uint64_t n = s->meta.schema.set[of].count;
    uint32_t *link = NULL, *pair = NULL;
    uint64_t longest, *first = gnn_alloc(n + 1, sizeof *first, "lists of candidates", e);
    if (first && !gnn_store_links(s, (uint32_t)of, &link, NULL, e) &&
        !gnn_store_links(s, set, &pair, NULL, e))
        (void)!gnn_ragged_find(s, set, link, n, pair, first, &longest, e);
    gnn_free(first);
    gnn_free(link);
    gnn_free(pair);
    return e->code;
}
