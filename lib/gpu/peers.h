/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of all ranks: which of them reads which other's memory, exported through CUDA IPC,
 * and that memory opened. _users, _meet, _export and _close are collective. */
#ifndef GNN_LIB_GPU_PEERS_H
#define GNN_LIB_GPU_PEERS_H

#include "lib/comm/comm.h"
#include "lib/gpu/runtime.h"

struct gnn_gpu_peer {
    uint32_t rank, unit; /* which of its rank's devices */
    uint64_t host, id;   /* what tells hosts, and devices, apart */
    uint64_t bytes;      /* as its rank told in _meet: a budget */
    struct gnn_dev_handle handle;
};

struct gnn_gpu_peers {
    struct gnn_comm *comm;
    struct gnn_gpu *g;
    struct gnn_gpu_peer *peer; /* [n] rank by rank */
    uint32_t n, self;          /* the first of this rank's */
    /* [n][n] enum gnn_gpu_apart: TOGETHER if a device reads another's memory */
    unsigned char *apart;
    void **opened; /* [nopened] */
    uint64_t nopened;
};

/* How many devices of all ranks are the very one that this rank's is, itself included:
 * users[devices]. */
int gnn_gpu_peers_users(const struct gnn_gpu *g, struct gnn_comm *comm, uint32_t *users,
                        struct gnn_err *e) GNN_MUST_USE;
/* bytes: [devices], for peer[].bytes. Imports are tried out, not only asked for, as a system may
 * isolate processes from each other. *p is to be closed on failure too. */
int gnn_gpu_peers_meet(struct gnn_gpu_peers **p, struct gnn_gpu *g, struct gnn_comm *comm,
                       const uint64_t *bytes, struct gnn_err *e) GNN_MUST_USE;
/* The next group of n devices that read each other's memory: the first that is in none yet, and
 * all that fit. taken[n] starts with false; member[n], of which *count are set. together: whether
 * device a reads b's memory. False when there is none any more. */
bool gnn_gpu_clique(uint32_t n, bool (*together)(const void *arg, uint32_t a, uint32_t b),
                    const void *arg, bool *taken, uint32_t *member, uint32_t *count);
/* Whether device a of the peers, as an index into peer, reads the memory of b. */
bool gnn_gpu_peers_together(const void *peers, uint32_t a, uint32_t b);
/* The worst reason why devices of two ranks of one host are apart, and the first two ranks of which
 * it is true. */
enum gnn_gpu_apart gnn_gpu_peers_apart(const struct gnn_gpu_peers *p, uint32_t *rank);
/* memory: [devices] what each exports, or NULL. It must stay until all have closed. */
int gnn_gpu_peers_export(struct gnn_gpu_peers *p, void *const *memory,
                         struct gnn_err *e) GNN_MUST_USE;
/* Maps the memory that another rank's device exports, for device `unit` of this one. */
int gnn_gpu_peers_open(struct gnn_gpu_peers *p, unsigned unit, uint32_t peer, void **at,
                       struct gnn_err *e) GNN_MUST_USE;
/* Closes what was opened, and waits until all ranks have, unless this one has failed. Nothing uses
 * it any more. Takes NULL. */
void gnn_gpu_peers_close(struct gnn_gpu_peers *p);

#endif
