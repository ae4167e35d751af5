#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Imports, partitions, proves and samples a generated graph of 2^SCALE nodes, EDGES times as many edges, and prints seconds,
# edges per second, the most memory allocated (sampled ten times a second), the most of files that was mapped in, and the disk
# used. Status 1 if more than LIMIT MiB are allocated, or anything fails. Run by `make check-big`.
# usage: big.sh [DIR]   work goes to a new folder in DIR (default build), which is removed; some 18 bytes an edge
# environment: SCALE (27), EDGES (16), PARTS (8), METHODS (random), LIMIT (20480), OPTIONS of gnn-partition (none)
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
PATH=${GNN_BIN:-$top/build/bin}:$PATH
LC_ALL=C
export PATH LC_ALL
scale=${SCALE:-27} degree=${EDGES:-16} parts=${PARTS:-8} limit=${LIMIT:-20480}
edges=$(awk "BEGIN { printf \"%.0f\", 2 ^ $scale * $degree }")
mkdir -p "${1:-$top/build}"
work=$(mktemp -d "$(cd "${1:-$top/build}" && pwd)/big.XXXXXX")
pid=
trap 'test -z "$pid" || kill "$pid"; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work"
failed=0

# run NAME OUT COMMAND...: OUT is measured, - if there is none
run() {
    name=$1 out=$2
    shift 2
    start=$(date +%s%N)
    "$@" >said 2>&1 &
    pid=$!
    anon=0 mapped=0
    while kill -0 "$pid" 2>/dev/null; do
        # The process may end between two lines of this.
        read -r a m <<END
$(awk '$1 == "RssAnon:" { a = $2 } $1 == "RssFile:" { m = $2 } END { print a + 0, m + 0 }' "/proc/$pid/status" 2>/dev/null || echo 0 0)
END
        [ "${a:-0}" -le "$anon" ] || anon=$a
        [ "${m:-0}" -le "$mapped" ] || mapped=$m
        sleep 0.1
    done
    rc=0
    wait "$pid" || rc=$?
    pid=
    seconds=$(awk "BEGIN { printf \"%.1f\", ($(date +%s%N) - $start) / 1e9 }")
    if [ $rc -ne 0 ]; then
        echo "$name: status $rc"
        cat said
        exit 1
    fi
    printf '%-20s %8s s %8d MiB allocated %8d MiB mapped' "$name" "$seconds" $((anon / 1024)) $((mapped / 1024))
    [ "$out" = - ] || awk "BEGIN { printf \"%8.1f M edges/s %8d MiB on disk\", $edges / $seconds / 1e6, $(du -sm "$out" | cut -f1) }"
    echo
    if [ $((anon / 1024)) -gt "$limit" ]; then
        echo "$name: more than $limit MiB"
        failed=1
    fi
}

echo "2^$scale nodes, $edges edges, $parts parts"
seq 0 997 $(((1 << scale) - 1)) | head -n 102400 >seeds
run import whole gnn-import -q -o whole "rmat:scale=$scale,edges=$degree"
run 'show the whole' - gnn-inspect whole
run 'prove the whole' - gnn-inspect --verify whole
run 'sample the whole' - gnn-sample -q --seeds seeds -f 15,10,5 -b 1024 --count whole
for method in ${METHODS:-random}; do
    # shellcheck disable=SC2086
    run "partition, $method" parts gnn-partition -q --method "$method" -k "$parts" ${OPTIONS:-} -o parts whole
    run 'prove the parts' - gnn-inspect --verify parts
    run 'sample the parts' - gnn-sample -q --seeds seeds -f 15,10,5 -b 1024 --count parts
    rm -r parts
done
exit $failed
