/* SPDX-License-Identifier: Apache-2.0 */
/* Payloads by reference: what comes is what was sent, whoever dies, stalls, lies or is not one of
 * ours. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/stream/handshake.h"
#include "lib/data/source.h"

#include "scratch.h"
#include "stream_maker.h"
#include "tap.h"
#include "lib/base/shared.h"
#include "lib/stream/transport.h"

enum { WIDTH = 64, HELD_MAX = 8 };

static struct gnn_meta meta;
static struct gnn_batch_pool *pool;

static uint32_t rows_of(uint64_t step)
{
    return (uint32_t)(5 + step * 7919 % 4000);
}

static float value(uint64_t step, uint64_t i)
{
    return (float)((step * 31 + i) % 8191);
}

static void fill(struct gnn_batch *b, uint64_t step)
{
    const uint32_t n = rows_of(step);
    uint32_t *nodes = stream_make_blocks(b, step, n);
    float *x = stream_make_tensor(b, "node/node/x", GNN_F32, n, WIDTH);
    for (uint32_t i = 0; i < n; i++)
        nodes[i] = (uint32_t)step + i;
    for (uint32_t i = 0; i < n * WIDTH; i++)
        x[i] = value(step, i);
}

static bool right(const struct gnn_batch *b, uint64_t step)
{
    const struct gnn_tensor *x = gnn_tensors_find(&b->tensors, "node/node/x");
    bool good = b->step == step && gnn_batch_nodes(b, 0) == rows_of(step) && x &&
                x->shape[0] == rows_of(step);
    for (uint64_t i = 0; good && i < (uint64_t)rows_of(step) * WIDTH; i++)
        good = ((const float *)x->data)[i] == value(step, i);
    for (uint32_t i = 0; good && i < rows_of(step); i++)
        good = b->type[0].node[i] == (uint32_t)step + i;
    return good;
}

/* Writes steps 0 to n-1; *nref of them by reference. */
static int write_stream(int fd, enum gnn_transport how, uint64_t n, uint64_t *nref,
                        struct gnn_err *e)
{
    return stream_make(fd, "out", &meta, &(struct gnn_writer_opts){.transport = how}, pool, fill, n,
                       nref, e);
}

static void pipes(int fd[2])
{
    if (pipe(fd))
        exit(99);
}

/* A child that writes n steps to fd[1]; its status is 0 if at least `want` of them went by
 * reference. */
static pid_t writer(int fd[2], enum gnn_transport how, uint64_t n, uint64_t want)
{
    const pid_t pid = fork();
    if (pid < 0)
        exit(99);
    if (!pid) {
        struct gnn_err e = {0};
        uint64_t nref;
        close(fd[0]);
        const int rc = write_stream(fd[1], how, n, &nref, &e);
        gnn_batch_pool_free(pool); /* the writer has put back what it held */
        _exit(rc ? 1 : nref < want ? 2 : 0);
    }
    close(fd[1]);
    return pid;
}

static int status_of(pid_t pid)
{
    int st;
    if (waitpid(pid, &st, 0) != pid)
        exit(99);
    return WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
}

/* Reads to the end, always holding the last `hold` batches; *n counts right ones. */
static int read_stream(int fd, int hold, uint64_t *n, struct gnn_err *e)
{
    struct gnn_batch *held[HELD_MAX] = {0}, *b;
    struct gnn_source *s = gnn_stream_source_new(fd, "in", e);
    *n = 0;
    if (!s)
        return e->code;
    int rc, at = 0;
    while (!(rc = gnn_source_next(s, &b, e))) {
        struct gnn_batch **place = &held[at++ % (hold + 1)];
        gnn_batch_put(*place);
        *place = b;
        bool good = true;
        for (int i = 0; i <= hold; i++)
            if (held[i])
                good = good && right(held[i], held[i]->step);
        *n += good && b->step == *n;
    }
    for (int i = 0; i <= hold; i++)
        gnn_batch_put(held[i]);
    gnn_source_free(s);
    return rc;
}

static void test_roundtrip(enum gnn_transport how, int hold, uint64_t want, const char *what)
{
    struct gnn_err e = {0};
    int fd[2];
    uint64_t n;
    pipes(fd);
    const pid_t pid = writer(fd, how, 60, want);
    const int rc = read_stream(fd[0], hold, &n, &e);
    ok(rc == GNN_END && n == 60, "%s gives the reader %d batches as they were sent %s", what,
       (int)n, e.msg);
    ok(status_of(pid) == 0, "%s lets the writer end well", what);
}

/* Memory given out, grown and given back. */
static void test_share(void)
{
    struct gnn_err e = {0};
    struct gnn_share *s;
    uint64_t cap, cap2, at = 1, other;
    ok(!gnn_share_new(&s, &e), "gnn_share_new makes shared memory %s", e.msg);
    char *p = gnn_share_alloc(s, 100000, 0, &cap), *q = gnn_share_alloc(s, 5, 0, &cap2);
    ok(p && q && cap >= 100000 && cap2 >= 5 && gnn_share_offset(s, q, cap2, &at) && at >= cap,
       "gnn_share_alloc gives two pieces side by side");
    memset(p, 7, cap);
    memset(q, 8, cap2);
    gnn_share_free(s, p, cap);
    struct stat st;
    ok(!fstat(gnn_share_fd(s), &st) && (uint64_t)st.st_blocks * 512 <= cap2,
       "gnn_share_free gives the memory of a piece back");
    char *r = gnn_share_alloc(s, 5000, 1000, &cap);
    ok(r == p && r[0] == 0 && q[0] == 8, "gnn_share_alloc uses a freed place again");
    const uint64_t huge = 2 << 20, most = 5 << 20;
    uint8_t *large = gnn_share_alloc(s, most, 1000, &cap);
    ok(large && (uintptr_t)large % huge == 0 && cap >= most + 1000 && cap % huge == 0,
       "gnn_share_alloc makes a large piece of whole huge pages");
    memset(large, 3, most);
    uint8_t *theirs = gnn_share_map(gnn_share_fd(s), gnn_share_window(s), PROT_READ);
    ok(theirs && (uintptr_t)theirs % huge == 0 && gnn_share_offset(s, large, most, &at) &&
           at % huge == 0 && theirs[at] == 3 && theirs[at + most - 1] == 3 &&
           theirs[at + most] == 0,
       "gnn_share_map maps the memory once more, where it shows the same");
    gnn_share_free(s, large, cap);
    ok(!fstat(gnn_share_fd(s), &st) && (uint64_t)st.st_blocks * 512 <= cap2 + 8192 && theirs &&
           theirs[at] == 0,
       "gnn_share_free gives the memory of a large piece back, in both mappings");
    ok(gnn_share_alloc(s, huge, huge, &cap) == (void *)large,
       "gnn_share_alloc uses the place of a large piece again");
    if (theirs)
        munmap(theirs, gnn_share_window(s));
    ok(!gnn_share_map(-1, huge, PROT_READ) && !gnn_share_map(gnn_share_fd(s), 0, PROT_READ),
       "gnn_share_map refuses what cannot be mapped");
    ok(!gnn_share_alloc(s, 4096, gnn_share_window(s), &cap) &&
           !gnn_share_alloc(s, UINT64_MAX, 5, &cap),
       "gnn_share_alloc gives nothing when there is no space");
    ok(!gnn_share_offset(s, &e, 1, &other) && !gnn_share_offset(s, q, gnn_share_window(s), &other),
       "gnn_share_offset knows memory that is not shared");
    ok(ftruncate(gnn_share_fd(s), 0) != 0, "gnn_share_new makes memory that cannot shrink");
    gnn_share_hold(s);
    gnn_share_drop(s);
    q[0] = 9;
    gnn_share_drop(s);
    gnn_share_drop(NULL);
}

/* A set moves into shared memory and keeps what it holds; without space it stays outside. */
static void test_tensors(void)
{
    struct gnn_err e = {0};
    struct gnn_share *s;
    struct gnn_tensors set = {0};
    struct gnn_tensor *t;
    uint64_t n = 100000, at;
    if (gnn_share_new(&s, &e) || gnn_tensors_add(&set, "a", GNN_U8, 1, &n, &t, &e))
        exit(99);
    memset(t->data, 3, n);
    gnn_tensors_share(&set, s);
    ok(!gnn_tensors_resize(&set, t, 300000, &e) && gnn_share_offset(s, t->data, 300000, &at) &&
           ((char *)t->data)[99999] == 3,
       "gnn_tensors_resize moves a tensor that grows into shared memory %s", e.msg);
    memset(t->data, 4, 300000);
    ok(!gnn_tensors_resize(&set, t, 3000000, &e) && ((char *)t->data)[299999] == 4,
       "gnn_tensors_resize grows a tensor in shared memory");
    gnn_tensors_clear(&set);
    ok(!gnn_tensors_add(&set, "b", GNN_U8, 1, &n, &t, &e) && gnn_share_offset(s, t->data, n, &at),
       "gnn_tensors_add uses the place of an earlier tensor in shared memory again");
    const uint64_t small = 10;
    ok(!gnn_tensors_add(&set, "c", GNN_U8, 1, &small, &t, &e) &&
           !gnn_share_offset(s, t->data, small, &at),
       "gnn_tensors_add leaves small tensors outside shared memory");
    const struct rlimit none = {0, RLIM_INFINITY};
    struct rlimit was;
    getrlimit(RLIMIT_FSIZE, &was);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
    const uint64_t big = 50000000;
    const int rc = gnn_tensors_add(&set, "d", GNN_U8, 1, &big, &t, &e);
    setrlimit(RLIMIT_FSIZE, &was);
    ok(!rc && !gnn_share_offset(s, t->data, big, &at),
       "gnn_tensors_resize leaves a tensor outside shared memory without space for it");
    gnn_tensors_release(&set);
    gnn_share_drop(s);
}

/* What is made outside moves there as a whole: large ones, with their sums; the rest, and what has
 * no space, stays. */
static void test_move(void)
{
    struct gnn_err e = {0};
    struct gnn_share *s;
    struct gnn_tensors set = {0};
    struct gnn_tensor *large, *small, *empty, *leased, *late;
    const uint64_t n = 100000, few = 10, nothing = 0;
    uint64_t at;
    static uint8_t theirs[100000];
    if (gnn_share_new(&s, &e) || gnn_tensors_add(&set, "large", GNN_U8, 1, &n, &large, &e) ||
        gnn_tensors_add(&set, "small", GNN_U8, 1, &few, &small, &e) ||
        gnn_tensors_add(&set, "empty", GNN_U8, 1, &nothing, &empty, &e) ||
        gnn_tensors_add(&set, "leased", GNN_U8, 1, &n, &leased, &e))
        exit(99);
    memset(large->data, 5, n);
    large->sum = 77;
    large->has_sum = true;
    leased->data = theirs;
    gnn_tensors_share(&set, s);
    gnn_tensors_move(&set);
    ok(gnn_share_offset(s, large->data, n, &at) && ((uint8_t *)large->data)[0] == 5 &&
           ((uint8_t *)large->data)[n - 1] == 5,
       "gnn_tensors_move moves a large tensor into shared memory");
    ok(large->has_sum && large->sum == 77, "gnn_tensors_move moves a tensor with its sum");
    ok(!gnn_share_offset(s, small->data, few, &at) && leased->data == theirs,
       "gnn_tensors_move leaves small and leased tensors outside");
    const void *where = large->data;
    gnn_tensors_move(&set);
    ok(large->data == where, "gnn_tensors_move leaves a tensor of shared memory where it is");
    const struct rlimit none = {0, RLIM_INFINITY};
    struct rlimit was;
    set.share = NULL; /* so that it is made outside */
    if (gnn_tensors_add(&set, "late", GNN_U8, 1, &n, &late, &e))
        exit(99);
    set.share = s;
    memset(late->data, 6, n);
    getrlimit(RLIMIT_FSIZE, &was);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
    gnn_tensors_move(&set);
    setrlimit(RLIMIT_FSIZE, &was);
    ok(!gnn_share_offset(s, late->data, n, &at) && ((uint8_t *)late->data)[n - 1] == 6,
       "gnn_tensors_move leaves a tensor outside, whole, without space for it");
    gnn_tensors_move(&set);
    ok(gnn_share_offset(s, late->data, n, &at) && ((uint8_t *)late->data)[n - 1] == 6,
       "gnn_tensors_move moves a tensor once there is space");
    gnn_tensors_release(&set);
    gnn_share_drop(s);
}

/* Readers that are not ours: the bytes in the file are those of a stream that never met a pipe. */
static void test_plain(void)
{
    struct gnn_err e = {0};
    int fd[2], file = open("plain", O_RDWR | O_CREAT | O_TRUNC, 0666);
    uint64_t nref, at = 0;
    ok(!write_stream(dup(file), GNN_TRANSPORT_AUTO, 20, &nref, &e) && !nref,
       "a writer writes no references into a file %s", e.msg);
    const uint64_t size = (uint64_t)lseek(file, 0, SEEK_END);
    uint8_t *want = malloc(size), *got = malloc(size + 1);
    if (!want || !got || pread(file, want, size, 0) != (ssize_t)size)
        exit(99);
    pipes(fd);
    const pid_t pid = writer(fd, GNN_TRANSPORT_AUTO, 20, 0);
    for (ssize_t n; (n = read(fd[0], got + at, size + 1 - at)) > 0;)
        at += (uint64_t)n;
    ok(at == size && !memcmp(want, got, size),
       "a writer writes no references into a pipe whose reader only reads");
    ok(status_of(pid) == 0, "a writer ends well when its reader only reads");
    close(fd[0]);

    /* One of ours behind another program: it reads another pipe. */
    int far[2];
    pipes(fd);
    pipes(far);
    const pid_t first = writer(fd, GNN_TRANSPORT_AUTO, 20, 0), relay = fork();
    if (!relay) {
        for (ssize_t n; (n = read(fd[0], got, size)) > 0;)
            if (write(far[1], got, (size_t)n) != n)
                _exit(1);
        _exit(0);
    }
    close(fd[0]);
    close(far[1]);
    uint64_t n;
    ok(read_stream(far[0], 0, &n, &e) == GNN_END && n == 20,
       "a relay gets and passes on a whole stream without references %s", e.msg);
    ok(status_of(first) == 0 && status_of(relay) == 0,
       "the writer and the relay of a stream end well");
    free(want);
    free(got);
    close(file);
}

/* SHM asks for a reader and says so when there is none. */
static void test_must(void)
{
    struct gnn_err e = {0};
    uint64_t nref;
    ok(write_stream(open("f", O_WRONLY | O_CREAT | O_TRUNC, 0666), GNN_TRANSPORT_SHM, 2, &nref,
                    &e) == GNN_E_USAGE,
       "a writer refuses --transport shm into a file: %s", e.msg);
    int fd[2];
    pipes(fd);
    const pid_t pid = fork();
    if (!pid) {
        char c[4096];
        close(fd[1]);
        while (read(fd[0], c, sizeof c) > 0)
            ;
        _exit(0);
    }
    close(fd[0]);
    e = (struct gnn_err){0};
    ok(write_stream(fd[1], GNN_TRANSPORT_SHM, 2, &nref, &e) == GNN_E_RUN &&
           strstr(e.msg, "accepts no references"),
       "a writer refuses --transport shm to another program: %s", e.msg);
    ok(status_of(pid) == 0, "another program sees the end of a stream that is refused");
}

/* Two streams one after the other down one pipe. */
static void test_joined(void)
{
    struct gnn_err e = {0};
    int fd[2];
    uint64_t n = 0, total = 0;
    pipes(fd);
    const pid_t pid = fork();
    if (!pid) {
        uint64_t a = 0, b = 0, c = 0;
        close(fd[0]);
        const int rc = write_stream(dup(fd[1]), GNN_TRANSPORT_SHM, 10, &a, &e) ||
                       write_stream(dup(fd[1]), GNN_TRANSPORT_INLINE, 10, &b, &e) ||
                       write_stream(fd[1], GNN_TRANSPORT_SHM, 10, &c, &e);
        _exit(rc || a < 9 || b || c < 9);
    }
    close(fd[1]);
    struct gnn_source *s = gnn_stream_source_new(fd[0], "in", &e);
    struct gnn_batch *b;
    while (s && !gnn_source_next(s, &b, &e)) {
        n += right(b, total++ % 10);
        gnn_batch_put(b);
    }
    ok(n == 30 && !e.code,
       "gnn_stream_source_new reads streams by reference and inline as one: %d of %d %s", (int)n,
       (int)total, e.msg);
    gnn_source_free(s);
    ok(status_of(pid) == 0,
       "a writer wrote the joined streams by reference, inline and by reference again");
}

/* Kills the writer when the reader has had k batches. */
static void test_writer_killed(void)
{
    int wrong = 0, cut = 0;
    for (uint64_t k = 1; k <= 25; k++) {
        struct gnn_err e = {0};
        struct gnn_batch *b;
        int fd[2], rc;
        uint64_t n = 0;
        pipes(fd);
        const pid_t pid = writer(fd, GNN_TRANSPORT_SHM, 1000000, 0);
        struct gnn_source *s = gnn_stream_source_new(fd[0], "in", &e);
        while (s && !(rc = gnn_source_next(s, &b, &e))) {
            wrong += !right(b, n++);
            gnn_batch_put(b);
            if (n == k)
                kill(pid, SIGKILL);
        }
        cut += e.code == GNN_E_INPUT && strstr(e.msg, "cut short");
        gnn_source_free(s);
        (void)status_of(pid);
    }
    ok(!wrong && cut == 25,
       "a killed writer gives its reader a cut stream and no wrong batch, %d times of 25", cut);
}

/* The reader leaves, or stalls with all slots and is killed. */
static void test_reader_killed(void)
{
    int sigpipes = 0;
    for (int k = 1; k <= 25; k++) {
        int fd[2];
        pipes(fd);
        const pid_t pid = fork();
        if (!pid) {
            struct gnn_err e = {0};
            struct gnn_batch *b;
            close(fd[1]);
            struct gnn_source *s = gnn_stream_source_new(fd[0], "in", &e);
            for (int i = 0; s && i < k; i++)
                if (gnn_source_next(s, &b, &e))
                    _exit(1);
                else if (i % 3)
                    gnn_batch_put(b);
            if (k % 2)
                usleep(10000); /* the writer has filled the slots, and waits */
            kill(getpid(), SIGKILL);
        }
        close(fd[0]);
        const pid_t w = fork();
        if (!w) {
            struct gnn_err e = {0};
            uint64_t nref;
            signal(SIGPIPE, SIG_DFL);
            (void)write_stream(fd[1], GNN_TRANSPORT_SHM, 1000000, &nref, &e);
            _exit(1);
        }
        close(fd[1]);
        sigpipes += status_of(w) == 128 + SIGPIPE;
        (void)status_of(pid);
    }
    ok(sigpipes == 25, "a killed reader ends its writer by SIGPIPE, %d times of 25", sigpipes);
}

/* ---- a reader that lies, or is slow ---- */

/* Connects as a reader would, says n messages, of which UINT64_MAX is the stream's own sum, and
 * then only reads. */
static void stranger(const char *what, const struct gnn_handshake *m, int n)
{
    int fd[2];
    uint8_t buf[65536];
    pipes(fd);
    const pid_t pid = writer(fd, GNN_TRANSPORT_AUTO, 20, 0);
    if (read(fd[0], buf, GNB_HEADER_BYTES) != GNB_HEADER_BYTES)
        exit(99);
    const uint64_t sum = gnn_gnb_frame_sum(buf);
    const int sock = gnn_handshake_connect(fd[0]);
    if (sock < 0)
        exit(99);
    for (int i = 0; i < n; i++) {
        struct gnn_handshake x = m[i];
        x.value = x.value == UINT64_MAX ? sum : x.value;
        if (!gnn_handshake_send(sock, &x, -1))
            break; /* it has hung up */
    }
    while (read(fd[0], buf, sizeof buf) > 0)
        ;
    ok(status_of(pid) == 0, "a writer goes on inline for %s", what);
    close(sock);
    close(fd[0]);
}

static void test_strangers(void)
{
    const struct gnn_handshake wrong = {GNN_HANDSHAKE_CONNECT, 0, 12345},
                               other = {GNN_HANDSHAKE_RELEASE, 0, 0};
    const struct gnn_handshake hello = {GNN_HANDSHAKE_CONNECT, 0, UINT64_MAX},
                               taken = {GNN_HANDSHAKE_ACCEPT, 0, 0},
                               device = {GNN_HANDSHAKE_DEVICE, 0, 7};
    const struct gnn_handshake two = {GNN_HANDSHAKE_CONNECT, 2, UINT64_MAX},
                               many = {GNN_HANDSHAKE_CONNECT, GNN_HANDSHAKE_DEVICES + 1,
                                       UINT64_MAX};
    struct gnn_handshake all[GNN_HANDSHAKE_DEVICES + 3] = {
        {GNN_HANDSHAKE_CONNECT, GNN_HANDSHAKE_DEVICES, UINT64_MAX}};
    for (int i = 1; i < GNN_HANDSHAKE_DEVICES + 3; i++)
        all[i] = device;
    stranger("a reader that connects to another stream", &wrong, 1);
    stranger("a reader that does not connect first", &other, 1);
    stranger("a reader that says nothing", NULL, 0);
    stranger("a reader that connects twice", (struct gnn_handshake[]){hello, hello}, 2);
    stranger("a reader with more devices than there can be", &many, 1);
    stranger("a reader with fewer devices than it announced", (struct gnn_handshake[]){two, device},
             2);
    stranger("a reader that accepts before it names its devices",
             (struct gnn_handshake[]){two, taken}, 2);
    stranger("a reader that connects again instead of naming a device",
             (struct gnn_handshake[]){two, device, two}, 3);
    stranger("a reader with a device more than it announced",
             (struct gnn_handshake[]){two, device, device, device}, 4);
    stranger("a reader that names a device before it connects",
             (struct gnn_handshake[]){device, hello}, 2);
    stranger("a reader with two devices more than there can be", all, GNN_HANDSHAKE_DEVICES + 3);
}

/* Descriptors, two with each message: none stays open. */
static void test_descriptors(void)
{
    int pair[2], spare[2];
    struct gnn_handshake m = {GNN_HANDSHAKE_RELEASE, 0, 0};
    union {
        struct cmsghdr head;
        char capacity[CMSG_SPACE(2 * sizeof(int))];
    } c;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) || pipe(spare))
        exit(99);
    const int before = dup(0);
    close(before);
    for (int k = 0; k < 4; k++) {
        struct iovec v = {&m, sizeof m};
        struct msghdr h = {
            .msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c};
        int got = -1;
        c.head.cmsg_level = SOL_SOCKET;
        c.head.cmsg_type = SCM_RIGHTS;
        c.head.cmsg_len = CMSG_LEN(2 * sizeof(int));
        memcpy(CMSG_DATA(&c.head), spare, sizeof spare);
        if (sendmsg(pair[0], &h, 0) != (ssize_t)sizeof m)
            exit(99);
        (void)gnn_handshake_recv(pair[1], &m, k % 2 ? &got : NULL);
        if (got >= 0)
            close(got);
    }
    const int after = dup(0);
    ok(after == before,
       "gnn_handshake_recv leaves no descriptor open of two with a message (%d, %d)", before,
       after);
    close(after);
    close(pair[0]);
    close(pair[1]);
    close(spare[0]);
    close(spare[1]);
}

/* Takes the memory, then gives back slots that never were or says nonsense: it counts as gone, and
 * the rest comes inline. */
static void test_nonsense(void)
{
    int fd[2];
    uint8_t buf[65536];
    struct gnn_handshake m;
    int memory = -1;
    pipes(fd);
    const pid_t pid = writer(fd, GNN_TRANSPORT_SHM, 20, 0);
    if (read(fd[0], buf, GNB_HEADER_BYTES) != GNB_HEADER_BYTES)
        exit(99);
    const int sock = gnn_handshake_connect(fd[0]);
    struct pollfd p = {.fd = sock, .events = POLLIN};
    m = (struct gnn_handshake){GNN_HANDSHAKE_CONNECT, 0, gnn_gnb_frame_sum(buf)};
    if (sock < 0 || !gnn_handshake_send(sock, &m, -1) || poll(&p, 1, 5000) != 1 ||
        gnn_handshake_recv(sock, &m, &memory) != 1)
        exit(99);
    ok(memory >= 0 && m.what == GNN_HANDSHAKE_OFFER && m.slots == GNN_TRANSPORT_SLOTS,
       "a writer offers its memory and slots");
    const struct gnn_handshake said[] = {{GNN_HANDSHAKE_ACCEPT, 0, 0},
                                         {GNN_HANDSHAKE_RELEASE, 99, 0}};
    if (!gnn_handshake_send(sock, &said[0], -1) || !gnn_handshake_send(sock, &said[1], -1))
        exit(99);
    while (read(fd[0], buf, sizeof buf) > 0)
        ;
    ok(status_of(pid) == 0, "a writer goes on inline when a slot that never was comes back");
    close(memory);
    close(sock);
    close(fd[0]);
}

int main(void)
{
    struct gnn_err e = {0};
    scratch_enter();
    stream_make_meta(&meta, 1 << 20, WIDTH, 1000);
    if (!(pool = gnn_batch_pool_new(&meta, &e)))
        exit(99);
    test_share();
    test_tensors();
    test_move();
    test_roundtrip(GNN_TRANSPORT_INLINE, 0, 0, "transport inline");
    test_roundtrip(GNN_TRANSPORT_AUTO, 0, 1, "transport auto");
    test_roundtrip(GNN_TRANSPORT_SHM, 0, 50, "transport shm");
    test_roundtrip(GNN_TRANSPORT_SHM, 2, 50, "transport shm with a reader that holds all slots");
    test_roundtrip(GNN_TRANSPORT_SHM, 7, 50,
                   "transport shm with a reader that holds more than the slots");
    test_plain();
    test_must();
    test_joined();
    test_writer_killed();
    test_reader_killed();
    test_strangers();
    test_descriptors();
    test_nonsense();
    gnn_batch_pool_free(pool);
    gnn_meta_release(&meta);
    return scratch_done();
}
