/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors, as models and checkpoints are stored (formats/safetensors.h). Reading: the header is
 * JSON, and the tensors must fill the rest of the file without holes or overlaps, as the format
 * demands. Writing: the header is made first, with a checksum of zeros in it, which is replaced
 * when the bytes of all tensors are known. */
#include "formats/safetensors.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/xxh.h"

/* The limit of the reference implementation; and data start aligned, so that they can be used where
 * they are mapped. */
enum { HEADER_MAX = 100000000, ALIGN = 64 };

static const struct {
    const char *name;
    enum gnn_dtype dtype;
} types[] = {
    {"BOOL", GNN_U8}, {"U8", GNN_U8},   {"I8", GNN_I8},     {"U16", GNN_U16}, {"I16", GNN_I16},
    {"U32", GNN_U32}, {"I32", GNN_I32}, {"U64", GNN_U64},   {"I64", GNN_I64}, {"F16", GNN_F16},
    {"F32", GNN_F32}, {"F64", GNN_F64}, {"BF16", GNN_BF16},
};

__attribute__((format(printf, 3, 4))) static int bad(char *why, size_t capacity, const char *fmt,
                                                     ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, capacity, fmt, ap);
    va_end(ap);
    for (; *why; why++) /* names and pieces of the file may be in it */
        if ((unsigned char)*why < ' ')
            *why = '?';
    return -1;
}

static int parse_shape(const json_t *shape, struct gnn_tensor *t)
{
    const size_t n = json_array_size(shape);
    if (!json_is_array(shape) || n > GNN_NDIM_MAX)
        return -1;
    t->ndim = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        const json_t *d = json_array_get(shape, i);
        if (!json_is_integer(d) || json_integer_value(d) < 0)
            return -1;
        t->shape[i] = (uint64_t)json_integer_value(d);
    }
    return 0;
}

static int parse_tensor(const char *name, const json_t *j, uint8_t *data, uint64_t data_bytes,
                        struct gnn_tensor *t, char *why, size_t capacity)
{
    const json_t *dt = json_object_get(j, "dtype"), *off = json_object_get(j, "data_offsets");
    memset(t, 0, sizeof(*t));
    if (!json_is_object(j) || json_object_size(j) != 3 || !json_is_string(dt))
        return bad(why, capacity, "tensor %.200s: entry is not {dtype, shape, data_offsets}", name);
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (!strcmp(types[i].name, json_string_value(dt)))
            t->dtype = types[i].dtype;
    if (!t->dtype)
        return bad(why, capacity, "tensor %.200s: unsupported dtype %.20s", name,
                   json_string_value(dt));
    if (parse_shape(json_object_get(j, "shape"), t))
        return bad(why, capacity, "tensor %.200s: bad shape (at most %d dimensions)", name,
                   GNN_NDIM_MAX);
    const json_t *b = json_array_get(off, 0), *e = json_array_get(off, 1);
    if (!json_is_array(off) || json_array_size(off) != 2 || !json_is_integer(b) ||
        !json_is_integer(e) || json_integer_value(b) < 0 ||
        json_integer_value(e) < json_integer_value(b) ||
        (uint64_t)json_integer_value(e) > data_bytes)
        return bad(why, capacity, "tensor %.200s: data_offsets outside the file", name);
    uint64_t want;
    if (!gnn_tensor_bytes(t, &want) ||
        want != (uint64_t)(json_integer_value(e) - json_integer_value(b)))
        return bad(why, capacity, "tensor %.200s: data_offsets and shape disagree", name);
    t->name = name;
    t->data = data + json_integer_value(b);
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct gnn_tensor *x = a, *y = b;
    if (x->data != y->data)
        return (const char *)x->data < (const char *)y->data ? -1 : 1;
    uint64_t p = 0, q = 0; /* empty tensors share their place with the next one */
    (void)gnn_tensor_bytes(x, &p);
    (void)gnn_tensor_bytes(y, &q);
    return p < q ? -1 : p > q;
}

static int check_metadata(const json_t *m)
{
    const char *k;
    json_t *v;
    if (!json_is_object(m))
        return -1;
    json_object_foreach((json_t *)(uintptr_t)m, k, v) if (!json_is_string(v)) return -1;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct gnn_tensor *const *)a)->name,
                  (*(const struct gnn_tensor *const *)b)->name);
}

enum { DIGITS = sizeof(GNN_SAFETENSORS_NO_DIGITS) - 1 };

/* The place of the checksum's digits in the n bytes of a header; NULL unless it is there exactly
 * once. No JSON string can hold this text, because a quote inside a string is escaped. */
static char *find_digits(char *head, size_t n)
{
    static const char key[] = "\"" GNN_SAFETENSORS_CHECKSUM "\":\"";
    const size_t len = sizeof(key) - 1;
    char *at = memmem(head, n, key, len);
    if (!at || memmem(at + 1, n - (size_t)(at + 1 - head), key, len))
        return NULL;
    at += len;
    return n - (size_t)(at - head) > DIGITS && at[DIGITS] == '"' ? at : NULL;
}

static void digits_text(XXH3_state_t *x, char text[DIGITS + 1])
{
    const XXH128_hash_t h = XXH3_128bits_digest(x);
    snprintf(text, DIGITS + 1, "%016llx%016llx", (unsigned long long)h.high64,
             (unsigned long long)h.low64);
}

static int check_sum(struct gnn_safetensors *st, char *file, uint64_t n, uint64_t header, char *why,
                     size_t capacity)
{
    const char *at = find_digits(file, 8 + header);
    /* The checksum is of the file with zeros in place of its digits: that is how it was made. */
    char text[DIGITS + 1];
    XXH3_state_t x;
    if (!at)
        return bad(why, capacity, "damaged: its checksum is missing");
    XXH3_128bits_reset(&x);
    XXH3_128bits_update(&x, file, (size_t)(at - file));
    XXH3_128bits_update(&x, GNN_SAFETENSORS_NO_DIGITS, DIGITS);
    XXH3_128bits_update(&x, at + DIGITS, (size_t)(file + n - (at + DIGITS)));
    digits_text(&x, text);
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    if (memcmp(at, text, DIGITS) != 0)
        return bad(why, capacity, "damaged: its checksum is %.32s, that of its bytes %s", at, text);
#endif
    st->summed = true;
    return 0;
}

static int parse_all(struct gnn_safetensors *st, uint8_t *data, uint64_t nbytes, char *why,
                     size_t capacity)
{
    const char *name;
    json_t *j;
    st->tensor = calloc(json_object_size(st->root) + 1, sizeof(*st->tensor));
    st->by_name = calloc(json_object_size(st->root) + 1, sizeof(*st->by_name));
    if (!st->tensor || !st->by_name)
        return bad(why, capacity, "out of memory");
    json_object_foreach(st->root, name, j)
    {
        if (!strcmp(name, "__metadata__")) {
            if (check_metadata(j))
                return bad(why, capacity, "__metadata__ is not an object of strings");
            st->metadata = j;
        } else if (parse_tensor(name, j, data, nbytes, &st->tensor[st->n], why, capacity)) {
            return -1;
        } else {
            st->n++;
        }
    }
    /* In the order of their data, holes and overlaps show between neighbours. */
    qsort(st->tensor, st->n, sizeof(*st->tensor), by_place);
    uint8_t *at = data;
    for (size_t i = 0; i < st->n; i++) {
        uint64_t b = 0;
        st->by_name[i] = &st->tensor[i];
        (void)gnn_tensor_bytes(&st->tensor[i], &b);
        if ((uint8_t *)st->tensor[i].data != at)
            return bad(why, capacity, "tensor %.200s: hole or overlap before its data",
                       st->tensor[i].name);
        at += b;
    }
    qsort(st->by_name, st->n, sizeof(*st->by_name), by_name);
    if (at != data + nbytes)
        return bad(why, capacity, "%llu bytes after the last tensor",
                   (unsigned long long)(data + nbytes - at));
    return 0;
}

int gnn_safetensors_parse(struct gnn_safetensors *st, void *bytes, uint64_t n, char *why,
                          size_t capacity)
{
    uint8_t *p = bytes;
    uint64_t h = 0;
    json_error_t je;

    memset(st, 0, sizeof(*st));
    if (n < 8)
        return bad(why, capacity, "not a safetensors file (shorter than 8 bytes)");
    for (int i = 0; i < 8; i++)
        h |= (uint64_t)p[i] << (8 * i);
    if (h > HEADER_MAX || h < 2 || (n > 8 && p[8] != '{'))
        return bad(why, capacity, "not a safetensors file");
    if (h > n - 8)
        return bad(why, capacity, "cut short in the header (%llu of %llu bytes)",
                   (unsigned long long)n - 8, (unsigned long long)h);
    st->root = json_loadb((const char *)p + 8, (size_t)h, JSON_REJECT_DUPLICATES, &je);
    if (!st->root || !json_is_object(st->root)) {
        int rc = bad(why, capacity, "header: %.200s at byte %d",
                     st->root ? "not an object" : je.text, st->root ? 8 : je.position + 8);
        gnn_safetensors_release(st);
        return rc;
    }
    if (parse_all(st, p + 8 + h, n - 8 - h, why, capacity) ||
        (json_object_get(st->metadata, GNN_SAFETENSORS_CHECKSUM) &&
         check_sum(st, bytes, n, h, why, capacity))) {
        gnn_safetensors_release(st);
        return -1;
    }
    return 0;
}

void gnn_safetensors_release(struct gnn_safetensors *st)
{
    free(st->tensor);
    free(st->by_name);
    if (st->root)
        json_decref(st->root);
    memset(st, 0, sizeof(*st));
}

const struct gnn_tensor *gnn_safetensors_find(const struct gnn_safetensors *st, const char *name)
{
    const struct gnn_tensor key = {.name = name}, *want = &key;
    const struct gnn_tensor *const *at =
        st->n ? bsearch(&want, st->by_name, st->n, sizeof(*st->by_name), by_name) : NULL;
    return at ? *at : NULL;
}

static json_t *tensor_entry(const struct gnn_tensor *t, uint64_t *at)
{
    const char *type = NULL;
    uint64_t bytes;
    for (size_t i = 1; i < sizeof(types) / sizeof(*types); i++)
        if (types[i].dtype == t->dtype)
            type = types[i].name;
    json_t *shape = json_array();
    if (!type || !shape || !gnn_tensor_bytes(t, &bytes)) {
        json_decref(shape);
        return NULL;
    }
    for (uint32_t i = 0; i < t->ndim; i++)
        json_array_append_new(shape, json_integer((json_int_t)t->shape[i]));
    const uint64_t from = *at;
    *at += bytes;
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", type, "shape", shape, "data_offsets",
                     (json_int_t)from, (json_int_t)*at);
}

int gnn_safetensors_header(const struct gnn_tensor *const *t, size_t n, json_t *metadata,
                           char **out, size_t *bytes)
{
    uint64_t at = 0;
    char none, *text = NULL;
    json_t *root = json_object();
    *out = NULL;
    if (!root || (metadata && json_object_set(root, "__metadata__", metadata)))
        goto fail;
    for (size_t i = 0; i < n; i++)
        if (json_object_get(root, t[i]->name) ||
            json_object_set_new(root, t[i]->name, tensor_entry(t[i], &at)))
            goto fail;
    /* Two passes, the first for the length: json_dumps drops keys when its buffer cannot grow. */
    const size_t len = json_dumpb(root, &none, 0, JSON_COMPACT);
    text = len ? malloc(len) : NULL;
    if (!text || json_dumpb(root, text, len, JSON_COMPACT) != len)
        goto fail;
    const size_t total = (8 + len + ALIGN - 1) / ALIGN * ALIGN;
    *out = malloc(total);
    if (!*out)
        goto fail;
    for (int i = 0; i < 8; i++)
        (*out)[i] = (char)(uint8_t)((uint64_t)(total - 8) >> (8 * i));
    memcpy(*out + 8, text, len);
    memset(*out + 8 + len, ' ', total - 8 - len);
    *bytes = total;
    free(text);
    json_decref(root);
    return 0;
fail:
    free(text);
    json_decref(root);
    return -1;
}

void gnn_safetensors_sum(char *head, size_t bytes, const struct gnn_tensor *const *t, size_t n)
{
    char *at = find_digits(head, bytes), text[DIGITS + 1];
    XXH3_state_t x;
    if (!at)
        return;
    XXH3_128bits_reset(&x);
    XXH3_128bits_update(&x, head, bytes);
    for (size_t i = 0; i < n; i++) {
        uint64_t size = 0;
        (void)gnn_tensor_bytes(t[i], &size);
        XXH3_128bits_update(&x, t[i]->data, (size_t)size);
    }
    digits_text(&x, text);
    memcpy(at, text, DIGITS);
}
