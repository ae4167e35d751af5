/* SPDX-License-Identifier: Apache-2.0 */
/* Reverses (lib/import/build/reverses.h). Types are compared by sums of hashes of their edges
 * (lib/data/direction.h), which are equal by accident with probability 2^-64. */
#include "lib/import/build/reverses.h"

#include <string.h>

#include "lib/base/mem.h"

#define NEARLY                                                                                     \
    0.99 /* the share of edges with a reverse from which adding reverses is a mistake              \
          */

int gnn_reverses_check(const struct gnn_dataset *d, const struct gnn_import_opts *o,
                       const char *key, const struct gnn_direction_counter *c, bool *there,
                       struct gnn_err *e)
{
    struct gnn_direction n;
    gnn_direction_sum(c, false, false, false, &n);
    const double share = gnn_direction_share(&n);
    *there = false;
    if (n.edges == n.loops || !(o->undirected || d->guessed))
        return GNN_OK;
    *there = n.symmetric || (!o->undirected && share >= NEARLY);
    if (!*there && !o->undirected && share > 0)
        return gnn_fail(
            e, GNN_E_INPUT,
            "%s: %s%.2f %% of the edges %s have their reverse, so the file does not list each edge "
            "once, as its layout has it: --directed keeps the edges as they are, -u --dedup adds "
            "the missing reverses",
            d->name, gnn_direction_estimated(&n) ? "about " : "", 100 * share, key);
    if (*there || o->dedup || share < NEARLY)
        return GNN_OK;
    return gnn_fail(
        e, GNN_E_USAGE,
        "%s: %s%.2f %% of the edges %s have their reverse already: add only the missing "
        "ones with -u --dedup, or leave out -u",
        d->name, gnn_direction_estimated(&n) ? "about " : "", 100 * share, key);
}

/* ---- types of reverses ---- */

/* "TYPE=OF": an '=' may be part of a name, too. */
static bool split_types(const struct gnn_schema *s, const char *text, int type[2],
                        struct gnn_err *e)
{
    for (const char *eq = strchr(text, '='); eq; eq = strchr(eq + 1, '=')) {
        char *first = gnn_strf(e, "%.*s", (int)(eq - text), text);
        type[0] = first ? gnn_schema_find_etype(s, first) : -1;
        type[1] = gnn_schema_find_etype(s, eq + 1);
        gnn_free(first);
        if (e->code || (type[0] >= 0 && type[1] >= 0))
            return true;
    }
    return false;
}

/* Says which of the two types there is not. */
static int fail_types(const struct gnn_schema *s, const char *text, struct gnn_err *e)
{
    const char *eq = strchr(text, '=');
    if (!eq)
        return gnn_fail(e, GNN_E_USAGE,
                        "--reverse-of %s: expected S/R/D=D/Q/S, of which the first edge type has "
                        "the reverses of the second",
                        text);
    char *first = gnn_strf(e, "%.*s", (int)(eq - text), text);
    if (first && gnn_schema_need_etype(s, "--reverse-of", first, e) >= 0)
        (void)!gnn_schema_need_etype(s, "--reverse-of", eq + 1, e);
    gnn_free(first);
    return e->code;
}

int gnn_reverses_declare(struct build *b, struct gnn_err *e)
{
    struct gnn_schema *s = &b->meta.schema;
    for (uint32_t i = 0; i < b->o->nreverse_of; i++) {
        struct gnn_err why = {0};
        int type[2];
        if (!split_types(s, b->o->reverse_of[i], type, e))
            return fail_types(s, b->o->reverse_of[i], e);
        if (e->code)
            return e->code;
        if (gnn_schema_set_reverse(s, (uint32_t)type[0], (uint32_t)type[1], &why))
            return gnn_fail(e, GNN_E_USAGE, "--reverse-of: %s", why.msg);
    }
    return 0;
}

bool gnn_reverses_exact(const struct build *b, uint32_t t, uint32_t of)
{
    const struct gnn_schema *s = &b->meta.schema;
    const struct plan *x = &b->plan[t], *y = &b->plan[of];
    const bool same = s->etype[t].src == s->etype[t].dst;
    return s->etype[t].src == s->etype[of].dst && s->etype[t].dst == s->etype[of].src &&
           x->read == y->read && x->balance == (same ? 0 - y->balance : y->balance) &&
           (!same || x->dir.loops == y->dir.loops);
}

/* Whether the edges of a type, within one node type, have their reverses among them. */
static bool is_symmetric(const struct build *b, uint32_t t)
{
    const struct plan *p = &b->plan[t];
    return b->meta.schema.etype[t].src == b->meta.schema.etype[t].dst &&
           (p->mode & GNN_CSC_REV || (!p->balance && p->read > p->dir.loops));
}

/* The only type with exactly the reverses of t, or -1. A symmetric type has its own. */
static int find_exact(const struct build *b, uint32_t t)
{
    const struct gnn_schema *s = &b->meta.schema;
    int found = -1;
    if (!b->plan[t].balance || gnn_schema_reverse(s, t) >= 0 || is_symmetric(b, t))
        return -1;
    for (uint32_t i = 0; i < s->netypes; i++) {
        if (i == t || gnn_schema_reverse(s, i) >= 0 || !gnn_reverses_exact(b, t, i))
            continue;
        if (found >= 0)
            return -1;
        found = (int)i;
    }
    return found;
}

/* Reverses that were named, and others beside them. */
static int check_named(const struct build *b, uint32_t t, struct gnn_err *e)
{
    const struct gnn_schema *s = &b->meta.schema;
    char key[GNN_ETYPE_KEY_CAPACITY], rev[GNN_ETYPE_KEY_CAPACITY];
    const uint32_t pair[2] = {t, s->etype[t].reverse_of - 1};
    for (unsigned k = 0; k < 2; k++) {
        const struct gnn_etype *x = &s->etype[pair[k]];
        if (is_symmetric(b, pair[k]))
            return gnn_fail(e, GNN_E_USAGE,
                            "--reverse-of: edges '%s' have their reverses among themselves",
                            gnn_etype_key(s, pair[k], key, sizeof key));
        snprintf(rev, sizeof rev, "%s/rev_%.*s/%s", s->ntype[x->dst].name, GNN_TYPE_NAME_MAX,
                 x->rel, s->ntype[x->src].name);
        const int also = gnn_schema_find_etype(s, rev);
        if (also >= 0 && also != (int)pair[!k])
            return gnn_fail(e, GNN_E_USAGE,
                            "--reverse-of: edges '%s' have other reverses, too, '%s'%s",
                            gnn_etype_key(s, pair[k], key, sizeof key), rev,
                            ": leave out --reverse-of, or -u if this adds them");
    }
    return 0;
}

int gnn_reverses_find(struct build *b, struct gnn_err *e)
{
    struct gnn_schema *s = &b->meta.schema;
    for (uint32_t t = 0; t < s->netypes; t++)
        if (s->etype[t].reverse_of && check_named(b, t, e))
            return e->code;
    for (uint32_t t = 0; t < s->netypes; t++) {
        const int of = find_exact(b, t);
        /* The earlier type is the one that the later one's edges are the reverses of. */
        if (of > (int)t && find_exact(b, (uint32_t)of) == (int)t &&
            gnn_schema_set_reverse(s, (uint32_t)of, t, e))
            return e->code;
    }
    return 0;
}
