/* SPDX-License-Identifier: Apache-2.0 */
/* What opcodes of pickles have behind them. Lengths are compared with the bytes that are left
 * before anything is done with them. */
#include <string.h>

#include "formats/pickle_machine.h"

static int fail_cut(struct gnn_machine *m)
{
    return gnn_machine_fail(m, "%s is cut short: the file ends at byte %llu", m->name,
                            (unsigned long long)m->n);
}

static int take_bytes(struct gnn_machine *m, uint64_t n, const uint8_t **at)
{
    if (n > m->n - m->at)
        return fail_cut(m);
    *at = m->p->bytes + m->at;
    m->at += n;
    return 0;
}

static int take_integer(struct gnn_machine *m, size_t bytes, uint64_t *v)
{
    const uint8_t *b = NULL;
    const int rc = take_bytes(m, bytes, &b);
    *v = 0;
    for (size_t i = 0; !rc && i < bytes; i++)
        *v |= (uint64_t)b[i] << 8 * i;
    return rc;
}

/* Text of a length that is written in so many bytes before it. */
static int take_text(struct gnn_machine *m, size_t bytes, struct gnn_word *w)
{
    uint64_t n;
    const uint8_t *b;
    int rc = take_integer(m, bytes, &n);
    if (rc)
        return rc;
    if (n > m->n - m->at)
        return gnn_machine_fail(m, "%s has %llu bytes, of which the file has %llu", m->name,
                                (unsigned long long)n, (unsigned long long)(m->n - m->at));
    rc = take_bytes(m, n, &b);
    *w = (struct gnn_word){(const char *)b, (size_t)n};
    return rc;
}

static int take_line(struct gnn_machine *m, struct gnn_word *w)
{
    const uint8_t *from = m->p->bytes + m->at, *end = memchr(from, '\n', m->n - m->at);
    if (!end)
        return fail_cut(m);
    *w = (struct gnn_word){(const char *)from, (size_t)(end - from)};
    m->at += w->n + 1;
    return 0;
}

/* FRAME says how many bytes follow: the frame is nothing else to who has all of them. */
static int take_frame(struct gnn_machine *m)
{
    uint64_t n;
    const int rc = take_integer(m, 8, &n);
    if (!rc && n > m->n - m->at)
        return gnn_machine_fail(m, "FRAME has %llu bytes, of which the file has %llu",
                                (unsigned long long)n, (unsigned long long)(m->n - m->at));
    return rc;
}

static int take_double(struct gnn_machine *m, double *f)
{
    uint64_t v;
    const int rc = take_integer(m, 8, &v);
    v = __builtin_bswap64(v); /* this one is big-endian */
    memcpy(f, &v, sizeof *f);
    return rc;
}

int gnn_machine_operand(struct gnn_machine *m, enum gnn_operand_kind kind, struct gnn_operand *a)
{
    uint64_t v = 0;
    int rc = 0;
    switch (kind) {
    case A_NONE:
        return 0;
    case A_F8:
        return take_double(m, &a->f);
    case A_FRAME:
        return take_frame(m);
    case A_T1:
        return take_text(m, 1, &a->text);
    case A_T4:
        return take_text(m, 4, &a->text);
    case A_T8:
        return take_text(m, 8, &a->text);
    case A_LINES:
        rc = take_line(m, &a->text);
        return rc ? rc : take_line(m, &a->second);
    case A_U1:
    case A_U2:
    case A_U4:
    case A_I4:
        rc = take_integer(m, kind == A_U1 ? 1 : kind == A_U2 ? 2 : 4, &v);
        a->i = kind == A_I4 ? (int32_t)v : (int64_t)v;
    }
    return rc;
}
