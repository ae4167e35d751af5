/* Streams that are well formed but mean harm or break a rule that no flipped bit would show. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "scratch.h"
#include "stream_maker.h"
#include "tap.h"

#define HEAD "{\"content\":\"batches\",\"identity\":\"0123456789abcdef\",\"schema\":{\"node_types\":[{\"name\":\"node\"," \
             "\"count\":3,\"fields\":[]}],\"edge_types\":[],\"splits\":[],\"task\":\"none\",\"classes\":0,\"parts\":1}," \
             "\"sampling\":{\"seed\":\"0000000000000000\",\"fanout\":[],\"batch_size\":2,\"frontier\":\"all\"," \
             "\"replace\":false,\"shuffle\":false,\"drop_last\":false,\"edge_ids\":false,\"original_ids\":false," \
             "\"seed_type\":\"node\",\"splits\":[{\"name\":\"train\",\"steps\":1,\"seeds\":1}]},\"provenance\":[]}"

static int create(void)
{
    return open("s", O_RDWR | O_CREAT | O_TRUNC, 0666);
}

/* Reads the header, and a frame if there is one. */
static int read_all(struct gnn_err *e)
{
    struct gnn_reader r;
    struct gnn_tensors t = {0};
    *e = (struct gnn_err){0};
    int rc = gnn_reader_begin(&r, open("s", O_RDONLY), "s", e);
    if (!rc)
        rc = gnn_reader_next(&r, &t, e);
    gnn_tensors_release(&t);
    gnn_reader_release(&r);
    return rc;
}

/* The header with its first `from` replaced; refused for the reason. */
static void header(const char *from, const char *to, const char *why)
{
    struct gnn_err e;
    char text[2048];
    const char *at = strstr(HEAD, from);
    if (!at)
        exit(99);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - HEAD), HEAD, to, at + strlen(from));
    int fd = create();
    stream_make_header(fd, text);
    close(fd);
    ok(read_all(&e) == GNN_E_INPUT && strstr(e.msg, why), "%s for %s: %s", to, from, e.msg);
}

static void packed(const char *what, const void *data, uint64_t stored, uint64_t raw, const char *why)
{
    struct gnn_err e;
    int fd = create(), rc;
    stream_make_header(fd, HEAD);
    stream_make_frame(fd, GNB_BATCH, 1, "x", data, stored, GNB_ZSTD, raw);
    close(fd);
    rc = read_all(&e);
    ok(why ? rc == GNN_E_INPUT && strstr(e.msg, why) : !rc, "%s: %s", what, e.msg);
}

static void test_packed(void)
{
    char raw[1000] = "", p[1000];
    size_t n = ZSTD_compress(p, sizeof p, raw, sizeof raw, 1);
    packed("one frame", p, n, sizeof raw, NULL);
    packed("another size", p, n, sizeof raw + 1, "unpacks to another size");
    packed("terabytes", p, n, (uint64_t)1 << 42, "unpacks to another size");
    memcpy(p + n, p, n);
    packed("two frames", p, 2 * n, 2 * sizeof raw, "not one zstd frame");
    packed("no frame", p, 0, 0, "not one zstd frame");
    packed("a skippable frame", "\x50\x2a\x4d\x18\0\0\0\0", 8, 0, "not one zstd frame");
}

/* A few hundred bytes that would be 60 MiB of JSON, and gigabytes once parsed. */
static void test_bomb(void)
{
    struct gnn_err e;
    size_t n = 60 << 20, room = ZSTD_compressBound(n);
    char *text = malloc(n), *p = malloc(room);
    if (!text || !p)
        exit(99);
    for (size_t i = 0; i < n; i++)
        text[i] = "[],"[i % 3];
    size_t stored = ZSTD_compress(p, room, text, n, 1);
    int fd = create();
    stream_make_frame(fd, GNB_HEADER, 0, "meta", p, stored, GNB_ZSTD, n);
    close(fd);
    ok(read_all(&e) == GNN_E_INPUT && strstr(e.msg, "larger than 8 MiB"), "a packed header of 60 MiB: %s", e.msg);
    free(text);
    free(p);
}

int main(void)
{
    scratch_enter();
    header("\"identity\":\"0123456789abcdef\"", "\"identity\":\"0123456789ABCDEF\"", "identity");
    header("\"provenance\":[]", "\"provenance\":[1]", "provenance");
    header("\"edge_types\":[]", "\"edge_types\":5", "edge_types");
    header("\"splits\":[],", "", "splits");
    header("{\"name\":\"node\",\"count\":3,\"fields\":[]}", "", "no node types");
    test_packed();
    test_bomb();
    return scratch_done();
}
