/* SPDX-License-Identifier: Apache-2.0 */
/* Pickles, and files of torch.save in both containers: any bytes give values or one line of why
 * not, in memory that their length bounds; and whatever is then asked of the values stays inside.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/torch_file.h"
#include "fuzz/fuzz.h"

unsigned long fuzz_accepted;

static void check_line(const char *text)
{
    if (!*text || strchr(text, '\n'))
        abort();
}

/* Reads each element, one row after the other. */
static void walk_array(const struct gnn_torch_file *f, const struct gnn_pickle_value *v, size_t n)
{
    struct gnn_strided s;
    char why[256] = "";
    if (gnn_torch_array(f, v, &s, why, sizeof why)) {
        check_line(why);
        return;
    }
    const uint64_t row = gnn_strided_row_bytes(&s), rows = s.count ? gnn_strided_rows(&s) : 0;
    if (s.count * gnn_dtype_bytes(s.dtype) > n) /* of memory that the file's length bounds */
        abort();
    unsigned char *out = malloc(row + 1);
    for (uint64_t i = 0; out && i < rows; i++)
        gnn_strided_copy(&s, i, 1, out);
    free(out);
}

/* Looks at a value and its parts, but not at theirs. */
static void walk_value(const struct gnn_torch_file *f, const struct gnn_pickle_value *v, size_t n)
{
    const struct gnn_pickle *p = &f->pickle;
    char text[256];
    struct gnn_word w;
    check_line(gnn_pickle_describe(p, v, text, sizeof text));
    if (gnn_pickle_text(p, v, &w) || gnn_pickle_bytes(p, v, &w))
        (void)gnn_text_shown(text, sizeof text, w.p, w.n);
    for (uint64_t i = 0; i < gnn_pickle_count(p, v) && i < 64; i++) {
        (void)gnn_pickle_kind(gnn_pickle_key(p, v, i));
        (void)gnn_pickle_name(gnn_pickle_item(p, v, i));
    }
    (void)gnn_pickle_get(p, v, "x");
    (void)gnn_pickle_get(p, gnn_pickle_state(p, v), "x");
    (void)gnn_pickle_id(p, v);
    if (gnn_torch_is_array(v))
        walk_array(f, v, n);
}

static void walk_all(const struct gnn_torch_file *f, size_t n)
{
    char text[64];
    const struct gnn_pickle *p = &f->pickle;
    const struct gnn_pickle_value *v = p->root;
    for (int depth = 0; depth < 50 && v; depth++) {
        walk_value(f, v, n);
        check_line(gnn_pickle_path(p, v, text, sizeof text));
        for (uint64_t i = 0; i < gnn_pickle_count(p, v) && i < 64; i++)
            walk_value(f, gnn_pickle_item(p, v, i), n);
        v = gnn_pickle_item(p, v, 0) ? gnn_pickle_item(p, v, 0) : gnn_pickle_state(p, v);
    }
    if (p->memory > p->used * GNN_PICKLE_MEMORY + 16384)
        abort();
    fuzz_accepted++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct gnn_torch_file f = {0};
    char why[256] = "";
    const int rc = gnn_torch_is_zip(data, n) || gnn_torch_is_legacy(data, n)
                       ? gnn_torch_open(&f, data, n, why, sizeof why)
                       : gnn_pickle_read(&f.pickle, data, n, 0, why, sizeof why);
    if (rc)
        check_line(why);
    else
        walk_all(&f, n);
    gnn_torch_release(&f);
    return 0;
}
