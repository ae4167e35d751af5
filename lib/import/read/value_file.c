/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/read/value_file.h"

#include <string.h>
#include <unistd.h>

#include "formats/le.h"
#include "lib/base/io.h"
#include "lib/base/mapped.h"

enum { BLOCK = 1 << 16 };

bool gnn_value_file_is_torch(const uint8_t *p, size_t n)
{
    static const char member[] = "/data.pkl";
    const size_t head = 30, end = sizeof member - 1;
    if (gnn_torch_is_legacy(p, n))
        return true;
    const size_t len = n >= head && gnn_torch_is_zip(p, n) ? load_le16(p + 26) : 0;
    return len > end && head + len <= n && !memcmp(p + head + len - end, member, end);
}

bool gnn_value_file_begins(const uint8_t *p, size_t n)
{
    return gnn_value_file_is_torch(p, n) || (n > 1 && p[0] == 0x80 && p[1] >= 2 && p[1] <= 5);
}

static int map_file(struct gnn_value_file *v, const char *path, uint64_t *n, struct gnn_err *e)
{
    struct stat st;
    const int fd = gnn_io_open(path, &st, e);
    if (fd < 0)
        return e->code;
    *n = (uint64_t)st.st_size;
    v->mapped = gnn_mapped_new(fd, 0, *n, false, path, e);
    close(fd);
    return v->mapped ? GNN_OK : e->code;
}

static int load_bytes(struct gnn_value_file *v, struct gnn_stage *s, uint64_t *n, struct gnn_err *e)
{
    size_t got = 1;
    int rc = GNN_OK;
    for (*n = 0; !rc && got; *n += rc ? 0 : got) {
        rc = gnn_buf_reserve(&v->bytes, *n + BLOCK, 1, "a file of torch.save", e);
        if (!rc)
            rc = gnn_stage_read(s, (uint8_t *)v->bytes.data + *n, BLOCK, &got, e);
    }
    return rc;
}

int gnn_value_file_open(struct gnn_value_file *v, const char *path, struct gnn_stage *s,
                        bool pickles, const char *name, struct gnn_err *e)
{
    char why[512];
    uint64_t n = 0;
    int rc = path ? map_file(v, path, &n, e) : load_bytes(v, s, &n, e);
    if (rc)
        return rc;
    const void *bytes = path ? v->mapped : v->bytes.data;
    const bool torch = gnn_torch_is_zip(bytes, n) || gnn_torch_is_legacy(bytes, n);
    const int bad = torch || !pickles
                        ? gnn_torch_open(&v->file, bytes, n, why, sizeof why)
                        : gnn_pickle_read(&v->file.pickle, bytes, n, 0, why, sizeof why);
    return bad == GNN_PICKLE_NO_MEMORY ? gnn_fail_nomem(e, n, "a file of torch.save")
           : bad                       ? gnn_fail(e, GNN_E_INPUT, "%s: %s", name, why)
                                       : GNN_OK;
}

void gnn_value_file_release(struct gnn_value_file *v)
{
    gnn_torch_release(&v->file);
    gnn_mapped_free(v->mapped);
    gnn_buf_release(&v->bytes);
    *v = (struct gnn_value_file){.mapped = NULL};
}
