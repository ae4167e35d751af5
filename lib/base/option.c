/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/option.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/text.h"
#include "lib/base/mem.h"
#include "lib/base/suggest.h"

/* An option that is being set. */
struct setting {
    const struct opt *o;
    const char *text;
    struct gnn_err *e;
};

static int bad_value(const struct setting *s, const char *v, const char *want)
{
    return gnn_fail(s->e, GNN_E_USAGE, "--%s: '%s' is not %s", s->o->name, v, want);
}

static const char *whole_words(const struct opt *o)
{
    return o->bytes ? "a number of bytes, a whole number with or without k, M, G or T (4G)"
                    : "a whole number";
}

static int check_range(const struct setting *s, const char *v, double x)
{
    const struct opt *o = s->o;
    char want[96];
    if (o->max <= o->min || (x >= o->min && x <= o->max))
        return 0;
    if (o->bytes && x < o->min && o->min >= 1024) /* as it is given */
        snprintf(want, sizeof want, "at least %.16gk", o->min / 1024);
    else
        snprintf(want, sizeof want, "between %.16g and %.16g", o->min, o->max);
    return bad_value(s, v, want);
}

/* One unsigned number with suffix; returns what follows, or NULL on failure. */
static const char *read_number(const struct setting *s, const char *v, uint64_t *n)
{
    static const char suffix[] = "kMGT";
    const char *end = gnn_text_u64(v, n);
    if (*v < '0' || *v > '9') {
        (void)bad_value(s, v, whole_words(s->o));
        return NULL;
    }
    const char *k = end && *end ? strchr(suffix, *end == 'K' ? 'k' : *end) : NULL;
    for (ptrdiff_t i = 0; end && k && i <= k - suffix; i++)
        if (__builtin_mul_overflow(*n, s->o->bytes ? 1024u : 1000u, n))
            end = NULL;
    if (!end)
        (void)bad_value(s, v, "a number that fits 64 bits");
    return end && k ? end + 1 : end;
}

static int set_whole(const struct setting *s, uint64_t max)
{
    const struct opt *o = s->o;
    uint64_t n;
    const char *end = read_number(s, s->text, &n);
    if (!end)
        return s->e->code;
    if (*end)
        return bad_value(s, s->text, whole_words(o));
    if (n > max)
        return gnn_fail(s->e, GNN_E_USAGE, "--%s: %s is too large (at most %.16g)", o->name,
                        s->text, o->max > o->min && o->max < (double)max ? o->max : (double)max);
    if (o->kind == OPT_U64)
        *(uint64_t *)o->value = n;
    else
        *(uint32_t *)o->value = (uint32_t)n;
    return check_range(s, s->text, (double)n);
}

static const char *read_real(const struct setting *s, const char *v, double *x)
{
    const char *end = gnn_text_f64(v, x);
    if (!end || !isfinite(*x)) {
        (void)bad_value(s, v, "a number");
        return NULL;
    }
    return check_range(s, v, *x) ? NULL : end;
}

static int set_real(const struct setting *s)
{
    const char *end = read_real(s, s->text, s->o->value);
    return !end ? s->e->code : *end ? bad_value(s, s->text, "a number") : 0;
}

const char *gnn_choice_word(const char *choices, uint32_t i, int *n)
{
    for (; i; i--)
        choices += strcspn(choices, "|") + 1;
    *n = (int)strcspn(choices, "|");
    return choices;
}

int gnn_choice_find(const char *choices, const char *word, size_t n)
{
    for (int i = 0;; i++) {
        const size_t len = strcspn(choices, "|");
        if (len == n && !strncmp(choices, word, n))
            return i;
        if (!choices[len])
            return -1;
        choices += len + 1;
    }
}

static int set_choice(const struct setting *s)
{
    struct gnn_suggest words = {.word = s->text};
    const int i = gnn_choice_find(s->o->choices, s->text, strlen(s->text));
    if (i >= 0) {
        *(int *)s->o->value = i;
        return 0;
    }
    gnn_suggest_words(&words, s->o->choices);
    return gnn_fail(s->e, GNN_E_USAGE, "--%s: unknown value '%s'%s", s->o->name, s->text,
                    gnn_suggest_text(&words, "one of"));
}

static int set_range(const struct setting *s)
{
    const struct opt *o = s->o;
    struct opt_range r = {.from = 0, .to = UINT64_MAX, .stride = 1, .given = true};
    const char *v = s->text, *p = *v == ':' ? v : read_number(s, v, &r.from);
    if (p && !*p && p != v && o->count) {
        r.to = r.from;
        r.from = 0;
    } else if (p && !*p && p != v)
        r.to = r.from + 1;
    else if (p && *p++ != ':')
        return bad_value(s, v, "a range A:B");
    else if (p && *p && *p != ':')
        p = read_number(s, p, &r.to);
    if (p && *p == ':' && o->strided) {
        p = read_number(s, p + 1, &r.stride);
        if (p && !r.stride)
            return bad_value(s, v, "a range A:B:STRIDE with a stride of at least 1");
    }
    if (p && (*p || r.to < r.from))
        return bad_value(s, v, "a range A:B with A <= B");
    *(struct opt_range *)o->value = r;
    return s->e->code;
}

static int set_i32s(const struct setting *s)
{
    struct opt_i32s *l = s->o->value;
    const char *p = s->text;
    l->n = 0;
    do {
        int64_t n;
        p = gnn_text_i64(p, &n);
        if (!p || n < INT32_MIN || n > INT32_MAX || (*p && *p != ','))
            return bad_value(s, s->text, "a list of whole numbers");
        if (check_range(s, s->text, (double)n) ||
            gnn_grow(&l->v, l->n, sizeof *l->v, s->o->name, s->e))
            return s->e->code;
        l->v[l->n++] = (int32_t)n;
    } while (*p++);
    return 0;
}

static int set_doubles(const struct setting *s)
{
    struct opt_doubles *l = s->o->value;
    const char *p = s->text;
    l->n = 0;
    do {
        if (gnn_grow(&l->v, l->n, sizeof *l->v, s->o->name, s->e) ||
            !(p = read_real(s, p, &l->v[l->n])))
            return s->e->code;
        if (*p && *p != ',')
            return bad_value(s, s->text, "a list of numbers");
        l->n++;
    } while (*p++);
    return 0;
}

static int append_text(const struct setting *s)
{
    struct opt_list *l = s->o->value;
    if (gnn_grow(&l->v, l->n, sizeof *l->v, s->o->name, s->e))
        return s->e->code;
    l->v[l->n++] = s->text;
    return 0;
}

int gnn_option_set(const struct opt *o, const char *text, struct gnn_err *e)
{
    const struct setting s = {o, text, e};
    switch (o->kind) {
    case OPT_U64:
        return set_whole(&s, UINT64_MAX);
    case OPT_U32:
        return set_whole(&s, UINT32_MAX);
    case OPT_DOUBLE:
        return set_real(&s);
    case OPT_LIST:
        return append_text(&s);
    case OPT_CHOICE:
        return set_choice(&s);
    case OPT_RANGE:
        return set_range(&s);
    case OPT_I32S:
        return set_i32s(&s);
    case OPT_DOUBLES:
        return set_doubles(&s);
    default:
        *(const char **)o->value = text;
        return 0;
    }
}

double gnn_option_number(const struct opt *o)
{
    return o->kind == OPT_FLAG     ? *(bool *)o->value
           : o->kind == OPT_CHOICE ? *(int *)o->value
           : o->kind == OPT_U32    ? *(uint32_t *)o->value
                                   : *(double *)o->value;
}

void gnn_option_put(const struct opt *o, double v)
{
    if (o->kind == OPT_FLAG)
        *(bool *)o->value = v != 0;
    else if (o->kind == OPT_CHOICE)
        *(int *)o->value = (int)v;
    else if (o->kind == OPT_U32)
        *(uint32_t *)o->value = (uint32_t)v;
    else
        *(double *)o->value = v;
}
