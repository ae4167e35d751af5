/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/read/files.h"

#include <string.h>

#include "lib/import/read/array.h"
#include "lib/import/read/joined.h"

/* The node of an id, or UINT64_MAX. */
static uint64_t node_of(const struct gnn_nodeids *of, uint64_t count, int64_t key)
{
    if (key < 0)
        return UINT64_MAX;
    if (of)
        return gnn_nodeids_number(of, (uint64_t)key);
    return (uint64_t)key < count ? (uint64_t)key : UINT64_MAX;
}

int gnn_member_ids(struct gnn_input *in, uint32_t member, uint64_t count,
                   const struct gnn_nodeids *of, uint32_t **node, uint64_t *n, struct gnn_err *e)
{
    int64_t *v = NULL;
    uint64_t width;
    *node = NULL;
    if (of && of->kind == GNN_IDS_WORDS)
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: nodes have names, which an array does not hold: give a text file",
                        gnn_input_name(in));
    int rc = gnn_array_load(in, member, GNN_I64, (void **)&v, n, &width, e);
    if (!rc && width > 1)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: more than one id a line", gnn_input_where(in, member));
    if (!rc && !(*node = gnn_alloc(*n, sizeof **node, "node ids", e)))
        rc = GNN_E_NOMEM;
    for (uint64_t i = 0; !rc && i < *n; i++) {
        uint64_t id = node_of(of, count, v[i]);
        if (id == UINT64_MAX)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: row %llu: no node %lld (there are %llu)",
                          gnn_input_where(in, member), (unsigned long long)i + 1, (long long)v[i],
                          (unsigned long long)count);
        (*node)[i] = (uint32_t)id;
    }
    gnn_free(v);
    if (rc) {
        gnn_free(*node);
        *node = NULL;
    }
    return rc;
}

int gnn_member_words(struct gnn_input *in, uint32_t member, struct gnn_nodeids *ids, uint64_t *n,
                     struct gnn_err *e)
{
    struct gnn_table t;
    struct gnn_word w;
    char shown[GNN_ID_TEXT];
    uint32_t node;
    int rc = gnn_table_open(&t, in, member, 0, e);
    ids->kind = GNN_IDS_WORDS;
    *n = 0;
    while (!rc) {
        const uint64_t line = t.line;
        rc = gnn_table_row(&t, &w, 1, e);
        if (!rc)
            rc = gnn_table_check_id(&t, &w, 0, line, e);
        if (!rc)
            rc = gnn_nodeids_add_words(ids, &w, 1, &node, e);
        if (!rc && node != (*n)++)
            rc =
                gnn_fail(e, GNN_E_INPUT, "%s: line %llu: the id '%s' is there twice",
                         gnn_reader_name(t.r), (unsigned long long)line, gnn_word_shown(&w, shown));
    }
    gnn_table_close(&t);
    gnn_nodeids_seal(ids);
    return rc == GNN_END ? gnn_nodeids_finish(ids, e) : rc;
}

/* Which column has the ids of a set; a name may have blanks in it. */
static int find_column(struct gnn_joined *j, const struct gnn_nodeids *of, struct gnn_err *e)
{
    uint32_t node;
    if (j->column)
        return j->id < 0 ? gnn_joined_no_id(j, "", j->path, e) : GNN_OK;
    gnn_nodeids_find(of, &j->top, 1, &node);
    if (node < of->n && of->kind == GNN_IDS_WORDS)
        return gnn_joined_whole(j, e);
    if (j->ncols > 1)
        return j->id < 0 ? gnn_joined_no_id(j, "", j->path, e) : GNN_OK;
    j->id = 0;
    /* A node may be called like a header. */
    gnn_nodeids_find(of, &(struct gnn_word){j->name[0], strlen(j->name[0])}, 1, &node);
    j->header = j->header && node >= of->n;
    return gnn_joined_again(j, e);
}

static int read_set(struct gnn_joined *j, const char *what, const struct gnn_nodeids *of,
                    uint32_t **node, uint64_t *n, struct gnn_err *e)
{
    struct gnn_buf b = {0};
    char text[GNN_ID_TEXT];
    uint64_t *line = gnn_alloc_zero(of->n, sizeof *line, "lines of nodes", e);
    int rc = line ? find_column(j, of, e) : GNN_E_NOMEM;
    uint32_t v;
    for (*n = 0; !rc && !(rc = gnn_joined_next(j, e)); ++*n) {
        rc = gnn_joined_id(j, of, of->n, &v, e);
        if (!rc && line[v])
            rc = gnn_fail(e, GNN_E_INPUT, "%s: %s: node %s is a duplicate, in lines %llu and %llu",
                          j->path, what, gnn_nodeids_text(of, v, text), (unsigned long long)line[v],
                          (unsigned long long)j->line);
        if (!rc)
            rc = gnn_buf_reserve(&b, *n + 1, sizeof **node, "node ids", e);
        if (rc)
            break;
        line[v] = j->line;
        ((uint32_t *)b.data)[*n] = v;
    }
    gnn_free(line);
    *node = b.data;
    return rc == GNN_END ? GNN_OK : rc;
}

int gnn_files_ids(const char *spec, const char *what, uint64_t count, const struct gnn_nodeids *of,
                  uint32_t **node, uint64_t *n, struct gnn_err *e)
{
    const struct gnn_nodeids numbers = {.n = count};
    struct gnn_joined j;
    *node = NULL;
    *n = 0;
    int rc = gnn_joined_open(&j, spec, NULL, e);
    if (!rc && !j.text)
        rc = gnn_member_ids(j.in, 0, count, of, node, n, e);
    else if (!rc && j.ncols)
        rc = read_set(&j, what, of ? of : &numbers, node, n, e);
    if (!rc && !*node && !(*node = gnn_alloc(0, sizeof **node, "node ids", e)))
        rc = GNN_E_NOMEM;
    gnn_joined_close(&j);
    if (rc) {
        gnn_free(*node);
        *node = NULL;
    }
    return rc;
}

int gnn_member_number(struct gnn_input *in, uint32_t member, uint64_t *v, struct gnn_err *e)
{
    int64_t *a = NULL;
    uint64_t rows, width;
    int rc = gnn_array_load(in, member, GNN_I64, (void **)&a, &rows, &width, e);
    if (!rc && (rows != 1 || width != 1))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: expected one number, found %s",
                      gnn_input_where(in, member),
                      rows && width ? "several (several graphs are not supported)" : "none");
    if (!rc && a[0] < 0)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %lld: expected a count >= 0",
                      gnn_input_where(in, member), (long long)a[0]);
    *v = rc ? 0 : (uint64_t)a[0];
    gnn_free(a);
    return rc;
}
