/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of arrays (lib/import/read/array_list.h), and their bytes as those of .npy files: of dense
 * pieces from where they lie, of others by blocks of rows. */
#include "lib/import/read/array_list.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/npy.h"
#include "lib/base/io.h"
#include "lib/base/mapped.h"
#include "lib/base/mem.h"

/* Parts of a pickle may be shared, so that their number says nothing of the memory that a list of
 * them takes. */
enum { BLOCK = 1 << 16, DROP = 1 << 22, LIST_MAX = 100000 };

/* ---- lists ---- */

static int add_piece(struct gnn_listed_array *a, const struct gnn_strided *piece, struct gnn_err *e)
{
    if (gnn_grow(&a->piece, a->npieces, sizeof *a->piece, "arrays", e) ||
        gnn_grow(&a->before, a->npieces, sizeof *a->before, "arrays", e))
        return GNN_E_NOMEM;
    a->before[a->npieces] = a->rows;
    a->piece[a->npieces++] = *piece;
    a->rows += gnn_strided_rows(piece);
    a->nbytes += piece->count * gnn_dtype_bytes(piece->dtype);
    return GNN_OK;
}

/* An array without pieces, the last one. */
static int add_empty(struct gnn_array_list *l, const char *prefix, const char *name,
                     struct gnn_err *e)
{
    if (l->n == LIST_MAX)
        return gnn_fail(e, GNN_E_INPUT, "more than %d arrays", LIST_MAX);
    if (gnn_grow(&l->array, l->n, sizeof *l->array, "arrays", e))
        return GNN_E_NOMEM;
    struct gnn_listed_array *a = &l->array[l->n++];
    *a = (struct gnn_listed_array){.name = gnn_strf(e, "%s%s", prefix, name)};
    return a->name ? GNN_OK : GNN_E_NOMEM;
}

int gnn_array_list_add(struct gnn_array_list *l, const char *prefix, const char *name,
                       const struct gnn_strided *piece, struct gnn_err *e)
{
    int rc = add_empty(l, prefix, name, e);
    return rc ? rc : add_piece(&l->array[l->n - 1], piece, e);
}

int gnn_array_list_file(struct gnn_array_list *l, const char *prefix, const char *name,
                        const uint8_t *bytes, uint64_t n, struct gnn_err *e)
{
    int rc = add_empty(l, prefix, name, e);
    if (rc)
        return rc;
    l->array[l->n - 1].file = bytes;
    l->array[l->n - 1].nbytes = n;
    return GNN_OK;
}

int gnn_array_list_number(struct gnn_array_list *l, const char *prefix, const char *name,
                          int64_t number, struct gnn_err *e)
{
    int64_t *p = gnn_alloc(1, sizeof *p, "a number", e);
    int rc = p ? gnn_array_list_hold(l, p, gnn_free, e) : GNN_E_NOMEM;
    if (rc)
        return rc;
    *p = number;
    const struct gnn_strided one = {
        .dtype = GNN_I64, .dense = true, .count = 1, .data = (const uint8_t *)p};
    return gnn_array_list_add(l, prefix, name, &one, e);
}

int gnn_array_list_append(struct gnn_array_list *l, const struct gnn_strided *piece, bool *fits,
                          struct gnn_err *e)
{
    struct gnn_listed_array *a = &l->array[l->n - 1];
    const struct gnn_strided *f = a->piece;
    *fits = piece->dtype == f->dtype && piece->is_bool == f->is_bool && piece->ndim == f->ndim &&
            f->ndim > 0;
    for (uint32_t i = 1; *fits && i < f->ndim; i++)
        *fits = piece->shape[i] == f->shape[i];
    return *fits ? add_piece(a, piece, e) : GNN_OK;
}

int gnn_array_list_leave(struct gnn_array_list *l, char *text, struct gnn_err *e)
{
    if (text && l->nleft == LIST_MAX) {
        gnn_free(text);
        return gnn_fail(e, GNN_E_INPUT, "more than %d attributes that are no arrays", LIST_MAX);
    }
    if (!text || gnn_grow(&l->left, l->nleft, sizeof *l->left, "attributes", e)) {
        gnn_free(text);
        return GNN_E_NOMEM;
    }
    l->left[l->nleft++] = text;
    return GNN_OK;
}

int gnn_array_list_note(struct gnn_array_list *l, char *text, struct gnn_err *e)
{
    if (!text || gnn_grow(&l->note, l->nnotes, sizeof *l->note, "notes", e)) {
        gnn_free(text);
        return GNN_E_NOMEM;
    }
    l->note[l->nnotes++] = text;
    return GNN_OK;
}

int gnn_array_list_hold(struct gnn_array_list *l, void *p, void (*release)(void *p),
                        struct gnn_err *e)
{
    if (gnn_grow(&l->held, l->nheld, sizeof *l->held, "files", e)) {
        release(p);
        return GNN_E_NOMEM;
    }
    l->held[l->nheld++] = (struct gnn_held){p, release};
    return GNN_OK;
}

static void unmap_file(void *p)
{
    gnn_mapped_free(p);
}

int gnn_array_list_map(struct gnn_array_list *l, const char *path, const uint8_t **bytes,
                       uint64_t *n, struct gnn_err *e)
{
    struct stat st;
    const int fd = gnn_io_open(path, &st, e);
    if (fd < 0)
        return e->code;
    *n = (uint64_t)st.st_size;
    if (!*n) {
        close(fd);
        return gnn_fail(e, GNN_E_INPUT, "%s: empty", path);
    }
    void *p = gnn_mapped_new(fd, 0, *n, false, path, e);
    close(fd);
    *bytes = p;
    int rc = p ? gnn_array_list_hold(l, p, unmap_file, e) : e->code;
    if (!rc)
        rc = gnn_grow(&l->file, l->nfiles, sizeof *l->file, "files", e);
    if (!rc)
        l->file[l->nfiles++] = (struct gnn_listed_file){*bytes, *n};
    return rc;
}

static void free_bytes(void *p)
{
    gnn_buf_release(p);
    gnn_free(p);
}

int gnn_array_list_bytes(struct gnn_array_list *l, const char *path, struct gnn_stage *s,
                         const uint8_t **bytes, uint64_t *n, struct gnn_err *e)
{
    size_t got = 1;
    if (path)
        return gnn_array_list_map(l, path, bytes, n, e);
    struct gnn_buf *b = gnn_alloc_zero(1, sizeof *b, "input", e);
    int rc = b ? gnn_array_list_hold(l, b, free_bytes, e) : GNN_E_NOMEM;
    for (*n = 0; !rc && got; *n += rc ? 0 : got) {
        rc = gnn_buf_reserve(b, *n + BLOCK, 1, "a file that is unpacked", e);
        if (!rc)
            rc = gnn_stage_read(s, (uint8_t *)b->data + *n, BLOCK, &got, e);
    }
    *bytes = rc ? NULL : b->data;
    return rc;
}

void gnn_array_list_free(struct gnn_array_list *l)
{
    if (!l)
        return;
    for (uint32_t i = 0; i < l->n; i++) {
        gnn_free(l->array[i].name);
        gnn_free(l->array[i].piece);
        gnn_free(l->array[i].before);
    }
    for (uint32_t i = 0; i < l->nleft; i++)
        gnn_free(l->left[i]);
    for (uint32_t i = 0; i < l->nnotes; i++)
        gnn_free(l->note[i]);
    while (l->nheld--)
        l->held[l->nheld].free(l->held[l->nheld].p);
    gnn_free(l->array);
    gnn_free(l->left);
    gnn_free(l->note);
    gnn_free(l->held);
    gnn_free(l->file);
    gnn_free(l);
}

/* ---- arrays as .npy files ---- */

struct array_stage {
    struct gnn_stage s;
    const struct gnn_listed_array *a;
    uint8_t head[256];
    uint64_t nhead, at, end; /* bytes: of the header, given so far, in all */
    uint64_t row;            /* bytes of a row */
    struct gnn_buf rows;     /* a block of rows of what is not dense */
    uint64_t first, nrows;   /* in it */
    const struct gnn_array_list *l;
    const uint8_t *kept; /* the first byte of a dense piece that was read and is in memory */
};

/* Bytes of a file that were read need not stay in this process's memory; the page cache has them.
 */
static void drop_read(struct array_stage *s, const uint8_t *upto)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const struct gnn_listed_file *f = s->l->file;
    uint32_t i = 0;
    for (; i < s->l->nfiles && (upto <= f->bytes || upto > f->bytes + f->n); i++)
        f++;
    if (i == s->l->nfiles)
        return;
    if (s->kept < f->bytes || s->kept > upto)
        s->kept = upto;
    const uintptr_t from = ((uintptr_t)s->kept + page - 1) / page * page,
                    to = (uintptr_t)upto / page * page;
    if (to < from + DROP)
        return;
    (void)!madvise((void *)from, to - from, MADV_DONTNEED);
    s->kept = (const uint8_t *)to;
}

/* The piece that holds row i of all, which becomes its row there; how many rows follow in it. */
static const struct gnn_strided *find_piece(const struct gnn_listed_array *a, uint64_t *i,
                                            uint64_t *follow)
{
    uint32_t low = 0, high = a->npieces; /* it is in [low, high) */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (a->before[middle] <= *i)
            low = middle;
        else
            high = middle;
    }
    *i -= a->before[low];
    *follow = gnn_strided_rows(&a->piece[low]) - *i;
    return &a->piece[low];
}

/* Copies a block of rows, from `first` on. */
static int copy_block(struct array_stage *s, uint64_t first, struct gnn_err *e)
{
    const uint64_t left = s->a->rows - first, most = s->row < BLOCK ? BLOCK / s->row : 1;
    s->first = first;
    s->nrows = left < most ? left : most;
    if (gnn_buf_reserve(&s->rows, s->nrows, s->row, "rows of a tensor", e))
        return GNN_E_NOMEM;
    uint8_t *out = s->rows.data;
    for (uint64_t k = 0, n; k < s->nrows; k += n) {
        uint64_t i = s->a->order ? s->a->order[first + k] : first + k, follow;
        const struct gnn_strided *p = find_piece(s->a, &i, &follow);
        n = s->a->order ? 1 : follow < s->nrows - k ? follow : s->nrows - k;
        gnn_strided_copy(p, i, n, out + k * s->row);
    }
    return GNN_OK;
}

/* The bytes from `at` on, and how many follow there. */
static int find_bytes(struct array_stage *s, const uint8_t **p, uint64_t *n, struct gnn_err *e)
{
    *p = s->head + (s->at < s->nhead ? s->at : s->nhead);
    *n = s->at < s->nhead ? s->nhead - s->at : 0;
    if (*n || s->at == s->end)
        return GNN_OK;
    if (s->a->file) {
        *p = s->a->file + s->at;
        drop_read(s, *p);
        *n = s->end - s->at;
        return GNN_OK;
    }
    const uint64_t at = s->at - s->nhead, in_row = at % s->row;
    uint64_t i = at / s->row, follow;
    const struct gnn_strided *piece = find_piece(s->a, &i, &follow);
    if (piece->dense && !s->a->order) {
        *p = piece->data + i * s->row + in_row;
        drop_read(s, *p);
        *n = follow * s->row - in_row;
        return GNN_OK;
    }
    i = at / s->row;
    if ((i < s->first || i >= s->first + s->nrows) && copy_block(s, i, e))
        return GNN_E_NOMEM;
    *p = (const uint8_t *)s->rows.data + (at - s->first * s->row);
    *n = (s->first + s->nrows) * s->row - at;
    return GNN_OK;
}

static int array_read(struct gnn_stage *st, void *buf, size_t n, size_t *got, struct gnn_err *e)
{
    struct array_stage *s = (struct array_stage *)st;
    const uint8_t *p;
    uint64_t there;
    int rc = find_bytes(s, &p, &there, e);
    if (rc)
        return rc;
    *got = there < n ? (size_t)there : n;
    if (*got)
        memcpy(buf, p, *got);
    s->at += *got;
    return GNN_OK;
}

static void array_free(struct gnn_stage *st)
{
    gnn_buf_release(&((struct array_stage *)st)->rows);
    gnn_free(st);
}

int gnn_array_list_stage(struct gnn_stage **out, const struct gnn_array_list *l, uint32_t i,
                         const char *name, struct gnn_err *e)
{
    struct array_stage *s = gnn_alloc_zero(1, sizeof *s, "input", e);
    if (!s)
        return GNN_E_NOMEM;
    s->s = (struct gnn_stage){.read = array_read, .free = array_free, .name = name};
    s->a = &l->array[i];
    s->l = l;
    *out = &s->s;
    if (s->a->file) {
        s->end = s->a->nbytes;
        return GNN_OK;
    }
    const struct gnn_strided *first = s->a->piece;
    struct gnn_npy h = {.dtype = first->dtype, .is_bool = first->is_bool, .ndim = first->ndim};
    memcpy(h.shape, first->shape, sizeof h.shape);
    if (h.ndim)
        h.shape[0] = s->a->rows;
    h.bytes = s->a->nbytes;
    h.count = h.bytes / gnn_dtype_bytes(h.dtype);
    for (uint32_t k = 0; k < s->a->npieces; k++) /* of those without rows, 0 */
        if (gnn_strided_rows(&s->a->piece[k]))
            s->row = gnn_strided_row_bytes(&s->a->piece[k]);
    s->nhead = gnn_npy_header(&h, s->head);
    s->end = s->nhead + h.bytes;
    return GNN_OK;
}
