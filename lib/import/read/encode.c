/* SPDX-License-Identifier: Apache-2.0 */
/* Text of tables as features (lib/import/read/encode.h). */
#include "lib/import/read/encode.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/xxh.h"
#include "lib/base/mem.h"

enum { VALUES_MAX = 4096, WIDTH_MAX = 65536, WIDTH = 64, WORD_MAX = 256 };

static int read_how(struct gnn_encoding *c, const char *spec, const char *how, struct gnn_err *e)
{
    char *end;
    if (!strcmp(how, "one-hot")) {
        c->how = GNN_ENCODE_ONE_HOT;
        return GNN_OK;
    }
    c->how = GNN_ENCODE_HASH;
    c->width = WIDTH;
    if (!strcmp(how, "hash"))
        return GNN_OK;
    const unsigned long n = !strncmp(how, "hash:", 5) ? strtoul(how + 5, &end, 10) : 0;
    if (n < 1 || n > WIDTH_MAX || *end || !isdigit((unsigned char)how[5]))
        return gnn_fail(
            e, GNN_E_USAGE,
            "--encode %s: expected COLUMN=one-hot or COLUMN=hash:N, with N from 1 to %d", spec,
            WIDTH_MAX);
    c->width = (uint32_t)n;
    return GNN_OK;
}

/* Whether the n bytes before a = name the column. */
static bool names_column(const char *spec, size_t n, const char *type, const char *column)
{
    const size_t t = strlen(type);
    if (strlen(column) == n && !memcmp(spec, column, n))
        return true;
    return n > t + 1 && !memcmp(spec, type, t) && spec[t] == '/' && strlen(column) == n - t - 1 &&
           !memcmp(spec + t + 1, column, n - t - 1);
}

int gnn_encoding_find(struct gnn_encoding *c, const struct gnn_import_opts *o, const char *type,
                      const char *column, struct gnn_err *e)
{
    int rc = GNN_OK;
    *c = (struct gnn_encoding){0};
    for (uint32_t i = 0; !rc && i < o->nencode; i++) {
        const char *eq = strrchr(o->encode[i], '=');
        if (!eq || eq == o->encode[i])
            return read_how(c, o->encode[i], "", e);
        if (!names_column(o->encode[i], (size_t)(eq - o->encode[i]), type, column))
            continue;
        if (c->how)
            return gnn_fail(e, GNN_E_USAGE, "--encode: the column '%s' of %s is named twice",
                            column, type);
        rc = read_how(c, o->encode[i], eq + 1, e);
        if (o->encode_used)
            o->encode_used[i] = true;
    }
    return rc;
}

static bool is_missing(const struct gnn_word *cell)
{
    return !cell->n || gnn_text_missing(cell);
}

int gnn_encoding_add(struct gnn_encoding *c, const struct gnn_word *cell, struct gnn_err *e)
{
    uint32_t id;
    return c->how != GNN_ENCODE_ONE_HOT || c->values.n > VALUES_MAX || is_missing(cell)
               ? GNN_OK
               : gnn_words_add(&c->values, cell, 1, &id, e);
}

int gnn_encoding_finish(struct gnn_encoding *c, const char *file, const char *column,
                        struct gnn_err *e)
{
    if (c->how != GNN_ENCODE_ONE_HOT)
        return GNN_OK;
    if (c->values.n > VALUES_MAX)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: column '%s' has more than %d values, too many for one-hot: --encode "
                        "'%s=hash:64'",
                        file, column, VALUES_MAX, column);
    if (!c->values.n)
        return gnn_fail(e, GNN_E_INPUT, "%s: column '%s' has no values to encode", file, column);
    c->width = c->values.n;
    uint32_t *rank = gnn_words_sort(&c->values, 0, e);
    gnn_free(rank);
    return rank ? GNN_OK : GNN_E_NOMEM;
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c > 127;
}

static void add_word(float *x, uint32_t width, const char *p, size_t n)
{
    char lower[WORD_MAX];
    n = n < sizeof lower ? n : sizeof lower;
    for (size_t i = 0; i < n; i++)
        lower[i] = (unsigned char)p[i] < 128 ? (char)tolower((unsigned char)p[i]) : p[i];
    const uint64_t h = XXH3_64bits(lower, n);
    x[(h & UINT32_MAX) * width >> 32] += h >> 63 ? -1.0F : 1.0F;
}

static void fill_bag(float *x, uint32_t width, const struct gnn_word *cell)
{
    double sum = 0;
    for (size_t i = 0, k; i < cell->n; i = k + 1) {
        for (k = i; k < cell->n && in_word(cell->p[k]); k++) {
        }
        if (k > i)
            add_word(x, width, cell->p + i, k - i);
    }
    for (uint32_t i = 0; i < width; i++)
        sum += (double)x[i] * x[i];
    for (uint32_t i = 0; sum > 0 && i < width; i++)
        x[i] = (float)(x[i] / sqrt(sum));
}

void gnn_encoding_fill(const struct gnn_encoding *c, const struct gnn_word *cell, float *x)
{
    uint32_t id = UINT32_MAX;
    if (is_missing(cell))
        return;
    if (c->how == GNN_ENCODE_HASH) {
        fill_bag(x, c->width, cell);
        return;
    }
    gnn_words_find(&c->values, cell, 1, &id);
    if (id < c->width)
        x[id] = 1;
}

void gnn_encoding_release(struct gnn_encoding *c)
{
    gnn_words_release(&c->values);
}
