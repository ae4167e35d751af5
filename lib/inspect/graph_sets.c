/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/inspect/graph_sets.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"

/* Sets as data sets have them, in the order in which gnn-import reads them. */
static const struct {
    const char *set, *mask, *ids;
} known[] = {
    {"train", "train_mask", "train_idx"},
    {"valid", "val_mask", "valid_idx"},
    {"test", "test_mask", "test_idx"},
};
enum { KNOWN = 3 };

static uint32_t find_known(const char *set)
{
    uint32_t k = 0;
    while (k < KNOWN && strcmp(set, known[k].set) != 0)
        k++;
    return k;
}

/* How many sets from number i on are the columns of one array of masks: those of splits 0, 1 and so
 * on; 0: they are not. */
static uint32_t count_columns(const struct gnn_schema *c, uint32_t i)
{
    const struct gnn_split_set *s = &c->set[i];
    uint32_t n = 0;
    char split[16];
    for (uint32_t k = i; k < c->nsets && !c->set[k].links; k++, n++) {
        snprintf(split, sizeof split, "%u", n);
        if (c->set[k].ntype != s->ntype || strcmp(c->set[k].set, s->set) != 0 ||
            strcmp(c->set[k].split, split) != 0)
            break;
    }
    return n > 1 ? n : 0;
}

/* Whether the members of the sets ascend, which is all that a mask can say. */
static int check_ascending(struct gnn_view *v, uint32_t set, uint32_t n, bool *ascend,
                           struct gnn_err *e)
{
    int rc = GNN_OK;
    *ascend = true;
    for (uint32_t k = set; !rc && k < set + n; k++) {
        uint32_t *ids = NULL;
        rc = gnn_graph_set_ids(v, k, &ids, e);
        for (uint64_t i = 1; !rc && i < v->store->meta.schema.set[k].count; i++)
            *ascend = *ascend && ids[i - 1] < ids[i];
        gnn_free(ids);
    }
    return rc;
}

/* The form of set i by a name that data sets use; nsets 0: there is none. */
static int find_usual(struct gnn_view *v, uint32_t i, struct gnn_set_form *f, struct gnn_err *e)
{
    const struct gnn_split_set *s = &v->store->meta.schema.set[i];
    const uint32_t k = find_known(s->set);
    const uint32_t columns =
        !strcmp(s->split, "mask") ? 1 : count_columns(&v->store->meta.schema, i);
    bool ascend = false;
    *f = (struct gnn_set_form){0};
    if (k == KNOWN)
        return GNN_OK;
    int rc = columns ? check_ascending(v, i, columns, &ascend, e) : GNN_OK;
    f->masks = ascend;
    f->nsets = ascend ? columns : !strcmp(s->split, "ids");
    snprintf(f->name, sizeof f->name, "%s", ascend ? known[k].mask : known[k].ids);
    return rc;
}

/* Whether all sets have usual names, and are read in their order. */
static int find_all_usual(struct gnn_view *v, struct gnn_set_form *form, bool *all,
                          struct gnn_err *e)
{
    const struct gnn_schema *c = &v->store->meta.schema;
    uint64_t last = 0;
    int rc = GNN_OK;
    *all = true;
    for (uint32_t i = 0; !rc && *all && i < c->nsets; i += form[i].nsets) {
        if (c->set[i].links) {
            form[i] = (struct gnn_set_form){.nsets = 1};
            continue;
        }
        rc = find_usual(v, i, &form[i], e);
        /* By set, then by node type: none twice. */
        const uint64_t at =
            (uint64_t)find_known(c->set[i].set) * (c->nntypes + UINT64_C(1)) + c->set[i].ntype + 1;
        *all = form[i].nsets && at > last;
        last = at;
    }
    return rc;
}

int gnn_graph_set_forms(struct gnn_view *v, struct gnn_set_form **form, struct gnn_err *e)
{
    const struct gnn_schema *c = &v->store->meta.schema;
    struct gnn_set_form *f = *form = gnn_alloc_zero(c->nsets + 1, sizeof *f, "sets", e);
    bool all;
    if (!f || find_all_usual(v, f, &all, e))
        return e->code;
    for (uint32_t i = 0; !all && i < c->nsets; i++) {
        f[i] = (struct gnn_set_form){.nsets = 1};
        if (!strchr(c->set[i].split, '.'))
            snprintf(f[i].name, sizeof f[i].name, "%s.%s_idx", c->set[i].split, c->set[i].set);
    }
    return GNN_OK;
}

void gnn_graph_set_fill(struct gnn_graph_array *a, const struct gnn_set_form *form, uint32_t set,
                        const struct gnn_schema *c)
{
    a->set = set;
    a->nsets = form->nsets;
    a->out.dtype = form->masks ? GNN_U8 : GNN_I64;
    a->out.is_bool = form->masks;
    a->out.ndim = form->nsets > 1 ? 2 : 1;
    a->out.shape[0] = form->masks ? c->ntype[a->type].count : c->set[set].count;
    a->out.shape[1] = form->nsets;
    a->out.write = form->masks ? gnn_graph_write_masks : gnn_graph_write_ids;
}
