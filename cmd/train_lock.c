/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/train_lock.h"

#include <time.h>
#include <unistd.h>

#include "cmd/cli.h"
#include "cmd/sig.h"
#include "lib/base/clock.h"
#include "lib/train/trainer.h"

static struct gnn_temp *lock; /* until the process ends, which removes it */

static void take_lock(const char *dir, double seconds)
{
    struct gnn_err e = {0};
    char who[256];
    bool told = false, let = false;
    const double end = gnn_clock() + seconds;
    while (!(lock = gnn_checkpoint_lock(dir, who, &e))) {
        const char *const other = *who ? who : "another process";
        if (e.code)
            cli_fail(&e);
        if (gnn_clock() >= end)
            cli_die(1, "%s: locked by %s, which writes its checkpoints there", dir, other);
        if (!told)
            cli_note("%s: locked by %s, which writes its checkpoints there; waiting", dir, other);
        told = true;
        let = sig_let() || let;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    sig_hold(let);
}

void train_lock(struct gnn_comm *c, const char *dir, bool make, double seconds)
{
    struct gnn_err e = {0};
    if (!c->rank && !lock && (make || !access(dir, F_OK)))
        take_lock(dir, seconds);
    if (gnn_comm_agree(c, "checkpoint directory", dir, &e))
        cli_fail(&e);
}
