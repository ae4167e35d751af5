/* SPDX-License-Identifier: Apache-2.0 */
/* Payloads by reference from a producer that lies, or that writes to memory after it has sent it.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/stream/handshake.h"
#include "scratch.h"
#include "stream_maker.h"
#include "tap.h"

static struct gnn_meta meta;

static void pipes(int fd[2])
{
    if (pipe(fd))
        exit(99);
}

static void put_header(int fd)
{
    struct gnn_err e = {0};
    char *text = gnn_meta_to_text(&meta, &e);
    stream_make_header(fd, text);
    gnn_free(text);
}

enum { MEMORY = 1 << 20, LEN = 100000 };

/* A peer that hands `memory` out under the name of a pipe. The reader has met it, and whether it
 * took the memory is in *taken. NULL if the reader could not begin. */
struct liar {
    int fd[2], listener, sock;
    struct gnn_reader r;
    struct gnn_tensors t;
    struct gnn_err e;
    bool taken;
};

static void liar_meet(struct liar *l, int memory, uint32_t what, uint32_t slots,
                      const struct gnn_stream_opts *o)
{
    struct gnn_handshake m;
    *l = (struct liar){.sock = -1};
    pipes(l->fd);
    l->listener = gnn_handshake_listen(l->fd[1]);
    put_header(l->fd[1]);
    if (l->listener < 0 || gnn_reader_begin(&l->r, l->fd[0], "in", o, &l->e) || !l->r.importer)
        exit(99);
    l->sock = gnn_handshake_accept(l->listener);
    if (l->sock < 0 || gnn_handshake_recv(l->sock, &m, NULL) != 1 ||
        m.what != GNN_HANDSHAKE_CONNECT)
        exit(99);
    m = (struct gnn_handshake){what, slots, UINT64_C(1) << 32};
    if (!gnn_handshake_send(l->sock, &m, memory))
        exit(99);
    stream_make_frame(l->fd[1], GNB_BATCH, 1, "x", "abc", 3, GNB_RAW,
                      3); /* what it waits for while it is offered memory */
    if (gnn_reader_next(&l->r, &l->t, &l->e))
        exit(99);
    l->taken = gnn_handshake_recv(l->sock, &m, NULL) == 1 && m.what == GNN_HANDSHAKE_ACCEPT &&
               m.value == (o && o->in_place);
}

static void liar_init(struct liar *l, int memory, uint32_t what, uint32_t slots)
{
    liar_meet(l, memory, what, slots, NULL);
}

static void liar_release(struct liar *l)
{
    gnn_tensors_release(&l->t);
    gnn_reader_release(&l->r);
    close(l->listener);
    close(l->sock);
    close(l->fd[1]);
}

static int sealed(unsigned seals)
{
    const int fd = memfd_create("t", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, MEMORY) || fcntl(fd, F_ADD_SEALS, seals))
        exit(99);
    return fd;
}

static void refuses(const char *what, uint32_t kind, uint32_t slots, int memory)
{
    struct liar l;
    liar_init(&l, memory, kind, slots);
    ok(!l.taken && l.r.importer, "gnn_reader_begin accepts no offer with %s and reads on", what);
    liar_release(&l);
    close(memory);
}

/* A reference of `bytes`, sent after another in `slot` 0 that is still held. */
static void reference(const char *what, struct gnb_reference ref, uint64_t bytes, uint32_t flags,
                      const char *why)
{
    struct liar l;
    uint8_t stored[GNB_DEVICE_REFERENCE_BYTES];
    struct gnn_tensors second = {0};
    const int memory = sealed(F_SEAL_SHRINK);
    liar_init(&l, memory, GNN_HANDSHAKE_OFFER, 3);
    const struct gnb_reference good = {.offset = 4096};
    uint32_t n = gnn_gnb_reference_encode(&good, stored);
    stream_make_frame(l.fd[1], GNB_BATCH, 2, "node/node/x", stored, n, GNB_REFERENCE, LEN);
    if (!l.taken || gnn_reader_next(&l.r, &l.t, &l.e))
        exit(99);
    n = gnn_gnb_reference_encode(&ref, stored);
    stored[20] ^= (uint8_t)flags;
    stream_make_frame(l.fd[1], GNB_BATCH, 3, "node/node/x", stored, n, GNB_REFERENCE, bytes);
    const int rc = gnn_reader_next(&l.r, &second, &l.e);
    ok(why ? rc == GNN_E_INPUT && strstr(l.e.msg, why) : !rc, "gnn_reader_next %s %s: %s",
       why ? "refuses" : "reads", what, l.e.msg);
    gnn_tensors_release(&second);
    liar_release(&l);
    close(memory);
}

/* Changes memory after it has been sent: rows change where they are, what memory is found by does
 * not. */
static void scribbled(const char *name, bool seen)
{
    struct liar l;
    uint8_t stored[GNB_DEVICE_REFERENCE_BYTES];
    const int memory = sealed(F_SEAL_SHRINK);
    const struct gnb_reference ref = {.offset = 4096};
    liar_init(&l, memory, GNN_HANDSHAKE_OFFER, 3);
    stream_make_frame(l.fd[1], GNB_BATCH, 2, name, stored, gnn_gnb_reference_encode(&ref, stored),
                      GNB_REFERENCE, LEN);
    if (!l.taken || gnn_reader_next(&l.r, &l.t, &l.e) ||
        pwrite(memory, "!", 1, 4096 + LEN / 2) != 1)
        exit(99);
    const uint8_t *x = gnn_tensors_at(&l.t, 0)->data;
    ok((x[LEN / 2] == '!') == seen, "%s in a reader %s when its producer writes there later", name,
       seen ? "changes" : "does not change");
    struct gnn_handshake m;
    const int back = gnn_handshake_recv(l.sock, &m, NULL);
    ok(seen ? !back : back == 1 && m.what == GNN_HANDSHAKE_RELEASE,
       "gnn_reader_next %s the slot of %s", seen ? "keeps" : "releases at once", name);
    liar_release(&l);
    close(memory);
}

static void test_scribbling(void)
{
    static const char *const copied[] = {"key",
                                         "nodes/node",
                                         "counts/node",
                                         "counted/node",
                                         "node/node/id",
                                         "hop/0/node/to/node/indptr",
                                         "hop/0/node/to/node/indices",
                                         "hop/0/node/to/node/id"};
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++)
        scribbled(copied[i], false);
    scribbled("node/node/x", true);
    scribbled("hop/0/node/to/node/w", true);
}

/* ---- rows in a file ---- */

enum { ROWS = 50, WIDTH = 100 }; /* of x in the header, and 10 nodes of a batch */

static int file_of(const char *name, off_t bytes)
{
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || ftruncate(fd, bytes))
        exit(99);
    return fd;
}

/* A reference to rows of a tensor that is declared like that, after `fd` was passed as file
 * `number`, unless that is -1. The reader takes rows unless it is `unasked`. */
static void rows_reference(const char *what, struct gnb_reference ref, struct gnn_tensor as, int fd,
                           uint64_t number, bool unasked, const char *why)
{
    struct liar l;
    uint8_t stored[GNB_DEVICE_REFERENCE_BYTES];
    uint64_t raw;
    const int memory = sealed(F_SEAL_SHRINK);
    liar_meet(&l, memory, GNN_HANDSHAKE_OFFER, 3, &(struct gnn_stream_opts){.in_place = !unasked});
    const struct gnn_handshake m = {GNN_HANDSHAKE_FILE, 0, number};
    ref.in_file = true;
    const uint32_t n = gnn_gnb_reference_encode(&ref, stored);
    if (!l.taken || (fd >= 0 && !gnn_handshake_send(l.sock, &m, fd)) ||
        !gnn_tensor_bytes(&as, &raw))
        exit(99);
    stream_make_one(l.fd[1], GNB_BATCH, 2, &as, stored, n, GNB_REFERENCE, raw);
    const int rc = gnn_reader_next(&l.r, &l.t, &l.e);
    ok(why ? rc == GNN_E_INPUT && strstr(l.e.msg, why) && !l.r.nrows
           : !rc && l.r.nrows == 1 && !l.t.n && l.r.rows[0]->shape[0] == ref.rows,
       "gnn_reader_next %s %s: %s", why ? "refuses" : "takes", what, l.e.msg);
    liar_release(&l);
    close(memory);
    if (fd >= 0)
        close(fd);
}

static void test_rows(void)
{
    const off_t bytes = (off_t)ROWS * WIDTH * 4;
    const struct gnn_tensor x = {
        .name = "node/node/x", .dtype = GNN_F32, .ndim = 2, .shape = {10, WIDTH}};
    const struct gnb_reference good = {.rows = ROWS};
    struct gnb_reference r = good;
    struct gnn_tensor as = x;
    rows_reference("rows of a file", good, x, file_of("f", bytes), 0, false, NULL);
    rows_reference("rows that it has not asked for", good, x, file_of("f", bytes), 0, true,
                   "passed to another program");
    rows_reference("rows of no file", good, x, -1, 0, false, "was not passed");
    rows_reference("rows of a file that was passed under another number", good, x,
                   file_of("f", bytes), 1, false, "was not passed");
    rows_reference("rows of a file that is too short", good, x, file_of("f", bytes - 1), 0, false,
                   "beyond the end of its file");
    rows_reference("rows of a directory", good, x, open(".", O_RDONLY), 0, false,
                   "beyond the end of its file");
    rows_reference("rows of a device", good, x, open("/dev/zero", O_RDONLY), 0, false,
                   "beyond the end of its file");
    r.offset = 8;
    rows_reference("rows that are not aligned", r, x, file_of("f", 2 * bytes), 0, false,
                   "out of range");
    r.offset = UINT64_MAX - 63;
    rows_reference("rows from an offset that wraps around", r, x, file_of("f", bytes), 0, false,
                   "beyond the end of its file");
    r = good;
    r.rows = UINT64_MAX / 16;
    rows_reference("more rows than there are numbers", r, x, file_of("f", bytes), 0, false,
                   "beyond the end of its file");
    r.rows = 0;
    rows_reference("no rows", r, x, file_of("f", bytes), 0, false, "out of range");
    r = good;
    r.slot = 3;
    rows_reference("rows with a slot that does not exist", r, x, file_of("f", bytes), 0, false,
                   "out of range");
    r = good;
    r.file = UINT64_MAX;
    rows_reference("rows of the last file that a number has", r, x, file_of("f", bytes), 0, false,
                   "was not passed");
    r.file = 1;
    rows_reference("rows of a file that has no number", r, x, -1, 0, false, "was not passed");
    as.name = "nodes/node";
    rows_reference("ids in a file", good, as, file_of("f", bytes), 0, false,
                   "must not be in a file");
    as = x;
    as.dtype = GNN_I64;
    rows_reference("numbers in a file that are no features", good, as, file_of("f", 2 * bytes), 0,
                   false, "must not be in a file");
}

static void test_lies(void)
{
    static const char zero[LEN];
    refuses("memory that may shrink", GNN_HANDSHAKE_OFFER, 3, sealed(0));
    refuses("the message of a reader", GNN_HANDSHAKE_ACCEPT, 3, sealed(F_SEAL_SHRINK));
    refuses("a single slot", GNN_HANDSHAKE_OFFER, 1, sealed(F_SEAL_SHRINK));
    refuses("a million slots", GNN_HANDSHAKE_OFFER, 1000000, sealed(F_SEAL_SHRINK));
    refuses("what cannot be mapped", GNN_HANDSHAKE_OFFER, 3, dup(2));
    reference("a good reference", (struct gnb_reference){.offset = 64, .slot = 1}, LEN, 0, NULL);
    reference("a reference with a sum",
              (struct gnb_reference){
                  .offset = 64, .slot = 1, .sum = XXH3_64bits(zero, LEN), .has_sum = true},
              LEN, 0, NULL);
    reference("a reference with a wrong sum",
              (struct gnb_reference){.slot = 1, .sum = 1, .has_sum = true}, LEN, 0,
              "checksum mismatch in shared");
    reference("a reference with reserved bits set", (struct gnb_reference){.slot = 1}, LEN, 8,
              "reserved bits");
    reference("a reference to a file that is too short", (struct gnb_reference){.slot = 1}, LEN, 4,
              "of a wrong size");
    reference("a reference to shared memory and a file",
              (struct gnb_reference){.slot = 1, .in_file = true, .rows = 9}, LEN, 2,
              "reserved bits");
    reference("a reference to a device that is too short", (struct gnb_reference){.slot = 1}, LEN,
              2, "of a wrong size");
    reference("a reference to shared memory that is too long",
              (struct gnb_reference){.slot = 1, .on_device = true}, LEN, 2, "of a wrong size");
    reference("a reference to a device of another program",
              (struct gnb_reference){.slot = 1, .on_device = true}, LEN, 0,
              "on a device and were exported to another program");
    reference("a reference that is not aligned", (struct gnb_reference){.offset = 8, .slot = 1},
              LEN, 0, "out of range");
    reference("a reference beyond the window",
              (struct gnb_reference){.offset = UINT64_C(1) << 32, .slot = 1}, LEN, 0,
              "out of range");
    reference("a reference that wraps around",
              (struct gnb_reference){.offset = UINT64_MAX - 63, .slot = 1}, LEN, 0, "out of range");
    reference("a reference beyond the end of memory",
              (struct gnb_reference){.offset = MEMORY - 64, .slot = 1}, LEN, 0, "beyond");
    reference("a reference with a slot that does not exist", (struct gnb_reference){.slot = 3}, LEN,
              0, "out of range");
    reference("a reference with a slot that is in use", (struct gnb_reference){.slot = 0}, LEN, 0,
              "not released");

    /* A stream with references that has come to lie in a file. */
    struct gnn_err e = {0};
    struct gnn_reader r;
    struct gnn_tensors t = {0};
    uint8_t stored[GNB_DEVICE_REFERENCE_BYTES];
    const int fd = open("refs", O_RDWR | O_CREAT | O_TRUNC, 0666);
    const struct gnb_reference good = {.offset = 4096};
    put_header(fd);
    const uint32_t n = gnn_gnb_reference_encode(&good, stored);
    stream_make_frame(fd, GNB_BATCH, 1, "x", stored, n, GNB_REFERENCE, LEN);
    lseek(fd, 0, SEEK_SET);
    ok(!gnn_reader_begin(&r, fd, "refs", NULL, &e) && gnn_reader_next(&r, &t, &e) == GNN_E_INPUT,
       "gnn_reader_next refuses a reference that lies in a file: %s", e.msg);
    gnn_tensors_release(&t);
    gnn_reader_release(&r);
}

int main(void)
{
    scratch_enter();
    stream_make_meta(&meta, 1 << 20, 100, 1000);
    test_lies();
    test_scribbling();
    test_rows();
    gnn_meta_release(&meta);
    return scratch_done();
}
