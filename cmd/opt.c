/* SPDX-License-Identifier: Apache-2.0 */
/* The option parser of all programs (cmd/opt.h): tables of struct opt say what there is, and the
 * same tables make --help and the shell completion, so that they cannot disagree. First look-up,
 * then what was given, then the parser, last the checks on file names. */
#include "cmd/opt.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli.h"
#include "cmd/other_names.h"
#include "cmd/paths.h"
#include "lib/base/kind.h"
#include "lib/base/suggest.h"

struct opt_common common;

static bool help, version, completion;

static const struct opt common_opts[] = {
    {.kind = OPT_GROUP, .help = "Common options"},
    {OPT_STR, 0, "metrics", &common.metrics, "FILE", "write metrics to FILE, as NDJSON",
     .file = true, .makes = "", .own = true},
    {OPT_CHOICE, 0, "progress", &common.progress, "WHEN",
     "when to show progress on stderr (default: auto, on a terminal)",
     .choices = "auto|always|never", .own = true},
    {OPT_FLAG, 0, "no-provenance", &common.no_provenance, NULL,
     "do not record the command line in the output", .own = true},
    {OPT_FLAG, 'q', "quiet", NULL, NULL, "print errors only", .own = true},
    {OPT_FLAG, 'v', "verbose", NULL, NULL, "print more messages", .own = true},
    {OPT_FLAG, 'h', "help", &help, NULL, "print this help"},
    {OPT_FLAG, 0, "version", &version, NULL, "print the version"},
    {OPT_FLAG, 0, "completion", &completion, NULL, NULL},
    {.kind = OPT_END},
};

/* ---- looking up ---- */

/* The table after the one that ends with `end`. */
static const struct opt *next_table(const struct program *p, const struct opt *end)
{
    const struct opt *t = p->opts;
    for (uint32_t i = 0; p->more && p->more[i]; i++) {
        for (; t->kind != OPT_END; t++)
            ;
        if (t == end)
            return p->more[i];
        t = p->more[i];
    }
    return common_opts;
}

/* The option after o: the program's own first, then the common ones that it has. */
static const struct opt *next_option(const struct program *p, const struct opt *o)
{
    const struct opt *last = &common_opts[sizeof common_opts / sizeof *common_opts - 1];
    o = o ? o + 1 : p->opts;
    while (o->kind == OPT_END && o != last)
        o = next_table(p, o);
    /* p->lacks is a list of common options that the program does not have. */
    while (p->lacks && o >= common_opts && o < last && o->name && strstr(p->lacks, o->name))
        o++;
    return o;
}

#define EACH(o, p)                                                                                 \
    for (const struct opt *o = next_option(p, NULL); o->kind != OPT_END; o = next_option(p, o))

static const struct opt *find_long(const struct program *p, const char *name, size_t n,
                                   bool *negated)
{
    *negated = false;
    EACH(o, p)
    if (o->kind != OPT_GROUP && strlen(o->name) == n && !strncmp(o->name, name, n))
        return o;
    /* Only flags can be negated: --no-NAME. */
    if (n > 3 && !strncmp(name, "no-", 3))
        EACH(o, p)
    if (o->kind == OPT_FLAG && strlen(o->name) == n - 3 && !strncmp(o->name, name + 3, n - 3)) {
        *negated = true;
        return o;
    }
    return NULL;
}

static const struct opt *find_short(const struct program *p, char c)
{
    EACH(o, p)
    if (o->kind != OPT_GROUP && o->letter == c)
        return o;
    return NULL;
}

/* ---- values ---- */

static void *grow_array(void *p, uint32_t n, size_t size)
{
    void *q = realloc(p, (n + 1) * size);
    if (!q)
        cli_die(1, "out of memory");
    return q;
}

void opt_unknown(const char *name, const char *value, const char *words)
{
    struct gnn_suggest s = {.word = value};
    gnn_suggest_words(&s, words);
    cli_usage("--%s: unknown value '%s'%s", name, value, gnn_suggest_text(&s, "one of"));
}

static const struct opt **given;
static const char **given_as; /* what stood there */
static uint32_t ngiven;

static void remember_option(const struct opt *o, const char *v)
{
    given = grow_array(given, ngiven, sizeof *given);
    given_as = grow_array(given_as, ngiven, sizeof *given_as);
    given_as[ngiven] = v;
    given[ngiven++] = o;
}

static const struct opt *find_given(const void *value)
{
    for (uint32_t i = 0; i < ngiven; i++)
        if (given[i]->value == value)
            return given[i];
    return NULL;
}

/* "no-" if the flag was given as --no-NAME, the last time. */
static const char *given_prefix(const struct opt *o)
{
    const char *prefix = "";
    for (uint32_t i = 0; i < ngiven; i++)
        if (given[i] == o && o->kind == OPT_FLAG)
            prefix = strcmp(given_as[i], "no") ? "" : "no-";
    return prefix;
}

static const struct opt *find_given_name(const char *name)
{
    for (uint32_t i = 0; i < ngiven; i++)
        if (!strcmp(given[i]->name, name))
            return given[i];
    return NULL;
}

bool opt_given(const void *value)
{
    return find_given(value) != NULL;
}

bool opt_given_name(const char *name)
{
    return find_given_name(name) != NULL;
}

static bool has_given(const void *arg, const char *name)
{
    (void)arg;
    return opt_given_name(name);
}
const struct gnn_given opt_all_given = {has_given, NULL};

const char *opt_shared(void)
{
    static char text[1 << 16];
    const struct opt *after = NULL;
    /* Options are compared between ranks as text, so they are listed in the order of the tables,
     * whatever the order on the command line. */
    int n = 0;
    for (*text = 0;
         n >= 0 &&
         (size_t)n < sizeof text;) { /* tables are small: the next one in order, again and again */
        const struct opt *o = NULL;
        for (uint32_t i = 0; i < ngiven; i++)
            if (!given[i]->own && given[i] > after && (!o || given[i] < o))
                o = given[i];
        if (!o)
            break;
        for (uint32_t i = 0; i < ngiven && (size_t)n < sizeof text; i++)
            if (given[i] == o)
                n += snprintf(text + n, sizeof text - (size_t)n, "--%s=%s ", o->name, given_as[i]);
        after = o;
    }
    return text;
}

static json_t *given_value(const struct opt *o, const char *as)
{
    json_t *text;
    switch (o->kind) {
    case OPT_FLAG:
        return json_boolean(strcmp(as, "no") != 0);
    case OPT_DOUBLE:
        return json_real(*(const double *)o->value);
    case OPT_U32:
        return json_integer(*(const uint32_t *)o->value);
    case OPT_U64:
        return json_integer((json_int_t) * (const uint64_t *)o->value);
    default: /* names of files are any bytes */
        return (text = json_string(as)) ? text : json_string(cli_shown(as));
    }
}

json_t *opt_given_json(const char *without)
{
    json_t *all = json_object();
    bool bad = !all;
    for (uint32_t i = 0; i < ngiven && !bad; i++) {
        const struct opt *o = given[i];
        if (o->own || o->makes || gnn_choice_find(without, o->name, strlen(o->name)) >= 0)
            continue;
        json_t *value = given_value(o, given_as[i]), *list = json_object_get(all, o->name);
        if (o->kind == OPT_LIST && !list)
            bad = json_object_set_new(all, o->name, list = json_array());
        bad = bad || (o->kind == OPT_LIST ? json_array_append_new(list, value)
                                          : json_object_set_new(all, o->name, value));
    }
    if (bad)
        json_decref(all);
    return bad ? NULL : all;
}

static void refuse_given(const struct opt *o, const char *why)
{
    if (o)
        cli_usage("--%s%s %s", given_prefix(o), o->name, why);
}

void opt_refuse(const void *const *values, const char *why)
{
    for (; *values; values++)
        refuse_given(find_given(*values), why);
}

void opt_refuse_name(const char *name, const char *why)
{
    refuse_given(find_given_name(name), why);
}

void opt_warn(const void *value, const char *why)
{
    const struct opt *o = find_given(value);
    if (o)
        cli_note("warning: --%s%s has no effect: %s", given_prefix(o), o->name, why);
}

static void set_option(const struct opt *o, const char *v)
{
    struct gnn_err e = {0};
    remember_option(o, v);
    if (!*v && o->file && o->kind == OPT_STR)
        cli_usage("--%s: the name is empty", o->name);
    if (gnn_option_set(o, v, &e))
        cli_fail(&e);
}

static void set_flag(const struct opt *o, bool on)
{
    remember_option(o, on ? "yes" : "no");
    if (o->letter == 'q' && !o->value)
        common.verbose = -1;
    else if (o->letter == 'v' && !o->value)
        common.verbose = 1;
    else
        *(bool *)o->value = on;
}

/* ---- output ---- */

static void print_choices(const char *c)
{
    printf("%31sone of ", "");
    for (; *c; c++)
        fputs(*c == '|' ? ", " : (char[]){*c, 0}, stdout);
    putchar('\n');
}

static void print_option(const struct opt *o)
{
    char left[64];
    if (o->kind == OPT_GROUP) {
        printf("\n%s:\n", o->help);
        return;
    }
    if (!o->help)
        return;
    int n = snprintf(left, sizeof left, "  %c%c%s --%s%s%s", o->letter ? '-' : ' ',
                     o->letter ? o->letter : ' ', o->letter ? "," : " ", o->name, o->arg ? " " : "",
                     o->arg ? o->arg : "");
    const char *again = o->kind == OPT_LIST ? "; may be repeated" : "";
    if (n > 30)
        printf("%s\n%31s%s%s\n", left, "", o->help, again);
    else
        printf("%-30s %s%s\n", left, o->help, again);
    if (o->kind == OPT_CHOICE && strchr(o->choices, '|'))
        print_choices(o->choices);
}

static void print_help(const struct program *p)
{
    printf("Usage: %s [OPTION]...%s%s\n%s\n", p->name, *p->synopsis ? " " : "", p->synopsis,
           p->summary);
    if (p->opts[0].kind != OPT_GROUP)
        printf("\nOptions:\n");
    EACH(o, p)
    print_option(o);
    printf("\nSee %s(1) for details and gnn(7) for how the programs fit together.\n", p->name);
}

/* One line per option: "--name[,-x] kind choices", for the generator of the shell completion. */
static void print_completion(const struct program *p)
{
    EACH(o, p)
    {
        if (o->kind == OPT_GROUP || !o->help)
            continue;
        printf("--%s%s%.1s %s %s\n", o->name, o->letter ? ",-" : "", &o->letter,
               o->kind == OPT_FLAG ? "flag"
               : o->choices        ? "choice"
               : o->file           ? "file"
                                   : "value",
               o->choices ? o->choices : "");
        if (o->kind == OPT_FLAG && o->value && *(bool *)o->value)
            printf("--no-%s flag\n", o->name);
    }
    if (p->words)
        printf("- argument %s\n", p->words);
}

/* ---- the parser ---- */

static bool is_of_list(const struct opt *o, const char *value)
{
    value += *value == '-';
    return *value >= '0' && *value <= '9' && o->arg &&
           (strstr(o->arg, "LIST") || strstr(o->arg, ",..."));
}

/* Ends the program if the argument follows the value of an option and goes on with its list, as in
 * "-f 10 5"; or, if the program has no arguments, with an option that may be repeated, as in
 * "--eval valid test". */
static void refuse_split(const struct program *p, char *const *argv, const char *arg)
{
    int i = 1;
    while (argv[i] != arg)
        i++;
    const char *before =
        argv[i - 1] + strlen(argv[i - 1]); /* where the value ends: "-f 10", "-f10" */
    for (uint32_t k = 0; k < ngiven; k++) {
        const struct opt *o = given[k];
        const char *v = given_as[k];
        if (v + strlen(v) != before)
            continue;
        if (is_of_list(o, arg))
            cli_usage("unexpected argument '%s': numbers of --%s are separated by commas: %s,%s",
                      arg, o->name, v, arg);
        if (o->kind == OPT_LIST && !p->max_args)
            cli_usage("unexpected argument '%s': repeat the option: --%s %s --%s %s", arg, o->name,
                      v, o->name, arg);
    }
}

/* Ends the program if the option `name`, which stood there as `given`, belongs to another program
 * or is decided by what this one reads. */
static void refuse_elsewhere(const struct program *p, const char *typed, const char *name, size_t n)
{
    for (const struct opt_elsewhere *w = p->elsewhere; w && w->names; w++)
        if (other_name_among(w->names, name, n))
            cli_usage("unknown option '%.64s': %s", typed, w->why);
}

/* The option that other programs of the field call so, if this one has it. */
static void suggest_other(const struct program *p, const char *typed, const char *name, size_t n)
{
    const char *ours;
    bool negated;
    for (unsigned i = 0; (ours = other_name(name, n, i)); i++) {
        const struct opt *o = find_long(p, ours, strlen(ours), &negated);
        if (o && o->help)
            cli_usage("unknown option '%.64s'; did you mean '--%s'? (see --help)", typed, ours);
    }
    for (unsigned i = 0; (ours = other_name(name, n, i)); i++)
        refuse_elsewhere(p, typed, ours, strlen(ours));
}

/* The option nearest to a name of which there is none; "--no-NAME" where that was asked for. */
static void unknown_option(const struct program *p, const char *name, size_t n)
{
    char word[GNN_SUGGEST_WORD], key[GNN_SUGGEST_WORD];
    struct gnn_suggest s = {.word = word};
    const size_t no = n > 3 && !strncmp(name, "no-", 3) ? 3 : 0;
    snprintf(word, sizeof word, "--%.*s", n < sizeof word / 2 ? (int)n : (int)sizeof word / 2,
             name);
    refuse_elsewhere(p, word, name + no, n - no);
    suggest_other(p, word, name, n);
    EACH(o, p)
    {
        if (o->kind == OPT_GROUP || !o->help)
            continue;
        snprintf(key, sizeof key, "--%s", o->name);
        gnn_suggest_try(&s, key);
        snprintf(key, sizeof key, "--no-%s", o->name);
        if (o->kind == OPT_FLAG && !strncmp(word, "--no-", 5))
            gnn_suggest_try(&s, key);
    }
    cli_usage("unknown option '--%.*s'%s (see --help)", (int)n, name, gnn_suggest_meant(&s));
}

static void long_option(const struct program *p, char **argv, int *i)
{
    const char *name = argv[*i] + 2;
    size_t n = strcspn(name, "=");
    bool negated;
    const struct opt *o = find_long(p, name, n, &negated);
    if (!o)
        unknown_option(p, name, n);
    if (o->kind == OPT_FLAG) {
        if (name[n])
            cli_usage("--%s takes no argument", o->name);
        set_flag(o, !negated);
    } else if (name[n]) {
        set_option(o, name + n + 1);
    } else {
        if (!argv[*i + 1])
            cli_usage("--%s requires an argument", o->name);
        set_option(o, argv[++*i]);
    }
}

/* "-epochs": a long name with one dash. */
static void unknown_letter(const struct program *p, char *const *argv, const char *arg, char c)
{
    bool negated;
    const bool known = arg[2] && find_long(p, arg + 1, strcspn(arg + 1, "="), &negated);
    if (c >= '0' && c <= '9')
        refuse_split(p, argv, arg);
    if (!known && arg[1] == c)
        refuse_elsewhere(p, (char[]){'-', c, 0}, &c, 1);
    cli_usage("unknown option '-%c'%s%.64s%s (see --help)", c, known ? "; did you mean '-" : "",
              known ? arg : "", known ? "'?" : "");
}

static void short_options(const struct program *p, char **argv, int *i)
{
    for (const char *c = argv[*i] + 1; *c; c++) {
        const struct opt *o = find_short(p, *c);
        if (!o)
            unknown_letter(p, argv, argv[*i], *c);
        if (o->kind == OPT_FLAG) {
            set_flag(o, true);
            continue;
        }
        if (c[1])
            set_option(o, c + 1);
        else if (argv[*i + 1])
            set_option(o, argv[++*i]);
        else
            cli_usage("-%c requires an argument", *c);
        return;
    }
}

/* "STORE and MODEL are missing: gnn-predict STORE MODEL" */
static void fail_missing(const struct program *p, int nargs)
{
    const char *name = p->args;
    char list[256] = "";
    for (int i = 0; i < nargs; i++)
        name += strcspn(name, "|") + 1;
    for (int i = nargs, n; i < p->min_args; i++, name += n + 1) {
        const size_t at = strlen(list);
        n = (int)strcspn(name, "|");
        snprintf(list + at, sizeof list - at, "%s%.*s", i > nargs ? " and " : "", n, name);
    }
    cli_usage("%s %s missing: %s %s (see --help)", list, p->min_args - nargs > 1 ? "are" : "is",
              p->name, p->synopsis);
}

static void one_too_many(const struct program *p, char *const *argv, char *const *args)
{
    const bool usage = *p->synopsis || !p->extra; /* else all is said by what is extra */
    const char *arg = args[p->max_args];
    for (; *args; args++)
        refuse_split(p, argv, *args);
    cli_usage("unexpected argument '%s': %s%s%s%s%s (see --help)", arg, usage ? p->name : "",
              *p->synopsis ? " " : "", p->synopsis, usage && p->extra ? "; " : "",
              p->extra ? p->extra : "");
}

/* ---- files ---- */

/* FILE, or "train=FILE,valid=FILE". */
static void note_list(const struct opt *o, const char *v)
{
    for (const char *end; *v; v = *end ? end + 1 : end) {
        end = v + strcspn(v, ",");
        const char *eq = memchr(v, '=', (size_t)(end - v));
        paths_note(o, eq ? eq + 1 : v, (size_t)(end - (eq ? eq + 1 : v)));
    }
}

static void check_files(char **args)
{
    for (; *args; args++)
        paths_note(NULL, *args, strlen(*args));
    for (uint32_t i = 0; i < ngiven; i++) {
        const struct opt *o = given[i];
        if (o->file && o->kind == OPT_LIST)
            note_list(o, given_as[i]);
        else if (o->file && *(const char **)o->value == given_as[i]) /* the last one counts */
            paths_note(o, given_as[i], strlen(given_as[i]));
    }
    paths_check();
}

char **opt_parse(const struct program *p, int argc, char **argv, int *nargs)
{
    static char **args; /* lives as long as the process, where leak checkers can see it */
    args = calloc((size_t)argc + 1, sizeof *args);
    if (!args)
        cli_die(1, "out of memory");
    *nargs = 0;
    bool only_args = false;
    for (int i = 1; i < argc; i++) {
        if (only_args || argv[i][0] != '-' || !argv[i][1])
            args[(*nargs)++] = argv[i];
        else if (!strcmp(argv[i], "--"))
            only_args = true;
        else if (argv[i][1] == '-')
            long_option(p, argv, &i);
        else
            short_options(p, argv, &i);
    }
    if (version)
        printf("%s %s\n", p->name, GNN_VERSION);
    if (help)
        print_help(p);
    if (completion)
        print_completion(p);
    /* Before the arguments are checked: `--help` works whatever else is given. */
    if (version || help || completion)
        exit(cli_finish());
    if (*nargs < p->min_args)
        fail_missing(p, *nargs);
    if (p->max_args >= 0 && *nargs > p->max_args)
        one_too_many(p, argv, args);
    /* Before any file is created: an output that is also an input would be destroyed. */
    check_files(args);
    cli_metrics_open();
    return args;
}
