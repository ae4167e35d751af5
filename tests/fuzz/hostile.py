# SPDX-License-Identifier: Apache-2.0
"""hostile.py DIR: writes pickles that would harm who runs them, or whose numbers lie, alone and in files of torch.save; prints how many. What each
would do is to make the file "ran"."""
import itertools
import os
import struct
import sys
import zipfile

DIR = sys.argv[1]
os.makedirs(DIR)
count = 0


def write(name, pickle):
    """Each as a pickle alone and as the pickle of an archive of torch.save."""
    global count
    with open("%s/%s.pkl" % (DIR, name), "wb") as f:
        f.write(pickle)
    with zipfile.ZipFile("%s/%s.pt" % (DIR, name), "w") as z:
        z.writestr("archive/data.pkl", pickle)
        z.writestr("archive/data/0", bytes(64))
        z.writestr("archive/version", "3\n")
    count += 2


def text(s):
    return b"X" + struct.pack("<I", len(s)) + s.encode()


# Calls, by each way in which a pickle can name what it calls and call it.
CALLS = ["os system", "posix system", "nt system", "subprocess Popen", "subprocess check_output", "builtins eval", "builtins exec", "__builtin__ eval",
         "builtins __import__", "builtins getattr", "builtins open", "io open", "os popen", "os execv", "os remove", "shutil rmtree", "pty spawn",
         "importlib import_module", "runpy run_path", "webbrowser open", "ctypes CDLL", "pickle loads", "_pickle loads", "marshal loads", "types CodeType",
         "types FunctionType", "operator attrgetter", "operator methodcaller", "functools partial", "torch load", "torch.hub load", "torch.jit load",
         "torch.serialization load", "torch._utils exec", "torch_geometric.io fs", "numpy load", "numpy fromfile", "numpy.core.multiarray fromfile",
         "numpy f2py", "numpy.testing._private.utils runstring", "collections namedtuple", "codecs open", "_codecs lookup", "copyreg _reconstructor",
         "copy_reg _reconstructor", "builtins type", "builtins object", "builtins print", "socket socket", "http.client HTTPConnection"]
for i, call in enumerate(CALLS):
    module, name = call.split(" ")
    write("global-%02d" % i, b"\x80\x02c" + module.encode() + b"\n" + name.encode() + b"\n" + text("touch ran") + b"\x85R.")
    write("stack-%02d" % i, b"\x80\x04" + b"\x8c" + bytes([len(module)]) + module.encode() + b"\x8c" + bytes([len(name)]) + name.encode() + b"\x93"
          + text("touch ran") + b"\x85R.")
for i, tail in enumerate((b"(" + text("touch ran") + b"iposix\nsystem\n.", b"(cposix\nsystem\n" + text("touch ran") + b"o.",
                          b"cposix\nsystem\n" + text("touch ran") + b"\x85\x81.", b"cposix\nsystem\n)}" + text("a") + b"\x86b.")):
    write("call-%d" % i, b"\x80\x02" + tail)
# Names that are known in the wrong place, with dots, or of other modules with the same letters.
for i, names in enumerate(("collections\nOrderedDict.__class__", "collections.OrderedDict\n", "\ncollections.OrderedDict", "torch\n_utils._rebuild_tensor_v2",
                           "numpy\ncore.multiarray._reconstruct", "numpy.core.multiarray\n_reconstruct.__globals__")):
    write("name-%d" % i, b"\x80\x02c" + names.encode() + b"\n)R.")
# Numbers that lie.
HUGE = 1 << 40
for i, op in enumerate((b"\x8d" + struct.pack("<Q", HUGE), b"\x8e" + struct.pack("<Q", HUGE), b"\x96" + struct.pack("<Q", HUGE), b"X\xff\xff\xff\xff", b"B\xff\xff\xff\xff",
                        b"T\xff\xff\xff\x7f", b"\x8b\xff\xff\xff\x7f", b"\x95" + struct.pack("<Q", HUGE), b"r\xff\xff\xff\x7f", b"j\xff\xff\xff\x7f", b"h\xff", b"g123456789\n",
                        b"p99999999999999999999\n", b"I99999999999999999999999\n", b"L123456789012345678901234567890L\n")):
    write("length-%02d" % i, b"\x80\x04" + op + b".")
# Stacks that are empty, marks that are missing, values of the wrong kind.
for i, ops in enumerate((b".", b"0.", b"R.", b"b.", b"s.", b"u.", b"a.", b"e.", b"t.", b"d.", b"l.", b"(.", b"((.", b"(t", b"}}s.", b"]]a0.", b"}]u.", b"NNb.", b"NNR.", b")N\x81.",
                         b"\x91.", b"\x90.", b"(\x90.", b"\x8f]\x90.", b"}(]NK\1u.", b"\x93.", b"NN\x93.", b"\x94.", b"2.", b"1.")):
    write("stack-op-%02d" % i, b"\x80\x04" + ops)
# Opcodes that nobody needs, and those that are none.
known = set(b"().012BCFGIJKLMNQPRSTUVX]abcdeghijlopqrstu}\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f\x90\x91\x92\x93\x94\x95\x96\x97\x98")
for op in itertools.chain(b"\x82\x83\x84\x92\x97\x98Q", (o for o in range(256) if o not in known)):
    write("opcode-%02x" % op, b"\x80\x05N" + bytes([op]) + bytes(8) + b".")
# Values in themselves and in each other.
write("loop-list", b"\x80\x02]q\x00h\x00a.")
write("loop-dict", b"\x80\x02}q\x00h\x00h\x00s.")
write("loop-tuple", b"\x80\x02]q\x00(h\x00h\x00tq\x01a.")
write("deep", b"\x80\x02" + b"]" * 200000 + b"a" * 199999 + b".")
write("wide", b"\x80\x02]q\x00" + b"".join(b"(" + b"h\x00" * 500 + b"t0" for _ in range(400)) + b".")
bomb = b"\x80\x02]q\x00"
for level in range(60):
    bomb += b"]" + b"(" + (b"h" + bytes([level])) * 10 + b"eq" + bytes([level + 1]) + b"0"
write("bomb", bomb + b"h<.")
# Tensors whose storage ends before them, and which say that they are larger than all memory.
STORAGE = (b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu") + b"K\x10tQ")
for i, (at, shape, stride) in enumerate(((0, 17, 1), (1, 16, 1), (HUGE, 1, 1), (0, HUGE, 1), (0, HUGE, 0), (0, 16, HUGE), (0, 1 << 62, 1 << 62), (-1, 4, 1), (0, -4, 1), (0, 4, -1))):
    def number(v):
        return b"\x8a\x08" + struct.pack("<q", v)
    write("tensor-%d" % i, b"\x80\x02}" + text("edge_index") + b"ctorch._utils\n_rebuild_tensor_v2\n(" + STORAGE + number(at) + number(shape) + b"\x85" + number(stride)
          + b"\x85\x89}tRs.")
print(count)
