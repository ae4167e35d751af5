/* SPDX-License-Identifier: Apache-2.0 */
/* Results that appear atomically (lib/base/temp.h). `gate` is the lock that everything here takes:
 * whoever holds it may create names, and gnn_temp_abort takes it for good, so that nothing is
 * created after the removal. Names, then removing, making, locking, and last what gives a result
 * its name. */
#include "lib/base/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/io.h"
#include "lib/base/mem.h"
#include "lib/base/path.h"
#include "lib/base/temp_files.h"

enum { DIGITS = 16, SUFFIX = 5 + DIGITS, LINKS_MAX = 40, TRIES = 100, OWNER_MAX = 128 };

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static struct gnn_temp *live;

void gnn_temp_enter(void)
{
    pthread_mutex_lock(&gate);
}

void gnn_temp_leave(void)
{
    pthread_mutex_unlock(&gate);
}

/* ---- names ---- */

static char *parent_of(const char *path, struct gnn_err *e)
{
    const char *base = gnn_base_name(path);
    return base == path ? gnn_strdup(".", e) : gnn_strf(e, "%.*s", (int)(base - path), path);
}

/* As much of a long name as leaves space for the suffix. */
static int stem_length(const char *base)
{
    const size_t n = strlen(base);
    return (int)(n < NAME_MAX - SUFFIX ? n : NAME_MAX - SUFFIX);
}

static char *random_name(const char *path, struct gnn_err *e)
{
    const char *base = gnn_base_name(path);
    uint64_t x;
    if (getrandom(&x, sizeof x, 0) != (ssize_t)sizeof x) {
        gnn_fail_errno(e, "%s: no random number for a temporary name", path);
        return NULL;
    }
    return gnn_strf(e, "%.*s%.*s.tmp.%016llx", (int)(base - path), path, stem_length(base), base,
                    (unsigned long long)x);
}

/* Whether `name` is one that random_name gives for `base`. */
static bool is_temp_of(const char *name, const char *base)
{
    const int n = stem_length(base);
    if (strncmp(name, base, (size_t)n) != 0 || strncmp(name + n, ".tmp.", 5) != 0 ||
        strlen(name + n) != SUFFIX)
        return false;
    return strspn(name + n + 5, "0123456789abcdef") == DIGITS;
}

/* Cuts slashes off the end of a directory's name; a file's may not have one. */
static int end_name(char *path, bool dir, const char *given, struct gnn_err *e)
{
    size_t n = strlen(path);
    if (!dir && n && path[n - 1] == '/')
        return gnn_fail(e, GNN_E_USAGE, "%s: ends with a slash, but the output is a file", given);
    while (n > 1 && path[n - 1] == '/')
        path[--n] = 0;
    return 0;
}

/* What the link at `path` points to, seen from the directory of `path`; NULL without an error if it
 * is no link. */
static char *link_target(const char *path, struct gnn_err *e)
{
    char to[PATH_MAX];
    const ssize_t n = readlink(path, to, sizeof to - 1);
    if (n < 0)
        return NULL;
    to[n] = 0;
    return *to == '/' ? gnn_strdup(to, e)
                      : gnn_strf(e, "%.*s%s", (int)(gnn_base_name(path) - path), path, to);
}

/* Of a name that nothing has yet: where its links lead. */
static char *follow_dangling(char *at, bool dir, const char *given, struct gnn_err *e)
{
    for (int i = 0; i < LINKS_MAX; i++) {
        char *to = link_target(at, e);
        if (!to && !e->code)
            return at;
        gnn_free(at);
        at = to;
        if (!at || end_name(at, dir, given, e)) {
            gnn_free(at);
            return NULL;
        }
    }
    gnn_free(at);
    errno = ELOOP;
    gnn_fail_errno(e, "%s: cannot create", given);
    return NULL;
}

char *gnn_temp_target(const char *path, bool dir, struct gnn_err *e)
{
    struct stat st;
    char *at = gnn_strdup(path, e);
    if (!at || end_name(at, dir, path, e)) {
        gnn_free(at);
        return NULL;
    }
    errno = 0;
    char *real =
        stat(at, &st)
            ? NULL
            : realpath(at, NULL); /* stat: the kernel may refuse links that realpath would follow */
    if (!real && errno == ENOENT)
        return follow_dangling(at, dir, path, e);
    gnn_free(at);
    if (!real) {
        gnn_fail_errno(e, "%s: cannot create", path);
        return NULL;
    }
    at = gnn_strdup(real, e);
    free(real);
    return at;
}

/* ---- removing ---- */

/* Whether the temporary name is still that of what was made: another program may have put its own
 * file there. */
static bool is_own(const struct gnn_temp *t)
{
    struct stat st, now;
    return !fstat(t->fd, &st) && !lstat(t->name, &now) && st.st_dev == now.st_dev &&
           st.st_ino == now.st_ino;
}

static void remove_temp(const struct gnn_temp *t)
{
    if (!t->name || !is_own(t))
        return;
    if (t->dir)
        gnn_temp_remove_dir(AT_FDCWD, t->name);
    else
        unlink(t->name);
}

/* Removes an incomplete result that a killed process left behind: nobody holds its lock. Its name
 * must still belong to the file that was locked here, because an owner that was faster has renamed
 * it, and then the name is that of the old store that it replaced. */
static bool remove_stale(int dir, const char *name, void *base)
{
    struct stat st, now;
    if (!is_temp_of(name, base))
        return true;
    const int how = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    int fd = openat(dir, name, O_RDWR | how); /* NFS locks only what can be written */
    if (fd < 0 && errno == EISDIR)
        fd = openat(dir, name, O_RDONLY | how);
    if (fd >= 0 && !fstat(fd, &st) && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) &&
        !flock(fd, LOCK_EX | LOCK_NB) && !fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) &&
        now.st_dev == st.st_dev && now.st_ino == st.st_ino) {
        if (S_ISDIR(st.st_mode))
            gnn_temp_remove_dir(dir, name);
        else
            unlinkat(dir, name, 0);
    }
    if (fd >= 0)
        close(fd);
    return true;
}

/* ---- making ---- */

/* Locks what was just created. False if another process is about to remove it, which took it for
 * left over in the moment before it was locked. */
static bool lock_new(int fd)
{
    struct stat st;
    if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return false; /* where locks do not work at all, nothing is taken for left over either */
    return !fstat(fd, &st) && st.st_nlink > 0;
}

static int make_file(const char *name)
{
    return open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

static int make_dir(const char *name)
{
    if (mkdir(name, 0777))
        return -1;
    const int fd = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), sys = errno;
    if (fd < 0)
        rmdir(name);
    errno = sys == ENOENT
                ? EEXIST
                : sys; /* removed meanwhile, by one who took it for left over: another name */
    return fd;
}

/* Makes it under a name of its own. */
static int make_named(struct gnn_temp *t, struct gnn_err *e)
{
    for (int i = 0; i < TRIES; i++) {
        if (!(t->name = random_name(t->path, e)))
            return e->code;
        t->fd = t->dir ? make_dir(t->name) : make_file(t->name);
        if (t->fd < 0 && errno != EEXIST)
            break;
        if (t->fd >= 0 && lock_new(t->fd))
            return 0;
        if (t->fd >= 0) {
            remove_temp(t);
            close(t->fd);
            t->fd = -1;
        }
        gnn_free(t->name);
        t->name = NULL;
    }
    gnn_fail_errno(e, "%s: cannot create", t->path);
    gnn_free(t->name);
    t->name = NULL;
    return e->code;
}

/* A descriptor of a file without a name. It can get one later, unless `flags` has O_EXCL. -1 if the
 * file system, or a /proc that is not mounted, does not allow that. */
static int make_nameless(const char *dir, int flags)
{
    char self[64];
    const int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | flags, flags ? 0600 : 0666);
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    if (fd < 0 || flags || !access(self, F_OK))
        return fd;
    close(fd);
    errno = EOPNOTSUPP;
    return -1;
}

static bool is_unsupported(int sys)
{
    return sys == EOPNOTSUPP || sys == EISDIR || sys == EINVAL;
}

/* ---- who may read it ---- */

/* What replaces a file or a store may be read by those who might read that: it gets its mode and,
 * as far as the system permits, its owner. Files of a store get the mode of the old store.json,
 * those of a partition of DGL that of the old orig_nids.dgl. `also`: what this process needs until
 * the result is complete. */
static void take_mode(const struct gnn_temp *t, mode_t also)
{
    struct stat old, file;
    if (lstat(t->path, &old) || (t->dir ? !S_ISDIR(old.st_mode) : !S_ISREG(old.st_mode)))
        return;
    (void)!fchown(t->fd, old.st_uid, old.st_gid); /* before the mode, which it may change */
    (void)!fchmod(t->fd, (old.st_mode & 0777) | also);
    const int dir = t->dir && !also ? open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (dir >= 0 && (!fstatat(dir, "store.json", &file, AT_SYMLINK_NOFOLLOW) ||
                     !fstatat(dir, "orig_nids.dgl", &file, AT_SYMLINK_NOFOLLOW)))
        gnn_temp_set_modes(t->fd, file.st_mode & 0777);
    if (dir >= 0)
        close(dir);
}

static int begin_file(struct gnn_temp *t, const char *dir, struct gnn_err *e)
{
    const int parent = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent >= 0) {
        gnn_temp_each(parent, remove_stale, (void *)(uintptr_t)gnn_base_name(t->path));
        close(parent);
    }
    t->fd = t->dir ? -1 : make_nameless(dir, 0);
    if (t->fd >= 0) {
        (void)flock(t->fd, LOCK_EX | LOCK_NB); /* for the moment in which it may have a name */
        return 0;
    }
    if (!t->dir && !is_unsupported(errno))
        return gnn_fail_errno(e, "%s: cannot create", t->path);
    return make_named(t, e);
}

static struct gnn_temp *temp_new(const char *path, bool dir, struct gnn_err *e)
{
    struct gnn_temp *t = gnn_alloc_zero(1, sizeof *t, "a result's name", e);
    if (!t)
        return NULL;
    t->dir = dir;
    t->fd = -1;
    if ((t->path = gnn_strdup(path, e)))
        return t;
    gnn_free(t);
    return NULL;
}

static void temp_release(struct gnn_temp *t)
{
    if (t->fd >= 0)
        close(t->fd);
    gnn_free(t->name);
    gnn_free(t->path);
    gnn_free(t);
}

static struct gnn_temp *temp_begin(const char *path, bool dir, struct gnn_err *e)
{
    char *parent = parent_of(path, e);
    struct gnn_temp *t = parent ? temp_new(path, dir, e) : NULL;
    if (t) {
        gnn_temp_enter();
        if (!begin_file(t, parent, e)) {
            take_mode(t, dir ? 0700 : 0600);
            t->next = live;
            live = t;
        }
        gnn_temp_leave();
    }
    gnn_free(parent);
    if (!t || !e->code)
        return t;
    temp_release(t);
    return NULL;
}

struct gnn_temp *gnn_temp_file(const char *path, struct gnn_err *e)
{
    struct stat st;
    if (lstat(path, &st) || S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
        return temp_begin(path, false, e);
    gnn_fail(e, GNN_E_RUN, "%s: not a regular file: cannot be replaced", path);
    return NULL;
}

/* What is there and cannot be renamed over, written to directly. */
static struct gnn_temp *open_node(const char *path, struct gnn_err *e)
{
    struct gnn_temp *t = temp_new(path, false, e);
    if (!t)
        return NULL;
    t->direct = true;
    t->fd = open(path, O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);
    if (t->fd < 0)
        gnn_fail_errno(e, "%s: cannot open", path);
    else if (isatty(t->fd))
        gnn_fail(e, GNN_E_USAGE, "refusing to write binary data to a terminal");
    if (!e->code)
        return t;
    temp_release(t);
    return NULL;
}

struct gnn_temp *gnn_temp_output(const char *path, int *fd, struct gnn_err *e)
{
    struct stat st;
    const bool there = !stat(path, &st);
    if (there && S_ISDIR(st.st_mode)) {
        gnn_fail(e, GNN_E_USAGE, "%s: is a directory; the result is a file", path);
        return NULL;
    }
    const bool direct = there && (!S_ISREG(st.st_mode) || !st.st_nlink);
    char *target = direct ? NULL : gnn_temp_target(path, false, e);
    struct gnn_temp *t = direct ? open_node(path, e) : target ? gnn_temp_file(target, e) : NULL;
    gnn_free(target);
    if (!t || (*fd = fcntl(t->fd, F_DUPFD_CLOEXEC, 3)) >= 0)
        return t;
    gnn_fail_errno(e, "%s: cannot create", path);
    gnn_temp_free(t);
    return NULL;
}

struct gnn_temp *gnn_temp_dir(const char *path, struct gnn_err *e)
{
    return temp_begin(path, true, e);
}

int gnn_temp_scratch(const char *path, struct gnn_err *e)
{
    char *parent = parent_of(path, e);
    struct gnn_temp *t = parent ? temp_new(path, false, e) : NULL;
    int fd = -1;
    if (t) {
        gnn_temp_enter();
        t->fd = make_nameless(parent, O_EXCL);
        if (t->fd < 0 && !is_unsupported(errno))
            gnn_fail_errno(e, "%s: cannot create a temporary file", path);
        else if (t->fd < 0 && !make_named(t, e))
            remove_temp(t);
        gnn_temp_leave();
        fd = t->fd;
        t->fd = -1;
        temp_release(t);
    }
    gnn_free(parent);
    return fd;
}

/* ---- a lock ---- */

/* Whether a file is a lock: it has no second name, and holds what write_owner writes, or nothing
 * yet. Everything else is data, whose name is the same by chance. */
static bool is_lock(int fd, const struct stat *st)
{
    char text[OWNER_MAX + 1] = "";
    long process;
    int end = 0;
    const ssize_t n = pread(fd, text, sizeof text, 0);
    if (st->st_nlink > 1 || n < 0 || n > OWNER_MAX || memchr(text, '\n', (size_t)n))
        return false;
    return !n || (sscanf(text, "process %ld on %n", &process, &end) == 1 && end > 0);
}

/* False if another process holds the lock, or has just removed the file: *gone says which. */
static bool try_lock(struct gnn_temp *t, bool *gone, struct gnn_err *e)
{
    struct stat st;
    *gone = false;
    t->fd = open(t->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (t->fd < 0 || fstat(t->fd, &st)) {
        if (t->fd < 0 && (errno == ELOOP || errno == EISDIR))
            gnn_fail(e, GNN_E_RUN, "%s: not a regular file: cannot be locked", t->path);
        else
            gnn_fail_errno(e, "%s: cannot create", t->path);
        return false;
    }
    if (!S_ISREG(st.st_mode)) {
        gnn_fail(e, GNN_E_RUN, "%s: not a regular file: cannot be locked", t->path);
        return false;
    }
    if (!is_lock(t->fd, &st)) {
        gnn_fail(e, GNN_E_RUN,
                 "%s: not a lock, but a file with other contents or with a second name: move it, "
                 "or name another directory",
                 t->path);
        return false;
    }
    if (lock_new(t->fd))
        return true;
    *gone = fstat(t->fd, &st) || !st.st_nlink;
    return false;
}

static void write_owner(const struct gnn_temp *t, struct gnn_err *e)
{
    char text[OWNER_MAX], host[64] = "";
    (void)gethostname(host, sizeof host - 1);
    const int n = snprintf(text, sizeof text, "process %ld on %s", (long)getpid(), host);
    struct gnn_io io = {.fd = t->fd, .name = t->path};
    if (ftruncate(t->fd, 0))
        gnn_fail_errno(e, "%s: cannot write", t->path);
    else
        (void)!gnn_io_pwrite(&io, text, (uint64_t)n, 0, e);
}

struct gnn_temp *gnn_temp_lock(const char *path, char who[256], struct gnn_err *e)
{
    struct gnn_temp *t = temp_new(path, false, e);
    bool gone = true, mine = false;
    *who = 0;
    if (!t)
        return NULL;
    gnn_temp_enter();
    for (int i = 0; gone && !mine && !e->code && i < TRIES; i++) {
        if (t->fd >= 0)
            close(t->fd);
        mine = try_lock(t, &gone, e);
    }
    if (mine && (t->name = gnn_strdup(path, e))) {
        t->next = live;
        live = t;
    }
    gnn_temp_leave();
    if (mine && t->name)
        write_owner(t, e);
    if (mine && !e->code)
        return t;
    const ssize_t n = t->fd < 0 || e->code ? 0 : pread(t->fd, who, 255, 0);
    who[n > 0 ? n : 0] = 0;
    gnn_temp_free(t);
    return NULL;
}

/* ---- the end ---- */

/* Gives a name to a file that has none: its final one if that is free, else a temporary one, from
 * which it can be renamed over the old file. linkat(2) itself replaces nothing. */
static int name_file(struct gnn_temp *t, struct gnn_err *e)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", t->fd);
    if (!linkat(AT_FDCWD, self, AT_FDCWD, t->path, AT_SYMLINK_FOLLOW))
        return 0;
    for (int i = 0; errno == EEXIST && i < TRIES; i++) {
        if (!(t->name = random_name(t->path, e)))
            return e->code;
        if (!linkat(AT_FDCWD, self, AT_FDCWD, t->name, AT_SYMLINK_FOLLOW))
            return 0;
        const int sys = errno;
        gnn_free(t->name);
        t->name = NULL;
        errno = sys;
    }
    return gnn_fail_errno(e, "%s: cannot give the file its name", t->path);
}

static int place_file(struct gnn_temp *t, struct gnn_err *e)
{
    if (!t->name && name_file(t, e))
        return e->code;
    return t->name && rename(t->name, t->path)
               ? gnn_fail_errno(e, "%s: cannot rename from %s", t->path, t->name)
               : 0;
}

/* Of an old directory, which is not gone. */
static int fail_removed(const struct gnn_temp *t, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_RUN,
                    "%s: complete, but what it replaced cannot be removed: it is %s now", t->path,
                    t->name);
}

static int place_dir(struct gnn_temp *t, bool replace, struct gnn_err *e)
{
    for (int i = 0; i < TRIES; i++) {
        /* Exchanging two directories is atomic: at no moment is there no store under the name. */
        int rc = renameat2(AT_FDCWD, t->name, AT_FDCWD, t->path, RENAME_NOREPLACE);
        if (rc && errno == EINVAL) /* a file system without such flags, as NFS: what is empty at
                                      most is replaced */
            rc = rename(t->name, t->path);
        if (!rc)
            return 0;
        if (!replace || (errno != EEXIST && errno != ENOTEMPTY))
            break;
        if (!renameat2(AT_FDCWD, t->name, AT_FDCWD, t->path, RENAME_EXCHANGE)) {
            (void)!chmod(t->name, 0700); /* what has this name now is the old one */
            gnn_temp_remove_dir(AT_FDCWD, t->name);
            return access(t->name, F_OK) ? 0 : fail_removed(t, e);
        }
        if (errno == EINVAL)
            return gnn_fail(e, GNN_E_RUN,
                            "%s: cannot be replaced on this file system; remove it first", t->path);
        if (errno != ENOENT)
            break;
    }
    return gnn_fail_errno(e, "%s: cannot rename from %s", t->path, t->name);
}

int gnn_temp_commit(struct gnn_temp *t, bool replace, struct gnn_err *e)
{
    if (t->direct)
        return 0;
    gnn_temp_enter();
    take_mode(t, 0);
    const int rc = t->dir ? place_dir(t, replace, e) : place_file(t, e);
    if (!rc) {
        gnn_free(t->name);
        t->name = NULL;
    }
    /* After the rename: the file is complete, and syncing the directory may take long. */
    gnn_temp_leave();
    return rc ? rc : gnn_io_sync_parent(t->path, e);
}

void gnn_temp_free(struct gnn_temp *t)
{
    if (!t)
        return;
    gnn_temp_enter();
    for (struct gnn_temp **at = &live; *at; at = &(*at)->next)
        if (*at == t) {
            *at = t->next;
            break;
        }
    remove_temp(t);
    gnn_temp_leave();
    temp_release(t);
}

/* It never leaves the gate, as the process is about to end. A thread that holds it for more than a
 * second is doing the same, or is in a system call that does not return. */
static const char *_Atomic tentative; /* or NULL */

void gnn_temp_tentative(const char *path)
{
    tentative = path;
}

void gnn_temp_abort(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    if (pthread_mutex_timedlock(&gate, &until))
        return;
    for (const struct gnn_temp *t = live; t; t = t->next)
        remove_temp(t);
    if (tentative)
        gnn_temp_remove_dir(AT_FDCWD, tentative);
}
