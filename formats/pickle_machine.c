/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, stack and memo of the machine that reads pickles (formats/pickle_machine.h). */
#include "formats/pickle_machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gnn_machine_fail(struct gnn_machine *m, const char *fmt, ...)
{
    va_list ap;
    const int n = snprintf(m->why, m->why_capacity, "byte %llu: ", (unsigned long long)m->start);
    va_start(ap, fmt);
    if (n > 0 && (size_t)n < m->why_capacity)
        vsnprintf(m->why + n, m->why_capacity - (size_t)n, fmt, ap);
    va_end(ap);
    return GNN_PICKLE_BAD;
}

/* ---- memory ---- */

/* Grows an array to at least n elements, by half. */
int gnn_machine_grow(struct gnn_machine *m, void *array, uint64_t *capacity, uint64_t n,
                     size_t size)
{
    if (n <= *capacity)
        return 0;
    void **v = array;
    const uint64_t want = n + n / 2 + 64, old = *capacity * size;
    void *wider = want > SIZE_MAX / size ? NULL : realloc(*v, want * size);
    if (!wider) {
        gnn_machine_fail(m, "out of memory for %llu values", (unsigned long long)n);
        return GNN_PICKLE_NO_MEMORY;
    }
    *v = wider;
    *capacity = want;
    m->memory += want * size;
    if (m->p->memory < m->memory)
        m->p->memory = m->memory; /* while the elements were moved, they were there twice */
    m->memory -= old;
    return 0;
}

int gnn_machine_number(struct gnn_machine *m, struct gnn_numbers *s, uint32_t x)
{
    if (s->n == s->capacity) {
        const int rc = gnn_machine_grow(m, &s->v, &s->capacity, s->n + 1, sizeof *s->v);
        if (rc)
            return rc;
    }
    s->v[s->n++] = x;
    return 0;
}

int gnn_machine_add(struct gnn_machine *m, const struct gnn_pickle_value *v, uint32_t *at)
{
    struct gnn_pickle *p = m->p;
    if (p->values >= UINT32_MAX)
        return gnn_machine_fail(m, "more than %u values", UINT32_MAX);
    const int rc = gnn_machine_grow(m, &p->value, &m->capacity, p->values + 1, sizeof *p->value);
    if (rc)
        return rc;
    *at = (uint32_t)p->values;
    p->value[p->values++] = *v;
    return 0;
}

/* ---- the stack ---- */

/* How many values stand above the last mark: only these can be taken. */
uint64_t gnn_machine_free_values(const struct gnn_machine *m)
{
    return m->stack.n - (m->marks.n ? m->marks.v[m->marks.n - 1] : 0);
}

int gnn_machine_need(struct gnn_machine *m, uint64_t n)
{
    return gnn_machine_free_values(m) >= n
               ? 0
               : gnn_machine_fail(m, "%s needs %llu values, and there are %llu", m->name,
                                  (unsigned long long)n,
                                  (unsigned long long)gnn_machine_free_values(m));
}

int gnn_machine_push(struct gnn_machine *m, uint32_t at)
{
    if (m->stack.n == UINT32_MAX)
        return gnn_machine_fail(m, "more than %u values on the stack", UINT32_MAX);
    return gnn_machine_number(m, &m->stack, at);
}

int gnn_machine_push_new(struct gnn_machine *m, const struct gnn_pickle_value *v)
{
    uint32_t at = 0;
    const int rc = gnn_machine_add(m, v, &at);
    return rc ? rc : gnn_machine_push(m, at);
}

uint32_t gnn_machine_peek(const struct gnn_machine *m, uint64_t below)
{
    return m->stack.v[m->stack.n - 1 - below];
}

/* Takes the last mark: *first is the first value above it. */
int gnn_machine_take_mark(struct gnn_machine *m, uint64_t *first)
{
    if (!m->marks.n)
        return gnn_machine_fail(m, "%s without MARK", m->name);
    *first = m->marks.v[--m->marks.n];
    return 0;
}

/* ---- the memo ---- */

static uint32_t *find_slot(const struct gnn_sparse *t, uint32_t index)
{
    uint64_t i = (uint64_t)index * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    for (i &= t->slots - 1; t->slot[2 * i + 1] != UINT32_MAX && t->slot[2 * i] != index;)
        i = (i + 1) & (t->slots - 1);
    return t->slot + 2 * i;
}

/* Twice the slots, or the first ones. */
static int widen_sparse(struct gnn_machine *m)
{
    struct gnn_sparse *t = &m->sparse, wider = {.n = t->n, .slots = t->slots ? 2 * t->slots : 64};
    const int rc =
        gnn_machine_grow(m, &wider.slot, &wider.capacity, 2 * wider.slots, sizeof *wider.slot);
    if (rc)
        return rc;
    memset(wider.slot, 0xff, 2 * wider.slots * sizeof *wider.slot);
    for (uint64_t i = 0; i < t->slots; i++)
        if (t->slot[2 * i + 1] != UINT32_MAX)
            memcpy(find_slot(&wider, t->slot[2 * i]), t->slot + 2 * i, 2 * sizeof *t->slot);
    m->memory -= t->capacity * sizeof *t->slot;
    free(t->slot);
    *t = wider;
    return 0;
}

/* Indices mostly count up from 0. Whatever does not is kept in the hash table, since an index can
 * be any number. An index that is in both means the first. */
int gnn_machine_put(struct gnn_machine *m, uint64_t index)
{
    const int short_of = gnn_machine_need(m, 1);
    if (short_of)
        return short_of;
    const uint32_t at = gnn_machine_peek(m, 0);
    if (index < m->memo.n) {
        m->memo.v[index] = at;
        return 0;
    }
    uint32_t *slot = m->sparse.slots ? find_slot(&m->sparse, (uint32_t)index) : NULL;
    const bool known = slot && slot[1] != UINT32_MAX;
    m->memoized += !known;
    if (index == m->memo.n)
        return gnn_machine_number(m, &m->memo, at);
    if (!known && 2 * m->sparse.n >= m->sparse.slots) {
        const int rc = widen_sparse(m);
        if (rc)
            return rc;
        slot = find_slot(&m->sparse, (uint32_t)index);
    }
    m->sparse.n += !known;
    slot[0] = (uint32_t)index;
    slot[1] = at;
    return 0;
}

int gnn_machine_get(struct gnn_machine *m, uint64_t index)
{
    if (index < m->memo.n)
        return gnn_machine_push(m, m->memo.v[index]);
    const uint32_t *slot = m->sparse.slots ? find_slot(&m->sparse, (uint32_t)index) : NULL;
    if (!slot || slot[1] == UINT32_MAX)
        return gnn_machine_fail(m, "%s: the memo has no value %llu", m->name,
                                (unsigned long long)index);
    return gnn_machine_push(m, slot[1]);
}

void gnn_machine_release(struct gnn_machine *m)
{
    struct gnn_numbers *const all[] = {&m->stack, &m->marks, &m->memo};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        m->memory -= all[i]->capacity * sizeof *all[i]->v;
        free(all[i]->v);
        *all[i] = (struct gnn_numbers){0};
    }
    m->memory -= m->sparse.capacity * sizeof *m->sparse.slot;
    free(m->sparse.slot);
    m->sparse = (struct gnn_sparse){0};
}
