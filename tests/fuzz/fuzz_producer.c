/* SPDX-License-Identifier: Apache-2.0 */
/* A producer at the other end of a pipe that offers memory: what it says, what it offers, what is
 * in the memory, and where the stream refers to; and it writes there after each batch. Any of it
 * gives batches that stay as they were checked, or a clean error. The input: u8 n, then n times u8
 * descriptor and a message (lib/stream/handshake.h); u16 m, then m bytes for the memory, which goes
 * on with zeros, from the half on counts up from 0, and at the end has small numbers; the stream
 * Checksums are off. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/le.h"
#include "fuzz/fuzz.h"
#include "fuzz/walk.h"
#include "lib/stream/handshake.h"

enum { PIPE = 65536, MEMORY = 65536, MESSAGES = 8, HELD = 4 };

unsigned long fuzz_accepted;

struct input {
    const uint8_t *p;
    size_t n;
};

static const uint8_t *take(struct input *in, size_t n)
{
    if (n > in->n)
        return NULL;
    in->p += n;
    in->n -= n;
    return in->p - n;
}

/* ---- what is offered ---- */

static uint8_t *memory; /* the producer's own mapping */

static int memory_new(unsigned seals)
{
    const int fd = memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, MEMORY) || fcntl(fd, F_ADD_SEALS, seals))
        abort();
    return fd;
}

static int descriptor(uint8_t kind)
{
    static int sealed = -1, open_ended, null, sockets[2];
    if (sealed < 0) {
        sealed = memory_new(F_SEAL_SHRINK);
        open_ended = memory_new(0);
        null = open("/dev/null", O_RDWR | O_CLOEXEC);
        memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, sealed, 0);
        if (memory == MAP_FAILED || null < 0 || pipe2(sockets, O_CLOEXEC))
            abort();
    }
    const int all[] = {sealed, -1, open_ended, null, sockets[0]};
    return kind < 5 ? all[kind] : sealed;
}

static void fill(const uint8_t *data, size_t n)
{
    uint32_t *number = (uint32_t *)(void *)memory;
    for (uint32_t i = 0; i < MEMORY / 4; i++)
        number[i] = i < MEMORY / 8 ? 0 : i < MEMORY / 16 * 3 ? i - MEMORY / 8 : i % 4;
    if (n)
        memcpy(memory, data, n < MEMORY ? n : MEMORY);
}

/* ---- what is said ---- */

static int speak(int listener, struct input *in)
{
    const uint8_t *n = take(in, 1), *m = NULL;
    const int sock = gnn_handshake_accept(listener);
    for (uint8_t i = 0; n && i < *n && i < MESSAGES && (m = take(in, 17)); i++) {
        const struct gnn_handshake x = {load_le32(m + 1), load_le32(m + 5), load_le64(m + 9)};
        if (sock >= 0)
            (void)gnn_handshake_send(sock, &x, descriptor(m[0]));
    }
    return sock;
}

/* Skips what speak and fill take: the stream stands behind it. */
static struct input stream_of(struct input in, struct input *mem)
{
    const uint8_t *n = take(&in, 1), *m;
    for (uint8_t i = 0; n && i < *n && i < MESSAGES; i++)
        (void)!take(&in, 17);
    m = take(&in, 2);
    mem->n = m ? load_le16(m) : 0;
    mem->n = mem->n < in.n ? mem->n : in.n;
    mem->p = take(&in, mem->n);
    return in;
}

/* ---- what is made of it ---- */

static int read_all(struct gnn_source *s, const struct input *mem)
{
    struct gnn_err e = {0};
    struct gnn_batch *held[HELD] = {0}, *b;
    int rc;
    for (uint32_t i = 0; !(rc = gnn_source_next(s, &b, &e)); i++) {
        fill(NULL, 0);
        memset(memory, 0xff,
               MEMORY / 2 + (i % 3) * (MEMORY / 4)); /* a batch that is checked stays that */
        (void)walk_batch(b, s->meta);
        gnn_batch_put(held[i % HELD]);
        held[i % HELD] = b;
        for (uint32_t k = 0; k < HELD; k++)
            if (held[k])
                (void)walk_batch(held[k], s->meta);
        fill(mem->p, mem->n);
    }
    for (uint32_t k = 0; k < HELD; k++)
        gnn_batch_put(held[k]);
    if (rc != GNN_END && (!*e.msg || strchr(e.msg, '\n')))
        abort();
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct gnn_err e = {0};
    struct input in = {data, n}, mem;
    const struct input stream = stream_of(in, &mem);
    int fd[2];
    if (stream.n > PIPE || pipe2(fd, O_CLOEXEC))
        return 0;
    (void)descriptor(0);
    fill(mem.p, mem.n);
    const int listener = gnn_handshake_listen(fd[1]);
    if (stream.n && write(fd[1], stream.p, stream.n) != (ssize_t)stream.n)
        abort();
    close(fd[1]);
    struct gnn_source *s =
        gnn_stream_source_on(fd[0], "fuzz", &(struct gnn_stream_opts){.in_place = true}, &e);
    const int sock = s && listener >= 0 ? speak(listener, &in) : -1;
    if (listener >= 0)
        close(listener);
    if (s)
        fuzz_accepted += read_all(s, &mem) == GNN_END;
    gnn_source_free(s);
    if (sock >= 0)
        close(sock);
    return 0;
}
