/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a field: which type holds them all, and which of them f32 does not hold. Private
 * to lib/import. */
#ifndef GNN_LIB_IMPORT_NUMBER_TYPE_H
#define GNN_LIB_IMPORT_NUMBER_TYPE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/data/schema.h"

struct gnn_dataset;

/* A number as a table gives it: which of both, the table's caller knows. */
union gnn_number {
    double real;
    int64_t whole;
};

/* The kinds of numbers seen in a field. Zeroed at first. */
struct gnn_numbers {
    bool real; /* some are not written as integers: with a point, an exponent, or missing */
    bool wide; /* f32 does not hold some: integers of more than 24 bits, or beyond its range */
    struct {
        uint64_t line;    /* 0: there is none */
        char text[64];    /* the number as it is written, as gnn_text_shown has it */
    } inexact, beyond;    /* the first integer that f64 does not hold, and the first outside i64 */
    uint64_t date, plain; /* where dates may be: lines of the first one and of the first number */
};

/* Whether f32 changes the number into another kind: a whole one into another whole one, one that is
 * not 0 into 0, a finite one into an infinite one. Fractions are merely rounded. */
static inline bool gnn_f32_loses(double v)
{
    const float f = (float)v;
    if (fabs(v) <= 16777216)
        return f == 0 && v != 0;
    return (double)f != v && (v == floor(v) || isinf(f)) && !isnan(v);
}

/* Takes note of the number written at p, in the given line of a text; `whole`: an integer, whose
 * value is i, else one whose value is v. */
void gnn_numbers_add(struct gnn_numbers *s, const char *p, uint64_t line, bool whole, int64_t i,
                     double v);
/* As gnn_numbers_add, for doubles of an array that declares them as such. */
void gnn_numbers_doubles(struct gnn_numbers *s, const double *v, uint64_t n);
/* Adds a note that a field has dates, if it has. */
int gnn_numbers_tell_dates(const struct gnn_numbers *s, struct gnn_dataset *d, const char *file,
                           const char *field, struct gnn_err *e) GNN_MUST_USE;
/* The type of a field: i64 if all numbers are integers, else f64 for times and where f32 does not
 * do, and f32. GNN_E_INPUT, with its line, for an integer that the type does not hold exactly. */
int gnn_numbers_type(const struct gnn_numbers *s, const char *file, const char *field,
                     enum gnn_dtype *dtype, struct gnn_err *e) GNN_MUST_USE;

/* Numbers that f32 did not hold, where nothing but f32 will do. */
struct gnn_lost {
    uint64_t zero, whole; /* so many became 0, or another whole number */
    double first;         /* of all */
};
static inline void gnn_lost_add(struct gnn_lost *l, double v)
{
    if (!gnn_f32_loses(v) || isinf((float)v))
        return;
    l->first = l->zero + l->whole ? l->first : v;
    *(fabs(v) < 1 ? &l->zero : &l->whole) += 1;
}
/* As gnn_lost_add, for an integer of magnitude m, which is v as a double, perhaps rounded. f32
 * holds it if its bits, without the zeros at their end, are 24. */
static inline void gnn_lost_add_whole(struct gnn_lost *l, uint64_t m, double v)
{
    if (!m || m >> __builtin_ctzll(m) < 1u << 24)
        return;
    l->first = l->zero + l->whole ? l->first : v;
    l->whole++;
}
/* A note to the user, if there are any. */
int gnn_lost_tell(struct gnn_dataset *d, const char *file, const char *field,
                  const struct gnn_lost *l, struct gnn_err *e) GNN_MUST_USE;

#endif
