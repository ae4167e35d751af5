/* SPDX-License-Identifier: Apache-2.0 */
/* What all programs do alike (cmd/cli.h): start, messages, exit statuses, stdin and stdout,
 * progress, metrics. Only this file, cmd/sig.c and cmd/ranks.c end the process. The output is
 * complete only after cli_out_commit; on every other way out gnn_temp_abort removes it. */
#include "cmd/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/sig.h"
#include "formats/tensor.h"
#include "formats/text.h"
#include "lib/base/clock.h"
#include "lib/base/io.h"
#include "lib/base/mapped.h"
#include "lib/base/mem.h"
#include "lib/base/temp.h"

static const char *prog = "gnn";
static char provenance[4096], version[64];
static bool ranked; /* one of several ranks: this one, and how to end them all */
static uint32_t rank;
static void (*end_ranks)(int exit_status);
static int result = 1; /* what the next program of a pipeline reads */
static FILE *metrics;
static json_t *also; /* members of all objects in it */
static double started;
static bool progress_shown;
static struct gnn_temp *unfinished; /* what cli_out began */

/* ---- start ---- */

static void remember_command(const char *name, int argc, char **argv)
{
    int n = snprintf(provenance, sizeof provenance, "%s %s: %s", name, GNN_VERSION, name);
    for (int i = 1; i < argc && n > 0 && (size_t)n < sizeof provenance; i++)
        n += snprintf(provenance + n, sizeof provenance - (size_t)n, " %s", argv[i]);
}

/* A closed descriptor 0 to 2 is taken, so that no data file gets its number, by something that
 * fails when it is used: reading stdin that is not there, or writing to stdout, must not succeed.
 */
static void std_open(void)
{
    static const int mode[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", mode[fd]) != fd)
            _exit(1);
}

static void restore_sigpipe(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    signal(SIGPIPE, SIG_DFL);
}

/* A reader that went away ends a filter silently, even when the parent ignored SIGPIPE. */
static void die_of_sigpipe(void)
{
    restore_sigpipe();
    raise(SIGPIPE);
}

void cli_start(const char *name, int argc, char **argv)
{
    prog = name;
    snprintf(version, sizeof version, "%s %s", name, GNN_VERSION);
    started = gnn_clock();
    /* The order matters: descriptors first, so that no file is opened as 0, 1 or 2; SIGPIPE next,
     * so that a closed pipe ends the program silently as usual; then the thread that waits for the
     * other signals, which all later threads inherit the mask from. */
    std_open();
    restore_sigpipe();
    gnn_io_on_broken_pipe(die_of_sigpipe);
    /* A file that reaches the limit of ulimit -f becomes an error of write(2), not a death. */
    signal(SIGXFSZ, SIG_IGN);
    sig_start(cli_die);
    atexit(gnn_temp_abort); /* libarchive ends the process by itself when memory runs out */
    remember_command(name, argc, argv);
}

/* ---- messages ---- */

/* Flushes stdout, unless another thread holds its lock: that thread may have stopped for good in
 * the middle of a write, and waiting for it would hang. */
static void flush_stdout(void)
{
    if (ftrylockfile(stdout))
        return;
    fflush(stdout);
    funlockfile(stdout);
}

/* To stderr, all of it. Once a signal asks the program to stop, whoever should read may have ceased
 * to, as mpirun does before it kills its ranks: what would have to wait then is dropped, so that
 * there is time left to save. */
static void write_stderr(const char *s, size_t n)
{
    enum { AT_ONCE = 4096 /* bytes that a pipe that is ready takes */, GRACE = 100 /* ms */ };
    struct pollfd p[] = {{.fd = 2, .events = POLLOUT}, {.fd = gnn_io_stop(), .events = POLLIN}};
    for (ssize_t done; n; s += done, n -= (size_t)done) {
        p[0].revents = 0;
        while (poll(p, 2, -1) < 0 && errno == EINTR)
            ;
        if (!p[0].revents && poll(p, 1, GRACE) <= 0)
            return;
        done = write(2, s, n < AT_ONCE ? n : AT_ONCE);
        if (done < 0 && errno != EINTR)
            return; /* nowhere left to complain */
        done = done < 0 ? 0 : done;
    }
}

GNN_PRINTF(1, 0)
static void print_message(const char *fmt, va_list ap)
{
    char buf[4096], line[2 * sizeof buf];
    cli_progress_end();
    flush_stdout();
    int n = ranked ? snprintf(buf, sizeof buf, "%s: rank %u: ", prog, rank)
                   : snprintf(buf, sizeof buf, "%s: ", prog);
    (void)!vsnprintf(buf + n, sizeof buf - (size_t)n, fmt, ap);
    /* Messages quote file names and text of inputs, which may hold terminal escapes. */
    gnn_text_shown(line, sizeof line - 1, buf, strlen(buf));
    const size_t len = strlen(line);
    line[len] = '\n';
    write_stderr(line, len + 1);
}

const char *cli_shown(const char *s)
{
    /* Four buffers in turn, because one printf shows up to four names. */
    static char buf[4][GNN_NAME_MAX + 1];
    static unsigned turn;
    return gnn_text_shown(buf[turn++ % 4], sizeof buf[0], s ? s : "", s ? strlen(s) : 0);
}

/* jansson's own escapes are those of control characters of ASCII. */
static int write_json(const char *p, size_t n, void *to)
{
    char piece[GNN_ESCAPE_CAPACITY];
    while (n) {
        const size_t used = *p == '\n' ? 1 : gnn_text_escape(p, n, piece);
        if ((*p == '\n' ? putc('\n', to) : fputs(piece, to)) == EOF)
            return -1;
        p += used;
        n -= used;
    }
    return 0;
}

int cli_json(const json_t *j, FILE *to, size_t flags)
{
    return json_dump_callback(j, write_json, to, flags) || putc('\n', to) == EOF ? -1 : 0;
}

#define SAY(fmt)                                                                                   \
    do {                                                                                           \
        va_list ap;                                                                                \
        va_start(ap, fmt);                                                                         \
        print_message(fmt, ap);                                                                    \
        va_end(ap);                                                                                \
    } while (0)

void cli_note(const char *fmt, ...)
{
    if (common.verbose < 0 || rank)
        return;
    const bool of_all = ranked; /* not this rank's word, but that of the job */
    ranked = false;
    SAY(fmt);
    ranked = of_all;
}

void cli_info(const char *fmt, ...)
{
    if (common.verbose > 0)
        SAY(fmt);
}

/* ---- the end ---- */

void cli_rank(uint32_t number, void (*end)(int exit_status))
{
    ranked = true;
    rank = number;
    end_ranks = end;
}

static void end_process(int exit_status) __attribute__((noreturn));
static void end_process(int exit_status)
{
    gnn_temp_abort();
    /* Before the pipe is closed by the exit, so that the next program sees the mark when its input
     * ends. */
    gnn_io_mark_failed(result);
    flush_stdout();
    if (end_ranks)
        end_ranks(exit_status);
    _exit(exit_status);
}

void cli_die(int exit_status, const char *fmt, ...)
{
    /* What all ranks find wrong, rank 0 says. The launcher then ends the others, which have the
     * same status to end with. */
    const bool asked = sig_pending();
    sig_defer();
    if (rank)
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    if (!rank || asked || !sig_pending())
        SAY(fmt);
    end_process(exit_status);
}

void cli_stop(int sig, const char *fmt, ...)
{
    if (rank) /* the first to end ends all */
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    else
        SAY(fmt);
    if (ranked)
        end_process(128 + sig);
    gnn_temp_abort();
    flush_stdout();
    sig_reraise(sig);
}

void cli_fail(const struct gnn_err *e)
{
    static const int status[] = {[-GNN_E_RUN] = 1,     [-GNN_E_NOMEM] = 1,  [-GNN_E_USAGE] = 2,
                                 [-GNN_E_INPUT] = 3,   [-GNN_E_DEVICE] = 4, [-GNN_E_RANK] = 5,
                                 [-GNN_E_STOPPED] = 75};
    /* Ctrl-C goes to all programs of a pipeline, and the one before this may have died first: the
     * input then ends too early, but the signal is the cause, and the process ends by it. */
    const int sig = e->code == GNN_E_INPUT || e->code == GNN_E_STOPPED ? sig_settled() : 0;
    if (sig) {
        cli_progress_end();
        gnn_temp_abort();
        sig_reraise(sig);
    }
    struct gnn_err why = {0}; /* what a store makes of a program when it is written to is not that
                                 program's mistake */
    if ((e->code == GNN_E_INPUT || e->code == GNN_E_RUN) && gnn_mapped_check(&why))
        cli_die(1, "%s (%s)", why.msg, e->msg);
    int code = e->code < 0 && e->code >= GNN_E_STOPPED ? status[-e->code] : 1;
    if (e->told && common.verbose <= 0) {
        cli_progress_end();
        end_process(code);
    }
    cli_die(code, "%s", e->msg);
}

int cli_finish(void)
{
    cli_progress_end();
    errno = 0;
    bool lost = ferror(stdout) != 0;
    if (fflush(stdout) || lost)
        cli_die(1, "stdout: cannot write%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
    if (fstat(1, &(struct stat){0}) == 0 && close(1) && errno != EINTR)
        cli_die(1, "stdout: cannot close: %s", strerror(errno));
    if (metrics && metrics != stdout && (ferror(metrics) || fclose(metrics)))
        cli_die(1, "%s: cannot write", common.metrics);
    sig_finish();
    return 0;
}

/* ---- files ---- */

static bool is_std(const char *path)
{
    return !path || !strcmp(path, "-");
}

const char *cli_path(const char *path)
{
    const char *at = strstr(path, "%r");
    if (!at)
        return path;
    const size_t capacity = strlen(path) + 12 * (strlen(at) / 2) + 1;
    char *out = malloc(capacity), *to = out;
    if (!out)
        cli_die(1, "out of memory");
    for (; at; path = at + 2, at = strstr(path, "%r"))
        to += snprintf(to, capacity - (size_t)(to - out), "%.*s%u", (int)(at - path), path, rank);
    snprintf(to, capacity - (size_t)(to - out), "%s", path);
    return out;
}

/* A FIFO has another end, which may never be opened. */
static bool let_at_fifo(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISFIFO(st.st_mode) && sig_let();
}

static int open_waiting(const char *path, int how)
{
    const bool let = let_at_fifo(path);
    const int fd = open(path, how | O_CLOEXEC, 0666), why = errno;
    sig_hold(let);
    errno = why;
    return fd;
}

int cli_in(const char *path, const char **name)
{
    *name = is_std(path) ? "stdin" : path;
    int fd = is_std(path) ? dup(0) : open_waiting(path, O_RDONLY);
    struct gnn_err e = {0};
    if (fd < 0 && gnn_fail_open(&e, *name))
        cli_fail(&e);
    if (isatty(fd))
        cli_usage("%s is a terminal; name a file or use a pipe (see --help)", *name);
    return fd;
}

void cli_spare_stdout(void)
{
    (void)!dup2(2, 1);
}

/* With `<x >>x` the program would read its own result. Where the two are merely open on one file,
 * as in a daemon, nothing is written there, and cmd/paths.c does not complain. */
static bool stdin_is_stdout(void)
{
    struct stat in, out;
    return !fstat(0, &in) && !fstat(1, &out) && S_ISREG(in.st_mode) && in.st_dev == out.st_dev &&
           in.st_ino == out.st_ino;
}

static int open_out(const char *path, bool text, const char **name)
{
    if (is_std(path)) {
        *name = "stdout";
        if (metrics == stdout)
            cli_usage("--metrics -: stdout takes the result; name a file for one of them");
        if (!text && isatty(1))
            cli_usage("refusing to write binary data to a terminal; use -o FILE or a pipe");
        if (stdin_is_stdout())
            cli_usage("stdout: is the same file as the input stdin, which is never overwritten");
        /* The caller owns a copy of the descriptor, and descriptor 1 becomes stderr: a stray printf
         * of a library cannot damage the binary stream. */
        int fd = dup(1);
        if (fd < 0)
            cli_die(1, "stdout: cannot write: %s", strerror(errno));
        cli_spare_stdout();
        return result = fd;
    }
    *name = path;
    struct gnn_err e = {0};
    int fd;
    const bool let = let_at_fifo(path);
    unfinished = gnn_temp_output(path, &fd, &e);
    sig_hold(let);
    if (!unfinished)
        cli_fail(&e);
    return fd;
}

int cli_out(const char *path, const char **name)
{
    return open_out(path, false, name);
}

int cli_out_text(const char *path, const char **name)
{
    return open_out(path, true, name);
}

void cli_out_commit(void)
{
    struct gnn_err e = {0};
    if (unfinished && gnn_temp_commit(unfinished, true, &e))
        cli_fail(&e);
    gnn_temp_free(unfinished);
    unfinished = NULL;
}

const char *cli_provenance(void)
{
    return common.no_provenance ? NULL : provenance;
}

const char *cli_version(void)
{
    return version;
}

/* ---- progress and metrics ---- */

/* Whether stderr is a terminal that can clear a line. */
static bool has_lines_to_clear(void)
{
    const char *term = getenv("TERM");
    return isatty(2) && term && strcmp(term, "dumb") != 0;
}

static bool progress_wanted(void)
{
    static int wanted = -1;
    if (wanted < 0)
        wanted = !rank && common.verbose >= 0 &&
                 (common.progress == 1 || (common.progress == 0 && has_lines_to_clear()));
    return wanted;
}

void cli_progress(const char *what, uint64_t done, uint64_t total, const char *extra)
{
    static double last;
    if (!progress_wanted())
        return;
    double now = gnn_clock();
    /* At most ten updates a second, and always the last one. */
    if (now - last < 0.1 && done != total)
        return;
    last = now;
    char bar[21] = "";
    if (total) {
        uint64_t full = done >= total ? 20 : done * 20 / total;
        for (uint64_t i = 0; i < 20; i++)
            bar[i] = i < full ? '#' : '.';
    }
    char text[256], line[2 * sizeof text] = "\r\033[K";
    const size_t clear = strlen(line);
    (void)!(total
                ? snprintf(text, sizeof text, "%s [%s] %llu/%llu %s", what, bar,
                           (unsigned long long)done, (unsigned long long)total, extra ? extra : "")
                : snprintf(text, sizeof text, "%s %llu %s", what, (unsigned long long)done,
                           extra ? extra : ""));
    gnn_text_shown(line + clear, sizeof line - clear, text, strlen(text));
    write_stderr(line, strlen(line));
    progress_shown = true;
}

void cli_progress_end(void)
{
    if (!progress_shown)
        return;
    progress_shown = false;
    write_stderr("\r\033[K", 4);
}

void cli_metrics_open(void)
{
    if (!common.metrics || (rank && !strstr(common.metrics, "%r")))
        return;
    common.metrics = cli_path(common.metrics);
    const int fd =
        is_std(common.metrics) ? -1 : open_waiting(common.metrics, O_WRONLY | O_CREAT | O_TRUNC);
    if (is_std(common.metrics))
        metrics = stdout;
    else if (fd < 0 || !(metrics = fdopen(fd, "w")))
        cli_die(1, "%s: cannot create: %s", common.metrics, strerror(errno));
}

void cli_metrics_also(json_t *members)
{
    also = members;
}

void cli_metrics_number(json_t *object, const char *key, double v)
{
    json_object_set_new(object, key, isfinite(v) ? json_real(v) : json_null());
}

const char *cli_number(char out[32], double v)
{
    snprintf(out, 32, isfinite(v) ? "%.4f" : "not defined", v);
    return out;
}

void cli_metrics(json_t *object)
{
    if (!metrics) {
        json_decref(object);
        return;
    }
    errno = 0;
    json_t *line = json_pack("{s:i,s:s,s:f}", "v", 1, "stage", prog, "t", gnn_clock() - started);
    if (!object || !line || json_object_update(line, object) ||
        (also && json_object_update(line, also)) || cli_json(line, metrics, JSON_COMPACT) ||
        fflush(metrics))
        cli_die(1, "%s: cannot write metrics%s%s", common.metrics, errno ? ": " : "",
                errno ? strerror(errno) : "");
    json_decref(line);
    json_decref(object);
}
