/* SPDX-License-Identifier: Apache-2.0 */
/* A store in figures (lib/inspect/plot.h): degrees above, sizes of sets below them. */
#include <inttypes.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/plural.h"
#include "lib/inspect/plot.h"
#include "lib/store/ids.h"

enum { WIDTH = 1000, HEIGHT = 450, LINE = 18, LABEL = 90, SET = 40 };

/* Degrees of the nodes at one end of an edge type. */
struct degrees {
    uint32_t *v;
    uint64_t n, zero;
};

static int count_degrees(const struct gnn_view *v, uint32_t et, bool out, struct degrees *d,
                         struct gnn_err *e)
{
    const struct gnn_schema *c = &v->store->meta.schema;
    const struct gnn_etype *t = &c->etype[et];
    *d = (struct degrees){.n = c->ntype[out ? t->src : t->dst].count};
    if (!(d->v = gnn_alloc_zero(d->n, sizeof *d->v, "degrees", e)))
        return e->code;
    for (uint64_t i = 0; i < c->ntype[t->dst].count; i++) {
        const struct gnn_view_row row = gnn_view_row(v, et, i);
        if (!out)
            d->v[i] = (uint32_t)row.n;
        for (uint64_t k = 0; out && k < row.n; k++)
            d->v[row.indices[k]]++;
    }
    gnn_u32_sort(d->v, d->n);
    while (d->zero < d->n && !d->v[d->zero])
        d->zero++;
    return 0;
}

/* A line for each degree there is, and how many nodes have it; on a logarithmic axis there is no
 * degree 0. */
static int put_degrees(struct gnn_plot *p, const struct gnn_view *v, uint32_t et, bool out,
                       struct degrees *d, struct gnn_err *e)
{
    if (count_degrees(v, et, out, d, e))
        return e->code;
    fprintf(p->script, "$d%u << END\n", 2 * et + out);
    for (uint64_t i = d->zero, to; i < d->n; i = to) {
        for (to = i; to < d->n && d->v[to] == d->v[i]; to++)
            ;
        fprintf(p->script, "%" PRIu32 "\t%" PRIu64 "\n", d->v[i], to - i);
    }
    fputs("END\n", p->script);
    gnn_free(d->v);
    return 0;
}

/* "node/to/node, in (12 of degree 0)" */
static int put_title(struct gnn_plot *p, const struct gnn_schema *c, uint32_t et, bool out,
                     uint64_t zero, struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_CAPACITY], text[LABEL];
    gnn_etype_key(c, et, key, sizeof key);
    const int n = snprintf(text, sizeof text, zero ? ", %s (%" PRIu64 " of degree 0)" : ", %s",
                           out ? "out" : "in", zero);
    char *all = gnn_strf(e, "%.*s%s%s", LABEL - n - 4, key,
                         strlen(key) > (size_t)(LABEL - n - 4) ? "..." : "", text);
    if (all)
        gnn_plot_text(p, all, LABEL + 1);
    gnn_free(all);
    return e->code;
}

static int plot_degrees(struct gnn_plot *p, struct gnn_store *s, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    struct gnn_view v = {0};
    struct degrees *d = gnn_alloc_zero(2 * (uint64_t)c->netypes, sizeof *d, "degrees", e);
    const char *separator = "plot ";
    if (d && !gnn_view_init(&v, s, e))
        for (uint32_t i = 0; i < 2 * c->netypes && !e->code; i++)
            (void)put_degrees(p, &v, i / 2, i % 2, &d[i], e);
    fputs("set logscale xy\nset xlabel 'degree'\nset ylabel 'nodes'\n", p->script);
    for (uint32_t i = 0; i < 2 * c->netypes && !e->code; i++) {
        if (!c->etype[i / 2].count)
            continue;
        fprintf(p->script, "%s$d%u using 1:2 with points pt %s title ", separator, i,
                i % 2 ? "6 ps 1.2" : "7 ps 0.6");
        (void)put_title(p, c, i / 2, i % 2, d[i].zero, e);
        separator = ", ";
    }
    fputc('\n', p->script);
    gnn_view_release(&v);
    gnn_free(d);
    return e->code;
}

static int plot_sets(struct gnn_plot *p, const struct gnn_schema *c, struct gnn_err *e)
{
    fputs("$sets << END\n", p->script);
    for (uint32_t i = 0; i < c->nsets && !e->code; i++) {
        char *name = gnn_strf(e, "%s/%s", c->set[i].split, c->set[i].set);
        fprintf(p->script, "%u\t%" PRIu64 "\t", i, c->set[i].count);
        if (name)
            gnn_plot_name(p, name, SET);
        gnn_free(name);
        fputc('\n', p->script);
    }
    fputs("END\nunset logscale\nset style fill solid 0.5\nset boxwidth 0.7\nset yrange [0:*]\n"
          "set offsets 0, 0, graph 0.1, 0\nset xtics rotate by -30\nunset xlabel\n"
          "set ylabel 'members'\n"
          "plot $sets using 1:2:xtic(3) with boxes notitle, "
          "$sets using 1:2:2 with labels offset 0,0.7 notitle\n",
          p->script);
    return e->code;
}

int gnn_plot_store(struct gnn_plot *p, struct gnn_store *s, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    uint32_t types = 0;
    for (uint32_t i = 0; i < c->netypes; i++)
        types += c->etype[i].count > 0;
    const unsigned panels = (types ? 1u : 0u) + (c->nsets ? 1u : 0u);
    if (!panels)
        return gnn_fail(e, GNN_E_INPUT, "the store has neither edges nor sets to plot");
    gnn_plot_size(p, WIDTH, panels * (HEIGHT + types * LINE), panels);
    if (types && plot_degrees(p, s, e))
        return e->code;
    return c->nsets ? plot_sets(p, c, e) : 0;
}
