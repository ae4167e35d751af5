/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/threads.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli.h"
#include "lib/base/background.h"
#include "lib/base/mem.h"

void threads_wait_briefly(char **argv)
{
    char path[PATH_MAX];
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT"))
        return;
    const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (n <= 0 || setenv("GOMP_SPINCOUNT", "300", 1) || setenv("KMP_BLOCKTIME", "0", 0))
        return;
    path[n] = 0; /* the real name, so that ps shows it */
    execv(path, argv);
}

static pthread_mutex_t all_there = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_all(void *arg)
{
    pthread_mutex_lock(&all_there);
    pthread_mutex_unlock(&all_there);
    pthread_exit(
        arg); /* loads what that takes, as threads of OpenMP do when memory may have run out */
}

/* OpenMP's library ends the process by itself where it gets no thread. So n of them are started and
 * ended here first, and then its own, which it keeps. */
static void start_threads(int n)
{
    if (gnn_mem_limited())
        mallopt(M_ARENA_MAX, 1); /* or each thread reserves 64 MB */
    pthread_t *t = calloc((size_t)n, sizeof *t);
    int have = 0, rc = t ? 0 : ENOMEM;
    pthread_mutex_lock(&all_there);
    while (!rc && have < n - 1 && !(rc = pthread_create(&t[have], NULL, wait_for_all, NULL)))
        have++;
    pthread_mutex_unlock(&all_there);
    for (int i = 0; i < have; i++)
        pthread_join(t[i], NULL);
    free(t);
    if (rc)
        cli_die(1, "cannot start %d threads: %s (give fewer with -j)", n, strerror(rc));
#pragma omp parallel
    __asm__ volatile("");
}

void threads_start(uint32_t n)
{
    const int wanted = n ? (int)n : omp_get_max_threads(), most = omp_get_thread_limit();
    const int have = wanted < most ? wanted : most;
    omp_set_dynamic(0);
    omp_set_num_threads(have);
    start_threads(have);
}

void threads_be_nice(void)
{
    DIR *threads = opendir(
        "/proc/self/task"); /* Linux has a priority for each thread, which new ones inherit */
    for (struct dirent *d; threads && (d = readdir(threads));)
        if (*d->d_name != '.')
            (void)setpriority(PRIO_PROCESS, (id_t)strtoul(d->d_name, NULL, 10),
                              GNN_BACKGROUND_NICE);
    if (threads)
        closedir(threads);
}
