/* SPDX-License-Identifier: Apache-2.0 */
/* Payloads by reference between two programs that are joined by a pipe on one host (gnb(5), codec
 * reference): large tensors stay in memory that both map, and only frames of a few hundred bytes go
 * through the pipe.
 *
 * The two find each other by the pipe itself: the writer listens on an abstract socket named by the
 * pipe's device and inode before it writes anything; a reader that has read a HEADER looks at what
 * its own input is and connects to the socket of that name. So only a process that reads this very
 * pipe comes: no cat, tee or ssh, nor a reader behind one. Nothing about it is in the stream. Until
 * the reader has said that it mapped the memory the writer writes inline, and it never waits for
 * one to come. The socket also carries the slots that are given back, and its end tells that the
 * other side is gone. */
#ifndef GNN_LIB_STREAM_TRANSPORT_H
#define GNN_LIB_STREAM_TRANSPORT_H

#include "formats/gnb.h"
#include "lib/stream/stream.h"

enum { GNN_TRANSPORT_SLOTS = 3 }; /* batches that are written and not given back, at most */

/* ---- the writer's side; one thread ---- */
struct gnn_exporter;

/* Listens, if fd is a pipe and `how` is not INLINE; *l is NULL where batches will go through the
 * pipe. Fails only with SHM and CUDA. gpu: where batches may lie, or NULL. It, and name, for
 * messages, must outlive the exporter. */
int gnn_exporter_new(struct gnn_exporter **l, int fd, const char *name, enum gnn_transport how,
                     struct gnn_gpu *gpu, struct gnn_err *e) GNN_MUST_USE;
/* Call when the HEADER, whose checksum is `sum`, has been written. With SHM and CUDA waits for the
 * reader while the HEADER is unread and some seconds more, and fails if none comes. */
int gnn_exporter_handshake(struct gnn_exporter *l, uint64_t sum, struct gnn_err *e) GNN_MUST_USE;
/* Whether the reader takes what lies on this device; does not wait. l may be NULL. */
bool gnn_exporter_accepts(struct gnn_exporter *l, unsigned device);
/* Takes a slot for b's tensors: *slot, or -1 if they are to go inline. Waits for the reader to give
 * a slot back if it has all; a reader that dies meanwhile ends the wait, and the export. Large
 * tensors of the heap move to the shared memory, which voids b's view, and when b is used again
 * they are made there. What lies on a device is copied to memory there that the reader can open. */
int gnn_exporter_slot(struct gnn_exporter *l, struct gnn_batch *b, int *slot,
                      struct gnn_err *e) GNN_MUST_USE;
/* Fills *ref with the place of tensor i of b, of `bytes`, for the reader; copies the tensor to the
 * shared memory if it is elsewhere. */
void gnn_exporter_refer(struct gnn_exporter *l, int slot, const struct gnn_batch *b, uint32_t i,
                        uint64_t bytes, struct gnb_reference *ref);
/* Keeps b, unless it lies on a device, until the reader gives the slot back. */
void gnn_exporter_hold(struct gnn_exporter *l, int slot, struct gnn_batch *b);
/* After the end of the stream, the pipe being closed: waits until the reader needs nothing more of
 * our devices' memory. */
void gnn_exporter_drain(struct gnn_exporter *l);
/* Puts all batches. Their exported tensors stay for the reader; the batches allocate new ones.
 * Takes NULL. */
void gnn_exporter_free(struct gnn_exporter *l);

/* ---- the reader's side; leases may be given back by any thread ---- */
struct gnn_importer;

/* Greets the writer of the stream on fd whose HEADER has this checksum; NULL if none is listening,
 * which is no error. gpu: where batches may lie, or NULL; it must outlive the importer. */
struct gnn_importer *gnn_importer_new(int fd, uint64_t sum, struct gnn_gpu *gpu);
/* Waits until fd has something to read, or reads are to stop; meanwhile accepts the memory that the
 * writer offers. */
void gnn_importer_wait(struct gnn_importer *b, int fd);
/* Sets *data to the memory that a reference of `bytes` names; the lease goes into set with the
 * first tensor of a frame. Returns NULL, or a text that says what is wrong. b may be NULL. */
const char *gnn_importer_map(struct gnn_importer *b, const struct gnb_reference *ref,
                             uint64_t bytes, struct gnn_tensors *set, void **data);
/* Copies a tensor like `as` from a device's memory into own memory there, and adds it to the set.
 * GNN_E_INPUT if the writer has not offered the memory that ref names. */
int gnn_importer_copy(struct gnn_importer *b, const struct gnb_reference *ref,
                      const struct gnn_tensor *as, struct gnn_tensors *set, unsigned *device,
                      struct gnn_err *e) GNN_MUST_USE;
/* Ends a frame: waits for copies on a device, and gives the slot back. Without a device, copies the
 * tensors and gives the slot back if the writer would otherwise have none left. */
int gnn_importer_release(struct gnn_importer *b, struct gnn_tensors *set,
                         struct gnn_err *e) GNN_MUST_USE;
/* Frees the importer; leases that are out stay valid. Takes NULL. */
void gnn_importer_free(struct gnn_importer *b);

#endif
