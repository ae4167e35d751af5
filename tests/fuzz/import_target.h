/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target for a format of gnn-import: the bytes are a file of that name. Bytes that begin
 * with "== " are members of an archive in plain, each after a line "== NAME", so that mutations
 * reach what is in archives. */
#include <archive.h>
#include <archive_entry.h>

#include "fuzz/fuzz.h"
#include "import_drain.h"

unsigned long fuzz_accepted;

enum { FUZZ_CAPACITY = 1 << 20, FUZZ_MEMBERS = 64 };

static void fuzz_member(struct archive *a, const char *name, const char *data, size_t n)
{
    struct archive_entry *en = archive_entry_new();
    archive_entry_set_pathname(en, name);
    archive_entry_set_size(en, (la_int64_t)n);
    archive_entry_set_filetype(en, AE_IFREG);
    archive_entry_set_perm(en, 0644);
    if (archive_write_header(a, en) == ARCHIVE_OK)
        archive_write_data(a, data, n);
    archive_entry_free(en);
}

/* The members as a tar archive in out; its size. */
static size_t fuzz_pack(const char *p, size_t n, void *out)
{
    const char *end = p + n;
    size_t used = 0;
    struct archive *a = archive_write_new();
    archive_write_set_format_ustar(a);
    archive_write_open_memory(a, out, FUZZ_CAPACITY, &used);
    for (int i = 0; i < FUZZ_MEMBERS && end - p > 3; i++) {
        char name[100] = "";
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        nl = nl ? nl : end;
        for (size_t k = 0; p + 3 + k < nl && k + 1 < sizeof name; k++)
            name[k] = p[3 + k];
        p = nl < end ? nl + 1 : end;
        const char *next = memmem(p, (size_t)(end - p), "\n== ", 4);
        next = next ? next + 1 : end;
        const char *dot = strrchr(name, '.'); /* an array does not end with the line */
        fuzz_member(a, name, p, (size_t)(next - p) - (next < end && dot && !strcmp(dot, ".npy")));
        p = next;
    }
    archive_write_close(a);
    archive_write_free(a);
    return used;
}

static void fuzz_import(const char *format, const char *name, const uint8_t *data, size_t n)
{
    struct gnn_import_opts o = {.format = format, .task = -1};
    struct gnn_err e = {0};
    uint8_t *tar = NULL;
    if (n > 3 && n < 100000 && !memcmp(data, "== ", 3)) {
        uint8_t *buffer = malloc(FUZZ_CAPACITY);
        if (!buffer)
            return;
        n = fuzz_pack((const char *)data, n, buffer);
        tar = realloc(buffer, n + 1); /* so that a sanitizer sees a step beyond */
        data = tar ? tar : buffer;
        tar = (uint8_t *)(uintptr_t)data;
    }
    int rc = drain_import(name, data, n, &o, NULL, NULL, &e);
    if ((rc == 0) != (e.code == 0) || (rc && !*e.msg))
        abort(); /* a failure without a reason, or the reverse */
    fuzz_accepted += !rc;
    free(tar);
}

#define FUZZ_IMPORT(FORMAT, NAME)                                                                  \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)                                      \
    {                                                                                              \
        fuzz_import(FORMAT, NAME, data, n);                                                        \
        return 0;                                                                                  \
    }
