#include "lib/store_tmp.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/store_write.h"

enum { SLOTS = 4 };

static struct {
    char dir[PATH_MAX];
    uint32_t nparts; /* 0: free */
} slots[SLOTS];

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

void gnn_store_tmp_enter(void)
{
    pthread_mutex_lock(&gate);
}

void gnn_store_tmp_leave(void)
{
    pthread_mutex_unlock(&gate);
}

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

void gnn_store_tmp_remove_dir(const char *dir, uint32_t nparts)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/store.json", dir);
    unlink(path);
    for (uint32_t p = 0; p < nparts; p++) {
        snprintf(path, sizeof path, "%s/part-%05u.gnb", dir, p);
        if (unlink(path) && errno == ENOENT && nparts == GNN_PARTS_UNKNOWN)
            break;
    }
    rmdir(dir);
}

void gnn_store_tmp_unlink_all(void)
{
    gnn_store_tmp_enter(); /* and never leave: the program ends */
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].nparts)
            gnn_store_tmp_remove_dir(slots[i].dir, slots[i].nparts);
}
