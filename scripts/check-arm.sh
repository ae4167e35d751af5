#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Are the programs the same on ARM? Compiles everything for arm64 with Debian's cross compiler, without a warning, and runs it under
# emulation with the libraries of Debian's arm64: a pipeline, which is compared with this machine's; the bits of tests/bits; the
# unit tests; PyG's models. That takes no ARM machine, no mount and no setting of the kernel.
# usage: check-arm.sh [DIR]      libraries, programs and logs go to DIR (default: build/arm) and stay there for the next run
# environment: GNN_BIN the programs to compare with (default: build/bin); BITS a pattern, for some of the cases of tests/bits;
#              TESTS what to run of the tests; SOURCES apt's files that name Debian's archive (default: this machine's)
set -eu
export LC_ALL=C
top=$(cd "$(dirname "$0")/.." && pwd)
case ${1:-} in
-*) echo 'usage: check-arm.sh [DIR]' >&2; exit 2 ;;
'') dir=$top/build/arm ;;
/*) dir=$1 ;;
*) dir=$PWD/$1 ;;
esac
cross=aarch64-linux-gnu libs=$dir/root run=$dir/run
here=$(cd "${GNN_BIN:-$top/build/bin}" && pwd -P) || exit
die() { echo "check-arm: $*" >&2; exit 1; }
begin=$(date +%s)
say() { printf 'check-arm: %3d min: %s\n' $((($(date +%s) - begin) / 60)) "$*"; }
missing=
for p in mmdebstrap qemu-aarch64-static:qemu-user-static $cross-gcc:gcc-$cross $cross-g++:g++-$cross; do
    command -v "${p%:*}" >/dev/null || missing="$missing ${p#*:}"
done
[ -z "$missing" ] || die "requires these Debian packages:$missing"

# The libraries are unpacked and not set up, as that would take arm64 programs. Links are made to lead to where they lie.
libraries() {
    packages=$(sh "$top/scripts/install-deps.sh" --list | grep -e '-dev$' | paste -sd ,)
    [ "$packages" != "$(cat "$dir/packages" 2>/dev/null)" ] || return 0
    say "unpacking $packages for arm64"
    set --
    for f in ${SOURCES:-/etc/apt/sources.list /etc/apt/sources.list.d/debian.sources}; do
        [ ! -s "$f" ] || set -- "$@" "$f"
    done
    [ $# -gt 0 ] || die 'apt has no sources of Debian here: set SOURCES'
    rm -rf "$libs"
    mkdir -p "$dir"
    mmdebstrap --quiet --variant=extract --arch=arm64 --include="$packages" "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$libs" "$@"
    find "$libs" -type l -lname '/*' | while read -r l; do ln -sfn "$libs$(readlink "$l")" "$l"; done
    echo "$packages" >"$dir/packages"
}

# for_arm GOAL...: makes them in $dir/obj
for_arm() {
    printf '#!/bin/sh\nexec %s-gcc --sysroot="%s" -I"%s/include" "$@" -L"%s/lib" -lmpi\n' \
        $cross "$libs" "$libs/usr/lib/$cross/openmpi" "$libs/usr/lib/$cross/openmpi" >"$dir/mpicc"
    chmod +x "$dir/mpicc"
    env -u MAKEFLAGS -u MAKELEVEL PKG_CONFIG_SYSROOT_DIR="$libs" PKG_CONFIG_LIBDIR="$libs/usr/lib/$cross/pkgconfig" \
        make -s -C "$top" B="$dir/obj" WERROR=1 NVCC= CC="$cross-gcc --sysroot=$libs" CXX="$cross-g++ --sysroot=$libs" \
        MPICC="$dir/mpicc" "$@"
}

# Everything is called by a script of the same name, which the tests and mpirun can start as if it were the program.
wrappers() {
    rm -rf "$run"
    (cd "$dir/obj" && find bin emu/bin tests/unit tests/bits -type f -perm -100) | while read -r p; do
        mkdir -p "$run/${p%/*}"
        printf '#!/bin/sh\nexec qemu-aarch64-static -L "%s" "%s" "$@"\n' "$libs" "$dir/obj/$p" >"$run/$p"
        chmod +x "$run/$p"
    done
    ln -s "$dir/obj/lib" "$run/lib"
}

# pipeline DIR BIN: runs each program once, in DIR, which is new
pipeline() (
    rm -rf "$1" && mkdir "$1" && cd "$1"
    PATH=$2:$PATH
    gnn-import -q --no-provenance --split random:0.6,0.2,0.2 -o store sbm:nodes=5000,classes=5,degree=8
    gnn-partition -q --no-provenance -k 3 -o parts store
    gnn-sample -q --no-provenance -f 10,5 -b 256 --epochs 0:3 --eval valid -o batches parts
    gnn-gather -q --no-provenance -i batches -o gathered parts
    gnn-inspect --verify gathered >told
    gnn-train -q --no-provenance --hidden 32 --metrics metrics -i gathered -o model
    sed -n 's/.*"event":"epoch".*"loss":\([0-9.]*\),.*/\1/p' metrics >losses
    gnn-predict -q -o classes.npy parts model
    # the other machine's model, if it is there already
    [ ! -e ../here/model ] || gnn-predict -q -o theirs.npy parts ../here/model
)
# differ FILE FILE: how many bytes
differ() { cmp -l "$1" "$2" | wc -l; }
# What depends on matrix products, whose sums have another order here, may differ by little; nothing else may at all.
compare() {
    for f in store parts batches gathered told; do
        diff -r here/$f arm/$f || die "gnn-tools makes another $f on ARM (see $dir)"
    done
    paste here/losses arm/losses | awk '{ d = ($1 - $2) / $1; if (d * d > 1e-8) bad = 1 } END { exit bad || NR != 3 }' ||
        die "gnn-train has other losses on ARM: $(paste -d ' ' here/losses arm/losses | paste -sd ,)"
    [ "$(differ here/classes.npy arm/theirs.npy)" -le 5 ] || die 'gnn-predict predicts other classes on ARM from the same model'
    [ "$(differ here/classes.npy arm/classes.npy)" -le 50 ] || die 'gnn-predict predicts other classes on ARM'
}

libraries
say "compiling for arm64; messages in $dir/make.log"
for_arm programs unit >"$dir/make.log" 2>&1 || { tail -n 20 "$dir/make.log"; die 'it does not compile'; }
wrappers
cd "$dir"
say 'each program once, here and on arm64'
rm -rf here
pipeline here "$here"
pipeline arm "$run/bin"
compare
cd "$top"
say "stores, batches and rows of the pipeline have the same bits, losses and predictions agree; now the bits of tests/bits"
GNN_BIN=$run/bin sh tests/bits/run.sh quick ${BITS:+"$BITS"}
say "unit tests, and models and steps of PyG"
# Not the laws of picks, whose bits have just been compared, nor what maps so much memory so often that it takes qemu an hour.
tests=$(find "$run/tests/unit" -type f | grep -v '_pairs$\|_labor$\|_weights$\|_sample_stats$\|_transport$' | sort)
# shellcheck disable=SC2086
GNN_BIN=$run/bin GNN_B=$run GNN_TOP=$top sh tests/run.sh ${TESTS:-$tests tests/train/30-pyg.t}
say 'done: nothing differs'
