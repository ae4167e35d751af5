/* SPDX-License-Identifier: Apache-2.0 */
/* METIS at arm's length. What 5.1.0 does inside a call: catches SIGTERM and SIGABRT, dies of SIGFPE
 * for k = 1 and of SIGSEGV for a neighbour out of range, prints to stdout when memory runs out. So:
 * a child process, with its standard files closed, that gets a valid graph and leaves its answer in
 * shared memory. */
#include <errno.h>
#include <fcntl.h>
#include <metis.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/mem.h"
#include "lib/partition/partition.h"

_Static_assert(sizeof(idx_t) == sizeof(int32_t), "this file expects METIS with 32-bit indices");

/* Shared with the child. */
struct answer {
    int done, status;
    int32_t part[];
};

/* ub: [ncon] what a part may hold of each constraint, against the average. Returns whether that is
 * more than the imbalance for any. */
static bool relax_limits(const struct gnn_metis *m, const struct gnn_symgraph *g, real_t *ub)
{
    const uint32_t ncon = m->wgt ? m->ncon : 1;
    bool any = false;
    for (uint32_t c = 0; c < ncon; c++) {
        uint64_t total = m->wgt ? 0 : g->n;
        for (uint32_t i = 0; m->wgt && i < g->n; i++)
            total += (uint64_t)m->wgt[(size_t)i * ncon + c];
        const uint64_t up = total / m->k + (total % m->k != 0);
        const double even = total ? (double)up * m->k / (double)total : 1;
        any = any || even > m->imbalance;
        ub[c] = (real_t)(even > m->imbalance ? even : m->imbalance);
    }
    return any;
}

bool gnn_metis_rounds(const struct gnn_metis *m, const struct gnn_symgraph *g)
{
    real_t ub[GNN_METIS_CONSTRAINTS_MAX];
    return relax_limits(m, g, ub);
}

static int metis_call(const struct gnn_metis *m, const struct gnn_symgraph *g, int32_t *part)
{
    idx_t opt[METIS_NOPTIONS], n = (idx_t)g->n, k = (idx_t)m->k, obj = 0;
    idx_t ncon = m->wgt ? (idx_t)m->ncon : 1;
    uint64_t seed = m->seed <= INT32_MAX ? m->seed : (m->seed ^ m->seed >> 31) & INT32_MAX;

    METIS_SetDefaultOptions(opt);
    opt[METIS_OPTION_OBJTYPE] =
        m->objective == GNN_OBJECTIVE_VOL ? METIS_OBJTYPE_VOL : METIS_OBJTYPE_CUT;
    /* The C library's generator, which METIS uses, is the same for 0 and 1: 0 stands for METIS's
     * own default. */
    if (seed)
        opt[METIS_OPTION_SEED] = (idx_t)seed;
    opt[METIS_OPTION_UFACTOR] = (idx_t)((m->imbalance - 1.0) * 1000 + 0.5);
    opt[METIS_OPTION_NUMBERING] = 0;
    real_t ub[GNN_METIS_CONSTRAINTS_MAX];
    if (m->relaxed)
        (void)relax_limits(m, g, ub);
    /* METIS takes the weights as non-const and does not change them. */
    return METIS_PartGraphKway(&n, &ncon, g->xadj, g->adjncy, (idx_t *)(uintptr_t)m->wgt, NULL,
                               NULL, &k, NULL, m->relaxed ? ub : NULL, opt, &obj, part);
}

static void run_child(const struct gnn_metis *m, const struct gnn_symgraph *g, struct answer *a,
                      pid_t parent) __attribute__((noreturn));
static void run_child(const struct gnn_metis *m, const struct gnn_symgraph *g, struct answer *a,
                      pid_t parent)
{
    /* Whatever ends the parent ends the child; handlers that remove the parent's files must not run
     * here. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    for (int s = 1; s < 32; s++)
        if (s != SIGKILL && s != SIGSTOP)
            signal(s, SIG_DFL);
    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, NULL);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    int null = open("/dev/null", O_RDWR);
    if (null >= 0)
        for (int fd = 0; fd < 3; fd++)
            dup2(null, fd);
    /* If memory runs out, the child goes, not the parent. */
    int oom = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (oom >= 0 && write(oom, "1000", 4) == 4)
        close(oom);
    a->status = (m->call ? m->call : metis_call)(m, g, a->part);
    a->done = 1;
    _exit(0);
}

static int judge_answer(const struct gnn_metis *m, const struct gnn_symgraph *g,
                        const struct answer *a, int ws, struct gnn_err *e)
{
    if (WIFSIGNALED(ws)) {
        int sig = WTERMSIG(ws);
        return gnn_fail(e, GNN_E_RUN, "METIS was ended by signal %d (%s)%s", sig, strsignal(sig),
                        sig == SIGKILL ? "; out of memory? --method fennel and ldg need little"
                                       : "");
    }
    if (!a->done || WEXITSTATUS(ws))
        return gnn_fail(e, GNN_E_RUN, "METIS ended without a result (status %d)", WEXITSTATUS(ws));
    if (a->status == METIS_ERROR_MEMORY)
        return gnn_fail(e, GNN_E_NOMEM, "METIS ran out of memory (%u nodes, %d adjacencies)", g->n,
                        g->xadj[g->n]);
    if (a->status != METIS_OK)
        return gnn_fail(e, GNN_E_RUN, "METIS failed with status %d", a->status);
    for (uint32_t i = 0; i < g->n; i++)
        if (a->part[i] < 0 || (uint32_t)a->part[i] >= m->k)
            return gnn_fail(e, GNN_E_RUN, "METIS put node %u into partition %d of %u", i,
                            a->part[i], m->k);
    return GNN_OK;
}

int gnn_metis_run(struct gnn_metis *m, const struct gnn_symgraph *g, uint32_t *part,
                  struct gnn_err *e)
{
    if (m->k == 1 || m->k >= g->n) {
        for (uint32_t i = 0; i < g->n; i++)
            part[i] = m->k == 1 ? 0 : i;
        return GNN_OK;
    }
    size_t bytes = sizeof(struct answer) + (size_t)g->n * sizeof(int32_t);
    struct answer *a = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (a == MAP_FAILED)
        return gnn_fail_nomem(e, bytes, "METIS's answer");

    double start = gnn_clock();
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        run_child(m, g, a, parent);
    int rc, ws = 0;
    struct rusage ru = {0};
    if (pid < 0) {
        rc = gnn_fail_errno(e, "cannot start a process for METIS");
    } else {
        while ((rc = (int)wait4(pid, &ws, 0, &ru)) < 0 && errno == EINTR)
            ;
        rc = rc < 0 ? gnn_fail_errno(e, "cannot wait for the process of METIS")
                    : judge_answer(m, g, a, ws, e);
        m->seconds += gnn_clock() - start;
        m->cpu_seconds += (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
                          1e-6 * (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec);
        if (m->peak < (uint64_t)ru.ru_maxrss * 1024)
            m->peak = (uint64_t)ru.ru_maxrss * 1024;
    }
    if (!rc)
        for (uint32_t i = 0; i < g->n; i++)
            part[i] = (uint32_t)a->part[i];
    munmap(a, bytes);
    return rc;
}
