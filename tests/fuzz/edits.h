/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs that are lists of changes to something that was good, made when the target starts: so
 * nearly every input gets far. Short ones are seeds for good: they say nothing of the format. */
#ifndef GNN_TESTS_FUZZ_EDITS_H
#define GNN_TESTS_FUZZ_EDITS_H

#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 12 bytes of the input, little-endian. What they mean is the target's. */
struct edit {
    uint8_t what, op;
    uint16_t which;
    uint32_t at, value;
};

/* The next; false after the last. */
static inline bool edit_next(struct edit *x, const uint8_t **data, size_t *n)
{
    if (*n < sizeof *x)
        return false;
    memcpy(x, *data, sizeof *x);
    *data += sizeof *x;
    *n -= sizeof *x;
    return true;
}

/* Bytes that are changed, and what they were. */
struct edited {
    uint8_t *good, *now;
    uint64_t ngood, n;
    bool dirty;
};

static inline void edited_restore(struct edited *f)
{
    memcpy(f->now, f->good, f->ngood);
    f->n = f->ngood;
    f->dirty = false;
}

static inline void edited_init(struct edited *f, const void *data, uint64_t n)
{
    f->good = malloc(n ? n : 1);
    f->now = malloc(n ? n : 1);
    if (!f->good || !f->now)
        abort();
    if (n)
        memcpy(f->good, data, n);
    f->ngood = n;
    edited_restore(f);
}

/* A little-endian number of so many bytes at a place; further bytes are those of its sign. */
static inline void edited_put(struct edited *f, uint64_t at, uint32_t value, size_t bytes)
{
    const uint64_t wide = (uint64_t)(int64_t)(int32_t)value;
    for (size_t i = 0; i < bytes && at + i < f->n; i++)
        f->now[at + i] = (uint8_t)(wide >> 8 * i);
    f->dirty = true;
}

static inline void edited_flip(struct edited *f, uint64_t at, uint32_t value)
{
    if (f->n)
        f->now[at % f->n] ^= (uint8_t)(value ? value : 1);
    f->dirty = true;
}

static inline void edited_cut(struct edited *f, uint64_t at)
{
    f->n = f->n ? at % f->n : 0;
    f->dirty = true;
}

/* ---- a directory that goes when the process does ---- */

static char fuzz_dir[192];

static inline int fuzz_unlink(const char *path, const struct stat *st, int what, struct FTW *where)
{
    (void)st;
    (void)what;
    (void)where;
    return remove(path);
}

static inline void fuzz_cleanup(void)
{
    (void)nftw(fuzz_dir, fuzz_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void fuzz_dir_new(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(fuzz_dir, sizeof fuzz_dir, "%s/gnn-fuzz.XXXXXX", tmp && *tmp ? tmp : "/dev/shm");
    if (!mkdtemp(fuzz_dir))
        abort();
    atexit(fuzz_cleanup);
}

static inline const char *fuzz_path(char path[256], const char *name)
{
    snprintf(path, 256, "%s/%s", fuzz_dir, name);
    return path;
}

static inline void fuzz_write(const char *name, const void *data, uint64_t n)
{
    char path[256];
    FILE *f = fopen(fuzz_path(path, name), "wb");
    if (!f || (n && fwrite(data, n, 1, f) != 1) || fclose(f))
        abort();
}

static inline void fuzz_read(const char *name, struct edited *to)
{
    char path[256];
    FILE *f = fopen(fuzz_path(path, name), "rb");
    if (!f || fseek(f, 0, SEEK_END))
        abort();
    const long n = ftell(f);
    void *data = malloc((size_t)n + 1);
    rewind(f);
    if (!data || fread(data, (size_t)n, 1, f) != 1 || fclose(f))
        abort();
    edited_init(to, data, (uint64_t)n);
    free(data);
}

#endif
