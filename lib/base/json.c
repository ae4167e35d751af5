#include "lib/base/json.h"

#include <pthread.h>
#include <stdatomic.h>

#include "lib/base/mem.h"

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

/* Where jansson's allocations go. One that fails is noted and served from a reserve, which is not
 * given back: jansson's scanner aborts the process when it misses a character of what it has read.
 */
static _Thread_local bool starved;
static _Alignas(16) char reserve[1 << 16];
static atomic_size_t reserved;

static void *note_alloc(size_t n)
{
    struct gnn_err e = {0};
    void *p = gnn_alloc(n, 1, "JSON", &e);
    if (p)
        return p;
    starved = true;
    if (n > sizeof reserve)
        return NULL;
    size_t at = atomic_fetch_add(&reserved, (n + 15) & ~(size_t)15);
    return at <= sizeof reserve - n ? reserve + at : NULL;
}

static void note_free(void *p)
{
    if ((char *)p < reserve || (char *)p >= reserve + sizeof reserve)
        gnn_free(p);
}

static void take_over(void)
{
    json_set_alloc_funcs(note_alloc, note_free);
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
