/* SPDX-License-Identifier: Apache-2.0 */
/* The options of the GPU feature cache, which gnn-gather and gnn-train share (cmd/cache_opts.h):
 * sizes and orders are parsed and checked here, and what the cache was good for is reported. Only
 * lib/gather knows devices, so a size stays a share or a number of bytes until the rows are
 * known. */
#include "cmd/cache_opts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cli.h"
#include "cmd/share.h"
#include "lib/base/io.h"
#include "lib/base/plural.h"
#include "lib/cache/frequency.h"

void cache_size(const char *text, double *share, uint64_t *bytes)
{
    static const char suffix[] = "kMGT";
    char *end;
    double v = strtod(text, &end);
    const char *s = *end ? strchr(suffix, *end == 'K' ? 'k' : *end) : NULL;
    const bool whole = !*end || (s && !end[1]);
    if (end == text || !whole || !isfinite(v) || v < 0 || *text == '+')
        cli_usage("--cache: '%s' is not a share such as 0.2 or a size such as 4G", text);
    *share = !s && v <= 1 ? v : -1;
    /* Without a suffix a number up to 1 is a share: 1 is all rows, not one byte. */
    for (; s && s >= suffix; s--)
        v *= 1024;
    *bytes = v < 0x1p63 ? (uint64_t)v : UINT64_MAX;
}

/* ---- orders ---- */

static struct opt_list orders_of(struct cache_opts *c)
{
    return c->one_order ? (struct opt_list){&c->one_order, 1} : c->order;
}

void cache_order_read(const char *name, struct gnn_store *s, struct gnn_order *o)
{
    struct gnn_err e = {0};
    o->by = gnn_order_parse(name);
    /* gnn_order_parse takes every word that is no order for the name of a file. */
    if (o->by != GNN_ORDER_FILE || !s)
        return;
    struct stat st;
    const int fd = gnn_io_open(name, &st, &e); /* all ranks read it: no pipe */
    if (fd < 0 || gnn_frequency_read(s, fd, name, &o->file, &e))
        cli_fail(&e);
    close(fd);
}

static void refuse_halo(const struct cache_opts *c, const struct opt_list *order)
{
    for (uint32_t i = 0; i < order->n && !c->replicate; i++)
        if (gnn_order_remote_only(gnn_order_parse(order->v[i])))
            cli_usage("--cache-order halo: requires --replicate");
}

void cache_read(struct cache_opts *c, struct gnn_store *s, struct gnn_gather_cache *o)
{
    const struct opt_list order = orders_of(c);
    *o = (struct gnn_gather_cache){.policy = c->policy == 1   ? GNN_GATHER_REPLICATE
                                             : c->policy == 2 ? GNN_GATHER_SHARD
                                                              : GNN_GATHER_AUTO};
    if (order.n > 1)
        cli_usage("--cache-order: several orders require --plan");
    refuse_halo(c, &order);
    /* "auto" is the zero of the struct: as much as the free memory of the device holds. */
    if (c->size && strcmp(c->size, "auto") != 0) {
        o->size = GNN_GATHER_BYTES;
        o->share = -1;
        if (strcmp(c->size, "none") != 0)
            cache_size(c->size, &o->share, &o->bytes);
        if (o->share >= 0)
            o->size = GNN_GATHER_SHARE;
    }
    if (order.n)
        cache_order_read(order.v[0], s, &c->read);
    o->order = c->read;
}

void cache_replicate(const struct opt_doubles *share, struct cache_opts *c,
                     struct gnn_gather_replicate *o)
{
    const struct opt_list order = orders_of(c);
    if (share->n > 1)
        cli_usage("--replicate: several shares require --plan");
    o->share = share->n ? share->v[0] : 0;
    if (order.n > 1)
        cli_usage("--cache-order: several orders require --plan");
    o->by = order.n ? gnn_order_parse(order.v[0]) : GNN_ORDER_ACCESS;
    o->or_halo = !order.n;
    if (o->by == GNN_ORDER_FILE)
        cli_usage("--cache-order: --replicate requires access, degree or halo");
}

struct opt_list cache_plan_orders(const struct cache_opts *c, bool access_known)
{
    static const char *usual[] = {"degree", "access", "halo"}, *counted[] = {"degree", "halo"};
    if (c->order.n > CACHE_ORDERS_MAX)
        cli_usage("--cache-order: more than %d orders", CACHE_ORDERS_MAX);
    refuse_halo(c, &c->order);
    return c->order.n ? c->order
                      : (struct opt_list){access_known ? usual : counted,
                                          1u + access_known + c->replicate};
}

/* ---- what came of it ---- */

static json_t *tier_json(uint64_t rows, uint64_t bytes, uint64_t all)
{
    json_t *j = json_pack("{s:I, s:I}", "rows", (json_int_t)rows, "bytes", (json_int_t)bytes);
    cli_metrics_number(j, "share", share_of(rows, all));
    return j;
}

void cache_note(const struct gnn_gather_stats *s)
{
    const uint32_t a = s->apart_rank[0], b = s->apart_rank[1];
    if (s->apart == GNN_GPU_HIDDEN)
        cli_note(
            "no GPU peers: rank %u does not see the GPU of rank %u on the same host, so each uses only its own cache; "
            "make all GPUs of a host visible to all of its ranks (not --gpus-per-task, --gpu-bind or a CUDA_VISIBLE_DEVICES for each)",
            a, b);
    if (s->apart == GNN_GPU_REFUSED)
        cli_note(
            "no GPU peers: CUDA IPC does not work between ranks %u and %u of one host, so each uses only its own cache; "
            "run them in one container",
            a, b);
    if (s->apart == GNN_GPU_NO_PATH)
        cli_info(
            "no GPU peers: the GPUs of ranks %u and %u of one host have neither NVLink nor peer access over PCIe",
            a, b);
}

void cache_report(const struct gnn_gather_stats *s, bool to_stdout)
{
    static const char *const name[GNN_TIERS_CUDA] = {
        [GNN_TIER_DEVICE] = "local", [GNN_TIER_PEER] = "peer", [GNN_TIER_HOST] = "host"};
    const uint64_t all =
        s->hits.rows[GNN_TIER_DEVICE] + s->hits.rows[GNN_TIER_PEER] + s->hits.rows[GNN_TIER_HOST];
    char held[160], found[3 * 96], share[32];
    int n = 0;
    json_t *tiers = json_object();
    snprintf(
        held, sizeof held,
        "cache: %" PRIu64 " of %" PRIu64 " node%s on each device, %" PRIu64 " sharded, %.1f MB",
        s->replicated, s->nodes, gnn_plural(s->nodes), s->sharded, (double)s->cached_bytes / 1e6);
    for (int k = 0; k < GNN_TIERS_CUDA; k++) {
        *share = 0;
        if (all)
            snprintf(share, sizeof share, "%.2f %%, ", 100 * share_of(s->hits.rows[k], all));
        n += snprintf(found + n, sizeof found - (size_t)n, "%s %s %" PRIu64 " (%s%.1f MB)",
                      k ? "," : "rows:", name[k], s->hits.rows[k], share,
                      (double)s->hits.bytes[k] / 1e6);
        json_object_set_new(tiers, name[k], tier_json(s->hits.rows[k], s->hits.bytes[k], all));
    }
    if (to_stdout) {
        printf("%s\n%s\n", held, found);
    } else {
        cli_info("%s", held);
        cli_info("%s", found);
    }
    cli_metrics(json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:{s:I, s:I}}", "table", "tiers", "devices",
        (json_int_t)s->devices, "cliques", (json_int_t)s->cliques, "nodes", (json_int_t)s->nodes,
        "replicated", (json_int_t)s->replicated, "sharded", (json_int_t)s->sharded, "cached_bytes",
        (json_int_t)s->cached_bytes, "rows", (json_int_t)all, "tiers", tiers, "other", "rows",
        (json_int_t)s->other_rows, "bytes", (json_int_t)s->other_bytes));
}
