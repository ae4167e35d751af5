# SPDX-License-Identifier: Apache-2.0
"""PyTorch, and PyG where it is there, on the shapes that bench_gpu times, as rows of its table. Run by scripts/gpu-check.sh."""
import ctypes
import statistics
import sys

try:
    import torch
except ImportError:
    sys.exit("skipped: no PyTorch here")
if not torch.cuda.is_available():
    sys.exit("skipped: PyTorch finds no device")

ROWS, WIDTH, HIDDEN = 2449029, 100, 256
torch.manual_seed(1)


def time_of(f, rounds=15):
    """Milliseconds on the device, the median."""
    f()
    times = []
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        f()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def row(name, value, unit):
    print(f"| {name} | {value:.2f} {unit} | beside us |", flush=True)


def cublaslt_version():
    """Of the library that PyTorch multiplies with, once it has."""
    torch.ones(64, 64, device="cuda") @ torch.ones(64, 64, device="cuda")
    with open("/proc/self/maps") as maps:
        paths = {line.split()[-1] for line in maps if "libcublasLt" in line}
    try:
        version = ctypes.CDLL(paths.pop()).cublasLtGetVersion
        version.restype = ctypes.c_size_t
        return version()
    except (KeyError, OSError, AttributeError):
        return "unknown"


print(f"# PyTorch {torch.__version__}, CUDA {torch.version.cuda}, cuBLASLt {cublaslt_version()}.")
table = torch.randn(ROWS, WIDTH, device="cuda")
ids = torch.randperm(ROWS, device="cuda")[: ROWS // 5]
ms = time_of(lambda: table.index_select(0, ids))
row("torch index_select, device memory", 2 * ids.numel() * WIDTH * 4 / ms / 1e6, "GB/s")

rows, cols, degree = ROWS // 35, ROWS // 8, 10
indices = torch.randint(0, cols, (rows * degree,), device="cuda")
indptr = torch.arange(0, rows * degree + 1, degree, device="cuda")
a = torch.sparse_csr_tensor(indptr, indices, torch.ones(rows * degree, device="cuda"), (rows, cols))
x = torch.randn(cols, HIDDEN, device="cuda")
ms = time_of(lambda: torch.sparse.mm(a, x))
row("torch sparse.mm, 256 wide", (rows * degree + rows) * HIDDEN * 4 / ms / 1e6, "GB/s")


def step_time(convs, blocks, features, labels):
    """A step of SAGE 3 x 256 on fixed blocks (destinations first among the sources), Adam included."""
    parameters = [p for c in convs for p in c.parameters()]
    adam = torch.optim.Adam(parameters, fused=True)

    def step():
        h = features
        for i, (conv, (edges, n)) in enumerate(zip(convs, blocks)):
            h = conv((h, h[:n]), edges)
            if i + 1 < len(convs):
                h = h.relu()
        loss = torch.nn.functional.cross_entropy(h, labels)
        adam.zero_grad(set_to_none=True)
        loss.backward()
        adam.step()

    return time_of(step)


class Sage(torch.nn.Module):
    """The mean of the neighbours and the node itself, in plain PyTorch."""

    def __init__(self, n, m):
        super().__init__()
        self.l, self.r = torch.nn.Linear(n, m), torch.nn.Linear(n, m, bias=False)

    def forward(self, x, edges):
        src, dst = edges
        out = torch.zeros(x[1].shape[0], x[0].shape[1], device="cuda").index_add_(0, dst, x[0][src])
        count = torch.zeros(x[1].shape[0], device="cuda").index_add_(0, dst, torch.ones_like(src, dtype=torch.float32))
        return self.l(out / count.clamp(min=1)[:, None]) + self.r(x[1])


counts = [443000, 137000, 15800, 1024]  # nodes of a batch of products:, 15,10,5, from the outside in
fans = [5, 10, 15]
blocks = []
for inner, outer, fan in zip(counts[1:], counts, fans):
    dst = torch.arange(inner, device="cuda").repeat_interleave(fan)
    blocks.append((torch.stack([torch.randint(0, outer, dst.shape, device="cuda"), dst]), inner))
features, labels = torch.randn(counts[0], WIDTH, device="cuda"), torch.randint(0, 47, (1024,), device="cuda")
widths = [(WIDTH, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 47)]
for tf32 in (False, True):
    torch.backends.cuda.matmul.allow_tf32 = tf32
    name = "tf32" if tf32 else "f32"
    ms = step_time([Sage(n, m).cuda() for n, m in widths], blocks, features, labels)
    row(f"torch SAGE 3x256 step, {name}", ms, "ms")
    try:
        from torch_geometric.nn import SAGEConv
    except ImportError:
        continue
    ms = step_time([SAGEConv(n, m).cuda() for n, m in widths], blocks, features, labels)
    row(f"PyG SAGEConv 3x256 step, {name}", ms, "ms")
