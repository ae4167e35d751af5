/* SPDX-License-Identifier: Apache-2.0 */
/* Names of types and relations: what is a name, that no two things share a key, and what is made of
 * names. */
#include <stdlib.h>
#include <string.h>

#include "lib/data/columns.h"
#include "lib/base/mem.h"
#include "lib/model/layer.h"
#include "tap.h"

static char thousand[1001], more[1002];

static void is_name(const char *name, const char *why)
{
    struct gnn_schema s = {0};
    struct gnn_err e = {0};
    const int rc = gnn_schema_add_ntype(&s, name, 1, &e);
    ok(why ? rc == GNN_E_INPUT && strstr(e.msg, why) : !rc && !strcmp(s.ntype[0].name, name),
       "gnn_schema_add_ntype %s the name '%.30s' %.100s", why ? "refuses" : "accepts", name, e.msg);
    gnn_schema_release(&s);
}

static void test_names(void)
{
    is_name("/film/actor/film./film/performance/film", NULL);
    is_name("a b, [c] (d) {e} \"f\" 'g' = h: \\i", NULL);
    is_name("Größe 日本 🎬", NULL);
    is_name(thousand, NULL);
    is_name(more, "has 1001 bytes, more than 1000");
    is_name("", "is empty");
    is_name("a\tb", "control character");
    is_name("a\x7f", "control character");
    is_name("a\xc2\x85", "not UTF-8");
    is_name("\xff", "not UTF-8");
    is_name("\xed\xa0\x80", "not UTF-8");
}

/* Of node types a, b, "a/b", ... one relation and then another, which is refused for `why`, if that
 * is not NULL. */
static void pair(const char *const types[], uint32_t s1, const char *r1, uint32_t d1, uint32_t s2,
                 const char *r2, uint32_t d2, const char *why)
{
    struct gnn_schema s = {0};
    struct gnn_err e = {0};
    char key[GNN_ETYPE_KEY_CAPACITY];
    int rc = 0;
    for (uint32_t i = 0; !rc && types[i]; i++)
        rc = gnn_schema_add_ntype(&s, types[i], 1, &e);
    if (rc || gnn_schema_add_etype(&s, s1, r1, d1, 1, &e))
        exit(99);
    rc = gnn_schema_add_etype(&s, s2, r2, d2, 1, &e);
    ok(why ? rc == GNN_E_INPUT && strstr(e.msg, why) : !rc,
       "gnn_schema_add_etype %s relations %s and %s %s", why ? "refuses" : "gives two keys to", r1,
       r2, e.msg);
    for (uint32_t i = 0; i < s.netypes; i++)
        ok(gnn_schema_find_etype(&s, gnn_etype_key(&s, i, key, sizeof key)) == (int)i,
           "gnn_schema_find_etype finds key %s", key);
    ok(gnn_schema_find_etype(&s, "a/b") < 0 && gnn_schema_find_etype(&s, "a/b/c/") < 0,
       "gnn_schema_find_etype does not find a text that is no key");
    gnn_schema_release(&s);
}

static void test_keys(void)
{
    static const char *const slashes[] = {"a", "d", "a/b", "c/d", NULL}, *const triple[] = {
                                                                             "a", "a/b/a", NULL};
    pair(slashes, 0, "b/c", 1, 2, "c", 1, "two edge types are called 'a/b/c/d'");
    pair(slashes, 0, "b/c", 1, 0, "b", 3, "two edge types are called 'a/b/c/d'");
    pair(slashes, 0, "b/c", 1, 0, "b/c", 1, "two edge types are called 'a/b/c/d'");
    pair(slashes, 0, "b/c", 1, 1, "b/c", 0, NULL);
    pair(triple, 0, "x", 0, 0, "b", 0, "an edge type and a node type are called 'a/b/a'");
}

static void degree(const char *rel, const char *want)
{
    char name[GNN_WORD_MAX + 1];
    ok(!strcmp(gnn_degree_field(name, rel, 7), want),
       "gnn_degree_field keeps the degrees of %.50s in %s", rel, name);
}

static void test_degrees(void)
{
    degree("to", "degree.to");
    degree("12345678901234567890123456789012345678901",
           "degree.12345678901234567890123456789012345678901");
    degree("123456789012345678901234567890123456789012", "degree.@7");
    degree("a/b", "degree.@7");
    degree("a b", "degree.@7");
    degree(thousand, "degree.@7");
}

static bool add(struct gnn_batch *b, const char *name, enum gnn_dtype dtype, uint64_t rows,
                struct gnn_err *e)
{
    struct gnn_tensor *t;
    uint64_t bytes;
    if (gnn_tensors_add(&b->tensors, name, dtype, 1, &rows, &t, e) || !gnn_tensor_bytes(t, &bytes))
        return false;
    memset(t->data, 0, bytes);
    return true;
}

/* A field of an edge type whose key has slashes everywhere is found at the end of a tensor's name,
 * and nowhere else. */
static void bind(const char *name, const char *why)
{
    uint64_t steps = 1;
    struct gnn_meta m = {.is_stream = true,
                         .sampling = {.nhops = 1, .nsplits = 1, .batch_size = 1, .steps = &steps}};
    struct gnn_err e = {0};
    struct gnn_batch *b;
    bool good = !gnn_schema_add_ntype(&m.schema, "/a/", 1, &e) &&
                !gnn_schema_add_nfield(&m.schema, 0, "y", GNN_F32, 0, &e) &&
                !gnn_schema_add_etype(&m.schema, 0, "//r/", 0, 0, &e) &&
                !gnn_schema_add_efield(&m.schema, 0, "f", GNN_F32, 0, &e);
    struct gnn_batch_pool *pool = good ? gnn_batch_pool_new(&m, &e) : NULL;
    if (!pool || gnn_batch_get(pool, &b, &e) || !add(b, "key", GNN_U64, 4, &e) ||
        !add(b, "counts//a/", GNN_U64, 2, &e) || !add(b, "nodes//a/", GNN_U32, 0, &e) ||
        !add(b, name, GNN_F32, 0, &e))
        exit(99);
    const int rc = gnn_batch_bind(b, &m, &e);
    ok(why ? rc == GNN_E_INPUT && strstr(e.msg, why) : !rc, "gnn_batch_bind %s tensor %s: %s",
       why ? "refuses" : "binds", name, e.msg);
    gnn_batch_put(b);
    gnn_batch_pool_free(pool);
    m.is_stream = false;
    m.sampling = (struct gnn_sampling){0};
    gnn_meta_release(&m);
}

static void test_bind(void)
{
    bind("node//a//y", NULL);
    bind("hop/0//a////r///a//f", NULL);
    bind("node//a//f", "no such field");
    bind("hop/0//a////r///a//y", "no such field");
    bind("node//a/y", "does not declare");
    bind("hop/0//a///r///a//f", "does not declare");
    bind("hop/0//a////r///a///f", "does not declare");
    bind("hop/0/a////r///a//f", "does not declare");
}

/* Names of columns, of types whose names have slashes, and names that are nearly some. */
static void test_columns(void)
{
    static const char *const other[] = {"pair/", "pair/x", "walk/", "nodes", "tree",
                                        "hop",   "hop/x",  "key/",  "pai",   "pairs"};
    struct gnn_schema s = {0};
    struct gnn_err e = {0};
    char name[GNN_NAME_MAX + 1];
    uint32_t wrong = 0;
    if (gnn_schema_add_ntype(&s, "/a/id", 1, &e) || gnn_schema_add_etype(&s, 0, "r/id", 0, 0, &e))
        exit(99);
    for (uint32_t c = 0; c < GNN_NCOLUMNS; c++)
        wrong += gnn_column_named(gnn_column_name(name, &s, c, 12, 0)) != c;
    ok(!wrong, "gnn_column_named: the column of each name");
    for (uint32_t i = wrong = 0; i < sizeof other / sizeof *other; i++)
        wrong += gnn_column_named(other[i]) < GNN_NCOLUMNS;
    ok(!wrong, "gnn_column_named: no column of other names");
    gnn_schema_release(&s);
}

/* The names of a model's parameters over relations r and q of one node type; NULL: none can be
 * made. */
static void params(const char *type, const char *r, const char *q, const char *want)
{
    struct gnn_schema s = {.task = GNN_TASK_MULTICLASS, .nclasses = 2};
    struct gnn_model_config c = {.layer = &gnn_layer_sage, .nlayers = 1};
    struct gnn_err e = {0};
    struct gnn_model m = {0};
    if (gnn_schema_add_ntype(&s, type, 9, &e) ||
        gnn_schema_add_nfield(&s, 0, "x", GNN_F32, 1, &e) ||
        gnn_schema_add_etype(&s, 0, r, 0, 9, &e) || gnn_schema_add_etype(&s, 0, q, 0, 9, &e) ||
        gnn_model_config_fit(&c, &s, &e))
        exit(99);
    const int rc = gnn_model_init(&m, &c, &e);
    ok(want ? !rc && !strcmp(m.param[0].name, want)
            : rc == GNN_E_USAGE && strstr(e.msg, "parameters of the same name"),
       "gnn_model_init names the parameters of relations %.40s and %.40s: %.120s", r, q,
       rc ? e.msg : m.param[0].name);
    if (!rc)
        gnn_model_release(&m);
    gnn_schema_release(&s);
}

static void test_params(void)
{
    char want[GNN_NAME_MAX + 1];
    params("a", "cites", "s", "convs.0.convs.<a___cites___a>.lin_l.weight");
    params("a.b", "s.t", "s", "convs.0.convs.<a#b___s#t___a#b>.lin_l.weight");
    params("node", "/film/actor/film./film/performance/film", "s",
           "convs.0.convs.<node___/film/actor/film#/film/performance/film___node>.lin_l.weight");
    snprintf(want, sizeof want, "convs.0.convs.<%s___%s___%s>.lin_l.weight", thousand, thousand,
             thousand);
    params(thousand, thousand, "s", want);
    params("a", "s.t", "s#t", NULL);
}

static void test_message(void)
{
    struct gnn_err e = {0};
    (void)!gnn_fail(&e, GNN_E_INPUT, "store: tensor 'edge/%s/%s/%s/indptr' is damaged", thousand,
                    thousand, thousand);
    static const char end[] = "/indptr' is damaged";
    ok(!strncmp(e.msg, "store: tensor 'edge/r", 21) && strstr(e.msg, " ... ") &&
           !strcmp(e.msg + strlen(e.msg) - strlen(end), end),
       "gnn_fail keeps the end of a message with long names");
}

/* Types a/r/b, b/s/a, b/rev_r/a, a/t/b and a/c/a, c between a and itself. */
static void make_types(struct gnn_schema *s)
{
    static const struct {
        uint32_t src, dst;
        const char *rel;
    } t[] = {{0, 1, "r"}, {1, 0, "s"}, {1, 0, "rev_r"}, {0, 1, "t"}, {0, 0, "c"}};
    struct gnn_err e = {0};
    int rc = gnn_schema_add_ntype(s, "a", 2, &e);
    rc = rc ? rc : gnn_schema_add_ntype(s, "b", 2, &e);
    for (size_t i = 0; !rc && i < sizeof t / sizeof *t; i++)
        rc = gnn_schema_add_etype(s, t[i].src, t[i].rel, t[i].dst, 1, &e);
    if (rc)
        exit(99);
}

static void refuses_reverse(struct gnn_schema *s, uint32_t t, uint32_t of, const char *why)
{
    struct gnn_err e = {0};
    ok(gnn_schema_set_reverse(s, t, of, &e) == GNN_E_INPUT && strstr(e.msg, why),
       "gnn_schema_set_reverse refuses %u of %u: %s", t, of, e.msg);
}

static void is_reverse(const struct gnn_schema *s, uint32_t t, int reverse, int of)
{
    ok(gnn_schema_reverse(s, t) == reverse, "gnn_schema_reverse of type %u is %d", t, reverse);
    ok(gnn_schema_reverse_of(s, t) == of, "gnn_schema_reverse_of type %u is %d", t, of);
}

static void test_reverses(void)
{
    struct gnn_schema s = {0}, copy = {0}, read = {0};
    struct gnn_err e = {0};
    make_types(&s);
    is_reverse(&s, 0, 2, -1);
    is_reverse(&s, 2, 0, 0);
    is_reverse(&s, 1, -1, -1);
    refuses_reverse(&s, 0, 3, "from 'b' to 'a'");
    refuses_reverse(&s, 4, 4, "of another type");
    ok(!gnn_schema_set_reverse(&s, 0, 1, &e), "gnn_schema_set_reverse says that s has reverses");
    refuses_reverse(&s, 2, 0, "'a/r/b' and 'b/s/a' are each other's reverses");
    refuses_reverse(&s, 1, 3, "'b/s/a' and 'a/r/b' are each other's reverses");
    is_reverse(&s, 0, 1, 1);
    is_reverse(&s, 1, 0, -1);
    is_reverse(&s, 2, -1, -1);
    ok(!gnn_schema_set_reverse(&s, 2, 3, &e), "a name may say otherwise");
    is_reverse(&s, 3, 2, -1);
    json_t *j = gnn_schema_to_json(&s, &e);
    ok(j && !gnn_schema_from_json(&read, j, &e) && gnn_schema_equal(&s, &read, &e) &&
           !gnn_schema_copy(&copy, &s, &e) && gnn_schema_equal(&s, &copy, &e),
       "JSON and copies have the reverses");
    is_reverse(&read, 0, 1, 1);
    gnn_schema_drop_etype(&copy, 1);
    is_reverse(&copy, 0, -1, -1); /* b/rev_r/a has the reverses of a/t/b */
    is_reverse(&copy, 1, 2, 2);
    gnn_schema_release(&read);
    json_t *types = json_object_get(j, "edge_types");
    json_object_set_new(json_array_get(types, 4), "reverse_of", json_string("b/s/b"));
    ok(gnn_schema_from_json(&read, j, &e) == GNN_E_INPUT && strstr(e.msg, "no edge type 'b/s/b'"),
       "JSON that names no type is refused");
    json_decref(j);
    gnn_schema_release(&s);
    gnn_schema_release(&copy);
}

int main(void)
{
    memset(thousand, 'r', 1000);
    memset(more, 'r', 1001);
    test_names();
    test_keys();
    test_degrees();
    test_bind();
    test_columns();
    test_params();
    test_message();
    test_reverses();
    return tap_done();
}
