/* SPDX-License-Identifier: Apache-2.0 */
/* The safetensors reader and writer: round trip, every rule of the format broken once, every
 * truncation. */
#include <stdlib.h>
#include <string.h>

#include "formats/safetensors.h"
#include "tap.h"

static size_t build(const char *json, size_t data, uint8_t **out)
{
    const size_t n = strlen(json);
    uint8_t *b = calloc(8 + n + data + 1, 1);
    if (!b)
        abort();
    for (int i = 0; i < 8; i++)
        b[i] = (uint8_t)((uint64_t)n >> (8 * i));
    memcpy(b + 8, json, n);
    *out = b;
    return 8 + n + data;
}

static int parse(const char *json, size_t data, char *why, size_t capacity)
{
    struct gnn_safetensors st;
    uint8_t *b;
    const size_t n = build(json, data, &b);
    const int rc = gnn_safetensors_parse(&st, b, n, why, capacity);
    gnn_safetensors_release(&st);
    free(b);
    return rc;
}

#define T(d, s, a, b) "{\"dtype\":\"" d "\",\"shape\":" s ",\"data_offsets\":[" a "," b "]}"

static void test_good(void)
{
    static const struct {
        const char *json;
        size_t data;
    } good[] = {
        {"{}", 0},
        {"{}   ", 0},
        {"{\"a\":" T("F32", "[2,3]", "0", "24") "}", 24},
        {"{\"b\":" T("F32", "[1]", "4", "8") ",\"a\":" T("BF16", "[2]", "0", "4") "}", 8},
        {"{\"s\":" T("I64", "[]", "0", "8") "}", 8},
        {"{\"e\":" T("F32", "[0,5]", "0", "0") ",\"a\":" T("U8", "[3]", "0", "3") "}", 3},
        {"{\"__metadata__\":{\"x\":\"y\"},\"a\":" T("BOOL", "[3]", "0", "3") "}", 3},
    };
    char why[256] = "";
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        ok(parse(good[i].json, good[i].data, why, sizeof(why)) == 0,
           "gnn_safetensors_parse accepts %s", good[i].json);
}

static void test_bad(void)
{
    static const struct {
        const char *what, *json;
        size_t data;
    } bad[] = {
        {"not JSON", "{\"a\"", 0},
        {"an array", "[]", 0},
        {"a hole", "{\"a\":" T("F32", "[1]", "4", "8") "}", 8},
        {"an overlap", "{\"a\":" T("F32", "[2]", "0", "8") ",\"b\":" T("F32", "[1]", "4", "8") "}",
         8},
        {"trailing bytes", "{\"a\":" T("F32", "[1]", "0", "4") "}", 5},
        {"cut data", "{\"a\":" T("F32", "[2]", "0", "8") "}", 7},
        {"a duplicate", "{\"a\":" T("F32", "[1]", "0", "4") ",\"a\":" T("F32", "[1]", "0", "4") "}",
         4},
        {"shape and offsets that disagree", "{\"a\":" T("F32", "[3]", "0", "8") "}", 8},
        {"a negative shape", "{\"a\":" T("F32", "[-1]", "0", "4") "}", 4},
        {"a negative offset", "{\"a\":" T("F32", "[1]", "-4", "0") "}", 4},
        {"an overflowing shape", "{\"a\":" T("F32", "[4611686018427387904,4]", "0", "0") "}", 0},
        {"offsets in the wrong order", "{\"a\":" T("F32", "[1]", "4", "0") "}", 4},
        {"an unknown dtype", "{\"a\":" T("C64", "[1]", "0", "8") "}", 8},
        {"five dimensions", "{\"a\":" T("U8", "[1,1,1,1,1]", "0", "1") "}", 1},
        {"a missing shape", "{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1},
        {"a further key", "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"z\":1}}",
         1},
        {"metadata that is no text", "{\"__metadata__\":{\"x\":1}}", 0},
        {"a line's end after a backslash", "{\"a\\\n\":1}", 0},
        {"a line's end in a name", "{\"a\\nb\":" T("U8", "[1]", "0", "2") "}", 2},
        {"a real number as offset", "{\"a\":" T("U8", "[1]", "0", "1.0") "}", 1},
    };
    char why[256];
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        why[0] = 0;
        ok(parse(bad[i].json, bad[i].data, why, sizeof(why)) == -1 && why[0] && !strchr(why, '\n'),
           "gnn_safetensors_parse refuses %s (%s)", bad[i].what, why);
    }
}

static void test_round_trip(void)
{
    float a[6] = {1, 2, 3, 4, 5, 6};
    uint64_t b[2] = {7, UINT64_MAX};
    struct gnn_tensor ta = {
        .name = "w.\"q\"", .dtype = GNN_F32, .ndim = 2, .shape = {2, 3}, .data = a};
    struct gnn_tensor tb = {.name = "n", .dtype = GNN_U64, .ndim = 1, .shape = {2}, .data = b};
    const struct gnn_tensor *t[2] = {&tb, &ta};
    struct gnn_safetensors st;
    char *head, why[256];
    size_t len;
    json_t *meta = json_pack("{s:s}", "k", "v");
    ok(gnn_safetensors_header(t, 2, meta, &head, &len) == 0 && len % 64 == 0,
       "gnn_safetensors_header makes a header of %zu bytes", len);
    uint8_t *file = malloc(len + sizeof(a) + sizeof(b));
    if (!file)
        abort();
    memcpy(file, head, len);
    memcpy(file + len, b, sizeof(b));
    memcpy(file + len + sizeof(b), a, sizeof(a));
    const size_t n = len + sizeof(a) + sizeof(b);
    ok(gnn_safetensors_parse(&st, file, n, why, sizeof(why)) == 0 && st.n == 2,
       "gnn_safetensors_parse reads what gnn_safetensors_header wrote");
    const struct gnn_tensor *r = gnn_safetensors_find(&st, ta.name);
    ok(r && r->ndim == 2 && r->shape[1] == 3 && !memcmp(r->data, a, sizeof(a)),
       "gnn_safetensors_find finds the first tensor as it was written");
    r = gnn_safetensors_find(&st, "n");
    ok(r && r->dtype == GNN_U64 && !memcmp(r->data, b, sizeof(b)),
       "gnn_safetensors_find finds the second tensor as it was written");
    ok(!strcmp(json_string_value(json_object_get(st.metadata, "k")), "v"),
       "gnn_safetensors_parse reads the metadata");
    gnn_safetensors_release(&st);
    size_t accepted = 0;
    for (size_t k = 0; k < n; k++) {
        uint8_t *cut = malloc(k ? k : 1); /* exact size, so that a sanitizer sees reads beyond it */
        if (!cut)
            abort();
        memcpy(cut, file, k);
        accepted += gnn_safetensors_parse(&st, cut, k, why, sizeof(why)) == 0;
        gnn_safetensors_release(&st);
        free(cut);
    }
    ok(accepted == 0, "gnn_safetensors_parse refuses a file that is cut at any byte");
    const struct gnn_tensor *twice[2] = {&ta, &ta};
    char *none;
    ok(gnn_safetensors_header(twice, 2, NULL, &none, &len) == -1,
       "gnn_safetensors_header refuses two tensors of one name");
    json_decref(meta);
    free(head);
    free(file);
}

int main(void)
{
    test_good();
    test_bad();
    test_round_trip();
    return tap_done();
}
