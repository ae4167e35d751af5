# SPDX-License-Identifier: Apache-2.0
# The Python package beside torch: tensors over its arrays, rows by tensors of ids, and workers of a DataLoader.
. "$GNN_TOP/tests/lib.sh"
GNN_PYTHON=${GNN_PEERS:-python3}
"$GNN_PYTHON" -c 'import torch' 2>/dev/null || { skip "tensors of the Python package" "no torch"; done_testing; }
. "$GNN_TOP/tests/python/lib.sh"
gnn-import -q sbm:nodes=4000,features=64 -o one || exit 1
cat >begin.py <<'EOP'
import warnings

import torch
import torch.utils.data

from helpers import *
from gnntools.store import as_tensor

warnings.simplefilter("error")
EOP
py "rows by a tensor of ids are torch's own, and so are their types" <<'EOP'
from begin import *
store, ids = g.Store("one"), torch.randint(0, 4000, (50000,))
assert torch.equal(store.x[ids], torch.from_numpy(np.asarray(store.x))[ids]) and store.y[ids].dtype == torch.int32
assert torch.equal(store.x[torch.arange(4000) % 3 == 0], store.x[torch.arange(0, 4000, 3)])
raises(IndexError, "is -1", store.x.__getitem__, torch.tensor([-1]))
EOP
py "a sample of a tensor of seeds is int64 tensors" <<'EOP'
from begin import *
n_id, size, adjs = g.Store("one").sample(torch.arange(30), [5, 3], edge_ids=True)
assert size == 30 and len(adjs) == 2 and torch.equal(n_id[:30], torch.arange(30))
for a in adjs:
    assert a.edge_index.dtype == a.e_id.dtype == torch.int64 and a.edge_index.shape == (2, len(a.e_id))
    assert int(a.edge_index[0].max()) < a.size[0] and int(a.edge_index[1].max()) < a.size[1]
EOP
py "tensors of a batch are its memory, without a warning, and may be written to" <<'EOP'
from begin import *
store = g.Store("one")
for batch in g.Loader(store, [5, 3], batch_size=200):
    x = as_tensor(batch.field("x"))
    assert x.data_ptr() == batch.field("x").__array_interface__["data"][0]
    assert torch.equal(x, store.x[torch.from_numpy(batch.n_id().astype(np.int64))])
    x.mul_(2)
b = next(iter(g.Loader(store, [5, 3], gather={"dtype": "bf16"})))
want = store.x[torch.from_numpy(b.n_id().astype(np.int64))].to(torch.bfloat16)
assert torch.equal(as_tensor(b.field("x"), True), want)
EOP
py "a loader is an IterableDataset whose workers share its steps in order, forked or spawned" <<'EOP'
from begin import *
loader = g.Loader("one", [5, 3], batch_size=100)
if __name__ == "__main__":
    assert isinstance(loader, torch.utils.data.IterableDataset)
    want = list(loader)
    for workers, how in (0, None), (1, None), (2, "fork"), (2, "spawn"):
        loader.set_epoch(0)
        data = torch.utils.data.DataLoader(loader, batch_size=None, num_workers=workers, multiprocessing_context=how)
        got = list(data)
        assert len(got) == 24 and all(map(same, got, want)), (workers, how)
EOP
done_testing
