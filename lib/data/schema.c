/* SPDX-License-Identifier: Apache-2.0 */
/* The schema of a graph (lib/data/schema.h): types, fields, splits. Everything is added through
 * functions that check it, whether it comes from an importer or from a file, so no schema in memory
 * breaks a rule of the format. */
#include "lib/data/schema.h"

#include <stdio.h>
#include <string.h>

#include "formats/gnb.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"
#include "lib/data/class_names.h"
#include "lib/data/standard.h"
#include "lib/data/text_check.h"
#include "lib/data/time.h"

static void fields_release(struct gnn_field *f, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        gnn_free(f[i].name);
        gnn_free(f[i].standard);
    }
    gnn_free(f);
}

static void etype_release(struct gnn_etype *t)
{
    gnn_free(t->rel);
    gnn_free(t->order);
    fields_release(t->field, t->nfields);
}

void gnn_schema_release(struct gnn_schema *s)
{
    for (uint32_t i = 0; i < s->nntypes; i++) {
        gnn_free(s->ntype[i].name);
        fields_release(s->ntype[i].field, s->ntype[i].nfields);
    }
    for (uint32_t i = 0; i < s->netypes; i++)
        etype_release(&s->etype[i]);
    for (uint32_t i = 0; i < s->nsets; i++) {
        gnn_free(s->set[i].split);
        gnn_free(s->set[i].set);
    }
    gnn_class_names_free(s->class_name, s->nclasses);
    gnn_free(s->ntype);
    gnn_free(s->etype);
    gnn_free(s->set);
    *s = (struct gnn_schema){0};
}

static int grow_array(void *array, uint32_t n, uint32_t max, size_t size, const char *what,
                      struct gnn_err *e)
{
    return n < max ? gnn_grow(array, n, size, what, e)
                   : gnn_fail(e, GNN_E_INPUT, "more than %u %s", max, what);
}

/* A field, a split or a set is a word: such names stand in lists on the command line, and at the
 * end of tensor names. */
static bool is_word(const char *name)
{
    return !name[strcspn(name, " /=,:")];
}

static int check_name(const char *name, const char *what, struct gnn_err *e)
{
    int rc = gnn_text_check(name, what, GNN_WORD_MAX, e);
    return rc || is_word(name)
               ? rc
               : gnn_fail(e, GNN_E_INPUT, "%s name '%.70s' has a blank or one of / = , :", what,
                          name);
}

const char *gnn_degree_field(char out[GNN_WORD_MAX + 1], const char *rel, uint32_t etype)
{
    const int n = is_word(rel) ? snprintf(out, GNN_WORD_MAX + 1, "degree.%s", rel) : -1;
    if (n < 0 || n > GNN_WORD_MAX)
        snprintf(out, GNN_WORD_MAX + 1, "degree.@%u", etype);
    return out;
}

const char *gnn_weight_field(char out[GNN_WORD_MAX + 1], bool loop, const char *weight,
                             const char *rel, uint32_t etype)
{
    const char *what = loop ? "loop" : "degree";
    const int n =
        is_word(rel) ? snprintf(out, GNN_WORD_MAX + 1, "%s.%s.%s", what, weight, rel) : -1;
    if (n < 0 || n > GNN_WORD_MAX)
        snprintf(out, GNN_WORD_MAX + 1, "%s.%.20s.@%u", what, weight, etype);
    return out;
}

/* Whether the words are those of the key "src/rel/dst". */
static bool key_is(const char *src, const char *rel, const char *dst, const char *key)
{
    const char *const word[] = {src, rel, dst};
    for (int i = 0; i < 3; i++) {
        const size_t n = strlen(word[i]);
        if (strncmp(key, word[i], n) != 0 || key[n] != (i < 2 ? '/' : 0))
            return false;
        key += n + 1;
    }
    return true;
}

/* Names may hold '/', but no key may mean two types: "a/b", "c", "d" and "a", "b/c", "d" both give
 * "a/b/c/d". */
static int check_key(const struct gnn_schema *s, uint32_t src, const char *rel, uint32_t dst,
                     struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_CAPACITY];
    snprintf(key, sizeof key, "%s/%s/%s", s->ntype[src].name, rel, s->ntype[dst].name);
    if (gnn_schema_find_etype(s, key) >= 0)
        return gnn_fail(e, GNN_E_INPUT, "two edge types are called '%s'", key);
    return gnn_schema_find_ntype(s, key) < 0
               ? 0
               : gnn_fail(e, GNN_E_INPUT, "an edge type and a node type are called '%s'", key);
}

int gnn_schema_add_ntype(struct gnn_schema *s, const char *name, uint64_t count, struct gnn_err *e)
{
    int rc = gnn_type_name_check(name, "node type", e);
    if (rc)
        return rc;
    if (gnn_schema_find_ntype(s, name) >= 0)
        return gnn_fail(e, GNN_E_INPUT, "node type '%s' appears twice", name);
    if (gnn_schema_find_etype(s, name) >= 0)
        return gnn_fail(e, GNN_E_INPUT, "an edge type and a node type are called '%s'", name);
    /* UINT32_MAX is no id, but says everywhere that there is none. */
    if (count > UINT32_MAX - 1u)
        return gnn_fail(e, GNN_E_INPUT, "node type '%s' has %llu nodes, more than 2^32 - 2", name,
                        (unsigned long long)count);
    if ((rc = grow_array(&s->ntype, s->nntypes, GNN_TYPES_MAX, sizeof *s->ntype, "node types", e)))
        return rc;
    char *copy = gnn_strdup(name, e);
    if (!copy)
        return e->code;
    s->ntype[s->nntypes++] = (struct gnn_ntype){.name = copy, .count = count};
    return 0;
}

int gnn_schema_add_etype(struct gnn_schema *s, uint32_t src, const char *rel, uint32_t dst,
                         uint64_t count, struct gnn_err *e)
{
    int rc = gnn_type_name_check(rel, "relation", e);
    if (rc)
        return rc;
    if (src >= s->nntypes || dst >= s->nntypes)
        return gnn_fail(e, GNN_E_INPUT, "edge type '%s' refers to a node type that does not exist",
                        rel);
    /* An eighth of the range: offsets of 8 bytes must fit it. */
    if (count > (uint64_t)INT64_MAX / 8)
        return gnn_fail(e, GNN_E_INPUT, "edge type '%s' has an implausible count", rel);
    if ((rc = check_key(s, src, rel, dst, e)) ||
        (rc = grow_array(&s->etype, s->netypes, GNN_TYPES_MAX, sizeof *s->etype, "edge types", e)))
        return rc;
    char *copy = gnn_strdup(rel, e);
    if (!copy)
        return e->code;
    s->etype[s->netypes++] =
        (struct gnn_etype){.src = src, .rel = copy, .dst = dst, .count = count};
    return 0;
}

void gnn_schema_drop_etype(struct gnn_schema *s, uint32_t i)
{
    etype_release(&s->etype[i]);
    s->netypes--;
    memmove(&s->etype[i], &s->etype[i + 1], (s->netypes - i) * sizeof *s->etype);
    for (uint32_t t = 0; t < s->netypes; t++) {
        uint32_t *of = &s->etype[t].reverse_of;
        *of = *of == i + 1 ? 0 : *of - (*of > i + 1);
    }
}

static int add_field(struct gnn_field **f, uint32_t *n, const char *name, enum gnn_dtype dtype,
                     uint64_t width, struct gnn_err *e)
{
    int rc = check_name(name, "field", e);
    if (rc)
        return rc;
    static const char *const taken[] = {"id", "indptr", "indices", "name_offsets"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!strcmp(name, taken[i]))
            return gnn_fail(e, GNN_E_INPUT, "field name '%s' is reserved", name);
    if (gnn_field_find(*f, *n, name))
        return gnn_fail(e, GNN_E_INPUT, "field '%s' appears twice", name);
    if (!gnn_dtype_bytes(dtype) || width > UINT32_MAX)
        return gnn_fail(e, GNN_E_INPUT, "field '%s' has a bad dtype or width", name);
    if ((rc = grow_array(f, *n, GNN_FIELDS_MAX, sizeof **f, "fields", e)))
        return rc;
    char *copy = gnn_strdup(name, e);
    if (!copy)
        return e->code;
    (*f)[(*n)++] = (struct gnn_field){.name = copy, .dtype = dtype, .width = width};
    return 0;
}

int gnn_schema_add_nfield(struct gnn_schema *s, uint32_t ntype, const char *name,
                          enum gnn_dtype dtype, uint64_t width, struct gnn_err *e)
{
    struct gnn_ntype *t = &s->ntype[ntype];
    return add_field(&t->field, &t->nfields, name, dtype, width, e);
}

int gnn_schema_add_efield(struct gnn_schema *s, uint32_t etype, const char *name,
                          enum gnn_dtype dtype, uint64_t width, struct gnn_err *e)
{
    struct gnn_etype *t = &s->etype[etype];
    return add_field(&t->field, &t->nfields, name, dtype, width, e);
}

/* The node field of this name, or NULL. */
static struct gnn_field *node_field(struct gnn_schema *s, uint32_t ntype, const char *name,
                                    struct gnn_err *e)
{
    const struct gnn_ntype *t = &s->ntype[ntype];
    for (uint32_t i = 0; i < t->nfields; i++)
        if (!strcmp(t->field[i].name, name))
            return &t->field[i];
    gnn_fail(e, GNN_E_INPUT, "node type '%s' has no field '%.70s'", t->name, name);
    return NULL;
}

int gnn_schema_set_standard(struct gnn_schema *s, uint32_t ntype, const char *field,
                            const double *standard, struct gnn_err *e)
{
    struct gnn_field *f = node_field(s, ntype, field, e);
    double *copy = !f || gnn_standard_check(standard, gnn_field_columns(f), e)
                       ? NULL
                       : gnn_standard_copy(standard, gnn_field_columns(f), e);
    if (!copy)
        return e->code;
    gnn_free(f->standard);
    f->standard = copy;
    return GNN_OK;
}

int gnn_schema_set_scaled(struct gnn_schema *s, uint32_t ntype, const char *field,
                          struct gnn_err *e)
{
    struct gnn_field *f = node_field(s, ntype, field, e);
    if (f && strcmp(field, "x") != 0)
        return gnn_fail(e, GNN_E_INPUT, "field '%.70s' has scales, which only features x have",
                        field);
    if (f && f->dtype != GNN_I8)
        return gnn_fail(e, GNN_E_INPUT, "field '%.70s' is %s: only i8 has scales", field,
                        gnn_dtype_name(f->dtype));
    if (f)
        f->scaled = true;
    return e->code;
}

bool gnn_schema_is_scaled(const struct gnn_schema *s)
{
    bool any = false;
    for (uint32_t t = 0; t < s->nntypes; t++)
        for (uint32_t i = 0; i < s->ntype[t].nfields; i++)
            any = any || s->ntype[t].field[i].scaled;
    return any;
}

int gnn_schema_set_classes(struct gnn_schema *s, const char *const *name, struct gnn_err *e)
{
    char **copy = gnn_class_names_copy(name, s->nclasses, e);
    if (!copy)
        return e->code;
    gnn_class_names_free(s->class_name, s->nclasses);
    s->class_name = copy;
    return GNN_OK;
}

int gnn_schema_set_order(struct gnn_schema *s, uint32_t etype, const char *field, struct gnn_err *e)
{
    struct gnn_etype *t = &s->etype[etype];
    const struct gnn_field *f = gnn_field_find(t->field, t->nfields, field);
    if (!f)
        return gnn_fail(e, GNN_E_INPUT,
                        "edges '%s' are ordered by '%.70s', which is none of their fields", t->rel,
                        field);
    if (!gnn_time_dtype(f->dtype) || f->width > 1)
        return gnn_fail(
            e, GNN_E_INPUT,
            "edges '%s' are ordered by '%s', which is not one column of integers, f32 or f64",
            t->rel, field);
    char *copy = gnn_strdup(field, e);
    if (!copy)
        return e->code;
    gnn_free(t->order);
    t->order = copy;
    return 0;
}

/* ---- reverses ---- */

static int named_reverse(const struct gnn_schema *s, uint32_t etype)
{
    const struct gnn_etype *t = &s->etype[etype];
    if (t->reverse_of)
        return (int)t->reverse_of - 1;
    for (uint32_t i = 0; i < s->netypes; i++)
        if (s->etype[i].reverse_of == etype + 1)
            return (int)i;
    return -1;
}

static bool runs_back(const struct gnn_etype *a, const struct gnn_etype *b)
{
    return a->src == b->dst && a->dst == b->src;
}

/* Whether the name of type a says that it has the reverses of b. */
static bool is_rev(const struct gnn_etype *a, const struct gnn_etype *b)
{
    static const char rev[] = "rev_";
    return runs_back(a, b) && !strncmp(a->rel, rev, strlen(rev)) &&
           !strcmp(a->rel + strlen(rev), b->rel);
}

int gnn_schema_reverse(const struct gnn_schema *s, uint32_t etype)
{
    const int named = named_reverse(s, etype);
    for (uint32_t i = 0; named < 0 && i < s->netypes; i++)
        if ((is_rev(&s->etype[i], &s->etype[etype]) || is_rev(&s->etype[etype], &s->etype[i])) &&
            named_reverse(s, i) < 0)
            return (int)i;
    return named;
}

int gnn_schema_reverse_of(const struct gnn_schema *s, uint32_t etype)
{
    const int i = gnn_schema_reverse(s, etype);
    return i >= 0 && s->etype[i].reverse_of != etype + 1 &&
                   (s->etype[etype].reverse_of || is_rev(&s->etype[etype], &s->etype[i]))
               ? i
               : -1;
}

int gnn_schema_set_reverse(struct gnn_schema *s, uint32_t etype, uint32_t of, struct gnn_err *e)
{
    char a[GNN_ETYPE_KEY_CAPACITY], b[GNN_ETYPE_KEY_CAPACITY], c[GNN_ETYPE_KEY_CAPACITY];
    gnn_etype_key(s, etype, a, sizeof a);
    gnn_etype_key(s, of, b, sizeof b);
    if (etype == of || !runs_back(&s->etype[etype], &s->etype[of]))
        return gnn_fail(e, GNN_E_INPUT,
                        "edges '%s' cannot be the reverses of '%s': they must be of another type, "
                        "from '%s' to '%s'",
                        a, b, s->ntype[s->etype[of].dst].name, s->ntype[s->etype[of].src].name);
    for (int k = 0; k < 2; k++) {
        const int has = named_reverse(s, k ? of : etype);
        if (has >= 0)
            return gnn_fail(e, GNN_E_INPUT,
                            "edges '%s' cannot be the reverses of '%s': '%s' and '%s' are each "
                            "other's reverses",
                            a, b, k ? b : a, gnn_etype_key(s, (uint32_t)has, c, sizeof c));
    }
    s->etype[etype].reverse_of = of + 1;
    return 0;
}

/* Appends a set, of which nothing but the names is copied. */
static int add_set(struct gnn_schema *s, const char *split, const char *set,
                   const struct gnn_split_set *what, struct gnn_err *e)
{
    int rc = check_name(split, "split", e);
    if (!rc)
        rc = check_name(set, "set", e);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < s->nsets; i++)
        if (!strcmp(s->set[i].split, split) && !strcmp(s->set[i].set, set))
            return gnn_fail(e, GNN_E_INPUT, "split '%s/%s' appears twice", split, set);
    if ((rc = grow_array(&s->set, s->nsets, GNN_TYPES_MAX, sizeof *s->set, "splits", e)))
        return rc;
    char *a = gnn_strdup(split, e), *b = a ? gnn_strdup(set, e) : NULL;
    if (!b) {
        gnn_free(a);
        return e->code;
    }
    struct gnn_split_set *x = &s->set[s->nsets++];
    *x = *what;
    x->split = a;
    x->set = b;
    return 0;
}

int gnn_schema_add_set(struct gnn_schema *s, const char *split, const char *set, uint32_t ntype,
                       uint64_t count, struct gnn_err *e)
{
    if (ntype >= s->nntypes || count > s->ntype[ntype].count)
        return gnn_fail(e, GNN_E_INPUT, "split '%.70s/%.70s' has more members than there are nodes",
                        split, set);
    return add_set(s, split, set, &(struct gnn_split_set){.ntype = ntype, .count = count}, e);
}

int gnn_schema_add_links(struct gnn_schema *s, const char *split, const char *set, uint32_t etype,
                         enum gnn_dtype time, uint64_t count, struct gnn_err *e)
{
    if (etype >= s->netypes || count > (uint64_t)INT64_MAX / 16 ||
        (time && time != GNN_I64 && time != GNN_F64))
        return gnn_fail(e, GNN_E_INPUT,
                        "split '%.70s/%.70s': links of no edge type, implausibly many, or with "
                        "times that are neither i64 nor f64",
                        split, set);
    return add_set(s, split, set,
                   &(struct gnn_split_set){.links = true,
                                           .ntype = s->etype[etype].dst,
                                           .etype = etype,
                                           .time = time,
                                           .count = count},
                   e);
}

const struct gnn_field *gnn_link_field(const struct gnn_schema *s, uint32_t set, uint32_t f)
{
    const struct gnn_split_set *m = &s->set[set];
    const struct gnn_etype *t = &s->etype[m->etype];
    const struct gnn_field *x = &t->field[f];
    return m->fields && !x->width && !(t->order && !strcmp(x->name, t->order)) ? x : NULL;
}

int gnn_schema_copy(struct gnn_schema *dst, const struct gnn_schema *src, struct gnn_err *e)
{
    struct gnn_schema c = {.task = src->task,
                           .label_ntype = src->label_ntype,
                           .nclasses = src->nclasses,
                           .nparts = src->nparts};
    int rc = 0;
    for (uint32_t i = 0; !rc && i < src->nntypes; i++) {
        const struct gnn_ntype *t = &src->ntype[i];
        rc = gnn_schema_add_ntype(&c, t->name, t->count, e);
        for (uint32_t j = 0; !rc && j < t->nfields; j++) {
            const struct gnn_field *f = &t->field[j];
            rc = gnn_schema_add_nfield(&c, i, f->name, f->dtype, f->width, e);
            if (!rc && f->standard)
                rc = gnn_schema_set_standard(&c, i, f->name, f->standard, e);
            if (!rc && f->scaled)
                rc = gnn_schema_set_scaled(&c, i, f->name, e);
        }
    }
    for (uint32_t i = 0; !rc && i < src->netypes; i++) {
        const struct gnn_etype *t = &src->etype[i];
        rc = gnn_schema_add_etype(&c, t->src, t->rel, t->dst, t->count, e);
        for (uint32_t j = 0; !rc && j < t->nfields; j++)
            rc = gnn_schema_add_efield(&c, i, t->field[j].name, t->field[j].dtype,
                                       t->field[j].width, e);
        if (!rc && t->order)
            rc = gnn_schema_set_order(&c, i, t->order, e);
        if (!rc)
            c.etype[i].reverse_of = t->reverse_of;
    }
    for (uint32_t i = 0; !rc && i < src->nsets; i++) {
        const struct gnn_split_set *t = &src->set[i];
        rc = add_set(&c, t->split, t->set, t, e);
    }
    if (!rc && src->class_name)
        rc = gnn_schema_set_classes(&c, (const char *const *)src->class_name, e);
    if (rc)
        gnn_schema_release(&c);
    *dst = c;
    return rc;
}

int gnn_schema_check_counts(const struct gnn_schema *s, const char *name, struct gnn_err *e)
{
    /* A damaged or hostile header must not make a program allocate for nodes of which the file
     * holds not a byte. */
    enum { ALWAYS = 1 << 24, PER_EDGE = 1024 };
    uint64_t bare = 0; /* nodes of which nothing in the store tells */
    for (uint32_t t = 0; t < s->nntypes; t++) {
        const struct gnn_ntype *n = &s->ntype[t];
        bool rows = s->nparts > 1 || n->nfields; /* ids, fields */
        uint64_t edges = 0;
        for (uint32_t i = 0; i < s->netypes; i++) {
            rows = rows || s->etype[i].dst == t; /* offsets */
            edges += s->etype[i].src == t ? s->etype[i].count : 0;
        }
        if (rows || n->count / PER_EDGE <= edges)
            continue;
        bare += n->count;
        if (bare > ALWAYS)
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: %llu nodes of type %s with %llu edge%s are implausible", name,
                            (unsigned long long)n->count, n->name, (unsigned long long)edges,
                            gnn_plural(edges));
    }
    return 0;
}

bool gnn_schema_same_types(const struct gnn_schema *a, const struct gnn_schema *b)
{
    bool same = a->nntypes == b->nntypes && a->netypes == b->netypes && a->nparts == b->nparts;
    for (uint32_t t = 0; same && t < a->nntypes; t++)
        same =
            a->ntype[t].count == b->ntype[t].count && !strcmp(a->ntype[t].name, b->ntype[t].name);
    for (uint32_t t = 0; same && t < a->netypes; t++) {
        const struct gnn_etype *x = &a->etype[t], *y = &b->etype[t];
        same = x->src == y->src && x->dst == y->dst && !strcmp(x->rel, y->rel) &&
               x->count == y->count && !x->order == !y->order &&
               (!x->order || !strcmp(x->order, y->order));
    }
    return same;
}

int gnn_schema_find_ntype(const struct gnn_schema *s, const char *name)
{
    for (uint32_t i = 0; i < s->nntypes; i++)
        if (!strcmp(s->ntype[i].name, name))
            return (int)i;
    return -1;
}

int gnn_schema_find_etype(const struct gnn_schema *s, const char *key)
{
    for (uint32_t i = 0; i < s->netypes; i++) {
        const struct gnn_etype *t = &s->etype[i];
        if (key_is(s->ntype[t->src].name, t->rel, s->ntype[t->dst].name, key))
            return (int)i;
    }
    return -1;
}

const struct gnn_field *gnn_field_find(const struct gnn_field *f, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(f[i].name, name))
            return &f[i];
    return NULL;
}

static bool is_called(const struct gnn_split_set *t, const char *name)
{
    const char *slash = strchr(name, '/');
    return slash ? !strncmp(t->split, name, (size_t)(slash - name)) && !t->split[slash - name] &&
                       !strcmp(t->set, slash + 1)
                 : !strcmp(t->set, name);
}

int gnn_schema_find_set(const struct gnn_schema *s, const char *name)
{
    for (uint32_t i = 0; i < s->nsets; i++)
        if (!s->set[i].links && is_called(&s->set[i], name))
            return (int)i;
    return -1;
}

int gnn_schema_find_links(const struct gnn_schema *s, uint32_t etype, const char *name)
{
    for (uint32_t i = 0; i < s->nsets; i++)
        if (s->set[i].links && s->set[i].etype == etype && is_called(&s->set[i], name))
            return (int)i;
    return -1;
}

int gnn_schema_given_kind(const struct gnn_split_set *set)
{
    static const char *const split[] = {[GNN_GIVEN_SHARED] = GNN_SHARED_SPLIT,
                                        [GNN_GIVEN_EACH] = GNN_EACH_SPLIT,
                                        [GNN_GIVEN_RAGGED] = GNN_RAGGED_SPLIT};
    for (int k = GNN_GIVEN_SHARED; set->links && k <= GNN_GIVEN_RAGGED; k++)
        if (!strcmp(set->split, split[k]))
            return k;
    return -1;
}

unsigned gnn_schema_version(const struct gnn_schema *s)
{
    for (uint32_t i = 0; i < s->nsets; i++)
        if (gnn_schema_given_kind(&s->set[i]) == GNN_GIVEN_RAGGED)
            return GNB_MAJOR_RAGGED;
    return gnn_schema_is_scaled(s) ? GNB_MAJOR_SCALED : GNB_MAJOR;
}

int gnn_schema_find_given(const struct gnn_schema *s, uint32_t set, enum gnn_given_kind *kind)
{
    const struct gnn_split_set *of = &s->set[set];
    for (uint32_t i = 0; i < s->nsets && !strcmp(of->split, GNN_LINK_SPLIT); i++) {
        const struct gnn_split_set *x = &s->set[i];
        const int k = gnn_schema_given_kind(x);
        if (k < 0 || x->etype != of->etype || strcmp(x->set, of->set) != 0)
            continue;
        *kind = (enum gnn_given_kind)k;
        return (int)i;
    }
    return -1;
}

bool gnn_schema_all_given(const struct gnn_schema *s, uint32_t etype, const char *const *name,
                          uint32_t n)
{
    enum gnn_given_kind kind;
    bool all = n;
    for (uint32_t i = 0; i < n && all; i++) {
        const int set = gnn_schema_find_links(s, etype, name[i]);
        all = set >= 0 && gnn_schema_find_given(s, (uint32_t)set, &kind) >= 0;
    }
    return all;
}

const char *gnn_etype_key(const struct gnn_schema *s, uint32_t etype, char *out, size_t capacity)
{
    const struct gnn_etype *t = &s->etype[etype];
    snprintf(out, capacity, "%s/%s/%s", s->ntype[t->src].name, t->rel, s->ntype[t->dst].name);
    return out;
}
