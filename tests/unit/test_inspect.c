/* SPDX-License-Identifier: Apache-2.0 */
/* The small parts of gnn-inspect: elements as numbers and text, differences of JSON and tensors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/inspect/differ.h"
#include "lib/inspect/value.h"
#include "tap.h"

/* IEEE 754 from its definition. */
static double ieee(uint32_t bits, int exponent_bits, int mantissa_bits)
{
    uint32_t m = bits & ((1u << mantissa_bits) - 1),
             e = bits >> mantissa_bits & ((1u << exponent_bits) - 1);
    int bias = (1 << (exponent_bits - 1)) - 1;
    double x =
        ldexp((double)(e ? m + (1u << mantissa_bits) : m), (e ? (int)e : 1) - bias - mantissa_bits);
    if (e == (1u << exponent_bits) - 1)
        x = m ? NAN : INFINITY;
    return bits >> (exponent_bits + mantissa_bits) & 1 ? -x : x;
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static void test_values(void)
{
    uint32_t half = 0, brain = 0;
    for (uint32_t i = 0; i < 65536; i++) {
        uint16_t v[2] = {0, (uint16_t)i};
        half += !same(gnn_value(GNN_F16, v, 1), ieee(i, 5, 10));
        brain += !same(gnn_value(GNN_BF16, v, 1), ieee(i, 8, 7));
    }
    ok(half == 0, "gnn_value reads every f16");
    ok(brain == 0, "gnn_value reads every bf16");
    int8_t i8 = -5;
    uint16_t u16 = 65535;
    int64_t i64 = INT64_MIN;
    uint64_t u64 = UINT64_MAX;
    uint32_t u32 = UINT32_MAX;
    double f64 = 0.1;
    float f32 = 16777216;
    char text[64];
    ok(gnn_value(GNN_I8, &i8, 0) == -5 && gnn_value(GNN_U16, &u16, 0) == 65535,
       "gnn_value reads small integers");
    ok(!strcmp(gnn_value_text(GNN_I64, &i64, 0, text, sizeof text), "-9223372036854775808"),
       "gnn_value_text writes an i64 exactly: %s", text);
    ok(!strcmp(gnn_value_text(GNN_U64, &u64, 0, text, sizeof text), "18446744073709551615"),
       "gnn_value_text writes a u64 exactly: %s", text);
    ok(!strcmp(gnn_value_text(GNN_U32, &u32, 0, text, sizeof text), "4294967295"),
       "gnn_value_text writes a u32 exactly: %s", text);
    ok(strtod(gnn_value_text(GNN_F64, &f64, 0, text, sizeof text), NULL) == 0.1,
       "gnn_value_text writes an f64 that reads back as it was: %s", text);
    ok(strtof(gnn_value_text(GNN_F32, &f32, 0, text, sizeof text), NULL) == f32,
       "gnn_value_text writes an f32 that reads back as it was: %s", text);
}

static void test_json(void)
{
    static const struct {
        const char *a, *b, *where;
    } c[] = {
        {"{\"x\":{\"y\":[1,2]}}", "{\"x\":{\"y\":[1,2]}}", NULL},
        {"{\"x\":{\"y\":[1,2]}}", "{\"x\":{\"y\":[1,3]}}", "h.x.y[1]"},
        {"{\"x\":{\"y\":[1,2]}}", "{\"x\":{\"y\":[1]}}", "h.x.y"},
        {"{\"x\":1}", "{\"x\":1,\"z\":2}", "h.z"},
        {"{\"x\":1,\"z\":2}", "{\"x\":1}", "h.z"},
        {"{\"x\":1}", "{\"x\":\"1\"}", "h.x"},
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct gnn_diff d = {0};
        json_t *a = json_loads(c[i].a, 0, NULL), *b = json_loads(c[i].b, 0, NULL);
        gnn_differ_json(&d, a, b, "h");
        ok(d.differ == (c[i].where != NULL) && (!d.differ || !strcmp(d.where, c[i].where)),
           "gnn_differ_json compares %s and %s: %s", c[i].a, c[i].b, d.differ ? d.where : "equal");
        json_decref(a);
        json_decref(b);
    }
}

static void test_tensors(void)
{
    struct gnn_diff d = {0};
    float a[4] = {1, 2, NAN, 4}, b[4] = {1, 2, NAN, 4};
    struct gnn_tensor x = {.name = "x", .dtype = GNN_F32, .ndim = 1, .shape = {4}, .data = a},
                      y = x;
    y.data = b;
    gnn_differ_tensor(&d, &x, &y, "part 0");
    ok(!d.differ, "gnn_differ_tensor takes equal bits for equal, those of a NaN too");
    b[3] = -4;
    gnn_differ_tensor(&d, &x, &y, "part 0");
    ok(d.differ && !strcmp(d.where, "part 0, tensor x, element 3") && !strcmp(d.a, "4") &&
           !strcmp(d.b, "-4"),
       "gnn_differ_tensor names the element that differs: %s: %s %s", d.where, d.a, d.b);
    d = (struct gnn_diff){0};
    y.shape[0] = 3;
    gnn_differ_tensor(&d, &x, &y, "part 0");
    ok(d.differ && !strcmp(d.a, "f32 (4)") && !strcmp(d.b, "f32 (3)"),
       "gnn_differ_tensor names the shapes that differ: %s %s", d.a, d.b);
}

int main(void)
{
    test_values();
    test_json();
    test_tensors();
    return tap_done();
}
