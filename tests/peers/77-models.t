# SPDX-License-Identifier: Apache-2.0
# load_model computes what gnn-predict does, and save_model writes what the programs read.
. "$GNN_TOP/tests/lib.sh"
GNN_PYTHON=${GNN_PEERS-}
. "$GNN_TOP/tests/python/lib.sh"
"${python-}" -c 'import torch_geometric' 2>/dev/null || { skip "models" "no PyG"; done_testing; }
gnn-import -q -o graph sbm:nodes=600 || exit 1
cat >models.py <<'EOP'
from helpers import *
import torch
from gnntools.weights import read_weights
from torch_geometric.data import HeteroData
torch.manual_seed(1)

def gap(model, store, path, *inputs):
    with torch.no_grad():
        return abs(model.eval()(*inputs).numpy() - g.predict(store, path, output_kind="values").rows).max()
EOP
says() {
    printf '%s\n' 'from models import *' >head
    cat >>head
    PYTHONPATH=$PYTHONPATH:. py "$1" <head
    : >head
}
says "a model of gnn-train, loaded, saved and read by gnn-predict" <<'EOP'
g.train("graph", "m.st", fanout=[5, 5], hidden=16, epochs=2)
data, m = g.to_pyg("graph"), g.load_model("m.st")
assert gap(m, "graph", "m.st", data.x, data.edge_index) < 1e-5
try:
    import xxhash
    g.save_model(m, "again.st")
    a, b = read_weights("m.st"), read_weights("again.st")
    assert a[1].keys() == b[1].keys() and all(torch.equal(a[1][k], b[1][k]) for k in a[1])
    assert np.array_equal(g.predict("graph", "again.st").rows, g.predict("graph", "m.st").rows)
    g.train("graph", "more.st", init="again.st", fanout=[5, 5], epochs=1)
    with open("again.st", "r+b") as f:
        f.seek(-5, 2)
        f.write(b"!")
    raises(ValueError, "again.st: its checksum is wrong", g.load_model, "again.st")
except ImportError:
    raises(ValueError, "pip install xxhash", g.save_model, m, "again.st")
EOP
says "a model of PyG, also in DataParallel's wrapper, read by gnn-predict and trained further" <<'EOP'
from torch_geometric.nn import GraphSAGE
data, m = g.to_pyg("graph"), GraphSAGE(16, 8, 2, 4)
for i, what in enumerate([m, torch.nn.DataParallel(m), m.state_dict(), {f"module.{k}": v for k, v in m.state_dict().items()}]):
    g.save_model(what, f"{i}.st")
    assert open(f"{i}.st", "rb").read() == open("0.st", "rb").read()
assert gap(m, "graph", "0.st", data.x, data.edge_index) < 1e-5
g.train("graph", "more.st", init="0.st", fanout=[5, 5], hidden=8, layer_norm=False, epochs=1)
m.load_state_dict(read_weights("more.st")[1])
EOP
says "types whose names ModuleDict escapes" <<'EOP'
h, edges = HeteroData(), lambda n, m: torch.stack([torch.randint(0, n, (90,)), torch.randint(0, m, (90,))])
h["pop"].x, h["of.x"].x, h["pop"].y, h["pop"].train_mask = torch.randn(20, 3), torch.randn(30, 5), torch.randint(0, 3, (20,)), torch.ones(20).bool()
h["of.x", "to.y", "pop"].edge_index, h["pop", "r", "of.x"].edge_index = edges(30, 20), edges(20, 30)
s = g.from_pyg(h, "typed")
g.train(s, "typed.st", fanout=[-1, -1], hidden=8, epochs=2, eval="none")
m = g.load_model("typed.st")
assert gap(m, s, "typed.st", h.x_dict, h.edge_index_dict) < 1e-5
assert any("<pop>" in k for k in m.state_dict()) and any("of#x" in k for k in m.state_dict())
g.save_model(m.state_dict(), "back.st")
assert read_weights("back.st")[1].keys() == read_weights("typed.st")[1].keys()
EOP
says "bad models and files are one exception" <<'EOP'
from torch_geometric.nn import SAGEConv
raises(ValueError, "a has nan, which no program accepts", g.save_model, {"a": torch.tensor([1., torch.nan])}, "x")
raises(ValueError, "lin_l.weight is not made yet: apply the model to a batch first", g.save_model, SAGEConv((-1, -1), 3), "x")
raises(ValueError, "a is torch.complex64: convert it", g.save_model, {"a": torch.zeros(1, dtype=torch.complex64)}, "x")
raises(ValueError, "two parameters are a.b in the file", g.save_model, {"a#b": torch.zeros(1), "a.b": torch.zeros(1)}, "x")
assert not os.path.exists("x") and not [f for f in os.listdir(".") if f.startswith("x.")]
raises(ValueError, "a state dict, which does not say of what model", g.load_model, "0.st")
raises(ValueError, "models.py: no model", g.load_model, "models.py")
open("cut.st", "wb").write(open("0.st", "rb").read()[:-9])
raises(ValueError, "cut.st: no model", g.load_model, "cut.st")
subprocess.run("gnn-train -q --store graph -f 2,2 --hidden 8 --epochs 1 --eval none --checkpoint ck -o m".split(), check=True)
raises(ValueError, "a checkpoint of a run, whose model is the file of gnn-train -o", g.load_model, "ck/checkpoint.safetensors")
EOP
done_testing
