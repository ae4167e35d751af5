/* SPDX-License-Identifier: Apache-2.0 */
/* The stream reader and the batch binder, with checksums off: any bytes give batches that
 * are what the header says, or a clean error. They come through a pipe whose writer offers memory,
 * as far as they fit in there, so that references lead somewhere. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "fuzz/walk.h"
#include "lib/stream/handshake.h"
#include "lib/data/source.h"

enum { PIPE = 65536, MEMORY = 65536, SLOTS = 3 };

unsigned long fuzz_accepted;

/* Shared memory that does not shrink: zeros, and from its half on small numbers. */
static int memory_new(void)
{
    static uint32_t number[MEMORY / 8];
    for (uint32_t i = 0; i < MEMORY / 8; i++)
        number[i] = i % 4;
    const int fd = memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, MEMORY) ||
        pwrite(fd, number, sizeof number, MEMORY / 2) != (ssize_t)sizeof number ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK))
        abort();
    return fd;
}

/* A file or, with a socket that listens under its name, a pipe of which the other end is *end. */
static int input(const uint8_t *data, size_t n, int *end, int *listener)
{
    int fd[2];
    *end = *listener = -1;
    if (n > PIPE) {
        fd[0] = memfd_create("fuzz", MFD_CLOEXEC);
        return fd[0] < 0 || write(fd[0], data, n) != (ssize_t)n || lseek(fd[0], 0, SEEK_SET)
                   ? -1
                   : fd[0];
    }
    if (pipe2(fd, O_CLOEXEC))
        return -1;
    *listener = gnn_handshake_listen(fd[1]);
    if (n && write(fd[1], data, n) != (ssize_t)n)
        abort();
    *end = fd[1];
    return fd[0];
}

static void done(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* What the writer does when the reader has greeted it. */
static int offer(int listener)
{
    static int memory = -1;
    static const struct gnn_handshake m = {GNN_HANDSHAKE_OFFER, SLOTS, MEMORY};
    if (memory < 0)
        memory = memory_new();
    const int sock = gnn_handshake_accept(listener);
    if (sock >= 0)
        (void)gnn_handshake_send(sock, &m, memory);
    return sock;
}

/* A header that was read is written as one that is read as the same. */
static void check_header(const struct gnn_meta *m)
{
    struct gnn_err e = {0};
    struct gnn_meta back = {0};
    char *text = gnn_meta_to_text(m, &e);
    if (!text || gnn_meta_from_text(&back, text, strlen(text), &e))
        abort();
    char *differs = gnn_meta_difference(m, &back, &e);
    if (differs || e.code)
        abort();
    gnn_free(text);
    gnn_meta_release(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct gnn_err e = {0};
    int end, listener, sock = -1, rc = 0;
    const int fd = input(data, n, &end, &listener);
    if (fd < 0)
        return 0;
    done(end); /* all has been written */
    struct gnn_source *s = gnn_stream_source_new(fd, "fuzz", &e);
    if (s && listener >= 0)
        sock = offer(listener);
    done(listener);
    if (s)
        check_header(s->meta);
    for (struct gnn_batch *b; s && !(rc = gnn_source_next(s, &b, &e));) {
        (void)walk_batch(b, s->meta);
        gnn_batch_put(b);
    }
    fuzz_accepted += s && rc == GNN_END;
    gnn_source_free(s);
    done(sock);
    return 0;
}
