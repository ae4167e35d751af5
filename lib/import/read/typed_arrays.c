/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of a graph of several types (lib/import/read/typed_arrays.h): of an .npz, a directory of
 * .npy files, or a file of another program that is shown as such. Edges are SRC/REL/DST/edge_index,
 * or src and dst there. Types have the order in which the input has them; a directory has none, and
 * theirs is that of their names. */
#include "lib/import/read/typed_arrays.h"

#include <stdlib.h>
#include <string.h>

#include "lib/import/read/array.h"
#include "lib/import/read/files.h"
#include "lib/import/read/masks.h"
#include "lib/import/read/pairs.h"
#include "lib/import/read/roles.h"
#include "lib/base/path.h"
#include "lib/base/plural.h"

enum { WORDS = 4, NONE = -1 };

/* What a member's name says, and its role. */
struct typed_member {
    uint32_t member, given; /* its number, and its place in the input */
    char *type[WORDS - 1];  /* of nodes: one; of edges: SRC, REL, DST; none: it is not read */
    uint32_t ntypes;
    char role[GNN_ROLE_CAPACITY]; /* "": left out by --map */
};

/* An edge type while it is being found. */
struct typed_edges {
    const struct typed_member *of; /* its first member */
    uint32_t src, dst;             /* node types, as numbered in `type` */
    struct gnn_pairs pairs;
};

struct typed {
    struct gnn_src s;
    struct gnn_input *in;
    size_t root;            /* bytes of the directory before all types */
    struct typed_member *m; /* (n) in the order of the input */
    uint32_t n;
    const char **type; /* (ntypes) node types */
    uint32_t ntypes;
    struct typed_edges *edges; /* (nedges) */
    uint32_t nedges;
};

/* ---- names ---- */

/* The member's name without what says that it is an array, as its words. */
static uint32_t count_words(const char *name)
{
    uint32_t n = 1;
    for (; *name; name++)
        n += *name == '/';
    return n;
}

static size_t stem_length(const char *name)
{
    const char *end = strstr(gnn_base_name(name), ".npy");
    return end ? (size_t)(end - name) : strlen(name);
}

static bool is_ends(const char *name)
{
    static const char *const known[] = {"edge_index", "edges", "src", "row"};
    const char *base = gnn_base_name(name);
    const size_t n = stem_length(base);
    bool is = false;
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        is = is || (n == strlen(known[i]) && !strncmp(base, known[i], n));
    return is;
}

/* The bytes before the last WORDS words. */
static size_t root_length(const char *name)
{
    size_t n = strlen(name);
    for (uint32_t words = 0; n && words < WORDS; words += name[n] == '/')
        n--;
    return n ? n + 1 : 0;
}

static bool in_one_directory(const struct gnn_input *in)
{
    const char *first = gnn_input_member(in, 0);
    const size_t n = (size_t)(gnn_base_name(first) - first);
    bool one = true;
    for (uint32_t i = 1; one && i < gnn_input_members(in); i++) {
        const char *name = gnn_input_member(in, i);
        one = (size_t)(gnn_base_name(name) - name) == n && !memcmp(name, first, n);
    }
    return one;
}

bool gnn_typed_arrays_is(const struct gnn_input *in)
{
    bool typed, found = false;
    if (gnn_input_is_arrays(in, &typed))
        return typed;
    for (uint32_t i = 0; !found && i < gnn_input_members(in); i++)
        found = is_ends(gnn_input_member(in, i)) && count_words(gnn_input_member(in, i)) >= WORDS;
    return found && (gnn_ends_with(gnn_input_name(in), ".npz") || !in_one_directory(in));
}

/* The role of an array of a type: by what --map says of its whole name, or of its last word. */
static void find_role(const struct typed *g, const char *whole, char role[GNN_ROLE_CAPACITY])
{
    const char *m = gnn_src_mapped(g->s.o, whole);
    if (m == whole)
        gnn_role_of(g->s.o, gnn_base_name(whole), false, role);
    else
        snprintf(role, GNN_ROLE_CAPACITY, "%s", gnn_role_meant(m));
}

/* Takes the words of a member's name apart; more or fewer than a type has: it is not read. */
static int read_name(const struct typed *g, struct typed_member *t, struct gnn_err *e)
{
    const char *name = gnn_input_member(g->in, t->member);
    if (strlen(name) <= g->root || strncmp(name, gnn_input_member(g->in, 0), g->root))
        return GNN_OK;
    const size_t n = stem_length(name) - g->root;
    char *whole = gnn_strf(e, "%.*s", (int)n, name + g->root);
    if (!whole)
        return GNN_E_NOMEM;
    const uint32_t words = count_words(whole);
    int rc = GNN_OK;
    find_role(g, whole, t->role);
    const char *p = whole;
    for (uint32_t i = 0; !rc && (words == 2 || words == WORDS) && i + 1 < words; i++) {
        const size_t len = strcspn(p, "/");
        t->type[i] = gnn_strf(e, "%.*s", (int)len, p);
        t->ntypes = i + 1;
        rc = t->type[i] ? GNN_OK : GNN_E_NOMEM;
        p += len + 1;
    }
    gnn_free(whole);
    return rc;
}

static int cmp_given(const void *a, const void *b)
{
    const struct typed_member *x = a, *y = b;
    return (x->given > y->given) - (x->given < y->given);
}

/* Names all members, in the order of the input. */
static int read_names(struct typed *g, struct gnn_err *e)
{
    bool typed;
    g->n = gnn_input_members(g->in);
    g->m = gnn_alloc_zero(g->n, sizeof *g->m, "arrays", e);
    if (!g->m)
        return GNN_E_NOMEM;
    if (!gnn_input_is_arrays(g->in, &typed))
        for (uint32_t i = 0; i < g->n && !g->root; i++)
            if (is_ends(gnn_input_member(g->in, i)))
                g->root = root_length(gnn_input_member(g->in, i));
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < g->n; i++) {
        g->m[i].member = i;
        g->m[i].given = gnn_input_given(g->in, i);
        rc = read_name(g, &g->m[i], e);
    }
    qsort(g->m, g->n, sizeof *g->m, cmp_given);
    return rc;
}

/* ---- types ---- */

static int find_type(const struct typed *g, const char *name)
{
    for (uint32_t t = 0; t < g->ntypes; t++)
        if (!strcmp(g->type[t], name))
            return (int)t;
    return NONE;
}

static int add_type(struct typed *g, const char *name, uint32_t *type, struct gnn_err *e)
{
    const int t = find_type(g, name);
    *type = t < 0 ? g->ntypes : (uint32_t)t;
    if (t >= 0)
        return GNN_OK;
    if (g->ntypes == GNN_TYPES_MAX)
        return gnn_fail(e, GNN_E_INPUT, "%s: more than %d node types", gnn_input_name(g->in),
                        GNN_TYPES_MAX);
    int rc = gnn_grow(&g->type, g->ntypes, sizeof *g->type, "node types", e);
    if (!rc)
        g->type[g->ntypes++] = name;
    return rc;
}

static bool same_type(const struct typed_member *a, const struct typed_member *b)
{
    bool same = a->ntypes == b->ntypes;
    for (uint32_t i = 0; same && i < a->ntypes; i++)
        same = !strcmp(a->type[i], b->type[i]);
    return same;
}

/* The only member of the type that has the role; NULL: there is none. */
static const struct typed_member *find_member(const struct typed *g, const struct typed_member *of,
                                              const char *role, struct gnn_err *e)
{
    const struct typed_member *found = NULL;
    for (uint32_t i = 0; i < g->n; i++) {
        const struct typed_member *t = &g->m[i];
        if (strcmp(t->role, role) != 0 || !same_type(t, of))
            continue;
        if (found) {
            gnn_fail(e, GNN_E_INPUT, "%s: both '%s' and '%s' are %s", gnn_input_name(g->in),
                     gnn_input_member(g->in, found->member), gnn_input_member(g->in, t->member),
                     role);
            return NULL;
        }
        found = t;
    }
    return found;
}

/* ---- edges ---- */

/* A table tells how many edges it has at its end only. */
static int count_edges(struct gnn_pairs *p, struct gnn_err *e)
{
    int64_t most[2];
    return p->n == UINT64_MAX ? gnn_pairs_scan(p, &p->n, most, e) : GNN_OK;
}

/* The arrays that hold the ends of the edges. */
static int open_edges(struct typed *g, struct typed_edges *t, struct gnn_err *e)
{
    static const char *const roles[] = {"edge_index", "edges", "src", "dst"};
    const struct typed_member *found[4];
    for (int k = 0; k < 4; k++) {
        found[k] = find_member(g, t->of, roles[k], e);
        if (e->code)
            return e->code;
    }
    const int ways = (found[0] != NULL) + (found[1] != NULL) + (found[2] && found[3]);
    if (ways != 1)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: %s/%s/%s has %s: expected edge_index, or src and dst (see --map)",
                        gnn_input_name(g->in), t->of->type[0], t->of->type[1], t->of->type[2],
                        ways ? "edges twice" : "no edges");
    if (found[2] && found[3])
        return gnn_pairs_open(&t->pairs, g->in, (int)found[2]->member, (int)found[3]->member, false,
                              e);
    int rc = gnn_pairs_open(&t->pairs, g->in, (int)(found[0] ? found[0] : found[1])->member, -1,
                            !found[0], e);
    return rc ? rc : count_edges(&t->pairs, e);
}

static int find_edge_type(const struct typed *g, const struct typed_member *m)
{
    for (uint32_t t = 0; t < g->nedges; t++)
        if (same_type(g->edges[t].of, m))
            return (int)t;
    return NONE;
}

/* Finds all types: those of nodes first as their own arrays have them, then as edges do. */
static int find_types(struct typed *g, struct gnn_err *e)
{
    uint32_t type;
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < g->n; i++)
        if (g->m[i].ntypes == 1 && *g->m[i].role)
            rc = add_type(g, g->m[i].type[0], &type, e);
    for (uint32_t i = 0; !rc && i < g->n; i++) {
        const struct typed_member *m = &g->m[i];
        if (m->ntypes != WORDS - 1 || !*m->role || find_edge_type(g, m) >= 0)
            continue;
        if (g->nedges == GNN_TYPES_MAX)
            return gnn_fail(e, GNN_E_INPUT, "%s: more than %d edge types", gnn_input_name(g->in),
                            GNN_TYPES_MAX);
        rc = gnn_grow(&g->edges, g->nedges, sizeof *g->edges, "edge types", e);
        struct typed_edges *t = rc ? NULL : &g->edges[g->nedges++];
        if (rc)
            break;
        *t = (struct typed_edges){.of = m};
        rc = add_type(g, m->type[0], &t->src, e);
        if (!rc)
            rc = add_type(g, m->type[2], &t->dst, e);
        if (!rc)
            rc = open_edges(g, t, e);
    }
    return rc || g->nedges ? rc
                           : gnn_fail(e, GNN_E_INPUT,
                                      "%s: no edge type: expected arrays SRC/REL/DST/edge_index",
                                      gnn_input_name(g->in));
}

/* ---- nodes ---- */

static bool is_set(const char *role, const char *set, const char *kind)
{
    const size_t n = strlen(set);
    return !strncmp(role, set, n) && !strcmp(role + n, kind);
}

static bool is_ids(const char *role)
{
    char split[GNN_WORD_MAX + 1], set[GNN_WORD_MAX + 1];
    return gnn_masks_named(role, split, set) || is_set(role, "train", "_ids") ||
           is_set(role, "valid", "_ids") || is_set(role, "test", "_ids");
}

/* The array whose rows are the nodes: x, y or else the first field. */
static const struct typed_member *find_rows(const struct typed *g, const struct typed_member *of,
                                            struct gnn_err *e)
{
    const struct typed_member *m = find_member(g, of, "x", e);
    m = m || e->code ? m : find_member(g, of, "y", e);
    for (uint32_t i = 0; !m && !e->code && i < g->n; i++)
        if (same_type(&g->m[i], of) && *g->m[i].role && !is_ids(g->m[i].role))
            m = &g->m[i];
    return m;
}

/* The number of nodes as edges have it: one more than the largest id. */
static int count_by_edges(const struct typed *g, uint32_t type, uint64_t *n, struct gnn_err *e)
{
    int rc = GNN_OK;
    *n = 0;
    for (uint32_t t = 0; !rc && t < g->nedges; t++) {
        int64_t most[2];
        uint64_t edges;
        if (g->edges[t].src != type && g->edges[t].dst != type)
            continue;
        rc = gnn_pairs_scan(&g->edges[t].pairs, &edges, most, e);
        for (int end = 0; !rc && end < 2; end++)
            if ((end ? g->edges[t].dst : g->edges[t].src) == type && most[end] >= (int64_t)*n)
                *n = (uint64_t)most[end] + 1;
    }
    return rc;
}

static int count_nodes(const struct typed *g, uint32_t type, uint64_t *n, struct gnn_err *e)
{
    const struct typed_member of = {.type = {(char *)g->type[type]}, .ntypes = 1};
    const struct typed_member *m = find_member(g, &of, "num_nodes", e);
    if (m)
        return gnn_member_number(g->in, m->member, n, e);
    m = e->code ? NULL : find_rows(g, &of, e);
    if (e->code)
        return e->code;
    if (!m)
        return count_by_edges(g, type, n, e);
    struct gnn_array a;
    int rc = gnn_array_open(&a, g->in, m->member, e);
    *n = rc ? 0 : a.rows;
    if (!rc && a.rows == UINT64_MAX)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: not an array (--map =%s/%s leaves it out)",
                      gnn_array_name(&a), g->type[type], m->role);
    gnn_array_close(&a);
    return rc;
}

/* ---- the schema ---- */

static int add_types(struct typed *g, struct gnn_err *e)
{
    struct gnn_schema *c = &g->s.d.schema;
    int rc = GNN_OK;
    for (uint32_t t = 0; !rc && t < g->ntypes; t++) {
        uint64_t n = 0;
        rc = count_nodes(g, t, &n, e);
        if (!rc)
            rc = gnn_schema_add_ntype(c, g->type[t], n, e);
    }
    for (uint32_t t = 0; !rc && t < g->nedges; t++)
        rc = gnn_schema_add_etype(c, g->edges[t].src, g->edges[t].of->type[1], g->edges[t].dst, 0,
                                  e);
    return rc;
}

/* A field has a row for each node or edge. */
static int check_rows(const struct typed *g, const struct typed_member *m, uint64_t n,
                      const char *what, struct gnn_err *e)
{
    struct gnn_array a;
    const char *name = gnn_input_member(g->in, m->member) + g->root;
    int rc = gnn_array_open(&a, g->in, m->member, e);
    if (!rc && a.rows != n)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %llu row%s for %llu %s%s (--map =%.*s leaves it out)",
                      gnn_array_name(&a), (unsigned long long)a.rows, gnn_plural(a.rows),
                      (unsigned long long)n, what, gnn_plural(n), (int)stem_length(name), name);
    gnn_array_close(&a);
    return rc;
}

/* A field of nodes, or a set of them; what is not of this pass waits. */
static int add_node_member(struct typed *g, const struct typed_member *m, const char *pass,
                           struct gnn_err *e)
{
    static const char *const sets[] = {"train", "valid", "test"};
    const uint32_t type = (uint32_t)find_type(g, m->type[0]);
    for (int k = 0; k < 3; k++) {
        const bool mask = is_set(m->role, sets[k], "_mask"), ids = is_set(m->role, sets[k], "_ids");
        if ((mask || ids) && strcmp(pass, sets[k]) != 0)
            return GNN_OK;
        if (mask || ids)
            return mask ? gnn_masks_add(&g->s, g->in, m->member, sets[k], type, e)
                        : gnn_masks_add_ids(&g->s, g->in, m->member, "ids", sets[k], type, e);
    }
    char split[GNN_WORD_MAX + 1], set[GNN_WORD_MAX + 1];
    if (gnn_masks_named(m->role, split, set))
        return strcmp(pass, "named") != 0
                   ? GNN_OK
                   : gnn_masks_add_ids(&g->s, g->in, m->member, split, set, type, e);
    if (strcmp(pass, "fields") != 0 || !strcmp(m->role, "num_nodes"))
        return GNN_OK;
    if (!strcmp(m->role, "y") && g->s.d.schema.task != GNN_TASK_NONE)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: labels of two node types, %s and %s, and a store has those of one "
                        "(--map =%s/y leaves these out)",
                        gnn_input_name(g->in), g->s.d.schema.ntype[g->s.d.schema.label_ntype].name,
                        m->type[0], m->type[0]);
    int rc = check_rows(g, m, g->s.d.schema.ntype[type].count, "node", e);
    return rc ? rc : gnn_src_node_array(&g->s, type, gnn_role_field(m->role), g->in, m->member, e);
}

/* A field of edges, or how many there are. */
static int add_edge_member(struct typed *g, const struct typed_member *m, struct gnn_err *e)
{
    static const char *const ends[] = {"edge_index", "edges", "src", "dst"};
    const uint32_t t = (uint32_t)find_edge_type(g, m);
    struct gnn_pairs *p = &g->edges[t].pairs;
    uint64_t told = p->n;
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!strcmp(m->role, ends[i]))
            return GNN_OK;
    const bool field = strcmp(m->role, "num_edges") != 0;
    int rc =
        field ? check_rows(g, m, p->n, "edge", e) : gnn_member_number(g->in, m->member, &told, e);
    if (!rc && field)
        rc = gnn_pairs_field(&g->s, t, p, gnn_role_field(m->role), g->in, m->member, e);
    return rc || told == p->n
               ? rc
               : gnn_fail(e, GNN_E_INPUT, "%s: %llu edge%s, but there are %llu",
                          gnn_input_where(g->in, m->member), (unsigned long long)told,
                          gnn_plural(told), (unsigned long long)p->n);
}

static int add_members(struct typed *g, const char *pass, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < g->n; i++) {
        const struct typed_member *m = &g->m[i];
        if (!*m->role || !m->ntypes)
            continue;
        if (m->ntypes == 1)
            rc = add_node_member(g, m, pass, e);
        else if (!strcmp(pass, "fields"))
            rc = add_edge_member(g, m, e);
    }
    return rc;
}

static int tell_unused(struct typed *g, struct gnn_err *e)
{
    bool *used = gnn_alloc_zero(g->n, sizeof *used, "members", e);
    for (uint32_t i = 0; used && i < g->n; i++)
        used[g->m[i].member] = g->m[i].ntypes > 0;
    int rc = used ? gnn_src_tell_unused(&g->s, g->in, used, true, e) : GNN_E_NOMEM;
    gnn_free(used);
    return rc;
}

static int fill_typed(struct gnn_src *s, void *reading, struct gnn_err *e)
{
    static const char *const passes[] = {"fields", "train", "valid", "test", "named"};
    struct typed *g = (struct typed *)s;
    (void)reading;
    g->in = s->in[0];
    s->own_types = true;
    int rc = read_names(g, e);
    if (!rc)
        rc = find_types(g, e);
    if (!rc)
        rc = add_types(g, e);
    for (unsigned p = 0; !rc && p < sizeof passes / sizeof *passes; p++)
        rc = add_members(g, passes[p], e);
    return rc ? rc : tell_unused(g, e);
}

static int typed_edges(struct gnn_dataset *d, uint32_t t, bool fields, gnn_edge_fn *fn, void *arg,
                       struct gnn_err *e)
{
    return gnn_pairs_edges(d, t, &((struct typed *)d)->edges[t].pairs, fields, fn, arg, e);
}

static void free_typed(struct gnn_dataset *d)
{
    struct typed *g = (struct typed *)d;
    for (uint32_t i = 0; g->m && i < g->n; i++)
        for (uint32_t k = 0; k < g->m[i].ntypes; k++)
            gnn_free(g->m[i].type[k]);
    gnn_free(g->m);
    gnn_free(g->type);
    gnn_free(g->edges);
    gnn_src_free(d);
}

static const struct gnn_dataset_ops typed_ops = {typed_edges, gnn_src_rows, gnn_src_set,
                                                 free_typed};
const struct gnn_format gnn_typed_format = {"typed arrays", sizeof(struct typed), &typed_ops,
                                            fill_typed, NULL};
