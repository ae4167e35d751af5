/* SPDX-License-Identifier: Apache-2.0 */
/* GNB batch streams on file descriptors: HEADER, BATCH frames, END (gnb(5)).
 *
 * gnn_stream_source_new (lib/data/source.h) reads streams; the reader below is what it is made of.
 * Writers and readers take over their descriptor. One thread at a time. */
#ifndef GNN_LIB_STREAM_STREAM_H
#define GNN_LIB_STREAM_STREAM_H

#include "lib/data/batch.h"
#include "lib/data/source.h"
#include "lib/base/flag.h"
#include "lib/base/io.h"

/* How payloads reach the next program of a pipe on the same host (lib/stream/transport.h). */
enum gnn_transport {
    GNN_TRANSPORT_INLINE, /* payloads in the stream */
    GNN_TRANSPORT_AUTO,   /* by reference as soon as a reader has come, if one does */
    GNN_TRANSPORT_SHM,    /* by reference, or fail */
    GNN_TRANSPORT_CUDA /* batches that lie on a device stay there, or fail; others as with AUTO */
};

/* ---- writing ---- */
struct gnn_gpu;
struct gnn_writer_opts {
    /* 1..19 packs each tensor of the batches that gets smaller by it; 0: stored raw */
    int zstd_level;
    enum gnn_transport transport; /* with zstd: INLINE */
    struct gnn_gpu *gpu;          /* where batches may lie, or NULL */
    /* NULL, or set by the writer while the reader takes features in place, or may still turn out
     * to; read by the gatherer (gnn_gather_opts.in_place). Features that come in place otherwise
     * are copied. It outlives the writer */
    struct gnn_flag *in_place;
};

struct gnn_writer {
    struct gnn_io io;
    uint64_t seq;
    uint16_t major; /* version of its frames */
    int zstd_level;
    struct gnn_exporter *exporter; /* or NULL */
    struct gnn_flag *in_place;
    struct gnn_buf head, entries, packed, out;
    uint64_t nout;            /* bytes collected in out */
    uint64_t nref, nin_place; /* batches sent by reference, and with features that stay in place */
    void *zstd;
};

/* Writes the HEADER frame. Takes over fd (closed by _end or _release); name must outlive the
 * writer. */
int gnn_writer_begin(struct gnn_writer *w, int fd, const char *name, const struct gnn_meta *m,
                     const struct gnn_writer_opts *o, struct gnn_err *e) GNN_MUST_USE;
/* Whether batches that lie on this device can be written: the reader works there too. Does not wait
 * for one to come. */
bool gnn_writer_takes(struct gnn_writer *w, unsigned device);
/* Writes one BATCH frame: b->tensors; features in place stay there if the reader takes them, else
 * they are copied into the tensors first. A batch that goes by reference is held
 * (gnn_batch_hold) until the reader releases it, so it must not be changed any more; large tensors
 * move to shared memory first, and are made there from then on. So b's view, and pointers to its
 * tensors' data, are void afterwards. */
int gnn_writer_batch(struct gnn_writer *w, struct gnn_batch *b, struct gnn_err *e) GNN_MUST_USE;
/* Writes END and closes. Only a stream that got this far is complete. */
int gnn_writer_end(struct gnn_writer *w, struct gnn_err *e) GNN_MUST_USE;
/* Frees, and puts the batches that are held. If _end was not called, the program is to say why:
 * closes without END, and marks the pipe (gnn_io_mark_failed). Takes a zeroed object. */
void gnn_writer_release(struct gnn_writer *w);

/* ---- reading ---- */
struct gnn_reader {
    struct gnn_io io;
    struct gnn_meta meta;
    bool have_meta, in_stream, begun;
    uint64_t seq, start; /* of the current stream among concatenated ones */
    uint16_t major;      /* version of its frames */
    uint64_t streams;    /* complete streams read so far */
    struct gnn_buf table, packed;
    struct gnn_buf entries;      /* of the last table */
    struct gnn_tensors declared; /* and its tensors, without data */
    /* NULL, or what such tensors of a batch are checked by before any is read:
     * gnn_batch_check_table */
    int (*check_table)(const struct gnn_tensors *t, const struct gnn_meta *m, struct gnn_err *e);
    void *zstd;
    struct gnn_importer *importer; /* of the current stream, or NULL */
    struct gnn_gpu *gpu;
    uint32_t kind;  /* of the last frame: enum gnb_kind */
    bool on_device; /* it lies on `device`: */
    unsigned device;
    uint32_t ndevice; /* so many of its tensors */
    uint32_t nshared; /* and so many are in the memory of the program that wrote it */
    bool in_place;    /* accept features in place */
    /* The tensors of all rows, in the store's file, of its features that are in place, under the
     * names that the batch's would have; valid as long as the batch keeps its lease */
    const struct gnn_tensor **rows; /* [nrows] */
    struct gnn_buf row_list;        /* its memory */
    uint32_t nrows;
};

/* Reads the first HEADER. Takes over fd. name must outlive the reader. o: NULL accepts neither
 * devices nor features in place. */
int gnn_reader_begin(struct gnn_reader *r, int fd, const char *name,
                     const struct gnn_stream_opts *o, struct gnn_err *e) GNN_MUST_USE;
/* Reads the next BATCH frame into t (but features in place, which r->rows has), which is cleared
 * first; checks everything but the batch's own sense (gnn_batch_bind). Concatenated streams are
 * read through, when their headers agree. GNN_END after the last END. */
int gnn_reader_next(struct gnn_reader *r, struct gnn_tensors *t, struct gnn_err *e) GNN_MUST_USE;
/* Takes a zeroed object. */
void gnn_reader_release(struct gnn_reader *r);

#endif
