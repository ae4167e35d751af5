/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/data/csv_cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/npy.h"
#include "lib/base/mem.h"

enum { NUMBER_CAPACITY = 32 };

static int put_bytes(struct gnn_csv *c, const char *s, size_t n, struct gnn_err *e)
{
    if (gnn_buf_reserve(c->to, c->n + n, 1, "text", e))
        return e->code;
    memcpy((char *)c->to->data + c->n, s, n);
    c->n += n;
    return 0;
}

int gnn_csv_text(struct gnn_csv *c, const char *s, struct gnn_err *e)
{
    return put_bytes(c, s, strlen(s), e);
}

int gnn_csv_cell(struct gnn_csv *c, const char *s, size_t n, struct gnn_err *e)
{
    bool quoted = n && (s[0] == ' ' || s[n - 1] == ' ');
    for (size_t i = 0; i < n; i++)
        quoted = quoted || strchr(",\"\r\n", s[i]);
    if (!quoted)
        return put_bytes(c, s, n, e);
    int rc = put_bytes(c, "\"", 1, e);
    for (size_t i = 0; !rc && i < n; i++)
        if (!(rc = put_bytes(c, s + i, 1, e)) && s[i] == '"')
            rc = put_bytes(c, "\"", 1, e);
    return rc ? rc : put_bytes(c, "\"", 1, e);
}

int gnn_csv_number(struct gnn_csv *c, float v, struct gnn_err *e)
{
    char s[NUMBER_CAPACITY];
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(s, sizeof s, "%.*g", digits, (double)v);
        const float back = strtof(s, NULL);
        if (!memcmp(&back, &v, sizeof v))
            break;
    }
    return gnn_csv_text(c, s, e);
}

int gnn_csv_count(struct gnn_csv *c, uint64_t v, struct gnn_err *e)
{
    char s[NUMBER_CAPACITY];
    size_t first = sizeof s;
    do {
        s[--first] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    return put_bytes(c, s + first, sizeof s - first, e);
}

int gnn_csv_whole(struct gnn_csv *c, int64_t v, struct gnn_err *e)
{
    if (v < 0 && gnn_csv_text(c, "-", e))
        return e->code;
    return gnn_csv_count(c, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, e);
}

int gnn_csv_element(struct gnn_csv *c, enum gnn_dtype type, const void *data, uint64_t i,
                    struct gnn_err *e)
{
    const char *at = (const char *)data + i * gnn_dtype_bytes(type);
    int64_t whole;
    uint64_t bad;
    float f;
    if (type == GNN_U64)
        return gnn_csv_count(c, ((const uint64_t *)data)[i], e);
    if (type == GNN_F64)
        return gnn_csv_time(c, ((const int64_t *)data)[i], GNN_F64, e);
    if (type == GNN_F32 || type == GNN_F16 || type == GNN_BF16) {
        gnn_npy_to_f32(type, at, &f, 1);
        return gnn_csv_number(c, f, e);
    }
    return gnn_npy_to_i64(type, at, &whole, 1, &bad) ? gnn_csv_whole(c, whole, e) : e->code;
}

int gnn_csv_time(struct gnn_csv *c, int64_t time, enum gnn_dtype type, struct gnn_err *e)
{
    char s[NUMBER_CAPACITY];
    double v;
    snprintf(s, sizeof s, "%lld", (long long)time);
    memcpy(&v, &time, sizeof v);
    for (int digits = 15; type == GNN_F64 && digits <= 17; digits++) {
        snprintf(s, sizeof s, "%.*g", digits, v);
        const double back = strtod(s, NULL);
        if (!memcmp(&back, &v, sizeof v))
            break;
    }
    return gnn_csv_text(c, s, e);
}
