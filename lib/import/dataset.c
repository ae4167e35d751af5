/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/dataset.h"

#include "lib/base/mem.h"

void gnn_dataset_free(struct gnn_dataset *d)
{
    if (!d)
        return;
    if (d->ids)
        for (uint32_t t = 0; t < d->schema.nntypes; t++) {
            gnn_free(d->ids[t].key);
            gnn_free(d->ids[t].word);
            gnn_free(d->ids[t].word_at);
        }
    gnn_free(d->ids);
    gnn_schema_release(&d->schema);
    d->ops->free(d);
}
