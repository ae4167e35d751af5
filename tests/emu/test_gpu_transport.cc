/* SPDX-License-Identifier: Apache-2.0 */
/* Writers that lie about batches on devices, each in a process with a device of its own: the reader
 * says what is wrong. */
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tap.h"
extern "C" {
#include "formats/xxh.h"
#include "lib/gpu/gpu.h"
#include "lib/gpu/dev.h"
#include "lib/stream/handshake.h"
#include "lib/data/source.h"
#include "formats/gnb.h"
}

namespace
{

const char meta[] =
    "{\"content\":\"batches\",\"identity\":\"0123456789abcdef\",\"schema\":{\"node_types\":[{\"name\":\"n\","
    "\"count\":4294967294,\"fields\":[]}],\"edge_types\":[],\"splits\":[],\"task\":\"none\",\"classes\":0,\"parts\":1},"
    "\"sampling\":{\"seed\":\"0000000000000000\",\"fanout\":[],\"batch_size\":4,\"frontier\":\"all\","
    "\"replace\":false,\"shuffle\":false,\"drop_last\":false,\"edge_ids\":false,\"original_ids\":false,"
    "\"seed_type\":\"n\",\"splits\":[{\"name\":\"train\",\"steps\":1,\"seeds\":4}]},\"provenance\":[]}";
enum { NODES = 4, MEMORY = 1 << 20, AREA = 4096, LIAR_FD = 9 };

[[noreturn]] void bail(const char *what)
{
    fprintf(stderr, "liar: %s\n", what);
    _exit(95);
}

/* ---- the liar ---- */

struct Entry {
    std::string name;
    gnn_dtype dtype;
    uint64_t n;
    gnb_codec codec;
    std::string stored;
};

void frame(int fd, gnb_kind kind, uint64_t seq, const std::vector<Entry> &all)
{
    std::vector<gnb_entry> t;
    for (const Entry &x : all) {
        gnb_entry y = {};
        y.t.name = x.name.c_str();
        y.t.dtype = x.dtype;
        y.t.ndim = 1;
        y.t.shape[0] = x.n;
        y.name_len = x.name.size();
        y.codec = x.codec;
        y.stored = x.stored.size();
        y.raw = x.n * gnn_dtype_bytes(x.dtype);
        y.sum = XXH3_64bits(x.stored.data(), x.stored.size());
        t.push_back(y);
    }
    gnb_frame f = {};
    f.kind = kind;
    f.ntensors = (uint32_t)t.size();
    f.align = GNB_ALIGN;
    f.seq = seq;
    if (!gnn_gnb_layout(&f, t.data()))
        bail("layout");
    std::string out(GNB_HEADER_BYTES + f.table_bytes + f.payload_bytes, '\0');
    gnn_gnb_frame_encode(&f, t.data(), (uint8_t *)&out[0]);
    for (size_t i = 0; i < t.size(); i++)
        out.replace(GNB_HEADER_BYTES + f.table_bytes + t[i].offset, t[i].stored, all[i].stored);
    if (write(fd, out.data(), out.size()) != (ssize_t)out.size())
        bail("write");
}

template <class T> Entry raw(const char *name, gnn_dtype dtype, std::vector<T> v)
{
    return Entry{name, dtype, v.size(), GNB_RAW,
                 std::string((const char *)v.data(), v.size() * sizeof(T))};
}

Entry refers(const char *name, gnn_dtype dtype, uint64_t n, const gnb_reference &r)
{
    uint8_t to[GNB_DEVICE_REFERENCE_BYTES];
    const uint32_t bytes = gnn_gnb_reference_encode(&r, to);
    return Entry{name, dtype, n, GNB_REFERENCE, std::string((const char *)to, bytes)};
}

/* Memory on a device that the other side can open, and where it is. */
gnb_reference exported(unsigned device)
{
    gnn_err e = {};
    void *p = nullptr, *s = nullptr;
    gnn_dev_handle h;
    gnb_reference r = {};
    r.on_device = true;
    if (gnn_dev_use(device, &e) || gnn_dev_alloc(&p, AREA, "a lie", &e) ||
        gnn_dev_stream_new(&s, &e) || gnn_dev_set(p, 0, AREA, s, &e) ||
        gnn_dev_stream_wait(s, &e) || gnn_dev_export(p, &h, &e) ||
        gnn_dev_id(device, &r.device, &e))
        bail(e.msg);
    memcpy(r.handle, &h, sizeof h);
    return r;
}

bool says(int sock, gnn_handshake *m)
{
    pollfd p = {sock, POLLIN, 0};
    return poll(&p, 1, 10000) == 1 && gnn_handshake_recv(sock, m, nullptr) == 1;
}

/* The greeting; the socket is left. */
int meet(int listener, bool offer)
{
    gnn_handshake m;
    pollfd p = {listener, POLLIN, 0};
    if (poll(&p, 1, 10000) != 1)
        bail("nobody came");
    const int sock = gnn_handshake_accept(listener);
    if (sock < 0 || !says(sock, &m) || m.what != GNN_HANDSHAKE_CONNECT || m.slots != 2)
        bail("no HELLO");
    for (int i = 0; i < 2; i++)
        if (!says(sock, &m) || m.what != GNN_HANDSHAKE_DEVICE)
            bail("no DEVICE");
    const int memory = memfd_create("t", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (!offer)
        return sock;
    m = gnn_handshake{GNN_HANDSHAKE_OFFER, 3, MEMORY};
    if (memory < 0 || ftruncate(memory, MEMORY) || fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK) ||
        !gnn_handshake_send(sock, &m, memory) || !says(sock, &m) || m.what != GNN_HANDSHAKE_ACCEPT)
        bail("not taken");
    return sock;
}

int lie(const std::string &how)
{
    const int fd = LIAR_FD, listener = gnn_handshake_listen(fd);
    if (listener < 0)
        bail("listen");
    frame(fd, GNB_HEADER, 0,
          {raw<char>("meta", GNN_U8, std::vector<char>(meta, meta + strlen(meta)))});
    const int sock = meet(listener, how != "no offer");
    gnb_reference r = exported(0), other = r;
    uint64_t n = NODES;
    Entry key = raw<uint64_t>("key", GNN_U64, {0, 0, 0, 0}),
          counts = raw<uint64_t>("counts/n", GNN_U64, {NODES});
    std::vector<Entry> more;
    if (how == "at the end")
        r.offset = AREA - 16;
    else if (how == "beyond")
        r.offset = MEMORY, n = UINT64_C(1) << 31;
    else if (how == "wrapping")
        r.offset = UINT64_MAX - 63;
    else if (how == "misaligned")
        r.offset = 8;
    else if (how == "garbage")
        memset(r.handle, 0x55, sizeof r.handle);
    else if (how == "nowhere")
        r.device++, r.device ^= 99;
    else if (how == "slot")
        r.slot = 3;
    else if (how == "key")
        key = refers("key", GNN_U64, 4, r);
    else if (how == "counts")
        counts = refers("counts/n", GNN_U64, 1, r);
    else if (how == "inline")
        more = {raw<uint32_t>("node/n/id", GNN_U32, {1, 2, 3, 4})};
    else if (how == "shared")
        other = gnb_reference{}, other.slot = 1,
        more = {refers("node/n/id", GNN_U32, NODES, other)};
    else if (how == "shared first")
        other = gnb_reference{}, counts = refers("counts/n", GNN_U64, 1, other);
    else if (how == "slots")
        other.slot = 1, more = {refers("node/n/id", GNN_U32, NODES, other)};
    else if (how == "devices")
        more = {refers("node/n/id", GNN_U32, NODES, exported(1))};
    if (how == "totals") {
        frame(fd, GNB_END, 1, {refers("totals", GNN_U64, 2, r)});
    } else {
        std::vector<Entry> all = {key, counts, refers("nodes/n", GNN_U32, n, r)};
        all.insert(all.end(), more.begin(), more.end());
        frame(fd, GNB_BATCH, 1, all);
    }
    if (how == "good" || how == "gone after") {
        gnn_handshake m;
        if (!says(sock, &m) || m.what != GNN_HANDSHAKE_RELEASE || m.slots != 0)
            bail("not given back");
    }
    if (how == "gone after")
        _exit(0);
    pollfd p = {sock, POLLIN, 0};
    char c;
    do
        (void)poll(&p, 1, 10000);
    while (recv(sock, &c, 1, 0) > 0); /* until the reader hangs up */
    _exit(0);                         /* the memory goes with the process */
}

/* ---- the reader ---- */

void case_of(const char *me, gnn_gpu *g, const char *how, int status, const char *why)
{
    int fd[2], st = 0;
    if (pipe2(fd, O_CLOEXEC))
        bail("pipe");
    fflush(stdout);
    const pid_t pid = fork();
    if (!pid) {
        dup2(fd[1], LIAR_FD);
        execl(me, me, "lie", how, (char *)nullptr);
        _exit(96);
    }
    close(fd[1]);
    gnn_err e = {};
    gnn_batch *b = nullptr;
    const gnn_stream_opts o = {g, false};
    gnn_source *s = gnn_stream_source_on(fd[0], "in", &o, &e);
    int rc = s ? gnn_source_next(s, &b, &e) : e.code;
    if (!rc && !status)
        ok(b->place && b->place->device == 0 && gnn_batch_nodes(b, 0) == NODES,
           "the reader gets a batch on its first device from a writer of the kind '%s'", how);
    else
        ok(rc == status && strstr(e.msg, why),
           "the reader names the fault of a writer of the kind '%s': %d, %s", how, rc, e.msg);
    gnn_batch_put(b);
    gnn_source_free(s);
    waitpid(pid, &st, 0);
    ok(WIFEXITED(st) && !WEXITSTATUS(st), "a writer of the kind '%s' ends (%d)", how, st);
}

} // namespace

int main(int argc, char **argv)
{
    setenv("GNN_FAKE_DEVICES", "3", 1);
    if (argc > 2)
        return lie(argv[2]);
    gnn_err e = {};
    gnn_gpu *g = nullptr;
    char why[64];
    if (gnn_gpu_open(&g, "cuda:0,1", why, sizeof why, &e))
        bail(e.msg);
    const struct {
        const char *how;
        int status;
        const char *why;
    } all[] = {
        {"good", 0, ""},
        {"gone after", 0, ""},
        {"no offer", GNN_E_INPUT, "on a device and were exported to another program"},
        {"beyond", GNN_E_INPUT, "beyond the device's memory"},
        {"wrapping", GNN_E_INPUT, "beyond the device's memory"},
        {"misaligned", GNN_E_INPUT, "out of range"},
        {"at the end", GNN_E_INPUT, "out of range"},
        {"garbage", GNN_E_DEVICE, "invalid handle"},
        {"nowhere", GNN_E_INPUT, "on a device that this program does not use"},
        {"slot", GNN_E_INPUT, "out of range"},
        {"slots", GNN_E_INPUT, "out of range"},
        {"devices", GNN_E_INPUT, "on another device"},
        {"key", GNN_E_INPUT, "'key': must be in host memory"},
        {"counts", GNN_E_INPUT, "'counts/n': must be in host memory"},
        {"totals", GNN_E_INPUT, "metadata that is not raw"},
        {"inline", GNN_E_INPUT, "some tensors are on a device, others are not"},
        {"shared", GNN_E_INPUT, "some tensors are on a device, others are not"},
        {"shared first", GNN_E_INPUT, "out of range"},
    };
    for (const auto &x : all)
        case_of(argv[0], g, x.how, x.status, x.why);
    gnn_gpu_close(g);
    return tap_done();
}
