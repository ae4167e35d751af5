/* SPDX-License-Identifier: Apache-2.0 */
/* Option tables: the one place where an option's name, argument, range, default text and help line
 * live. Parsing, --help and the shell completion are made from them. */
#ifndef GNN_CMD_OPT_H
#define GNN_CMD_OPT_H

#include <stdbool.h>
#include <stdint.h>

enum opt_kind {
    OPT_END,   /* last entry */
    OPT_GROUP, /* a heading in --help; only `help` is used */
    OPT_FLAG,  /* bool *: set to true; "--no-NAME" sets it to false */
    OPT_U64, /* uint64_t *, decimal with optional k M G T (powers of 1024 when `bytes` is set, else
                1000) */
    OPT_U32, /* uint32_t *, the same */
    OPT_DOUBLE, /* double * */
    OPT_STR,    /* const char ** */
    OPT_LIST,   /* struct opt_list *: may be given several times */
    OPT_CHOICE, /* int *: index into `choices` ("a|b|c") */
    OPT_RANGE,  /* struct opt_range *: A:B, half open; "A" means A:A+1 (0:A if `count`), ":B" and
                   "A:" are open */
    OPT_I32S,   /* struct opt_i32s *: comma-separated integers */
    OPT_DOUBLES /* struct opt_doubles *: comma-separated numbers */
};

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
    bool file; /* names a file or directory: completion offers such, and no output may be an input
                  (cmd/paths.h) */
    const char *makes; /* with `file`: it is written; "" or the names of what is written in that
                          directory, "a|b". NULL: read */
    bool own;          /* with several ranks, each may have another */
    bool count;        /* OPT_RANGE: a lone number says how many, not which one */
    bool strided;      /* OPT_RANGE: or A:B:STRIDE */
};

/* Options that a program does not have, by name or letter, "fanout|f", and what decides this
 * instead, or which program has them. */
struct opt_elsewhere {
    const char *names, *why;
};

struct program {
    const char *name;     /* "gnn-sample" */
    const char *summary;  /* one line */
    const char *synopsis; /* arguments after the options: "[STORE]" */
    /* names of the first min_args of them, as missing ones are named: "STORE|MODEL" */
    const char *args;
    const char *extra; /* where what is one argument too many belongs: "a stream is given with -i
                          FILE", or NULL */
    const struct opt *opts;
    const struct opt *const *more; /* tables that follow opts, with NULL at the end; or NULL */
    const char *words; /* what completion offers besides files as arguments, "a|b", or NULL */
    /* common options that would have no effect, "progress no-provenance", or NULL */
    const char *lacks;
    const struct opt_elsewhere *elsewhere; /* with no names at the end; or NULL */
    int min_args, max_args;                /* positional arguments; max_args < 0: any number */
};

/* Options every program has (GNN_COMMON in its table puts them under a heading of their own). */
struct opt_common {
    int verbose;  /* -1 quiet, 0, 1 verbose */
    int progress; /* 0 auto, 1 always, 2 never */
    bool no_provenance;
    const char *metrics; /* FILE for NDJSON, or NULL */
};
extern struct opt_common common;

/* Parses argv against p->opts and the common options; answers --help and --version itself; ends the
 * process with status 2 and one line on a mistake. Returns the positional arguments
 * (NULL-terminated) and their number. Allocated lists live as long as the process. */
char **opt_parse(const struct program *p, int argc, char **argv, int *nargs);

/* Ends the program with status 2: --NAME takes one of the words of "a|b|c". */
void opt_unknown(const char *name, const char *value, const char *words) __attribute__((noreturn));

/* After opt_parse: whether the option that fills `value`, or has this name, stood on the command
 * line. */
bool opt_given(const void *value);
bool opt_given_name(const char *name);
/* Ends the program with status 2, "--NAME WHY", if one of these options was given: what has no
 * effect is not accepted. values: NULL-terminated. */
void opt_refuse(const void *const *values, const char *why);
void opt_refuse_name(const char *name, const char *why);
/* Prints a warning: an option that was given has no effect, WHY. */
void opt_warn(const void *value, const char *why);
/* After opt_parse: all that was given and must be the same on all ranks, in the order of the table;
 * lives until the next call. */
const char *opt_shared(void);
#define OPTS(...) ((const void *const[]){__VA_ARGS__, NULL})

#endif
