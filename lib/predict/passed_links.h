/* SPDX-License-Identifier: Apache-2.0 */
/* A batch of links after its pass through the model: its numbers, and the positions of its links
 * and their ends among them (lib/predict/link_outputs.h). Private to lib/predict. */
#ifndef GNN_LIB_PREDICT_PASSED_LINKS_H
#define GNN_LIB_PREDICT_PASSED_LINKS_H

#include "lib/predict/link_outputs.h"

enum { HEAD, TAIL, ENDS };

struct gnn_passed {
    const struct gnn_batch *b;
    struct gnn_examples x;
};

/* The buffer of an end's node type: that of heads, if both are of one. */
static inline unsigned passed_buffer(const struct gnn_predict_links *q, unsigned end)
{
    return q->type[end] == q->type[HEAD] ? HEAD : TAIL;
}

/* How many links it has, without negatives. */
static inline uint64_t passed_own(const struct gnn_passed *f)
{
    return f->b->rows[GNN_UNIT_PAIRS];
}

/* Likewise of all ranks. */
static inline uint64_t passed_all(const struct gnn_predict_links *q, const struct gnn_passed *f)
{
    return q->o.comm->size > 1 ? f->b->seeds : passed_own(f);
}

/* Whether example i is none: a place of a negative that its link does not have. */
static inline bool passed_lacks(const struct gnn_predict_links *q, const struct gnn_passed *f,
                                uint64_t i)
{
    return i >= passed_own(f) &&
           gnn_batch_lacks(f->b, gnn_sampling_drawn(&q->meta->sampling, f->b->split),
                           i - passed_own(f));
}

/* Local numbers of the ends of example i: the positives come first. */
static inline const uint32_t *passed_ends(const struct gnn_passed *f, uint64_t i)
{
    return i < passed_own(f) ? f->b->pair + 2 * i : f->b->negative + 2 * (i - passed_own(f));
}

/* The position in its set of the link, or of the negative's positive. */
static inline uint64_t passed_input(const struct gnn_predict_links *q, const struct gnn_passed *f,
                                    uint64_t i)
{
    const struct gnn_drawn drawn = gnn_sampling_drawn(&q->meta->sampling, f->b->split);
    const uint64_t p = passed_own(f);
    return f->b->input[i < p ? i : gnn_drawn_positive(drawn, i - p, p)];
}

/* The columns that are written of each link; scores are as they are. */
static inline uint64_t passed_width(const struct gnn_predict_links *q)
{
    return q->o.what == GNN_OUT_SCORES ? 1 : gnn_output_columns(&q->form);
}

static inline const float *passed_embedding(const struct gnn_predict_links *q,
                                            const struct gnn_passed *f, uint64_t i, unsigned end)
{
    return (const float *)q->rows[passed_buffer(q, end)].data +
           (uint64_t)passed_ends(f, i)[end] * q->m->c.outputs;
}

/* The position of example i in the global batch: positives, then negatives in their order, all of
 * one link after the other or one of each link in turn. */
static inline uint64_t passed_place(const struct gnn_predict_links *q, const struct gnn_passed *f,
                                    uint64_t i)
{
    const struct gnn_drawn drawn = gnn_sampling_drawn(&q->meta->sampling, f->b->split);
    const uint64_t p = passed_own(f), all = passed_all(q, f), each = gnn_drawn_each(drawn);
    if (i < p)
        return f->b->at ? f->b->at[i] : i;
    const uint64_t k = i - p, of = gnn_drawn_positive(drawn, k, p),
                   at = f->b->at ? f->b->at[of] : of;
    return all + (each ? at * each + k % each : k / p * all + at);
}

/* Passes a batch through the model, and waits for the numbers that q->o asks for. Collective.
 * GNN_E_RUN naming the link unless all scores are finite. */
int gnn_passed_take(struct gnn_predict_links *q, const struct gnn_batch *b, struct gnn_passed *f,
                    struct gnn_err *e) GNN_MUST_USE;
/* (x.n, passed_width()) numbers, until the next call. */
int gnn_passed_form(struct gnn_predict_links *q, const struct gnn_passed *f, const float **cells,
                    struct gnn_err *e) GNN_MUST_USE;
/* GNN_E_RUN naming link i unless the embedding of its end is finite. */
int gnn_passed_check_end(const struct gnn_predict_links *q, const struct gnn_passed *f, uint64_t i,
                         unsigned end, struct gnn_err *e) GNN_MUST_USE;

#endif
