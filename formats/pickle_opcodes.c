/* SPDX-License-Identifier: Apache-2.0 */
/* Opcodes of pickles (formats/pickle.h): one function for each, or for all that differ only in what
 * stands behind them. */
#include "formats/pickle_machine.h"

/* ---- plain values ---- */

static int run_nothing(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)m;
    (void)a;
    return 0;
}

static int run_int(struct gnn_machine *m, const struct gnn_operand *a)
{
    if (a->i >= 0 && a->i < 256)
        return gnn_machine_push(m, PICKLE_SMALL + (uint32_t)a->i);
    return gnn_machine_push_new(m, &(struct gnn_pickle_value){.kind = GNN_PICKLE_INT, .u.i = a->i});
}

static int run_long(struct gnn_machine *m, const struct gnn_operand *a)
{
    const size_t n = a->text.n;
    if (n > 8)
        return gnn_machine_fail(m, "%s: an int of %zu bytes; 8 is the most that is read", m->name,
                                n);
    uint64_t v = n && (uint8_t)a->text.p[n - 1] & 0x80 ? UINT64_MAX : 0;
    for (size_t i = n; i--;)
        v = v << 8 | (uint8_t)a->text.p[i];
    return run_int(m, &(struct gnn_operand){.i = (int64_t)v});
}

static int run_float(struct gnn_machine *m, const struct gnn_operand *a)
{
    return gnn_machine_push_new(m,
                                &(struct gnn_pickle_value){.kind = GNN_PICKLE_FLOAT, .u.f = a->f});
}

static int run_none(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return gnn_machine_push(m, PICKLE_NONE);
}

static int run_true(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return gnn_machine_push(m, PICKLE_TRUE);
}

static int run_false(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return gnn_machine_push(m, PICKLE_FALSE);
}

static int push_text(struct gnn_machine *m, const struct gnn_word *w, enum gnn_pickle_kind kind,
                     unsigned flags)
{
    const uint64_t n = w->n;
    if (n >> 48)
        return gnn_machine_fail(m, "%s is too long", m->name);
    return gnn_machine_push_new(
        m, &(struct gnn_pickle_value){.kind = (uint8_t)kind,
                                      .flags = (uint8_t)flags,
                                      .high = (uint16_t)(n >> 32),
                                      .count = (uint32_t)n,
                                      .u.at = (uint64_t)((const uint8_t *)w->p - m->p->bytes)});
}

static int run_str(struct gnn_machine *m, const struct gnn_operand *a)
{
    return push_text(m, &a->text, GNN_PICKLE_STR, 0);
}

static int run_bytes(struct gnn_machine *m, const struct gnn_operand *a)
{
    return push_text(m, &a->text, GNN_PICKLE_BYTES, 0);
}

static int run_str2(struct gnn_machine *m, const struct gnn_operand *a)
{
    return push_text(m, &a->text, GNN_PICKLE_STR, PICKLE_PYTHON2);
}

/* ---- containers ---- */

/* Writes the values from `first` on to the log as parts of `into`, and takes them off the stack. */
static int move_parts(struct gnn_machine *m, uint32_t into, uint64_t first)
{
    const uint64_t n = m->stack.n - first;
    struct gnn_pickle_value *c = &m->p->value[into];
    if (c->kind == GNN_PICKLE_DICT && n % 2)
        return gnn_machine_fail(m, "%s: a key without a value", m->name);
    if (n > UINT32_MAX - c->count)
        return gnn_machine_fail(m, "%s: more than %u parts", m->name, UINT32_MAX);
    const int rc =
        gnn_machine_grow(m, &m->log.v, &m->log.capacity, m->log.n + 2 * n, sizeof *m->log.v);
    if (rc)
        return rc;
    for (uint64_t i = 0; i < n; i++) {
        m->log.v[m->log.n++] = into;
        m->log.v[m->log.n++] = m->stack.v[first + i];
    }
    c->count += (uint32_t)n;
    m->stack.n = first;
    return 0;
}

/* A new container of the values from `first` on, in their place. */
static int gather_parts(struct gnn_machine *m, enum gnn_pickle_kind kind, uint64_t first)
{
    uint32_t at;
    int rc = gnn_machine_add(m, &(struct gnn_pickle_value){.kind = (uint8_t)kind}, &at);
    if (!rc)
        rc = move_parts(m, at, first);
    return rc ? rc : gnn_machine_push(m, at);
}

static int gather_marked(struct gnn_machine *m, enum gnn_pickle_kind kind)
{
    uint64_t first;
    const int rc = gnn_machine_take_mark(m, &first);
    return rc ? rc : gather_parts(m, kind, first);
}

static int gather_last(struct gnn_machine *m, uint64_t n)
{
    const int rc = gnn_machine_need(m, n);
    return rc ? rc : gather_parts(m, GNN_PICKLE_TUPLE, m->stack.n - n);
}

static int run_tuple1(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return gather_last(m, 1);
}

static int run_tuple2(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return gather_last(m, 2);
}

static int run_tuple3(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return gather_last(m, 3);
}

static int run_tuple(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return gather_marked(m, GNN_PICKLE_TUPLE);
}

static int run_list(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return gather_marked(m, GNN_PICKLE_LIST);
}

static int run_dict(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return gather_marked(m, GNN_PICKLE_DICT);
}

static int run_frozenset(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return gather_marked(m, GNN_PICKLE_SET);
}

static int run_empty_tuple(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return gnn_machine_push(m, PICKLE_EMPTY);
}

static int run_empty_list(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return gather_parts(m, GNN_PICKLE_LIST, m->stack.n);
}

static int run_empty_dict(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return gather_parts(m, GNN_PICKLE_DICT, m->stack.n);
}

static int run_empty_set(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return gather_parts(m, GNN_PICKLE_SET, m->stack.n);
}

/* The container that stands before the values from `first` on, which it gets. An object that is
 * also a dict keeps its pairs in one of its own. */
static int extend_value(struct gnn_machine *m, enum gnn_pickle_kind kind, uint64_t first)
{
    const uint64_t fence = m->marks.n ? m->marks.v[m->marks.n - 1] : 0;
    if (first <= fence)
        return gnn_machine_fail(m, "%s without what it adds to", m->name);
    uint32_t at = m->stack.v[first - 1];
    struct gnn_pickle_value *v = &m->p->value[at];
    if (kind == GNN_PICKLE_DICT && gnn_pickle_global_of(v)->uses & PICKLE_PAIRS &&
        v->kind == GNN_PICKLE_OBJECT) {
        if (!v->u.o.items) {
            uint32_t made;
            const int rc =
                gnn_machine_add(m, &(struct gnn_pickle_value){.kind = GNN_PICKLE_DICT}, &made);
            if (rc)
                return rc;
            m->p->value[at].u.o.items = made;
        }
        at = m->p->value[at].u.o.items;
    } else if (v->kind != kind) {
        return gnn_machine_fail(m, "%s adds to what is no %s", m->name,
                                kind == GNN_PICKLE_LIST   ? "list"
                                : kind == GNN_PICKLE_DICT ? "dict"
                                                          : "set");
    }
    return move_parts(m, at, first);
}

static int extend_marked(struct gnn_machine *m, enum gnn_pickle_kind kind)
{
    uint64_t first;
    const int rc = gnn_machine_take_mark(m, &first);
    return rc ? rc : extend_value(m, kind, first);
}

static int run_append(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    const int rc = gnn_machine_need(m, 2);
    return rc ? rc : extend_value(m, GNN_PICKLE_LIST, m->stack.n - 1);
}

static int run_setitem(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    const int rc = gnn_machine_need(m, 3);
    return rc ? rc : extend_value(m, GNN_PICKLE_DICT, m->stack.n - 2);
}

static int run_appends(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return extend_marked(m, GNN_PICKLE_LIST);
}

static int run_setitems(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return extend_marked(m, GNN_PICKLE_DICT);
}

static int run_additems(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return extend_marked(m, GNN_PICKLE_SET);
}

/* ---- the stack itself ---- */

static int run_mark(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return gnn_machine_number(m, &m->marks, (uint32_t)m->stack.n);
}

static int run_pop(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    uint64_t first;
    if (!gnn_machine_free_values(m) && m->marks.n)
        return gnn_machine_take_mark(m, &first);
    const int rc = gnn_machine_need(m, 1);
    m->stack.n -= rc ? 0 : 1;
    return rc;
}

static int run_pop_mark(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return gnn_machine_take_mark(m, &m->stack.n);
}

static int run_dup(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    const int rc = gnn_machine_need(m, 1);
    return rc ? rc : gnn_machine_push(m, gnn_machine_peek(m, 0));
}

static int run_stop(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    if (m->marks.n || m->stack.n != 1)
        return gnn_machine_fail(
            m, "STOP with %llu values and %llu marks on the stack instead of 1 value",
            (unsigned long long)m->stack.n, (unsigned long long)m->marks.n);
    m->stopped = true;
    return 0;
}

/* ---- the memo ---- */

static int run_put(struct gnn_machine *m, const struct gnn_operand *a)
{
    return gnn_machine_put(m, (uint64_t)a->i);
}

static int run_memoize(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return m->memoized >= UINT32_MAX
               ? gnn_machine_fail(m, "the memo has more than %u values", UINT32_MAX)
               : gnn_machine_put(m, m->memoized);
}

static int run_get(struct gnn_machine *m, const struct gnn_operand *a)
{
    return gnn_machine_get(m, (uint64_t)a->i);
}

/* ---- names, and what is made with them ---- */

static int push_global(struct gnn_machine *m, const struct gnn_word *module,
                       const struct gnn_word *name)
{
    char one[128], two[128];
    const int i = gnn_pickle_find_global(module, name);
    if (i < 0)
        return gnn_machine_fail(m, "global '%s.%s' is not one that is read",
                                gnn_text_shown(one, sizeof one, module->p, module->n),
                                gnn_text_shown(two, sizeof two, name->p, name->n));
    return gnn_machine_push_new(
        m, &(struct gnn_pickle_value){.kind = GNN_PICKLE_GLOBAL, .high = (uint16_t)i});
}

static int run_global(struct gnn_machine *m, const struct gnn_operand *a)
{
    return push_global(m, &a->text, &a->second);
}

static int run_stack_global(struct gnn_machine *m, const struct gnn_operand *a)
{
    struct gnn_word module, name;
    (void)a;
    const int rc = gnn_machine_need(m, 2);
    if (rc)
        return rc;
    if (!gnn_pickle_text(m->p, &m->p->value[gnn_machine_peek(m, 1)], &module) ||
        !gnn_pickle_text(m->p, &m->p->value[gnn_machine_peek(m, 0)], &name))
        return gnn_machine_fail(m, "STACK_GLOBAL of what is no text");
    m->stack.n -= 2;
    return push_global(m, &module, &name);
}

/* An object in place of a global and a tuple on the stack. */
static int make_object(struct gnn_machine *m, unsigned use)
{
    const int rc = gnn_machine_need(m, 2);
    if (rc)
        return rc;
    const uint32_t args = gnn_machine_peek(m, 0);
    const struct gnn_pickle_value *made_by = &m->p->value[gnn_machine_peek(m, 1)];
    const struct gnn_pickle_global *g = gnn_pickle_global_of(made_by);
    if (made_by->kind != GNN_PICKLE_GLOBAL)
        return gnn_machine_fail(m, "%s of what is no global", m->name);
    if (m->p->value[args].kind != GNN_PICKLE_TUPLE)
        return gnn_machine_fail(m, "%s of '%s' without a tuple of arguments", m->name, g->name);
    if (!(g->uses & use))
        return gnn_machine_fail(m, "%s: '%s' is not one that makes a value", m->name, g->name);
    if (m->p->value[args].count && (g->role == PICKLE_MAP || g->role == PICKLE_A_BYTES))
        return gnn_machine_fail(m, "%s: '%s' with arguments is not read", m->name, g->name);
    m->stack.n -= 2;
    return gnn_machine_push_new(m, &(struct gnn_pickle_value){.kind = GNN_PICKLE_OBJECT,
                                                              .high = made_by->high,
                                                              .count = args});
}

static int run_reduce(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return make_object(m, PICKLE_CALL);
}

static int run_newobj(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    return make_object(m, PICKLE_NEW);
}

static int run_build(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    const int rc = gnn_machine_need(m, 2);
    if (rc)
        return rc;
    struct gnn_pickle_value *v = &m->p->value[gnn_machine_peek(m, 1)];
    const struct gnn_pickle_global *g = gnn_pickle_global_of(v);
    if (v->kind != GNN_PICKLE_OBJECT)
        return gnn_machine_fail(m, "BUILD of what is no object");
    if (!(g->uses & PICKLE_STATE) || v->flags & PICKLE_BUILT)
        return gnn_machine_fail(m, "BUILD: '%s' gets no%s state", g->name,
                                v->flags & PICKLE_BUILT ? " second" : "");
    v->flags |= PICKLE_BUILT;
    v->u.o.state = gnn_machine_peek(m, 0);
    m->stack.n--;
    return 0;
}

static int run_persistent(struct gnn_machine *m, const struct gnn_operand *a)
{
    (void)a;
    const int rc = gnn_machine_need(m, 1);
    if (rc)
        return rc;
    if (!(m->options & GNN_PICKLE_PERSISTENT_IDS))
        return gnn_machine_fail(
            m, "BINPERSID: a value outside of the pickle, which only PyTorch's files "
               "have");
    const uint32_t id = m->stack.v[--m->stack.n];
    return gnn_machine_push_new(
        m, &(struct gnn_pickle_value){.kind = GNN_PICKLE_PERSISTENT, .count = id});
}

/* ---- the opcodes ---- */

struct op {
    const char *name;
    enum gnn_operand_kind argument;
    int (*run)(struct gnn_machine *m, const struct gnn_operand *a); /* NULL: refused */
};

/* PROTO is not among them: it stands at the start only. */
static const struct op ops[256] = {
    ['('] = {"MARK", A_NONE, run_mark},
    ['.'] = {"STOP", A_NONE, run_stop},
    ['0'] = {"POP", A_NONE, run_pop},
    ['1'] = {"POP_MARK", A_NONE, run_pop_mark},
    ['2'] = {"DUP", A_NONE, run_dup},
    ['F'] = {"FLOAT", A_NONE, NULL},
    ['I'] = {"INT", A_NONE, NULL},
    ['J'] = {"BININT", A_I4, run_int},
    ['K'] = {"BININT1", A_U1, run_int},
    ['L'] = {"LONG", A_NONE, NULL},
    ['M'] = {"BININT2", A_U2, run_int},
    ['N'] = {"NONE", A_NONE, run_none},
    ['P'] = {"PERSID", A_NONE, NULL},
    ['Q'] = {"BINPERSID", A_NONE, run_persistent},
    ['R'] = {"REDUCE", A_NONE, run_reduce},
    ['S'] = {"STRING", A_NONE, NULL},
    ['T'] = {"BINSTRING", A_T4, run_str2},
    ['U'] = {"SHORT_BINSTRING", A_T1, run_str2},
    ['V'] = {"UNICODE", A_NONE, NULL},
    ['X'] = {"BINUNICODE", A_T4, run_str},
    ['a'] = {"APPEND", A_NONE, run_append},
    ['b'] = {"BUILD", A_NONE, run_build},
    ['c'] = {"GLOBAL", A_LINES, run_global},
    ['d'] = {"DICT", A_NONE, run_dict},
    ['}'] = {"EMPTY_DICT", A_NONE, run_empty_dict},
    ['e'] = {"APPENDS", A_NONE, run_appends},
    ['g'] = {"GET", A_NONE, NULL},
    ['h'] = {"BINGET", A_U1, run_get},
    ['i'] = {"INST", A_NONE, NULL},
    ['j'] = {"LONG_BINGET", A_U4, run_get},
    ['l'] = {"LIST", A_NONE, run_list},
    [']'] = {"EMPTY_LIST", A_NONE, run_empty_list},
    ['o'] = {"OBJ", A_NONE, NULL},
    ['p'] = {"PUT", A_NONE, NULL},
    ['q'] = {"BINPUT", A_U1, run_put},
    ['r'] = {"LONG_BINPUT", A_U4, run_put},
    ['s'] = {"SETITEM", A_NONE, run_setitem},
    ['t'] = {"TUPLE", A_NONE, run_tuple},
    [')'] = {"EMPTY_TUPLE", A_NONE, run_empty_tuple},
    ['u'] = {"SETITEMS", A_NONE, run_setitems},
    ['G'] = {"BINFLOAT", A_F8, run_float},
    ['B'] = {"BINBYTES", A_T4, run_bytes},
    ['C'] = {"SHORT_BINBYTES", A_T1, run_bytes},
    [0x80] = {"PROTO", A_NONE, NULL},
    [0x81] = {"NEWOBJ", A_NONE, run_newobj},
    [0x82] = {"EXT1", A_NONE, NULL},
    [0x83] = {"EXT2", A_NONE, NULL},
    [0x84] = {"EXT4", A_NONE, NULL},
    [0x85] = {"TUPLE1", A_NONE, run_tuple1},
    [0x86] = {"TUPLE2", A_NONE, run_tuple2},
    [0x87] = {"TUPLE3", A_NONE, run_tuple3},
    [0x88] = {"NEWTRUE", A_NONE, run_true},
    [0x89] = {"NEWFALSE", A_NONE, run_false},
    [0x8a] = {"LONG1", A_T1, run_long},
    [0x8b] = {"LONG4", A_T4, run_long},
    [0x8c] = {"SHORT_BINUNICODE", A_T1, run_str},
    [0x8d] = {"BINUNICODE8", A_T8, run_str},
    [0x8e] = {"BINBYTES8", A_T8, run_bytes},
    [0x8f] = {"EMPTY_SET", A_NONE, run_empty_set},
    [0x90] = {"ADDITEMS", A_NONE, run_additems},
    [0x91] = {"FROZENSET", A_NONE, run_frozenset},
    [0x92] = {"NEWOBJ_EX", A_NONE, NULL},
    [0x93] = {"STACK_GLOBAL", A_NONE, run_stack_global},
    [0x94] = {"MEMOIZE", A_NONE, run_memoize},
    [0x95] = {"FRAME", A_FRAME, run_nothing},
    [0x96] = {"BYTEARRAY8", A_T8, run_bytes},
    [0x97] = {"NEXT_BUFFER", A_NONE, NULL},
    [0x98] = {"READONLY_BUFFER", A_NONE, NULL},
};

int gnn_machine_run(struct gnn_machine *m)
{
    struct gnn_operand a = {0};
    m->start = m->at;
    m->name = "the pickle";
    if (m->at == m->n)
        return gnn_machine_fail(m, "the pickle is cut short: it ends without STOP");
    const uint8_t code = m->p->bytes[m->at++];
    const struct op *op = &ops[code];
    if (!op->name)
        return gnn_machine_fail(m, "0x%02x is no opcode of a pickle", code);
    if (!op->run)
        return gnn_machine_fail(m, "opcode %s is not one that is read", op->name);
    m->name = op->name;
    const int rc = gnn_machine_operand(m, op->argument, &a);
    return rc ? rc : op->run(m, &a);
}
