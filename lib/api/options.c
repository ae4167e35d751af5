/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/api/options.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>

#include "formats/text.h"
#include "lib/api/gnn.h"
#include "lib/base/mem.h"
#include "lib/base/suggest.h"

static _Thread_local struct gnn_err last;

struct gnn_err *gnn_api_err(void)
{
    last.code = 0;
    last.told = false;
    last.msg[0] = '\0';
    return &last;
}

const char *gnn_error(void)
{
    return last.msg;
}

int gnn_error_status(void)
{
    return last.code;
}

const char *gnn_version(void)
{
    return GNN_VERSION;
}

int gnn_version_number(void)
{
    return GNN_VERSION_NUMBER;
}

static int bad_value(const struct api_option *o, const char *v, const char *want, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_USAGE, "%s: '%s' is not %s", o->name, v, want);
}

static int check_range(const struct api_option *o, const char *v, double x, struct gnn_err *e)
{
    return o->max > o->min && !(x >= o->min && x <= o->max)
               ? gnn_fail(e, GNN_E_USAGE, "%s: '%s' is not between %.16g and %.16g", o->name, v,
                          o->min, o->max)
               : 0;
}

static int set_whole(const struct api_option *o, const char *v, struct gnn_err *e)
{
    uint64_t n;
    const char *end = gnn_text_u64(v, &n);
    if (!end || *end)
        return bad_value(o, v, "a whole number", e);
    if (check_range(o, v, (double)n, e))
        return e->code;
    if (o->kind == API_U64)
        *(uint64_t *)o->value = n;
    else if (n > UINT32_MAX)
        return bad_value(o, v, "a number that fits 32 bits", e);
    else
        *(uint32_t *)o->value = (uint32_t)n;
    return 0;
}

/* One number, or the two of a pair. */
static int set_reals(const struct api_option *o, const char *v, struct gnn_err *e)
{
    double *to = (double *)o->value;
    const int n = o->kind == API_PAIR ? 2 : 1;
    const char *p = v;
    for (int i = 0; p && i < n; i++) {
        p = !i ? p : *p == ',' ? p + 1 : NULL;
        p = p ? gnn_text_f64(p, &to[i]) : NULL;
        if (p && isfinite(to[i]) && check_range(o, v, to[i], e))
            return e->code;
    }
    return !p || *p || !isfinite(to[0]) || !isfinite(to[n - 1])
               ? bad_value(o, v, n == 1 ? "a number" : "two numbers A,B", e)
               : 0;
}

static int set_range(const struct api_option *o, const char *v, struct gnn_err *e)
{
    struct api_range r = {0, UINT64_MAX, 1};
    const char *p = *v == ':' ? v : gnn_text_u64(v, &r.from);
    if (p && !*p) {
        r.to = o->count ? r.from : r.from + 1;
        r.from = o->count ? 0 : r.from;
    } else if (p && *p == ':') {
        p = p[1] && p[1] != ':' ? gnn_text_u64(p + 1, &r.to) : p + 1;
        p = p && *p == ':' && !o->count ? gnn_text_u64(p + 1, &r.stride) : p;
    }
    if (!p || *p || r.to < r.from || !r.stride)
        return bad_value(o, v, "a range A:B", e);
    *(struct api_range *)o->value = r;
    return 0;
}

static int set_choice(const struct api_option *o, const char *v, struct gnn_err *e)
{
    const size_t n = strlen(v);
    struct gnn_suggest words = {.word = v};
    int i = 0;
    for (const char *c = o->choices; *c; i++) {
        const size_t len = strcspn(c, "|");
        if (len == n && !strncmp(c, v, n)) {
            *(int *)o->value = i;
            return 0;
        }
        c += len + (c[len] == '|');
    }
    gnn_suggest_words(&words, o->choices);
    return gnn_fail(e, GNN_E_USAGE, "%s: unknown value '%s'%s", o->name, v,
                    gnn_suggest_text(&words, "one of"));
}

static int set_list(const struct api_option *o, const char *v, struct gnn_err *e)
{
    struct api_list *l = (struct api_list *)o->value;
    if (gnn_grow(&l->v, l->n, sizeof *l->v, o->name, e))
        return e->code;
    l->v[l->n++] = v;
    return 0;
}

static int set_option(const struct api_option *o, const char *v, struct gnn_err *e)
{
    switch (o->kind) {
    case API_U32:
    case API_U64:
        return set_whole(o, v, e);
    case API_F64:
    case API_PAIR:
        return set_reals(o, v, e);
    case API_CHOICE:
        return set_choice(o, v, e);
    case API_LIST:
        return set_list(o, v, e);
    case API_RANGE:
        return set_range(o, v, e);
    default:
        *(const char **)o->value = v;
        return 0;
    }
}

/* The option that a text begins with: `given` is its name, `n` long. */
static bool is_named(const struct api_option *o, const char *given, size_t n)
{
    return o->name && strlen(o->name) == n && !strncmp(o->name, given, n);
}

static struct api_option find_option(const struct api_option *own, const struct gnn_sampling *s,
                                     bool of_train, const char *given, size_t n)
{
    struct api_option o = {.name = NULL};
    for (; own->name; own++)
        if (is_named(own, given, n))
            return *own;
    for (unsigned i = 0; s && i < gnn_sampling_list_length; i++) {
        const struct gnn_sampling_member *x = &gnn_sampling_list[i];
        o = (struct api_option){.kind = x->kind == GNN_MEMBER_SEED     ? API_U64
                                        : x->kind == GNN_MEMBER_FLAG   ? API_FLAG
                                        : x->kind == GNN_MEMBER_U32    ? API_U32
                                        : x->kind == GNN_MEMBER_F64    ? API_F64
                                        : x->kind == GNN_MEMBER_CHOICE ? API_CHOICE
                                                                       : API_TEXT,
                                .name = x->option,
                                .value = gnn_member_of(s, x),
                                .choices = x->choices,
                                .min = x->min,
                                .max = x->max};
        if (is_named(&o, given, n) && (x->train || !of_train))
            return o;
    }
    o.name = NULL;
    return o;
}

static int take_text(const char *given, const struct api_option *own, struct gnn_sampling *s,
                     bool of_train, struct gnn_err *e)
{
    const size_t n = strcspn(given, "=");
    struct api_option o = find_option(own, s, of_train, given, n);
    const bool off = !o.name && n > 3 && !strncmp(given, "no-", 3);
    if (off)
        o = find_option(own, s, of_train, given + 3, n - 3);
    if (!o.name || (off && o.kind != API_FLAG))
        return gnn_fail(e, GNN_E_USAGE, "%.*s: unknown option", (int)n, given);
    if ((o.kind == API_FLAG) == (given[n] == '='))
        return gnn_fail(e, GNN_E_USAGE,
                        o.kind == API_FLAG ? "%s: a flag takes no value" : "%s: has no value: %s=",
                        o.name, o.name);
    if (o.kind == API_FLAG) {
        *(bool *)o.value = !off;
        return 0;
    }
    return set_option(&o, given + n + 1, e);
}

bool gnn_api_given(const char *const given[], const char *name)
{
    const size_t n = strlen(name);
    for (; given && *given; given++) {
        const char *p = !strncmp(*given, "no-", 3) && strncmp(name, "no-", 3) ? *given + 3 : *given;
        if (!strncmp(p, name, n) && (!p[n] || p[n] == '='))
            return true;
    }
    return false;
}

static bool was_given(const void *arg, const char *option)
{
    return gnn_api_given((const char *const *)arg, option);
}

int gnn_api_options(const char *const given[], const struct api_option *own, struct gnn_sampling *s,
                    bool of_train, struct gnn_err *e)
{
    const struct gnn_given has = {was_given, given};
    const char *why, *option;
    for (const char *const *g = given; g && *g; g++)
        if (take_text(*g, own, s, of_train, e))
            return e->code;
    option = s ? gnn_sampling_conflict(s, &has, &why) : NULL;
    return option ? gnn_fail(e, GNN_E_USAGE, "%s %s", option, why) : 0;
}

struct gnn_temp *gnn_api_file(const char *path, int *fd, struct gnn_err *e)
{
    char *target = gnn_temp_target(path, false, e);
    struct gnn_temp *temp = target ? gnn_temp_file(target, e) : NULL;
    gnn_free(target);
    if (!temp || (*fd = fcntl(temp->fd, F_DUPFD_CLOEXEC, 0)) >= 0)
        return temp;
    (void)!gnn_fail_errno(e, "%s", path);
    gnn_temp_free(temp);
    return NULL;
}
