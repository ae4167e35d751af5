/* SPDX-License-Identifier: Apache-2.0 */
/* Starting and ending the ranks of a job, and what they must agree on (cmd/ranks.h). The order is
 * fixed: find the launcher, start MPI, compare versions and options of all ranks, work, agree on
 * the end, stop MPI. MPI can hang at either end, so a thread watches the clock there. */
#include "cmd/ranks.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cli.h"
#include "cmd/share.h"
#include "lib/cache/tier.h"
#include "lib/gather/gatherer.h"
#include "lib/sample/sampler.h"

static struct gnn_launch launch = {.size = 1};
static struct gnn_comm *opened; /* once there are others to end */

bool ranks_many(void)
{
    return launch.size > 1;
}

/* ---- a deadline for MPI's start and end, which nothing else interrupts ---- */

static struct watch {
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool done;
    double seconds;
    const char *what;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *watch_it(void *arg)
{
    struct timespec t;
    (void)arg;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += (time_t)watch.seconds;
    t.tv_nsec += (long)((watch.seconds - (double)(time_t)watch.seconds) * 1e9);
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&watch.lock);
    int rc = 0;
    while (!watch.done && !rc)
        rc = pthread_cond_timedwait(&watch.over, &watch.lock, &t);
    if (!watch.done)
        cli_die(5, "the ranks did not all %s within %g seconds", watch.what, watch.seconds);
    pthread_mutex_unlock(&watch.lock);
    return NULL;
}

static bool watch_begin(pthread_t *thread, const char *what, double seconds)
{
    pthread_condattr_t a;
    watch.done = false;
    watch.what = what;
    watch.seconds = seconds;
    pthread_condattr_init(&a);
    pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
    pthread_cond_init(&watch.over, &a);
    return seconds > 0 && ranks_many() && !pthread_create(thread, NULL, watch_it, NULL);
}

static void watch_end(bool begun, pthread_t thread)
{
    pthread_mutex_lock(&watch.lock);
    watch.done = true;
    pthread_cond_signal(&watch.over);
    pthread_mutex_unlock(&watch.lock);
    if (begun)
        pthread_join(thread, NULL);
}

/* ---- start and end ---- */

static void *end_late(void *status)
{
    /* As long as rank 0 takes to report what all ranks have found (cmd/cli.c), and then without
     * MPI. */
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    _exit(*(int *)status);
}

/* Ends all ranks. The call may not return where the network to another rank is cut, so a thread
 * ends this process a moment later in any case. */
static void end_all(int status)
{
    static int ends_with;
    pthread_t thread;
    if (!opened)
        return;
    ends_with = status;
    (void)!pthread_create(&thread, NULL, end_late, &ends_with);
    opened->ops->kill(opened, status);
}

void ranks_start(void)
{
    struct gnn_err e = {0};
    if (gnn_launch_find(&launch, getenv, &e))
        cli_fail(&e);
    if (!ranks_many())
        return;
    cli_rank(launch.rank, end_all);
    /* A connection of MPI that breaks is a rank that is lost, which is reported, and not a reader
     * that has had enough: gnn_io_write ends the process by SIGPIPE all the same. */
    signal(SIGPIPE, SIG_IGN);
}

/* How soon ranks must answer says nothing of how soon a busy host or file system starts them. */
static const double start_within = 300;

struct gnn_comm *ranks_open(double timeout)
{
    struct gnn_err e = {0};
    struct gnn_comm *c;
    pthread_t thread;
    const bool begun = watch_begin(&thread, "start",
                                   timeout > 0 && timeout < start_within ? start_within : timeout);
    const int rc = gnn_comm_open(&c, timeout, common.verbose <= 0, &e);
    /* Set even after a failure: from here on a rank that ends must end the others, too. */
    opened = c;
    watch_end(begun, thread);
    if (rc || gnn_comm_agree(c, "program or version", cli_version(), &e) ||
        gnn_comm_agree(c, "options", opt_shared(), &e))
        cli_fail(&e);
    return c;
}

void ranks_agree(struct gnn_comm *c, const struct gnn_meta *meta, const char *more)
{
    struct gnn_err e = {0};
    struct gnn_meta m = *meta;
    /* What may differ between ranks is left out of the comparison. */
    m.provenance = NULL;
    m.sampling.rank = 0;
    char *text = gnn_meta_to_text(&m, &e),
         *all = text ? gnn_strf(&e, "%s %s", text, more ? more : "") : NULL;
    if (!all || gnn_comm_agree(c, "options", all, &e))
        cli_fail(&e);
    gnn_free(text);
    gnn_free(all);
}

void ranks_tell(const struct gnn_comm *c, const struct gnn_tier_hits *h,
                const struct gnn_gather_copying *k)
{
    const uint64_t rows = gnn_tier_rows(h), replicated = h->rows[GNN_TIER_REPLICA],
                   fetched = h->rows[GNN_TIER_REMOTE], remote = replicated + fetched,
                   bytes = h->bytes[GNN_TIER_REMOTE];
    char of_rows[32], of_remote[32];
    if (c->size == 1)
        return;
    cli_info("rows: %" PRIu64 ", %" PRIu64 " of them%s remote; of these, replicated here %" PRIu64
             "%s, fetched %" PRIu64 ", %.1f MB; sent %.1f MB in total",
             rows, remote, share_text(of_rows, remote, rows, 1), replicated,
             share_text(of_remote, replicated, remote, 1), fetched, 1e-6 * (double)bytes,
             1e-6 * (double)c->sent);
    if (k->rows)
        cli_info("copies of remote rows: %" PRIu64
                 "; sent %.1f MB to choose them, and %.1f MB to fetch them and give others theirs",
                 k->rows, 1e-6 * (double)k->choosing, 1e-6 * (double)k->fetching);
    cli_metrics(json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "event", "ranks", "rank",
        (json_int_t)c->rank, "rows", (json_int_t)rows, "replicated_rows", (json_int_t)replicated,
        "fetched_rows", (json_int_t)fetched, "fetched_bytes", (json_int_t)bytes, "sent_bytes",
        (json_int_t)c->sent, "copies", (json_int_t)k->rows, "copies_chosen_bytes",
        (json_int_t)k->choosing, "copies_fetched_bytes", (json_int_t)k->fetching));
}

void ranks_tell_sample(const struct gnn_comm *c, const struct gnn_sample_remote_stats *s)
{
    char of_rows[32], of_remote[32];
    if (c->size == 1)
        return;
    cli_info("frontier nodes after the seeds: %" PRIu64 ", %" PRIu64
             " of them%s remote; of these, in the halo %" PRIu64 "%s, requested %" PRIu64,
             s->rows, s->remote, share_text(of_rows, s->remote, s->rows, 1), s->halo,
             share_text(of_remote, s->halo, s->remote, 1), s->remote - s->halo);
    cli_metrics(json_pack("{s:s, s:I, s:I, s:I, s:I}", "event", "sampling ranks", "rank",
                          (json_int_t)c->rank, "frontier", (json_int_t)s->rows, "remote",
                          (json_int_t)s->remote, "halo", (json_int_t)s->halo));
}

void ranks_close(struct gnn_comm *c)
{
    struct gnn_err e = {0};
    pthread_t thread;
    /* No rank stops MPI while another still needs a reply from it. */
    if (gnn_comm_agree(c, "termination", "", &e))
        cli_fail(&e);
    /* From here on a failure ends this process alone: the others have finished. */
    opened = NULL;
    const bool begun = watch_begin(&thread, "end", c->timeout);
    gnn_comm_free(c);
    watch_end(begun, thread);
}

/* ---- files ---- */

const char *ranks_path(const char *path, const char *option)
{
    if (ranks_many() && option && !(path && strstr(path, "%r")))
        cli_usage("%s: each of %u ranks requires its own file: put %%r, the rank, into the name",
                  option, launch.size);
    return path ? cli_path(path) : NULL;
}

int ranks_in(const struct gnn_comm *c, const char *path, const char **name)
{
    *name = strcmp(path, "-") != 0 ? path : "stdin";
    return c->rank ? -1 : cli_in(path, name);
}
