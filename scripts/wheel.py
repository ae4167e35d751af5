# SPDX-License-Identifier: Apache-2.0
"""Packs a wheel: programs with the libraries that they load, manuals, completions and the Python package. Run by `make wheel`.

usage: wheel.py VERSION FOLDER TOOLKIT PROGRAM...   (from the top of the tree; auditwheel, patchelf, strip and ldd are in PATH)

The wheel is written into FOLDER under the name of the oldest platform that auditwheel finds it fit for; its path is printed. Nothing
is written if that platform is younger than GLIBC, if a wheel for CPUs has more than MOST bytes, or if a library comes without its licence.
The programs are .data/scripts, which installers put into bin as they are: no Python starts them. Their libraries are .data/data, below
the same folder as bin, so that one relative path holds for environments, --user, --prefix and --target.

TOOLKIT is CUDA's that programs are built with, or '' for CPUs. Its run-time is linked statically. What programs load of CUDA when they
use a device is not bundled: the driver is the machine's, and cuBLASLt, half a gigabyte, NVIDIA's package, which the wheel requires.
"""

import base64
import glob
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

MOST = 15_000_000
GLIBC = (2, 34)  # of RHEL 9; Ubuntu 22.04 and Debian 12 are younger
# Each machine has these, and newer ones than the programs need. Their own libraries may need the machine's.
OF_THE_MACHINE = re.compile(r"(ld-linux.*|linux-vdso|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+))\.so")
# What the bundled programs hold of libraries that are linked statically.
STATIC = ("libarchive-dev",)
# As seen from bin, once installed and in the wheel itself, where auditwheel looks.
RPATH = "$ORIGIN/../lib/gnn-tools:$ORIGIN/../data/lib/gnn-tools"

METADATA = """Metadata-Version: 2.4
Name: {name}
Version: {version}
Summary: Sampling, gathering and training of graph neural networks{on}: programs, and a drop-in for PyG's loaders
License-Expression: Apache-2.0 AND BSD-2-Clause AND BSD-3-Clause AND MIT AND Zlib AND LGPL-3.0-or-later AND GPL-3.0-or-later WITH GCC-exception-3.1{licence}
{licences}
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Requires-Python: >=3.9
Requires-Dist: numpy
{requires}Provides-Extra: verify
Requires-Dist: xxhash; extra == "verify"
Provides-Extra: parquet
Requires-Dist: pyarrow; extra == "parquet"
Description-Content-Type: text/markdown

{about}"""
# What is said beside that of a wheel for GPUs, and for CPUs.
CUDA = {
    "name": "gnn-tools-cuda",
    "on": " on GPUs",
    "licence": " AND LicenseRef-NVIDIA-Proprietary",
    "requires": "Requires-Dist: {cublas}\n",
    "about": """gnn-tools-cuda is gnn-tools for NVIDIA's GPUs, with CUDA {major}: the same programs and the same package `gnntools`, under the same names.
**Install one or the other**: `pip uninstall gnn-tools` comes first. Without a driver, its programs run on CPUs.

""",
}
CPU = {**dict.fromkeys(CUDA, ""), "name": "gnn-tools"}


def fail(why):
    sys.exit(f"wheel.py: {why}")


def run(*command):
    try:
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout
    except FileNotFoundError:
        fail(f"{command[0]} is not here: `make wheel` installs it into build/wheel-tools, or put one into PATH")
    except subprocess.CalledProcessError as e:
        fail(f"{' '.join(command)} ended with status {e.returncode}: {e.stderr.strip()}")


def read(path):
    with open(path, "rb") as f:
        return f.read()


def libraries(programs):
    """Paths by name of what the programs load beside the machine's."""
    found = {}
    for program in programs:
        for line in run("ldd", program).splitlines():
            name, _, path = line.strip().partition(" => ")
            if OF_THE_MACHINE.match(name) or not path:
                continue
            if path == "not found":
                fail(f"{program}: {name} is not found")
            found[name] = path.split(" (")[0]
    return found


def package_of(path):
    """The Debian package that has a file; the same file may be listed with and without /usr."""
    real = os.path.realpath(path)
    for name in (real, real[4:] if real.startswith("/usr/") else "/usr" + real):
        listed = subprocess.run(["dpkg", "-S", name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        if listed:
            return listed.split(":")[0]
    fail(f"{path} is in no Debian package: its licence, which the wheel must have, is not known")


def with_cuda(toolkit):
    """What is said of a wheel that was built with this toolkit."""
    header = f"{toolkit}/include/cuda_runtime_api.h"
    version = re.search(rb"#define +CUDART_VERSION +(\d+)", read(header))
    if not version:
        fail(f"{header} does not define CUDART_VERSION")
    major = int(version[1]) // 1000
    cublas = f"nvidia-cublas>={major},<{major + 1}" if major > 12 else f"nvidia-cublas-cu{major}"
    return {key: text.format(major=major, cublas=cublas) for key, text in CUDA.items()}


def cuda_licence(toolkit):
    """NVIDIA's licence, as the toolkit has it; of a toolkit that pip installed, as the run-time's package has it, or Debian's."""
    places = ("EULA.txt", "dist-info/nvidia_cuda_runtime-*/licenses/License.txt", "../../nvidia_cuda_runtime-*/licenses/License.txt")
    for path in (p for place in places for p in glob.glob(f"{toolkit}/{place}")):
        return read(path)
    return read(f"/usr/share/doc/{package_of(f'{toolkit}/lib64/libcudart_static.a')}/copyright")


def licences(found, toolkit):
    """Licence texts by name, and the list of what is bundled."""
    packages = {package_of(path): name for name, path in sorted(found.items())}
    packages.update({p: p.rsplit("-", 1)[0] + " (linked statically)" for p in STATIC})
    texts, listed = {"LICENSE": read("LICENSE")}, ["The programs load these libraries, which Debian built.\n"]
    for package, name in sorted(packages.items()):
        version, source = run("dpkg-query", "-W", "-f", "${source:Version}\n${source:Package}\n", package).split("\n")[:2]
        texts[f"bundled/{source}.txt"] = read(f"/usr/share/doc/{package}/copyright")
        listed.append(f"{name}: source package {source} {version} of Debian, licence in {source}.txt\n")
    if toolkit:
        texts["bundled/cuda-runtime.txt"] = cuda_licence(toolkit)
        listed.append("libcudart_static.a: NVIDIA's, linked statically, licence in cuda-runtime.txt\n")
    texts["bundled/README"] = "".join(listed).encode()
    return texts


def elf(path, folder, rpath):
    """A stripped copy that finds its libraries by this path, of the older kind of tag, which holds for what they load, too."""
    copy = os.path.join(folder, os.path.basename(path))
    run("strip", "-o", copy, os.path.realpath(path))
    run("patchelf", "--force-rpath", "--set-rpath", rpath, copy)
    return read(copy)


def contents(stem, programs, toolkit):
    """What the wheel has beside its metadata: bytes by name, and licences."""
    data = f"{stem}.data"
    files, found = {}, libraries(programs)
    with tempfile.TemporaryDirectory() as folder:
        for p in programs:
            name = os.path.basename(p)
            files[f"{data}/scripts/{name}"] = elf(p, folder, RPATH)
            table = subprocess.run([p, "--completion"], check=True, stdout=subprocess.PIPE).stdout
            completion = subprocess.run(["sh", "scripts/completion.sh", name], check=True, input=table, stdout=subprocess.PIPE).stdout
            files[f"{data}/data/share/bash-completion/completions/{name}"] = completion
        for name, path in found.items():
            files[f"{data}/data/lib/gnn-tools/{name}"] = elf(path, folder, "$ORIGIN")
    for page in glob.glob("man/*.[157]"):
        files[f"{data}/data/share/man/man{page[-1]}/{os.path.basename(page)}"] = read(page)
    for module in glob.glob("formats/python/gnntools/**/*", recursive=True):
        if module.endswith((".py", "py.typed")):
            files[module[len("formats/python/"):]] = read(module)
    built = os.path.dirname(os.path.abspath(programs[0]))
    return files, licences({name: path for name, path in found.items() if os.path.dirname(os.path.abspath(path)) != built}, toolkit)


def pack(path, stem, tag, said, files, texts, level):
    """Writes the wheel: the same bytes from the same files."""
    info = f"{stem}.dist-info"
    files = dict(sorted(files.items()))
    for name, text in sorted(texts.items()):
        files[f"{info}/licenses/{name}"] = text
    head = METADATA.format(**said, version=stem.split("-")[1], licences="\n".join(f"License-File: {name}" for name in sorted(texts)))
    files[f"{info}/METADATA"] = head.encode() + read("README.md")
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: gnn-tools\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as z:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            z.writestr(entry, content)


def platform_of(wheel):
    """The oldest platform that the wheel runs on."""
    found = json.loads(run("auditwheel", "show", "--json", wheel))
    name = found["overall_tag"]
    glibc = re.match(r"manylinux_(\d+)_(\d+)_", name)
    if not glibc or tuple(map(int, glibc.groups())) > GLIBC:
        least = f"manylinux_{GLIBC[0]}_{GLIBC[1]}"
        wants = {k: v for k, v in found["policy_upgrades"].items() if k.startswith(least)}
        fail(f"auditwheel finds the wheel fit for {name} only, not {least}: {wants}, {found['versioned_symbols']}")
    return name


def main():
    if len(sys.argv) < 5:
        fail("usage: wheel.py VERSION FOLDER TOOLKIT PROGRAM...")
    version, out, toolkit, *programs = sys.argv[1:]
    said = with_cuda(toolkit) if toolkit else CPU
    stem = f"{said['name'].replace('-', '_')}-{version}"
    files, texts = contents(stem, programs, toolkit)
    if not any(name.startswith("gnntools/") for name in files):
        fail("formats/python/gnntools has no modules")
    os.makedirs(out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        linux = f"linux_{os.uname().machine}"
        trial = f"{folder}/{stem}-py3-none-{linux}.whl"
        pack(trial, stem, f"py3-none-{linux}", said, files, texts, 1)
        tag = "py3-none-" + platform_of(trial)
    wheel = f"{out}/{stem}-{tag}.whl"
    pack(wheel + ".part", stem, tag, said, files, texts, 9)
    size = os.path.getsize(wheel + ".part")
    if size > MOST and not toolkit:
        os.remove(wheel + ".part")
        large = sorted(files, key=lambda name: -len(files[name]))[:9]
        fail(f"the wheel has {size} bytes, more than {MOST}; the largest files: " + ", ".join(f"{os.path.basename(n)} {len(files[n])}" for n in large))
    os.replace(wheel + ".part", wheel)
    print(f"{wheel}: {size} bytes")


main()
