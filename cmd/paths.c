/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses options that would overwrite an input or write two outputs to one place (cmd/paths.h).
 * paths_note collects names while options are parsed; paths_check compares each output with
 * everything else. Names are compared as inodes if the file exists, else as resolved paths, so that
 * links and ".." do not hide that two names are one. */
#include "cmd/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cli.h"
#include "lib/base/mem.h"
#include "lib/base/temp.h"

struct place {
    const struct opt *opt; /* that it was given by, or NULL */
    const char *given;
    int n;
    bool out, exists;
    char *real; /* absolute, without links, whether it exists or not; NULL: a descriptor's */
    struct stat st;
};

static struct place *places;
static uint32_t nplaces;

static void add_place(const struct place *p)
{
    struct gnn_err e = {0};
    if (gnn_grow(&places, nplaces, sizeof *places, "names of files", &e))
        cli_fail(&e);
    places[nplaces++] = *p;
}

/* The absolute name of what is, or will be, at `path`, whose directories may not exist yet either.
 * NULL if nothing can be there: opening it reports that. */
static char *real_name(const char *path)
{
    struct gnn_err e = {0};
    char *at = gnn_temp_target(path, true, &e);
    if (!at || *at == '/')
        return at;
    char *slash = strrchr(at, '/');
    if (slash)
        *slash = 0;
    char *found = realpath(slash ? at : ".", NULL), *dir = found   ? gnn_strdup(found, &e)
                                                           : slash ? real_name(at)
                                                                   : NULL;
    char *real =
        dir ? gnn_strf(&e, "%s/%s", strcmp(dir, "/") != 0 ? dir : "", slash ? slash + 1 : at)
            : NULL;
    free(found);
    gnn_free(dir);
    gnn_free(at);
    return real;
}

static void note_path(struct place *p, const char *path)
{
    p->exists = !stat(path, &p->st);
    if (p->exists && !S_ISREG(p->st.st_mode) && !S_ISDIR(p->st.st_mode))
        return; /* nothing lies in pipes and devices */
    if ((p->exists || p->out) && (p->real = real_name(path)))
        add_place(p);
}

/* `file`, n bytes: what is written in the directory `path`, or "". */
static void note_file(struct place *p, const char *path, const char *file, size_t n)
{
    struct gnn_err e = {0};
    char *copy = gnn_strf(&e, n ? "%.*s/%.*s" : "%.*s%.*s", p->n, path, (int)n, file);
    if (!copy)
        cli_fail(&e);
    const char *name = cli_path(copy);
    note_path(p, name);
    if (name != copy)
        free((void *)(uintptr_t)name);
    gnn_free(copy);
}

void paths_note(const struct opt *o, const char *path, size_t n)
{
    if (n == 1 && *path == '-')
        return;
    /* An output that is a directory (o->makes are files in it) is noted as those files. */
    const char *file = o && o->makes ? o->makes : "";
    do {
        struct place p = {.opt = o, .given = path, .n = (int)n, .out = o && o->makes};
        const size_t length = strcspn(file, "|");
        note_file(&p, path, file, length);
        file += length;
    } while (*file++);
}

static void note_descriptor(int fd, bool out, const char *given)
{
    struct place p = {.given = given, .n = (int)strlen(given), .out = out, .exists = true};
    if (!fstat(fd, &p.st) && S_ISREG(p.st.st_mode))
        /* stdin and stdout may be files, by redirection, and have no name here. */
        add_place(&p);
}

static bool same_file(const struct place *a, const struct place *b)
{
    if (a->exists != b->exists || (!a->real && !b->real))
        return false;
    return a->exists ? a->st.st_dev == b->st.st_dev && a->st.st_ino == b->st.st_ino
                     : !strcmp(a->real, b->real);
}

static bool is_inside(const struct place *a, const struct place *b)
{
    if (!a->real || !b->real || (b->exists && !S_ISDIR(b->st.st_mode)))
        return false;
    const size_t n = strlen(b->real);
    return !strncmp(a->real, b->real, n) && a->real[n] == '/';
}

/* "-o FILE", as it was given. */
static const char *as_given(const struct place *p, char *text, size_t capacity)
{
    if (p->opt && p->opt->letter)
        snprintf(text, capacity, "-%c %.*s", p->opt->letter, p->n, p->given);
    else
        snprintf(text, capacity, "%s%s%s%.*s", p->opt ? "--" : "", p->opt ? p->opt->name : "",
                 p->opt ? " " : "", p->n, p->given);
    return text;
}

static void compare_output(const struct place *out, const struct place *b)
{
    char t[2][512];
    const char *const what = same_file(out, b)   ? "is the same file as"
                             : is_inside(out, b) ? "lies inside"
                             : is_inside(b, out) ? "contains"
                                                 : NULL;
    if (what)
        cli_usage("%s: %s %s%s, %s", as_given(out, t[0], sizeof t[0]), what,
                  b->out ? "" : "the input ", as_given(b, t[1], sizeof t[1]),
                  b->out ? "but every output needs its own name" : "which is never overwritten");
}

void paths_check(void)
{
    note_descriptor(0, false, "stdin");
    note_descriptor(1, true, "stdout");
    /* Each pair of outputs is compared once. */
    for (uint32_t i = 0; i < nplaces; i++)
        for (uint32_t j = 0; places[i].out && j < nplaces; j++)
            if (!places[j].out || j < i)
                compare_output(&places[i], &places[j]);
    for (uint32_t i = 0; i < nplaces; i++)
        gnn_free(places[i].real);
    gnn_free(places);
    places = NULL;
    nplaces = 0;
}
