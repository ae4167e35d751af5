#include "lib/json.h"

#include <pthread.h>

#include "lib/mem.h"

char *gnn_json_text(const json_t *j, size_t flags, struct gnn_err *e)
{
    char none;
    size_t size = j ? json_dumpb(j, &none, 0, flags) : 0;
    char *text = size ? gnn_alloc((uint64_t)size + 1, 1, "JSON text", e) : NULL;
    if (text && json_dumpb(j, text, size, flags) == size) {
        text[size] = 0;
        return text;
    }
    gnn_free(text);
    gnn_fail_nomem(e, size, "JSON text");
    return NULL;
}

/* The parser's allocations go through here to learn whether one failed. */
static _Thread_local bool starved;

static void *note_alloc(size_t n)
{
    struct gnn_err e = {0};
    void *p = gnn_alloc(n, 1, "JSON", &e);
    starved |= !p;
    return p;
}

static void take_over(void)
{
    json_set_alloc_funcs(note_alloc, gnn_free);
}

void gnn_json_watch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, take_over);
    starved = false;
}

bool gnn_json_starved(void)
{
    return starved;
}

json_t *gnn_json_parse(const char *text, size_t n, const char *what, struct gnn_err *e)
{
    json_error_t bad;
    gnn_json_watch();
    json_t *j = json_loadb(text, n, JSON_REJECT_DUPLICATES, &bad);
    if (j && !starved)
        return j;
    json_decref(j);
    if (starved)
        gnn_fail_nomem(e, n, what);
    else
        gnn_fail(e, GNN_E_INPUT, "%s: JSON: %s", what, bad.text);
    return NULL;
}
