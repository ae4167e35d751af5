#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model, not a measurement: seconds of a full-batch epoch and memory of a host, from rates that were measured elsewhere.

Three layers of --model, with batch norm, one partition for each host. The work of a host is
  products   of matrices, forward and twice backward, at --gflops a core;
  passes     over its rows by norms, activations and sums, at --memory-rate;
  rows       of all in-edges, read in random order, forward and backward, at --row-rate;
  messages   by the formulas of gnn-fullbatch(7), COMMUNICATION, over a link of --link-rate, beside the rows.
A partition uses --halo rows of others for each row of its own, in proportion to what a random partitioning has:
(k - 1)(1 - (1 - 1/k)^(edges/nodes)); gnn-partition prints the measured one (halo, divided by the nodes).
Prints hosts, seconds of products and passes, of rows, of messages, of an epoch, and gigabytes of memory.
The epoch is products and passes, and the longer of rows and messages: messages travel while rows are worked with."""
import argparse

GRAPHS = {"papers100M": (111059956, 3228124712, 128, 172), "products-0.1": (244903, 12372148, 100, 47)}


def layers(model, features, classes, hidden, heads):
    """Of each layer: width of its input, of what it gathers, of its result, and whether rows are sent as messages of a product."""
    if model == "sage":  # the narrower of input and output is sent
        widths = [features, hidden, hidden, classes]
        return [(a, min(a, b), b, b < a) for a, b in zip(widths, widths[1:])]
    wide = hidden * heads
    return [(features, wide, wide, True), (wide, wide, wide, True), (wide, heads * classes, classes, True)]


def halo_of(k, degree, share):
    return share * (k - 1) * (1 - (1 - 1 / k) ** degree)


def host(a, k):
    """What a host of k does and holds: flop, bytes of passes, of rows, of messages, and of memory."""
    nodes, edges, features, classes = a.size
    n, e = nodes / k, edges / k
    flop = passes = rows = sent = kept = 0
    hops = halo_of(k, edges / nodes, a.halo)
    for i, (wide_in, sums, out, product) in enumerate(layers(a.model, features, classes, a.hidden, a.heads)):
        first, last = i == 0, i == 2
        # Neighbours and own rows each have a matrix in SAGE. Features need no gradients.
        matrices = wide_in * out * 2 if a.model == "sage" else wide_in * sums
        # Hidden layers of attention make their messages and results again in the backward pass.
        again = a.model == "gat" and not last
        flop += 2 * n * matrices * ((2 if first else 3) + again)
        # A first layer that sums up features does so only once.
        once = first and not product
        reads = 0 if once else 2 if a.model == "sage" else 3
        rows += reads * e * sums * 4
        sent += reads * hops * n * sums * 4
        passes += n * 4 * (8 * sums + (0 if last else 10 * out) + (6 * out if again else 0))
        kept += n * 4 * (sums + out + (0 if last else out) if a.model == "sage" else sums if again else 0)
    widest = max(x[1] for x in layers(a.model, features, classes, a.hidden, a.heads))
    edge = 8 if a.model == "sage" else 12
    # Of rows or messages; one takes the space of a norm's rows. Of attention, results and normalised rows of one layer, too.
    gradients = 1 if a.model == "sage" else 3
    memory = (edge * e + 4 * (k + 1) * n + 12 * hops * n + 4 * features * n + kept + gradients * 4 * widest * n +
              (8 * hops * n / max(k - 1, 1) * widest * 4 if k > 1 else 0))
    return flop, passes, rows, sent, memory


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--graph", default="papers100M", help="one of %s, or NODES,EDGES,FEATURES,CLASSES" % ", ".join(GRAPHS))
    p.add_argument("--model", choices=("sage", "gat"), default="sage")
    p.add_argument("--hidden", type=int, help="width of a layer; of a head of gat (default: 256, or 128)")
    p.add_argument("--heads", type=int, default=4)
    p.add_argument("--hosts", default="1,2,4,8,16,32,64,128")
    p.add_argument("--cores", type=float, default=72, help="of a host (default: 72)")
    p.add_argument("--gflops", type=float, default=70, help="of a core, while all work (default: 70)")
    p.add_argument("--row-rate", type=float, default=200, help="GB/s of a host (default: 200)")
    p.add_argument("--memory-rate", type=float, default=300, help="GB/s of a host (default: 300)")
    p.add_argument("--link-rate", type=float, default=20, help="GB/s in each direction (default: 20)")
    p.add_argument("--latency", type=float, default=20e-6, help="seconds of a round (default: 0.00002)")
    p.add_argument("--halo", type=float, default=0.46, help="share of a random partitioning's (default: 0.46)")
    a = p.parse_args()
    a.hidden = a.hidden or (256 if a.model == "sage" else 128)
    a.size = GRAPHS.get(a.graph) or tuple(float(v) for v in a.graph.split(","))
    for k in (int(v) for v in a.hosts.split(",")):
        flop, passes, rows, sent, memory = host(a, k)
        products = flop / (a.cores * a.gflops * 1e9) + passes / (a.memory_rate * 1e9)
        gather = rows / (a.row_rate * 1e9)
        travel = sent / (a.link_rate * 1e9) + (3 * 3 * (k - 1) * a.latency if k > 1 else 0)
        print("%4d %8.2f %8.2f %8.2f %8.2f %8.1f" % (k, products, gather, travel, products + max(gather, travel), memory / 1e9))


if __name__ == "__main__":
    main()
