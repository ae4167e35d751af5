/* SPDX-License-Identifier: Apache-2.0 */
/* Names of results under way: many writers of one name at once, locks, what is left over; and
 * mapped files that change. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/mapped.h"
#include "lib/base/mem.h"
#include "lib/base/temp.h"
#include "scratch.h"
#include "tap.h"

enum { PROCESSES = 4, TURNS = 60 };

static unsigned count(const char *with)
{
    unsigned n = 0;
    DIR *d = opendir(".");
    for (struct dirent *f; d && (f = readdir(d));)
        n += strstr(f->d_name, with) != NULL;
    closedir(d);
    return n;
}

static bool put(const char *dir, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s%s", dir, *dir ? "/" : "", name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return good;
}

static bool make_store(bool killed)
{
    struct gnn_err e = {0};
    struct gnn_temp *t = gnn_temp_dir("store", &e);
    const bool good =
        t && put(t->name, "store.json", "{}") && put(t->name, "part-00000.gnb", "part");
    if (killed)
        _exit(0);
    const bool done = good && !gnn_temp_commit(t, true, &e);
    if (!done)
        printf("# %s\n", e.msg);
    gnn_temp_free(t);
    return done;
}

static bool make_file(void)
{
    struct gnn_err e = {0};
    struct gnn_temp *t = gnn_temp_file("file", &e);
    const bool done = t && write(t->fd, "whole", 5) == 5 && !gnn_temp_commit(t, true, &e);
    if (!done)
        printf("# %s\n", e.msg);
    gnn_temp_free(t);
    return done;
}

/* Adds one to the number in a file, while it has the lock. */
static bool add_one(void)
{
    struct gnn_err e = {0};
    char who[256], text[32] = "";
    struct gnn_temp *t;
    while (!(t = gnn_temp_lock("lock", who, &e))) {
        if (e.code)
            return false;
        usleep(500);
    }
    const int fd = open("number", O_RDWR | O_CREAT, 0666);
    const bool had = read(fd, text, sizeof text - 1) >= 0;
    const int n = snprintf(text, sizeof text, "%d", atoi(text) + 1);
    const bool good = had && pwrite(fd, text, (size_t)n, 0) == n;
    close(fd);
    gnn_temp_free(t);
    return good;
}

static bool many(bool (*turn)(void))
{
    bool good = true;
    fflush(stdout);
    for (int i = 0; i < PROCESSES; i++)
        if (!fork()) {
            for (int k = 0; good && k < TURNS; k++)
                good = turn();
            fflush(stdout);
            _exit(!good);
        }
    for (int status; wait(&status) > 0;)
        good = good && WIFEXITED(status) && !WEXITSTATUS(status);
    return good;
}

static bool turn_store(void)
{
    static unsigned n;
    if (++n % 8 == 0) { /* one that is killed in the middle */
        const pid_t child = fork();
        if (!child)
            make_store(true);
        waitpid(child, NULL, 0);
    }
    return make_store(false);
}

static void check_names(void)
{
    struct gnn_err e = {0};
    static const char *const yes[] = {"store.json", "part-00000.gnb", "part-123456.gnb"};
    static const char *const no[] = {
        "",          "part-.gnb",       "part-0.gnb2",    "part-0x.gnb",
        "store.jso", ".part-00000.gnb", "part-00000.gnb/"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        ok(gnn_temp_in_store(yes[i]), "gnn_temp_in_store knows %s for a file of a store", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        ok(!gnn_temp_in_store(no[i]), "gnn_temp_in_store knows '%s' for no file of a store", no[i]);
    char *at = symlink("a/b/", "link") ? NULL : gnn_temp_target("./link//", true, &e);
    ok(at && !strcmp(at, "./a/b"), "gnn_temp_target follows a link to nothing");
    gnn_free(at);
    ok(!gnn_temp_target("link", false, &e) && e.code == GNN_E_USAGE,
       "gnn_temp_target refuses a name that no file can have: %s", e.msg);
    e = (struct gnn_err){0};
    ok(!mkfifo("fifo", 0600) && !gnn_temp_file("fifo", &e) && strstr(e.msg, "cannot be replaced"),
       "gnn_temp_file replaces no FIFO: %s", e.msg);
}

static void check_leftovers(void)
{
    static const char *const kept[] = {"file.tmp.mine", "file.tmp.0123456789ABCDEF",
                                       "file.tmp.0123456789abcdef0", "xfile.tmp.0123456789abcdef"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        put("", kept[i], "x");
    put("", "file.tmp.0123456789abcdef", "left over");
    put("", "file.tmp.fedcba9876543210", "held");
    const int held = open("file.tmp.fedcba9876543210", O_RDONLY);
    ok(!flock(held, LOCK_EX) && make_file(),
       "gnn_temp_file writes a file beside what killed writers left over");
    ok(access("file.tmp.0123456789abcdef", F_OK) != 0,
       "gnn_temp_file removes what killed writers left over");
    ok(!access("file.tmp.fedcba9876543210", F_OK),
       "gnn_temp_file does not remove what another writer holds");
    close(held);
    ok(make_file() && access("file.tmp.fedcba9876543210", F_OK) != 0,
       "gnn_temp_file removes what another writer held once it is free");
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        ok(!access(kept[i], F_OK) && !unlink(kept[i]), "gnn_temp_file does not remove %s", kept[i]);
}

static void check_mapped(void)
{
    struct gnn_err e = {0};
    put("", "data", "0123456789");
    const int fd = open("data", O_RDWR);
    const char *p = gnn_mapped_new(fd, 0, 10, false, "data", &e);
    ok(p && !memcmp(p, "0123456789", 10), "gnn_mapped_new maps a file");
    ok(!gnn_mapped_changed(p) && !gnn_mapped_check(&e),
       "gnn_mapped_check finds a file that has not changed");
    ok(!gnn_mapped_fault(p - 1, &e) && !gnn_mapped_fault(p + 10, &e) && !e.code,
       "gnn_mapped_fault disowns addresses around a mapped file");
    ok(gnn_mapped_fault(p + 3, &e) == GNN_E_RUN &&
           strstr(e.msg, "data: the system cannot read byte 3"),
       "gnn_mapped_fault names the byte that the system cannot read: %s", e.msg);
    e = (struct gnn_err){0};
    ok(!ftruncate(fd, 4) && gnn_mapped_changed(p) && gnn_mapped_check(&e) &&
           strstr(e.msg, "data: cut to 4 bytes"),
       "gnn_mapped_check names a file that is cut: %s", e.msg);
    e = (struct gnn_err){0};
    put("", "other", "other");
    ok(!rename("other", "data") && !gnn_mapped_changed(p) && !gnn_mapped_check(&e),
       "gnn_mapped_check finds no change when another file takes the name");
    gnn_mapped_free(p);
    gnn_mapped_free(NULL);
    ok(!gnn_mapped_fault(p + 3, &e),
       "gnn_mapped_fault disowns addresses of a file that is unmapped");
    close(fd);
}

int main(void)
{
    scratch_enter();
    check_names();
    check_leftovers();
    ok(many(turn_store),
       "gnn_temp_dir lets %d processes write one store, %d times each, and some be killed",
       PROCESSES, TURNS);
    ok(!access("store/store.json", F_OK) && !access("store/part-00000.gnb", F_OK),
       "a store that many processes wrote is whole");
    ok(make_store(false) && count(".tmp.") == 0,
       "gnn_temp_dir leaves nothing of killed writers of a store");
    ok(many(make_file), "gnn_temp_file lets many processes write one file, and some be killed");
    ok(count(".tmp.") == 0, "gnn_temp_file leaves nothing of killed writers of a file");
    ok(many(add_one), "gnn_temp_lock lets %d processes take a lock, %d times each", PROCESSES,
       TURNS);
    char text[32] = "";
    const int fd = open("number", O_RDONLY);
    ok(read(fd, text, sizeof text - 1) > 0 && atoi(text) == PROCESSES * TURNS,
       "gnn_temp_lock lets one process at a time hold a lock: %s", text);
    close(fd);
    ok(count("lock") == 0, "gnn_temp_lock leaves nothing of a lock");
    check_mapped();
    return scratch_done();
}
