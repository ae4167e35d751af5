/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/pass.h"

#include <string.h>

void gnn_pass_release(struct gnn_pass *s)
{
    if (!s->o)
        return;
    struct gnn_buf *const bufs[] = {&s->messages, &s->edge_rows, &s->bias,
                                    &s->work,     &s->sums,      &s->scratch};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        s->o->release(s->o, bufs[i]);
    for (unsigned i = 0; i < GNN_PASS_BUFFERS; i++)
        s->o->release(s->o, &s->buffer[i]);
    s->o->release_host(s->o, &s->seen);
    memset(s, 0, sizeof(*s));
}

int gnn_pass_gemm(struct gnn_pass *s, bool ta, bool tb, size_t m, size_t n, size_t k,
                  const float *a, const float *b, float beta, float *c,
                  const struct gnn_epilogue *ep, struct gnn_err *e)
{
    const struct gnn_product p = {
        .ta = ta, .tb = tb, .m = m, .n = n, .k = k, .a = a, .b = b, .beta = beta, .c = c, .ep = ep};
    return gnn_pass_product(s, &p, e);
}

int gnn_pass_product(struct gnn_pass *s, const struct gnn_product *p, struct gnn_err *e)
{
    s->flops += 2 * (uint64_t)p->m * p->n * p->k;
    return s->o->gemm(s->o, p, e);
}
