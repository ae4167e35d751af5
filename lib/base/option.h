/* SPDX-License-Identifier: Apache-2.0 */
/* Options, of programs and of the C library: tables are the one place where an option's name,
 * argument, range, default text and help line live. */
#ifndef GNN_LIB_BASE_OPTION_H
#define GNN_LIB_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

enum opt_kind {
    OPT_END,   /* last entry */
    OPT_GROUP, /* a heading in --help; only `help` is used */
    OPT_FLAG,  /* bool *: set to true; "--no-NAME" sets it to false */
    /* uint64_t *, decimal with optional k M G T (powers of 1024 when `bytes` is set, else 1000) */
    OPT_U64,
    OPT_U32,    /* uint32_t *, the same */
    OPT_DOUBLE, /* double * */
    OPT_STR,    /* const char ** */
    OPT_LIST,   /* struct opt_list *: may be given several times */
    OPT_CHOICE, /* int *: index into `choices` ("a|b|c") */
    /* struct opt_range *: A:B, half open; "A" means A:A+1 (0:A if `count`), ":B" and "A:" are open
     */
    OPT_RANGE,
    OPT_I32S,   /* struct opt_i32s *: comma-separated integers */
    OPT_DOUBLES /* struct opt_doubles *: comma-separated numbers */
};

/* Texts of an option that was given several times; v is the caller's (gnn_free). */
struct opt_list {
    const char **v;
    uint32_t n;
};
struct opt_range {
    uint64_t from, to; /* to = UINT64_MAX: open */
    uint64_t stride;   /* 1 unless the option is `strided` */
    bool given;
};
struct opt_i32s {
    int32_t *v;
    uint32_t n;
};
struct opt_doubles {
    double *v;
    uint32_t n;
};

struct opt {
    enum opt_kind kind;
    char letter;      /* 0: none */
    const char *name; /* long name without dashes */
    void *value;
    const char *arg;  /* argument's name in --help: "FILE", "N" */
    const char *help; /* one line; names the default where there is one */
    /* OPT_CHOICE: "all|new"; of any other kind: words that completion offers */
    const char *choices;
    double min, max; /* numbers: allowed range, if max > min */
    bool bytes;
    /* Names a file or directory: completion offers such, and no output may be an input
     * (cmd/paths.h). */
    bool file;
    /* With `file`: it is written; "" or the names of what is written in that directory, "a|b".
     * NULL: read. */
    const char *makes;
    bool own;     /* with several ranks, each may have another */
    bool count;   /* OPT_RANGE: a lone number says how many, not which one */
    bool strided; /* OPT_RANGE: or A:B:STRIDE */
};

/* Sets the value of an option that is no flag. GNN_E_USAGE "--NAME: ...". Texts are kept as
 * pointers. */
int gnn_option_set(const struct opt *o, const char *text, struct gnn_err *e) GNN_MUST_USE;

/* Word i, *n bytes long, of choices "a|b|c", which have it; and the number of a word of n bytes,
 * -1: it is none of them. */
const char *gnn_choice_word(const char *choices, uint32_t i, int *n);
int gnn_choice_find(const char *choices, const char *word, size_t n);

/* Which options were given, by name. */
struct gnn_given {
    bool (*has)(const void *arg, const char *option);
    const void *arg;
};

/* The value of a flag, a choice, a U32 or a double, and the option set to one. */
double gnn_option_number(const struct opt *o);
void gnn_option_put(const struct opt *o, double v);

#endif
