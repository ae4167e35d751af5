/* SPDX-License-Identifier: Apache-2.0 */
/* LD_PRELOAD library that makes the k-th call of a kind fail, for tests; or pages larger.
 *   FAULT_OP        malloc, write, read, fsync, rename, close, mmap, mprotect, fallocate, memfd,
 *                   socket, send, flock, nanosleep, share: mmap of a file to be written to, or
 *                   ask: madvise for pages that will be needed
 *   FAULT_N         which call fails, from 1; 0 or unset: none, only counting
 *   FAULT_ERR       errno of the failure (default ENOSPC; memory: always ENOMEM)
 *   FAULT_STICKY=1  all later calls fail too
 *   FAULT_SHORT=1   instead of failing, writes and reads do only half
 *   FAULT_FLIP=1    instead of failing, pwrite and pread flip a bit in the middle of what they
 * move, and `share' one in the middle of what was mapped so before FAULT_KILL=1    SIGKILL at that
 * call FAULT_SIGNAL=N  instead of failing, the process gets signal N before the call FAULT_SLOW=S
 * instead of failing, the call begins S seconds later FAULT_NAMED=1   no file is made without a
 * name (O_TMPFILE), as on NFS FAULT_PAGE=N    pages have N bytes, as on some ARM machines: calls of
 * ours that map, unmap, protect or advise memory fail and count if they do not begin with a page
 *   FAULT_MEMORY=N  the system has N bytes of memory, as ours are told
 *   FAULT_TRACE=1   prints the stack of the call that fails (addr2line or gdb tell the lines)
 *   FAULT_COUNT     file to which the number of calls is written at the end
 * Calls of malloc by libraries that abort by design when memory is out (C++ and OpenMP run-time) do
 * not count, nor do those before main. read and write count on descriptors above 2 and on pipes. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* glibc's own names of the allocator: no dlsym, hence no recursion. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

enum { MAX_RANGES = 64 };
static struct {
    uintptr_t from, to;
} exempt[MAX_RANGES];
static int nexempt;

static char op[16];
static long when;
static int code = ENOSPC;
static size_t page, page_here, memory;
static bool sticky, halve, flip, kill_self, trace, named, ready;
static unsigned slow;
static int sent;
static const char *count_file;
static atomic_long calls;

static int note_exempt(struct dl_phdr_info *info, size_t size, void *arg)
{
    static const char *const names[] = {"libgomp", "libdnnl",  "libstdc++",
                                        "libtbb",  "ld-linux", "libOpenCL"};
    (void)size;
    (void)arg;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strstr(info->dlpi_name, names[i]))
            continue;
        for (int j = 0; j < info->dlpi_phnum; j++) {
            const ElfW(Phdr) *p = &info->dlpi_phdr[j];
            if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && nexempt < MAX_RANGES) {
                exempt[nexempt].from = info->dlpi_addr + p->p_vaddr;
                exempt[nexempt++].to = info->dlpi_addr + p->p_vaddr + p->p_memsz;
            }
        }
    }
    return 0;
}

__attribute__((constructor)) static void start(void)
{
    const char *s;
    if ((s = getenv("FAULT_OP")))
        snprintf(op, sizeof op, "%s", s);
    if ((s = getenv("FAULT_N")))
        when = strtol(s, NULL, 10);
    if ((s = getenv("FAULT_ERR")))
        code = (int)strtol(s, NULL, 10);
    if ((s = getenv("FAULT_SLOW")))
        slow = (unsigned)strtoul(s, NULL, 10);
    if ((s = getenv("FAULT_PAGE")))
        page = strtoul(s, NULL, 10);
    if ((s = getenv("FAULT_MEMORY")))
        memory = strtoul(s, NULL, 10);
    page_here = getauxval(AT_PAGESZ);
    if ((s = getenv("FAULT_SIGNAL")))
        sent = (int)strtol(s, NULL, 10);
    sticky = getenv("FAULT_STICKY") != NULL;
    halve = getenv("FAULT_SHORT") != NULL;
    flip = getenv("FAULT_FLIP") != NULL;
    kill_self = getenv("FAULT_KILL") != NULL;
    trace = getenv("FAULT_TRACE") != NULL;
    named = getenv("FAULT_NAMED") != NULL;
    count_file = getenv("FAULT_COUNT");
    dl_iterate_phdr(note_exempt, NULL);
}

static int (*real_main)(int, char **, char **);
static int main_counted(int argc, char **argv, char **env)
{
    ready = true;
    return real_main(argc, argv, env);
}
typedef int start_main(int (*main)(int, char **, char **), int argc, char **argv,
                       void (*init)(void), void (*fini)(void), void (*rtld_fini)(void),
                       void *stack_end);
start_main __libc_start_main;
/* The initialisers of libraries, also of those linked in, as CUDA's run-time, come before. */
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    start_main *next;
    *(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = main;
    return next(main_counted, argc, argv, init, fini, rtld_fini, stack_end);
}

__attribute__((destructor)) static void finish(void)
{
    if (!count_file)
        return;
    char line[32];
    size_t n = (size_t)snprintf(line, sizeof line, "%ld\n", atomic_load(&calls));
    int fd = (int)syscall(SYS_openat, AT_FDCWD, count_file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd >= 0) {
        syscall(SYS_write, fd, line, n);
        syscall(SYS_close, fd);
    }
}

static void print_stack(void)
{
    void *frame[32];
    if (!trace)
        return;
    ready = false; /* backtrace itself may allocate */
    backtrace_symbols_fd(frame, backtrace(frame, 32), 2);
    ready = true;
}

/* Counts a call of kind `what`; true if it is to fail. */
static bool hit(const char *what)
{
    if (!ready || strcmp(what, op) != 0)
        return false;
    long c = atomic_fetch_add(&calls, 1) + 1;
    if (when <= 0 || !(c == when || (sticky && c > when)))
        return false;
    print_stack();
    if (kill_self)
        syscall(SYS_kill, getpid(), SIGKILL);
    if (sent)
        syscall(SYS_kill, getpid(), sent);
    if (slow)
        sleep(slow);
    return !slow && !sent;
}

static bool is_exempt(void *caller)
{
    const uintptr_t a = (uintptr_t)caller;
    for (int i = 0; i < nexempt; i++)
        if (a >= exempt[i].from && a < exempt[i].to)
            return true;
    return false;
}

/* A wish for memory, unless it comes from a library that cannot be refused. */
static bool hit_memory(const char *what, void *caller)
{
    return ready && !strcmp(op, what) && !is_exempt(caller) && hit(what);
}

static bool data_fd(int fd)
{
    struct stat st;
    return fd > 2 || (syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) == 0 &&
                      !S_ISCHR(st.st_mode) && fd != 2);
}

#define CALLER __builtin_return_address(0)

#ifndef SANITIZED /* a sanitizer has its own allocator */
void *malloc(size_t n)
{
    if (hit_memory("malloc", CALLER)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_malloc(n);
}
void *calloc(size_t n, size_t size)
{
    if (hit_memory("malloc", CALLER)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_calloc(n, size);
}
void *realloc(void *p, size_t n)
{
    if (hit_memory("malloc", CALLER)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_realloc(p, n);
}
int posix_memalign(void **p, size_t align, size_t n)
{
    if (hit_memory("malloc", CALLER))
        return ENOMEM;
    void *q = __libc_memalign(align, n);
    if (!q)
        return ENOMEM;
    *p = q;
    return 0;
}
void *aligned_alloc(size_t align, size_t n)
{
    if (hit_memory("malloc", CALLER)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_memalign(align, n);
}
#endif

/* ---- pages larger than the system's ---- */

static size_t whole_pages(size_t n)
{
    return (n + page - 1) / page * page;
}

/* Where pages have another size than here, and so for these callers; libraries that map memory have
 * sizes of pages of their own. */
static bool has_page(void *caller)
{
    return page && ready && !is_exempt(caller);
}

/* Whether `at`, an address or a place in a file, is within a page: the call fails. */
static bool splits_page(uint64_t at)
{
    if (at % page == 0)
        return false;
    atomic_fetch_add(&calls, 1);
    print_stack();
    errno = EINVAL;
    return true;
}

/* Where the system chooses: at the start of a page, and nothing else is in the last one. */
static char *find_place(size_t n)
{
    const size_t capacity = whole_pages(n) + page;
    const uintptr_t p = (uintptr_t)syscall(SYS_mmap, NULL, capacity, PROT_NONE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == (uintptr_t)MAP_FAILED)
        return NULL;
    const size_t before = whole_pages(p) - p;
    if (before)
        syscall(SYS_munmap, p, before);
    syscall(SYS_munmap, p + before + whole_pages(n), page - before);
    return (char *)p + before;
}

static void *map_pages(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
    if (splits_page((uint64_t)off) || (flags & MAP_FIXED && splits_page((uintptr_t)at)))
        return MAP_FAILED;
    if (!(flags & MAP_FIXED) && !(at = find_place(n)))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, n, prot, flags | MAP_FIXED, fd, off);
}

/* Files that are mapped to be written to: what is in the last one may be damaged. */
static char *shared;
static size_t shared_bytes;
static void note_shared(void *at, size_t n)
{
    if (hit("share") && shared)
        shared[shared_bytes / 2] ^= 16;
    shared = at;
    shared_bytes = n;
}

/* Anonymous memory of our programs may come from mmap; files are mapped too. */
static void *map_for(void *caller, void *at, size_t n, int prot, int flags, int fd, off_t off)
{
    if (hit_memory("mmap", caller)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void *p = has_page(caller) ? map_pages(at, n, prot, flags, fd, off)
                               : (void *)syscall(SYS_mmap, at, n, prot, flags, fd, off);
    if (flags & MAP_SHARED && prot & PROT_WRITE && p != MAP_FAILED)
        note_shared(p, n);
    return p;
}
void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
    return map_for(CALLER, at, n, prot, flags, fd, off);
}
void *mmap64(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
    return map_for(CALLER, at, n, prot, flags, fd, off);
}

int munmap(void *at, size_t n)
{
    if (at == shared)
        shared = NULL;
    if (!has_page(CALLER))
        return (int)syscall(SYS_munmap, at, n);
    return splits_page((uintptr_t)at) ? -1 : (int)syscall(SYS_munmap, at, whole_pages(n));
}
int madvise(void *at, size_t n, int what)
{
    if (what == MADV_WILLNEED && hit_memory("ask", CALLER)) {
        errno = ENOMEM;
        return -1;
    }
    if (!has_page(CALLER))
        return (int)syscall(SYS_madvise, at, n, what);
    return splits_page((uintptr_t)at) ? -1 : (int)syscall(SYS_madvise, at, whole_pages(n), what);
}
int mprotect(void *at, size_t n, int prot)
{
    if (hit_memory("mprotect", CALLER)) {
        errno = ENOMEM;
        return -1;
    }
    if (!has_page(CALLER))
        return (int)syscall(SYS_mprotect, at, n, prot);
    return splits_page((uintptr_t)at) ? -1 : (int)syscall(SYS_mprotect, at, whole_pages(n), prot);
}
long sysconf(int what)
{
    static long (*next)(int);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "sysconf");
    if (memory && what == _SC_PHYS_PAGES)
        return (long)(memory / (page ? page : page_here));
    if (!has_page(CALLER))
        return next(what);
    return what == _SC_PAGESIZE     ? (long)page
           : what == _SC_PHYS_PAGES ? next(what) / (long)(page / page_here)
                                    : next(what);
}

/* Whether this call fails; a short one is done with half the bytes instead. */
static bool fails(const char *what, size_t *n)
{
    if (!hit(what))
        return false;
    if (halve) {
        if (*n > 1)
            *n /= 2;
        return false;
    }
    errno = code;
    return true;
}

ssize_t write(int fd, const void *b, size_t n)
{
    if (!flip && data_fd(fd) && fails("write", &n))
        return -1;
    return syscall(SYS_write, fd, b, n);
}
/* Whether this call flips a bit. */
static bool flips(const char *what, int fd, size_t n)
{
    struct stat st;
    return flip && n && syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) == 0 && !st.st_nlink &&
           hit(what);
}
/* As pwrite on a faulty disk, which then holds something else. The copy suits direct I/O. */
static ssize_t write_flipped(int fd, const void *b, size_t n, off_t at)
{
    char *copy = __libc_memalign(4096, n);
    memcpy(copy, b, n);
    copy[n / 2] ^= 16;
    const long done = syscall(SYS_pwrite64, fd, copy, n, at);
    free(copy);
    return done;
}
ssize_t pwrite(int fd, const void *b, size_t n, off_t at)
{
    if (flips("write", fd, n))
        return write_flipped(fd, b, n, at);
    if (!flip && fails("write", &n))
        return -1;
    return syscall(SYS_pwrite64, fd, b, n, at);
}
ssize_t pwrite64(int fd, const void *b, size_t n, off_t at)
{
    return pwrite(fd, b, n, at);
}
ssize_t writev(int fd, const struct iovec *v, int n)
{
    size_t one = 1;
    if (data_fd(fd) && fails("write", &one))
        return -1;
    return syscall(SYS_writev, fd, v, n);
}
ssize_t read(int fd, void *b, size_t n)
{
    if (!flip && fails("read", &n))
        return -1;
    return syscall(SYS_read, fd, b, n);
}
ssize_t pread(int fd, void *b, size_t n, off_t at)
{
    const bool damaged = flips("read", fd, n);
    if (!flip && fails("read", &n))
        return -1;
    const long done = syscall(SYS_pread64, fd, b, n, at);
    if (damaged && done > 0)
        ((char *)b)[done / 2] ^= 16;
    return done;
}
ssize_t pread64(int fd, void *b, size_t n, off_t at)
{
    return pread(fd, b, n, at);
}
int fallocate(int fd, int mode, off_t at, off_t n)
{
    size_t one = 1;
    return fails("fallocate", &one) ? -1 : (int)syscall(SYS_fallocate, fd, mode, at, n);
}
int fallocate64(int fd, int mode, off_t at, off_t n)
{
    return fallocate(fd, mode, at, n);
}
int fsync(int fd)
{
    size_t one = 1;
    return fails("fsync", &one) ? -1 : (int)syscall(SYS_fsync, fd);
}
int fdatasync(int fd)
{
    size_t one = 1;
    return fails("fsync", &one) ? -1 : (int)syscall(SYS_fdatasync, fd);
}
int rename(const char *a, const char *b)
{
    size_t one = 1;
    return fails("rename", &one) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 0);
}
int renameat2(int da, const char *a, int db, const char *b, unsigned flags)
{
    size_t one = 1;
    return fails("rename", &one) ? -1 : (int)syscall(SYS_renameat2, da, a, db, b, flags);
}
/* A file without a name gets one: renamed from nowhere. */
int linkat(int da, const char *a, int db, const char *b, int flags)
{
    size_t one = 1;
    return fails("rename", &one) ? -1 : (int)syscall(SYS_linkat, da, a, db, b, flags);
}
static bool refused(int flags)
{
    const bool no = named && (flags & O_TMPFILE) == O_TMPFILE;
    errno = no ? EOPNOTSUPP : errno;
    return no;
}
int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    return refused(flags) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    return open(path, flags | O_LARGEFILE, mode);
}
int flock(int fd, int how)
{
    size_t one = 1;
    return fails("flock", &one) ? -1 : (int)syscall(SYS_flock, fd, how);
}
int nanosleep(const struct timespec *t, struct timespec *left)
{
    size_t one = 1;
    return fails("nanosleep", &one) ? -1 : (int)syscall(SYS_nanosleep, t, left);
}
/* Linux has released the descriptor even when close fails. */
int close(int fd)
{
    size_t one = 1;
    bool bad = fails("close", &one);
    int rc = (int)syscall(SYS_close, fd);
    if (bad)
        errno = code;
    return bad ? -1 : rc;
}
int memfd_create(const char *name, unsigned flags)
{
    size_t one = 1;
    return fails("memfd", &one) ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}
int socket(int domain, int type, int protocol)
{
    size_t one = 1;
    return fails("socket", &one) ? -1 : (int)syscall(SYS_socket, domain, type, protocol);
}
ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
    size_t one = 1;
    return fails("send", &one) ? -1 : syscall(SYS_sendmsg, fd, m, flags);
}
