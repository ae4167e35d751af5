/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of the values of a pickle when all opcodes were run (formats/pickle_machine.h).
 * Until then a container may grow at any time, and its parts are in the log only. */
#include <stdlib.h>
#include <string.h>

#include "formats/pickle_machine.h"

static bool is_container(const struct gnn_pickle_value *v)
{
    return v->kind == GNN_PICKLE_TUPLE || v->kind == GNN_PICKLE_LIST ||
           v->kind == GNN_PICKLE_DICT || v->kind == GNN_PICKLE_SET;
}

/* A sort of the log by container that keeps its order otherwise: counts are known. */
static int place_parts(struct gnn_machine *m)
{
    struct gnn_pickle *p = m->p;
    uint64_t at = 0, capacity = 0;
    const int rc = gnn_machine_grow(m, &p->item, &capacity, m->log.n / 2, sizeof *p->item);
    if (rc)
        return rc;
    for (uint64_t i = 0; i < p->values; i++)
        if (is_container(&p->value[i])) {
            p->value[i].u.at = at;
            at += p->value[i].count;
        }
    for (uint64_t i = 0; i < m->log.n; i += 2)
        p->item[p->value[m->log.v[i]].u.at++] = m->log.v[i + 1];
    for (uint64_t i = 0; i < p->values; i++)
        if (is_container(&p->value[i]))
            p->value[i].u.at -= p->value[i].count;
    return 0;
}

static int fail_value(struct gnn_machine *m, const struct gnn_pickle_value *v, const char *what)
{
    char path[256];
    return gnn_machine_fail(m, "%s: '%s' %s", gnn_pickle_path(m->p, v, path, sizeof path),
                            gnn_pickle_name(v), what);
}

/* Whether an object's arguments are a text and the encoding under which it stands for bytes: so do
 * protocols that have no bytes write them. */
static bool is_encoded(const struct gnn_pickle *p, const struct gnn_pickle_value *v,
                       struct gnn_word *text)
{
    const struct gnn_pickle_value *args = gnn_pickle_arguments(p, v);
    const unsigned role = gnn_pickle_global_of(v)->role;
    return (role == PICKLE_ENCODE || role == PICKLE_A_BYTEARRAY) &&
           gnn_pickle_count(p, args) == 2 &&
           gnn_pickle_text(p, gnn_pickle_item(p, args, 0), text) &&
           (gnn_pickle_text_is(p, gnn_pickle_item(p, args, 1), "latin1") ||
            gnn_pickle_text_is(p, gnn_pickle_item(p, args, 1), "latin-1"));
}

/* Each byte is the character of its number, in UTF-8: one byte, or two. False: other characters. */
static bool decode_latin1(const struct gnn_word *w, uint8_t *to, uint64_t *n)
{
    const uint8_t *p = (const uint8_t *)w->p, *end = p + w->n;
    uint8_t *out = to;
    while (p < end) {
        if (*p < 0x80) {
            *out++ = *p++;
        } else if (end - p > 1 && (*p == 0xc2 || *p == 0xc3) && (p[1] & 0xc0) == 0x80) {
            *out++ = (uint8_t)(*p << 6 | (p[1] & 0x3f));
            p += 2;
        } else {
            return false;
        }
    }
    *n = (uint64_t)(out - to);
    return true;
}

/* All texts that stand for bytes, into one block. One text may be decoded several times; in all
 * they are not longer than the pickle, or this is not what Python writes. */
static int decode_all(struct gnn_machine *m)
{
    struct gnn_pickle *p = m->p;
    struct gnn_word text;
    uint64_t total = 0, at = 0, n = 0;
    for (uint64_t i = PICKLE_FIXED; i < p->values; i++)
        if (is_encoded(p, &p->value[i], &text)) {
            total += text.n;
            if (total > p->used)
                return fail_value(m, &p->value[i], "makes more bytes than the pickle has");
        }
    if (!total)
        return 0;
    const int rc = gnn_machine_grow(m, &p->decoded, &n, total, 1);
    for (uint64_t i = PICKLE_FIXED; !rc && i < p->values; i++) {
        struct gnn_pickle_value *v = &p->value[i];
        if (!is_encoded(p, v, &text))
            continue;
        if (!decode_latin1(&text, p->decoded + at, &n))
            return fail_value(m, v, "of a text that is not latin1");
        *v = (struct gnn_pickle_value){.kind = GNN_PICKLE_BYTES,
                                       .flags = PICKLE_DECODED,
                                       .high = (uint16_t)(n >> 32),
                                       .count = (uint32_t)n,
                                       .u.at = at};
        at += n;
    }
    return rc;
}

/* Makes of an object the value `of` that it stands for. */
static bool make_plain(struct gnn_pickle_value *v, const struct gnn_pickle_value *of,
                       enum gnn_pickle_kind from, enum gnn_pickle_kind to)
{
    if (gnn_pickle_kind(of) != from)
        return false;
    *v = *of;
    v->kind = (uint8_t)to;
    return true;
}

static int resolve_object(struct gnn_machine *m, struct gnn_pickle_value *v)
{
    const struct gnn_pickle *p = m->p;
    const struct gnn_pickle_value *args = gnn_pickle_arguments(p, v),
                                  *first = gnn_pickle_item(p, args, 0);
    const uint64_t n = gnn_pickle_count(p, args);
    const struct gnn_pickle_value none = {.kind = GNN_PICKLE_BYTES},
                                  no_pairs = {.kind = GNN_PICKLE_DICT};
    bool done = false;
    switch (gnn_pickle_global_of(v)->role) {
    case PICKLE_MAP:
    case PICKLE_DEFAULT_MAP:
        done = make_plain(v, v->u.o.items ? p->value + v->u.o.items : &no_pairs, GNN_PICKLE_DICT,
                          GNN_PICKLE_DICT);
        break;
    case PICKLE_A_SET:
        done = n ? make_plain(v, first, GNN_PICKLE_LIST, GNN_PICKLE_SET)
                 : make_plain(v, args, GNN_PICKLE_TUPLE, GNN_PICKLE_SET);
        break;
    case PICKLE_A_BYTES:
    case PICKLE_A_BYTEARRAY:
        done = make_plain(v, n ? first : &none, GNN_PICKLE_BYTES, GNN_PICKLE_BYTES);
        break;
    case PICKLE_A_SIZE:
        done = make_plain(v, first, GNN_PICKLE_TUPLE, GNN_PICKLE_TUPLE);
        break;
    case PICKLE_AN_EDGE_TYPE:
        done = make_plain(v, first, GNN_PICKLE_STR, GNN_PICKLE_STR);
        break;
    case PICKLE_ENCODE: /* of latin1 none is left */
        break;
    default:
        done = true;
    }
    return done ? 0 : fail_value(m, v, "with arguments that are not read");
}

int gnn_machine_finish(struct gnn_machine *m, uint32_t root)
{
    struct gnn_pickle *p = m->p;
    int rc = place_parts(m);
    p->root = p->value + root;
    if (!rc)
        rc = decode_all(m);
    /* In the order of the file what an object is made of comes before it. */
    for (uint64_t i = PICKLE_FIXED; !rc && i < p->values; i++)
        if (p->value[i].kind == GNN_PICKLE_OBJECT)
            rc = resolve_object(m, &p->value[i]);
    return rc;
}
