/* SPDX-License-Identifier: Apache-2.0 */
/* Types of fields by their numbers (lib/import/read/number_type.h). */
#include "lib/import/read/number_type.h"

#include <inttypes.h>
#include <string.h>

#include "formats/text.h"
#include "lib/import/dataset.h"

/* The number as it is written: up to what cannot belong to one. */
static void copy_text(char *to, size_t capacity, const char *p)
{
    gnn_text_shown(to, capacity, p, strspn(p, "+-.0123456789eE"));
}

/* Whether digits alone are written, so that only the range of i64 keeps it from being whole. */
static bool only_digits(const char *p)
{
    p += *p == '-' || *p == '+';
    p += strspn(p, "0123456789");
    return !strchr(".eEiInN", *p);
}

void gnn_numbers_add(struct gnn_numbers *s, const char *p, uint64_t line, bool whole, int64_t i,
                     double v)
{
    if (whole) {
        s->wide = s->wide || gnn_f32_loses(v);
        /* 2^63 is beyond i64, and what rounds to it is inexact. */
        if (!s->inexact.line && (v >= 9223372036854775808.0 || (int64_t)v != i)) {
            s->inexact.line = line;
            copy_text(s->inexact.text, sizeof s->inexact.text, p);
        }
        return;
    }
    s->real = true;
    s->wide = s->wide || gnn_f32_loses(v);
    if (!s->beyond.line && fabs(v) >= 9223372036854775808.0 && !isinf(v) && only_digits(p)) {
        s->beyond.line = line;
        copy_text(s->beyond.text, sizeof s->beyond.text, p);
    }
}

void gnn_numbers_doubles(struct gnn_numbers *s, const double *v, uint64_t n)
{
    s->real = true;
    for (uint64_t i = 0; !s->wide && i < n; i++)
        s->wide = gnn_f32_loses(v[i]);
}

int gnn_numbers_type(const struct gnn_numbers *s, const char *file, const char *field,
                     enum gnn_dtype *dtype, struct gnn_err *e)
{
    if (s->date && s->plain)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: %s is a date in line %" PRIu64 " and a number in line %" PRIu64, file,
                        field, s->date, s->plain);
    if (s->beyond.line)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: line %" PRIu64 ": %s %s is outside -2^63 to 2^63-1, the integers of "
                        "i64",
                        file, s->beyond.line, field, s->beyond.text);
    if (s->real && s->inexact.line)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: line %" PRIu64 ": %s %s: f64, which others of the column require, "
                        "does not hold this integer exactly",
                        file, s->inexact.line, field, s->inexact.text);
    *dtype = GNN_F32;
    if (!s->real)
        *dtype = GNN_I64;
    else if (!strcmp(field, "time") || (s->wide && strcmp(field, "x") != 0))
        *dtype = GNN_F64;
    return GNN_OK;
}

int gnn_numbers_tell_dates(const struct gnn_numbers *s, struct gnn_dataset *d, const char *file,
                           const char *field, struct gnn_err *e)
{
    return !s->date ? GNN_OK
                    : gnn_dataset_note(d, e,
                                       "%s: dates of %s are read as seconds since 1970-01-01, and "
                                       "those without a time zone as UTC",
                                       file, field);
}

int gnn_lost_tell(struct gnn_dataset *d, const char *file, const char *field,
                  const struct gnn_lost *l, struct gnn_err *e)
{
    char what[160] = "";
    if (l->zero && l->whole)
        snprintf(what, sizeof what, "%" PRIu64 " become 0 and %" PRIu64 " whole ones are rounded",
                 l->zero, l->whole);
    else if (l->zero || l->whole)
        snprintf(what, sizeof what, "%" PRIu64 " %s", l->zero + l->whole,
                 l->zero ? "become 0" : "whole ones are rounded");
    return !*what ? GNN_OK
                  : gnn_dataset_note(d, e,
                                     "warning: %s: %s is stored as f32, which does not hold all "
                                     "of its numbers: %s, the first of them %.17g",
                                     file, field, what, l->first);
}
