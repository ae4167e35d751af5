# SPDX-License-Identifier: Apache-2.0
"""torch_save.py: writes what torch.save writes, without PyTorch: save(value, path, how, protocol), where how is zip, legacy or pickle
(a pickle alone), and tensor(array) in the value becomes a tensor."""
import io
import os
import pickle
import sys
import types
import zipfile

import numpy as np

STORAGES = {"int64": "LongStorage", "int32": "IntStorage", "float32": "FloatStorage", "bool": "BoolStorage", "uint8": "ByteStorage"}
torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
sys.modules.update({"torch": torch, "torch._utils": utils})
for _name in STORAGES.values():
    setattr(torch, _name, type(_name, (), {"__module__": "torch"}))


def _rebuild_tensor_v2():
    """Stands for PyTorch's function of this name."""


_rebuild_tensor_v2.__module__ = "torch._utils"
utils._rebuild_tensor_v2 = _rebuild_tensor_v2


def _load_from_bytes():
    """Stands for PyTorch's function of this name."""


_load_from_bytes.__module__ = "torch.storage"
storage = types.ModuleType("torch.storage")
sys.modules["torch.storage"] = storage
storage._load_from_bytes = _load_from_bytes


class Storage:
    def __init__(self, array):
        self.array = array


class tensor:  # pylint: disable=invalid-name
    def __init__(self, array):
        self.array = np.array(array, order="C")

    def __reduce__(self):
        a = self.array
        strides = tuple(s // a.itemsize for s in a.strides)
        return _rebuild_tensor_v2, (Storage(a), 0, a.shape, strides, False, {})


class System:
    """What a hostile pickle holds."""

    def __reduce__(self):
        return os.system, ("touch ran",)


class Writer(pickle.Pickler):
    def __init__(self, file, protocol, legacy):
        super().__init__(file, protocol)
        self.legacy, self.storages = legacy, []

    def persistent_id(self, obj):
        if not isinstance(obj, Storage):
            return None
        self.storages.append(obj.array)
        kind = getattr(torch, STORAGES[str(obj.array.dtype)])
        return ("storage", kind, str(len(self.storages) - 1), "cpu", obj.array.size) + ((None,) if self.legacy else ())


def save_legacy(value, f, protocol):
    for v in 0x1950A86A20F9469CFC6C, 1001, {"protocol_version": 1001, "little_endian": True, "type_sizes": {}}:
        pickle.dump(v, f, protocol)
    writer = Writer(f, protocol, True)
    writer.dump(value)
    pickle.dump([str(i) for i in range(len(writer.storages))], f, protocol)
    for a in writer.storages:
        f.write(a.size.to_bytes(8, "little") + a.tobytes())


def save(value, path, how="zip", protocol=2):
    file = io.BytesIO()
    writer = Writer(file, protocol, False)
    if how != "legacy":
        writer.dump(value)
    with open(path, "wb") as f:
        if how == "pickle":
            f.write(file.getvalue())
        elif how == "legacy":
            save_legacy(value, f, protocol)
        else:
            with zipfile.ZipFile(f, "w") as z:
                z.writestr(zipfile.ZipInfo("archive/data.pkl"), file.getvalue())
                for i, a in enumerate(writer.storages):
                    z.writestr(zipfile.ZipInfo("archive/data/%d" % i), a.tobytes())
                z.writestr(zipfile.ZipInfo("archive/version"), "3\n")


class Alone:
    """A storage as pickle.dump writes it, with the bytes of its file of torch.save."""

    def __init__(self, array):
        self.array = array

    def __reduce__(self):
        file = io.BytesIO()
        save_legacy(Storage(self.array), file, 2)
        return _load_from_bytes, (file.getvalue(),)


class Pickled(tensor):
    def __reduce__(self):
        made, arguments = super().__reduce__()
        return made, (Alone(self.array),) + arguments[1:]


def saved(array, protocol=4):
    """A tensor as pickle.dumps writes it."""
    return pickle.dumps(Pickled(array), protocol)
