/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a pickle from its first byte to STOP (formats/pickle.h). */
#include "formats/pickle.h"

#include <stdlib.h>

#include "formats/pickle_machine.h"

/* Protocols 0 and 1 do not begin with their number. */
static int check_protocol(struct gnn_machine *m)
{
    const uint8_t *b = m->p->bytes;
    if (m->n < 2)
        return gnn_machine_fail(m, "a pickle is cut short, or this is none");
    if (b[0] != 0x80)
        return gnn_machine_fail(m,
                                "no pickle, or one of protocol 0 or 1, which are not read: write "
                                "it with pickle.dump(..., protocol=4)");
    if (b[1] < 2 || b[1] > 5)
        return gnn_machine_fail(m, "a pickle of protocol %u; 2 to 5 are read", b[1]);
    m->at = 2;
    return 0;
}

/* The values that every pickle has, in the order of their numbers. */
static int add_fixed(struct gnn_machine *m)
{
    struct gnn_pickle_value v = {.kind = GNN_PICKLE_NONE};
    uint32_t at;
    int rc = gnn_machine_add(m, &v, &at);
    v.kind = GNN_PICKLE_BOOL;
    for (v.u.i = 0; !rc && v.u.i < 2; v.u.i++)
        rc = gnn_machine_add(m, &v, &at);
    v.kind = GNN_PICKLE_INT;
    for (v.u.i = 0; !rc && v.u.i < 256; v.u.i++)
        rc = gnn_machine_add(m, &v, &at);
    v = (struct gnn_pickle_value){.kind = GNN_PICKLE_TUPLE};
    return rc ? rc : gnn_machine_add(m, &v, &at);
}

int gnn_pickle_read(struct gnn_pickle *p, const void *bytes, uint64_t n, unsigned options,
                    char *why, size_t capacity)
{
    *p = (struct gnn_pickle){.bytes = bytes};
    struct gnn_machine m = {
        .p = p, .n = n, .options = options, .why = why, .why_capacity = capacity};
    int rc = check_protocol(&m);
    if (!rc)
        rc = add_fixed(&m);
    while (!rc && !m.stopped)
        rc = gnn_machine_run(&m);
    const uint32_t root = rc ? 0 : gnn_machine_peek(&m, 0);
    p->used = m.at;
    gnn_machine_release(&m);
    if (!rc)
        rc = gnn_machine_finish(&m, root);
    free(m.log.v);
    if (rc)
        gnn_pickle_release(p);
    return rc;
}
