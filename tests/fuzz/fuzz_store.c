/* SPDX-License-Identifier: Apache-2.0 */
/* The store reader, with checksums off: the bytes are part 0 of a store; its header becomes
 * store.json too. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "formats/gnb.h"
#include "fuzz/edits.h"
#include "fuzz/fuzz.h"
#include "formats/le.h"
#include "fuzz/walk.h"
#include "lib/store/names.h"

unsigned long fuzz_accepted;

/* Touches the names of all nodes. */
static uint64_t use_names(struct gnn_store *s)
{
    uint64_t sum = 0;
    char buf[GNN_NODE_NAME_CAPACITY];
    for (uint32_t t = 0; t < s->meta.schema.nntypes; t++) {
        struct gnn_err e = {0};
        struct gnn_names names;
        if (gnn_names_init(&names, s, t, &e))
            continue;
        for (uint64_t v = 0; v < s->meta.schema.ntype[t].count; v++) {
            size_t len;
            const char *p = gnn_names_of(&names, v, buf, &len);
            sum += len ? (uint64_t)(uint8_t)p[0] + (uint8_t)p[len - 1] : 0;
        }
        gnn_names_release(&names);
    }
    return sum;
}

/* Touches every tensor's first and last byte, and reads the splits and names. */
static uint64_t use(struct gnn_store *s)
{
    uint64_t sum = 0;
    struct gnn_err e = {0};
    for (uint32_t i = 0; i < gnn_store_ntensors(s, 0); i++) {
        const struct gnn_tensor *t = gnn_store_at(s, 0, i);
        uint64_t bytes;
        if (gnn_tensor_bytes(t, &bytes) && bytes)
            sum += ((const uint8_t *)t->data)[0] + ((const uint8_t *)t->data)[bytes - 1];
    }
    for (uint32_t i = 0; i < s->meta.schema.nsets; i++) {
        uint32_t *ids;
        if (s->meta.schema.set[i].links ? !gnn_store_links(s, i, &ids, NULL, &e)
                                        : !gnn_store_split(s, i, &ids, &e))
            gnn_free(ids);
        e = (struct gnn_err){0};
    }
    return sum + use_names(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!fuzz_dir[0])
        fuzz_dir_new();
    struct gnb_frame f;
    if (n < GNB_HEADER_BYTES || gnn_gnb_frame_decode(&f, data))
        return 0;
    uint64_t at = GNB_HEADER_BYTES + f.table_bytes;
    if (at >= n)
        return 0;
    const uint8_t *json = data + at, *end = memchr(json, 0, n - at);
    fuzz_write("store.json", json, end ? (size_t)(end - json) : n - at);
    fuzz_write("part-00000.gnb", data, n);
    struct gnn_err e = {0};
    struct gnn_store s;
    if (!gnn_store_open(&s, fuzz_dir, false, &e)) {
        volatile uint64_t sum = use(&s);
        (void)sum;
        walk_store(&s);
        fuzz_accepted++;
        gnn_store_close(&s);
    }
    return 0;
}
