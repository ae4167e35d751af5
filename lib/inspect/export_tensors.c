/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of stores and models as they are. */
#include <stdio.h>

#include "lib/inspect/export_out.h"
#include "lib/inspect/member_name.h"
#include "lib/base/mem.h"
#include "lib/model/model_file.h"

static int put_part(struct gnn_export_out *o, struct gnn_store *s, uint32_t part, char *member,
                    struct gnn_err *e)
{
    int n = 0, rc = GNN_OK;
    if (s->nparts > 1)
        n = snprintf(member, GNN_MEMBER_CAPACITY, "part-%u/", part);
    for (uint32_t i = 0; !rc && i < gnn_store_ntensors(s, part); i++) {
        const struct gnn_array_out a = gnn_array_of(gnn_store_at(s, part, i));
        gnn_member_name(member + n, &s->meta.schema, a.name);
        rc = gnn_export_out_array(o, &a, member, e);
    }
    return rc;
}

int gnn_export_store(struct gnn_store *s, const struct gnn_export *x, struct gnn_err *e)
{
    struct gnn_export_out o = {0};
    char *member = gnn_alloc(GNN_MEMBER_CAPACITY + 32, 1, "a name", e);
    int rc = member ? GNN_OK : GNN_E_NOMEM;
    if (!rc && x->format != GNN_EXPORT_NPZ && s->nparts > 1)
        rc = gnn_fail(e, GNN_E_USAGE,
                      "%s: a tensor in %u partitions: .npz holds them, and without --raw an array "
                      "of all",
                      s->path, s->nparts);
    if (!rc)
        rc = gnn_export_out_begin(&o, x, e);
    for (uint32_t p = 0; !rc && p < s->nparts; p++)
        rc = put_part(&o, s, p, member, e);
    if (!rc)
        rc = gnn_store_verified(s, e);
    gnn_free(member);
    return gnn_export_out_end(&o, s->path, rc, e);
}

int gnn_export_model(const char *path, const struct gnn_export *x, struct gnn_err *e)
{
    struct gnn_st_file f;
    struct gnn_export_out o = {0};
    char *member = gnn_alloc(GNN_MEMBER_CAPACITY, 1, "a name", e);
    if (!member || gnn_st_read(&f, path, e)) {
        gnn_free(member);
        return e->code;
    }
    int rc = gnn_export_out_begin(&o, x, e);
    for (size_t i = 0; !rc && i < f.st.n; i++) {
        const struct gnn_array_out a = gnn_array_of(f.st.by_name[i]);
        gnn_member_name(member, NULL, a.name);
        rc = gnn_export_out_array(&o, &a, member, e);
    }
    rc = gnn_export_out_end(&o, path, rc, e);
    gnn_st_release(&f);
    gnn_free(member);
    return rc;
}
