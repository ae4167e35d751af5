/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/dataset.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/import/nodeids.h"

int gnn_dataset_note(struct gnn_dataset *d, struct gnn_err *e, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    for (uint32_t i = 0; i < d->nnotes; i++)
        if (!strcmp(d->note[i], text))
            return GNN_OK;
    int rc = gnn_grow(&d->note, d->nnotes, sizeof *d->note, "notes", e);
    if (!rc && !(d->note[d->nnotes] = gnn_strdup(text, e)))
        rc = GNN_E_NOMEM;
    d->nnotes += !rc;
    return rc;
}

const char *gnn_dataset_file(const struct gnn_dataset *d)
{
    return d->from ? d->from : d->name;
}

const char *gnn_dataset_place(const struct gnn_dataset *d, uint32_t ntype, uint64_t node,
                              char text[GNN_PLACE_TEXT])
{
    static const struct gnn_nodeids count;
    char id[GNN_ID_TEXT];
    if (d->in_order)
        snprintf(text, GNN_PLACE_TEXT, "row %llu", (unsigned long long)node + 1);
    else
        snprintf(text, GNN_PLACE_TEXT, "%.80s '%s'", d->schema.ntype[ntype].name,
                 gnn_nodeids_text(d->ids ? &d->ids[ntype] : &count, node, id));
    return text;
}

void gnn_dataset_free(struct gnn_dataset *d)
{
    if (!d)
        return;
    for (uint32_t i = 0; i < d->nnotes; i++)
        gnn_free(d->note[i]);
    gnn_free(d->note);
    gnn_schema_release(&d->schema);
    d->ops->free(d);
}
