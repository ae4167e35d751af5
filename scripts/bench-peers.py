# SPDX-License-Identifier: Apache-2.0
"""Measures gnn-tools beside other systems that are installed, in turns, and makes one table of it. Run by `make bench-peers`.

usage: bench-peers.py [-o FILE] [--rounds N] [--scale X] [--only WORD|...] [PYTHON...]
       bench-peers.py --table FILE [--write]

Each PYTHON is an interpreter that has some of PyG (with pyg-lib), DGL with GraphBolt, and gnn-tools' NumPy; of a system that several have,
the newest is measured. A row is measured N times (default 3): gnn-tools, then each peer, then gnn-tools again ..., so that what disturbs
the machine for longer disturbs all. Rows that take long are measured fewer times. Results go to FILE (default peers.ndjson), a line for
each turn; --table makes the table from it without measuring, and --write puts it into gnn-benchmarks(7) and README.md. --only: rows whose
names contain a WORD. Stores of `products:` of scale X (default 1) are made in the current directory and kept; GNN_BIN: the programs.
"""
import argparse
import contextlib
import datetime
import json
import os
import re
import select
import shlex
import statistics
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORKER = os.path.join(TOP, "scripts", "bench-peer.py")
LIMIT = 240  # seconds for one answer of a peer
HEAVY = 4 << 30  # bytes that the worker of a peer may keep from row to row
# What lets malloc keep memory between steps, without which tensor libraries spend most of a step on page faults.
KEPT = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "17179869184", "MALLOC_TOP_PAD_": "268435456"}
NAMES = {"torch": "PyTorch", "pyg": "PyG", "dgl": "DGL", "graphbolt": "GraphBolt", "text": "pandas, SciPy", "gnntools": "gnn-tools"}
F = "-f 15,10,5"
MODEL = "--hidden 256 --no-layer-norm --dropout 0"

# What to do with a side's answer: "rate" counts things a second (more is better), "time" seconds.
RATE, TIME = "rate", "time"


class Row:
    """A row: ours and peers are lists of (label, command). A command of ours is one of the shell, or `ask:...` of gnn-tools in Python; one of
    peers is `SYSTEM STORE REQUEST`, and starts with `new:` if it gets a process of its own, or with `plain:` if that frees memory as malloc
    does by default. take: what of our output is the value."""

    def __init__(self, name, kind, unit, ours, peers, take=None, long=False, warm=False):
        self.name, self.kind, self.unit, self.take, self.long, self.warm = name, kind, unit, take, long, warm
        self.ours, self.peers = ours, peers


def rate_of(text, _):
    return 1e6 * float(re.search(r"^rate ([\d.]+) M", text, re.M).group(1))


def step_alone(_, took):
    end = next(m for m in reversed(took["metrics"]) if m["event"] == "epoch")
    return end["train_s"] / end["steps"]


def gathered(text, took):
    nodes, seconds = (float(re.search(r"^%s ([\d.]+)" % k, text, re.M).group(1)) for k in ("nodes", "seconds"))
    return nodes * 400 / seconds


def per_step(_, took):
    end = next(m for m in reversed(took["metrics"]) if m["event"] == "epoch")
    return (end["train_s"] + end["wait_s"]) / end["steps"]


def best_epoch(_, took):
    return min(m["train_s"] for m in took["metrics"][1:] if m["event"] == "epoch" and m["epoch"])


def per_batch(text, _):
    return float(re.search(r"^seconds ([\d.]+)", text, re.M).group(1)) / float(re.search(r"^batches (\d+)", text, re.M).group(1))


def wall(_, took):
    return took["wall"]


def peak(_, took):
    return took["peak"]


def rows(small):
    """All rows. small: of a graph that is for trying this out."""
    steps, few, some = (2, 2, 3) if small else (36, 6, 24)
    n = "batches=%d" % some

    def sample(options, store="products"):
        return [("", "gnn-sample %s --count %s %s" % (F, options, store))]

    out = [
        Row("sampling, new, 1 thread", RATE, "M edges/s", sample("--frontier new -j 1"), ["pyg products sample threads=1 " + n], rate_of),
        Row("sampling, new, 2 threads", RATE, "M edges/s", sample("--frontier new -j 2"), ["pyg products sample threads=2 " + n], rate_of),
        Row("sampling, all, 1 thread", RATE, "M edges/s", sample("-j 1"), [
            "dgl products sample threads=1 " + n, "graphbolt products sample threads=1 " + n], rate_of),
        Row("sampling, all, 2 threads", RATE, "M edges/s", sample("-j 2"), [
            "dgl products sample threads=2 " + n, "graphbolt products sample threads=2 " + n], rate_of),
        Row("LABOR", TIME, "ms/batch", sample("--labor -j 1"), [
            "dgl products sample rule=labor " + n, "graphbolt products sample rule=labor " + n], per_batch),
        Row("walks of 10 steps", RATE, "M steps/s", [("", "gnn-sample --walk-length 10 --walks-per-seed 4 --count -j 1 products")],
            ["pyg products walk", "dgl products walk"], rate_of),
        Row("node2vec 0.5,2", RATE, "M steps/s",
            [("", "gnn-sample --walk-length 10 --walks-per-seed 2 --node2vec 0.5,2 --keep-index --count -j 1 products")],
            ["dgl products walk node2vec=0.5,2 batches=8"], rate_of, warm=True),
        Row("induced, 10,5", RATE, "M edges/s", [("", "gnn-sample -f 10,5 --frontier new --induced --count -j 1 --steps 0:24 products")],
            ["dgl products sample rule=induced fanout=10,5 batches=4"], rate_of),
        Row("sampling by weight, new", RATE, "M edges/s", sample("--frontier new --weight weight --keep-index -j 1", "ruled"),
            ["pyg ruled sample rule=weight batches=8"], rate_of, warm=True),
        Row("sampling by weight, all", RATE, "M edges/s", sample("--weight weight --keep-index -j 1", "ruled"),
            ["dgl ruled sample rule=weight batches=8", "graphbolt ruled sample rule=weight batches=4"], rate_of, warm=True),
        Row("sampling by time, new", RATE, "M edges/s", [
            ("", "gnn-sample %s --frontier new --disjoint --time-rule le --keep-index --count -j 1 --seeds times.txt ruled" % F)],
            ["pyg ruled sample rule=time batches=8"], rate_of, warm=True),
        Row("sampling by time, all", RATE, "M edges/s", [
            ("", "gnn-sample %s --disjoint --time-rule lt --keep-index --count -j 1 --seeds times.txt ruled" % F)],
            ["graphbolt ruled sample rule=time batches=2"], rate_of, warm=True),
    ]
    for j in (1, 2):
        out.append(Row("gathering, %d thread%s" % (j, "s" * (j > 1)), RATE, "GB/s",
                       [("", "gnn-gather -j %d --count -F x -i ids.gnb products" % j)],
                       ["torch products gather batches=ids.gnb threads=%d" % j], gathered))

    def step(model, frontier, threads, peers, options="", long=False):
        name = {"sage": "SAGE", "gcn": "GCN", "gin": "GIN", "gat": "GAT, 4 heads", "gatv2": "GATv2, 4 heads"}[model]
        heads = " --heads 4" if "gat" in model else ""
        ask = "%s products step batches=%s.gnb steps=%d threads=%d model=%s %s"
        out.append(Row("step, %s, %s, %d thread%s%s" % (name, frontier, threads, "s" * (threads > 1), options and ", bf16"), TIME, "ms",
                       [("", "gnn-train -j %d -m %s%s %s%s -i %s.gnb" % (threads, model, heads, MODEL, options, frontier))],
                       [ask % (s, frontier, few if how != "how=stock" else min(few, 3), threads, model, how) for s, how in peers],
                       step_alone, long))

    stock, csr, compiled = ("pyg", "how=stock"), ("pyg", "how=csr"), ("pyg", "how=compile")
    step("sage", "new", 1, [csr])
    step("sage", "new", 2, [csr, stock, compiled])
    step("sage", "all", 1, [("dgl", "")])
    step("sage", "all", 2, [("dgl", "")])
    step("gcn", "new", 2, [csr, stock], long=True)
    step("gcn", "all", 2, [("dgl", "")])
    step("gin", "new", 2, [csr, stock], long=True)
    step("gin", "all", 2, [("dgl", "")])
    step("gat", "new", 2, [stock, compiled], long=True)
    step("gat", "all", 2, [("dgl", "")], long=True)
    step("gatv2", "new", 2, [stock, compiled], long=True)
    step("gatv2", "all", 2, [("dgl", "")], long=True)
    step("sage", "new", 2, [("pyg", "how=csr precision=bf16")], " --precision bf16")
    step("sage", "all", 2, [("dgl", "precision=bf16")], " --precision bf16")

    here, load = "ask:gnntools products ", "batches=%d" % (3 if small else 15)
    out += [
        Row("loader in Python, with features", TIME, "ms", [("", here + "load " + load)], ["pyg products load " + load]),
        Row("loader in Python, without", TIME, "ms", [("", here + "load features=0 " + load)], ["pyg products load features=0 " + load]),
        Row("loader in Python, PyG's training", TIME, "ms", [("", here + "load train=1 " + load)], ["pyg products load train=1 " + load], long=True),
        Row("Store.sample of 1024 seeds", TIME, "ms", [("", here + "call")], ["pyg products call"]),
        Row("rows of 10^5 ids in Python", TIME, "ms", [("", here + "rows")], ["pyg products rows"]),
    ]
    for frontier, peers in ("new", ["pyg products epoch how=csr"]), ("all", ["dgl products epoch", "graphbolt products epoch"]):
        some = "%s --frontier %s --split valid" % (F, frontier)
        out.append(Row("epoch, %s, 2 threads" % frontier, TIME, "ms/step", [
            ("", "gnn-train --store products %s %s --eval none --epochs 0:1" % (some, MODEL)),
            ("as a pipe", "gnn-sample -q %s products | gnn-gather -q products | gnn-train %s" % (some, MODEL))],
            ["new:%s split=valid steps=%d" % (p, steps) for p in peers], per_step, long=True))
        out.append(Row("memory, epoch, %s, 2 threads" % frontier, TIME, "MB", out[-1].ours[:1],
                       ["plain:%s split=valid steps=%d" % (p, steps) for p in peers], peak, long=True))
    full = "gnn-train --full-batch --store %s --layers 3 --batch-norm --dropout 0.5 --epochs 0:3 --eval none --patience 0 --keep last"
    for name, store, model, options in ("SAGE, a tenth", "tenth", "sage", ""), ("GAT, a hundredth", "hundredth", "gat", " -m gat --heads 4"):
        ours, peers = [("", full % store + options)], "dgl %s full model=%s" % (store, model)
        out += [Row("full batch, " + name, TIME, "s", ours, ["new:" + peers], best_epoch, long=True),
                Row("memory, full batch, " + name, TIME, "MB", ours, ["plain:" + peers], peak, long=True)]
    infer = "gnn-predict -q -o classes.npy%s products sage.safetensors"
    out += [
        Row("exact inference, SAGE", TIME, "s", [("", infer % ""), ("ours in bf16", infer % " --precision bf16")],
            ["plain:dgl products infer", "plain:pyg products infer"], wall, long=True),
        Row("import of a table of edges", TIME, "s", [("", "gnn-import -q --force -o web edges.txt")], ["new:text edges.txt text"], wall, long=True),
        Row("METIS, 4 partitions, a tenth", TIME, "s", [("", "gnn-partition -q --force -k 4 -o split tenth"),
                                                        ("Fennel", "gnn-partition -q --force -k 4 --method fennel -o split tenth")],
            ["new:pyg tenth metis", "new:dgl tenth metis"], wall, long=True),
    ]
    return out


class Failed(Exception):
    """A side gave no value; the text says why."""


class Worker:
    """A process of another system, which answers requests about one store."""

    def __init__(self, python, system, store, work):
        self.seen = b""
        self.child = subprocess.Popen([python, "-W", "ignore", "-B", WORKER, store, system], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=open(os.path.join(work, "peers.err"), "ab"), env={**os.environ, **KEPT})

    def memory(self):
        with open("/proc/%d/statm" % self.child.pid) as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def ask(self, request):
        try:
            os.write(self.child.stdin.fileno(), (request + "\n").encode())
        except BrokenPipeError:
            raise Failed("it died: see peers.err") from None
        end, fd = time.time() + LIMIT, self.child.stdout.fileno()
        while True:
            line, newline, rest = self.seen.partition(b"\n")
            if newline:
                self.seen = rest
                if line.startswith(b"{"):
                    return json.loads(line)
            elif not select.select([fd], [], [], max(0, end - time.time()))[0]:
                self.child.kill()
                raise Failed("not done in %d s" % LIMIT)
            else:
                more = os.read(fd, 65536)
                if not more:
                    raise Failed("it died: see peers.err")
                self.seen += more

    def close(self):
        self.child.kill()
        self.child.wait()


def run_shell(command, work):
    """Runs it; what it printed, and its wall time, the highest memory of a process of it, and metrics."""
    metrics = os.path.join(work, "metrics.ndjson")
    with contextlib.suppress(FileNotFoundError):
        os.remove(metrics)
    start = time.time()
    last = shlex.split(command.rpartition("|")[2])[0]
    full = command + (" --metrics metrics.ndjson" if last != "gnn-predict" else "")
    full += " -q -o model.safetensors" if last == "gnn-train" else ""
    with open(os.path.join(work, "ours.err"), "w+") as err:
        child = subprocess.Popen(["sh", "-c", full], stdout=subprocess.PIPE, stderr=err, cwd=work, text=True)
        said = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
        err.seek(0)
        wrong = err.read()
    took = {"wall": time.time() - start, "peak": usage.ru_maxrss * 1024, "metrics": []}
    if status:
        raise Failed((wrong.strip().splitlines() or ["status %d" % status])[-1])
    if os.path.exists(metrics):
        took["metrics"] = [json.loads(line) for line in open(metrics)]
    first = next((m["t"] for m in took["metrics"] if m.get("event") == "step"), None)
    if first:
        took["first"] = first
    return said, took


class Bench:
    """A run: environments, workers that stay, and the file of results."""

    def __init__(self, args, have):
        self.args, self.have, self.workers, self.gone = args, have, {}, {}
        self.work = os.getcwd()
        self.out = open(args.output, "w")

    def note(self, **line):
        self.out.write(json.dumps(line) + "\n")
        self.out.flush()

    def peer(self, text):
        """The answer to `[new:|plain:]SYSTEM STORE REQUEST`."""
        fresh = text.startswith(("new:", "plain:"))
        system, store, request = text.split(":")[-1].split(" ", 2) if fresh else text.split(" ", 2)
        python = self.have["torch" if system == "text" else system][0]
        if not fresh:
            key = system, store
            if key not in self.workers:
                self.drop(store)
                self.workers[key] = Worker(python, system, store, self.work)
            try:
                return self.workers[key].ask(request)
            except Failed:
                self.workers.pop(key).close()
                raise
        self.drop()
        command = [python, "-W", "ignore", "-B", WORKER, store, system, *request.split()]
        start = time.time()
        with open("peers.err", "ab") as err:
            env = {**os.environ, **({} if text.startswith("plain:") else KEPT)}
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=err, env=env)
            killed = []
            while not select.select([child.stdout], [], [], 1)[0]:
                if time.time() > start + LIMIT:
                    child.kill()
                    killed.append(True)
            lines = [line for line in child.stdout.read().decode().splitlines() if line.startswith("{")]
            _, child.returncode, usage = os.wait4(child.pid, 0)
        if not lines:
            raise Failed("not done in %d s" % LIMIT if killed else "it died: see peers.err")
        return {**json.loads(lines[-1]), "peak": usage.ru_maxrss * 1024, "wall": time.time() - start}

    def drop(self, store=None):
        """Ends the workers of all other stores: not all would fit into memory beside each other."""
        for key in [key for key in self.workers if key[1] != store]:
            self.workers.pop(key).close()

    def side(self, row, ours, label, command, number):
        """Measures one side once, and writes it down."""
        if (row.name, label, command) in self.gone:
            return
        try:
            if ours and not command.startswith("ask:"):
                said, took = run_shell(command, self.work)
                value = row.take(said, took)
                more = {k: took[k] for k in ("first", "peak") if k in took}
            else:
                answer = self.peer(command[4:] if ours else command)
                if "error" in answer:
                    raise Failed(answer["error"])
                value, more = answer.pop("value"), answer
                value = answer["peak"] if row.take is peak else value
            shown = show(value, row.kind, row.unit)
        except (Failed, KeyError, ValueError, AttributeError, StopIteration) as why:
            self.gone[row.name, label, command] = value = None
            more, shown = {"error": str(why) or type(why).__name__}, "failed: %s" % why
        print("  %d %-24s %s" % (number, "gnn-tools %s" % label if ours else label, shown), flush=True)
        self.note(row=row.name, round=number, ours=ours, label=label, command=command, value=value, **more)

    def lacks(self, system, _, request, *more):
        """What is not installed of what it needs."""
        if system != "text" and system not in self.have:
            return NAMES[system]
        if system == "pyg" and request in ("sample", "walk", "metis", "call", "load", "epoch") and "pyg-lib" not in self.have["pyg"][1]:
            return "pyg-lib"
        return None

    def measure(self, row):
        lacks = {p: self.lacks(*p.split(":")[-1].split(" ")) for p in row.peers}
        peers = [(label_of(p), p) for p in row.peers if not lacks[p]]
        missing = sorted({name for name in lacks.values() if name})
        if missing:
            print("%s: %s skipped, not installed" % (row.name, ", ".join(missing)), flush=True)
        if not peers:
            return
        print("%s (%s)" % (row.name, row.unit), flush=True)
        self.note(row=row.name, kind=row.kind, unit=row.unit)
        for key in [key for key, worker in self.workers.items() if worker.memory() > HEAVY]:
            self.workers.pop(key).close()
        if row.warm:
            with contextlib.suppress(Failed):
                run_shell(row.ours[0][1], self.work)
        for number in range(1, (max(1, (self.args.rounds + 1) // 2) if row.long else self.args.rounds) + 1):
            for label, command in row.ours:
                self.side(row, True, label, command, number)
            for label, command in peers:
                self.side(row, False, label, command, number)


def label_of(command):
    system = command.split(":")[-1].split(" ")[0]
    for word, name in ("how=csr", "CSR"), ("how=compile", "compiled"), ("how=stock", "stock"):
        if word in command:
            return "%s, %s" % (NAMES[system], name)
    return NAMES[system]


def show(value, kind, unit):
    if value is None:
        return "\u2013"
    value = value / (1e9 if unit == "GB/s" else 1e6) if kind == RATE else value * (1e3 if unit.startswith("ms") else 1)
    if unit == "MB":
        value /= 1e6
    return "%.0f" % value if value >= 100 else "%.3g" % value


# Versions by what pip says: importing them all takes a while, and what does not work says so when it is asked.
PROBE = """
import importlib.metadata, json
have = {}
for name, package in ("torch", "torch"), ("pyg", "torch_geometric"), ("pyg-lib", "pyg_lib"), ("dgl", "dgl"):
    try:
        have[name] = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        pass
if int(have.get("dgl", "0").split(".")[0]) >= 2:
    have["graphbolt"] = have["dgl"]
print(json.dumps(have if "torch" in have else {}))
"""


def newest(version):
    return [int(n) for n in re.findall(r"\d+", version)[:3]]


def probe(pythons):
    """By system, the interpreter that has the newest, and the versions there; PyG with pyg-lib comes first."""
    have = {}
    for python in pythons:
        try:
            out = subprocess.run([python, "-c", PROBE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode()
            found = json.loads(out.splitlines()[-1])
        except (OSError, subprocess.CalledProcessError, IndexError, ValueError):
            print("bench-peers: %s: no Python that works" % python, file=sys.stderr)
            continue
        for system in ("torch", "pyg", "dgl", "graphbolt"):
            if system in found:
                rank = "pyg-lib" in found if system == "pyg" else False, newest(found[system])
                if system not in have or rank > have[system][2]:
                    have[system] = python, found, rank
    if "pyg" in have:
        have["gnntools"] = have["pyg"]
    return have


def versions(have):
    out = []
    for system, also in ("pyg", "pyg-lib"), ("dgl", "graphbolt"):
        if system in have:
            found = have[system][1]
            name = "%s %s" % (NAMES[system], found[system])
            name += (" with pyg-lib %s" % found[also] if system == "pyg" else " with GraphBolt") if also in found else ""
            out.append("%s and PyTorch %s" % (name, found["torch"].partition("+")[0]))
    return "; ".join(out)


def processor():
    with open("/proc/cpuinfo") as f:
        fields = dict(line.split(":", 1) for line in f if ":" in line)
    fields = {k.strip(): v.strip() for k, v in fields.items()}
    flags = fields.get("flags", "").split()
    more = [n for n in ("avx2", "avx512f", "avx512_bf16", "amx_tile") if n in flags][1:]
    return "%s, family %s, model %s%s" % (fields.get("model name", os.uname().machine), fields.get("cpu family", "?"), fields.get("model", "?"),
                                           ", " + ", ".join(more) if more else "")


def limits():
    bench = os.environ.get("GNN_B", "") + "/tests/bench/bench_limits"
    if not os.path.exists(bench):
        return []
    out = subprocess.run([bench], stdout=subprocess.PIPE, check=True).stdout.decode()
    return [line for line in out.splitlines() if line.strip()]


def stores(scale, python):
    """Makes what rows read, if it is not there for this scale. python: one with PyTorch."""
    def sh(command):
        subprocess.run(command, shell=True, check=True)

    made = open("peers.scale").read() if os.path.exists("peers.scale") else ""
    if made != str(scale):
        sh("rm -rf products ruled part10 part100 tenth hundredth *.gnb times.txt edges.txt sage.safetensors")
    batches = 12 if scale >= 0.1 else 2
    for store, what in ("products", "products:scale=%g" % scale), ("ruled", "products:scale=%g,weights=1,times=1,features=8" % scale), (
            "part10", "products:scale=%g" % (scale / 10)), ("part100", "products:scale=%g" % (scale / 100)):
        if not os.path.exists(store):
            sh("gnn-import -q -o %s %s" % (store, what))
    for store, part in ("tenth", "part10"), ("hundredth", "part100"):
        if not os.path.exists(store):
            sh("gnn-partition -q -k 1 -o %s %s" % (store, part))
    for frontier in "new", "all":
        if not os.path.exists(frontier + ".gnb"):
            sh("gnn-sample -q %s --frontier %s --epochs 0:%d --steps 0:%d products | gnn-gather -q -F x,y,degree -o %s.gnb products" %
               (F, frontier, 1 if batches > 2 else 6, batches, frontier))
    if not os.path.exists("ids.gnb"):
        sh("gnn-sample -q %s --epochs 0:%d --steps 0:96 -o ids.gnb products" % (F, 1 if batches > 2 else 12))
    if not os.path.exists("sage.safetensors"):
        sh("gnn-train -q -i all.gnb %s -o sage.safetensors" % MODEL)
    if not os.path.exists("times.txt"):
        sh("%s -B %s ruled torch times >times.txt" % (python, WORKER))
    if not os.path.exists("edges.txt"):
        make_edges(int(5e6 * min(1, scale * 10)))
    with open("peers.scale", "w") as f:
        f.write(str(scale))


def numbers(seed, n):
    """n numbers below 2^31 that are as good as random."""
    for _ in range(n):
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        yield seed >> 4


def make_edges(n):
    draw = numbers(1, 2 * n)
    with open("edges.txt", "w") as f:
        f.writelines("%d\t%d\n" % (a % 1000000, next(draw) % 1000000) for a in draw)


def bad(status, why):
    print("bench-peers: " + why, file=sys.stderr)
    sys.exit(status)


def table(path):
    """Rows of (name, unit, label of ours, value, peer, value, ratios, commands) from a file of results, and its header."""
    header, kinds, turns, number = {}, {}, {}, 0
    try:
        for number, line in enumerate(map(json.loads, open(path)), 1):
            if "header" in line:
                header = line["header"]
            elif "kind" in line:
                kinds[line["row"]] = line["kind"], line["unit"]
            else:
                turn = {key: line[key] for key in ("round", "command")} | line
                turns.setdefault((turn["row"], turn["ours"], turn["label"]), []).append(turn)
    except OSError as why:
        bad(3, "%s: %s" % (path, why.strerror))
    except (ValueError, KeyError, TypeError):
        bad(3, "%s: line %d is not of this program" % (path, number + 1))
    if not {"date", "cores", "scale", "processor", "versions"} <= set(header) or not turns:
        bad(3, "%s: no results" % path)
    out = []
    derived = [(name, *kinds[name], "value") for name in kinds]
    for name in kinds:
        if name.startswith("exact"):
            derived.append(("memory, " + name, TIME, "MB", "peak", name))
        if name.startswith("epoch"):
            derived.append(("start to first step, " + name.split(", ")[1], TIME, "s", "first", name))
    for name, kind, unit, key, *source in derived:
        source = source[0] if source else name
        for (_, _, label), a in [(k, t) for k, t in turns.items() if k[0] == source and k[1]]:
            if key == "first" and label:
                continue  # a pipe starts with several processes
            for (_, _, peer), b in [(k, t) for k, t in turns.items() if k[0] == source and not k[1]]:
                ours, theirs = ({t["round"]: t[key] for t in side if t.get(key)} for side in (a, b))
                pairs = sorted(set(ours) & set(theirs))
                ratios = [ours[i] / theirs[i] if kind == RATE else theirs[i] / ours[i] for i in pairs]
                middle = [statistics.median(side.values()) if side else None for side in (ours, theirs)]
                why = next((t["error"] for t in b + a if "error" in t), "")
                out.append({"name": name, "kind": kind, "unit": unit, "label": label, "peer": peer, "ours": middle[0], "theirs": middle[1],
                            "ratios": ratios, "why": why, "commands": (a[0]["command"], b[0]["command"])})
    return header, out


def ratio_text(ratios):
    if not ratios:
        return "", ""
    spread = "" if len(ratios) == 1 else " (%.3g to %.3g)" % (min(ratios), max(ratios))
    return "%.3g" % statistics.median(ratios), spread


def full_name(r):
    return ", ".join(filter(None, (r["name"], r["label"])))


def short(name):
    """In the columns that the manual has for it."""
    for word, less in ((", 1 thread", " 1t"), (", 2 threads", " 2t"), (", 4 heads", " 4h"), ("4 partitions, a tenth", "tenth"),
                       ("loader in Python", "loader"), ("exact inference, SAGE", "inference"), ("start to first step", "first step"),
                       ("memory, full batch", "mem., full"), ("full batch", "full"), ("a hundredth", "1/100"), ("a tenth", "tenth")):
        name = name.replace(word, less)
    return name


def print_table(header, lines):
    for k in ("date", "processor", "versions", "scale", "load"):
        print("%-10s %s" % (k, header.get(k)))
    for line in header.get("limits", []):
        print("limit      " + line)
    print("\nA ratio above 1 means that gnn-tools is faster, or uses less memory; in brackets the range of the pairs.\n")
    print("%-44s %-10s %9s  %-16s %9s  %s" % ("what", "unit", "gnn-tools", "peer", "", "ratio, pairs"))
    for n, r in enumerate(lines, 1):
        middle, spread = ratio_text(r["ratios"])
        end = "%s%s, %d" % (middle, spread, len(r["ratios"])) if middle else r["why"]
        print("%2d %-41s %-10s %9s  %-16s %9s  %s" % (n, full_name(r), r["unit"], show(r["ours"], r["kind"], r["unit"]), r["peer"],
                                                  show(r["theirs"], r["kind"], r["unit"]), end))
    print("\nCommands, of gnn-tools and of the peer")
    for n, r in enumerate(lines, 1):
        print("%2d %s\n   %s" % (n, *map(command_text, r["commands"])))


def command_text(command):
    """As a shell takes it."""
    words = re.sub("^(new|plain|ask):", "", command).split(" ", 2)
    return "scripts/bench-peer.py %s %s %s" % (words[1], words[0], words[2]) if words[0] in NAMES else command


def best_lines(lines):
    """Of each row and label, the peer that comes nearest."""
    best = {}
    for r in lines:
        key = r["name"], r["label"]
        if r["ratios"] and (key not in best or statistics.median(r["ratios"]) < statistics.median(best[key]["ratios"])):
            best[key] = r
    return [r for r in lines if best.get((r["name"], r["label"])) is r]


BEGIN, END = "bench-peers.py --write: begin", "bench-peers.py --write: end"


def put(path, text):
    """Puts it between the lines that have BEGIN and END."""
    old = open(path).read()
    new, n = re.subn(r"(?s)(%s[^\n]*\n).*?([^\n]*%s)" % (BEGIN, END), lambda m: m.group(1) + text + m.group(2), old, count=1)
    if not n:
        bad(3, "%s has no lines with '%s' and '%s'" % (path, BEGIN, END))
    with open(path, "w") as f:
        f.write(new)


def write(header, lines):
    day = datetime.date.fromisoformat(header["date"]).strftime("%B %Y")
    scale = "" if header["scale"] == 1 else " at scale %g" % header["scale"]
    man = ["Measured%s in %s on %d cores of this processor: %s." % (scale, day, header["cores"], header["processor"]), header["versions"] + ".",
           ".Bd -literal"]
    unit = None
    for r in lines:
        if r["ratios"]:
            if r["unit"] != unit:
                unit = r["unit"]
                man.append("%-29s %8s  %-13s %8s" % (unit, "ours", "peer", "peer's"))
            middle, spread = ratio_text(r["ratios"])
            man.append("%-29s %8s  %-13s %8s %5s%s" % (short(full_name(r)), show(r["ours"], r["kind"], unit), r["peer"],
                                                       show(r["theirs"], r["kind"], unit), middle, spread.replace(" to ", "-")))
    man.append(".Ed")
    without = sorted({"%s beside %s" % (full_name(r), r["peer"]) for r in lines if not r["ratios"] and not r["label"]})
    if without:
        man += [".Pp", "There is no figure where a side failed: %s." % "; ".join(without)]
    put(os.path.join(TOP, "man", "gnn-benchmarks.7"), "\n".join([*man, ""]))
    wanted = {"sampling, new, 2 threads": "sampling, new", "sampling, all, 2 threads": "sampling, all",
              "epoch, new, 2 threads": "epoch of GraphSAGE, 3 layers of 256, new", "epoch, all, 2 threads": "the same, all",
              "memory, epoch, all, 2 threads": "memory of this epoch"}
    out = ["| measured | gnn-tools | best peer | ratio |", "|---|---|---|---|"]
    for r in best_lines(lines):
        if r["name"] in wanted and not r["label"]:
            unit = r["unit"].replace("ms/step", "ms per step")
            out.append("| %s | %s %s | %s %s | %s |" % (wanted[r["name"]], show(r["ours"], r["kind"], r["unit"]), unit, r["peer"],
                                                        show(r["theirs"], r["kind"], r["unit"]), ratio_text(r["ratios"])[0]))
    out += ["", "Edges of new nodes only (new) or of all nodes (all), as the peers have them; ratios are medians of pairs of turns.",
            "On a graph like ogbn-products (2.4 M nodes, 124 M edges), fan-outs 15,10,5, batches of 1024, %d cores (%s), %s;" %
            (header["cores"], header["processor"].partition(",")[0], day), header["versions"] + ".", ""]
    put(os.path.join(TOP, "README.md"), "\n".join(out))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-o", "--output", default="peers.ndjson")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--scale", type=float, default=1)
    p.add_argument("--only", default="")
    p.add_argument("--table")
    p.add_argument("--write", action="store_true")
    p.add_argument("python", nargs="*", default=["python3"])
    args = p.parse_args()
    if args.rounds < 1:
        bad(2, "--rounds %d: expected 1 or more" % args.rounds)
    if not 1e-4 <= args.scale <= 100:
        bad(2, "--scale %g: expected a number from 0.0001 to 100" % args.scale)
    if args.table:
        header, lines = table(args.table)
        print_table(header, lines)
        if args.write:
            write(header, lines)
        return 0
    have = probe(args.python)
    for system in ("pyg", "dgl", "graphbolt"):
        if system not in have:
            print("%s: skipped, not installed" % NAMES[system])
    if not have:
        bad(1, "none of %s has PyTorch: set PEERS to a python3 that has" % " ".join(args.python))
    os.environ["PATH"] = os.environ["GNN_BIN"] + ":" + os.environ["PATH"]
    os.environ["PYTHONPATH"] = os.path.join(TOP, "formats", "python")
    stores(args.scale, have["torch"][0])
    bench = Bench(args, have)
    bench.note(header={"date": datetime.date.today().isoformat(), "processor": processor(), "cores": os.cpu_count(), "scale": args.scale,
                       "versions": versions(have), "load": "%.1f %.1f %.1f" % os.getloadavg(), "limits": limits()})
    words = [w for w in args.only.split("|") if w]
    for row in rows(args.scale < 0.1):
        if not words or any(w in row.name for w in words):
            bench.measure(row)
    bench.drop()
    bench.out.close()
    header, lines = table(args.output)
    print_table(header, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
