/* SPDX-License-Identifier: Apache-2.0 */
/* A store of two parts with halos and their in-edges, of two node types and three edge types, with
 * changes (edits.h); checksums are off. It is reported and proved, or sampled and gathered from, as
 * a whole: a byte after the last change says which, and without one, all is done. Changes: what 0
 * is store.json, else a part; op 0 an element of a tensor, 1 a byte, 2 the length, 3 a byte of
 * header or table, 4 the other part in its place, 5 a byte of the metadata of all, 6 a length or
 * number in the table of tensors */
#include "formats/gnb.h"
#include "formats/le.h"
#include "fuzz/edits.h"
#include "fuzz/fuzz.h"
#include "fuzz/walk.h"
#include "lib/gather/gatherer.h"
#include "lib/sample/sampler.h"
#include "store_divide.h"
#include "store_maker.h"

enum { PARTS = 2, TABLES = 16384 };

unsigned long fuzz_accepted;

struct place {
    uint64_t at, n;
    size_t bytes;
};

static struct edited file[1 + PARTS];
static struct place *tensor[PARTS];
static uint32_t ntensors[PARTS];
static uint64_t table[PARTS]; /* of tensors: where it begins */
static uint64_t meta_at[1 + PARTS];
static const char *const name[] = {"W/store.json", "W/part-00000.gnb", "W/part-00001.gnb"};

/* Where the tensors of part p lie. */
static void find_tensors(struct gnn_store *s, uint32_t p)
{
    uint64_t first = UINT64_MAX;
    const struct gnn_tensor *t;
    ntensors[p] = gnn_store_ntensors(s, p);
    tensor[p] = calloc(ntensors[p], sizeof **tensor);
    for (uint32_t i = 0; i < ntensors[p]; i++) /* the first is where the frame's payload begins */
        first = (uintptr_t)gnn_store_peek(s, p, i)->data < first
                    ? (uintptr_t)gnn_store_peek(s, p, i)->data
                    : first;
    struct gnb_frame f;
    (void)gnn_gnb_frame_decode(&f, file[1 + p].good);
    table[p] = GNB_HEADER_BYTES + f.table_bytes + f.payload_bytes;
    meta_at[1 + p] = GNB_HEADER_BYTES + f.table_bytes;
    if (gnn_gnb_frame_decode(&f, file[1 + p].good + table[p]))
        abort();
    const uint64_t base = table[p] + GNB_HEADER_BYTES + f.table_bytes;
    for (uint32_t i = 0; i < ntensors[p]; i++) {
        t = gnn_store_peek(s, p, i);
        const size_t bytes = gnn_dtype_bytes(t->dtype);
        uint64_t all = 0;
        (void)gnn_tensor_bytes(t, &all);
        tensor[p][i] = (struct place){base + ((uintptr_t)t->data - first), all / bytes, bytes};
    }
}

static void make(void)
{
    struct gnn_err e = {0};
    struct gnn_store s;
    char from[256], to[256];
    fuzz_dir_new();
    maker_timed = true;
    if (store_make(fuzz_path(from, "S"), 12, 24, true, 7, &e) ||
        store_divide(from, fuzz_path(to, "W"), PARTS, true, &e) ||
        gnn_store_open(&s, to, false, &e))
        abort();
    for (int i = 1; i < 1 + PARTS; i++)
        fuzz_read(name[i], &file[i]);
    for (uint32_t p = 0; p < PARTS; p++)
        find_tensors(&s, p);
    gnn_store_close(&s);
    edited_init(&file[0], file[1].good + meta_at[1],
                strlen((const char *)file[1].good + meta_at[1]));
    file[0].dirty = true; /* now it has the bytes of the parts' header */
}

static void change(const struct edit *x)
{
    struct edited *f = &file[x->what % (1 + PARTS)];
    const uint32_t p = x->what % (1 + PARTS) ? x->what % (1 + PARTS) - 1 : 0;
    const struct place *t = &tensor[p][x->which % ntensors[p]];
    switch (x->op % 7) {
    case 0:
        if (f == &file[0] || !t->n)
            edited_flip(f, x->at, x->value);
        else
            edited_put(f, t->at + x->at % t->n * t->bytes, x->value, t->bytes);
        break;
    case 1:
        edited_flip(f, x->at, x->value);
        break;
    case 2:
        edited_cut(f, x->at);
        break;
    case 3:
        edited_flip(f, x->at % TABLES, x->value);
        break;
    case 4:
        if (f != &file[0] && file[1 + !p].ngood <= f->ngood) {
            memcpy(f->now, file[1 + !p].good, f->n = file[1 + !p].ngood);
            f->dirty = true;
        }
        break;
    case 5:
        for (int i = 0; i < 1 + PARTS; i++)
            edited_flip(&file[i], meta_at[i] + x->at % file[0].ngood, x->value);
        break;
    default:
        if (f != &file[0])
            edited_put(f, table[p] + x->at % 8192 / 8 * 8, x->value, 8);
    }
}

static void sample(struct gnn_store *s, const struct gnn_sampler_opts *o)
{
    const char *fields = o->sampling.walks.length ? "x,y,key" : "x,y,key,weight,degree";
    struct gnn_err e = {0};
    struct gnn_batch *b;
    struct gnn_source *q = gnn_sampler_source_new(s, o, &e);
    q = q ? gnn_gather_source_new(q, s, &(struct gnn_gather_opts){.fields = fields}, &e) : NULL;
    while (q && !gnn_source_next(q, &b, &e)) {
        (void)walk_batch(b, q->meta);
        gnn_batch_put(b);
    }
    gnn_source_free(q);
}

enum { PLAIN, TIMED, INDUCED, WALKS, LINKS, SETS, LOOK, USES };

/* Whatever the times; by them and by weights; all edges among what is found; walks; and links, with
 * times and negatives that are no edges. */
static struct gnn_sampler_opts what_is_drawn(int use)
{
    static const char *const fanout = "2,-1", *const path = "a/to/a";
    struct gnn_sampler_opts o;
    gnn_sampler_opts_init(&o);
    o.sampling.batch_size = 4;
    o.step_to = 2;
    if (use == WALKS) {
        o.sampling.walks = (struct gnn_walks){.length = 3, .per_seed = 2, .p = 0.5, .q = 2};
        o.path = &path;
        o.npath = 1;
        return o;
    }
    o.fanout = &fanout;
    o.nfanout = 1;
    o.sampling.edge_ids = true;
    if (use == TIMED) {
        o.sampling.time_rule = GNN_PICK_BEFORE;
        o.sampling.window = "9";
        o.sampling.weight = "weight";
        o.sampling.disjoint = true;
    } else if (use == INDUCED) {
        o.sampling.time_rule = GNN_PICK_UNTIL;
        o.sampling.induced = true;
    } else if (use == LINKS) {
        o.split = NULL; /* all edges */
        o.sampling.time_rule = GNN_PICK_BEFORE;
        o.sampling.links = (struct gnn_links){
            .type = "a/to/a", .negatives = "triplet:2", .end = GNN_NEGATIVE_BOTH, .strict = true};
    }
    return o;
}

static void read_sets(struct gnn_store *s)
{
    for (uint32_t i = 0; i < s->meta.schema.nsets; i++) {
        uint32_t *ids;
        struct gnn_err why = {0};
        if (s->meta.schema.set[i].links ? !gnn_store_links(s, i, &ids, NULL, &why)
                                        : !gnn_store_split(s, i, &ids, &why))
            gnn_free(ids);
    }
}

static void use_store(struct gnn_store *s, int use)
{
    const struct gnn_sampler_opts o = what_is_drawn(use);
    if (use == SETS)
        read_sets(s);
    else if (use == LOOK)
        walk_store(s);
    else
        sample(s, &o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct gnn_err e = {0};
    struct gnn_store s;
    struct edit x;
    char path[256];
    const bool one = n % sizeof x;
    const int first = one ? data[n - 1] % USES : 0;
    if (!fuzz_dir[0])
        make();
    while (edit_next(&x, &data, &n))
        change(&x);
    for (int i = 0; i < 1 + PARTS; i++)
        if (file[i].dirty)
            fuzz_write(name[i], file[i].now, file[i].n);
    if (!gnn_store_open(&s, fuzz_path(path, "W"), false, &e)) {
        for (int use = first; use < (one ? first + 1 : USES); use++)
            use_store(&s, use);
        fuzz_accepted++;
        gnn_store_close(&s);
    }
    for (int i = 0; i < 1 + PARTS; i++)
        if (file[i].dirty) {
            edited_restore(&file[i]);
            file[i].dirty = true; /* on disk */
        }
    return 0;
}
