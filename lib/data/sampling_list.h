/* SPDX-License-Identifier: Apache-2.0 */
/* The list of what a user chooses when batches are drawn: one line for each member of struct
 * gnn_sampling, from which the options of gnn-sample and gnn-train, the header of streams, what a
 * resumed run compares, and the refusal of what does not fit together are made. */
#ifndef GNN_LIB_DATA_SAMPLING_LIST_H
#define GNN_LIB_DATA_SAMPLING_LIST_H

#include "lib/base/option.h"
#include "lib/data/meta.h"

enum gnn_member_kind {
    GNN_MEMBER_SEED,   /* uint64_t; in the header 16 hexadecimal digits */
    GNN_MEMBER_FLAG,   /* bool */
    GNN_MEMBER_U32,    /* uint32_t */
    GNN_MEMBER_F64,    /* double */
    GNN_MEMBER_CHOICE, /* int: index into `choices` */
    GNN_MEMBER_TEXT,   /* const char * */
    GNN_MEMBER_NUMBER, /* const char *: the text of a number, which the header has as one */
    GNN_MEMBER_BOUND   /* of the header only: what follows for a graph */
};

/* When a header has the member. */
enum gnn_member_when {
    GNN_WHEN_ALWAYS, /* in a group: whenever it has the group's first member */
    GNN_WHEN_SET,    /* if it is not the default */
    GNN_WHEN_RANKS,  /* if several ranks share the batches */
    GNN_WHEN_NEVER
};

struct gnn_sampling_member {
    enum gnn_member_kind kind;
    unsigned at; /* offset in struct gnn_sampling */
    /* Where it is in the header's "sampling": "key", or "group": {"key": ...}. The first member of
     * a group, in this list, is the one without which the others have no effect. */
    const char *group, *key;
    enum gnn_member_when when;
    double standard; /* the default of numbers, flags and choices */
    /* The option, or NULL: as in struct opt of cmd/opt.h. */
    const char *option;
    char letter;
    const char *arg, *help, *choices;
    double min, max;
    double most;         /* the largest in a header, if that is not max */
    const char *section; /* heading of the option in --help */
    bool train;          /* gnn-train has it, too */
    bool edge_field;     /* a field of edges, one number each, by which neighbours are picked */
    bool edge_data;      /* if it is set, arrays are computed of such a field or of times */
    /* Texts for messages, or NULL. picks: the neighbours picked if the member is set, whatever
     * fields edges have. lacks: the data that layer-wise inference uses but such batches do not
     * have, even on average. */
    const char *picks, *lacks;
};

extern const struct gnn_sampling_member gnn_sampling_list[];
extern const unsigned gnn_sampling_list_length;
#define EACH_MEMBER(x)                                                                             \
    for (const struct gnn_sampling_member *x = gnn_sampling_list;                                  \
         x < gnn_sampling_list + gnn_sampling_list_length; x++)

/* Headings. */
#define GNN_SECTION_SEEDS "Seeds"
#define GNN_SECTION_SAMPLING "Sampling"
#define GNN_SECTION_RULE "Which neighbours are picked"
#define GNN_SECTION_LINKS "Links"
#define GNN_SECTION_WALKS "Random walks"

/* The first given option that conflicts with s, or NULL: it requires an option that is not in
 * effect, or excludes one that is. *why is the text after "--OPTION ". The result lives until this
 * thread's next call. */
const char *gnn_sampling_conflict(const struct gnn_sampling *s, const struct gnn_given *given,
                                  const char **why);
/* The member with this option, or NULL. */
const struct gnn_sampling_member *gnn_sampling_find(const char *option);
/* The member that names the field of edges by which neighbours are picked, and the field; NULL:
 * they are picked by none. */
const struct gnn_sampling_member *gnn_sampling_edge_field(const struct gnn_sampling *s,
                                                          const char **field);
/* The sampling as options of gnn-sample, "--seed 1 --batch 64 --frontier all", without fan-outs and
 * sets; to be freed with gnn_free. NULL and e on failure. */
char *gnn_sampling_options(const struct gnn_sampling *s, struct gnn_err *e) GNN_MUST_USE;
/* Neighbours that are picked whatever fields edges have, in words; NULL: some, uniformly or by a
 * field. */
const char *gnn_sampling_picks(const struct gnn_sampling *s);

/* Whether a member is not the default. */
bool gnn_member_is_set(const struct gnn_sampling *s, const struct gnn_sampling_member *x);
/* The address of its value. */
static inline void *gnn_member_of(const struct gnn_sampling *s, const struct gnn_sampling_member *x)
{
    return (char *)(uintptr_t)s + x->at;
}

/* The option that sets it in s; without a name if there is none. */
struct opt gnn_member_option(const struct gnn_sampling *s, const struct gnn_sampling_member *x);

/* d is zeroed or released. On failure it is to be released as well. */
int gnn_sampling_copy(struct gnn_sampling *d, const struct gnn_sampling *s, uint32_t netypes,
                      struct gnn_err *e) GNN_MUST_USE;
/* Releases a sampling that owns its texts, as a meta's does. */
void gnn_sampling_release(struct gnn_sampling *s);
/* Memory for fan-outs of s->nhops hops, and for n sets. */
int gnn_sampling_alloc_hops(struct gnn_sampling *s, uint32_t netypes,
                            struct gnn_err *e) GNN_MUST_USE;
int gnn_sampling_alloc_sets(struct gnn_sampling *s, uint32_t n, struct gnn_err *e) GNN_MUST_USE;
/* A member gets a copy of a text, or NULL, and owns it. */
int gnn_sampling_take(const char **member, const char *text, struct gnn_err *e) GNN_MUST_USE;

#endif
