/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of its own for a unit test that writes files, which then leaves none wherever it was
 * started: scratch_enter() first in main, return scratch_done() for tap_done(). The folder stays
 * when the test fails. */
#ifndef GNN_TESTS_SCRATCH_H
#define GNN_TESTS_SCRATCH_H

#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "tap.h"

static char scratch_path[PATH_MAX];

static void scratch_enter(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(scratch_path, sizeof scratch_path, "%s/gnn-test.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(scratch_path) || chdir(scratch_path) ||
        !getcwd(scratch_path, sizeof scratch_path)) {
        perror(scratch_path);
        exit(99);
    }
}

static int scratch_remove(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    (void)st, (void)flag, (void)at;
    return remove(path);
}

static int scratch_done(void)
{
    const int rc = tap_done();
    if (rc)
        printf("# kept: %s\n", scratch_path);
    else if (chdir("/") || nftw(scratch_path, scratch_remove, 16, FTW_DEPTH | FTW_PHYS))
        perror(scratch_path);
    return rc;
}

#endif
