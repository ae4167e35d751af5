/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of links of an OnDiskDataset, as a split of links takes them (lib/import/link_archive.h).
 * Negatives are arrays of their own in DGL 2.1; later they may be seeds with label 0, and indexes
 * say to which link they belong. */
#include <string.h>

#include "formats/npy.h"
#include "lib/base/mem.h"
#include "lib/import/link_keys.h"
#include "lib/import/read/ondisk_impl.h"

struct linking {
    struct ondisk *o;
    const char *task; /* asked for, or NULL */
    const char *path; /* as given */
    uint32_t type;
    bool any;
    uint32_t number; /* of the task that was found, if any */
    bool *sets;
};

/* A set whose seeds are links and negatives. */
struct mixed {
    const struct linking *k;
    const struct ondisk_set *s;
    uint64_t n, links;
    int64_t *pair;  /* (2 n) */
    double *label;  /* (n) */
    int64_t *index; /* (n), or NULL */
};

static int add_array(const struct linking *k, const struct ondisk_set *s, const char *key,
                     const struct gnn_strided *a, struct gnn_err *e)
{
    static const char *const prefix[] = {"train/", "valid/", "test/"};
    return gnn_array_list_add(k->o->l, prefix[s->set], key, a, e);
}

/* Rows of whole numbers from gnn_alloc, which it takes over. */
static int add_made(const struct linking *k, const struct ondisk_set *s, const char *key,
                    int64_t *v, uint64_t rows, uint64_t width, struct gnn_err *e)
{
    struct gnn_strided a = {
        .dtype = GNN_I64, .ndim = 2, .shape = {rows, width}, .data = (const uint8_t *)v};
    int rc = v ? gnn_array_list_hold(k->o->l, v, gnn_free, e) : GNN_E_NOMEM;
    (void)gnn_strided_set_order(&a, false);
    (void)gnn_strided_fits(&a, rows * width * sizeof *v);
    return rc ? rc : add_array(k, s, key, &a, e);
}

/* All values of an array, as i64 or f64; free with gnn_free. */
static void *copy_all(const struct gnn_strided *a, bool whole, struct gnn_err *e)
{
    uint64_t bad;
    void *raw = gnn_alloc(a->count, gnn_dtype_bytes(a->dtype), "links", e);
    void *out = gnn_alloc(a->count, sizeof(int64_t), "links", e);
    if (raw && out) {
        gnn_strided_copy(a, 0, gnn_strided_rows(a), raw);
        if (!whole)
            gnn_npy_to_f64(a->dtype, raw, out, a->count);
        else if (!gnn_npy_to_i64(a->dtype, raw, out, a->count, &bad))
            (void)gnn_fail(e, GNN_E_INPUT, "links: value %llu is no id", (unsigned long long)bad);
    }
    gnn_free(raw);
    if (e->code) {
        gnn_free(out);
        return NULL;
    }
    return out;
}

/* ---- seeds with labels ---- */

/* The seeds of one label, in their order. */
static int add_labelled(const struct mixed *m, double label, const char *key, struct gnn_err *e)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < m->n; i++)
        n += m->label[i] == label;
    if (!n)
        return GNN_OK;
    int64_t *pair = gnn_alloc(2 * n, sizeof *pair, "links", e);
    for (uint64_t i = 0, at = 0; pair && i < m->n; i++)
        if (m->label[i] == label) {
            memcpy(pair + 2 * at, m->pair + 2 * i, 2 * sizeof *pair);
            at++;
        }
    return add_made(m->k, m->s, key, pair, n, 2, e);
}

static int fail_index(const struct mixed *m, uint64_t i, const char *why, struct gnn_err *e)
{
    return gnn_ondisk_fail(m->k->o, &m->s->at[ONDISK_INDEXES], e, "row %llu: index %lld %s",
                           (unsigned long long)i, (long long)m->index[i], why);
}

/* of[index]: which of the links it is. */
static int number_links(struct mixed *m, uint64_t *of, struct gnn_err *e)
{
    memset(of, 0xff, m->n * sizeof *of);
    for (uint64_t i = 0; i < m->n; i++) {
        const uint64_t index = (uint64_t)m->index[i];
        if (index >= m->n)
            return fail_index(m, i, "is beyond the rows", e);
        if (m->label[i] != 1)
            continue;
        if (of[index] != UINT64_MAX)
            return fail_index(m, i, "is that of another link with label 1", e);
        of[index] = m->links++;
    }
    return GNN_OK;
}

/* The tails of negatives with label 0, (links, width) of them, each link's in their order. */
static int place_tails(const struct mixed *m, const uint64_t *of, int64_t *tail, int64_t *head,
                       uint64_t *seen, uint64_t width, struct gnn_err *e)
{
    for (uint64_t i = 0; i < m->n; i++)
        if (m->label[i] == 1)
            head[of[m->index[i]]] = m->pair[2 * i];
    for (uint64_t i = 0; i < m->n; i++) {
        const uint64_t link = of[m->index[i]];
        if (m->label[i] == 1)
            continue;
        if (link == UINT64_MAX)
            return fail_index(m, i, "is that of no link with label 1", e);
        if (m->pair[2 * i] != head[link])
            return fail_index(m, i,
                              "has another head than its link: only candidates of tails are "
                              "read",
                              e);
        if (seen[link] == width)
            return fail_index(m, i, "has more negatives than others: each link must have as many",
                              e);
        tail[link * width + seen[link]++] = m->pair[2 * i + 1];
    }
    return GNN_OK;
}

static int add_indexed(struct mixed *m, struct gnn_err *e)
{
    uint64_t *of = gnn_alloc(m->n + 1, sizeof *of, "links", e);
    int rc = of ? number_links(m, of, e) : GNN_E_NOMEM;
    const uint64_t more = rc ? 0 : m->n - m->links, width = rc ? 0 : more / m->links;
    if (!rc && more % m->links)
        rc = gnn_ondisk_fail(m->k->o, &m->s->at[ONDISK_INDEXES], e,
                             "%llu negatives for %llu links: each must have as many",
                             (unsigned long long)more, (unsigned long long)m->links);
    int64_t *tail = rc ? NULL : gnn_alloc(more + 1, sizeof *tail, "links", e);
    int64_t *head = rc ? NULL : gnn_alloc(m->links, sizeof *head, "links", e);
    uint64_t *seen = rc ? NULL : gnn_alloc_zero(m->links, sizeof *seen, "links", e);
    if (!rc && (!tail || !head || !seen))
        rc = GNN_E_NOMEM;
    if (!rc)
        rc = place_tails(m, of, tail, head, seen, width, e);
    if (!rc)
        rc = add_labelled(m, 1, GNN_LINK_KEY_PAIRS, e);
    if (!rc && width)
        rc = add_made(m->k, m->s, GNN_LINK_KEY_EACH, tail, m->links, width, e);
    else
        gnn_free(tail);
    gnn_free(of);
    gnn_free(head);
    gnn_free(seen);
    return rc;
}

/* Labels 1 and 0 say which seeds are links; others are left to be named as not read. */
static int add_mixed(const struct linking *k, const struct ondisk_set *s, struct gnn_err *e)
{
    const struct gnn_strided *y = &s->data[ONDISK_LABELS];
    struct mixed m = {.k = k, .s = s, .n = s->data[ONDISK_SEEDS].shape[0]};
    bool bits = y->count == m.n, any = false;
    m.label = copy_all(y, false, e);
    for (uint64_t i = 0; m.label && i < m.n && bits; i++) {
        bits = m.label[i] == 0 || m.label[i] == 1;
        any = any || m.label[i] == 1;
    }
    int rc = m.label ? GNN_OK : e->code;
    if (!rc && s->has[ONDISK_INDEXES] && !bits)
        rc = gnn_ondisk_fail(k->o, &s->at[ONDISK_LABELS], e,
                             "with indexes, labels must be 1 of links and 0 of negatives");
    if (!rc && bits && !any)
        rc = gnn_ondisk_fail(k->o, &s->at[ONDISK_LABELS], e, "no label is 1");
    if (!rc && !bits) {
        rc = add_array(k, s, GNN_LINK_KEY_PAIRS, &s->data[ONDISK_SEEDS], e);
        gnn_free(m.label);
        return rc ? rc : add_array(k, s, "labels", y, e);
    }
    if (!rc && !(m.pair = copy_all(&s->data[ONDISK_SEEDS], true, e)))
        rc = e->code;
    if (!rc && s->has[ONDISK_INDEXES] && !(m.index = copy_all(&s->data[ONDISK_INDEXES], true, e)))
        rc = e->code;
    if (!rc && m.index)
        rc = add_indexed(&m, e);
    else if (!rc && !(rc = add_labelled(&m, 1, GNN_LINK_KEY_PAIRS, e)))
        rc = add_labelled(&m, 0, GNN_LINK_KEY_SHARED, e);
    gnn_free(m.pair);
    gnn_free(m.label);
    gnn_free(m.index);
    return rc;
}

/* ---- sets ---- */

static bool is_asked(struct linking *k, const struct ondisk_set *s)
{
    const char *given = json_string_value(json_object_get(s->task, "name"));
    const struct ondisk_name name = gnn_ondisk_task(k->o, s);
    return s->links && s->type == k->type &&
           (!k->task || !strcmp(k->task, name.text) || (given && !strcmp(k->task, given)));
}

static int add_set(void *arg, const struct ondisk_set *s, struct gnn_err *e)
{
    struct linking *k = arg;
    const struct ondisk_place at = gnn_ondisk_below(NULL, "tasks", s->number);
    int rc = GNN_OK;
    if (!is_asked(k, s))
        return GNN_OK;
    if (k->any && k->number != s->number)
        return gnn_ondisk_fail(k->o, &at, e,
                               "a second task with links of this type: name one, graphbolt:%s:%s",
                               k->path, gnn_ondisk_task(k->o, s).text);
    k->any = k->sets[s->set] = true;
    k->number = s->number;
    if (!s->data[ONDISK_SEEDS].shape[0])
        return gnn_ondisk_fail(k->o, &s->at[ONDISK_SEEDS], e, "no seeds, in shape (0, 2)");
    if (s->has[ONDISK_INDEXES] && !s->has[ONDISK_LABELS])
        return gnn_ondisk_fail(k->o, &s->at[ONDISK_INDEXES], e,
                               "indexes without labels do not say which seeds are links");
    rc = s->has[ONDISK_LABELS] ? add_mixed(k, s, e)
                               : add_array(k, s, GNN_LINK_KEY_PAIRS, &s->data[ONDISK_SEEDS], e);
    if (!rc && s->has[ONDISK_TAILS])
        rc = add_array(k, s, GNN_LINK_KEY_EACH, &s->data[ONDISK_TAILS], e);
    if (!rc && s->has[ONDISK_HEADS])
        rc = add_array(k, s, GNN_LINK_KEY_HEADS_EACH, &s->data[ONDISK_HEADS], e);
    return rc;
}

static int find_type(struct linking *k, const char *etype, struct gnn_err *e)
{
    const size_t n = strlen(etype);
    for (k->type = 0; k->type < k->o->nedges; k->type++) {
        const char *prefix = k->o->edge[k->type].prefix;
        if (!strncmp(prefix, etype, n) && !strcmp(prefix + n, "/"))
            return GNN_OK;
    }
    return gnn_fail(e, GNN_E_INPUT, "%s: no edge type '%s'", k->o->yaml, etype);
}

int gnn_ondisk_add_links(struct gnn_array_list *l, const char *path, const char *task,
                         const char *etype, bool sets[3], struct gnn_err *e)
{
    struct ondisk o = {.l = l};
    struct linking k = {.o = &o, .task = task, .path = path, .sets = sets};
    int rc = gnn_ondisk_load(&o, path, e);
    if (!rc)
        rc = find_type(&k, etype, e);
    if (!rc)
        rc = gnn_ondisk_sets(&o, add_set, &k, e);
    if (!rc && !k.any)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: no%s%s%s task has sets of links of %s", o.yaml,
                      task ? " '" : "", task ? task : "", task ? "'" : "", etype);
    gnn_ondisk_release(&o);
    return rc;
}
