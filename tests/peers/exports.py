# SPDX-License-Identifier: Apache-2.0
"""Reads what gnn-inspect --export wrote, with NumPy, SciPy, pandas and PyG, and compares it (88-export.t)."""
import sys

import numpy as np


def tables():
    import pandas as pd
    import scipy.io

    # The table that was imported, as a matrix and as arrays.
    given = pd.read_csv('e.csv')
    want = np.zeros((97, 97), np.float32)
    want[given['from'], given['to']] = given['weight']
    graph = np.load('plain.npz')
    assert graph['edge_index'].dtype == np.int64 and int(graph['num_nodes']) == 97
    dense = np.zeros_like(want)
    dense[tuple(graph['edge_index'])] = graph['edge_weight']
    assert np.array_equal(dense, want)
    assert np.array_equal(scipy.io.mmread('plain.mtx').toarray().astype(np.float32), want)
    table = pd.read_csv('plain.csv')
    dense = np.zeros_like(want)
    dense[table['source'], table['target']] = table['weight']
    assert np.array_equal(dense, want)

    # Words come back as they were.
    rows = [sorted(map(tuple, pd.read_csv(f).to_numpy().tolist())) for f in ('given.csv', 'words.csv')]
    assert rows[0] == rows[1] and len(rows[0]) == 3

    # A graph of types, from partitions.
    types = np.load('types.npz')
    nodes = pd.read_csv('nodes.csv')
    width = types['t0/x'].shape[1]
    assert np.array_equal(nodes['id'], np.arange(300)) and np.array_equal(nodes['y'], types['t0/y'])
    assert np.array_equal(nodes[[f'x_{i}' for i in range(width)]].to_numpy(np.float32), types['t0/x'])
    assert np.array_equal(np.load('y.npy'), types['t0/y'])
    up, ends = pd.read_csv('up.csv'), types['t0/up/t1/edge_index']
    assert np.array_equal(up[['source', 'target']].to_numpy().T, ends) and np.array_equal(up['time'], types['t0/up/t1/time'])
    matrix = scipy.io.mmread('up.mtx').tocoo()
    assert matrix.shape == (300, 300) and np.array_equal(np.stack([matrix.row, matrix.col]), ends)

    # A batch: its matrix has local numbers, its table ids.
    batch = np.load('batch.npz')
    matrix, table = scipy.io.mmread('batch.mtx').tocoo(), pd.read_csv('batch.csv')
    sources, targets = batch['batch-1/nodes/t0'], batch['batch-1/nodes/t1']
    assert matrix.shape == (len(sources), len(targets)) and matrix.nnz == len(table) > 0
    assert np.array_equal(sources[matrix.row], table['source']) and np.array_equal(targets[matrix.col], table['target'])
    assert np.array_equal(ends[:, table['edge_id']], table[['source', 'target']].to_numpy().T)


def pyg():
    import torch
    from torch_geometric.data import Data, HeteroData

    graph = {k: torch.from_numpy(v) for k, v in np.load('plain.npz').items() if v.ndim}
    data = Data(**graph, num_nodes=97)
    assert data.validate() and data.edge_weight.dtype == torch.float32
    hetero = HeteroData()
    for name, array in np.load('types.npz').items():
        *kind, field = name.split('/')
        if array.ndim and '.' not in field:
            hetero[kind[0] if len(kind) == 1 else tuple(kind)][field] = torch.from_numpy(array)
    assert hetero.validate() and hetero['t0'].y.dtype == torch.int64 and len(hetero.edge_types) == 5


(pyg if sys.argv[1:] else tables)()
