/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that a pickle is a program for: a stack of values with marks, and a memo. An opcode
 * makes one value at most. Parts of containers are written to a log, and put beside one another at
 * the end, so that a container grows without being moved. Used by formats/pickle*.c alone. */
#ifndef GNN_FORMATS_PICKLE_MACHINE_H
#define GNN_FORMATS_PICKLE_MACHINE_H

#include "formats/pickle_impl.h"

struct gnn_numbers {
    uint32_t *v;
    uint64_t n, capacity;
};

/* The memo under indices that do not follow one another, in a hash table with open addressing; a
 * slot has an index and a value, and is free if the value is UINT32_MAX. */
struct gnn_sparse {
    uint32_t *slot;
    uint64_t n, slots, capacity;
};

struct gnn_machine {
    struct gnn_pickle *p;
    uint64_t n, at;   /* bytes of the file, and the place of the next one */
    uint64_t start;   /* the opcode that is run */
    const char *name; /* its name */
    unsigned options;
    uint64_t capacity; /* for values */
    uint64_t memory;
    struct gnn_numbers stack, marks;
    struct gnn_numbers log; /* pairs: container, part */
    struct gnn_numbers memo;
    struct gnn_sparse sparse;
    uint64_t memoized; /* different indices of the memo */
    bool stopped;
    char *why;
    size_t why_capacity;
};

enum gnn_operand_kind { A_NONE, A_U1, A_U2, A_U4, A_I4, A_F8, A_FRAME, A_T1, A_T4, A_T8, A_LINES };

struct gnn_operand {
    int64_t i;
    double f;
    struct gnn_word text, second;
};

/* Says what is wrong at the opcode that is run; returns GNN_PICKLE_BAD. */
int gnn_machine_fail(struct gnn_machine *m, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Reads what stands behind the opcode. */
int gnn_machine_operand(struct gnn_machine *m, enum gnn_operand_kind kind, struct gnn_operand *a);
/* Makes *array, of *capacity elements, hold at least n; it grows by half. */
int gnn_machine_grow(struct gnn_machine *m, void *array, uint64_t *capacity, uint64_t n,
                     size_t size);
int gnn_machine_number(struct gnn_machine *m, struct gnn_numbers *s, uint32_t x);

/* A copy of *v as a new value, whose number is *at; values move. _push_new: on the stack, too. */
int gnn_machine_add(struct gnn_machine *m, const struct gnn_pickle_value *v, uint32_t *at);
int gnn_machine_push(struct gnn_machine *m, uint32_t at);
int gnn_machine_push_new(struct gnn_machine *m, const struct gnn_pickle_value *v);
/* Values above the last mark: only these can be taken. _need fails if there are fewer than n. */
uint64_t gnn_machine_free_values(const struct gnn_machine *m);
int gnn_machine_need(struct gnn_machine *m, uint64_t n);
/* The value so many below the top, which must be there. */
uint32_t gnn_machine_peek(const struct gnn_machine *m, uint64_t below);
/* Takes the last mark: *first is the position of the first value above it. */
int gnn_machine_take_mark(struct gnn_machine *m, uint64_t *first);

/* Puts the top of the stack into the memo, or pushes what is there. */
int gnn_machine_put(struct gnn_machine *m, uint64_t index);
int gnn_machine_get(struct gnn_machine *m, uint64_t index);
/* Runs the next opcode. */
int gnn_machine_run(struct gnn_machine *m);
/* When all opcodes were run: puts the parts of containers beside one another, decodes bytes that
 * are written as text, and makes sets, bytes, sizes and edge types of the objects that stand for
 * them. `root` is the number of the pickle's value. */
int gnn_machine_finish(struct gnn_machine *m, uint32_t root);
/* Frees stack, marks and memo; the values and the log remain. */
void gnn_machine_release(struct gnn_machine *m);

#endif
