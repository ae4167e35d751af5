# SPDX-License-Identifier: Apache-2.0
"""Files of models (safetensors): load_model(), and save_model() for what PyTorch trained."""
from __future__ import annotations

import json
import os
import re
import tempfile
from typing import Any, Mapping

import numpy as np

_DTYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32",
           "I16": "int16", "I8": "int8", "U8": "uint8", "BOOL": "bool"}
_SUM = "gnn_checksum"
_PREFIXES = ("module.", "_orig_mod.")  # of DistributedDataParallel and of torch.compile


def read_weights(path: str) -> tuple[dict[str, str], dict[str, Any]]:
    """The metadata of a file, and its tensors (on the host, writable). gnn-train's checksum is verified by xxhash, if
    that is there. Raises ValueError for a file that is cut or damaged."""
    import torch

    with open(path, "rb") as f:
        data = f.read()
    try:
        n = int.from_bytes(data[:8], "little")
        header, body = json.loads(data[8:8 + n]), memoryview(bytearray(data[8 + n:]))
        meta = header.pop("__metadata__", {})
        state = {}
        for name, t in header.items():
            if "run" in meta:
                raise ValueError("a checkpoint of a run, whose model is the file of gnn-train -o")
            start, end = t["data_offsets"]
            dtype = getattr(torch, _DTYPES[t["dtype"]])
            flat = torch.frombuffer(body[start:end], dtype=dtype) if end > start else torch.empty(0, dtype=dtype)
            state[name] = flat.reshape(t["shape"])
    except (ValueError, KeyError, TypeError, RuntimeError, AttributeError) as why:
        raise ValueError(f"{path}: no model: {why}; gnn-inspect tells what it is") from None
    digest = meta.get(_SUM)
    if digest is not None and _checksum(data.replace(digest.encode(), b"0" * 32, 1)) not in (digest, None):
        raise ValueError(f"{path}: its checksum is wrong: it is damaged")
    return meta, state


def load_model(path: str, dropout: float = 0.0) -> Any:
    """A model of gnn-train(1) as a torch.nn.Module of PyG's layers (gnntools.model). Raises ValueError for other and
    for damaged files, and NotImplementedError for a model that PyG has no layers for."""
    from .model import GnnModel

    return GnnModel.load(path, dropout)


def _checksum(data: bytes) -> Any:
    try:
        from xxhash import xxh3_128_hexdigest
    except ImportError:
        return None
    return xxh3_128_hexdigest(data)


def save_model(model: Any, path: str) -> None:
    """Writes the parameters of a torch.nn.Module, or of its state_dict(), as gnn-predict(1) and gnn-train(1) --init
    read them.

    A model of load_model() keeps its description, so that the file says what the model is; that needs the module
    xxhash. Of any other, the file has names and shapes, which the programs take for PyG's layers (gnn-models(7)). Names
    are made what they were before PyG's ModuleDict escaped them, and the prefixes of DistributedDataParallel and
    torch.compile are left out. The file appears when it is complete. Raises ValueError for parameters that are not
    finite, that a lazy module has not made yet, or whose dtype is none of a file's, and for two of one name."""
    while hasattr(model, "_orig_mod") or type(model).__name__ in ("DistributedDataParallel", "DataParallel"):
        model = getattr(model, "_orig_mod", None) or model.module
    state = dict(model.state_dict() if hasattr(model, "state_dict") else model)
    for prefix in _PREFIXES * 2:
        if state and all(k.startswith(prefix) for k in state):
            state = {k[len(prefix):]: v for k, v in state.items()}
    meta = {"format": "pt"}
    if hasattr(model, "description"):
        meta.update(model.metadata, gnn=json.dumps(model.description, separators=(",", ":")))
        meta[_SUM] = "0" * 32
    named: dict[str, np.ndarray] = {}
    for k, v in state.items():
        name = model.file_name(k) if hasattr(model, "file_name") else _plain_name(k)
        if name in named:
            raise ValueError(f"save_model: two parameters are {name} in the file: rename a node type")
        named[name] = v
    _write(path, meta, {k: _bits(k, v) for k, v in sorted(named.items())})


def _plain_name(name: str) -> str:
    """A name without the escapes of node types in PyG's ModuleDict: "a#b" for a.b, and "<pop>" for what modules call
    something else. Edge types, <s___r___d> and s__r__d, have theirs in files, too."""
    def part(word: str) -> str:
        if "__" in word:
            return word
        return re.sub(r"^<([^<>]+)>$", r"\1", word).replace("#", ".")
    return ".".join(map(part, name.split(".")))


def _bits(name: str, value: Any) -> tuple[str, list[int], bytes]:
    """dtype, shape and bytes of a parameter."""
    import torch

    if isinstance(value, torch.nn.parameter.UninitializedTensorMixin):
        raise ValueError(f"save_model: {name} is not made yet: apply the model to a batch first")
    t = torch.as_tensor(value).detach().cpu().contiguous()
    dtype = next((k for k, v in _DTYPES.items() if str(t.dtype) == f"torch.{v}"), None)
    if dtype is None:
        raise ValueError(f"save_model: {name} is {t.dtype}: convert it, as by model.float()")
    if t.is_floating_point() and not bool(torch.isfinite(t).all()):
        raise ValueError(f"save_model: {name} has {t[~torch.isfinite(t)][0].item()}, which no program accepts: "
                         "training has diverged")
    return dtype, list(t.shape), t.reshape(-1).view(torch.uint8).numpy().tobytes()


def _write(path: str, meta: Mapping[str, str], tensors: Mapping[str, tuple[str, list[int], bytes]]) -> None:
    header, at = {"__metadata__": dict(meta)}, 0
    for k, (dtype, shape, data) in tensors.items():
        header[k] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    head = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    head += b" " * (-len(head) % 64)
    whole = len(head).to_bytes(8, "little") + head + b"".join(data for _, _, data in tensors.values())
    if _SUM in meta:
        digest = _checksum(whole)
        if digest is None:
            raise ValueError("save_model: a model with its description needs a checksum: pip install xxhash, or save "
                             "model.state_dict()")
        whole = whole.replace(f'"{_SUM}":"{"0" * 32}"'.encode(), f'"{_SUM}":"{digest}"'.encode(), 1)
    folder = os.path.dirname(os.path.abspath(path))
    fd, temporary = tempfile.mkstemp(prefix=os.path.basename(path) + ".", dir=folder)
    try:
        with os.fdopen(fd, "wb") as f:
            f.write(whole)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
