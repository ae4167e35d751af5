#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Packs everything that scripts/gpu-check.sh needs on a machine that has nothing but a CUDA driver: the programs with the
# libraries they load, the kernel tests, small real graphs. Packed by xz, which tar and Python both unpack. Run by `make gpu-bundle`.
# usage: gpu-bundle.sh BUILD-DIRECTORY OUT.tar.xz
# environment: GNN_DATA folder of real graphs, of which a few come along
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
b=$1
out=$2
most=20000000
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
g=$dir/gnn-gpu
mkdir -p "$g/bin" "$g/lib" "$g/data"

cp "$b"/bundle/gnn-* "$b/tests/gpu/check_kernels" "$b/tests/gpu/check_reduce" "$b/tests/gpu/check_train" "$b/tests/gpu/bench_gpu" "$g/bin"
strip "$g"/bin/*
# The C library is that of the machine.
for p in "$g"/bin/*; do ldd "$p"; done | awk '$3 ~ "^/" { print $3 }' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libcuda)\.so' | while read -r l; do cp -L "$l" "$g/lib"; done
cp "$top/scripts/gpu-check.sh" "$top/scripts/gpu-profile.awk" "$top/tests/gpu/peer.py" "$g"
{ git -C "$top" rev-parse --short=10 HEAD 2>/dev/null || echo unknown; } >"$g/COMMIT"
[ -z "$(git -C "$top" status --porcelain 2>/dev/null)" ] || echo "with changes" >>"$g/COMMIT"

# Real graphs, as they come: stores are several times larger.
for f in cora amazon-computers acm; do
    for path in "${GNN_DATA:-none}/$f" "${GNN_DATA:-none}/$f".*; do
        if [ -e "$path" ]; then
            cp -r "$path" "$g/data"
            break
        fi
    done
done

tar -C "$dir" -cf - gnn-gpu | xz -9 >"$out"
size=$(wc -c <"$out")
echo "$out: $size bytes"
if [ "$size" -gt $most ]; then
    echo "gpu-bundle: larger than $most bytes:" >&2
    du -a "$g" | sort -rn | head -n 12 >&2
    exit 1
fi
