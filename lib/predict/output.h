/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs of a model as files: an array, or a table in text, with one row for each node or seed
 * (of links: lib/predict/link_outputs.h).
 *
 * The outputs lie in a table with rows in any order, of which each rank has its own; rank 0 writes
 * the rows of all. */
#ifndef GNN_LIB_PREDICT_OUTPUT_H
#define GNN_LIB_PREDICT_OUTPUT_H

#include "lib/data/tensors.h"
#include "lib/model/model.h"
#include "lib/store/store.h"

enum gnn_predict_output {
    GNN_OUT_CLASSES,
    GNN_OUT_PROBS,
    GNN_OUT_EMBEDDINGS,
    GNN_OUT_VALUES,
    GNN_OUT_SCORES
};
#define GNN_OUTPUT_WORDS "classes|probs|embeddings|values|scores"
/* Makes *what, if it is negative, what is usual for the model's task. nodes: outputs are of nodes,
 * whatever the model is of. GNN_E_USAGE: the model does not have that. */
int gnn_output_choose(const struct gnn_model *m, bool nodes, int *what,
                      struct gnn_err *e) GNN_MUST_USE;

struct gnn_output {
    const struct gnn_model *m;
    const struct gnn_schema *schema; /* of the store, or the stream */
    enum gnn_predict_output what;
    uint32_t type; /* of the nodes */
    bool text;     /* a table in text follows: classes have their probability */
    /* The table, in the host's memory: `width` outputs of the model a row; or, if it is `formed`,
     * what gnn_output_form has made of them. */
    const float *data;
    uint64_t width;
    bool formed;
    /* Rows of the file, and which of the table each is: UINT32_MAX, another rank has it. NULL: the
     * same. */
    uint64_t n;
    uint32_t *row;
    /* Data of each row of the table, by its number: the node's position in the store s or, if that
     * is NULL, its id (NULL: the number); its time, i64 or f64, as `time_type` says (0: it has
     * none); and a set of set_name, from 1 on, 0 for none (NULL: they are looked for in s). */
    struct gnn_store *s;
    const uint32_t *node;
    const int64_t *time;
    enum gnn_dtype time_type;
    const uint16_t *set;
    const char *const *set_name;
    struct gnn_comm *comm;
};

/* Frees o->row. */
void gnn_output_release(struct gnn_output *o);

/* Whether a row tells one class, and how probable it is. */
static inline bool gnn_output_one_class(const struct gnn_output *o)
{
    return o->what == GNN_OUT_CLASSES && !gnn_task_columns(o->m->c.task);
}
/* Columns of a formed row: a class and, for text, its probability; or one for each label,
 * probability, value or element of the embedding. */
uint64_t gnn_output_columns(const struct gnn_output *o);
/* z: (n, width), overwritten; cells: (n, columns), which may be z if there are as many. */
void gnn_output_form(const struct gnn_output *o, float *z, uint64_t n, float *cells);

/* Writes a .npy file. Classes: i32 (n), or u8 (n, outputs) for multi-label; probabilities f32 (n,
 * outputs), n for binary; embeddings f32 (n, width); values, which are the outputs as they are, f32
 * (n, outputs), n for one output. Takes over fd, which is -1 on all ranks but 0. */
int gnn_output_write(const struct gnn_output *o, int fd, const char *name,
                     struct gnn_err *e) GNN_MUST_USE;
/* The rows of one rank as a tensor, of that type and shape, which is added to a set. */
int gnn_output_tensor(const struct gnn_output *o, struct gnn_tensors *set, struct gnn_tensor **t,
                      struct gnn_err *e) GNN_MUST_USE;
/* The rows as a table in text, a line a row, after a line of names: the node's id in the data set;
 * its time, if it has one; its class, by name where classes have names, and how probable that is,
 * or a column for each label, probability, value or element of the embedding; and the set that it
 * is in: o->set or, if that is NULL, of `split` (which may be NULL, too). */
int gnn_output_write_csv(const struct gnn_output *o, const char *split, int fd, const char *name,
                         struct gnn_err *e) GNN_MUST_USE;

/* Shared by the files that implement this. Puts the bytes of the rows of the file together, each
 * made by `put`, which appends those of a row of the table to a buffer of *n bytes, and writes them
 * in order. */
struct gnn_io;
typedef int (*gnn_output_put)(void *arg, uint64_t row, const float *cells, struct gnn_buf *to,
                              uint64_t *n, struct gnn_err *e);
int gnn_output_rows(const struct gnn_output *o, gnn_output_put put, void *arg, struct gnn_io *io,
                    struct gnn_err *e) GNN_MUST_USE;

#endif
