/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a program: parsing, --help and the shell completion are made from tables of them
 * (lib/base/option.h). */
#ifndef GNN_CMD_OPT_H
#define GNN_CMD_OPT_H

#include <jansson.h>

#include "lib/base/option.h"

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
    /* The remedy for one argument too many: "a stream is given with -i FILE", or NULL. */
    const char *extra;
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
/* All options that were given. */
extern const struct gnn_given opt_all_given;
/* Ends the program with status 2, "--NAME WHY", if one of these options was given: what has no
 * effect is not accepted. values: NULL-terminated. */
void opt_refuse(const void *const *values, const char *why);
void opt_refuse_name(const char *name, const char *why);
/* Prints a warning: an option that was given has no effect, WHY. */
void opt_warn(const void *value, const char *why);
/* After opt_parse: all that was given and must be the same on all ranks, in the order of the table;
 * lives until the next call. */
const char *opt_shared(void);
/* After opt_parse: what was given, by name, as JSON: numbers, true or false, text as it stood, and
 * arrays of what may be given several times. Neither what each rank may have of its own, nor files
 * that are written, nor these names, "a|b". NULL: out of memory. */
json_t *opt_given_json(const char *without);
#define OPTS(...) ((const void *const[]){__VA_ARGS__, NULL})

#endif
