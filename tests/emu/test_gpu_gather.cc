/* SPDX-License-Identifier: Apache-2.0 */
/* lib/gpu/gather*.c, move.c and pipe.c on fake devices, where the programs do not come: ids that no
 * reader of streams lets through, batches with nothing in them, tensors that lie on a device
 * already. */
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tap.h"
extern "C" {
#include "lib/train/local_source.h"
#include "scratch.h"
}

namespace
{

gnn_store one, parts; /* a typed graph, and the same in three parts */

[[noreturn]] void bail(const char *what)
{
    printf("Bail out! %s\n", what);
    exit(1);
}

void run(const char *me, const char *command)
{
    const char *bin = getenv("GNN_BIN");
    std::string dir = me;
    dir.resize(dir.rfind('/') == std::string::npos ? 0 : dir.rfind('/'));
    const std::string all = (bin ? std::string(bin) : dir + "/../../bin") + "/" + command;
    if (system(all.c_str()))
        bail(command);
}

gnn_gpu *devices(const char *spec)
{
    gnn_err e{};
    gnn_gpu *g = nullptr;
    char why[64];
    if (gnn_gpu_open(&g, spec, why, sizeof why, &e))
        bail(e.msg);
    return g;
}

/* ---- batches ---- */

gnn_sampler_opts sampling(bool original)
{
    static const char *const fanout[] = {"3,2"};
    gnn_sampler_opts o;
    gnn_sampler_opts_init(&o);
    o.fanout = fanout;
    o.nfanout = 1;
    o.sampling.batch_size = 16;
    o.sampling.edge_ids = true;
    o.sampling.original_ids = original;
    return o;
}

gnn_source *sampled(gnn_store &s, bool original, gnn_err *e)
{
    const gnn_sampler_opts o = sampling(original);
    return gnn_sampler_source_new(&s, &o, e);
}

/* What is done to each batch on its way. */
using Touch = void (*)(gnn_batch *b, const gnn_meta *m);
struct Touched {
    gnn_source base;
    gnn_source *up;
    Touch touch;
};

gnn_source *touched(gnn_source *up, Touch touch)
{
    Touched *t = new Touched{};
    t->base.next = [](gnn_source *s, gnn_batch **b, gnn_err *e) {
        Touched *me = reinterpret_cast<Touched *>(s);
        const int rc = gnn_source_next(me->up, b, e);
        if (!rc)
            me->touch(*b, s->meta);
        return rc;
    };
    t->base.free = [](gnn_source *s) {
        gnn_source_free(reinterpret_cast<Touched *>(s)->up);
        delete reinterpret_cast<Touched *>(s);
    };
    t->base.meta = up->meta;
    t->up = up;
    t->touch = touch;
    return &t->base;
}

/* All that a stream's batches consist of, in words and bytes; of host batches. Leaves the status in
 * e. */
std::string drained(gnn_source *s, gnn_err *e)
{
    std::string all;
    gnn_batch *b;
    int rc = s ? 0 : e->code;
    while (!rc && !(rc = gnn_source_next(s, &b, e))) {
        if (b->place)
            bail("a batch that was fetched has a place");
        char text[400];
        for (uint32_t i = 0; i < b->tensors.n; i++) {
            const gnn_tensor *t = gnn_tensors_at(&b->tensors, i);
            uint64_t bytes = 0;
            if (!gnn_tensor_bytes(t, &bytes))
                bail(t->name);
            snprintf(text, sizeof text, "%s %d %u %" PRIu64 " %" PRIu64 "\n", t->name,
                     (int)t->dtype, t->ndim, t->shape[0], t->shape[1]);
            all += text;
            all.append(static_cast<const char *>(t->data), bytes);
        }
        snprintf(text, sizeof text, "\n%" PRIu64 "/%" PRIu64 " %u %u\n", b->epoch, b->step,
                 b->split, b->rank);
        all += text;
        for (uint32_t t = 0; t < b->nntypes; t++) { /* the view leads to the same */
            const gnn_batch_type &x = b->type[t];
            for (uint32_t h = 0; h <= b->nhops; h++)
                all += std::to_string(x.count[h]) + " ";
            for (uint64_t i = 0; i < gnn_batch_nodes(b, t); i++)
                all += std::to_string(x.node[i]) + (x.orig ? "=" + std::to_string(x.orig[i]) : "") +
                       " ";
        }
        for (uint32_t i = 0; i < b->nhops * b->netypes; i++) {
            const gnn_block &k = b->block[i];
            snprintf(text, sizeof text, "\n%u %u %u %d %d", k.first, k.n, k.edges,
                     k.indptr != nullptr, k.id != nullptr);
            all += text;
            for (uint32_t v = 0; k.indptr && v <= k.n; v++)
                all += " " + std::to_string(k.indptr[v]);
            for (uint32_t q = 0; q < k.edges; q++)
                all += " " + std::to_string(k.indices[q]) +
                       (k.id ? ":" + std::to_string(k.id[q]) : "");
        }
        gnn_batch_put(b);
    }
    gnn_source_free(s);
    return all;
}

/* ---- moving ---- */

void nothing(gnn_batch *, const gnn_meta *)
{
}

/* Types without nodes, blocks without edges, an extra tensor without rows. */
void emptied(gnn_batch *b, const gnn_meta *m)
{
    gnn_err e{};
    static const uint64_t none[2] = {0, 7};
    static const uint32_t zero[64] = {0};
    if (b->step % 2 == 0)
        return;
    for (uint32_t t = 1; t < b->nntypes; t++) {
        uint64_t *count = const_cast<uint64_t *>(b->type[t].count);
        memset(count, 0, (b->nhops + 1) * sizeof *count);
        char name[GNN_NAME_MAX + 1];
        gnn_tensor *x = gnn_tensors_find(
            &b->tensors, gnn_tensor_name(name, "nodes/%s", m->schema.ntype[t].name));
        x->shape[0] = 0;
    }
    for (uint32_t i = 0; i < b->nhops * b->netypes; i++)
        if (b->block[i].indptr) {
            gnn_block &k = b->block[i];
            k.edges = 0;
            if (k.n < 64)
                memcpy(const_cast<uint32_t *>(k.indptr), zero, (k.n + 1) * sizeof *zero);
            else
                memset(const_cast<uint32_t *>(k.indptr), 0, (k.n + 1) * sizeof *zero);
            for (uint32_t j = 0; j < b->tensors.n; j++) {
                gnn_tensor *t = gnn_tensors_at(&b->tensors, j);
                if (t->data == k.indices || t->data == k.id)
                    t->shape[0] = 0;
            }
        }
    if (gnn_tensors_add(&b->tensors, "extra", GNN_F32, 2, none, nullptr, &e))
        bail(e.msg);
}

bool second(void *, unsigned device)
{
    return device == 1;
}

void test_moving()
{
    for (const char *spec : {"cuda", "cuda:2", "cuda:0,1", "cuda:3,1,0,2"})
        for (Touch touch : {nothing, emptied}) {
            gnn_gpu *g = devices(spec);
            gnn_err e{};
            const std::string want = drained(touched(sampled(one, false, &e), touch), &e);
            e = {};
            gnn_source *s = g->ops->upload(g, touched(sampled(one, false, &e), touch), &e);
            s = s ? g->ops->upload(g, s, &e) : s; /* the second finds them there */
            s = s ? g->ops->fetch(g, s, nullptr, nullptr, &e) : s;
            s = s ? g->ops->fetch(g, s, nullptr, nullptr, &e) : s;
            const std::string got = drained(s, &e);
            ok(!want.empty() && got == want && !e.code,
               "batches come back from %s as they went there%s", spec,
               touch == emptied ? " with empty tensors" : "");
            gnn_gpu_close(g);
        }
    gnn_gpu *g = devices("cuda:0,1");
    gnn_err e{};
    gnn_source *s = g->ops->upload(g, sampled(one, false, &e), &e);
    s = s ? g->ops->fetch(g, s, second, nullptr, &e) : s;
    unsigned stayed = 0, came = 0, wrong = 0;
    gnn_batch *b;
    int rc = s ? 0 : e.code;
    for (unsigned n = 0; !rc && !(rc = gnn_source_next(s, &b, &e)); n++) {
        stayed += b->place != nullptr;
        came += !b->place;
        wrong += (b->place != nullptr) != (n % 2 == 1) || (b->place && b->place->device != 1);
        gnn_batch_put(b);
    }
    ok(rc == GNN_END && stayed && came && !wrong,
       "tensors that shall stay on their device do: %u of %u batches", stayed, stayed + came);
    gnn_source_free(s);
    /* Left while batches are under way. */
    e = {};
    s = g->ops->upload(g, sampled(one, false, &e), &e);
    s = s ? g->ops->fetch(g, s, nullptr, nullptr, &e) : s;
    rc = s ? gnn_source_next(s, &b, &e) : e.code;
    if (!rc)
        gnn_batch_put(b);
    gnn_source_free(s);
    ok(!rc, "a source of batches on devices can be freed in the middle");
    gnn_gpu_close(g);
}

/* ---- gathering ---- */

template <uint32_t TYPE, unsigned STEP, bool LAST> void bad_node(gnn_batch *b, const gnn_meta *m)
{
    const uint64_t n = gnn_batch_nodes(b, TYPE);
    if (b->step == STEP && n)
        const_cast<uint32_t *>(b->type[TYPE].node)[LAST ? n - 1 : 0] =
            (uint32_t)m->schema.ntype[TYPE].count + (LAST ? 0 : 1u << 31);
}

void bad_edge(gnn_batch *b, const gnn_meta *)
{
    for (uint32_t i = b->nhops * b->netypes; b->step == 1 && i-- > 0;)
        if (b->block[i].edges) {
            const_cast<uint64_t *>(b->block[i].id)[b->block[i].edges - 1] ^= 1u << 30;
            return;
        }
}

void bad_edges_and_node(gnn_batch *b, const gnn_meta *m)
{
    bad_edge(b, m);
    bad_node<0, 1, true>(b, m);
}

gnn_source *gathered(gnn_source *up, gnn_store &s, const char *fields, gnn_gpu *g, gnn_err *e)
{
    gnn_gather_opts o{};
    o.fields = fields;
    o.gpu = g;
    o.cache.size = gnn_gather_cache::GNN_GATHER_SHARE;
    o.cache.share = 0.4;
    if (g && up)
        up = g->ops->upload(g, up, e);
    up = up ? gnn_gather_source_new(up, &s, &o, e) : nullptr;
    return g && up ? g->ops->fetch(g, up, nullptr, nullptr, e) : up;
}

void compare(gnn_store &s, bool original, Touch touch, const char *fields, const char *spec,
             const char *words)
{
    gnn_err a{}, b{};
    const std::string want =
        drained(gathered(touched(sampled(s, original, &a), touch), s, fields, nullptr, &a), &a);
    gnn_gpu *g = devices(spec);
    const std::string got =
        drained(gathered(touched(sampled(s, original, &b), touch), s, fields, g, &b), &b);
    gnn_gpu_close(g);
    const bool same = a.code == b.code && !strcmp(a.msg, b.msg) && want == got;
    ok(same && (words ? strstr(a.msg, words) != nullptr : !a.code),
       "gathering on %s of %s agrees with the CPU: %s", spec, fields,
       words ? b.msg : "nothing is wrong");
    if (!same)
        printf("# CPU: %s\n# device: %s\n# %zu bytes, %zu\n", a.msg, b.msg, want.size(),
               got.size());
}

void test_gathering()
{
    static const char x[] = "/x': node id out of range", y[] = "/y': node id out of range",
                      degree[] = "': node id out of range", any[] = ": node id out of range",
                      edge[] = "not an edge of its node";
    for (const char *spec : {"cuda", "cuda:0,1,2"}) {
        compare(one, false, nothing, "x,y,weight,degree", spec, nullptr);
        compare(parts, true, nothing, "x,y,weight,degree", spec, nullptr);
        compare(one, false, bad_node<0, 0, false>, "x,y", spec, x);
        compare(parts, false, bad_node<0, 1, true>, "x,y", spec, x);
        compare(parts, false, bad_node<0, 1, false>, "y,x", spec, y);
        compare(parts, false, bad_node<0, 1, true>, "y,x", spec, x);
        compare(one, false, bad_node<0, 1, true>, "y", spec, nullptr); /* not asked for */
        compare(one, false, bad_node<0, 1, true>, "degree", spec, degree);
        compare(parts, false, bad_node<1, 1, true>, "y", spec, "/id': node id out of range");
        compare(parts, true, bad_node<0, 1, true>, "y,x", spec, any);
        compare(parts, true, bad_node<0, 1, false>, "y", spec, any);
        compare(parts, true, bad_node<0, 1, true>, "y", spec, nullptr);
        compare(one, false, bad_edge, "weight", spec, edge);
        compare(parts, false, bad_edge, "weight,x", spec, edge);
        compare(parts, true, bad_edges_and_node, "x,weight", spec, any);
        compare(parts, false, bad_edges_and_node, "weight,x", spec, edge);
        compare(parts, false, emptied, "x,y,degree,weight", spec, nullptr);
    }
    gnn_gpu *g = devices("cuda");
    gnn_err e{};
    gnn_gather_opts o{};
    o.gpu = g;
    gnn_batch *b;
    gnn_source *s = gnn_gather_source_new(sampled(one, false, &e), &one, &o, &e);
    const int rc = s ? gnn_source_next(s, &b, &e) : e.code;
    ok(rc == GNN_E_USAGE, "gathering on a device refuses a batch that lies on no device: %s",
       e.msg);
    gnn_source_free(s);
    gnn_gpu_close(g);
}

/* Sampler and gatherer on the same devices, nothing through the host in between; several rounds, so
 * that batches are used again. */
std::string fed(gnn_store &s, bool original, gnn_gpu *g, gnn_err *e)
{
    gnn_sampler_opts so = sampling(original);
    gnn_gather_opts go{};
    so.epoch_to = 4;
    so.gpu = go.gpu = g;
    go.fields = "x,y,weight,degree";
    go.cache.size = gnn_gather_cache::GNN_GATHER_SHARE;
    go.cache.share = 0.4;
    go.cache.order.by = GNN_ORDER_ACCESS;
    gnn_source *src = gnn_feed_new(&s, &so, &go, e);
    return drained(g && src ? g->ops->fetch(g, src, nullptr, nullptr, e) : src, e);
}

void test_feed()
{
    for (gnn_store *s : {&one, &parts})
        for (bool original : {false, true}) {
            gnn_err a{}, b{};
            gnn_gpu *g = devices("cuda:0,1,3");
            const std::string want = fed(*s, original, nullptr, &a), got = fed(*s, original, g, &b);
            ok(!a.code && !b.code && want == got && want.size() > 10000,
               "sampling and gathering on three devices from %s%s agrees with the CPU: %s",
               s == &one ? "one part" : "three parts", original ? " with original ids" : "", b.msg);
            gnn_gpu_close(g);
        }
}

} // namespace

int main(int, char **argv)
{
    const std::string me = argv[0][0] == '/'
                               ? argv[0]
                               : std::string(getenv("PWD") ? getenv("PWD") : ".") + "/" + argv[0];
    gnn_err e{};
    scratch_enter();
    setenv("GNN_FAKE_DEVICES", "4", 1);
    setenv("GNN_FAKE_CLIQUE", "2", 1);
    run(me.c_str(), "gnn-import -q -o one sbm:nodes=50,degree=4,types=3,weights=1,features=5");
    run(me.c_str(), "gnn-partition -q -k 3 -o parts one");
    if (gnn_store_open(&one, "one", true, &e) || gnn_store_open(&parts, "parts", true, &e))
        bail(e.msg);
    test_moving();
    test_gathering();
    test_feed();
    gnn_store_close(&one);
    gnn_store_close(&parts);
    return scratch_done();
}
