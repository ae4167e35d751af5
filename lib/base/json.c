/* SPDX-License-Identifier: Apache-2.0 */
/* JSON through jansson (lib/base/json.h): text of a value, the first difference between two values,
 * and parsing with allocations that go through lib/base/mem.h. jansson mistakes a lack of memory
 * for a syntax error, so failed allocations are noted on the way. */
#include "lib/base/json.h"

#include <pthread.h>
#include <stdatomic.h>

#include "lib/base/mem.h"

char *gnn_json_text(const json_t *j, size_t flags, struct gnn_err *e)
{
    char none;
    /* The length first, as json_dumps drops keys when its buffer cannot grow. */
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

/* The first member of x, else of y, that is not the same in both. */
static const char *differing_key(json_t *x, json_t *y)
{
    const char *key;
    json_t *value;
    json_object_foreach(x, key, value)
    {
        if (!json_equal(value, json_object_get(y, key)))
            return key;
    }
    json_object_foreach(y, key, value)
    {
        if (!json_object_get(x, key))
            return key;
    }
    return NULL;
}

/* Steps into the first member or element in which *a and *b, which differ, differ: these become *a
 * and *b, NULL where one side has none. Returns the path of that place, which continues `path`.
 * Returns NULL if they are not both objects or both arrays. */
static char *step_into(json_t **a, json_t **b, const char *path, struct gnn_err *e)
{
    json_t *x = *a, *y = *b;
    size_t at = 0;
    if (json_is_object(x) && json_is_object(y)) {
        const char *key = differing_key(x, y);
        *a = json_object_get(x, key);
        *b = json_object_get(y, key);
        return gnn_strf(e, "%s%s%s", path, *path ? "." : "", key);
    }
    if (!json_is_array(x) || !json_is_array(y))
        return NULL;
    while (json_equal(json_array_get(x, at), json_array_get(y, at)))
        at++;
    *a = json_array_get(x, at);
    *b = json_array_get(y, at);
    return gnn_strf(e, "%s[%zu]", path, at);
}

char *gnn_json_difference(json_t *a, json_t *b, struct gnn_err *e)
{
    enum { SHOWN = 60 }; /* bytes of a value */
    if (json_equal(a, b))
        return NULL;
    char *path = gnn_strdup("", e), *next, *text = NULL;
    while (path && (next = step_into(&a, &b, path, e))) {
        gnn_free(path);
        path = next;
    }
    char *was = a ? gnn_json_text(a, JSON_COMPACT | JSON_ENCODE_ANY, e) : NULL,
         *is = b ? gnn_json_text(b, JSON_COMPACT | JSON_ENCODE_ANY, e) : NULL;
    if (!e->code)
        text = gnn_strf(e, "'%s' is %.*s, here %.*s", path, SHOWN, was ? was : "absent", SHOWN,
                        is ? is : "absent");
    gnn_free(path);
    gnn_free(was);
    gnn_free(is);
    return text;
}

/* Where jansson's allocations go. One that fails is noted and then served from a fixed reserve,
 * because jansson's scanner aborts the process when it cannot store a character that it has read.
 * The reserve is never given back. */
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
    /* jansson's allocators are global: set once, before the first value is made. */
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
