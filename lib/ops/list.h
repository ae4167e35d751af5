/* SPDX-License-Identifier: Apache-2.0 */
/*- The operations that are kernels: what is done with rows while a model is trained or applied. From
 * this list come the members of struct gnn_ops (ops.h), the host's table (cpu.c) and the devices'
 * (gpu_ops.c): each defines GNN_OP as what it makes of one operation, and includes this file.
 *
 *     GNN_OP(name, ("kind", ...), words, (parameters), CPU call, CUDA call)
 *
 * name        of the member: one calls o->name(o, arguments)
 * "kind"      what tables of time call it, as by printf: GNN_DEBUG_TIME's and those of bench_gpu,
 *             in the words of gnn(7); what a backward pass does ends with "backward"
 * words       of four bytes that it must transfer at least, told beside its time: what it reads and
 *             writes of each array of the parameters, once, whatever a kernel does; of rows that
 *             edges lead to those alone that are sure to be read. Edges' weights and numbers are
 *             left out, which are few beside rows. The functions are those of gpu_cost.h, `known`
 *             is what blocks have, and AT_LEAST what `block` has in rows [from, to)
 * CPU call    of the kernel for the host's memory
 * CUDA call   of the launcher, which puts kernels on dev->stream; dev is the struct ops_dev of
 *             gpu_ops_impl.h, which also has the words in which kernels leave what they found wrong
 *
 * To add an operation, say x *= v:
 *  1. kernels/rows.h: declare gnn_scale(float *x, size_t n, float v), with its contract, and
 *     gnn_cuda_scale with the same parameters and `void *stream`;
 *  2. kernels/cpu/rows.c and kernels/cuda/rows.cu: write them;
 *  3. here: GNN_OP(scale, ("scaling"), 2 * n, (float *x, uint64_t n, float v),
 *                  gnn_scale(x, n, v), gnn_cuda_scale(x, n, v, dev->stream))
 *  4. tests/gpu/case_rows.c: check that both give the same bits.
 * A kernel in a new header also needs its #include in cpu.c, gpu_ops.c and gpu_cost.h. An operation
 * that takes more than one call on a device, as for scratch memory, is a function in gpu_ops.c,
 * which the entry calls.
 *
 * The contracts are those of the kernels' headers; comments here say what goes beyond them. Rows of
 * matrices are contiguous. */
#ifndef GNN_OP
#define GNN_OP(...)
#endif

/* kernels/spmm.h. `block` is an array in the backend's memory. X has xrows rows of d columns and
 * does not overlap y; tptr has space for ncols + 1 elements, tidx and tedge, if not NULL, for
 * `edges`. */
GNN_OP(aggregate, ("aggregation, %zu columns", d),
       cells_of(AT_LEAST.sources + rows_out(to - from, acc), d) + AT_LEAST.rows + AT_LEAST.edges,
       (const struct gnn_csr *block, uint32_t nblocks, uint32_t from, uint32_t to, const float *x,
        uint32_t xrows, size_t d, float *y, bool acc),
       gnn_spmm_rows(block, nblocks, from, to, x, d, y, acc),
       gnn_cuda_spmm(block, nblocks, from, NULL, to, x, xrows, d, d, y, d, acc,
                     dev->word + WORD_SPMM, dev->stream))
GNN_OP(transpose, ("transposing blocks"),
       ncols + (tedge ? 3 : 2) * shape_of(known, block).edges + shape_of(known, block).rows,
       (const struct gnn_csr *block, uint32_t nblocks, uint32_t ncols, uint32_t edges,
        uint32_t *tptr, uint32_t *tidx, uint32_t *tedge),
       gnn_csr_transpose(block, nblocks, ncols, tptr, tidx, tedge),
       transpose_blocks(dev, block, nblocks, ncols, edges, tptr, tidx, tedge))

/* kernels/message.h; `block` as above. xrows: the rows of X, or of dy in max_back. */
GNN_OP(max_rows, ("maximum aggregation, %zu columns", d),
       cells_of(AT_LEAST.sources + rows_out(to - from, acc) * (arg ? 2 : 1), d) + AT_LEAST.rows +
           AT_LEAST.edges,
       (const struct gnn_csr *block, uint32_t nblocks, uint32_t from, uint32_t to, const float *x,
        uint32_t xrows, size_t d, float *y, uint32_t *arg, uint32_t number, bool acc),
       gnn_max_rows(block, nblocks, from, to, x, d, y, arg, number, acc),
       gnn_cuda_max_rows(block, nblocks, from, NULL, to, x, xrows, d, y, arg, number, acc,
                         dev->word + WORD_SPMM, dev->stream))
GNN_OP(max_back, ("maximum aggregation, backward, %zu columns", d),
       cells_of(2 * AT_LEAST.sources + rows_out(to - from, acc), d) + AT_LEAST.rows +
           AT_LEAST.edges,
       (const struct gnn_csr *block, uint32_t nblocks, uint32_t from, uint32_t to, const float *dy,
        const uint32_t *arg, uint32_t xrows, size_t d, float *dx, uint32_t number, bool acc),
       gnn_max_back(block, nblocks, from, to, dy, arg, d, dx, number, acc),
       gnn_cuda_max_back(block, nblocks, from, NULL, to, dy, arg, xrows, d, dx, number, acc,
                         dev->word + WORD_SPMM, dev->stream))
GNN_OP(edge_relu, ("edge messages, %zu columns", d),
       cells_of(AT_LEAST.sources + AT_LEAST.edges + rows_out(to - from, acc), d) + AT_LEAST.rows +
           AT_LEAST.edges,
       (const struct gnn_csr *block, uint32_t nblocks, uint32_t from, uint32_t to, const float *x,
        uint32_t xrows, const float *z, uint32_t zfirst, size_t d, float *y, bool acc),
       gnn_edge_relu(block, nblocks, from, to, x, z, zfirst, d, y, acc),
       gnn_cuda_edge_relu(block, nblocks, from, NULL, to, x, xrows, z, zfirst, d, y, acc,
                          dev->word + WORD_SPMM, dev->stream))
GNN_OP(edge_relu_back, ("edge messages, backward, %zu columns", d),
       cells_of(AT_LEAST.sources + 2 * AT_LEAST.edges + AT_LEAST.rows, d) + AT_LEAST.rows +
           AT_LEAST.edges,
       (const struct gnn_csr *block, uint32_t nblocks, uint32_t from, uint32_t to, const float *x,
        uint32_t xrows, const float *z, uint32_t zfirst, const float *dy, size_t d, float *dz),
       gnn_edge_relu_back(block, nblocks, from, to, x, z, zfirst, dy, d, dz),
       gnn_cuda_edge_relu_back(block, nblocks, from, NULL, to, x, xrows, z, zfirst, dy, d, dz,
                               dev->word + WORD_SPMM, dev->stream))
GNN_OP(edge_sum, ("sums of edge rows, %zu columns", d),
       cells_of(edges_from(AT_LEAST.edges, zfirst, nz) + rows_out(to - from, acc), d) +
           AT_LEAST.rows,
       (const struct gnn_csr *block, uint32_t nblocks, uint32_t from, uint32_t to, const float *z,
        uint32_t zfirst, uint32_t nz, size_t d, float *y, bool acc),
       gnn_edge_sum(block, nblocks, from, to, z, zfirst, nz, d, y, acc),
       gnn_cuda_edge_sum(block, nblocks, from, NULL, to, z, zfirst, nz, d, y, acc, dev->stream))
GNN_OP(edge_means, ("means of edge rows, %zu columns", d),
       cells_of(AT_LEAST.edges + to - from, d) + AT_LEAST.rows,
       (const struct gnn_csr *block, uint32_t nblocks, uint32_t from, uint32_t to, const float *z,
        uint32_t zfirst, size_t d, float *y),
       gnn_edge_means(block, nblocks, from, to, z, zfirst, d, y),
       gnn_cuda_edge_means(block, nblocks, from, NULL, to, z, zfirst, d, y, dev->stream))
GNN_OP(edge_rest, ("zeroing edge rows"), 0 /* which rows, only the device knows */,
       (const struct gnn_csr *block, uint32_t nblocks, uint64_t edges, size_t d, float *z),
       gnn_edge_rest(block, nblocks, edges, d, z),
       gnn_cuda_edge_rest(block, nblocks, edges, d, z, dev->stream))

/* kernels/factors.h */
GNN_OP(mean_factors, ("degree normalisation"), (to - from) + AT_LEAST.rows,
       (const struct gnn_csr *block, uint32_t nblocks, uint32_t from, uint32_t to, float *row),
       gnn_mean_factors(block, nblocks, from, to, row),
       gnn_cuda_mean_factors(block, nblocks, from, NULL, to, row, dev->stream))
GNN_OP(gcn_degrees, ("degree normalisation"), 2 * n,
       (const uint32_t *degree, uint64_t n, float *isqrt), gnn_gcn_degrees(degree, n, isqrt),
       gnn_cuda_gcn_degrees(degree, NULL, (uint32_t)n, isqrt, dev->stream))
GNN_OP(gcn_factors, ("degree normalisation"),
       UINT64_C(3) * (to - from) + AT_LEAST.rows + AT_LEAST.edges,
       (const struct gnn_csr *block, uint32_t nblocks, uint32_t from, uint32_t to,
        const float *isqrt, float *row, float *diag),
       gnn_gcn_factors(block, nblocks, from, to, isqrt, row, diag),
       gnn_cuda_gcn_factors(block, nblocks, from, NULL, to, isqrt, row, diag, dev->stream))

GNN_OP(weight_degrees, ("degree normalisation"), 2 * n,
       (const float *degree, uint64_t n, float *isqrt), gnn_weight_degrees(degree, n, isqrt),
       gnn_cuda_weight_degrees(degree, NULL, (uint32_t)n, isqrt, dev->stream))
GNN_OP(weight_factors, ("degree normalisation"),
       UINT64_C(5) * (to - from) + AT_LEAST.rows + AT_LEAST.edges,
       (const struct gnn_csr *block, uint32_t nblocks, uint32_t from, uint32_t to,
        const float *isqrt, const uint32_t *count, const float *loop, float *row, float *diag),
       gnn_weight_factors(block, nblocks, from, to, isqrt, count, loop, row, diag),
       gnn_cuda_weight_factors(block, nblocks, from, NULL, to, isqrt, count, loop, row, diag,
                               dev->stream))

/* kernels/act.h */
GNN_OP(bias_act, ("bias and activation"), cells_of(2, n) * d,
       (float *x, uint32_t n, size_t d, const float *bias, enum gnn_act act,
        const struct gnn_dropout *drop),
       gnn_bias_act(x, n, d, bias, act, drop),
       gnn_cuda_bias_act(x, NULL, n, d, bias, act, drop, dev->stream))
GNN_OP(dropout_copy, ("dropout"), cells_of(2, n) * d,
       (const float *x, uint32_t n, size_t d, const struct gnn_dropout *drop, float *y),
       gnn_dropout_copy(x, n, d, drop, y),
       gnn_cuda_dropout_copy(x, NULL, n, d, drop, y, dev->stream))
GNN_OP(act_back, ("activation, backward"), cells_of(3, n) * d,
       (float *dy, const float *y, uint32_t n, size_t d, enum gnn_act act, float scale,
        const struct gnn_dropout *drop),
       gnn_act_back(dy, y, n, d, act, scale, drop),
       gnn_cuda_act_back(dy, y, NULL, n, d, act, scale, drop, dev->stream))
GNN_OP(colsum, ("column sums"), cells_of(n, d),
       (const float *x, uint32_t n, size_t d, float *work, float *out, bool acc),
       gnn_colsum(x, n, d, work, out, acc),
       gnn_cuda_colsum(x, NULL, n, d, work, out, acc, dev->stream))
GNN_OP(layer_norm, ("layer norm"), cells_of(xhat ? 3 : 2, n) * d + n,
       (const float *x, uint32_t n, size_t d, const float *gamma, const float *beta, float eps,
        float *xhat, float *rstd, float *y),
       gnn_layer_norm(x, n, d, gamma, beta, eps, xhat, rstd, y),
       gnn_cuda_layer_norm(x, NULL, n, d, gamma, beta, eps, xhat, rstd, y, dev->stream))
GNN_OP(layer_norm_back, ("layer norm, backward"), cells_of(3, n) * d + n,
       (float *dy, const float *xhat, const float *rstd, uint32_t n, size_t d, const float *gamma,
        float *dgamma, float *dbeta, float *work),
       gnn_layer_norm_back(dy, xhat, rstd, n, d, gamma, dgamma, dbeta, work),
       gnn_cuda_layer_norm_back(dy, xhat, rstd, NULL, n, d, gamma, dgamma, dbeta, work,
                                dev->stream))

/* kernels/batch_norm.h */
GNN_OP(moments, ("batch norm, sums"), cells_of(by == x ? 1 : 2, n) * d,
       (const float *x, const float *by, const uint8_t *count, uint32_t n, size_t d, double *work,
        double *sum),
       gnn_moments(x, by, count, n, d, work, sum),
       gnn_cuda_moments(x, by, count, NULL, n, d, work, sum, dev->stream))
GNN_OP(batch_stats, ("batch norm, statistics"), 7 * d,
       (const double *sum, double rows, size_t d, float eps, float *stat),
       gnn_batch_stats(sum, rows, d, eps, stat),
       gnn_cuda_batch_stats(sum, rows, d, eps, stat, dev->stream))
GNN_OP(running_stats, ("batch norm, statistics"), 4 * d,
       (const float *mean, const float *var, size_t d, float eps, float *stat),
       gnn_running_stats(mean, var, d, eps, stat),
       gnn_cuda_running_stats(mean, var, d, eps, stat, dev->stream))
GNN_OP(batch_track, ("batch norm, statistics"), 6 * d,
       (const float *stat, size_t d, float momentum, float *mean, float *var, int64_t *batches),
       gnn_batch_track(stat, d, momentum, mean, var, batches),
       gnn_cuda_batch_track(stat, d, momentum, mean, var, batches, dev->stream))
GNN_OP(batch_norm, ("batch norm"), cells_of(xhat ? 3 : 2, n) * d,
       (const float *x, uint32_t n, size_t d, const float *stat, const float *gamma,
        const float *beta, float *xhat, float *y),
       gnn_batch_norm(x, n, d, stat, gamma, beta, xhat, y),
       gnn_cuda_batch_norm(x, NULL, n, d, stat, gamma, beta, xhat, y, dev->stream))
GNN_OP(batch_norm_grads, ("batch norm, statistics, backward"), 8 * d,
       (const double *sum, size_t d, float *dgamma, float *dbeta),
       gnn_batch_norm_grads(sum, d, dgamma, dbeta),
       gnn_cuda_batch_norm_grads(sum, d, dgamma, dbeta, dev->stream))
GNN_OP(batch_back_stats, ("batch norm, statistics, backward"), 6 * d,
       (const double *sum, double rows, size_t d, float *stat),
       gnn_batch_back_stats(sum, rows, d, stat),
       gnn_cuda_batch_back_stats(sum, rows, d, stat, dev->stream))
GNN_OP(batch_norm_back, ("batch norm, backward"), cells_of(3, n) * d,
       (float *dy, const float *xhat, const uint8_t *count, uint32_t n, size_t d, const float *stat,
        const float *gamma),
       gnn_batch_norm_back(dy, xhat, count, n, d, stat, gamma),
       gnn_cuda_batch_norm_back(dy, xhat, count, NULL, n, d, stat, gamma, dev->stream))

/* kernels/attention.h. The structs are the host's, what they point to and `block` the backend's. */
GNN_OP(attention, ("attention"), gnn_ops_attention_words(a, AT_LEAST, to - from, flags),
       (const struct gnn_attention *a, const struct gnn_csr *block, uint32_t nblocks, uint32_t from,
        uint32_t to, unsigned flags, float *y, float *m, float *z),
       gnn_attention_rows(a, block, nblocks, from, to, flags, y, m, z),
       gnn_cuda_attention_rows(a, block, nblocks, from, to, flags, y, m, z, dev->word + WORD_SPMM,
                               dev->stream))
GNN_OP(attention_sources, ("attention, backward, by source"),
       gnn_ops_sources_words(a, range_of(known, back, from, to), to - from, g, acc),
       (const struct gnn_attention *a, const struct gnn_csr *back, uint32_t from, uint32_t to,
        const struct gnn_attention_back *g, bool acc),
       gnn_attention_sources(a, back, from, to, g, acc),
       gnn_cuda_attention_sources(a, back, from, to, g, acc, dev->word + WORD_SPMM, dev->stream))
GNN_OP(attention_targets, ("attention, backward, by destination"),
       gnn_ops_targets_words(a, AT_LEAST, to - from, g, acc),
       (const struct gnn_attention *a, const struct gnn_csr *block, uint32_t nblocks, uint32_t from,
        uint32_t to, const struct gnn_attention_back *g, bool acc),
       gnn_attention_targets(a, block, nblocks, from, to, g, acc),
       gnn_cuda_attention_targets(a, block, nblocks, from, to, g, acc, dev->word + WORD_SPMM,
                                  dev->stream))

/* kernels/heads.h */
GNN_OP(head_dots, ("dot products of heads"),
       cells_of(pitch ? 2 : 1, n) * heads * channels + cells_of(n, heads),
       (const float *x, const float *y, size_t pitch, uint32_t n, uint32_t heads, uint32_t channels,
        float *out),
       gnn_head_dots(x, y, pitch, n, heads, channels, out),
       gnn_cuda_head_dots(x, y, pitch, n, heads, channels, out, dev->stream))
GNN_OP(head_outer, ("dot products of heads, backward"),
       cells_of(2, n) * heads * channels + cells_of(n, heads),
       (const float *g, const float *w, uint32_t n, uint32_t heads, uint32_t channels, float *x),
       gnn_head_outer(g, w, n, heads, channels, x),
       gnn_cuda_head_outer(g, w, n, heads, channels, x, dev->stream))
GNN_OP(head_sums, ("column sums of heads"), cells_of(n, heads) * channels + cells_of(n, heads),
       (const float *g, const float *x, uint32_t n, uint32_t heads, uint32_t channels, float *work,
        float *out, bool acc),
       gnn_head_sums(g, x, n, heads, channels, work, out, acc),
       gnn_cuda_head_sums(g, x, n, heads, channels, work, out, acc, dev->stream))
GNN_OP(head_means, ("means of heads"),
       cells_of(n, heads) * channels + cells_of(rows_out(n, acc), channels),
       (const float *x, uint32_t n, uint32_t heads, uint32_t channels, float *out, bool acc),
       gnn_head_means(x, n, heads, channels, out, acc),
       gnn_cuda_head_means(x, n, heads, channels, out, acc, dev->stream))
GNN_OP(head_spread, ("means of heads, backward"),
       cells_of(n, heads) * channels + cells_of(n, channels),
       (const float *g, uint32_t n, uint32_t heads, uint32_t channels, float *x),
       gnn_head_spread(g, n, heads, channels, x),
       gnn_cuda_head_spread(g, n, heads, channels, x, dev->stream))

/* kernels/gate.h */
GNN_OP(gelu, ("GELU"), 2 * n, (const float *x, uint64_t n, float *y), gnn_gelu(x, n, y),
       gnn_cuda_gelu(x, n, y, dev->stream))
GNN_OP(gelu_back, ("GELU, backward"), 4 * n,
       (const float *x, const float *dy, uint64_t n, float *dx), gnn_gelu_back(x, dy, n, dx),
       gnn_cuda_gelu_back(x, dy, n, dx, dev->stream))
GNN_OP(gate, ("gated skip connection"), n + rows_out(n, acc),
       (const float *x, uint64_t n, const float *skip, bool rest, float *y, bool acc),
       gnn_gate(x, n, skip, rest, y, acc), gnn_cuda_gate(x, n, skip, rest, y, acc, dev->stream))
GNN_OP(gate_back, ("gated skip connection, backward"), 4,
       (const float *dot, const float *skip, bool rest, float *dskip),
       gnn_gate_back(dot, skip, rest, dskip),
       gnn_cuda_gate_back(dot, skip, rest, dskip, dev->stream))

/* kernels/rows.h; floats: as gnn_tensor_floats */
GNN_OP(fill, ("filling"), n, (float *x, uint64_t n, float v), gnn_fill(x, n, v),
       gnn_cuda_fill(x, n, v, dev->stream))
GNN_OP(add, ("addition"), 3 * n, (const float *x, uint64_t n, float *y), gnn_add(x, n, y),
       gnn_cuda_add(x, n, y, dev->stream))
GNN_OP(multiply, ("products of elements"), 3 * n,
       (const float *a, const float *b, uint64_t n, float *y), gnn_multiply(a, b, n, y),
       gnn_cuda_multiply(a, b, n, y, dev->stream))
GNN_OP(add_scaled, ("addition"), 3 * n, (const float *x, uint64_t n, const float *eps, float *y),
       gnn_add_scaled(x, n, eps, y), gnn_cuda_add_scaled(x, n, eps, y, dev->stream))
GNN_OP(put_columns, ("copying columns"), cells_of(n + rows_out(n, acc), w),
       (const float *x, size_t ldx, size_t n, size_t w, float *y, size_t ldy, bool acc),
       gnn_put_columns(x, ldx, n, w, y, ldy, acc),
       gnn_cuda_put_columns(x, ldx, n, w, y, ldy, acc, dev->stream))
GNN_OP(take_rows, ("copying rows by index"), cells_of(2, n) * d + n,
       (const float *x, const uint32_t *row, uint64_t n, size_t d, float *y),
       gnn_take_rows(x, row, n, d, y), gnn_cuda_take_rows(x, row, n, d, y, dev->stream))
GNN_OP(add_rows, ("adding rows by index"), cells_of(3, n) * d + n,
       (const float *x, const uint32_t *row, uint64_t n, size_t d, float *y),
       gnn_add_rows(x, row, n, d, y), gnn_cuda_add_rows(x, row, n, d, y, dev->stream))
/* kernels/pack.h; q is the host's, q->id the backend's */
GNN_OP(pack_rows, ("packing remote rows"), cells_of(2, n) * d + n,
       (const float *x, const uint32_t *row, uint64_t n, size_t d, float scale, float *y),
       gnn_pack_rows(x, row, n, d, scale, y),
       gnn_cuda_pack_rows(x, row, n, d, scale, y, dev->stream))
GNN_OP(pack_bf16, ("packing remote rows"), cells_of(3, n) * d / 2 + n,
       (const float *x, const uint32_t *row, uint64_t n, size_t d, float scale,
        const struct gnn_rounding *q, uint16_t *y),
       gnn_pack_bf16(x, row, n, d, scale, q, y),
       gnn_cuda_pack_bf16(x, row, n, d, scale, q, y, dev->stream))
GNN_OP(add_bf16_rows, ("adding rows by index"), cells_of(5, n) * d / 2 + n,
       (const uint16_t *x, const uint32_t *row, uint64_t n, size_t d, float *y),
       gnn_add_bf16_rows(x, row, n, d, y), gnn_cuda_add_bf16_rows(x, row, n, d, y, dev->stream))
GNN_OP(widen_bf16, ("conversion to f32"), 3 * n / 2, (const uint16_t *x, uint64_t n, float *y),
       gnn_bf16_to_f32(x, n, y), gnn_cuda_bf16_to_f32(x, n, y, dev->stream))

GNN_OP(raise, ("jumping knowledge"), 3 * n, (const float *x, uint64_t n, float *y),
       gnn_raise(x, n, y), gnn_cuda_raise(x, n, y, dev->stream))
GNN_OP(raise_back, ("jumping knowledge, backward"), 7 * n,
       (const float *dy, const float *y, const float *x, uint64_t n, float *taken, float *dx),
       gnn_raise_back(dy, y, x, n, taken, dx),
       gnn_cuda_raise_back(dy, y, x, n, taken, dx, dev->stream))
GNN_OP(unit_sums, ("feature normalisation"), cells_of(2, n) * d, (float *x, uint32_t n, size_t d),
       gnn_rows_to_unit_sum(x, n, d), gnn_cuda_rows_to_unit_sum(x, NULL, n, d, dev->stream))
GNN_OP(unit_rows, ("row normalisation"), cells_of(2, n) * d + n,
       (const float *x, uint32_t n, size_t d, float *y, float *rnorm),
       gnn_unit_rows(x, n, d, y, rnorm), gnn_cuda_unit_rows(x, NULL, n, d, y, rnorm, dev->stream))
GNN_OP(unit_rows_back, ("row normalisation, backward"), cells_of(3, n) * d + n,
       (float *dy, const float *y, const float *rnorm, uint32_t n, size_t d),
       gnn_unit_rows_back(dy, y, rnorm, n, d),
       gnn_cuda_unit_rows_back(dy, y, rnorm, NULL, n, d, dev->stream))
GNN_OP(floats, ("conversion to f32"),
       x->dtype == GNN_F32 ? 0 /* a copy, told as that */ : 3 * n / 2,
       (const struct gnn_tensor *x, uint64_t n, float *out), (void)!gnn_tensor_floats(x, n, out),
       widen_tensor(dev, x, n, out))

/* kernels/label.h: the first n elements of a label tensor */
GNN_OP(labels, ("labels"), n + n * gnn_dtype_bytes(y->dtype) / 4,
       (const struct gnn_tensor *y, uint64_t n, enum gnn_label_form form, uint32_t classes,
        void *out),
       gnn_labels_form(y->data, (enum gnn_label_type)y->dtype, n, form, classes, out),
       gnn_cuda_labels_form(y->data, (enum gnn_label_type)y->dtype, n, form, classes, out,
                            dev->stream))

/* kernels/loss.h */
GNN_OP(softmax_ce, ("loss"), cells_of(dz ? 2 : 1, n) * c + cells_of(3, n),
       (const float *z, uint32_t n, size_t c, const int32_t *y, float scale, double *row_loss,
        float *dz),
       gnn_softmax_ce(z, n, c, y, scale, row_loss, dz),
       gnn_cuda_softmax_ce(z, NULL, n, c, y, scale, row_loss, dz, dev->word + WORD_CLASS,
                           dev->stream))
GNN_OP(sigmoid_ce, ("loss"), cells_of(dz ? 3 : 2, n) * c + cells_of(2, n),
       (const float *z, uint32_t n, size_t c, const float *y, float scale, double *row_loss,
        float *dz),
       gnn_sigmoid_ce(z, n, c, y, scale, row_loss, dz),
       gnn_cuda_sigmoid_ce(z, NULL, n, c, y, scale, row_loss, dz, dev->stream))
GNN_OP(squared_error, ("loss"), cells_of(dz ? 3 : 2, n) * c + cells_of(2, n),
       (const float *z, uint32_t n, size_t c, const float *y, float scale, double *row_loss,
        float *dz),
       gnn_squared_error(z, n, c, y, scale, row_loss, dz),
       gnn_cuda_squared_error(z, NULL, n, c, y, scale, row_loss, dz, dev->stream))
GNN_OP(link_loss, ("loss"), cells_of(dz ? 5 : 4, p) + cells_of(dz ? 5 : 4, n),
       (const float *z, const float *y, uint32_t p, uint32_t n, uint32_t each, bool softmax,
        float scale, double *row_loss, float *dz),
       gnn_link_loss(z, y, p, n, each, softmax, scale, row_loss, dz),
       gnn_cuda_link_loss(z, y, p, n, each, softmax, scale, row_loss, dz, dev->stream))

/* kernels/weight.h */
GNN_OP(label_weights, ("loss weights"), cells_of(1, n) * (form == GNN_LABEL_CLASS ? 1 : c) + n,
       (const void *y, enum gnn_label_form form, uint32_t n, size_t c, const float *weight,
        float *w),
       gnn_label_weights(y, form, n, c, weight, w),
       gnn_cuda_label_weights(y, form, n, c, weight, w, dev->stream))
GNN_OP(weigh_rows, ("loss weights"), cells_of(2, n) * c + cells_of(1, n),
       (const float *w, uint32_t n, size_t c, const double *total, double rows, float *dz),
       gnn_weigh_rows(w, n, c, total, rows, dz),
       gnn_cuda_weigh_rows(w, n, c, total, rows, dz, dev->stream))

/* kernels/optim.h */
GNN_OP(clip, ("gradient clipping"), n, (float *g, size_t n, double most), gnn_clip(g, n, most),
       clip_by_norm(dev, g, n, most))
GNN_OP(adam, ("optimiser"), 7 * n,
       (float *p, const float *g, float *m, float *v, size_t n, bool decoupled,
        const struct gnn_optim_step *s),
       gnn_adam(p, g, m, v, n, decoupled, s),
       gnn_cuda_adam(p, g, m, v, n, decoupled, s, dev->stream))
GNN_OP(sgd, ("optimiser"), (m ? 5 : 3) * n,
       (float *p, const float *g, float *m, size_t n, const struct gnn_optim_step *s),
       gnn_sgd(p, g, m, n, s), gnn_cuda_sgd(p, g, m, n, s, dev->stream))

#undef GNN_OP
