/* Tables of activations, in memory as far as allowed, and the features as the first of them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/rows.h"
#include "lib/predict/impl.h"
#include "lib/tensors.h"

static int map_file(struct gnn_predict *p, struct gnn_table *t, uint64_t bytes, struct gnn_err *e)
{
    char *path = gnn_strf(e, "%s/gnn-predict.XXXXXX", p->o.tmpdir);
    if (!path)
        return e->code;
    const int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) {
        gnn_fail_errno(e, "%s: cannot create", path);
        gnn_free(path);
        return e->code;
    }
    unlink(path);
    const int err = posix_fallocate(fd, 0, (off_t)bytes); /* a full disk is found here, not by a fault */
    errno = err;
    void *m = err ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (m == MAP_FAILED)
        gnn_fail_errno(e, "%s: cannot hold %llu bytes of activations", path, (unsigned long long)bytes);
    close(fd);
    gnn_free(path);
    t->data = e->code ? NULL : m;
    t->mapped = e->code ? 0 : bytes;
    return e->code;
}

int predict_table_new(struct gnn_predict *p, struct gnn_table *t, uint64_t rows, uint64_t width,
                      struct gnn_err *e)
{
    uint64_t bytes;
    *t = (struct gnn_table){.rows = rows, .width = width};
    if (__builtin_mul_overflow(rows, width * sizeof(float), &bytes) || bytes > INT64_MAX)
        return gnn_fail(e, GNN_E_NOMEM, "activations of %llu rows and %llu columns are too large",
                        (unsigned long long)rows, (unsigned long long)width);
    if (bytes && p->held + bytes > p->o.memory)
        return map_file(p, t, bytes, e);
    t->data = gnn_alloc(rows * width, sizeof(float), "activations", e);
    p->held += t->data ? bytes : 0;
    return t->data ? 0 : e->code;
}

void predict_table_free(struct gnn_predict *p, struct gnn_table *t)
{
    if (t->mapped) {
        munmap(t->data, t->mapped);
    } else if (!t->borrowed && t->data) {
        p->held -= t->rows * t->width * sizeof(float);
        gnn_free(t->data);
    }
    memset(t, 0, sizeof(*t));
}

static int copy_part(struct gnn_table *t, uint64_t at, const struct gnn_tensor *x, const char *path,
                     struct gnn_err *e)
{
    const uint64_t count = x->shape[0] * t->width;
    float *y = t->data + at * t->width;
    if (!gnn_tensor_floats(x, count, y))
        return gnn_fail(e, GNN_E_INPUT, "%s: features %s are not floating-point", path, x->name);
    return 0;
}

int predict_features(struct gnn_predict *p, uint32_t type, struct gnn_err *e)
{
    const struct gnn_model_config *c = &p->m->c;
    struct gnn_table *t = &p->in[type];
    const uint64_t n = p->s->meta.schema.ntype[type].count, w = gnn_model_in(p->m, 0, type);
    const char *name = c->ntype[type].name;
    const bool plain = c->feature_norm == GNN_FEATURES_AS_IS;

    if (c->ntype[type].width && p->s->nparts == 1 && plain) {
        const struct gnn_tensor *x = gnn_store_findf(p->s, 0, "node/%s/x", name);
        if (x && x->dtype == GNN_F32) {
            *t = (struct gnn_table){.data = x->data, .rows = n, .width = w, .borrowed = true};
            return 0;
        }
    }
    if (predict_table_new(p, t, n, w, e))
        return e->code;
    if (!c->ntype[type].width) {
        for (uint64_t i = 0; i < n; i++)
            t->data[i] = 1;
        return 0;
    }
    for (uint32_t k = 0; k < p->s->nparts; k++) {
        const struct gnn_tensor *x = gnn_store_findf(p->s, k, "node/%s/x", name);
        if (!x)
            return gnn_fail(e, GNN_E_INPUT, "%s: no features node/%s/x", gnn_store_part_path(p->s, k), name);
        if (copy_part(t, p->s->book[type][k], x, gnn_store_part_path(p->s, k), e))
            return e->code;
    }
    if (!plain)
        gnn_rows_to_unit_sum(t->data, n, w);
    return 0;
}
