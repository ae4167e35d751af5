/* GNB batch streams on file descriptors: HEADER, BATCH frames, END. */
#ifndef GNN_LIB_STREAM_H
#define GNN_LIB_STREAM_H

#include "lib/batch.h"
#include "lib/io.h"

/* ---- writing ---- */
struct gnn_writer {
    struct gnn_io io;
    uint64_t seq;
    int zstd_level; /* 0: payloads are stored raw */
    struct gnn_buf head, entries, packed, out;
    uint64_t nout; /* bytes collected in out */
    void *zstd;
};

/* Writes the HEADER frame. Takes over fd (closed by _end or _release); name must outlive the writer.
 * zstd_level 1..19 packs each tensor of the batches that gets smaller by it. */
int gnn_writer_begin(struct gnn_writer *w, int fd, const char *name, const struct gnn_meta *m,
                     int zstd_level, struct gnn_err *e) GNN_MUST_USE;
/* Writes one BATCH frame: b->tensors as they are. */
int gnn_writer_batch(struct gnn_writer *w, const struct gnn_batch *b,
                     struct gnn_err *e) GNN_MUST_USE;
/* Writes END and closes. Only a stream that got this far is complete. */
int gnn_writer_end(struct gnn_writer *w, struct gnn_err *e) GNN_MUST_USE;
/* Frees; closes without END if _end was not called. Takes a zeroed object. */
void gnn_writer_release(struct gnn_writer *w);

/* ---- reading ---- */
struct gnn_reader {
    struct gnn_io io;
    struct gnn_meta meta;
    bool have_meta, in_stream, begun;
    uint64_t seq, start; /* of the current stream among concatenated ones */
    uint64_t streams;    /* complete streams read so far */
    struct gnn_buf table, packed;
    void *zstd;
};

/* Reads the first HEADER. Takes over fd. name must outlive the reader. */
int gnn_reader_begin(struct gnn_reader *r, int fd, const char *name, struct gnn_err *e) GNN_MUST_USE;
/* Reads the next BATCH frame into t, which is cleared first; checks everything but the batch's own sense
 * (gnn_batch_bind). Concatenated streams are read through, when their headers agree. GNN_END after the last END. */
int gnn_reader_next(struct gnn_reader *r, struct gnn_tensors *t, struct gnn_err *e) GNN_MUST_USE;
/* Takes a zeroed object. */
void gnn_reader_release(struct gnn_reader *r);

#endif
