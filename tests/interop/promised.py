# SPDX-License-Identifier: Apache-2.0
"""What gnb(5) says of the counts in a batch: its seeds, blocks and picks are those that the header promises."""
import os
import struct

import numpy as np


def version(header):
    """The version of the frames."""
    sampling = header.get("sampling", {})
    if any(f.get("scaled") for t in header["schema"]["node_types"] for f in t["fields"]):
        return 4
    if any(s.get("negatives", {}).get("ragged") for s in sampling.get("splits", [])) or \
            ("sampling" not in header and any(s["split"] == "candidates-ragged" for s in header["schema"]["splits"])):
        return 4
    return 3 if "links" in sampling else 1 + any(bool(sampling.get(key)) for key in ("disjoint", "time", "induced"))


def reverse_key(edge_types, key):
    """The edge type with the reverses of another's edges, of a schema's: the one that says so, or whose name does; or None."""
    of = {"%(src)s/%(rel)s/%(dst)s" % t: t for t in edge_types}
    said = {k: t["reverse_of"] for k, t in of.items() if "reverse_of" in t}
    said.update({v: k for k, v in said.items()})
    if key in said:
        return said[key]
    src, rel, dst = (of[key][k] for k in ("src", "rel", "dst"))
    names = ["rev_" + rel] + [rel[4:]] * rel.startswith("rev_")
    return next((k for k in ("%s/%s/%s" % (dst, n, src) for n in names) if k in of and k not in said), None)


def with_base(must, read_store, path, header, parts):
    """The parts of a store; what they do not have, they have from its base store."""
    if "base" not in header:
        return parts
    base, others = read_store(os.path.join(path, header["base"]["path"]))
    must(base["identity"] == header["base"]["identity"], "identity of the base store")
    must("base" not in base, "base store of a base store")
    for own, other in zip(parts, others):
        known = set(own)
        own.update((k, v) for k, v in other.items() if k not in known and not k.startswith("halo/")
                   and not (k.startswith("edge/") and k.rpartition("/")[0] + "/indptr" in known))
    return parts


def must_be(must, path, header, batches):
    """The version and all batches of a stream are what its header asks for; returns the two."""
    with open(path, "rb") as f:
        must(struct.unpack("<4xH", f.read(6))[0] == version(header), "major version of this header")
    for batch in batches:
        must_promised(must, header, batch)
    return header, batches


def must_promised(must, header, batch):
    schema, s = header["schema"], header["sampling"]
    types = {t["name"]: batch["counts/" + t["name"]].tolist() for t in schema["node_types"]}
    edges = ["%s/%s/%s" % (t["src"], t["rel"], t["dst"]) for t in schema["edge_types"]]
    step, split = int(batch["key"][1]), s["splits"][int(batch["key"][2])]
    walks, clusters, links, last = s.get("walks"), s.get("clusters"), s.get("links"), len(s["fanout"]) - 1
    most = s["batch_size"]
    must(step < split["steps"] or not split["steps"], "step")
    if split["steps"] and split["seeds"] and not clusters:
        most = min(most, max(0, split["seeds"] - step * most))
    ends = (links or {}).get("type", "//" + s["seed_type"]).split("/")
    if links:
        own = len(batch["pair"])
        must((own == most or ("ranks" in s and own < most)) and int(batch["seeds"][0]) == most, "the number of links")
        must(("pair/at" in batch) == ("ranks" in s), "the places of links")
        most = 2 * (most + len(batch.get("negative", ())))
    for t, c in types.items():
        must(t in (ends[0], ends[-1]) or c[0] == 0, "seeds of another type")
        must(c[0] <= most, "more seeds than promised")
        must(c[0] or t != s["seed_type"] or "ranks" in s or clusters, "no seeds")
    for hop, fanout in enumerate(s["fanout"]):
        reach = {}
        for e, key, pick in zip(schema["edge_types"], edges, fanout):
            name = "hop/%d/%s/" % (hop, key)
            first = types[e["dst"]][hop - 1] if s["frontier"] == "new" and hop and not (s.get("induced") and hop == last) else 0
            rows = types[e["dst"]][hop] - first
            if walks or (s.get("induced") and hop < last):
                must(name + "indptr" not in batch, "a block that is not kept")
                continue
            must(name + "indptr" in batch or not rows or not pick, "a block is missing")
            if name + "indptr" in batch:
                picks = np.diff(batch[name + "indptr"].astype("i8"))
                must(len(picks) == rows and (picks >= 0).all() and (pick < 0 or (picks <= pick).all()), "picks")
                sources = batch[name + "indices"]
                copies = s["batch_size"] if (s.get("disjoint") or s.get("time")) and not clusters else 1
                must((s["replace"] and pick > 0) or "hop_time" in s.get("time", {}) or len(sources) <= e["count"] * copies, "edges")
                reach[e["src"]] = max(reach.get(e["src"], 0), int(sources.max()) + 1 if len(sources) else 0)
        for t, c in types.items():
            if not walks and not (s.get("induced") and hop < last):
                must(c[hop + 1] == c[hop] or reach.get(t, 0) == c[hop + 1], "nodes that no edge leads to")


    for name, a in batch.items():
        must(name.split("/")[0] in "key seeds nodes tree time walk pair negative counts counted draws hop node".split(), "tensor " + name)
        field = name.split("/")[-1]
        if name.startswith("node/") and field not in ("id", "y"):
            must(len(a) == types[name[5:-1 - len(field)]][-1], "rows of nodes")
    if walks and walks["window"]:
        n, w = walks["length"] + 1, min(walks["window"], walks["length"])
        must(len(batch["pair"]) <= s["batch_size"] * walks["per_seed"] * (2 * n * w - w * (w + 1)), "pairs")
    if walks and not walks["window"]:
        first = batch["walk"][:, 0].reshape(-1, walks["per_seed"])
        must((first == first[:, :1]).all(), "walks of several seeds")
        must(list(dict.fromkeys(first[:, 0].tolist())) == list(range(types[s["seed_type"]][0])), "order of walks")
