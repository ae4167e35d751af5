/* SPDX-License-Identifier: Apache-2.0 */
/* What gives way to what on a device - priorities of streams, blocks for gathering - and that
 * GNN_GPU_OFF switches it off. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "emu/dev_fake.h"
#include "emu/emu.h"
#include "tap.h"
extern "C" {
#include "lib/gpu/dev.h"
#include "lib/ops/ops.h"
#include "lib/train/local_source.h"
#include "scratch.h"
}

namespace
{

gnn_store store;

[[noreturn]] void bail(const char *what)
{
    printf("Bail out! %s\n", what);
    exit(1);
}

gnn_gpu *devices(const char *off, const char *spec, gnn_err *e)
{
    gnn_gpu *g = nullptr;
    char why[64];
    setenv("GNN_GPU_OFF", off, 1);
    (void)!gnn_gpu_open(&g, spec, why, sizeof why, e);
    unsetenv("GNN_GPU_OFF");
    return g;
}

std::set<unsigned> grids; /* of kernels that gather */

void note_grid(const char *kernel, dim3 grid)
{
    if (strstr(kernel, "gather_rows"))
        grids.insert(grid.x);
}

/* Streams of device d by priority, the lowest first: "1 0 2". */
std::string priorities(unsigned d)
{
    unsigned n[GNN_DEV_HIGHEST + 1] = {0};
    for (const fake::Stream *s : fake::streams)
        if (s->device == d)
            n[s->priority]++;
    return std::to_string(n[0]) + " " + std::to_string(n[1]) + " " + std::to_string(n[2]);
}

/* Batches of a hundred rows of 4 KB and more, each of which is a tile: gathering takes all blocks
 * that it may. */
gnn_source *batches(gnn_gpu *g, bool train, gnn_err *e)
{
    static const char *const fanout[] = {"2"};
    gnn_sampler_opts s;
    gnn_gather_opts o{};
    gnn_sampler_opts_init(&s);
    s.fanout = fanout;
    s.nfanout = 1;
    s.sampling.batch_size = 100;
    s.gpu = o.gpu = g;
    o.fields = "x";
    if (train)
        return gnn_feed_new(&store, &s, &o, e);
    gnn_source *up = gnn_sampler_source_new(&store, &s, e);
    return up ? gnn_gather_source_new(up, &store, &o, e) : nullptr;
}

/* On two devices, of which the first trains if any does. */
void compare(const char *off, bool train, const char *first, const char *second, unsigned blocks,
             unsigned others)
{
    gnn_err e{};
    gnn_batch *b;
    gnn_gpu *g = devices(off, "cuda:0,1", &e);
    gnn_source *s = g ? batches(g, train, &e) : nullptr;
    const gnn_ops *ops = s && train ? gnn_ops_new(g, GNN_PRECISION_F32, &e) : nullptr;
    if (!s || (train && !ops))
        bail(e.msg);
    const std::string got = priorities(0), other = priorities(1);
    grids.clear();
    emu::watch = note_grid;
    for (int i = 0; i < 2; i++) { /* a batch of each device */
        if (gnn_source_next(s, &b, &e))
            bail(e.msg);
        gnn_batch_put(b);
    }
    emu::watch = nullptr;
    ok(got == first && other == second,
       "%s with GNN_GPU_OFF='%s' has the low, high and highest streams that it should: %s; %s",
       train ? "training" : "gathering", off, got.c_str(), other.c_str());
    const std::set<unsigned> want{blocks, others};
    ok(grids == want,
       "%s with GNN_GPU_OFF='%s' gathers with %u and %u blocks on devices of 4 and 7 "
       "multiprocessors: %u to %u",
       train ? "training" : "gathering", off, blocks, others, *grids.begin(), *grids.rbegin());
    if (ops)
        ops->free(ops);
    gnn_source_free(s);
    gnn_gpu_close(g);
}

void refuse(const char *off, const char *word)
{
    gnn_err e{};
    const std::string want =
        "GNN_GPU_OFF: '" + std::string(word) + "' is none of priority, gather2";
    gnn_gpu *g = devices(off, "auto", &e);
    ok(!g && e.code == GNN_E_USAGE && e.msg == want, "GNN_GPU_OFF='%s' is refused: %s", off, e.msg);
    gnn_gpu_close(g);
}

} // namespace

int main(int, char **argv)
{
    const char *bin = getenv("GNN_BIN");
    const std::string me = argv[0][0] == '/'
                               ? argv[0]
                               : std::string(getenv("PWD") ? getenv("PWD") : ".") + "/" + argv[0],
                      dir = bin ? bin : me.substr(0, me.rfind('/')) + "/../../bin";
    gnn_err e{};
    scratch_enter();
    setenv("GNN_FAKE_DEVICES", "2", 1);
    if (system((dir + "/gnn-import -q -o store sbm:nodes=800,degree=4,features=1024").c_str()) ||
        gnn_store_open(&store, "store", true, &e))
        bail(e.msg);
    compare("", false, "1 0 2", "1 0 2", 20, 35);
    compare("", true, "1 1 2", "1 0 2", 8, 35);
    compare("gather2", true, "1 1 2", "1 0 2", 20, 35);
    compare("priority", true, "4 0 0", "3 0 0", 8, 35);
    compare("gather2,priority", true, "4 0 0", "3 0 0", 20, 35);
    refuse("gather", "gather");
    refuse("priority,gather22", "gather22");
    refuse("priority,,gather2", "");
    refuse("priority,", "");
    gnn_store_close(&store);
    return scratch_done();
}
