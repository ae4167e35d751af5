#include "lib/json.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

/* jansson reports many failed allocations as syntax errors, so its allocator keeps count itself. */
static _Thread_local bool starved;

static void *count_malloc(size_t n)
{
    void *p = malloc(n);
    if (!p)
        starved = true;
    return p;
}

static void hook(void)
{
    json_set_alloc_funcs(count_malloc, free);
}

json_t *gnn_json_parse(const char *text, size_t n, struct gnn_err *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, hook);
    starved = false;
    json_error_t bad;
    json_t *j = json_loadb(text, n, JSON_REJECT_DUPLICATES, &bad);
    if (!j && starved)
        gnn_fail_nomem(e, n, "parsing JSON");
    else if (!j)
        gnn_fail(e, GNN_E_INPUT, "JSON: %s", bad.text);
    return j;
}
