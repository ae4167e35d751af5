/* SPDX-License-Identifier: Apache-2.0 */
/* Splits of the Open Graph Benchmark's archives (lib/import/read/ogb_members.h): below split/NAME/
 * either split_dict.pt, which OGB's reader prefers, or a file for each set: of text, of NumPy or of
 * torch.save. In files of torch.save, an array has the nodes of a set, a dict those of node types.
 */
#include <stdio.h>
#include <string.h>

#include "lib/import/link_keys.h"
#include "lib/import/read/array.h"
#include "lib/import/read/masks.h"
#include "lib/import/read/ogb_members.h"
#include "lib/import/read/keyed_arrays.h"

enum { WORD = GNN_OGB_WORD, SETS = 3 };

static const char *const set_names[SETS] = {"train", "valid", "test"};

struct splitting {
    struct gnn_src *s;
    const struct gnn_ogb_members *g;
    char split[WORD];
    unsigned sets; /* a bit for each that is there */
    int ntype;     /* of the nodes, or -1 */
    bool links, triples;
};

/* ---- text and arrays of NumPy ---- */

/* Node ids of the split's sets; typed graphs have a directory for each type below the split's. */
static int add_rows(struct splitting *k, uint32_t ntype, const char *dir, struct gnn_err *e)
{
    char path[3 * WORD];
    int rc = GNN_OK, found = 0, arrays = 0;
    snprintf(path, sizeof path, "split/%s/%s", k->split, dir);
    for (int i = 0; !rc && i < SETS; i++) {
        const int m = gnn_ogb_find_rows(k->g, path, set_names[i]);
        if (m < 0)
            continue;
        found++;
        arrays += gnn_ogb_is_array(k->g, m);
        rc = gnn_masks_add_ids(k->s, k->g->in, (uint32_t)m, k->split, set_names[i], ntype, e);
    }
    /* OGB's own splits have all three. */
    if (!rc && found > arrays && found < SETS)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %ssplit/%s/%s lacks one of train, valid, test",
                      gnn_input_name(k->g->in), k->g->root, k->split, dir);
    return rc;
}

static int add_all_rows(struct splitting *k, struct gnn_err *e)
{
    char list[2 * WORD], sets[WORD + 8];
    snprintf(list, sizeof list, "split/%s/nodetype-has-split.csv", k->split);
    snprintf(sets, sizeof sets, "split/%s/", k->split);
    int rc = gnn_ogb_check_declared(k->g, list, sets, "/train.csv", e);
    if (!rc)
        rc = add_rows(k, 0, "", e);
    for (uint32_t t = 0; !rc && t < k->s->d.schema.nntypes; t++) {
        char dir[WORD + 1];
        snprintf(dir, sizeof dir, "%s/", k->s->d.schema.ntype[t].name);
        rc = add_rows(k, t, dir, e);
    }
    return rc;
}

/* ---- files of torch.save ---- */

static int fail_ids(struct gnn_input *in, uint32_t member, const char *found, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "%s: expected ids of nodes, found %s",
                    gnn_input_where(in, member), found);
}

static int add_ids(struct splitting *k, struct gnn_input *in, uint32_t member, int set,
                   uint32_t ntype, struct gnn_err *e)
{
    struct gnn_array a;
    int rc = gnn_array_open(&a, in, member, e);
    const struct gnn_ntype *nt = k->s->d.schema.ntype;
    const bool mask = a.h.is_bool, flat = a.h.ndim == 1 || (a.h.ndim == 2 && a.width == 1);
    gnn_array_close(&a);
    if (rc)
        return rc;
    if (mask || !flat)
        return fail_ids(in, member, mask ? "booleans" : "no list of them", e);
    if (k->ntype >= 0 && (uint32_t)k->ntype != ntype)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: sets of two node types, '%s' and '%s', of which a split has one",
                        gnn_input_where(in, member), nt[k->ntype].name, nt[ntype].name);
    k->ntype = (int)ntype;
    return gnn_masks_add_ids(k->s, in, member, k->split, set_names[set], ntype, e);
}

/* An array, which `key` says of which node type it is; "" of the only one. */
static int add_array(struct splitting *k, struct gnn_input *in, uint32_t member, int set,
                     const char *key, struct gnn_err *e)
{
    const struct gnn_schema *c = &k->s->d.schema;
    int t = *key ? gnn_schema_find_ntype(c, key) : 0;
    if (t < 0 && gnn_link_key_is(key)) {
        k->links = true;
        k->triples = k->triples || gnn_link_key_is_triple(key);
        return GNN_OK;
    }
    if (t < 0)
        return gnn_fail(e, GNN_E_INPUT, "%s: no node type '%s'", gnn_input_where(in, member), key);
    if (!*key && c->nntypes > 1)
        return fail_ids(in, member, "an array, which does not say of which node type", e);
    return k->links ? GNN_OK : add_ids(k, in, member, set, (uint32_t)t, e);
}

/* The key of an array of a set in a dict of sets; NULL: it is another's. */
static const char *key_in_set(const char *name, int set)
{
    const size_t n = strlen(set_names[set]);
    if (strncmp(name, set_names[set], n) != 0 || (name[n] && name[n] != '/'))
        return NULL;
    return name + n + (name[n] == '/');
}

static int add_sets(struct splitting *k, struct gnn_input *in, struct gnn_err *e)
{
    int rc = GNN_OK;
    uint32_t known = 0;
    for (int set = 0; set < SETS; set++)
        for (uint32_t i = 0; !rc && i < gnn_input_members(in); i++) {
            const char *key = key_in_set(gnn_input_member(in, i), set);
            if (!key)
                continue;
            rc = add_array(k, in, i, set, key, e);
            k->sets |= 1u << set;
            known++;
        }
    for (uint32_t i = 0; !rc && known < gnn_input_members(in) && i < gnn_input_members(in); i++) {
        const char *name = gnn_input_member(in, i);
        if (!key_in_set(name, 0) && !key_in_set(name, 1) && !key_in_set(name, 2))
            rc = gnn_fail(e, GNN_E_INPUT, "%s: expected a dict of train, valid and test",
                          gnn_input_where(in, i));
    }
    return rc;
}

/* All sets, or, if `set` is one, this one. */
static int add_values(struct splitting *k, int member, int set, struct gnn_err *e)
{
    struct gnn_input *in = NULL;
    char left[400];
    bool typed;
    int rc = gnn_input_open_inner_keyed(&in, k->g->in, (uint32_t)member, e);
    if (!rc && !gnn_input_is_arrays(in, &typed))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: neither a file of torch.save nor a pickle",
                      gnn_input_name(in));
    if (!rc && set < 0)
        rc = add_sets(k, in, e);
    for (uint32_t i = 0; !rc && set >= 0 && i < gnn_input_members(in); i++) {
        const char *key = gnn_input_member(in, i);
        const bool only = !strcmp(key, GNN_KEYED_ONLY_ARRAY) && gnn_input_members(in) == 1;
        rc = add_array(k, in, i, set, only ? "" : key, e);
        k->sets |= 1u << set;
    }
    if (!rc && !k->links && gnn_input_left(in, left, sizeof left))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: not an array: %s", gnn_input_name(in), left);
    gnn_input_free(in);
    return rc;
}

static int tell_links(struct splitting *k, struct gnn_err *e)
{
    char type[GNN_ETYPE_KEY_CAPACITY];
    const char *name = gnn_input_name(k->g->in);
    const bool typed = k->triples && k->s->d.schema.netypes > 1;
    return gnn_dataset_note(&k->s->d, e,
                            "%s: split '%s' has sets of links%s; to make a split of the store: "
                            "gnn-import --split-links %s=ogb:%s STORE -o STORE2",
                            name, k->split, typed ? " of each edge type" : "",
                            gnn_etype_key(&k->s->d.schema, 0, type, sizeof type), name);
}

/* ---- splits ---- */

static int add_split(struct splitting *k, struct gnn_err *e)
{
    const int all = gnn_ogb_find(k->g, "split/%s/split_dict.pt", k->split);
    int rc = all >= 0 ? add_values(k, all, -1, e) : GNN_OK;
    for (int i = 0; !rc && all < 0 && i < SETS; i++) {
        const int m = gnn_ogb_find(k->g, "split/%s/%s.pt", k->split, set_names[i]);
        if (m >= 0)
            rc = add_values(k, m, i, e);
    }
    if (rc)
        return rc;
    if (k->sets && k->sets + 1 != 1u << SETS)
        return gnn_fail(e, GNN_E_INPUT, "%s: %ssplit/%s lacks one of train, valid, test",
                        gnn_input_name(k->g->in), k->g->root, k->split);
    return k->links ? tell_links(k, e) : k->sets ? GNN_OK : add_all_rows(k, e);
}

int gnn_ogb_splits_add(struct gnn_src *s, const struct gnn_ogb_members *g, struct gnn_err *e)
{
    struct splitting k;
    char before[WORD] = "", prefix[GNN_OGB_PATH + 8];
    int rc = GNN_OK, n = snprintf(prefix, sizeof prefix, "%ssplit/", g->root);
    for (uint32_t i = 0; !rc && i < gnn_input_members(g->in); i++) {
        const char *name = gnn_input_member(g->in, i) + n, *end;
        if (strncmp(name - n, prefix, (size_t)n) || !(end = strchr(name, '/')))
            continue;
        if (end - name >= WORD)
            return gnn_fail(e, GNN_E_INPUT, "%s: a split's name is too long",
                            gnn_input_name(g->in));
        k = (struct splitting){.s = s, .g = g, .ntype = -1};
        snprintf(k.split, sizeof k.split, "%.*s", (int)(end - name), name);
        if (!strcmp(k.split, before)) /* members are sorted */
            continue;
        snprintf(before, sizeof before, "%s", k.split);
        rc = add_split(&k, e);
    }
    return rc;
}
