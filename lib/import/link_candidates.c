/* SPDX-License-Identifier: Apache-2.0 */
/* Given negatives of the sets of a split (lib/import/link_split.h). */
#include <inttypes.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/plural.h"
#include "lib/import/link_given.h"
#include "lib/import/link_dict.h"
#include "lib/import/link_sets.h"

static int fail_text(const char *text, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_USAGE, "--negatives %s: expected valid=FILE or test=FILE", text);
}

static int copy_pairs(struct link_members *to, const struct gnn_link_text *from, struct gnn_err *e)
{
    to->n = from->n;
    if (!(to->ends = gnn_alloc(2 * to->n, sizeof *to->ends, "negatives", e)))
        return e->code;
    memcpy(to->ends, from->node.data, 2 * to->n * sizeof *to->ends);
    return 0;
}

/* A row of tails for each link becomes as many pairs, with the link's head. */
static int make_pairs(struct link_sets *x, uint32_t set, const struct gnn_link_text *from,
                      struct gnn_err *e)
{
    const struct link_members *of = &x->set[set];
    struct link_members *to = &x->given[set];
    const uint32_t *tail = from->node.data;
    if (!x->listed || !of->n)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: rows of %u are candidates of each link, in the order of the links of "
                        "set %s, which no file lists; rows of two are pairs, for all links",
                        from->name, from->width, gnn_link_set_name[set]);
    if (from->n != of->n)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: %" PRIu64 " row%s of candidates, and set %s has %" PRIu64 " link%s",
                        from->name, from->n, gnn_plural(from->n), gnn_link_set_name[set], of->n,
                        gnn_plural(of->n));
    x->each[set] = true;
    to->n = from->n * from->width;
    if (!(to->ends = gnn_alloc(2 * to->n, sizeof *to->ends, "negatives", e)))
        return e->code;
    for (uint64_t i = 0; i < to->n; i++) {
        const uint32_t *link = of->ends + 2 * (i / from->width);
        to->ends[2 * i] = link[0];
        to->ends[2 * i + 1] = tail[i];
        x->same[set] += tail[i] == link[1];
    }
    return 0;
}

/* How many there can be of each link is bounded, as of those that are drawn. */
static int check_number(const struct link_sets *x, uint32_t set, const struct gnn_link_text *from,
                        struct gnn_err *e)
{
    const uint64_t links = x->set[set].n;
    if (!links)
        return gnn_fail(e, GNN_E_INPUT, "--negatives %s=%s: there are no links of this set",
                        gnn_link_set_name[set], from->name);
    return links <= UINT32_MAX && x->given[set].n / links <= GNN_NEGATIVES_MAX
               ? 0
               : gnn_fail(e, GNN_E_INPUT, "%s: more than %d negatives for each link of set %s",
                          from->name, GNN_NEGATIVES_MAX, gnn_link_set_name[set]);
}

/* Takes over the negatives that were read. */
static int take_read(struct link_sets *x, uint32_t set, struct gnn_link_text *from,
                     struct gnn_err *e)
{
    if (!(from->rows == GNN_LINK_PAIRS ? copy_pairs(&x->given[set], from, e)
                                       : make_pairs(x, set, from, e)))
        (void)!check_number(x, set, from, e);
    return e->code;
}

static struct gnn_link_text negatives_of(const struct link_sets *x, const char *name)
{
    struct gnn_link_text from = gnn_link_text_of(x->view, x->edges[0].etype);
    from.name = name;
    from.rows = GNN_LINK_EITHER;
    from.untimed = "negatives have the times of their links";
    return from;
}

static int read_text(struct link_sets *x, uint32_t set, const char *file, struct gnn_err *e)
{
    struct gnn_link_text from = negatives_of(x, file);
    if (!gnn_link_text_open(&from, e))
        (void)!take_read(x, set, &from, e);
    gnn_link_text_release(&from);
    return e->code;
}

static int read_file(struct link_sets *x, uint32_t set, const char *file, struct gnn_err *e)
{
    struct link_dict d;
    if (!gnn_link_dict_open(&d, file, e))
        (void)!(d.n ? gnn_link_dict_take(&d, x, set, e) : read_text(x, set, file, e));
    gnn_link_dict_release(&d);
    return e->code;
}

/* Those of the archive that has the sets. */
static int read_archive(struct link_sets *x, uint32_t set, struct gnn_err *e)
{
    char *name = gnn_link_archive_name(&x->archive, set, "negatives", e);
    struct gnn_link_text from = negatives_of(x, name);
    if (name && !gnn_link_archive_negatives(&x->archive, set, &from, e) && from.n)
        (void)!take_read(x, set, &from, e);
    gnn_link_text_release(&from);
    gnn_free(name);
    return e->code;
}

int gnn_link_sets_negatives(struct link_sets *x, const struct gnn_link_split_opts *o,
                            struct gnn_err *e)
{
    for (uint32_t i = 0; i < o->nnegatives; i++)
        for (const char *p = o->negatives[i]; p;) {
            const size_t n = strcspn(p, ","), word = strcspn(p, "=,");
            const int set = gnn_link_set_find(p, word);
            if (set < GNN_LINKS_VALID || word + 1 >= n || x->given[set].ends)
                return fail_text(o->negatives[i], e);
            char *file = gnn_strf(e, "%.*s", (int)(n - word - 1), p + word + 1);
            const int rc = file ? read_file(x, (uint32_t)set, file, e) : e->code;
            gnn_free(file);
            if (rc)
                return rc;
            p = p[n] ? p + n + 1 : NULL;
        }
    for (uint32_t i = GNN_LINKS_VALID; x->archive.in && i < GNN_LINK_SETS; i++)
        if (!x->given[i].ends && read_archive(x, i, e))
            return e->code;
    return 0;
}
