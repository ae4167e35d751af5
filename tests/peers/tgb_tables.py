# SPDX-License-Identifier: Apache-2.0
"""tgb_tables.py: tables in TGB's layouts, read by TGB's own loader and by gnn-import: edges, times, sets, and negatives that TGB draws and writes.
One line a case: ok or "not ok"|name|what was seen."""
import contextlib
import io
import os
import shutil
import subprocess
import sys
import types
import warnings

import numpy as np
import torch

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "..", "interop"), os.path.join(here, "..", "import")]
warnings.simplefilter("ignore")
from tgb.linkproppred.dataset import LinkPropPredDataset
from tgb.linkproppred.negative_generator import NegativeEdgeGenerator
from tgb.utils.info import PROJ_DIR
import link_splits

rng = np.random.default_rng(8)
ROWS, USERS, ITEMS = 2000, 90, 400


def run(*args):
    r = subprocess.run(["gnn-import", "--no-provenance", "--force", *args], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr


def table(name):
    """Each edge once, as times differ."""
    t = np.sort(rng.choice(9000, ROWS, replace=False))
    t[1::7] = t[0::7][:len(t[1::7])]  # some times are of two edges
    u, i = rng.integers(0, USERS, ROWS), rng.integers(0, ITEMS, ROWS)
    u[0], i[0] = USERS - 1, ITEMS - 1
    rows = []
    for k in range(ROWS):
        if name == "tgbl-coin":
            rows.append("%d,0x%x,0x%x,%.2f" % (t[k], 7919 * u[k], 7919 * i[k] + 1, 2 + u[k]))
        elif name == "tgbl-review":
            rows.append("%d,u%d,p%d,%d" % (t[k], u[k], i[k], 1 + k % 5))
        else:
            rows.append("%d,%d,%d.0,%d,%s" % (u[k], i[k], t[k], k % 2, ",".join("%.4f" % x for x in rng.random(12))))
    header = {"tgbl-coin": "time,src,dst,weight", "tgbl-review": "ts,source,target,weight"}.get(name, "user_id,item_id,timestamp,state_label,comma_separated_list_of_features")
    return header + "\n" + "\n".join(rows) + "\n"


def compare(name, version, type_, strategy, *options):
    d = os.path.abspath("data/" + name.replace("-", "_"))
    shutil.rmtree(d, ignore_errors=True)
    os.makedirs(d)
    path = "%s/%s_edgelist%s.csv" % (d, name, version)
    with open(path, "w") as f:
        f.write(table(name))
    ds = LinkPropPredDataset(name, root=os.path.relpath("data", PROJ_DIR), download=False)
    full = ds.full_data
    what = {"valid": ("val", ds.val_mask), "test": ("test", ds.test_mask)}

    def part(mask):
        return types.SimpleNamespace(**{k: torch.from_numpy(full[n][mask]) for k, n in (("src", "sources"), ("dst", "destinations"), ("t", "timestamps"))})

    gen = NegativeEdgeGenerator(name, int(full["destinations"].min()), int(full["destinations"].max()), num_neg_e=20, strategy=strategy, historical_data=part(ds.train_mask))
    for short, mask in what.values():
        gen.generate_negative_samples(part(mask), short, d)
    run("-o", "G", *options, path)
    negatives = ",".join("%s=%s/%s_%s_ns.pkl" % (s, d, name, short) for s, (short, _) in what.items())
    run("--split-links", type_ + "=time:70/15/15", "--negatives", negatives, "-o", "S", "G")
    g, base = link_splits.Graph("S"), link_splits.Graph("G")
    kind = base.etype(type_)
    first = 0 if kind["src"] == kind["dst"] else next(n["count"] for n in base.schema["node_types"] if n["name"] == kind["src"])
    heads, tails, fields = base.edges(type_)
    ours = set(zip(heads.tolist(), (tails + first).tolist(), fields["time"].astype("i8").tolist()))
    want = set(zip(full["sources"].tolist(), full["destinations"].tolist(), full["timestamps"].tolist()))
    assert (ours if "-u" not in options or first else ours - {(b, a, t) for a, b, t in want}) == want, "edges"
    if "x" in fields:
        order = {(a, b, t): x for a, b, t, x in zip(full["sources"].tolist(), full["destinations"].tolist(), full["timestamps"].tolist(), full["edge_feat"])}
        mine = {k: x for k, x in zip(zip(heads.tolist(), (tails + first).tolist(), fields["time"].tolist()), fields["x"])}
        assert all(np.array_equal(mine[k], np.float32(x)) for k, x in order.items()), "features"
    for name_, (short, mask) in what.items():
        links, times = g.links(name_)
        mine = [(int(a), int(b) + first, int(t)) for (a, b), t in zip(links, times)]
        assert sorted(mine) == sorted(set(zip(full["sources"][mask].tolist(), full["destinations"][mask].tolist(), full["timestamps"][mask].tolist()))), "set " + name_
        ds.ns_sampler.load_eval_set("%s/%s_%s_ns.pkl" % (d, name, short), short)
        theirs = ds.ns_sampler.query_batch(*(np.array(x) for x in zip(*mine)), split_mode=short)
        given = np.concatenate([p["split/candidates/" + name_] for p in g.parts]).reshape(len(mine), 20, 2)
        assert np.array_equal(given[:, :, 1].astype("i8") + first, np.array(theirs)), "negatives of " + name_
        assert (given[:, :, 0] == links[:, :1]).all(), "heads of negatives"


for case in [("tgbl-wiki", "_v2", "user/to/item", "rnd", "--directed"), ("tgbl-wiki", "_v2", "node/to/node", "hist_rnd", "--directed", "--edge-type", "node/to/node"),
             ("tgbl-wiki", "_v2", "node/to/node", "hist_rnd", "-u", "--edge-type", "node/to/node"), ("tgbl-uci", "", "user/to/item", "hist_rnd", "-u"),
             ("tgbl-coin", "_v2", "node/to/node", "hist_rnd", "--directed"), ("tgbl-review", "_v2", "node/to/node", "hist_rnd", "--directed", "--time", "ts")]:
    text = "%s %s" % (case[0], " ".join(case[3:]))
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            compare(*case)
        print("ok|gnn-import and TGB agree: %s|" % text)
    except Exception as e:  # pylint: disable=broad-except
        print("not ok|gnn-import and TGB agree: %s|%s" % (text, repr(e)[:300]))
