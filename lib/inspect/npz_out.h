/* SPDX-License-Identifier: Apache-2.0 */
/* An .npz that is written piece by piece: a zip of .npy members, uncompressed, through libarchive.
 * Private to lib/inspect. */
#ifndef GNN_LIB_INSPECT_NPZ_OUT_H
#define GNN_LIB_INSPECT_NPZ_OUT_H

#include <locale.h>

#include "formats/npy.h"
#include "lib/base/io.h"

struct gnn_npz_out {
    struct archive *a;
    struct gnn_io io;
    struct gnn_err *e;     /* of the call that is running */
    locale_t utf8, before; /* of this thread while libarchive writes: it converts names from the
                              locale's encoding */
};

/* Takes any object, which stays where it is until _end. e: where failures of all calls go, the
 * first of which counts. The fd stays the caller's. */
int gnn_npz_out_begin(struct gnn_npz_out *z, int fd, const char *name,
                      struct gnn_err *e) GNN_MUST_USE;
/* The next member, called MEMBER.npy. Its data, all of it, follow by _put. */
int gnn_npz_out_member(struct gnn_npz_out *z, const char *member,
                       const struct gnn_npy *h) GNN_MUST_USE;
int gnn_npz_out_put(struct gnn_npz_out *z, const void *data, uint64_t n) GNN_MUST_USE;
/* Ends the archive, unless rc says that something has failed; frees it. Takes a zeroed object. */
int gnn_npz_out_end(struct gnn_npz_out *z, int rc) GNN_MUST_USE;

#endif
