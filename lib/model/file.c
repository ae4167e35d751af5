/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors files: reading whole, writing whole or not at all; a model's parameters in them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/rows.h"
#include "lib/base/io.h"
#include "lib/base/json.h"
#include "lib/base/kind.h"
#include "lib/base/mem.h"
#include "lib/data/recipe.h"
#include "lib/model/arrange.h"
#include "lib/model/layer.h"
#include "lib/model/model_file.h"
#include "lib/base/temp.h"
#include "lib/base/plural.h"
#include "lib/data/tensors.h"

int gnn_st_read(struct gnn_st_file *f, const char *path, struct gnn_err *e)
{
    struct stat st;
    struct gnn_io io;
    memset(f, 0, sizeof(*f));
    struct gnn_err unread = {0};
    const int fd = gnn_io_open(path, &st, &unread);
    if (fd < 0) {
        if (!gnn_kind_refuse(gnn_kind_path(path), path, "a model", e))
            gnn_fail_as(e, &unread);
        goto out;
    }
    const uint64_t n = (uint64_t)st.st_size;
    void *bytes = gnn_alloc(n, 1, "safetensors file", e);
    if (!bytes)
        goto out;
    gnn_io_init(&io, fd, path);
    if (gnn_io_read_exact(&io, bytes, n, "safetensors file", e))
        gnn_free(bytes);
    else
        (void)!gnn_st_parse(f, bytes, n, path, e);
out:
    if (fd >= 0)
        close(fd);
    return e->code;
}

/* What is ours has both a description and a checksum: no damage to the one may turn it into
 * something from elsewhere. */
static int check_pair(const struct gnn_safetensors *st, const char *path, struct gnn_err *e)
{
    const bool described = json_object_get(st->metadata, "gnn") != NULL;
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    const bool paired = true;
#else
    const bool paired = described == st->summed;
#endif
    if (paired)
        return 0;
    return gnn_fail(
        e, GNN_E_INPUT,
        described ? "%s: a model without its checksum: damaged, or written by an earlier version"
                  : "%s: damaged: it has a checksum, but not the model's description",
        path);
}

int gnn_st_parse(struct gnn_st_file *f, void *bytes, uint64_t n, const char *path,
                 struct gnn_err *e)
{
    char why[512];
    *f = (struct gnn_st_file){.bytes = bytes, .nbytes = n};
    const enum gnn_kind kind = gnn_kind_bytes(bytes, n);
    gnn_json_watch();
    errno = 0;
    const bool bad = gnn_safetensors_parse(&f->st, bytes, n, why, sizeof(why)) != 0;
    if (gnn_json_starved() || (bad && errno == ENOMEM))
        gnn_fail(e, GNN_E_NOMEM, "%s: out of memory for the header", path);
    else if (bad && (kind == GNN_KIND_MODEL || !gnn_kind_refuse(kind, path, "a model", e)))
        gnn_fail(e, GNN_E_INPUT, "%s: %s", path, why);
    else
        (void)!check_pair(&f->st, path, e);
    if (e->code)
        gnn_st_release(f);
    return e->code;
}

void gnn_st_release(struct gnn_st_file *f)
{
    gnn_safetensors_release(&f->st);
    gnn_free(f->bytes);
    memset(f, 0, sizeof(*f));
}

int gnn_st_write(int fd, const char *name, const struct gnn_tensor *const *t, size_t n,
                 json_t *metadata, struct gnn_err *e)
{
    struct gnn_io io;
    char *head = NULL;
    size_t len;
    gnn_io_init(&io, fd, name);
    gnn_json_watch();
    if (gnn_safetensors_header(t, n, metadata, &head, &len) || gnn_json_starved())
        gnn_fail(e, GNN_E_NOMEM, "%s: out of memory for the header", name);
    else
        gnn_safetensors_sum(head, len, t, n);
    if (!e->code && gnn_io_write(&io, head, len, e) == 0)
        for (size_t i = 0; i < n && !e->code; i++) {
            uint64_t bytes = 0;
            (void)gnn_tensor_bytes(t[i], &bytes);
            if (gnn_io_write(&io, t[i]->data, bytes, e))
                break;
        }
    free(head);
    const int rc = gnn_io_close(&io, true, e);
    return e->code ? e->code : rc;
}

int gnn_st_replace(const char *path, const struct gnn_tensor *const *t, size_t n, json_t *metadata,
                   struct gnn_err *e)
{
    struct gnn_temp *temp = gnn_temp_file(path, e);
    const int fd = temp ? fcntl(temp->fd, F_DUPFD_CLOEXEC, 3) : -1;
    if (temp && fd < 0)
        gnn_fail_errno(e, "%s: cannot write", path);
    else if (temp && !gnn_st_write(fd, path, t, n, metadata, e))
        (void)!gnn_temp_commit(temp, true, e);
    gnn_temp_free(temp);
    return e->code;
}

json_t *gnn_model_describe(const struct gnn_model *m, const float *slab, const char *provenance,
                           struct gnn_tensor *t, struct gnn_err *e)
{
    for (uint32_t i = 0; i < m->nparams; i++) {
        const struct gnn_param *p = &m->param[i];
        t[i] = (struct gnn_tensor){.name = p->name,
                                   .dtype = p->dtype,
                                   .ndim = p->ndim,
                                   .shape = {p->shape[0], p->shape[1], p->shape[2]},
                                   .data = (void *)(uintptr_t)(slab + p->at)};
    }
    char *text = gnn_model_config_text(&m->c, e);
    if (!text)
        return NULL;
    gnn_json_watch();
    json_t *j = json_pack("{s:s, s:s, s:s}", "format", "pt", "gnn", text, GNN_SAFETENSORS_CHECKSUM,
                          GNN_SAFETENSORS_NO_DIGITS);
    gnn_free(text);
    if (j && m->recipe)
        json_object_set_new(j, "training", json_string(m->recipe));
    if (j && provenance)
        json_object_set_new(j, "provenance", json_string(provenance));
    if (j && !gnn_json_starved())
        return j;
    json_decref(j);
    gnn_fail(e, GNN_E_NOMEM, "out of memory for the model's description");
    return NULL;
}

/* The order in which tensors are written: the widest numbers first, as readers want each at a
 * multiple of its size. */
void gnn_model_order(const struct gnn_tensor *t, size_t n, const struct gnn_tensor **p)
{
    for (size_t width = sizeof(uint64_t); width; width /= 2)
        for (size_t i = 0; i < n; i++)
            if (gnn_dtype_bytes(t[i].dtype) == width)
                *p++ = &t[i];
}

int gnn_model_write(const struct gnn_model *m, const float *slab, const char *provenance, int fd,
                    const char *name, struct gnn_err *e)
{
    json_t *meta = NULL;
    struct gnn_tensor *t = gnn_alloc(m->nparams, sizeof(*t), "tensor table", e);
    const struct gnn_tensor **p = gnn_alloc(m->nparams, sizeof(*p), "tensor table", e);
    if (t && p)
        meta = gnn_model_describe(m, slab, provenance, t, e);
    if (meta) {
        gnn_model_order(t, m->nparams, p);
        (void)!gnn_st_write(fd, name, p, m->nparams, meta, e);
    } else {
        close(fd);
    }
    json_decref(meta);
    gnn_free(t);
    gnn_free(p);
    return e->code;
}

static int check_shape(const struct gnn_param *p, const struct gnn_tensor *t, const char *path,
                       struct gnn_err *e)
{
    char has[128] = "", wants[64] = "";
    bool same = t->ndim == p->ndim;
    for (uint32_t k = 0; k < t->ndim; k++) {
        const size_t at = strlen(has);
        snprintf(has + at, sizeof has - at, "%s%llu", k ? ", " : "",
                 (unsigned long long)t->shape[k]);
        same = same && t->shape[k] == p->shape[k];
    }
    for (uint32_t k = 0; k < p->ndim; k++) {
        const size_t at = strlen(wants);
        snprintf(wants + at, sizeof wants - at, "%s%u", k ? ", " : "", p->shape[k]);
    }
    return same ? 0
                : gnn_fail(e, GNN_E_INPUT, "%s: tensor %s: shape (%s) instead of (%s)", path,
                           t->name, has, wants);
}

static int copy_param(const struct gnn_param *p, const struct gnn_tensor *t, float *to,
                      const char *path, struct gnn_err *e)
{
    if (check_shape(p, t, path, e))
        return e->code;
    if (p->dtype == GNN_I64) {
        int64_t v;
        if (t->dtype != GNN_I64)
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor %s is %s, not i64", path, t->name,
                            gnn_dtype_name(t->dtype));
        memcpy(&v, t->data, sizeof(v));
        if (v < 0)
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor %s is %lld, a count below 0", path, t->name,
                            (long long)v);
        memcpy(to, &v, sizeof(v));
        return 0;
    }
    if ((uintptr_t)t->data % gnn_dtype_bytes(t->dtype))
        return gnn_fail(e, GNN_E_INPUT, "%s: tensor %s is not aligned", path, t->name);
    if (!gnn_tensor_floats(t, p->count, to))
        return gnn_fail(e, GNN_E_INPUT, "%s: tensor %s is %s, not f32, f16 or bf16", path, t->name,
                        gnn_dtype_name(t->dtype));
    const uint64_t k = gnn_first_not_finite(to, p->count);
    if (k < p->count)
        return gnn_fail(e, GNN_E_INPUT, "%s: tensor %s: element %llu is %g, not a finite number",
                        path, t->name, (unsigned long long)k, (double)to[k]);
    return 0;
}

/* A parameter that shares its numbers with another one has the same in the file. */
static int check_shared(const struct gnn_model *m, const struct gnn_param *p,
                        const struct gnn_tensor *t, const struct gnn_st_file *f, const char *path,
                        struct gnn_err *e)
{
    uint64_t n = 0;
    if (p->with == GNN_NONE)
        return 0;
    const struct gnn_tensor *u = gnn_safetensors_find(&f->st, m->param[p->with].name);
    if (u && (u->dtype != t->dtype || !gnn_tensor_bytes(t, &n) || memcmp(u->data, t->data, n) != 0))
        gnn_fail(e, GNN_E_INPUT, "%s: tensor %s: the layers share it with %s, but they differ",
                 path, t->name, u->name);
    return e->code;
}

/* Says of which layer the parameters are, if that is another one. */
static int refuse_missing(const struct gnn_model *m, const struct gnn_st_file *f, const char *path,
                          const char *name, struct gnn_err *e)
{
    struct gnn_model_config c = {0};
    struct gnn_err unknown = {0};
    const bool other = !gnn_model_guess(&c, f, path, &unknown) && c.layer != m->c.layer;
    gnn_fail(e, GNN_E_INPUT, "%s: no tensor %s%s%s%s%s", path, name,
             other ? ": its parameters are of " : "", other ? c.layer->name : "",
             other ? ", not of " : "", other ? m->c.layer->name : "");
    gnn_model_config_release(&c);
    return e->code;
}

int gnn_model_copy_params(struct gnn_model *m, const struct gnn_st_file *f, const char *path,
                          bool others, struct gnn_err *e)
{
    bool *known = gnn_alloc_zero(f->st.n, sizeof(*known), "tensor table", e);
    if (!known)
        return e->code;
    for (uint32_t i = 0; i < m->nparams && !e->code; i++) {
        const struct gnn_param *p = &m->param[i];
        const struct gnn_tensor *t = gnn_safetensors_find(&f->st, p->name);
        if (t)
            known[t - f->st.tensor] = true;
        if (t)
            (void)(copy_param(p, t, m->slab + p->at, path, e) || check_shared(m, p, t, f, path, e));
        else if (p->must && p->with == GNN_NONE) /* else the other one has its numbers */
            (void)(gnn_model_refuse_foreign(f, path, e) || refuse_missing(m, f, path, p->name, e));
    }
    for (size_t k = 0; k < f->st.n && !others && !e->code; k++)
        if (!known[k])
            gnn_fail(e, GNN_E_INPUT, "%s: tensor %.200s is not part of the model", path,
                     f->st.tensor[k].name);
    gnn_free(known);
    return e->code;
}

/* What a description promises must be in the file, but for what nothing depends on, before memory
 * is taken for it. */
static int lay_out(struct gnn_model *m, struct gnn_model_config *c, const struct gnn_st_file *f,
                   const char *path, struct gnn_err *e)
{
    enum { FOLD = 16, SMALL = 1 << 24 };
    struct gnn_err why = {0};
    int rc = gnn_model_layout(m, c, &why);
    if (rc)
        return gnn_fail(e, rc == GNN_E_USAGE ? GNN_E_INPUT : (enum gnn_status)rc, "%s: %s", path,
                        why.msg);
    if (m->nfloats > SMALL && m->nfloats / FOLD > f->nbytes)
        rc = gnn_fail(e, GNN_E_INPUT,
                      "%s: a model of %llu parameter%s in %llu byte%s is implausible", path,
                      (unsigned long long)m->nfloats, gnn_plural(m->nfloats),
                      (unsigned long long)f->nbytes, gnn_plural(f->nbytes));
    if (rc)
        gnn_model_release(m);
    return rc;
}

/* What a file of ours says, with the types in the order of s, and then their parameters. */
static int read_parts(struct gnn_model *m, const struct gnn_st_file *f, const char *path,
                      const uint32_t *order, struct gnn_err *e)
{
    const json_t *ours = json_object_get(f->st.metadata, "gnn");
    const char *recipe =
        ours ? json_string_value(json_object_get(f->st.metadata, "training")) : NULL;
    if (gnn_model_alloc(m, e))
        return e->code;
    if (gnn_model_copy_params(m, f, path, gnn_st_checkpoint(f), e) ||
        (order && gnn_model_arrange_params(m, order, e)) ||
        (recipe && !(m->recipe = gnn_recipe_arrange(recipe, path, order, m->c.netypes, e))))
        gnn_model_release(m);
    return e->code;
}

/* A state dict whose last layer does not compute what the labels need; there may be a layer after
 * it, as of PyG's models with jumping knowledge. */
static int other_outputs(const struct gnn_model_config *c, uint32_t outputs,
                         const struct gnn_st_file *f, const char *path, struct gnn_err *e)
{
    const char *after = NULL;
    for (size_t i = 0; i < f->st.n && !after; i++)
        if (!strstr(f->st.tensor[i].name, "convs.") && !strstr(f->st.tensor[i].name, "norms."))
            after = f->st.tensor[i].name;
    return gnn_fail(
        e, GNN_E_INPUT,
        "%s: convs.%u, the last layer, has %u output%s, but the labels of the graph need %u%s%s%s",
        path, c->nlayers - 1, outputs, gnn_plural(outputs), c->outputs, after ? "; tensor " : "",
        after ? after : "",
        after
            ? " is of a layer after it, and such state dicts (jumping knowledge, heads) are not supported"
            : "");
}

int gnn_model_open(struct gnn_model *m, const struct gnn_st_file *f, const char *path,
                   const struct gnn_schema *s, void (*unrecorded)(struct gnn_model_config *c),
                   struct gnn_err *e)
{
    struct gnn_model_config c = {0};
    const json_t *text = f->st.metadata ? json_object_get(f->st.metadata, "gnn") : NULL;
    uint32_t outputs, *order = NULL;
    int rc;
    memset(m, 0, sizeof(*m));
    if (text) {
        rc = gnn_model_config_parse(&c, json_string_value(text), path, e);
        if (!rc && s)
            rc = gnn_model_arrange(&c, s, &order, e);
    } else if ((rc = gnn_model_guess(&c, f, path, e)) == 0) {
        if (unrecorded)
            unrecorded(&c);
        outputs = c.width[c.nlayers - 1];
        rc = gnn_model_config_fit(&c, s, e);
        if (!rc && c.outputs != outputs)
            rc = other_outputs(&c, outputs, f, path, e);
    }
    if (rc) {
        gnn_model_config_release(&c);
        return rc;
    }
    if (!lay_out(m, &c, f, path, e))
        (void)!read_parts(m, f, path, order, e);
    gnn_free(order);
    return e->code;
}
