/* SPDX-License-Identifier: Apache-2.0 */
/* Runs gnuplot (lib/inspect/plot.h). Script, image and messages lie in memory, so that there are no
 * pipes to wait on, and an image is looked at before anything is written: gnuplot itself does not
 * notice a full disk. */
#include "lib/inspect/plot.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/text.h"
#include "lib/base/io.h"
#include "lib/base/mem.h"

static const char program[] = "gnuplot";

static bool ends_with(const char *s, size_t n, const char *end)
{
    const size_t m = strlen(end);
    return n >= m && !memcmp(s + n - m, end, m);
}

static bool is_installed(struct gnn_err *e)
{
    const char *path = getenv("PATH");
    bool found = false;
    for (path = path ? path : "/bin:/usr/bin"; !found && path; path = strchr(path, ':')) {
        path += *path == ':';
        char *name = gnn_strf(e, "%.*s/%s", (int)strcspn(path, ":"), path, program);
        found = name && !access(name, X_OK);
        gnn_free(name);
    }
    return found;
}

int gnn_plot_begin(struct gnn_plot *p, const char *path, struct gnn_err *e)
{
    const size_t n = strlen(path);
    *p = (struct gnn_plot){.svg = ends_with(path, n, ".svg")};
    if (!p->svg && !ends_with(path, n, ".png"))
        return gnn_fail(e, GNN_E_USAGE, "--plot: %s: expected a name that ends in .png or .svg",
                        path);
    if (!is_installed(e))
        return gnn_fail(e, GNN_E_RUN, "--plot requires gnuplot (Debian package gnuplot-nox)");
    const int fd = memfd_create("script", MFD_CLOEXEC);
    if (fd < 0 || !(p->script = fdopen(fd, "w+"))) {
        gnn_fail_errno(e, "cannot make a script of gnuplot");
        if (fd >= 0)
            close(fd);
    }
    return e->code;
}

void gnn_plot_size(struct gnn_plot *p, unsigned width, unsigned height, unsigned panels)
{
    fprintf(p->script,
            "set terminal %s noenhanced size %u,%u\n"
            "set datafile separator \"\\t\"\nset datafile missing '?'\nset grid\n"
            "set multiplot layout %u,1\n",
            p->svg ? "svg" : "pngcairo", width, height, panels);
}

/* Without what ends a line or a cell; each `quote` twice. */
static void put_text(FILE *to, const char *text, size_t most, char quote)
{
    char shown[256];
    gnn_text_shown(shown, most < sizeof shown ? most : sizeof shown, text, strlen(text));
    for (const char *c = shown; *c; c++) {
        fputc(*c, to);
        if (*c == quote)
            fputc(quote, to);
    }
}

void gnn_plot_text(struct gnn_plot *p, const char *text, size_t most)
{
    fputc('\'', p->script);
    put_text(p->script, text, most, '\'');
    fputc('\'', p->script);
}

void gnn_plot_name(struct gnn_plot *p, const char *text, size_t most)
{
    put_text(p->script, text, most, '\0');
}

static int start_child(int in, int out, int log, pid_t *pid)
{
    char *const argv[] = {(char *)(uintptr_t)program, (char *)(uintptr_t) "-d", NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, reset;
    sigemptyset(&none);
    sigfillset(&reset);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &reset);
    posix_spawn_file_actions_adddup2(&files, in, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_adddup2(&files, log, 2);
    errno = posix_spawnp(pid, program, &files, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    return errno;
}

/* The last line that says something, or how it ended. */
static int fail_child(int log, int status, struct gnn_err *e)
{
    char text[512], shown[256];
    const ssize_t got = pread(log, text, sizeof text, 0);
    size_t n = got > 0 ? (size_t)got : 0, from;
    while (n && strchr(" \n", text[n - 1]))
        n--;
    for (from = n; from && text[from - 1] != '\n'; from--)
        ;
    if (from < n)
        return gnn_fail(e, GNN_E_RUN, "gnuplot failed: %s",
                        gnn_text_shown(shown, sizeof shown, text + from, n - from));
    return gnn_fail(e, GNN_E_RUN, "gnuplot %s %d and made no picture",
                    WIFSIGNALED(status) ? "was ended by signal" : "ended with status",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static bool is_complete(const char *image, size_t n, bool svg)
{
    while (svg && n && strchr(" \n", image[n - 1]))
        n--;
    return svg ? ends_with(image, n, "</svg>")
               : n > 8 && !memcmp(image, "\x89PNG", 4) &&
                     !memcmp(image + n - 8, "IEND\xae\x42\x60\x82", 8);
}

static int write_image(const struct gnn_plot *p, int from, int log, int status, int fd,
                       const char *name, struct gnn_err *e)
{
    struct gnn_io io;
    struct stat st = {0};
    ssize_t got = -1;
    int rc = GNN_E_NOMEM;
    if (fstat(from, &st))
        return gnn_fail_errno(e, "gnuplot: no picture");
    char *image = gnn_alloc((uint64_t)st.st_size, 1, "a picture", e);
    if (image)
        got = pread(from, image, (size_t)st.st_size, 0);
    gnn_io_init(&io, fd, name);
    if (image && (status || got != st.st_size || !is_complete(image, (size_t)got, p->svg)))
        rc = fail_child(log, status, e);
    else if (image)
        rc = gnn_io_write(&io, image, (uint64_t)got, e);
    gnn_free(image);
    return rc;
}

int gnn_plot_end(struct gnn_plot *p, int fd, const char *name, struct gnn_err *e)
{
    const int image = memfd_create("image", MFD_CLOEXEC), log = memfd_create("log", MFD_CLOEXEC);
    int status = 0;
    pid_t pid;
    fputs("unset multiplot\n", p->script);
    if (image < 0 || log < 0 || fflush(p->script) || ferror(p->script) ||
        lseek(fileno(p->script), 0, SEEK_SET) < 0)
        gnn_fail_errno(e, "cannot make a script of gnuplot");
    else if (start_child(fileno(p->script), image, log, &pid))
        gnn_fail_errno(e, "cannot start gnuplot");
    if (!e->code) {
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        status = write_image(p, image, log, status, fd, name, e);
    }
    if (image >= 0)
        close(image);
    if (log >= 0)
        close(log);
    return e->code;
}

void gnn_plot_release(struct gnn_plot *p)
{
    if (p->script)
        fclose(p->script);
    p->script = NULL;
}
