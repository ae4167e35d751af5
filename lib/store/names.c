/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/names.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/base/mem.h"

static const void *data_of(struct gnn_store *s, uint32_t part, const char *type, const char *what)
{
    const struct gnn_tensor *x = gnn_store_findf(s, part, "node/%s/%s", type, what);
    return x ? x->data : NULL;
}

static int check_words(struct gnn_store *s, uint32_t part, uint32_t ntype,
                       const struct gnn_names_part *p, struct gnn_err *e)
{
    const uint64_t rows = gnn_store_owned(s, part, ntype);
    for (uint64_t i = 0; p->word_end && i <= rows; i++)
        if (i ? p->word_end[i] < p->word_end[i - 1] : p->word_end[0] != 0)
            return gnn_fail(
                e, GNN_E_INPUT,
                "%s: tensor node/%s/name_offsets: element %" PRIu64 " is %" PRIu64 ", out of order",
                gnn_store_part_path(s, part), s->meta.schema.ntype[ntype].name, i, p->word_end[i]);
    return GNN_OK;
}

int gnn_names_init(struct gnn_names *n, struct gnn_store *s, uint32_t ntype, struct gnn_err *e)
{
    const struct gnn_ntype *nt = &s->meta.schema.ntype[ntype];
    const char *type = nt->name;
    const bool is_field = gnn_field_find(nt->field, nt->nfields, "key");
    struct gnn_names_part *part = gnn_alloc_zero(s->nparts, sizeof *part, "node names", e);
    *n = (struct gnn_names){.s = s, .ntype = ntype, .part = part};
    int rc = part ? GNN_OK : GNN_E_NOMEM;
    for (uint32_t p = s->from; !rc && p < s->to; p++) {
        part[p] = (struct gnn_names_part){.id = data_of(s, p, type, "id"),
                                          .key = is_field ? NULL : data_of(s, p, type, "key"),
                                          .word = data_of(s, p, type, "name"),
                                          .word_end = data_of(s, p, type, "name_offsets")};
        rc = check_words(s, p, ntype, &part[p], e);
    }
    if (rc)
        gnn_names_release(n);
    return rc;
}

void gnn_names_release(struct gnn_names *n)
{
    gnn_free((void *)(uintptr_t)n->part);
    *n = (struct gnn_names){0};
}

const char *gnn_names_of(const struct gnn_names *n, uint64_t store_id,
                         char buf[GNN_NODE_NAME_CAPACITY], size_t *len)
{
    const uint32_t part = gnn_store_owner(n->s, n->ntype, store_id);
    const struct gnn_names_part *p = &n->part[part];
    const uint64_t row = store_id - n->s->book[n->ntype][part];
    if (p->word_end) {
        *len = p->word_end[row + 1] - p->word_end[row];
        return (const char *)p->word + p->word_end[row];
    }
    const int64_t id = p->key ? p->key[row] : p->id ? (int64_t)p->id[row] : (int64_t)store_id;
    *len = (size_t)snprintf(buf, GNN_NODE_NAME_CAPACITY, "%" PRId64, id);
    return buf;
}
