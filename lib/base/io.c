/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing descriptors (lib/base/io.h): every call goes on after short transfers and
 * EINTR, and every error names the file and the byte. The mark on pipes, by which a failed program
 * tells the next one, is here, too. */
#include "lib/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/mem.h"

enum {
    PIPE_BYTES = 1 << 20, /* the most an unprivileged process may ask for */
    PIECE = 256 << 10     /* what moves fastest through such a pipe */
};

void gnn_io_init(struct gnn_io *io, int fd, const char *name)
{
    *io = (struct gnn_io){.fd = fd, .name = name};
#ifdef F_SETPIPE_SZ
    /* A hint: a descriptor that is no pipe refuses it, and errno must look untouched to the
     * caller. */
    int saved = errno;
    (void)fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES);
    errno = saved;
#endif
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)                    ? "a directory"
           : S_ISFIFO(mode)                 ? "a FIFO"
           : S_ISSOCK(mode)                 ? "a socket"
           : S_ISCHR(mode) || S_ISBLK(mode) ? "a device"
                                            : "something else";
}

int gnn_io_open(const char *path, struct stat *st, struct gnn_err *e)
{
    return gnn_io_open_at(AT_FDCWD, path, path, st, e);
}

int gnn_io_open_at(int dir, const char *name, const char *path, struct stat *st, struct gnn_err *e)
{
    const int fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, st)) {
        gnn_fail_open(e, path);
    } else if (S_ISREG(st->st_mode)) {
        return fd;
    } else {
        gnn_fail(e, GNN_E_INPUT, "%s: %s, and not a regular file", path, kind_of(st->st_mode));
        errno = EINVAL;
    }
    const int sys = errno;
    if (fd >= 0)
        close(fd);
    errno = sys;
    return -1;
}

static int stop_fd = -1;

void gnn_io_stop_on(int stop)
{
    stop_fd = stop;
}

int gnn_io_stop(void)
{
    return stop_fd;
}

/* Whether there is something to read, be it the end, before the wait is to end. */
static bool is_ready(int fd)
{
    struct pollfd p[2] = {{.fd = fd, .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}};
    int n;
    while ((n = poll(p, 2, -1)) < 0 && errno == EINTR)
        ;
    return n < 0 || p[0].revents;
}

int gnn_io_read(struct gnn_io *io, void *buf, uint64_t n, uint64_t *got, struct gnn_err *e)
{
    uint64_t done = 0;
    while (done < n) {
        if (stop_fd >= 0 && !is_ready(io->fd))
            return gnn_fail(e, GNN_E_STOPPED, "%s: stopped at byte %llu", io->name,
                            (unsigned long long)(io->pos + done));
        /* Linux transfers at most 2 GiB in one call. */
        uint64_t want = n - done < (1u << 30) ? n - done : 1u << 30;
        ssize_t r = read(io->fd, (char *)buf + done, want);
        if (r < 0) {
            if (errno == EINTR)
                continue;
            if (errno == EISDIR)
                return gnn_fail_open(e, io->name);
            return gnn_fail_errno(e, "%s: cannot read at byte %llu", io->name,
                                  (unsigned long long)(io->pos + done));
        }
        if (!r) {
            io->ended = true;
            break;
        }
        done += (uint64_t)r;
    }
    io->pos += done;
    *got = done;
    return 0;
}

int gnn_io_read_exact(struct gnn_io *io, void *buf, uint64_t n, const char *what, struct gnn_err *e)
{
    uint64_t got = 0;
    int rc = gnn_io_read(io, buf, n, &got, e);
    if (!rc && got < n)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: cut short at byte %llu (in %s)", io->name,
                      (unsigned long long)io->pos, what);
    return rc;
}

/* Only a pipe of pipe(2), which ends with its last descriptor: a mark on a FIFO in a directory
 * would stay for the next job. */
static bool is_nameless_pipe(int fd, struct stat *st)
{
    char link[32], to[8] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return !fstat(fd, st) && S_ISFIFO(st->st_mode) && readlink(link, to, sizeof to - 1) > 5 &&
           !strncmp(to, "pipe:", 5);
}

void gnn_io_mark_failed(int fd)
{
    struct stat st;
    const int saved = errno;
    if (is_nameless_pipe(fd, &st))
        /* A pipe of another user cannot be marked; then the next program reports the short input as
         * well. */
        (void)!fchmod(fd, (st.st_mode & 07777) |
                              S_ISVTX); /* another user's: the next program speaks as well */
    errno = saved;
}

bool gnn_io_has_failed(int fd)
{
    struct stat st;
    return is_nameless_pipe(fd, &st) && (st.st_mode & S_ISVTX);
}

static void (*broken)(void);

void gnn_io_on_broken_pipe(void (*call)(void))
{
    broken = call;
}

static int write_failed(const struct gnn_io *io, uint64_t at, struct gnn_err *e)
{
    if (errno == EPIPE && broken)
        broken();
    return gnn_fail_errno(e, "%s: cannot write at byte %llu", io->name, (unsigned long long)at);
}

int gnn_io_write(struct gnn_io *io, const void *buf, uint64_t n, struct gnn_err *e)
{
    for (uint64_t done = 0; done < n;) {
        uint64_t want = n - done < PIECE ? n - done : PIECE;
        ssize_t r = write(io->fd, (const char *)buf + done, want);
        if (r < 0) {
            if (errno == EINTR)
                continue;
            return write_failed(io, io->pos, e);
        }
        done += (uint64_t)r;
        io->pos += (uint64_t)r;
    }
    return 0;
}

int gnn_io_pwrite(struct gnn_io *io, const void *buf, uint64_t n, uint64_t at, struct gnn_err *e)
{
    for (uint64_t done = 0; done < n;) {
        uint64_t want = n - done < (64u << 20) ? n - done : 64u << 20;
        ssize_t r = pwrite(io->fd, (const char *)buf + done, want, (off_t)(at + done));
        if (r < 0) {
            if (errno == EINTR)
                continue;
            return write_failed(io, at + done, e);
        }
        done += (uint64_t)r;
    }
    return 0;
}

int gnn_io_close(struct gnn_io *io, bool sync, struct gnn_err *e)
{
    int rc = 0, fd = io->fd;
    io->fd = -1;
    /* Pipes, devices and some network file systems cannot be synced; that is no failure of the
     * write. */
    if (sync && fsync(fd) && errno != EINVAL && errno != EROFS && errno != ENOTSUP)
        rc = gnn_fail_errno(e, "%s: cannot flush to disk", io->name);
    if (close(fd) && errno != EINTR && !rc)
        rc = gnn_fail_errno(e, "%s: cannot close", io->name);
    return rc;
}

int gnn_io_sync_dir(const char *dir, struct gnn_err *e)
{
    struct gnn_io io = {.fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .name = dir};
    if (io.fd < 0 && errno == EACCES)
        return 0; /* a directory to write to but not to look into */
    return io.fd < 0 ? gnn_fail_errno(e, "%s: cannot open", dir) : gnn_io_close(&io, true, e);
}

int gnn_io_sync_parent(const char *path, struct gnn_err *e)
{
    char *copy = gnn_strdup(path, e);
    int rc = copy ? gnn_io_sync_dir(dirname(copy), e) : e->code;
    gnn_free(copy);
    return rc;
}
