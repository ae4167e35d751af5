/* Everything that is done with rows while a model is trained, as a table with a column for each
 * place where that can happen. What uses it is written once: it holds pointers to that place's
 * memory, and never looks through them. */
#ifndef GNN_LIB_OPS_OPS_H
#define GNN_LIB_OPS_OPS_H

#include "formats/tensor.h"
#include "kernels/act.h"
#include "kernels/batch_norm.h"
#include "kernels/optim.h"
#include "kernels/spmm.h"
#include "lib/data/batch.h"
#include "lib/gpu/gpu.h"

/* Follows a matrix product: C = relu(C + bias). */
struct gnn_epilogue {
    const float *bias; /* (columns of C) */
    bool relu;
};

enum { GNN_OPS_MARKS = 3, GNN_OPS_MARK_NET = 2 /* the passes' own */, GNN_SUMS_WHY = 200 };
struct gnn_comm;

/* Operations of a table are carried out in the order of the calls, but on a device later than
 * these: what goes wrong there is found by `wait`. Pointers are to the place's memory (`fit`)
 * unless said to be the host's; a struct that is passed by pointer is read during the call. All
 * take the table they are in. One thread at a time. */
struct gnn_ops {
    void *dev;      /* state of the place, if it has some */
    bool async;     /* operations are still under way when the calls return */
    uint32_t chunk; /* rows worth doing at once, so that they stay in the cache; UINT32_MAX: all */

    /* As gnn_buf_fit and gnn_buf_release, for the place's memory; _host: the host's, for `fetch`.
     */
    int (*fit)(const struct gnn_ops *o, struct gnn_buf *b, uint64_t n, size_t size,
               const char *what, struct gnn_err *e);
    void (*release)(const struct gnn_ops *o, struct gnn_buf *b);
    int (*fit_host)(const struct gnn_ops *o, struct gnn_buf *b, uint64_t n, size_t size,
                    const char *what, struct gnn_err *e);
    void (*release_host)(const struct gnn_ops *o, struct gnn_buf *b);

    void (*zero)(const struct gnn_ops *o, void *to, uint64_t bytes);
    void (*copy)(const struct gnn_ops *o, void *to, const void *from, uint64_t bytes);
    /* From the host, whose memory may be changed when the call returns. */
    void (*put)(const struct gnn_ops *o, void *to, const void *from, uint64_t bytes);
    /* To the host: there after a mark set later has been waited for. On a device, `to` is from
     * fit_host. */
    void (*fetch)(const struct gnn_ops *o, void *to, const void *from, uint64_t bytes);
    /* Mark k < GNN_OPS_MARKS is set here; waits until all before it is done. Errors: those of the
     * device, of ids that are out of range (GNN_E_INPUT). */
    void (*mark)(const struct gnn_ops *o, unsigned k);
    int (*wait)(const struct gnn_ops *o, unsigned k, struct gnn_err *e);
    /* Before the first operation on what batch b holds, which lies where the operations are; after
     * the last, before it is given back. */
    int (*enter)(const struct gnn_ops *o, const struct gnn_batch *b, struct gnn_err *e);
    void (*leave)(const struct gnn_ops *o, const struct gnn_batch *b);

    /* Sums over ranks of numbers in the place's memory: *sums is like comm, which must outlive it,
     * but for that memory, and in order with the operations - what was asked for before _begin is
     * in the sum, what is asked for after _end works with it. Collective. why: "", or for what
     * reason the sums go through the host's memory where they need not. The member is NULL where
     * comm itself does it. Freed by sums->ops->free, before the operations are. */
    int (*sums_new)(const struct gnn_ops *o, struct gnn_comm *comm, struct gnn_comm **sums,
                    char why[GNN_SUMS_WHY], struct gnn_err *e);

    /* C (m, n) = op(A) op(B) + beta C, then ep (may be NULL); contiguous rows. kernels/gemm.h. On a
     * device, ReLU may make 0 of a NaN. */
    int (*gemm)(const struct gnn_ops *o, bool ta, bool tb, size_t m, size_t n, size_t k,
                const float *a, const float *b, float beta, float *c, const struct gnn_epilogue *ep,
                struct gnn_err *e);
    /* Rows [from, to) of A X, into y, whose row 0 is row `from`; += with acc. All rows that are in
     * no block have no edges, only the diagonal of block 0, so there is at least one block (of no
     * rows, perhaps). `block` is the place's memory. X has xrows rows of d columns, and does not
     * overlap y. kernels/spmm.h */
    void (*aggregate)(const struct gnn_ops *o, const struct gnn_csr *block, uint32_t nblocks,
                      uint32_t from, uint32_t to, const float *x, uint32_t xrows, size_t d,
                      float *y, bool acc);
    int (*transpose)(const struct gnn_ops *o, const struct gnn_csr *block, uint32_t nblocks,
                     uint32_t ncols, uint32_t edges, uint32_t *tptr, uint32_t *tidx,
                     struct gnn_err *e);
    /* kernels/factors.h */
    void (*mean_factors)(const struct gnn_ops *o, const struct gnn_csr *block, uint32_t nblocks,
                         uint32_t nrows, float *row);
    void (*gcn_degrees)(const struct gnn_ops *o, const uint32_t *degree, uint64_t n, float *isqrt);
    void (*gcn_factors)(const struct gnn_ops *o, const struct gnn_csr *block, uint32_t nblocks,
                        uint32_t nrows, const float *isqrt, float *row, float *diag);

    /* kernels/act.h */
    void (*bias_act)(const struct gnn_ops *o, float *x, uint32_t n, size_t d, const float *bias,
                     bool relu, const struct gnn_dropout *drop);
    void (*dropout_copy)(const struct gnn_ops *o, const float *x, uint32_t n, size_t d,
                         const struct gnn_dropout *drop, float *y);
    void (*relu_back)(const struct gnn_ops *o, float *dy, const float *y, uint32_t n, size_t d,
                      float scale);
    void (*colsum)(const struct gnn_ops *o, const float *x, uint32_t n, size_t d, float *work,
                   float *out, bool acc);
    void (*layer_norm)(const struct gnn_ops *o, const float *x, uint32_t n, size_t d,
                       const float *gamma, const float *beta, float eps, float *xhat, float *rstd,
                       float *y);
    void (*layer_norm_back)(const struct gnn_ops *o, float *dy, const float *xhat,
                            const float *rstd, uint32_t n, size_t d, const float *gamma,
                            float *dgamma, float *dbeta, float *work);

    /* kernels/batch_norm.h */
    void (*moments)(const struct gnn_ops *o, const float *x, const float *by, const uint8_t *count,
                    uint32_t n, size_t d, double *work, double *sum);
    void (*batch_stats)(const struct gnn_ops *o, const double *sum, double rows, size_t d,
                        float eps, float *stat);
    void (*running_stats)(const struct gnn_ops *o, const float *mean, const float *var, size_t d,
                          float eps, float *stat);
    void (*batch_track)(const struct gnn_ops *o, const float *stat, size_t d, float momentum,
                        float *mean, float *var, int64_t *batches);
    void (*batch_norm)(const struct gnn_ops *o, const float *x, uint32_t n, size_t d,
                       const float *stat, const float *gamma, const float *beta, float *xhat,
                       float *y);
    void (*batch_norm_grads)(const struct gnn_ops *o, const double *sum, size_t d, float *dgamma,
                             float *dbeta);
    void (*batch_back_stats)(const struct gnn_ops *o, const double *sum, double rows, size_t d,
                             float *stat);
    void (*batch_norm_back)(const struct gnn_ops *o, float *dy, const float *xhat,
                            const uint8_t *count, uint32_t n, size_t d, const float *stat,
                            const float *gamma);

    /* kernels/rows.h; floats: the first n elements of an f32, f16 or bf16 tensor as f32 */
    void (*fill)(const struct gnn_ops *o, float *x, uint64_t n, float v);
    void (*add)(const struct gnn_ops *o, const float *x, uint64_t n, float *y);
    void (*unit_sums)(const struct gnn_ops *o, float *x, uint32_t n, size_t d);
    void (*floats)(const struct gnn_ops *o, const struct gnn_tensor *x, uint64_t n, float *out);

    /* The first n elements of a label tensor as classes, or as targets. kernels/label.h */
    void (*classes)(const struct gnn_ops *o, const struct gnn_tensor *y, uint64_t n,
                    uint32_t classes, int32_t *out);
    void (*targets)(const struct gnn_ops *o, const struct gnn_tensor *y, uint64_t n, float *out);
    /* kernels/loss.h */
    void (*softmax_ce)(const struct gnn_ops *o, const float *z, uint32_t n, size_t c,
                       const int32_t *y, float scale, double *row_loss, float *dz);
    void (*sigmoid_ce)(const struct gnn_ops *o, const float *z, uint32_t n, size_t c,
                       const float *y, float scale, double *row_loss, float *dz);

    /* kernels/optim.h; clip: g *= most / |g| if that is below 1 */
    void (*clip)(const struct gnn_ops *o, float *g, size_t n, double most);
    void (*adam)(const struct gnn_ops *o, float *p, const float *g, float *m, float *v, size_t n,
                 bool decoupled, const struct gnn_optim_step *s);
    void (*sgd)(const struct gnn_ops *o, float *p, const float *g, float *m, size_t n,
                const struct gnn_optim_step *s);
};

/* The host's memory and threads. */
extern const struct gnn_ops gnn_ops_cpu;

/* Operations on a device; all NULL in a build without CUDA, in which no device can be opened. */
struct gnn_ops_gpu {
    /* On the first device, on a stream of their own. NULL and e on failure. To be freed before the
     * devices are closed; takes NULL. */
    struct gnn_ops *(*make)(struct gnn_gpu *g, enum gnn_precision precision, struct gnn_err *e);
    /* "", or a sentence: products have been made in a finer precision than was asked for, as the
     * library cannot do them. */
    const char *(*note)(const struct gnn_ops *o);
    /* With GNN_DEBUG_TIME=1 in the environment when the operations were made: what each kind has
     * taken on the device so far, how often and in all. */
    int (*times)(struct gnn_ops *o,
                 void (*each)(void *arg, const char *name, uint64_t n, double ms), void *arg,
                 struct gnn_err *e);
    void (*free)(struct gnn_ops *o);
};
extern const struct gnn_ops_gpu gnn_ops_gpu;

#endif
