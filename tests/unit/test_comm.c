/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks: exchanges, all-reduces, agreement, and what happens when one is lost; over ranks that are
 * threads. */
#include <stdio.h>
#include <unistd.h>

#include "lib/comm/request.h"
#include "thread_ranks.h"
#include "tap.h"

static atomic_int wrong;
static void must(bool right)
{
    if (!right)
        atomic_fetch_add(&wrong, 1);
}

/* Bytes from rank a to rank b in round i: of every length up to some chunks, and of chunks exactly.
 */
static uint64_t length(uint32_t a, uint32_t b, unsigned i)
{
    return i % 5 == 4 ? 1000 * ((a + b + i) % 4)
                      : (a * 7919 + b * 104729 + i * 1299709) % (i % 3 ? 60 : 4000);
}

static unsigned char byte_of(uint32_t a, uint32_t b, unsigned i, uint64_t k)
{
    return (unsigned char)(a * 31 + b * 17 + i * 7 + k);
}

static void swap(struct gnn_comm *c, struct gnn_exchange *x, unsigned i, unsigned char *buffer)
{
    struct gnn_err e = {0};
    for (uint32_t r = 0; r < c->size; r++) {
        unsigned char *out = buffer + 4000 * r;
        const uint64_t n = length(c->rank, r, i);
        for (uint64_t k = 0; k < n; k++)
            out[k] = byte_of(c->rank, r, i, k);
        x->out[r] = (struct gnn_span){n ? out : NULL, n};
    }
    must(!gnn_comm_exchange(c, x, &e));
    for (uint32_t r = 0; r < c->size; r++) {
        const unsigned char *in = x->in[r].data;
        const uint64_t n = length(r, c->rank, i);
        must(x->in[r].bytes == n);
        for (uint64_t k = 0; k < n && x->in[r].bytes == n; k++)
            must(in[k] == byte_of(r, c->rank, i, k));
    }
}

static void exchanges(struct gnn_comm *c, void *arg)
{
    struct gnn_err e = {0};
    struct gnn_exchange x;
    unsigned char *buffer = malloc(4000 * c->size);
    (void)arg;
    must(buffer && !gnn_exchange_init(&x, c, gnn_comm_tag(GNN_COMM_SAMPLE, 3), &e));
    for (unsigned i = 0; i < 40; i++)
        swap(c, &x, i, buffer);
    gnn_exchange_release(&x);
    free(buffer);
}

/* Several threads of each rank, each with a tag of its own, not started in the same order. */
struct lane {
    struct gnn_comm *c;
    unsigned k;
};
static void *run_lane(void *p)
{
    struct lane *l = p;
    struct gnn_err e = {0};
    struct gnn_exchange x;
    unsigned char *buffer = malloc(4000 * l->c->size);
    must(buffer && !gnn_exchange_init(&x, l->c, gnn_comm_tag(GNN_COMM_GATHER, l->k), &e));
    for (unsigned i = 0; i < 20; i++)
        swap(l->c, &x, i + 5 * l->k, buffer);
    gnn_exchange_release(&x);
    free(buffer);
    return NULL;
}
static void lanes(struct gnn_comm *c, void *arg)
{
    struct lane lane[3];
    pthread_t t[3];
    (void)arg;
    for (unsigned i = 0; i < 3; i++) {
        const unsigned k = (i + c->rank) % 3;
        lane[k] = (struct lane){c, k};
        must(!pthread_create(&t[k], NULL, run_lane, &lane[k]));
    }
    for (unsigned k = 0; k < 3; k++)
        pthread_join(t[k], NULL);
}

static void reductions(struct gnn_comm *c, void *arg)
{
    struct gnn_err e = {0};
    float f[100];
    double d[3] = {c->rank, 0.5, -1};
    uint64_t u[2] = {UINT64_C(1) << 40, c->rank}, m[2] = {c->rank, UINT64_MAX - c->rank};
    const double all = c->size * (c->size - 1) / 2.0;
    (void)arg;
    for (int i = 0; i < 100; i++)
        f[i] = (float)(i * (int)c->rank);
    must(!gnn_comm_all_reduce(c, f, 100, GNN_REDUCE_F32, &e) &&
         !gnn_comm_all_reduce(c, d, 3, GNN_REDUCE_F64, &e) &&
         !gnn_comm_all_reduce(c, u, 2, GNN_REDUCE_U64, &e) &&
         !gnn_comm_all_reduce(c, m, 2, GNN_REDUCE_MAX, &e) &&
         !gnn_comm_all_reduce(c, f, 0, GNN_REDUCE_F32, &e));
    for (int i = 0; i < 100; i++)
        must(f[i] == (float)(i * all));
    must(d[0] == all && d[1] == 0.5 * c->size && d[2] == -1.0 * c->size);
    must(u[0] == c->size * (UINT64_C(1) << 40) && u[1] == (uint64_t)all);
    must(m[0] == c->size - 1 && m[1] == UINT64_MAX);
}

static void agreement(struct gnn_comm *c, void *arg)
{
    struct gnn_err e = {0}, e2 = {0};
    (void)arg;
    must(!gnn_comm_agree(c, "text", "the same", &e));
    must(gnn_comm_agree(c, "text", c->rank == 1 ? "one" : "the other", &e2) == GNN_E_INPUT);
    must(!strcmp(e2.msg, "rank 1 and rank 0: mismatched text"));
}

/* Rank 1 says nothing. */
static atomic_int named;
static void lost(struct gnn_comm *c, void *arg)
{
    struct gnn_err e = {0};
    struct gnn_exchange x;
    const bool in_reduce = arg != NULL;
    uint64_t one = 1;
    if (c->rank == 1)
        return;
    must(!gnn_exchange_init(&x, c, 9, &e));
    const int rc = in_reduce ? gnn_comm_all_reduce(c, &one, 1, GNN_REDUCE_U64, &e)
                             : gnn_comm_all_gather(c, &x, &one, sizeof one, &e);
    must(rc == GNN_E_RANK);
    if (!strcmp(e.msg, "rank 1 did not answer for 5 seconds"))
        atomic_fetch_add(&named, 1);
    else
        printf("# rank %u: %s\n", c->rank, e.msg);
    gnn_exchange_release(&x);
}

/* Who begins to wait once a rank is known to be lost does not wait for it again, which without a
 * timeout would be for ever. */
static void told(struct gnn_comm *c, void *arg)
{
    struct gnn_err first = {0}, later = {0};
    struct gnn_exchange x;
    (void)arg;
    if (c->rank == 1)
        return;
    must(!gnn_exchange_init(&x, c, 9, &first));
    must(gnn_comm_all_gather(c, &x, "", 1, &first) == GNN_E_RANK);
    gnn_exchange_release(&x);
    c->timeout = 0;
    must(!gnn_exchange_init(&x, c, 10, &later));
    must(gnn_comm_all_gather(c, &x, "", 1, &later) == GNN_E_RANK);
    gnn_exchange_release(&x);
    must(!strcmp(first.msg, "rank 1 did not answer for 9 seconds") &&
         !strcmp(first.msg, later.msg));
}

static void broken(struct gnn_comm *c, void *arg)
{
    struct gnn_err e = {0};
    struct gnn_exchange x;
    (void)arg;
    if (c->rank)
        return;
    ranks_mine->broken = true;
    must(!gnn_exchange_init(&x, c, 9, &e));
    must(gnn_comm_all_gather(c, &x, "", 1, &e) == GNN_E_RANK &&
         strstr(e.msg, "a row of threads reports a failure"));
    gnn_exchange_release(&x);
}

/* ---- launchers ---- */

static const char *const *env;
static char *get(const char *name)
{
    for (const char *const *v = env; *v; v += 2)
        if (!strcmp(*v, name))
            return (char *)(uintptr_t)v[1];
    return NULL;
}
static bool launched(const char *const *vars, const char *by, uint32_t rank, uint32_t size)
{
    struct gnn_err e = {0};
    struct gnn_launch l;
    env = vars;
    return !gnn_launch_find(&l, get, &e) && (by ? l.by && !strcmp(l.by, by) : !l.by) &&
           l.rank == rank && l.size == size;
}
#define VARS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void launchers(void)
{
    struct gnn_err e = {0};
    struct gnn_launch l;
    ok(launched(VARS(NULL), NULL, 0, 1), "gnn_launch_find finds one process without a launcher");
    ok(launched(VARS("OMPI_COMM_WORLD_SIZE", "4", "OMPI_COMM_WORLD_RANK", "3"), "mpirun", 3, 4),
       "gnn_launch_find finds the rank under Open MPI's mpirun");
    ok(launched(VARS("PMI_SIZE", "2", "PMI_RANK", "1"), "mpirun", 1, 2),
       "gnn_launch_find finds the rank under MPICH's mpirun");
    ok(launched(VARS("SLURM_STEP_NUM_TASKS", "8", "SLURM_PROCID", "7", "SLURM_STEP_ID", "0"),
                "srun", 7, 8),
       "gnn_launch_find finds the rank under srun");
    ok(launched(VARS("SLURM_STEP_NUM_TASKS", "8", "SLURM_PROCID", "0"), NULL, 0, 1),
       "gnn_launch_find takes a batch script for one process");
    ok(launched(VARS("SLURM_STEP_NUM_TASKS", "8", "SLURM_PROCID", "0", "SLURM_STEP_ID", "batch"),
                NULL, 0, 1),
       "gnn_launch_find takes a batch script with the name of a step for one process");
    ok(launched(VARS("OMPI_COMM_WORLD_SIZE", "2", "OMPI_COMM_WORLD_RANK", "1",
                     "SLURM_STEP_NUM_TASKS", "1", "SLURM_PROCID", "0", "SLURM_STEP_ID", "0"),
                "mpirun", 1, 2),
       "gnn_launch_find prefers mpirun inside a step of Slurm");
    env = VARS("OMPI_COMM_WORLD_SIZE", "4", "OMPI_COMM_WORLD_RANK", "4");
    ok(gnn_launch_find(&l, get, &e) == GNN_E_RANK, "gnn_launch_find refuses rank 4 of 4: %s",
       e.msg);
    e = (struct gnn_err){0};
    env = VARS("PMI_SIZE", "four", "PMI_RANK", "0");
    ok(gnn_launch_find(&l, get, &e) == GNN_E_RANK,
       "gnn_launch_find refuses a rank that is no number: %s", e.msg);
}

static void alone(void)
{
    struct gnn_err e = {0};
    struct gnn_comm *c = gnn_comm_self();
    ok(c->size == 1 && !c->rank, "gnn_comm_self has one rank");
    exchanges(c, NULL);
    uint64_t v = 5;
    ok(!wrong && !gnn_comm_all_reduce(c, &v, 1, GNN_REDUCE_U64, &e) && v == 5 &&
           !gnn_comm_agree(c, "x", "y", &e),
       "gnn_comm_self reduces and agrees alone");
    gnn_comm_set_lost(c, true);
    gnn_comm_free(c);
    ok(gnn_comm_self() == c && !c->lost && !c->sent, "gnn_comm_self stays as it is");
}

/* What a request says of entry i that rank r has. */
static int64_t time_of(uint32_t r, uint32_t i)
{
    return ((int64_t)r - i) * INT64_C(0x123456789);
}

/* Requests for entries with the given columns, between two for entries that are nodes only: those
 * that are absent take no bytes, and those that come are what was asked for. */
static void ask_entries(struct gnn_comm *c, struct gnn_request *q, bool times, bool trees)
{
    enum { N = 23 };
    uint32_t owner[N], node[N], tree[N], count[16];
    int64_t time[N];
    struct gnn_err e = {0};
    for (uint32_t i = 0; i < N; i++) {
        owner[i] = (i * 5 + c->rank) % c->size;
        node[i] = 1000 * c->rank + i;
        time[i] = time_of(c->rank, i);
        tree[i] = ~i;
    }
    const struct gnn_entries bare = {.node = node}, full = {.node = node,
                                                            .time = times ? time : NULL,
                                                            .tree = trees ? tree : NULL};
    gnn_request_begin(q, gnn_comm_tag(GNN_COMM_SAMPLE, 9), NULL);
    must(!gnn_request_put(q, owner, bare, 2, count, &e) &&
         !gnn_request_put(q, owner, full, N, count, &e) &&
         !gnn_request_put(q, owner, bare, 1, count, &e) && !gnn_request_ask(q, &e));
    for (uint32_t r = 0; r < c->size; r++) {
        struct gnn_packet_in *in = &q->in[r];
        struct gnn_entries got = {0};
        const uint32_t *n = gnn_packet_read(in, 1);
        must(n && gnn_packet_read_entries(in, bare, *n, &got) && !got.time && !got.tree);
        must((n = gnn_packet_read(in, 1)) && gnn_packet_read_entries(in, full, *n, &got));
        must(!got.time == !times && !got.tree == !trees && n);
        for (uint32_t i = 0, k = 0; n && i < N; i++) {
            if ((i * 5 + r) % c->size != c->rank)
                continue;
            must(k < *n && got.node[k] == 1000 * r + i);
            must(!times || got.time[k] == time_of(r, i));
            must(!trees || got.tree[k] == ~i);
            k++;
        }
        must((n = gnn_packet_read(in, 1)) && gnn_packet_read_entries(in, bare, *n, &got));
        must(in->at == in->n && !gnn_packet_read_entries(in, full, 1, &got));
    }
}

static void entries(struct gnn_comm *c, void *arg)
{
    struct gnn_err e = {0};
    struct gnn_request q;
    (void)arg;
    must(!gnn_request_init(&q, c, 0, &e));
    for (unsigned columns = 0; columns < 4; columns++)
        ask_entries(c, &q, columns & 1, columns & 2);
    gnn_request_release(&q);
}

int main(void)
{
    launchers();
    alone();
    for (uint32_t n = 2; n <= 7; n += n == 4 ? 3 : 1) {
        wrong = 0;
        ranks_run(n, 0, exchanges, NULL);
        ok(!wrong, "gnn_exchange brings among %u ranks what was sent to each", n);
        ranks_run(n, 0, lanes, NULL);
        ok(!wrong, "gnn_exchange runs several times side by side among %u ranks", n);
        ranks_run(n, 0, reductions, NULL);
        ok(!wrong, "gnn_comm_all_reduce reduces over %u ranks", n);
        ranks_run(n, 0, agreement, NULL);
        ok(!wrong, "gnn_comm_agree finds the differences among %u ranks", n);
        ranks_run(n, 0, entries, NULL);
        ok(!wrong,
           "gnn_request asks for frontier entries with and without times and trees among %u ranks",
           n);
    }
    wrong = 0;
    ranks_run(4, 5, lost, NULL);
    ok(!wrong && named == 3, "gnn_exchange names to the other ranks one that is lost");
    named = 0;
    ranks_run(4, 5, lost, (void *)1);
    ok(!wrong && named == 3, "gnn_comm_all_reduce names to the other ranks one that is lost");
    ranks_run(2, 9, told, NULL);
    ok(!wrong, "gnn_comm tells a thread what another one has found");
    ranks_run(2, 0, broken, NULL);
    ok(!wrong, "gnn_comm reports a failure of MPI as one of ranks");
    return tap_done();
}
