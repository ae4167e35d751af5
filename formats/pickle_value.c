/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a pickle that was read (formats/pickle.h): what they are, their parts, and words for
 * messages. */
#include "formats/pickle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/pickle_impl.h"

void gnn_pickle_release(struct gnn_pickle *p)
{
    free(p->value);
    free(p->item);
    free(p->decoded);
    *p = (struct gnn_pickle){0};
}

enum gnn_pickle_kind gnn_pickle_kind(const struct gnn_pickle_value *v)
{
    return v ? (enum gnn_pickle_kind)v->kind : GNN_PICKLE_NOTHING;
}

static const struct gnn_pickle_value *value_at(const struct gnn_pickle *p, uint32_t number)
{
    return number ? p->value + number : NULL;
}

/* ---- plain values ---- */

bool gnn_pickle_bool(const struct gnn_pickle_value *v, bool *out)
{
    const bool is = gnn_pickle_kind(v) == GNN_PICKLE_BOOL;
    if (is)
        *out = v->u.i;
    return is;
}

bool gnn_pickle_int(const struct gnn_pickle_value *v, int64_t *out)
{
    const bool is = gnn_pickle_kind(v) == GNN_PICKLE_INT;
    if (is)
        *out = v->u.i;
    return is;
}

bool gnn_pickle_float(const struct gnn_pickle_value *v, double *out)
{
    int64_t i;
    if (gnn_pickle_int(v, &i))
        *out = (double)i;
    else if (gnn_pickle_kind(v) == GNN_PICKLE_FLOAT)
        *out = v->u.f;
    else
        return false;
    return true;
}

static struct gnn_word word_of(const struct gnn_pickle *p, const struct gnn_pickle_value *v)
{
    const uint8_t *base = v->flags & PICKLE_DECODED ? p->decoded : p->bytes;
    return (struct gnn_word){(const char *)base + v->u.at, (size_t)pickle_length(v)};
}

bool gnn_pickle_text(const struct gnn_pickle *p, const struct gnn_pickle_value *v,
                     struct gnn_word *out)
{
    const bool is = gnn_pickle_kind(v) == GNN_PICKLE_STR;
    if (is)
        *out = word_of(p, v);
    return is;
}

bool gnn_pickle_bytes(const struct gnn_pickle *p, const struct gnn_pickle_value *v,
                      struct gnn_word *out)
{
    const bool is = gnn_pickle_kind(v) == GNN_PICKLE_BYTES ||
                    (gnn_pickle_kind(v) == GNN_PICKLE_STR && v->flags & PICKLE_PYTHON2);
    if (is)
        *out = word_of(p, v);
    return is;
}

bool gnn_pickle_text_is(const struct gnn_pickle *p, const struct gnn_pickle_value *v,
                        const char *text)
{
    struct gnn_word w;
    return gnn_pickle_text(p, v, &w) && w.n == strlen(text) && !memcmp(w.p, text, w.n);
}

/* ---- parts ---- */

static bool has_items(const struct gnn_pickle_value *v)
{
    const enum gnn_pickle_kind k = gnn_pickle_kind(v);
    return k == GNN_PICKLE_TUPLE || k == GNN_PICKLE_LIST || k == GNN_PICKLE_SET;
}

static bool is_dict(const struct gnn_pickle_value *v)
{
    return gnn_pickle_kind(v) == GNN_PICKLE_DICT;
}

uint64_t gnn_pickle_count(const struct gnn_pickle *p, const struct gnn_pickle_value *v)
{
    (void)p;
    return is_dict(v) ? v->count / 2 : has_items(v) ? v->count : 0;
}

const struct gnn_pickle_value *gnn_pickle_item(const struct gnn_pickle *p,
                                               const struct gnn_pickle_value *v, uint64_t i)
{
    if (i >= gnn_pickle_count(p, v))
        return NULL;
    return p->value + p->item[v->u.at + (is_dict(v) ? 2 * i + 1 : i)];
}

const struct gnn_pickle_value *gnn_pickle_key(const struct gnn_pickle *p,
                                              const struct gnn_pickle_value *v, uint64_t i)
{
    return is_dict(v) && i < v->count / 2 ? p->value + p->item[v->u.at + 2 * i] : NULL;
}

const struct gnn_pickle_value *gnn_pickle_get(const struct gnn_pickle *p,
                                              const struct gnn_pickle_value *v, const char *key)
{
    if (gnn_pickle_kind(v) == GNN_PICKLE_OBJECT)
        v = gnn_pickle_state(p, v);
    for (uint64_t i = is_dict(v) ? v->count / 2 : 0; i--;)
        if (gnn_pickle_text_is(p, gnn_pickle_key(p, v, i), key))
            return gnn_pickle_item(p, v, i);
    return NULL;
}

const char *gnn_pickle_name(const struct gnn_pickle_value *v)
{
    return gnn_pickle_global_of(v)->shown;
}

const struct gnn_pickle_value *gnn_pickle_arguments(const struct gnn_pickle *p,
                                                    const struct gnn_pickle_value *v)
{
    return gnn_pickle_kind(v) == GNN_PICKLE_OBJECT ? value_at(p, v->count) : NULL;
}

const struct gnn_pickle_value *gnn_pickle_state(const struct gnn_pickle *p,
                                                const struct gnn_pickle_value *v)
{
    return gnn_pickle_kind(v) == GNN_PICKLE_OBJECT ? value_at(p, v->u.o.state) : NULL;
}

const struct gnn_pickle_value *gnn_pickle_id(const struct gnn_pickle *p,
                                             const struct gnn_pickle_value *v)
{
    return gnn_pickle_kind(v) == GNN_PICKLE_PERSISTENT ? value_at(p, v->count) : NULL;
}

/* ---- words for messages ---- */

static const char *show_text(const struct gnn_pickle *p, const struct gnn_pickle_value *v,
                             char *out, size_t capacity)
{
    struct gnn_word w = word_of(p, v);
    return gnn_text_shown(out, capacity, w.p, w.n);
}

/* Counted things: "a list of 3". */
static const char *kind_name(enum gnn_pickle_kind k)
{
    switch (k) {
    case GNN_PICKLE_TUPLE:
        return "a tuple";
    case GNN_PICKLE_LIST:
        return "a list";
    case GNN_PICKLE_DICT:
        return "a dict";
    default:
        return "a set";
    }
}

const char *gnn_pickle_describe(const struct gnn_pickle *p, const struct gnn_pickle_value *v,
                                char *out, size_t capacity)
{
    char text[64];
    switch (gnn_pickle_kind(v)) {
    case GNN_PICKLE_NOTHING:
        snprintf(out, capacity, "nothing");
        break;
    case GNN_PICKLE_NONE:
        snprintf(out, capacity, "None");
        break;
    case GNN_PICKLE_BOOL:
        snprintf(out, capacity, v->u.i ? "True" : "False");
        break;
    case GNN_PICKLE_INT:
        snprintf(out, capacity, "the int %lld", (long long)v->u.i);
        break;
    case GNN_PICKLE_FLOAT:
        snprintf(out, capacity, "the float %.17g", v->u.f);
        break;
    case GNN_PICKLE_STR:
        snprintf(out, capacity, "the str '%s'", show_text(p, v, text, sizeof text));
        break;
    case GNN_PICKLE_BYTES:
        snprintf(out, capacity, "%llu bytes", (unsigned long long)pickle_length(v));
        break;
    case GNN_PICKLE_GLOBAL:
        snprintf(out, capacity, "'%s' itself", gnn_pickle_name(v));
        break;
    case GNN_PICKLE_OBJECT:
        snprintf(out, capacity, "an object made by '%s'", gnn_pickle_name(v));
        break;
    case GNN_PICKLE_PERSISTENT:
        snprintf(out, capacity, "a persistent id");
        break;
    default:
        snprintf(out, capacity, "%s of %llu", kind_name(gnn_pickle_kind(v)),
                 (unsigned long long)gnn_pickle_count(p, v));
    }
    return out;
}
