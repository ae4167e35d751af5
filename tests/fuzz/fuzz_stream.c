/* The stream reader and the batch binder, with checksums off: any bytes give batches or a clean error. */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "lib/source.h"

unsigned long fuzz_accepted;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct gnn_err e = {0};
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET))
        return 0;
    struct gnn_source *s = gnn_stream_source_new(fd, "fuzz", &e);
    if (!s)
        return 0;
    int rc;
    for (struct gnn_batch *b; !(rc = gnn_source_next(s, &b, &e));)
        gnn_batch_put(b);
    fuzz_accepted += rc == GNN_END;
    gnn_source_free(s);
    return 0;
}
