/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/pass.h"

#include <string.h>

#include "kernels/gemm.h"

void gnn_pass_release(struct gnn_pass *s)
{
    if (!s->o)
        return;
    struct gnn_buf *const bufs[] = {&s->messages, &s->edge_rows, &s->bias,  &s->work,
                                    &s->sums,     &s->scratch,   &s->turned};
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
    struct gnn_product q = *p;
    s->flops += 2 * (uint64_t)p->m * p->n * p->k;
    if (!s->o->async && gnn_gemm_turns(p->ta, p->tb, p->m, p->n, p->k)) {
        if (s->o->fit(s->o, &s->turned, (uint64_t)p->m * p->n, sizeof(float), "gradients", e))
            return e->code;
        q.turned = s->turned.data;
    }
    return s->o->gemm(s->o, &q, e);
}
