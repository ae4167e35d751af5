#include "cmd/calm.h"

#include <dirent.h>
#include <limits.h>
#include <omp.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

void calm_threads(char **argv)
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

void calm_threads_set(uint32_t n)
{
    const int wanted = n ? (int)n : omp_get_max_threads(), most = omp_get_thread_limit();
    omp_set_dynamic(0);
    omp_set_num_threads(wanted < most ? wanted : most);
}

void calm_yield(void)
{
    enum { LOWEST = 19 };
    DIR *threads = opendir("/proc/self/task"); /* Linux has a priority for each thread, which new ones inherit */
    for (struct dirent *d; threads && (d = readdir(threads));)
        if (*d->d_name != '.')
            (void)setpriority(PRIO_PROCESS, (id_t)strtoul(d->d_name, NULL, 10), LOWEST);
    if (threads)
        closedir(threads);
}
