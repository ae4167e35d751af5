/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/dataset.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"

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
