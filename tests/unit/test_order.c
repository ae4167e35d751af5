/* SPDX-License-Identifier: Apache-2.0 */
/* In-edges ordered by time: the mark in the schema, times as numbers, the sort against a slow one,
 * and a store whose mark is wrong. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scratch.h"
#include "store_maker.h"
#include "lib/data/time.h"
#include "lib/import/build/time_order.h"
#include "lib/inspect/inspect.h"
#include "tap.h"

/* ---- the mark ---- */

static bool make_schema(struct gnn_schema *s, struct gnn_err *e)
{
    return !gnn_schema_add_ntype(s, "a", 3, e) && !gnn_schema_add_etype(s, 0, "r", 0, 2, e) &&
           !gnn_schema_add_efield(s, 0, "time", GNN_I64, 0, e) &&
           !gnn_schema_add_efield(s, 0, "x", GNN_F32, 2, e) &&
           !gnn_schema_add_efield(s, 0, "half", GNN_F16, 0, e) &&
           !gnn_schema_add_etype(s, 0, "q", 0, 2, e) &&
           !gnn_schema_add_efield(s, 1, "when", GNN_F64, 1, e);
}

static char *text_of(const struct gnn_schema *s)
{
    struct gnn_err e = {0};
    json_t *j = gnn_schema_to_json(s, &e);
    char *text = json_dumps(j, JSON_COMPACT);
    json_decref(j);
    return text;
}

static void test_mark(void)
{
    struct gnn_err e = {0};
    struct gnn_schema s = {0}, c = {0}, back = {0};
    if (!make_schema(&s, &e))
        exit(99);
    char *plain = text_of(&s);
    ok(!strstr(plain, "order"), "gnn_schema_to_json has no order where there is none");
    ok(!gnn_schema_set_order(&s, 0, "time", &e) && !gnn_schema_set_order(&s, 1, "when", &e) &&
           !gnn_schema_set_order(&s, 0, "time", &e),
       "gnn_schema_set_order marks an edge type: %s", e.msg);
    char *text = text_of(&s);
    ok(strstr(text, "\"width\":0}],\"order\":\"time\"}") &&
           strstr(text, "\"width\":1}],\"order\":\"when\"}"),
       "gnn_schema_to_json writes the mark last");
    json_t *j = json_loads(text, 0, NULL);
    ok(!gnn_schema_from_json(&back, j, &e) && !strcmp(back.etype[0].order, "time") &&
           gnn_schema_equal(&s, &back, &e),
       "gnn_schema_from_json reads the mark back: %s", e.msg);
    ok(!gnn_schema_copy(&c, &s, &e) && gnn_schema_equal(&s, &c, &e),
       "gnn_schema_copy copies the mark");
    gnn_schema_drop_etype(&c, 0);
    ok(c.netypes == 1 && !strcmp(c.etype[0].order, "when"),
       "gnn_schema_drop_etype takes the mark along");
    gnn_schema_release(&back);
    json_decref(j);
    j = json_loads(plain, 0, NULL);
    ok(!gnn_schema_from_json(&back, j, &e) && !gnn_schema_equal(&s, &back, &e),
       "gnn_schema_equal tells schemas with and without the mark apart");
    json_decref(j);
    free(plain);
    free(text);
    gnn_schema_release(&s);
    gnn_schema_release(&c);
    gnn_schema_release(&back);
}

static void hostile(const char *value, const char *why)
{
    struct gnn_err e = {0};
    struct gnn_schema s = {0}, back = {0};
    if (!make_schema(&s, &e))
        exit(99);
    json_t *j = gnn_schema_to_json(&s, &e);
    json_object_set_new(json_array_get(json_object_get(j, "edge_types"), 0), "order",
                        json_loads(value, JSON_DECODE_ANY, NULL));
    const int rc = gnn_schema_from_json(&back, j, &e);
    ok(rc == GNN_E_INPUT && strstr(e.msg, why), "gnn_schema_from_json refuses order %.30s: %s",
       value, e.msg);
    gnn_schema_release(&s);
    gnn_schema_release(&back);
    json_decref(j);
}

static void test_hostile(void)
{
    hostile("1", "'order' is missing or not a string");
    hostile("null", "'order' is missing or not a string");
    hostile("[\"time\"]", "'order' is missing or not a string");
    hostile("\"when\"", "none of their fields");
    hostile("\"\"", "none of their fields");
    hostile("\"indices\"", "none of their fields");
    hostile("\"x\"", "not one column");
    hostile("\"half\"", "not one column");
}

/* ---- times ---- */

static bool less(enum gnn_dtype t, const void *v)
{
    uint64_t a, b;
    return gnn_time_key(t, v, 0, &a) && gnn_time_key(t, v, 1, &b) && a < b;
}

static void test_keys(void)
{
    uint64_t a, b;
    ok(less(GNN_I64, (int64_t[]){INT64_MIN, INT64_MIN + 1}) && less(GNN_I64, (int64_t[]){-1, 0}) &&
           less(GNN_I64, (int64_t[]){(1LL << 53), (1LL << 53) + 1}) &&
           less(GNN_I64, (int64_t[]){INT64_MAX - 1, INT64_MAX}),
       "gnn_time_key tells all i64 apart");
    ok(less(GNN_U64, (uint64_t[]){INT64_MAX, UINT64_MAX}), "gnn_time_key orders u64");
    ok(less(GNN_F64, (double[]){-INFINITY, -1}) && less(GNN_F64, (double[]){-2, -1}) &&
           less(GNN_F64, (double[]){-5e-324, 0}) && less(GNN_F64, (double[]){-0.0, 5e-324}) &&
           less(GNN_F64, (double[]){1, 1.0000000000000002}) &&
           less(GNN_F64, (double[]){1e300, INFINITY}),
       "gnn_time_key orders f64");
    ok(gnn_time_key(GNN_F64, (double[]){-0.0}, 0, &a) &&
           gnn_time_key(GNN_F64, (double[]){0}, 0, &b) && a == b,
       "gnn_time_key makes no difference between 0 and -0");
    ok(less(GNN_F32, (float[]){-1, 2}) && less(GNN_I8, (int8_t[]){-1, 1}) &&
           less(GNN_U8, (uint8_t[]){1, 255}) && less(GNN_I16, (int16_t[]){-5, 3}) &&
           less(GNN_U16, (uint16_t[]){1, 65535}) && less(GNN_I32, (int32_t[]){-9, 3}) &&
           less(GNN_U32, (uint32_t[]){1, UINT32_MAX}),
       "gnn_time_key orders narrow numbers");
    ok(!gnn_time_key(GNN_F64, (double[]){(double)NAN}, 0, &a) &&
           !gnn_time_key(GNN_F32, (float[]){NAN}, 0, &a),
       "gnn_time_key refuses nan");
    ok(gnn_time_dtype(GNN_I64) && gnn_time_dtype(GNN_F32) && !gnn_time_dtype(GNN_F16) &&
           !gnn_time_dtype(GNN_BF16) && !gnn_time_dtype((enum gnn_dtype)77),
       "gnn_time_dtype knows the numbers that are times");
}

/* ---- the sort ---- */

enum { NODES = 300, EDGES = 90000 };
static uint64_t end[NODES];
static uint32_t indices[EDGES];
static int64_t own[EDGES], of_src[NODES], effective[EDGES];
static char wide[EDGES][12];

/* Edges whose fields are all made of their number, in random times of few values. */
static void make_edges(void)
{
    maker_state = 7;
    for (uint32_t v = 0; v < NODES; v++) /* one node has half of all edges, some have few */
        end[v] = v == 50 ? end[49] + EDGES / 2 : (v ? end[v - 1] : 0) + v % 40;
    end[NODES - 1] = EDGES;
    for (uint32_t i = 0; i < EDGES; i++) {
        indices[i] = maker_rand(NODES);
        own[i] = (int64_t)maker_rand(100) - 50;
        memset(wide[i], 0, sizeof *wide);
        memcpy(wide[i], &i, sizeof i);
    }
    for (uint32_t v = 0; v < NODES; v++)
        of_src[v] = (int64_t)maker_rand(100) - 50;
}

static bool sorted_rows(bool raised, unsigned threads)
{
    struct gnn_err e = {0};
    static uint32_t src[EDGES];
    static int64_t was[EDGES];
    make_edges();
    memcpy(src, indices, sizeof src);
    memcpy(was, own, sizeof was);
    const struct gnn_order o = {.own = 0,
                                .src = of_src,
                                .own_dtype = GNN_I64,
                                .src_dtype = GNN_I64,
                                .dtype = GNN_I64,
                                .raised = raised};
    void *field[] = {own, wide};
    const size_t row[] = {sizeof *own, sizeof *wide};
    const struct gnn_order_rows r = {end, 0, NODES, indices, field, row, 2, effective};
    bool good = !gnn_order_sort(&o, &r, threads, &e);
    for (uint32_t v = 0; good && v < NODES; v++) {
        int64_t last = INT64_MIN;
        uint32_t before = 0;
        for (uint64_t i = v ? end[v - 1] : 0; good && i < end[v]; i++) {
            uint32_t k;
            memcpy(&k, wide[i], sizeof k);
            int64_t t = was[k];
            if (raised && of_src[src[k]] > t)
                t = of_src[src[k]];
            good = k >= (v ? end[v - 1] : 0) && k < end[v] && indices[i] == src[k] &&
                   own[i] == was[k] && (!raised || effective[i] == t) && t >= last &&
                   (t > last || k > before);
            last = t;
            before = k;
        }
    }
    return good;
}

static void test_sort(void)
{
    for (unsigned threads = 1; threads < 6; threads += 2)
        for (int raised = 0; raised < 2; raised++)
            ok(sorted_rows(raised, threads),
               "gnn_order_sort sorts rows stably by %s times, with their fields, on %u threads",
               raised ? "effective" : "their own", threads);
    struct gnn_err e = {0};
    double time[] = {3, (double)NAN}, eff[2];
    uint32_t src[] = {0, 0};
    const uint64_t stop[] = {2};
    void *field[] = {time};
    const size_t row[] = {8};
    const struct gnn_order o = {.own_dtype = GNN_F64, .dtype = GNN_F64};
    const struct gnn_order_rows r = {stop, 0, 1, src, field, row, 1, eff};
    ok(gnn_order_sort(&o, &r, 1, &e) == GNN_E_INPUT && strstr(e.msg, "is nan"),
       "gnn_order_sort refuses nan: %s", e.msg);
}

/* ---- a store ---- */

/* Node 0 has two in-edges, node 1 has two, with these times. */
static void store(const double time[4], const char *why)
{
    struct gnn_err e = {0};
    struct gnn_meta m = {.schema = {.nparts = 1}};
    struct maker k = {.e = &e};
    struct gnn_store s;
    json_t *proofs = json_object();
    if (gnn_schema_add_ntype(&m.schema, "a", 2, &e) ||
        gnn_schema_add_etype(&m.schema, 0, "to", 0, 4, &e) ||
        gnn_schema_add_efield(&m.schema, 0, "time", GNN_F64, 0, &e) ||
        gnn_schema_set_order(&m.schema, 0, "time", &e) ||
        gnn_store_create(&k.w, "S", &m, true, &e) || gnn_part_begin(&k.w, 0, &e))
        exit(99);
    memcpy(maker_tensor(&k, "edge/a/to/a/indptr", GNN_U64, 3, 0), (uint64_t[]){0, 2, 4}, 24);
    memcpy(maker_tensor(&k, "edge/a/to/a/indices", GNN_U32, 4, 0), (uint32_t[]){1, 0, 1, 0}, 16);
    memcpy(maker_tensor(&k, "edge/a/to/a/time", GNN_F64, 4, 0), time, 32);
    if (maker_finish(&k, &m) || gnn_store_open(&s, "S", true, &e))
        exit(99);
    const int rc = gnn_verify_store(&s, NULL, proofs, &e);
    ok(why ? rc == GNN_E_INPUT && strstr(e.msg, why) : !rc,
       "gnn_verify_store %s times %g %g, %g %g: %s", why ? "refuses" : "accepts", time[0], time[1],
       time[2], time[3], e.msg);
    gnn_store_close(&s);
    json_decref(proofs);
}

int main(void)
{
    scratch_enter();
    test_mark();
    test_hostile();
    test_keys();
    test_sort();
    store((double[]){1, 2, 0, 0}, NULL);
    store((double[]){1, 2, 3, 0},
          "S/part-00000.gnb: tensor edge/a/to/a/time: element 3 is less than the one before it");
    store((double[]){2, 1, 0, 0}, "element 1 is less than the one before it");
    store((double[]){1, 2, 0, (double)NAN}, "element 3 is nan");
    return scratch_done();
}
