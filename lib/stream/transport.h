/* SPDX-License-Identifier: Apache-2.0 */
/* Shared-memory transport: payloads by reference between two programs that are joined by a pipe on
 * one host (gnb(5), codec reference). Large tensors stay in memory that both map, or in the store's
 * file, and only frames of a few hundred bytes go through the pipe.
 *
 * Both ends find each other by the pipe itself: the exporter listens on an abstract socket named by
 * the pipe's device and inode before it writes anything; an importer that has read a HEADER looks
 * at its own input and connects to the socket of that name. So only a process that reads this very
 * pipe connects: no cat, tee or ssh, nor a reader behind one. The stream says nothing of the
 * transport. The exporter does not wait for an importer, but with SHM and CUDA and once before
 * features would be copied that could stay in place, and writes inline until one has mapped the
 * memory. The socket also carries descriptors of files, and the slots that are released, and its
 * end tells each side that the other one is gone. */
#ifndef GNN_LIB_STREAM_TRANSPORT_H
#define GNN_LIB_STREAM_TRANSPORT_H

#include "formats/gnb.h"
#include "lib/stream/stream.h"

enum { GNN_TRANSPORT_SLOTS = 3 }; /* batches that are written and not released, at most */

/* ---- the exporter, at the writing end; one thread ---- */
struct gnn_exporter;

/* Makes an exporter that listens, if fd is a pipe and `how` is not INLINE; else *l is NULL, and
 * batches go through the pipe. Fails only with SHM and CUDA. gpu: the devices that batches may lie
 * on, or NULL. It, and name, for messages, must outlive the exporter. */
int gnn_exporter_new(struct gnn_exporter **l, int fd, const char *name, enum gnn_transport how,
                     struct gnn_gpu *gpu, struct gnn_err *e) GNN_MUST_USE;
/* Shakes hands; called when the HEADER, whose checksum is `sum`, has been written. With SHM and
 * CUDA waits for the importer while the HEADER is unread and some seconds more, and fails if none
 * comes. */
int gnn_exporter_handshake(struct gnn_exporter *l, uint64_t sum, struct gnn_err *e) GNN_MUST_USE;
/* Whether the importer takes batches on this device; does not wait. l may be NULL. */
bool gnn_exporter_accepts(struct gnn_exporter *l, unsigned device);
/* Whether features of b that are in place may stay there: the importer takes rows of files, and is
 * given those that have them. While the stream has no importer yet, waits once until its HEADER is
 * read, for some seconds at most, and for some moments more. l may be NULL. */
bool gnn_exporter_accepts_rows(struct gnn_exporter *l, const struct gnn_batch *b);
/* Takes a slot for b's tensors: *slot, or -1 if they are to go inline. Waits for the importer to
 * release a slot if it has all; an importer that dies meanwhile ends the wait, and the export.
 * Large tensors on the heap move to the shared memory, which voids b's view; when b is used again
 * they are made there. Tensors on a device are copied to memory there that the importer can open.
 */
int gnn_exporter_slot(struct gnn_exporter *l, struct gnn_batch *b, int *slot,
                      struct gnn_err *e) GNN_MUST_USE;
/* Fills *ref with the place of tensor i of b, of `bytes`, for the importer; copies the tensor to
 * the shared memory if it is elsewhere. */
void gnn_exporter_refer(struct gnn_exporter *l, int slot, const struct gnn_batch *b, uint32_t i,
                        uint64_t bytes, struct gnb_reference *ref);
/* Fills *ref with where the features of type t of b are, which are in place. */
void gnn_exporter_refer_rows(const struct gnn_exporter *l, int slot, const struct gnn_batch *b,
                             int t, struct gnb_reference *ref);
/* Keeps b, unless it lies on a device, until the importer releases the slot. */
void gnn_exporter_hold(struct gnn_exporter *l, int slot, struct gnn_batch *b);
/* Waits until the importer needs nothing more of our devices' memory; called after the end of the
 * stream, when the pipe is closed. */
void gnn_exporter_drain(struct gnn_exporter *l);
/* Puts all batches. Their exported tensors stay for the importer; the batches allocate new ones.
 * Takes NULL. */
void gnn_exporter_free(struct gnn_exporter *l);

/* ---- the importer, at the reading end; any thread may release leases ---- */
struct gnn_importer;

/* Shakes hands with the exporter of the stream on fd whose HEADER has this checksum; NULL if none
 * is listening, which is no error. gpu: the devices that batches may lie on, or NULL; it must
 * outlive the importer. rows: features may stay in files. */
struct gnn_importer *gnn_importer_new(int fd, uint64_t sum, struct gnn_gpu *gpu, bool rows);
/* Waits until fd can be read, or reads are to stop; meanwhile accepts the memory that the exporter
 * offers. */
void gnn_importer_wait(struct gnn_importer *b, int fd);
/* Sets *data to the memory that a reference of `bytes` names; the lease goes into set with the
 * first tensor of a frame. Returns NULL, or a text that says what is wrong. b may be NULL. */
const char *gnn_importer_map(struct gnn_importer *b, const struct gnb_reference *ref,
                             uint64_t bytes, struct gnn_tensors *set, void **data);
/* Sets *all to the tensor of all rows, in a file, that a reference in place of `as` names, which
 * stays while there are leases; one goes into set as with gnn_importer_map. GNN_E_INPUT if it is no
 * such tensor. b may be NULL. */
int gnn_importer_rows(struct gnn_importer *b, const struct gnb_reference *ref,
                      const struct gnn_tensor *as, struct gnn_tensors *set,
                      const struct gnn_tensor **all, struct gnn_err *e) GNN_MUST_USE;
/* Copies a tensor like `as` from a device's memory into own memory there, and adds it to the set.
 * GNN_E_INPUT if the exporter has not offered the memory that ref names. */
int gnn_importer_copy(struct gnn_importer *b, const struct gnb_reference *ref,
                      const struct gnn_tensor *as, struct gnn_tensors *set, unsigned *device,
                      struct gnn_err *e) GNN_MUST_USE;
/* Ends a frame: waits for copies on a device, and releases the slot. Without a device, copies the
 * tensors and releases the slot only if the exporter would otherwise have none left; the set keeps
 * a lease that only holds the files then, if it has rows there (`rows`). */
int gnn_importer_release(struct gnn_importer *b, struct gnn_tensors *set, bool rows,
                         struct gnn_err *e) GNN_MUST_USE;
/* Whether a file with rows was written to or cut since it was mapped, which GNN_E_RUN says; called
 * when the rows of all batches so far have been used. b may be NULL. */
int gnn_importer_changed(struct gnn_importer *b, struct gnn_err *e) GNN_MUST_USE;
/* Frees the importer; leases that are out stay valid. Takes NULL. */
void gnn_importer_free(struct gnn_importer *b);

#endif
