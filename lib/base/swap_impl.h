/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that implement lib/base/swap.h, and their test; nobody else includes it. */
#ifndef GNN_LIB_BASE_SWAP_IMPL_H
#define GNN_LIB_BASE_SWAP_IMPL_H

#include <pthread.h>

#include "lib/base/swap.h"

enum { SWAP_THREADS = 2, SWAP_CHAINS = 4096 };
#define SWAP_NEVER UINT64_MAX

/* The state of a region. EMPTY: its contents are not needed; FILED: they are in the file only;
 * regions in the other three states take up memory. */
enum swap_state { SWAP_EMPTY, SWAP_FILED, SWAP_READING, SWAP_THERE, SWAP_WRITING };

struct swap_region {
    char *data;
    uint64_t bytes; /* whole pages */
    uint64_t at;    /* place in the file; SWAP_NEVER: it has none yet */
    uint64_t sum;   /* checksum of the bytes written there */
    uint64_t next;  /* its next use in the order of uses; SWAP_NEVER: unknown */
    enum swap_state state;
    bool changed;  /* since it was written */
    bool needless; /* its contents are not needed once reading or writing it ends */
    bool held;
    struct swap_region *chain; /* the next region with the same hash */
    uint32_t index;            /* among all */
};

/* A use of a region, and its next use, counted on into the following cycle. */
struct swap_use {
    struct swap_region *r;
    uint64_t next;
};
struct swap_uses {
    struct swap_use *use;
    uint64_t n;
};

struct gnn_swap {
    pthread_mutex_t lock;
    pthread_cond_t work, done; /* there is work for the threads; a piece of it is done */
    pthread_t thread[SWAP_THREADS];
    uint32_t started;
    uint64_t page;             /* bytes of a page: mappings and moves are of whole pages */
    uint64_t reading, writing; /* bytes on their way from the file, and to it */
    bool stop;
    bool strict;     /* see gnn_swap_new */
    bool begun;      /* the limit is enforced */
    bool rehearsing; /* see gnn_swap_rehearse */
    bool wanted;     /* a turn waits for space: nothing is read ahead */
    int fd;
    bool reserved; /* the file system has reserved all of the file */
    char *name;    /* for messages */
    struct swap_region **all, *hash[SWAP_CHAINS];
    uint64_t n;
    struct swap_region **queue; /* regions that threads are to read or write: [ring], from `head` */
    uint64_t head, queued, ring;
    struct swap_region **held;
    uint64_t nheld, held_bytes, most_held; /* most_held: bytes, in a turn of a rehearsal */
    uint64_t there, end;                   /* bytes in memory; bytes of the file */
    uint64_t limit;                        /* bytes of memory for the process */
    uint64_t besides;       /* bytes of the process that are in no region, when last measured */
    uint64_t unseen;        /* bytes of small buffers made since then */
    uint64_t margin, aside; /* bytes that stay free; aside: gnn_swap_set_aside */
    struct swap_uses order, seen; /* uses of the last cycle, of this one */
    uint64_t pos;                 /* position of this cycle in `order` */
    struct swap_free {            /* a free place in the file */
        uint64_t at, bytes;
    } * spare;
    uint64_t nspare;
    struct gnn_err failed; /* the first failure of a thread */
    struct gnn_swap_stats stats;
};

/* Clears memory of all regions, between turns. This and the following are called with the lock. */
void gnn_swap_clear(struct gnn_swap *s);
/* _used notes that region r is held, as next in the order. _plan starts to read the regions that
 * are needed next, while there is space, and to write those that are needed last. _make_space
 * frees memory for `bytes` more, or starts to; true when there is enough. from: only regions that
 * are not needed before this use have to go. */
int gnn_swap_used(struct gnn_swap *s, struct swap_region *r, struct gnn_err *e);
void gnn_swap_plan(struct gnn_swap *s);
/* Starts to read a FILED region, for which there is space. */
void gnn_swap_read(struct gnn_swap *s, struct swap_region *r);
bool gnn_swap_make_space(struct gnn_swap *s, uint64_t bytes, uint64_t from);
void gnn_swap_uses_release(struct gnn_swap *s);
/* Removes a region, which is freed, from all uses. */
void gnn_swap_forget_uses(struct gnn_swap *s, const struct swap_region *r);
/* Gives a region's pages back, or gets some, and sets its state. */
void gnn_swap_unmap(struct gnn_swap *s, struct swap_region *r, enum swap_state state);
void gnn_swap_map(struct gnn_swap *s, struct swap_region *r, enum swap_state state);

/* The work of a thread until s->stop. */
void *gnn_swap_work(void *arg);

#endif
