/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that implement lib/base/swap.h, and their test; nobody else includes it. */
#ifndef GNN_LIB_BASE_SWAP_IMPL_H
#define GNN_LIB_BASE_SWAP_IMPL_H

#include <pthread.h>

#include "lib/base/swap.h"

enum { SWAP_THREADS = 2, SWAP_CHAINS = 4096 };
#define SWAP_NEVER UINT64_MAX

/* Where the contents of a region are, and what is done with it. EMPTY: they are not needed; FILED:
 * in the file only; the other three take up memory. */
enum swap_state { SWAP_EMPTY, SWAP_FILED, SWAP_READING, SWAP_THERE, SWAP_WRITING };

struct swap_region {
    char *data;
    uint64_t bytes; /* whole pages */
    uint64_t at;    /* in the file; SWAP_NEVER: it has no place there yet */
    uint64_t sum;   /* of what was written there */
    uint64_t next;  /* of the order of uses: when it is needed next; SWAP_NEVER: unknown */
    enum swap_state state;
    bool changed;  /* since it was written */
    bool needless; /* when what is done with it ends, its contents are not needed */
    bool held;
    struct swap_region *chain; /* of those with the same hash */
    uint32_t index;            /* among all */
};

/* A use: which region, and when that one is used next, counted on into the following cycle. */
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
    pthread_cond_t work, done; /* for the threads; and when one has ended a piece of work */
    pthread_t thread[SWAP_THREADS];
    uint32_t started;
    uint64_t page;             /* the system's: what is mapped and moved are whole ones */
    uint64_t reading, writing; /* bytes that are on their way from the file, and to it */
    bool stop;
    bool strict;     /* see gnn_swap_new */
    bool begun;      /* the limit is kept */
    bool rehearsing; /* see gnn_swap_rehearse */
    bool wanted;     /* a turn waits for room: nothing is read ahead */
    int fd;
    bool reserved; /* the file system has reserved all of the file */
    char *name;    /* for messages */
    struct swap_region **all, *hash[SWAP_CHAINS];
    uint64_t n;
    struct swap_region **queue; /* what threads are to read or write: [ring], from `head` on */
    uint64_t head, queued, ring;
    struct swap_region **held;
    uint64_t nheld, held_bytes, most_held; /* the latter: in a turn of a rehearsal */
    uint64_t there, end;                   /* bytes in memory; of the file */
    uint64_t limit, besides;               /* of the process; of that, what is no region, */
    uint64_t unseen;                       /* without small buffers that were made since */
    uint64_t margin, aside;                /* of it, what stays free; see gnn_swap_set_aside */
    struct swap_uses order, seen;          /* of the last cycle, of this one */
    uint64_t pos;                          /* how far this one has come in `order` */
    struct swap_free {                     /* places in the file that are free */
        uint64_t at, bytes;
    } * spare;
    uint64_t nspare;
    struct gnn_err failed; /* a thread's */
    struct gnn_swap_stats stats;
};

/* With the lock, between turns: nothing stays in memory. */
void gnn_swap_clear(struct gnn_swap *s);
/* With the lock. _used: region r is held, as next in the order. _plan: starts to read what is
 * needed next as far as there is room, and to write what is needed last. _make_room: frees memory
 * for `bytes` more, or starts to; true when there is enough. from: only what is not needed before
 * this use has to go. */
int gnn_swap_used(struct gnn_swap *s, struct swap_region *r, struct gnn_err *e);
void gnn_swap_plan(struct gnn_swap *s);
/* Starts to read a FILED region, for which there is room. */
void gnn_swap_read(struct gnn_swap *s, struct swap_region *r);
bool gnn_swap_make_room(struct gnn_swap *s, uint64_t bytes, uint64_t from);
void gnn_swap_uses_release(struct gnn_swap *s);
/* A region is freed: nothing refers to it any more. */
void gnn_swap_forget_uses(struct gnn_swap *s, const struct swap_region *r);
/* Gives its pages back, or gets some; its state becomes `state`. */
void gnn_swap_unmap(struct gnn_swap *s, struct swap_region *r, enum swap_state state);
void gnn_swap_map(struct gnn_swap *s, struct swap_region *r, enum swap_state state);

/* The work of a thread until s->stop. */
void *gnn_swap_work(void *arg);

#endif
