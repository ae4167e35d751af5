/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/mem.h: blocks of every size are aligned and whole, space is kept or made anew as
 * promised. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "tap.h"

/* Sizes about the one from which blocks are on huge pages; a sanitizer sees whether all bytes are
 * there. */
static void blocks(void)
{
    static const uint64_t sizes[] = {
        0, 1, 63, 64, (4 << 20) - 64, 4 << 20, (4 << 20) + 1, (6 << 20) + 4096 + 64, 9999999};
    struct gnn_err e = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uint64_t n = sizes[i];
        unsigned char *p = gnn_alloc(n, 1, "a test", &e), *z = gnn_alloc_zero(n, 1, "a test", &e);
        bool zero = p && z;
        if (zero)
            memset(p, 1, n);
        for (uint64_t k = 0; zero && k < n; k++)
            zero = !z[k];
        const uintptr_t aligned = n < 64 ? 16 : 64;
        ok(zero && (uintptr_t)p % aligned == 0 && (uintptr_t)z % aligned == 0 &&
               (n < 4 << 20 || (uintptr_t)p % (2 << 20) == 0),
           "gnn_alloc gives %llu bytes that are aligned, and zeroed where asked",
           (unsigned long long)n);
        gnn_free(p);
        gnn_free(z);
    }
    ok(!e.code, "gnn_alloc and gnn_free report no error");
}

static void overflows(void)
{
    static const uint64_t n[] = {UINT64_MAX, UINT64_MAX / 8 + 2, (uint64_t)INT64_MAX / 8};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
        struct gnn_err a = {0}, b = {0}, c = {0};
        struct gnn_buf buf = {0};
        void *p = gnn_alloc(n[i], 8, "much", &a);
        const int rc = gnn_buf_reserve(&buf, n[i], 8, "much", &b),
                  fit = gnn_buf_fit(&buf, n[i], 8, "much", &c);
        ok(!p && a.code == GNN_E_NOMEM && rc == GNN_E_NOMEM && fit == GNN_E_NOMEM &&
               strstr(a.msg, "much") && !buf.data,
           "gnn_alloc refuses %llu times 8 bytes: %s", (unsigned long long)n[i], a.msg);
        gnn_free(p);
    }
}

static void buffers(void)
{
    struct gnn_err e = {0};
    struct gnn_buf b = {0};
    bool good = !gnn_buf_reserve(&b, 10, 1, "a test", &e);
    memcpy(b.data, "123456789", 10);
    good = good && !gnn_buf_reserve(&b, 5 << 20, 1, "a test", &e) && !strcmp(b.data, "123456789");
    ok(good, "gnn_buf_reserve keeps the contents of a buffer");
    for (uint64_t n = 64 << 20; good && n <= 256 << 20; n *= 2) {
        good = !gnn_buf_reserve(&b, n, 1, "a test", &e) && !strcmp(b.data, "123456789") &&
               !((uintptr_t)b.data % 64);
        ((char *)b.data)[n - 1] = 'x';
        good = good && (n == 64 << 20 || ((char *)b.data)[n / 2 - 1] == 'x');
    }
    ok(good, "gnn_buf_reserve keeps those of a large one");
    gnn_buf_release(&b);
    good = !gnn_buf_fit(&b, 1 << 20, 8, "a test", &e) && b.cap >= 9 << 20;
    void *was = b.data;
    ok(good && !gnn_buf_fit(&b, 9 << 20, 1, "a test", &e) && b.data == was &&
           !gnn_buf_fit(&b, 0, 1, "a test", &e) && b.data == was,
       "gnn_buf_fit leaves an eighth to spare and does not shrink a buffer");
    gnn_buf_release(&b);
    ok(!gnn_buf_fit(&b, 0, 4, "nothing", &e) && b.data, "gnn_buf_fit gives memory for no elements");
    gnn_buf_release(&b);
}

static void growing(void)
{
    struct gnn_err e = {0};
    uint32_t *v = NULL;
    bool good = true;
    for (uint32_t n = 0; good && n < 1000; n++) {
        good = !gnn_grow(&v, n, sizeof *v, "a test", &e) && !v[n];
        if (good)
            v[n] = n + 1;
    }
    for (uint32_t n = 0; good && n < 1000; n++)
        good = v[n] == n + 1;
    ok(good, "gnn_grow adds one zeroed element to an array and keeps the others");
    gnn_free(v);
}

int main(void)
{
    blocks();
    overflows();
    buffers();
    growing();
    return tap_done();
}
