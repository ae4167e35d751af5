/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of control groups, on made-up trees. */
#include <sys/stat.h>

#include "lib/base/limit.h"
#include "scratch.h"

/* Writes a file below the tree, and the folders that it is in. */
static void put(const char *tree, const char *path, const char *text)
{
    char name[1024];
    snprintf(name, sizeof name, "%s%s", tree, path);
    for (char *p = strchr(name, '/'); p; p = strchr(p + 1, '/')) {
        *p = 0;
        (void)mkdir(name, 0777);
        *p = '/';
    }
    FILE *f = fopen(name, "w");
    if (!f || fputs(text, f) < 0 || fclose(f)) {
        printf("Bail out! %s cannot be written\n", name);
        exit(1);
    }
}

#define TMPFS "24 1 0:22 / / rw - ext4 /dev/sda1 rw\n"
#define UNIFIED "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"

static void is(const char *tree, uint64_t want, const char *what)
{
    const uint64_t got = gnn_limit_memory(tree);
    ok(got == want, "%s: %llu", what, (unsigned long long)got);
}

static void test_unified(void)
{
    put("v2", "/proc/self/cgroup", "0::/system.slice/job.slice/step\n");
    put("v2", "/proc/self/mountinfo", TMPFS UNIFIED);
    put("v2", "/sys/fs/cgroup/system.slice/other/memory.max", "5\n");
    is("v2", UINT64_MAX, "groups without limits limit nothing");
    put("v2", "/sys/fs/cgroup/system.slice/job.slice/step/memory.max", "3000\n");
    is("v2", 3000, "the process's own group limits it");
    put("v2", "/sys/fs/cgroup/system.slice/job.slice/memory.max", "max\n");
    put("v2", "/sys/fs/cgroup/system.slice/memory.max", "2000\n");
    is("v2", 2000, "a group above it limits it further");
    put("v2", "/sys/fs/cgroup/system.slice/job.slice/memory.high", "1500\n");
    is("v2", 1500, "so does the limit from which on processes are slowed down");
    put("v2", "/sys/fs/cgroup/memory.max", "1000\n");
    is("v2", 1000, "so does the mount's own");
    put("v2", "/sys/fs/cgroup/memory.max", "99999999999\n");
    is("v2", 1500, "a larger one above does not");
    put("v2", "/proc/self/cgroup", "0::/\n");
    is("v2", 99999999999, "in a namespace of its own, the group is the mount");
    put("v2", "/proc/self/cgroup", "0::/../../system.slice/job.slice\n");
    is("v2", 99999999999, "no path leads out of the mount");
    put("v2", "/proc/self/cgroup", "");
    is("v2", UINT64_MAX, "who is in no group has no limit");
}

static void test_version_1(void)
{
    put("v1", "/proc/self/cgroup",
        "12:cpu,cpuacct:/cpu\n9:hugetlb,memory:/slurm/uid_0/job_7\n1:name=systemd:/x\n0::/x\n");
    put("v1", "/proc/self/mountinfo",
        TMPFS "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
              "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,hugetlb,memory\n"
              "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    put("v1", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("v1", "/sys/fs/cgroup/memory/slurm/memory.limit_in_bytes", "9223372036854771712\n");
    is("v1", UINT64_C(9223372036854771712), "version 1 has no limit in a large number");
    put("v1", "/sys/fs/cgroup/memory/slurm/uid_0/job_7/memory.limit_in_bytes", "700\n");
    is("v1", 700, "the group of version 1 that has the controller limits the process");
    put("v1", "/sys/fs/cgroup/memory/slurm/uid_0/memory.limit_in_bytes", "600\n");
    is("v1", 600, "so does a group above it");
    put("v1", "/sys/fs/cgroup/memory/cpu/memory.limit_in_bytes", "5\n");
    put("v1", "/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "5\n");
    put("v1", "/sys/fs/cgroup/cpu/slurm/memory.limit_in_bytes", "5\n");
    is("v1", 600, "groups of other controllers do not");
    put("v1", "/sys/fs/cgroup/unified/x/memory.max", "500\n");
    is("v1", 500, "where both versions are mounted, the least limit counts");
}

/* A container that sees the host's paths, but has only its own group mounted. */
static void test_container(void)
{
    put("box", "/proc/self/cgroup", "4:memory:/docker/abc/inner\n");
    put("box", "/proc/self/mountinfo",
        "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    put("box", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "400\n");
    is("box", 400, "a container's group is where its mount begins");
    put("box", "/sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "300\n");
    is("box", 300, "a group below it is found");
    put("box", "/proc/self/cgroup", "4:memory:/docker/abcd\n");
    is("box", 400, "a group that is not mounted is taken for the mount's");
}

static void test_mounts(void)
{
    char *lines = calloc(1, 40000);
    if (!lines)
        exit(1);
    memset(lines, 'x', 39000);
    memcpy(lines, "29 24 0:25 / /o rw - overlay overlay rw,lowerdir=", 49);
    memcpy(lines + 38999, "\n50 24 0:26 /a\\040b /c\\134d rw - cgroup2 none rw\n", 50);
    put("odd", "/proc/self/cgroup", "nothing\n\n0::/a b/c\n");
    put("odd", "/proc/self/mountinfo", lines);
    put("odd", "/c\\d/c/memory.max", "200\n");
    is("odd", 200, "mounts are found anywhere, behind long lines, under odd names");
    free(lines);
    is("none", UINT64_MAX, "where there is no /proc, nothing limits");
}

int main(void)
{
    scratch_enter();
    test_unified();
    test_version_1();
    test_container();
    test_mounts();
    ok(gnn_limit_memory("") > 0, "this process has a limit, or none");
    return scratch_done();
}
