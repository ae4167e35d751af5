/* SPDX-License-Identifier: Apache-2.0 */
/* Edge lists and Matrix Market files as datasets (lib/import/read/edgelist.h). A first pass finds
 * the ids, or checks them; the second delivers edges. If all edges fit 128 MiB the first pass keeps
 * them, so that the text is parsed once. */
#include "lib/import/read/edgelist.h"
#include "lib/import/read/attach.h"

#include <math.h>
#include <string.h>

#include "formats/mtx.h"
#include "lib/import/read/reading.h"
#include "lib/base/plural.h"

/* KEEP counts 32-bit words: a pair of ids is two, a number of a field two more. */
enum { CHUNK = 1 << 13, KEEP = 1 << 25 }; /* edges of a step; edges kept in memory */

/* A pass over the file. */
struct pass {
    struct gnn_edgelist *l;
    struct gnn_table t;
    uint64_t id[2 * CHUNK];
    /* [2*CHUNK] and the nodes that they are; NULL where ids are numbers; then those of one end */
    struct gnn_word *word;
    uint32_t node[2 * CHUNK];
    union gnn_number *num; /* [CHUNK*nnum] as l->pick says */
    uint32_t nnum;
    uint64_t done;     /* lines of edges, or kept edges */
    uint64_t row, col; /* of a dense matrix's next value, from 0 */
};

static void pass_close(struct pass *ps)
{
    gnn_table_close(&ps->t);
    gnn_free(ps->word);
    gnn_free(ps->num);
}

/* At the first entry of a matrix. */
static int open_matrix(struct pass *ps, const struct gnn_edgelist *l, struct gnn_err *e)
{
    int rc = gnn_table_open(&ps->t, l->s.in[0], l->member, l->comment, e);
    for (uint32_t i = 0; !rc && i < l->skip; i++) {
        gnn_table_next(&ps->t);
        rc = gnn_table_line(&ps->t, e);
        if (rc == GNN_END) {
            ps->t.ncols = 0;
            return GNN_OK;
        }
    }
    if (!rc) /* the columns are those of the edges, not of what was skipped */
        ps->t.ncols = gnn_text_count(ps->t.p, ps->t.sep);
    if (!rc && ps->t.ncols != l->ncols)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: line %llu: %u field%s instead of %u",
                      gnn_reader_name(ps->t.r), (unsigned long long)ps->t.line, ps->t.ncols,
                      gnn_plural(ps->t.ncols), l->ncols);
    return rc;
}

static int pass_open(struct pass *ps, struct gnn_edgelist *l, struct gnn_err *e)
{
    const bool words = l->reading && l->reading->words && !l->kept;
    *ps = (struct pass){.l = l, .nnum = l->npick - 2};
    ps->num = gnn_alloc((uint64_t)CHUNK * ps->nnum, sizeof *ps->num, "edge fields", e);
    if (words)
        ps->word = gnn_alloc(3 * CHUNK, sizeof *ps->word, "edges", e);
    if (!ps->num || (words && !ps->word))
        return GNN_E_NOMEM;
    if (l->kept)
        return GNN_OK;
    return l->reading ? gnn_reading_open(l->reading, &ps->t, l->s.in[0], l->member, e)
                      : open_matrix(ps, l, e);
}

static int check_promise(const struct pass *ps, uint64_t n, struct gnn_err *e)
{
    const struct gnn_edgelist *l = ps->l;
    if (l->declared != UINT64_MAX && (n ? ps->done > l->declared : ps->done != l->declared))
        return gnn_fail(e, GNN_E_INPUT, "%s: %s entries than the %llu of the size line",
                        gnn_reader_name(ps->t.r), n ? "more" : "fewer",
                        (unsigned long long)l->declared);
    return GNN_OK;
}

/* The line that edge i of the n just read is from (blank and comment lines between do not count).
 */
static unsigned long long line_of(const struct pass *ps, uint64_t n, uint64_t i)
{
    return (unsigned long long)(ps->t.line - (ps->l->skew ? (n - i + 1) / 2 : n - i));
}

/* Checks entry (i, j), in the given line, against what the header of the matrix says of it. */
static int check_entry(const struct pass *ps, uint64_t i, uint64_t j, double v, uint64_t line,
                       struct gnn_err *e)
{
    const struct gnn_mtx *m = ps->l->mtx;
    unsigned allow = ps->l->s.o->allow;
    const char *bad = NULL, *word = NULL;
    if (m->symmetric && i < j && !(allow & GNN_ALLOW_UPPER)) {
        bad =
            "above the diagonal of a symmetric matrix, where only entries on and below it are allowed";
        word = " (--allow upper reads it as its mirror image)";
    } else if (m->skew && i < j) {
        bad =
            "above the diagonal of a skew-symmetric matrix, where only entries below it are allowed";
    } else if (m->skew && i == j && v != 0) {
        bad = "on the diagonal of a skew-symmetric matrix, where all values are 0";
    } else if (m->integer && v != floor(v) && isfinite(v) && !(allow & GNN_ALLOW_FRACTIONS)) {
        bad = "not a whole number, in a matrix of integers";
        word = " (--allow fractions accepts it)";
    }
    if (!bad)
        return GNN_OK;
    return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: entry (%llu, %llu) is %s%s",
                    gnn_reader_name(ps->t.r), (unsigned long long)line, (unsigned long long)i,
                    (unsigned long long)j, bad, word ? word : "");
}

static int check_entries(const struct pass *ps, uint64_t n, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint64_t i = 0; !rc && i < n; i++)
        rc = check_entry(ps, ps->id[2 * i], ps->id[2 * i + 1], ps->nnum ? ps->num[i].real : 0,
                         ps->t.line - (n - i), e);
    return rc;
}

/* A dense matrix, column by column: each value but 0 is an edge. */
static int dense_read(struct pass *ps, uint64_t *n, struct gnn_err *e)
{
    const struct gnn_mtx *m = ps->l->mtx;
    uint64_t got = ps->t.ncols, from = m->symmetric || m->skew;
    int rc = GNN_OK;
    if (!ps->done)
        ps->row = m->skew;
    for (*n = 0; !rc && !*n && got;) {
        double v[CHUNK / 4];
        rc = gnn_table_f64(&ps->t, v, 1, CHUNK / 4, &got, e);
        ps->done += rc ? 0 : got;
        if (!rc)
            rc = check_promise(ps, got, e);
        for (uint64_t k = 0; !rc && k < got; k++) {
            uint64_t line = ps->t.line - (got - k);
            rc = check_entry(ps, ps->row + 1, ps->col + 1, v[k], line, e);
            if (!rc && !isfinite((float)v[k]))
                rc = gnn_fail(e, GNN_E_INPUT, "%s: line %llu: weight is %s",
                              gnn_reader_name(ps->t.r), (unsigned long long)line,
                              isnan(v[k]) ? "missing or nan" : "infinite or too large");
            if (v[k] != 0) {
                ps->id[2 * *n] = ps->row + 1;
                ps->id[2 * *n + 1] = ps->col + 1;
                ps->num[(*n)++].real = v[k];
            }
            if (++ps->row == m->rows) {
                ps->col++;
                ps->row = from ? ps->col + m->skew : 0;
            }
        }
    }
    if (!rc && !*n)
        rc = check_promise(ps, 0, e);
    return rc;
}

/* Each of the n edges is followed by its reverse, with the negative value: a skew-symmetric matrix.
 * From the end, so that it can be done in place. */
static void add_opposites(struct pass *ps, uint64_t n)
{
    for (uint64_t i = n; i--;) {
        uint64_t a = ps->id[2 * i], b = ps->id[2 * i + 1];
        double v = ps->num[i].real;
        ps->id[4 * i] = ps->id[4 * i + 3] = a;
        ps->id[4 * i + 1] = ps->id[4 * i + 2] = b;
        ps->num[2 * i].real = v;
        ps->num[2 * i + 1].real = -v;
    }
}

/* The id of edge i of n at one end (k), which has stood there as `shown`, is none. */
static int unknown_id(const struct pass *ps, uint64_t n, uint64_t i, unsigned k, const char *shown,
                      struct gnn_err *e)
{
    const struct gnn_edgelist *l = ps->l;
    if (!l->table[k])
        return gnn_fail(e, GNN_E_INPUT, "%s: the input changed while it was read: other ids",
                        gnn_input_name(l->s.in[0]));
    return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: %s has no row for the %s '%s'",
                    gnn_reader_name(ps->t.r), line_of(ps, n, i), l->table[k],
                    k ? "target" : "source", shown);
}

/* Words of the n edges at one end, or (k 2) at both, to nodes: new ones while they are collected,
 * which numbers them in the order of the file. */
static int find_nodes(struct pass *ps, unsigned k, const struct gnn_word *word, uint64_t n,
                      struct gnn_err *e)
{
    struct gnn_nodeids *ids = ps->l->end[k & 1];
    if (!ps->l->known[k & 1])
        return gnn_nodeids_add_words(ids, word, n, ps->node, e);
    gnn_nodeids_find(ids, word, n, ps->node);
    for (uint64_t i = 0; i < n; i++) {
        const bool padded = ids->kind == GNN_IDS_NUMBERS && word[i].n > 1 && *word[i].p == '0';
        char shown[GNN_ID_TEXT];
        if (ps->node[i] == UINT32_MAX || padded)
            return k < 2 ? unknown_id(ps, n, i, k, gnn_word_shown(&word[i], shown), e)
                         : unknown_id(ps, n / 2, i / 2, (i & 1) ^ ps->l->target_first,
                                      gnn_word_shown(&word[i], shown), e);
    }
    return GNN_OK;
}

/* The same for edges between two types, whose words are apart: k = 0 for sources, 1 for targets. */
static int find_end(struct pass *ps, uint64_t n, unsigned k, struct gnn_err *e)
{
    const unsigned at = k ^ ps->l->target_first;
    struct gnn_word *half = ps->word + 2 * CHUNK;
    for (uint64_t i = 0; i < n; i++)
        half[i] = ps->word[2 * i + at];
    const int rc = find_nodes(ps, k, half, n, e);
    for (uint64_t i = 0; !rc && i < n; i++)
        ps->id[2 * i + at] = ps->node[i];
    return rc;
}

static int find_ends(struct pass *ps, uint64_t n, struct gnn_err *e)
{
    int rc;
    if (ps->l->end[0] != ps->l->end[1]) {
        rc = find_end(ps, n, 0, e);
        return rc ? rc : find_end(ps, n, 1, e);
    }
    rc = find_nodes(ps, 2, ps->word, 2 * n, e);
    for (uint64_t i = 0; !rc && i < 2 * n; i++)
        ps->id[i] = ps->node[i];
    return rc;
}

/* Numbers of ids that are known to nodes. */
static int know_numbers(struct pass *ps, uint64_t n, struct gnn_err *e)
{
    const struct gnn_edgelist *l = ps->l;
    for (unsigned k = 0; k < 2; k++) {
        uint64_t *id = &ps->id[k ^ l->target_first];
        for (uint64_t i = 0; l->known[k] && i < n; i++, id += 2) {
            const uint64_t node = gnn_nodeids_number(l->end[k], *id);
            char shown[GNN_ID_TEXT];
            if (node == UINT64_MAX) {
                snprintf(shown, sizeof shown, "%llu", (unsigned long long)*id);
                return unknown_id(ps, n, i, k, shown, e);
            }
            *id = node;
        }
    }
    return GNN_OK;
}

/* Numbers of the scan, at ends whose ids are collected. */
static int add_numbers(const struct pass *ps, uint64_t n, struct gnn_err *e)
{
    const struct gnn_edgelist *l = ps->l;
    if (l->end[0] == l->end[1])
        return l->known[0] ? GNN_OK : gnn_nodeids_add_numbers(l->end[0], ps->id, 2 * n, e);
    int rc = GNN_OK;
    for (uint64_t i = 0; !rc && i < 2 * n; i++)
        if (!l->known[i & 1])
            rc = gnn_nodeids_add_numbers(l->end[i & 1], &ps->id[i], 1, e);
    return rc;
}

static int pass_read(struct pass *ps, uint64_t *n, struct gnn_err *e)
{
    struct gnn_edgelist *l = ps->l;
    const uint64_t max = l->skew ? CHUNK / 2 : CHUNK;
    int rc = GNN_OK;
    *n = 0;
    if (l->mtx && l->mtx->array)
        rc = dense_read(ps, n, e);
    else if (ps->t.ncols && ps->t.ncols <= l->pick[l->npick - 1].col)
        rc = gnn_table_fail(&ps->t, NULL, "too few fields", e);
    else if (ps->t.ncols == 2 && l->npick == 2 && !ps->word)
        rc = gnn_table_ids(&ps->t, ps->id, 2, max, n, e);
    else if (ps->t.ncols)
        rc = gnn_table_pick(&ps->t, l->pick, l->npick, ps->id, ps->word, ps->num, max, n, e);
    if (!l->mtx || !l->mtx->array) {
        ps->done += *n;
        if (!rc)
            rc = check_promise(ps, *n, e);
        if (!rc && l->mtx && (l->mtx->symmetric || l->mtx->skew || l->mtx->integer))
            rc = check_entries(ps, *n, e);
    }
    if (!rc && l->end[0])
        rc = ps->word ? find_ends(ps, *n, e) : know_numbers(ps, *n, e);
    if (l->target_first)
        for (uint64_t i = 0; i < *n; i++) {
            uint64_t v = ps->id[2 * i];
            ps->id[2 * i] = ps->id[2 * i + 1];
            ps->id[2 * i + 1] = v;
        }
    if (!rc && l->skew) {
        add_opposites(ps, *n);
        *n *= 2;
    }
    return rc;
}

/* An id beyond the count. */
static int bad_id(const struct pass *ps, uint64_t n, uint64_t i, uint64_t id, uint64_t count,
                  struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: id %llu, but ids are %llu to %llu",
                    ps->t.r ? gnn_reader_name(ps->t.r) : gnn_input_name(ps->l->s.in[0]),
                    line_of(ps, n, i), (unsigned long long)id, (unsigned long long)ps->l->base,
                    (unsigned long long)(ps->l->base + count - 1));
}

/* Whether the numbers of the n lines just read are finite (as f32, if stored so) that must be. */
static int check_numbers(struct gnn_edgelist *l, const struct pass *ps, uint64_t n,
                         struct gnn_err *e)
{
    for (uint64_t i = 0; i < n * ps->nnum; i++) {
        const double v = ps->num[i].real;
        const uint32_t k = (uint32_t)(i % ps->nnum);
        if (l->finite[k] && !isfinite(strcmp(l->finite[k], "time") ? (double)(float)v : v))
            return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: %s is %s", gnn_reader_name(ps->t.r),
                            line_of(ps, n, i / ps->nnum), l->finite[k],
                            isnan(v) ? "missing or nan" : "infinite or too large");
    }
    return GNN_OK;
}

/* Nodes of the edges, of which only the base is not known; with src NULL only checks them. */
static int convert_ids(struct pass *ps, uint64_t n, uint32_t *src, uint32_t *dst, struct gnn_err *e)
{
    const struct gnn_edgelist *l = ps->l;
    const struct gnn_schema *sc = &l->s.d.schema;
    const uint64_t ns = sc->ntype[0].count, nd = sc->ntype[sc->nntypes - 1].count, base = l->base;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t s = ps->id[2 * i], d = ps->id[2 * i + 1], a = s - base, b = d - base;
        if (a >= ns || b >= nd)
            return bad_id(ps, n, i, a >= ns ? s : d, a >= ns ? ns : nd, e);
        if (src) {
            src[i] = (uint32_t)a;
            dst[i] = (uint32_t)b;
        }
    }
    return GNN_OK;
}

/* Keeps the edges of a chunk while there are not too many; from the first that do not fit on,
 * nothing is kept. */
static int keep_edges(struct gnn_edgelist *l, const struct pass *ps, uint64_t n,
                      struct gnn_buf *ids, struct gnn_buf *nums, struct gnn_err *e)
{
    uint64_t at = l->n, all = at + n, cost = 2 + 2 * ps->nnum;
    bool fits = all <= KEEP / cost && (!at || ids->data);
    for (uint32_t k = 0; k < ps->nnum && fits; k++) /* whole numbers are then read again */
        fits = !l->seen[k].inexact.line;
    for (uint64_t i = 0; i < 2 * n && fits; i++)
        fits = ps->id[i] <= UINT32_MAX;
    if (!fits) {
        gnn_buf_release(ids);
        gnn_buf_release(nums);
        return GNN_OK;
    }
    int rc = gnn_buf_reserve(ids, 2 * all, sizeof(uint32_t), "edges", e);
    if (!rc)
        rc = gnn_buf_reserve(nums, all * ps->nnum, sizeof *ps->num, "edge fields", e);
    if (rc)
        return rc;
    uint32_t *id = (uint32_t *)ids->data + 2 * at;
    for (uint64_t i = 0; i < 2 * n; i++)
        id[i] = (uint32_t)ps->id[i];
    memcpy((union gnn_number *)nums->data + at * ps->nnum, ps->num, n * ps->nnum * sizeof *ps->num);
    return GNN_OK;
}

/* The first rows had no zeros before ids, so that ids were taken for numbers; those that have them
 * are words. */
static int check_padded(const struct pass *ps, struct gnn_err *e)
{
    const struct gnn_reading *r = ps->l->reading;
    return ps->t.padded && r && !r->whole && ps->l->s.o->ids == GNN_IDS_AS_FOUND
               ? gnn_table_fail(&ps->t, NULL, "an id begins with 0", e)
               : GNN_OK;
}

/* Reads the edges of the scan, one chunk after the other. */
static int scan_edges(struct gnn_edgelist *l, struct pass *ps, struct gnn_err *e)
{
    struct gnn_buf ids = {0}, nums = {0};
    int rc = GNN_OK;
    for (uint64_t n = 1; !rc && n; l->n += n) {
        rc = pass_read(ps, &n, e);
        if (!rc)
            rc = check_padded(ps, e);
        if (!rc && !l->end[0])
            rc = convert_ids(ps, n, NULL, NULL, e);
        else if (!rc && !ps->word)
            rc = add_numbers(ps, n, e);
        if (!rc)
            rc = check_numbers(l, ps, n, e);
        if (!rc)
            rc = keep_edges(l, ps, n, &ids, &nums, e);
    }
    l->kept = ids.data;
    l->kept_num = nums.data;
    if (!rc && !l->n && l->end[0] && !l->one_of_several && !l->s.ntables)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: no edges: give the number of nodes with --nodes",
                      gnn_reader_name(ps->t.r));
    return rc;
}

/* Kept ids become nodes, and from now on all of them are known. */
static void convert_kept(struct gnn_edgelist *l)
{
    const uint32_t base = (uint32_t)l->base;
    for (int k = 0; k < 2; k++) {
        const struct gnn_nodeids *ids = l->known[k] ? NULL : l->end[k];
        const struct gnn_idmap *map = ids && ids->key ? &ids->map : NULL;
        uint32_t *id = l->kept ? l->kept + k : NULL;
        for (uint64_t i = 0; id && (map || base) && i < l->n; i++, id += 2)
            *id = map ? (uint32_t)gnn_idmap_find(map, *id) : *id - base;
        l->known[k] = l->end[k] != NULL;
    }
}

int gnn_edgelist_settle(struct gnn_edgelist *l, struct gnn_err *e)
{
    const bool two = strcmp(l->type[0], l->type[2]) != 0;
    int rc = GNN_OK;
    for (int i = 0; !rc && i < (two ? 2 : 1); i++)
        rc = gnn_schema_add_ntype(&l->s.d.schema, l->type[2 * i], l->end[i]->n, e);
    convert_kept(l);
    return rc;
}

int gnn_edgelist_scan(struct gnn_edgelist *l, struct gnn_err *e)
{
    struct pass ps;
    const bool collect = !l->s.d.schema.nntypes && !l->one_of_several;
    int rc = pass_open(&ps, l, e);
    if (!rc && collect)
        rc = gnn_src_make_ids(&l->s, strcmp(l->type[0], l->type[2]) ? 2 : 1, e);
    for (uint32_t i = 0; !rc && i < l->s.nids; i++)
        l->s.ids[i].kind = ps.word || l->words ? GNN_IDS_WORDS : GNN_IDS_NUMBERS;
    for (uint32_t k = 0; !rc && collect && k < 2; k++)
        l->end[k] = &l->s.ids[k ? l->s.nids - 1 : 0];
    if (!rc)
        rc = scan_edges(l, &ps, e);
    pass_close(&ps);
    if (!rc && collect)
        rc = gnn_attach_ids(&l->s, (const char *const[]){l->type[0], l->type[2]}, e);
    if (!rc && collect)
        return gnn_edgelist_settle(l, e);
    if (!rc && !l->one_of_several)
        convert_kept(l);
    return rc;
}

void gnn_edgelist_forget(struct gnn_edgelist *l)
{
    gnn_free(l->kept);
    gnn_free(l->kept_num);
    gnn_src_forget_ids(&l->s);
    l->kept = NULL;
    l->kept_num = NULL;
    if (!l->one_of_several)
        l->end[0] = l->end[1] = NULL;
    l->n = 0;
    memset(l->seen, 0, sizeof l->seen);
}

void gnn_edgelist_take_whole(struct gnn_edgelist *l, uint32_t k)
{
    const uint32_t nnum = l->npick - 2;
    uint32_t at = 0;
    for (uint32_t i = 0; i < l->npick; i++)
        if (!l->pick[i].id && at++ == k)
            l->pick[i].whole = true;
    union gnn_number *v = l->kept_num;
    for (uint64_t i = k; v && i < l->n * nnum; i += nnum)
        v[i].whole = (int64_t)v[i].real;
}

/* Numbers of a chunk to rows of the fields. */
static void fill_fields(const struct gnn_edgelist *l, const union gnn_number *num, uint32_t nnum,
                        uint64_t n, void *const *row, struct gnn_lost *lost)
{
    const struct gnn_etype *et = &l->s.d.schema.etype[0];
    for (uint32_t f = 0; f < et->nfields; f++) {
        const union gnn_number *v = num + l->num_of[f];
        for (uint64_t i = 0; i < n; i++, v += nnum) {
            if (et->field[f].dtype == GNN_F32) {
                gnn_lost_add(&lost[f], v->real);
                ((float *)row[f])[i] = (float)v->real;
            } else if (et->field[f].dtype == GNN_F64) {
                ((double *)row[f])[i] = v->real;
            } else {
                ((int64_t *)row[f])[i] = v->whole;
            }
        }
    }
}

/* The next edges, from memory or from the file. */
static int next_chunk(struct pass *ps, uint64_t *n, uint32_t *src, uint32_t *dst,
                      const union gnn_number **num, struct gnn_err *e)
{
    struct gnn_edgelist *l = ps->l;
    if (!l->kept) {
        *num = ps->num;
        int rc = pass_read(ps, n, e);
        return rc ? rc : convert_ids(ps, *n, src, dst, e);
    }
    const uint32_t *id = l->kept + 2 * ps->done;
    *n = l->n - ps->done < CHUNK ? l->n - ps->done : CHUNK;
    for (uint64_t i = 0; i < *n; i++) {
        src[i] = id[2 * i];
        dst[i] = id[2 * i + 1];
    }
    *num = l->kept_num + ps->done * ps->nnum;
    ps->done += *n;
    return GNN_OK;
}

static int edgelist_edges(struct gnn_dataset *d, uint32_t t, bool fields, gnn_edge_fn *fn,
                          void *arg, struct gnn_err *e)
{
    struct gnn_edgelist *l = (struct gnn_edgelist *)d;
    const struct gnn_etype *et = &d->schema.etype[t];
    struct pass ps;
    void *row[GNN_EDGELIST_FIELDS] = {0};
    const union gnn_number *num;
    struct gnn_lost lost[GNN_EDGELIST_FIELDS] = {0};
    int rc = pass_open(&ps, l, e);
    uint32_t src[CHUNK], dst[CHUNK];
    fields = fields && et->nfields;
    for (uint32_t f = 0; !rc && fields && f < et->nfields; f++)
        if (!(row[f] = gnn_alloc(CHUNK, 8, "edge fields", e)))
            rc = GNN_E_NOMEM;
    for (uint64_t n = 1; !rc && n;) {
        rc = next_chunk(&ps, &n, src, dst, &num, e);
        if (!rc && fields)
            fill_fields(l, num, ps.nnum, n, row, lost);
        struct gnn_edge_chunk c = {n, src, dst, fields ? (const void *const *)row : NULL};
        if (!rc && n)
            rc = fn(arg, &c, e);
    }
    for (uint32_t f = 0; !rc && f < et->nfields; f++)
        rc = gnn_lost_tell(d, gnn_input_name(l->s.in[0]), et->field[f].name, &lost[f], e);
    for (uint32_t f = 0; f < et->nfields; f++)
        gnn_free(row[f]);
    pass_close(&ps);
    return rc;
}

static void edgelist_free(struct gnn_dataset *d)
{
    struct gnn_edgelist *l = (struct gnn_edgelist *)d;
    gnn_free(l->kept);
    gnn_free(l->kept_num);
    gnn_free(l->reading);
    gnn_free(l->types);
    gnn_src_free(d);
}

const struct gnn_dataset_ops gnn_edgelist_ops = {edgelist_edges, gnn_src_rows, gnn_src_set,
                                                 edgelist_free};
