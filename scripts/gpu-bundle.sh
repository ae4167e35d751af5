#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Packs everything that scripts/gpu-check.sh needs on a machine that has nothing but a CUDA driver: programs with the libraries that
# they load, small real graphs. Packed by xz, which tar and Python both unpack. Run by `make gpu-bundle`.
# usage: gpu-bundle.sh OUT.tar.xz PROGRAM...
# environment: GNN_DATA folder of real graphs, of which a few come along
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
out=$1
shift
most=20000000
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
g=$dir/gnn-gpu
mkdir -p "$g/bin" "$g/lib" "$g/data"

cp "$@" "$g/bin"
strip "$g"/bin/*
# The C and C++ libraries are those of the machine: the programs need old versions of them, and whatever else is run there newer ones.
for p in "$g"/bin/*; do ldd "$p"; done | awk '$3 ~ "^/" { print $3 }' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|libcuda)\.so' | while read -r l; do cp -L "$l" "$g/lib"; done
cp "$top/scripts/gpu-check.sh" "$top/scripts/gpu-profile.awk" "$top/tests/gpu/peer.py" "$g"
commit=$(git -C "$top" rev-parse --short=10 HEAD 2>/dev/null || echo unknown)
[ -z "$(git -C "$top" status --porcelain 2>/dev/null)" ] || commit="$commit with changes"
echo "$commit" >"$g/COMMIT"

# Real graphs, as they come: stores are several times larger.
for f in cora amazon-computers acm; do
    for path in "${GNN_DATA:-none}/$f" "${GNN_DATA:-none}/$f".*; do
        if [ -e "$path" ]; then
            cp -r "$path" "$g/data"
            break
        fi
    done
done
[ -n "$(ls "$g/data")" ] || echo "gpu-bundle: no real graph comes along: set GNN_DATA to a folder that has some" >&2

tar -C "$dir" -cf - gnn-gpu | xz >"$out"
size=$(wc -c <"$out")
echo "$out: $size bytes"
if [ "$size" -gt $most ]; then
    echo "gpu-bundle: larger than $most bytes:" >&2
    du -a "$g" | sort -rn | head -n 12 >&2
    exit 1
fi
