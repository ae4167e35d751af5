#!/bin/sh
# Packs everything that scripts/gpu-check.sh needs on a machine that has nothing but a CUDA driver: the programs with the
# libraries they load, the kernel tests, small real graphs. Run by `make gpu-bundle`.
# usage: gpu-bundle.sh BUILD-DIRECTORY OUT.tgz
# environment: GNN_DATA folder of real graphs (without it, generated ones stand in)
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
b=$1
out=$2
most=62914560 # 60 MiB
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
g=$dir/gnn-gpu
mkdir -p "$g/bin" "$g/lib" "$g/data"

cp "$b"/bin/gnn-* "$b/tests/gpu/check_kernels" "$b/tests/gpu/check_sums" "$b/tests/gpu/check_train" "$b/tests/gpu/bench_gpu" "$g/bin"
strip "$g"/bin/*
# The C library is that of the machine.
for p in "$g"/bin/*; do ldd "$p"; done | awk '$3 ~ "^/" { print $3 }' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libcuda)\.so' | while read -r l; do cp -L "$l" "$g/lib"; done
cp "$top/scripts/gpu-check.sh" "$top/tests/gpu/peer.py" "$g"
{ git -C "$top" rev-parse --short=10 HEAD 2>/dev/null || echo unknown; } >"$g/COMMIT"
[ -z "$(git -C "$top" status --porcelain 2>/dev/null)" ] || echo "with changes" >>"$g/COMMIT"

# Real graphs as stores: NAME SOURCE
store() {
    "$b/bin/gnn-import" -q -o "$g/data/$1" "$2"
}
if [ -d "${GNN_DATA:-}" ]; then
    for f in cora amazon-computers acm; do
        for path in "$GNN_DATA/$f" "$GNN_DATA/$f".*; do
            if [ -e "$path" ]; then
                store "$f" "$path"
                break
            fi
        done
    done
fi
[ -n "$(ls "$g/data")" ] || store sbm sbm:nodes=5000,degree=12,features=64

tar -C "$dir" -czf "$out" gnn-gpu
size=$(wc -c <"$out")
echo "$out: $size bytes"
if [ "$size" -gt $most ]; then
    echo "gpu-bundle: larger than $most bytes" >&2
    exit 1
fi
