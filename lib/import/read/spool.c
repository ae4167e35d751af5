/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/read/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/mem.h"
#include "lib/base/temp.h"

enum { BLOCK = 1 << 20 };

const char *gnn_spool_dir(void)
{
    const char *dir = getenv("TMPDIR");
    return dir && *dir ? dir : "/tmp";
}

static ssize_t read_some(int fd, void *buf)
{
    ssize_t n;
    do
        n = read(fd, buf, BLOCK);
    while (n < 0 && errno == EINTR);
    return n;
}

static int write_all(int fd, const uint8_t *p, size_t n, struct gnn_err *e)
{
    while (n) {
        const ssize_t got = write(fd, p, n);
        if (got < 0 && errno != EINTR)
            return gnn_fail_errno(e, "%s: a copy of a pipe", gnn_spool_dir());
        p += got > 0 ? got : 0;
        n -= got > 0 ? (size_t)got : 0;
    }
    return GNN_OK;
}

static int copy_all(struct gnn_spool *s, int from, const char *name, struct gnn_err *e)
{
    uint8_t *buf = gnn_alloc(BLOCK, 1, "a pipe", e);
    ssize_t n = 1;
    int rc = buf ? GNN_OK : GNN_E_NOMEM;
    while (!rc && (n = read_some(from, buf)) > 0) {
        rc = write_all(s->fd, buf, (size_t)n, e);
        s->bytes += (uint64_t)n;
    }
    if (!rc && n < 0)
        rc = gnn_fail_errno(e, "%s: reading", name);
    gnn_free(buf);
    return rc;
}

int gnn_spool_open(struct gnn_spool *s, const char *path, struct gnn_err *e)
{
    *s = (struct gnn_spool){.fd = -1};
    char *beside = gnn_strf(e, "%s/pipe", gnn_spool_dir());
    if (beside)
        s->fd = gnn_temp_scratch(beside, e);
    gnn_free(beside);
    if (s->fd < 0)
        return e->code;
    snprintf(s->path, sizeof s->path, "/proc/self/fd/%d", s->fd);
    const bool is_stdin = !strcmp(path, "-");
    const int from = is_stdin ? 0 : open(path, O_RDONLY | O_CLOEXEC);
    int rc = from < 0 ? gnn_fail_open(e, path) : copy_all(s, from, path, e);
    if (!is_stdin && from >= 0)
        close(from);
    if (rc) {
        close(s->fd);
        s->fd = -1;
    }
    return rc;
}
