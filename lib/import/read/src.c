/* SPDX-License-Identifier: Apache-2.0 */
/* What importers have in common (lib/import/read/src.h): where a dataset's fields come from, a file
 * or memory, conversion of labels and numbers to what a store has, and checks of the counts. */
#include "lib/import/read/src.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/import/read/array.h"
#include "lib/import/read/classes.h"
#include "lib/import/read/labels.h"
#include "lib/import/read/joined.h"
#include "lib/import/read/spool.h"
#include "lib/base/path.h"
#include "lib/base/plural.h"

enum { ROWS_BYTES = 1 << 20 };

static struct gnn_src_field *find_field(struct gnn_src *s, uint32_t ntype, uint32_t field)
{
    for (uint32_t i = 0; i < s->nfields; i++)
        if (s->field[i].ntype == ntype && s->field[i].field == field)
            return &s->field[i];
    return NULL;
}

const char *gnn_src_finite(const char *field)
{
    static const char *const names[] = {"x", "weight", "time"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(field, names[i]))
            return names[i];
    return NULL;
}

/* Index of the first float that is nan or infinite; n if there is none. */
static uint64_t find_odd(enum gnn_dtype dtype, const void *v, uint64_t n)
{
    const float *f = v;
    const double *d = v;
    uint64_t at = 0;
    if (dtype == GNN_F32) {
        for (uint64_t end; at < n; at = end) { /* in blocks that vectorize */
            int odd = 0;
            end = n - at < 1024 ? n : at + 1024;
            for (uint64_t i = at; i < end; i++)
                odd |= !isfinite(f[i]);
            if (odd)
                break;
        }
        while (at < n && isfinite(f[at]))
            at++;
    } else if (dtype == GNN_F64) {
        while (at < n && isfinite(d[at]))
            at++;
    } else {
        at = n;
    }
    return at;
}

int gnn_src_check_finite(const char *file, const char *field, enum gnn_dtype dtype,
                         const void *rows, uint64_t n, uint64_t width, uint64_t first,
                         struct gnn_err *e)
{
    uint64_t at = find_odd(dtype, rows, n * width);
    if (at == n * width)
        return GNN_OK;
    double v = dtype == GNN_F32 ? (double)((const float *)rows)[at] : ((const double *)rows)[at];
    char column[32] = "";
    if (width > 1)
        snprintf(column, sizeof column, ", column %llu", (unsigned long long)(at % width + 1));
    return gnn_fail(e, GNN_E_INPUT, "%s: row %llu%s: %s is %s", file,
                    (unsigned long long)(first + at / width), column, field,
                    isnan(v) ? "missing or nan" : "infinite or too large");
}

/* Calls fn on the rows of a member, d->from. */
static int stream_rows(struct gnn_dataset *d, uint32_t ntype, const struct gnn_src_field *f,
                       gnn_rows_fn *fn, void *arg, struct gnn_err *e)
{
    const struct gnn_field *def = &d->schema.ntype[ntype].field[f->field];
    const uint64_t n = d->schema.ntype[ntype].count, width = def->width ? def->width : 1;
    struct gnn_array a;
    uint64_t got = 1;
    int rc = gnn_array_open(&a, f->in, f->member, e);
    uint64_t max = ROWS_BYTES / (width * sizeof(float)) + 1;
    float *buf = rc ? NULL : gnn_alloc(max * width, sizeof *buf, "feature rows", e);
    if (!rc && !buf)
        rc = GNN_E_NOMEM;
    struct gnn_id_column first = {
        .zero = true, .one = true, .key = d->ids ? d->ids[ntype].key : NULL};
    if (!rc && a.width != width)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: changed while it was read", d->from);
    while (!rc && got) {
        rc = gnn_array_read(&a, GNN_F32, buf, max, &got, e);
        if (!rc && got && a.at > n)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: more rows than the %llu node%s", d->from,
                          (unsigned long long)n, gnn_plural(n));
        if (!rc && gnn_src_finite(def->name))
            rc = gnn_src_check_finite(d->from, def->name, GNN_F32, buf, got, width, a.at - got + 1,
                                      e);
        for (uint64_t i = 0; !rc && i < got; i++)
            gnn_id_column_add(&first, (double)buf[i * width]);
        if (!rc && got)
            rc = fn(arg, buf, got, e);
    }
    if (!rc && a.at != n)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %llu row%s for %llu node%s", d->from,
                      (unsigned long long)a.at, gnn_plural(a.at), (unsigned long long)n,
                      gnn_plural(n));
    if (!rc)
        rc = gnn_lost_tell(d, d->from, def->name, gnn_array_lost(&a), e);
    if (!rc && gnn_id_column_is(&first))
        rc = gnn_dataset_note(d, e,
                              "warning: %s: column 1 of the features %s is the ids of the nodes: "
                              "if it is no feature, leave it out",
                              d->from, def->name);
    gnn_free(buf);
    gnn_array_close(&a);
    return rc;
}

static char *member_name(const struct gnn_input *in, uint32_t member, struct gnn_err *e)
{
    return gnn_strf(e, gnn_input_members(in) > 1 ? "%s: %s" : "%s", gnn_input_name(in),
                    gnn_input_member(in, member));
}

int gnn_src_rows(struct gnn_dataset *d, uint32_t ntype, uint32_t field, gnn_rows_fn *fn, void *arg,
                 struct gnn_err *e)
{
    const struct gnn_src_field *f = find_field((struct gnn_src *)d, ntype, field);
    char *member = f->mem ? NULL : member_name(f->in, f->member, e);
    if (!f->mem && !member)
        return e->code;
    d->from = f->mem ? f->from : member;
    d->in_order = f->in_order;
    const int rc = f->mem ? fn(arg, f->mem, d->schema.ntype[ntype].count, e)
                          : stream_rows(d, ntype, f, fn, arg, e);
    d->from = NULL;
    d->in_order = false;
    gnn_free(member);
    return rc;
}

int gnn_src_set(struct gnn_dataset *d, uint32_t set, uint32_t *ids, struct gnn_err *e)
{
    (void)e;
    memcpy(ids, ((struct gnn_src *)d)->set[set], d->schema.set[set].count * sizeof *ids);
    return GNN_OK;
}

void gnn_src_forget_ids(struct gnn_src *s)
{
    for (uint32_t i = 0; i < s->nids; i++)
        gnn_nodeids_release(&s->ids[i]);
    gnn_free(s->ids);
    s->ids = NULL;
    s->d.ids = NULL;
    s->nids = 0;
}

void gnn_src_free(struct gnn_dataset *d)
{
    struct gnn_src *s = (struct gnn_src *)d;
    for (uint32_t i = 0; i < s->nfields; i++) {
        gnn_free(s->field[i].mem);
        gnn_free(s->field[i].from);
    }
    gnn_free(s->field);
    for (uint32_t i = 0; i < s->nsets; i++)
        gnn_free(s->set[i]);
    gnn_free(s->set);
    gnn_src_forget_ids(s);
    for (uint32_t i = 0; i < s->ntables; i++) {
        if (s->table[i].joined)
            gnn_joined_close(s->table[i].joined);
        gnn_free(s->table[i].joined);
        gnn_free(s->table[i].type);
    }
    gnn_free(s->table);
    while (s->nin)
        gnn_input_free(s->in[--s->nin]);
    gnn_free(s);
}

int gnn_src_make_ids(struct gnn_src *s, uint32_t n, struct gnn_err *e)
{
    s->ids = gnn_alloc_zero(n, sizeof *s->ids, "node ids", e);
    s->nids = s->ids ? n : 0;
    return s->ids ? GNN_OK : GNN_E_NOMEM;
}

int gnn_src_own(struct gnn_src *s, struct gnn_input *in, struct gnn_err *e)
{
    if (s->nin == GNN_SRC_INPUTS) {
        gnn_input_free(in);
        return gnn_fail(e, GNN_E_INPUT, "too many archives in an archive");
    }
    if (!s->nin)
        s->d.name = gnn_input_name(in);
    s->in[s->nin++] = in;
    return gnn_src_note_pipe(s, in, e);
}

bool gnn_src_split_type(char *text, const char *type[3])
{
    for (int i = 0; i < 3; i++) {
        type[i] = text;
        text += strcspn(text, "/");
        if (text == type[i] || !*text != (i == 2))
            return false;
        if (*text)
            *text++ = 0;
    }
    return true;
}

int gnn_src_note_pipe(struct gnn_src *s, const struct gnn_input *in, struct gnn_err *e)
{
    const uint64_t n = gnn_input_spooled(in);
    return n ? gnn_dataset_note(
                   &s->d, e,
                   "%s: a pipe: its %llu byte%s were copied to a file in %s, as inputs "
                   "are read several times",
                   gnn_input_name(in), (unsigned long long)n, gnn_plural(n), gnn_spool_dir())
             : GNN_OK;
}

const char *gnn_src_mapped(const struct gnn_import_opts *o, const char *name)
{
    static _Thread_local char found[GNN_NAME_MAX + 1];
    for (uint32_t i = 0; i < o->nmap; i++) {
        const char *eq = strchr(o->map[i], '=');
        if (!eq || strcmp(eq + 1, name) || eq - o->map[i] > GNN_NAME_MAX)
            continue;
        snprintf(found, sizeof found, "%.*s", (int)(eq - o->map[i]), o->map[i]);
        if (o->map_used)
            o->map_used[i] = true;
        return found;
    }
    return name;
}

int gnn_src_fail_name(const struct gnn_err *why, const char *file, const char *column,
                      struct gnn_err *e)
{
    if (why->code != GNN_E_INPUT || !column || strpbrk(column, ",='"))
        return gnn_fail_as(e, why);
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: %s (--map NEW='%s' gives the column another name, --map ='%s' leaves it "
                    "out)",
                    file, why->msg, column, column);
}

static int add_field(struct gnn_src *s, uint32_t ntype, const char *name, enum gnn_dtype dtype,
                     uint64_t width, struct gnn_src_field **out, struct gnn_err *e)
{
    const struct gnn_ntype *nt = &s->d.schema.ntype[ntype];
    *out = NULL;
    if (gnn_field_find(nt->field, nt->nfields, name))
        return gnn_fail(e, GNN_E_INPUT, "node type '%s' has two fields called '%s'", nt->name,
                        name);
    uint32_t at = nt->nfields;
    int rc = gnn_grow(&s->field, s->nfields, sizeof *s->field, "fields", e);
    if (!rc)
        rc = gnn_schema_add_nfield(&s->d.schema, ntype, name, dtype, width, e);
    if (rc)
        return rc;
    *out = &s->field[s->nfields++];
    **out = (struct gnn_src_field){.ntype = ntype, .field = at};
    return GNN_OK;
}

int gnn_src_stream(struct gnn_src *s, uint32_t ntype, const char *name, struct gnn_input *in,
                   uint32_t member, struct gnn_err *e)
{
    struct gnn_array a;
    struct gnn_src_field *f = NULL;
    uint64_t count = s->d.schema.ntype[ntype].count;
    int rc = gnn_array_open(&a, in, member, e);
    if (!rc && a.rows != UINT64_MAX && a.rows != count)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %llu row%s for %llu node%s", gnn_array_name(&a),
                      (unsigned long long)a.rows, gnn_plural(a.rows), (unsigned long long)count,
                      gnn_plural(count));
    if (!rc && (a.width < 1 || a.width > 1 << 20))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: rows of %llu value%s", gnn_array_name(&a),
                      (unsigned long long)a.width, gnn_plural(a.width));
    if (!rc)
        rc = add_field(s, ntype, name, GNN_F32, a.width, &f, e);
    if (!rc) {
        f->in = in;
        f->in_order = true;
        f->member = member;
    }
    gnn_array_close(&a);
    return rc;
}

int gnn_src_mem(struct gnn_src *s, uint32_t ntype, const char *name, enum gnn_dtype dtype,
                uint64_t width, void *mem, const char *from, struct gnn_err *e)
{
    struct gnn_src_field *f;
    char *copy = gnn_strdup(from, e);
    int rc = copy ? add_field(s, ntype, name, dtype, width, &f, e) : GNN_E_NOMEM;
    if (rc) {
        gnn_free(mem);
        gnn_free(copy);
    } else {
        f->mem = mem;
        f->from = copy;
    }
    return rc;
}

/* Takes over v, which has the rows of the field as they are stored, or as F64 if it is the labels.
 */
static int add_array(struct gnn_src *s, uint32_t ntype, const char *name, enum gnn_dtype dtype,
                     void *v, uint64_t rows, uint64_t width, const char *where, struct gnn_err *e)
{
    const uint64_t count = s->d.schema.ntype[ntype].count;
    int rc = GNN_OK;
    if (rows != count || !width)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %llu row%s for %llu node%s", where,
                      (unsigned long long)rows, gnn_plural(rows), (unsigned long long)count,
                      gnn_plural(count));
    else if (gnn_src_finite(name))
        rc = gnn_src_check_finite(where, name, dtype, v, rows, width, 1, e);
    if (!rc && !strcmp(name, "y"))
        rc = gnn_labels_take(&s->d, s->o->task, ntype, v, rows, &width, &dtype, where, NULL, e);
    else
        width = width > 1 ? width : 0;
    if (rc)
        gnn_free(v);
    else if (!(rc = gnn_src_mem(s, ntype, name, dtype, width, v, where, e)))
        s->field[s->nfields - 1].in_order = true;
    return rc;
}

/* Labels that are words; *taken is false if these are not. */
static int take_classes(struct gnn_src *s, uint32_t ntype, struct gnn_input *in, uint32_t member,
                        bool *taken, struct gnn_err *e)
{
    const uint64_t count = s->d.schema.ntype[ntype].count;
    struct gnn_words c = {0};
    int32_t *y = NULL;
    uint64_t rows;
    char *where = member_name(in, member, e);
    int rc = where ? gnn_classes_read(&c, in, member, &y, &rows, e) : GNN_E_NOMEM;
    *taken = y != NULL;
    if (!rc && y && rows != count)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %llu row%s for %llu node%s", where,
                      (unsigned long long)rows, gnn_plural(rows), (unsigned long long)count,
                      gnn_plural(count));
    if (!rc && y)
        rc = gnn_labels_of_one(&s->d.schema, ntype, where, e);
    if (!rc && y)
        rc = gnn_classes_finish(&c, s->o->task, y, rows, where, &s->d.schema, e);
    if (!rc && y) {
        s->d.schema.label_ntype = ntype;
        rc = gnn_src_mem(s, ntype, "y", GNN_I32, 0, y, where, e);
        y = NULL;
    }
    gnn_free(y);
    gnn_free(where);
    gnn_words_release(&c);
    return rc;
}

int gnn_src_type(const struct gnn_src *s, struct gnn_input *in, uint32_t member, const char *field,
                 enum gnn_dtype *dtype, struct gnn_err *e)
{
    struct gnn_array a = {.text = true};
    int rc = s->own_types && strcmp(field, "time") ? gnn_array_open(&a, in, member, e) : GNN_OK;
    const bool own = !rc && !a.text;
    *dtype = a.h.dtype;
    gnn_array_close(&a);
    return rc || own ? rc : gnn_array_type(in, member, field, dtype, e);
}

int gnn_src_node_array(struct gnn_src *s, uint32_t ntype, const char *name, struct gnn_input *in,
                       uint32_t member, struct gnn_err *e)
{
    void *v = NULL;
    uint64_t rows, width;
    enum gnn_dtype dtype = GNN_F64;
    if (!strcmp(name, "x"))
        return gnn_src_stream(s, ntype, name, in, member, e);
    bool taken = false;
    if (!strcmp(name, "y") && (take_classes(s, ntype, in, member, &taken, e) || taken))
        return e->code;
    int rc = strcmp(name, "y") ? gnn_src_type(s, in, member, name, &dtype, e) : GNN_OK;
    if (!rc)
        rc = gnn_array_load(in, member, dtype, &v, &rows, &width, e);
    if (rc)
        return rc;
    char *where = member_name(in, member, e);
    if (where)
        rc = add_array(s, ntype, name, dtype, v, rows, width, where, e);
    else
        gnn_free(v);
    gnn_free(where);
    return where ? rc : GNN_E_NOMEM;
}

int gnn_src_add_set(struct gnn_src *s, const char *split, const char *set, uint32_t ntype,
                    uint32_t *ids, uint64_t n, struct gnn_err *e)
{
    int rc = gnn_grow(&s->set, s->nsets, sizeof *s->set, "splits", e);
    if (!rc)
        rc = gnn_schema_add_set(&s->d.schema, split, set, ntype, n, e);
    if (rc)
        gnn_free(ids);
    else
        s->set[s->nsets++] = ids;
    return rc;
}

/* The member's name without directories, up to the first point. */
static const char *stem_of(const char *member, char stem[GNN_NAME_MAX + 1])
{
    const char *base = gnn_base_name(member);
    snprintf(stem, GNN_NAME_MAX + 1, "%.*s", (int)strcspn(base, "."), base);
    return stem;
}

/* edge_time, node-feat, edges and the like. */
static bool holds_graph(const char *stem)
{
    const bool either = !strncmp(stem, "edge", 4) || !strncmp(stem, "node", 4);
    return either && strchr("_-", stem[4 + (stem[4] == 's')]);
}

int gnn_src_tell_unused(struct gnn_src *s, const struct gnn_input *in, const bool *used, bool map,
                        struct gnn_err *e)
{
    enum { MOST = 5 };
    char stem[GNN_NAME_MAX + 1];
    const char *name = gnn_input_name(in);
    uint32_t n = 0;
    int rc = GNN_OK;
    for (uint32_t pass = 0; pass < 2; pass++) /* what is an error comes before any note */
        for (uint32_t i = 0; !rc && i < gnn_input_members(in); i++) {
            const char *member = gnn_input_member(in, i);
            if (used[i] || (map && !*gnn_src_mapped(s->o, stem_of(member, stem))))
                continue;
            stem_of(member, stem);
            if (!pass && holds_graph(stem))
                return gnn_fail(e, GNN_E_INPUT, "%s: %s: no member of this name is read%s%s%s",
                                name, member, map ? " (--map =" : "", map ? stem : "",
                                map ? " leaves it out)" : "");
            if (pass && n++ < MOST)
                rc = gnn_dataset_note(&s->d, e, "%s: %s is not read", name, member);
        }
    if (!rc && n > MOST)
        rc = gnn_dataset_note(&s->d, e, "%s: %u more members are not read", name, n - MOST);
    return rc;
}

int gnn_src_check_counts(const struct gnn_dataset *d, uint64_t bytes,
                         const struct gnn_import_opts *o, struct gnn_err *e)
{
    /* Up to 2^24 nodes are always believed, more only up to 64 for each byte of the input: a typing
     * error in an id would make a store of billions of nodes. */
    enum { ALWAYS = 1 << 24, PER_BYTE = 64 };
    uint64_t n = 0;
    for (uint32_t t = 0; t < d->schema.nntypes; t++)
        n += d->schema.ntype[t].count;
    if (!o->nodes && n > ALWAYS && n / PER_BYTE > bytes)
        return gnn_fail(e, GNN_E_INPUT, "%s: %llu node%s in %llu byte%s are implausible", d->name,
                        (unsigned long long)n, gnn_plural(n), (unsigned long long)bytes,
                        gnn_plural(bytes));
    return GNN_OK;
}
