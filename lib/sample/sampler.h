/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler: a source of batches drawn from a store. batch = f(graph, seed, epoch, step, split),
 * bit for bit the same for any number of threads and parts.
 *
 * The store must outlive the source. Memory that options point to is needed during the call only,
 * except where they say otherwise. */
#ifndef GNN_LIB_SAMPLE_SAMPLER_H
#define GNN_LIB_SAMPLE_SAMPLER_H

#include "lib/data/source.h"
#include "lib/store/store.h"

struct gnn_gpu; /* lib/gpu/gpu.h */

/* The memory in which devices find the graph: a copy of their own, or the host's, except offsets
 * and as many rows as there is capacity for. AUTO: a copy, if it fits and leaves a quarter of the
 * device. */
enum gnn_graph_memory { GNN_GRAPH_AUTO, GNN_GRAPH_DEVICE, GNN_GRAPH_UVA };
/* The placement chosen for the graph, in bytes. */
struct gnn_graph_report {
    enum gnn_graph_memory memory; /* not AUTO */
    uint64_t device;              /* on each device */
    uint64_t resident;            /* of `device`: rows that are also in the host's memory */
    uint64_t host;                /* in the host's memory */
    uint64_t copied;              /* of `host`: in a pinned copy */
};

/* Memory that sampling in proportion to weights takes beside the store, on this rank. */
struct gnn_weight_report {
    uint64_t bytes; /* of sums of weights */
    uint64_t idle;  /* nodes with in-edges of a type, all of weight 0: they pick none of these */
};

/* Numbers of nodes whose neighbours a rank samples after the seeds, each once in each hop, along
 * however many edge types: rows: all of them; remote: other ranks' nodes; halo: remote ones that
 * are in this rank's halo with their in-edges and need no request. Grows as batches are made. */
struct gnn_sample_remote_stats {
    uint64_t rows, remote, halo;
};

/* A sampler's options. Everything pointed to must live until gnn_sampler_source_new returns. */
struct gnn_sampler_opts {
    /* The recipe: as a user chose it (gnn_sampler_opts_init: all defaults) or, bound to the store's
     * schema, as the header of a stream or a model's file (struct gnn_recipe) has it. */
    struct gnn_sampling sampling;
    /* Fan-outs per hop, from the seeds outwards: "15,10,5" for every edge type, or "S/R/D=10,5" for
     * one, which overrides the former; -1 all neighbours, 0 none. All must name the same number of
     * hops. */
    const char *const *fanout;
    uint32_t nfanout;
    uint32_t npath;          /* of walks; 0: the only edge type */
    const char *const *path; /* [npath] edge types of walks' steps, in turn */

    /* The seeds, unless seeds_name is set: a set of the schema ("train", "0/train"; key split 0;
     * NULL, with a recipe: all nodes of its seed type, in the order of original ids; NULL, of
     * links: set train of links of the type or, without one, GNN_ALL_LINKS); */
    const char *split;
    /* and sets that follow each epoch (key splits 1, 2, ...; never shuffled, never dropped). */
    const char *const *eval;
    uint32_t neval;
    bool evaluates; /* of links: negatives of `split`, too, are those of a set of `eval` */
    bool ids;       /* of links, with seeds_name: nodes have the ids of the data set */
    /* Or NULL: the name, for messages, of decimal ids of seeds separated by white space, read from
     * seeds_fd (taken over), in place of split and eval. */
    const char *seeds_name;
    int seeds_fd;
    bool stream; /* with seeds_name: ids are sampled as they come: one epoch, no shuffle */
    const char *seed_type; /* node type of these ids; NULL: the labelled type, else the only one */

    uint64_t epoch_from, epoch_to; /* half open */
    /* Steps of split 0, half open; `to` is cut at the epoch's end. Evaluation sets follow an epoch
     * whose last step is in the range. */
    uint64_t step_from, step_to;
    uint64_t step_stride; /* takes step_from and every step_stride-th step after it; 0: all */
    /* step_from of the first epoch alone, for a run that goes on: later than step_from, or 0; not
     * of a stream */
    uint64_t step_first;
    unsigned threads; /* 0: in the caller's thread */
    unsigned depth;   /* batches under way; 0: chosen from threads */
    /* Threads run at a lower priority, for a caller whose own threads wait for each other. */
    bool background;
    const char *provenance; /* line for the header, or NULL */

    /* The devices that sample; NULL: the CPU does, and the next members have no meaning. With one
     * rank, batches lie on devices, and threads, depth and background have no meaning; with
     * several, the threads take the devices in turn to draw from this rank's parts, and put batches
     * together in the host's memory. */
    struct gnn_gpu *gpu;
    enum gnn_graph_memory graph_memory;
    /* With GNN_GRAPH_UVA: bytes of each device for rows; UINT64_MAX: half of its free memory, with
     * a reserve. */
    uint64_t graph_cache;
    struct gnn_graph_report *graph_report; /* filled by gnn_sampler_source_new; or NULL */

    /* Several ranks that have opened the store together (gnn_store_open_ranks) all make this source
     * with the same options, ask for the same batches and free it together; each draws, of every
     * batch, the part for the seeds in its own parts, and the ranks' batches together are the batch
     * that one rank would draw. The frontier policy must be GNN_FRONTIER_ALL then, as it depends on
     * all seeds which nodes are new; seeds come from sets or a file, not as a stream; nodes are
     * store ids. */
    bool count_once; /* with several: training batches have counted/T, see gnn_batch_type.counted */
    struct gnn_sample_remote_stats *remote; /* with several ranks, or NULL; outlives the source */

    struct gnn_weight_report *weights; /* filled by gnn_sampler_source_new; or NULL */
};

/* split "train", epochs 0:1, all steps; what is drawn: gnn_sampling_init. */
void gnn_sampler_opts_init(struct gnn_sampler_opts *o);

/* Whether batches are put together in the host's memory, though devices sample: those of several
 * ranks, those without fan-outs, and those of links. */
static inline bool gnn_sampler_assembles(const struct gnn_sampler_opts *o, unsigned ranks)
{
    return ranks > 1 || !gnn_sampling_has_fanouts(&o->sampling) || o->sampling.links.type;
}

/* Returns NULL and fills e on failure: GNN_E_USAGE for options that do not fit each other or the
 * store, GNN_E_INPUT for a damaged store or id list. The store must outlive the source; it is
 * checked (gnn_store_verified) before the source ends. ->meta is the stream's header. */
struct gnn_source *gnn_sampler_source_new(struct gnn_store *s, const struct gnn_sampler_opts *o,
                                          struct gnn_err *e) GNN_MUST_USE;

#endif
