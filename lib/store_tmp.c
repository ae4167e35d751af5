#include "lib/store_tmp.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "lib/store_write.h"

enum { SLOTS = 4 };

static struct {
    char dir[PATH_MAX];
    uint32_t nparts; /* 0: free */
} slots[SLOTS];

void gnn_store_tmp_add(const char *dir, uint32_t nparts)
{
    for (int i = 0; i < SLOTS; i++)
        if (!slots[i].nparts && strlen(dir) < sizeof slots[i].dir - 32) {
            memcpy(slots[i].dir, dir, strlen(dir) + 1);
            slots[i].nparts = nparts;
            return;
        }
}

void gnn_store_tmp_drop(const char *dir)
{
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].nparts && !strcmp(slots[i].dir, dir))
            slots[i].nparts = 0;
}

/* Async-signal-safe: unlink and rmdir only, names put together by hand. */
void gnn_store_tmp_remove_dir(const char *dir, uint32_t nparts)
{
    char path[PATH_MAX + 32];
    size_t n = strlen(dir);
    if (n >= PATH_MAX)
        return;
    memcpy(path, dir, n);
    memcpy(path + n, "/store.json", sizeof "/store.json");
    unlink(path);
    for (uint32_t p = 0; p < nparts; p++) {
        char digits[10];
        size_t len = 0;
        for (uint32_t v = p; v || len < 5; v /= 10)
            digits[len++] = (char)('0' + v % 10);
        char *q = path + n;
        memcpy(q, "/part-", 6);
        q += 6;
        while (len)
            *q++ = digits[--len];
        memcpy(q, ".gnb", 5);
        if (unlink(path) && errno == ENOENT && nparts == GNN_PARTS_UNKNOWN)
            break;
    }
    path[n] = 0;
    rmdir(path);
}

void gnn_store_tmp_unlink_all(void)
{
    int saved = errno;
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].nparts)
            gnn_store_tmp_remove_dir(slots[i].dir, slots[i].nparts);
    errno = saved;
}
