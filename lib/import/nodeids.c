/* SPDX-License-Identifier: Apache-2.0 */
/* The ids of nodes (lib/import/nodeids.h): ranks from a map of numbers, or a table of words. */
#include "lib/import/nodeids.h"

#include <stdio.h>
#include <string.h>

int gnn_nodeids_add_numbers(struct gnn_nodeids *ids, const uint64_t *key, uint64_t n,
                            struct gnn_err *e)
{
    return gnn_idmap_add(&ids->map, key, n, e);
}

int gnn_nodeids_add_words(struct gnn_nodeids *ids, const struct gnn_word *word, uint64_t n,
                          uint32_t *node, struct gnn_err *e)
{
    return gnn_words_add(&ids->words, word, n, node, e);
}

void gnn_nodeids_seal(struct gnn_nodeids *ids)
{
    if (ids->kind == GNN_IDS_NUMBERS)
        gnn_idmap_finish(&ids->map);
    ids->of_edges = ids->kind == GNN_IDS_NUMBERS ? ids->map.n : ids->words.n;
}

bool gnn_nodeids_in_edges(const struct gnn_nodeids *ids, const struct gnn_word *word)
{
    uint64_t v;
    uint32_t node = UINT32_MAX;
    if (ids->kind == GNN_IDS_NUMBERS)
        return gnn_word_number(word, &v) && gnn_idmap_find(&ids->map, v) != UINT64_MAX;
    gnn_words_find(&ids->words, word, 1, &node);
    return node != UINT32_MAX;
}

int gnn_nodeids_finish(struct gnn_nodeids *ids, struct gnn_err *e)
{
    if (ids->kind == GNN_IDS_WORDS) {
        ids->n = ids->words.n;
        gnn_free(gnn_words_sort(&ids->words, (uint32_t)ids->of_edges, e));
    } else if (ids->kind == GNN_IDS_NUMBERS) {
        gnn_idmap_finish(&ids->map);
        ids->n = ids->map.n;
        /* Dense ids are what they are mapped to. */
        if (!ids->map.dense && !(ids->key = gnn_alloc(ids->n, sizeof *ids->key, "node ids", e)))
            return GNN_E_NOMEM;
        if (ids->key)
            gnn_idmap_keys(&ids->map, ids->key);
    }
    if (ids->n > UINT32_MAX - 1)
        gnn_fail(e, GNN_E_INPUT, "more than 4294967294 nodes");
    return e->code;
}

/* The node of each rank; GNN_E_INPUT for a rank that two nodes have. */
static int place_nodes(struct gnn_nodeids *ids, const int64_t *key, uint64_t n, const char *where,
                       struct gnn_err *e)
{
    uint32_t *place = gnn_alloc(n, sizeof *place, "node ids", e);
    if (!place)
        return GNN_E_NOMEM;
    ids->place = place;
    memset(place, 255, n * sizeof *place);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t k = (uint64_t)key[i], rank = gnn_idmap_find(&ids->map, k);
        if (place[rank] != UINT32_MAX)
            return gnn_fail(e, GNN_E_INPUT, "%s: row %llu: the id %llu is there twice", where,
                            (unsigned long long)i + 1, (unsigned long long)k);
        place[rank] = (uint32_t)i;
    }
    return GNN_OK;
}

int gnn_nodeids_take(struct gnn_nodeids *ids, const int64_t *key, uint64_t n, const char *where,
                     struct gnn_err *e)
{
    bool ascend = true;
    ids->kind = GNN_IDS_NUMBERS;
    for (uint64_t i = 0; i < n; i++) {
        if (key[i] < 0)
            return gnn_fail(e, GNN_E_INPUT, "%s: row %llu: a negative id %lld", where,
                            (unsigned long long)i + 1, (long long)key[i]);
        ascend = ascend && (!i || key[i] > key[i - 1]);
    }
    int rc = gnn_nodeids_add_numbers(ids, (const uint64_t *)key, n, e);
    gnn_nodeids_seal(ids);
    if (!rc)
        rc = gnn_nodeids_finish(ids, e);
    if (rc || ascend)
        return rc;
    rc = place_nodes(ids, key, n, where, e);
    if (!rc && !ids->key && !(ids->key = gnn_alloc(n, sizeof *ids->key, "node ids", e)))
        rc = GNN_E_NOMEM;
    if (!rc)
        memcpy(ids->key, key, n * sizeof *key);
    return rc;
}

bool gnn_word_number(const struct gnn_word *w, uint64_t *v)
{
    char digits[24];
    if (!w->n || w->n > 20)
        return false;
    for (size_t i = 0; i < w->n; i++)
        digits[i] = w->p[i];
    digits[w->n] = '\n';
    const char *end = gnn_text_u64(digits, v);
    return end == digits + w->n;
}

void gnn_nodeids_find(const struct gnn_nodeids *ids, const struct gnn_word *word, uint64_t n,
                      uint32_t *node)
{
    uint64_t v, at;
    if (ids->kind == GNN_IDS_WORDS) {
        gnn_words_find(&ids->words, word, n, node);
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        at = gnn_word_number(&word[i], &v) ? gnn_nodeids_number(ids, v) : UINT64_MAX;
        node[i] = at == UINT64_MAX ? UINT32_MAX : (uint32_t)at;
    }
}

const char *gnn_word_shown(const struct gnn_word *w, char text[GNN_ID_TEXT])
{
    return gnn_text_shown(text, GNN_ID_TEXT, w->p, w->n);
}

const char *gnn_nodeids_text(const struct gnn_nodeids *ids, uint64_t node, char text[GNN_ID_TEXT])
{
    if (ids->kind == GNN_IDS_WORDS) {
        const struct gnn_word w = gnn_words_get(&ids->words, node);
        return gnn_word_shown(&w, text);
    }
    snprintf(text, GNN_ID_TEXT, "%lld", ids->key ? (long long)ids->key[node] : (long long)node);
    return text;
}

void gnn_nodeids_release(struct gnn_nodeids *ids)
{
    gnn_free(ids->key);
    gnn_free(ids->place);
    gnn_idmap_release(&ids->map);
    gnn_words_release(&ids->words);
    *ids = (struct gnn_nodeids){0};
}
