#!/bin/sh
# Runs fuzz targets one after the other, each for $FUZZ_SECONDS on a corpus under build/fuzz that is kept between runs and
# seeded from tests/*/corpus. Stops at the first finding, which is left in the current directory.
set -eu
export TZ=UTC # libarchive asks for the time zone again and again
top=$(cd "$(dirname "$0")/../.." && pwd)
for target; do
    name=${target##*/}
    corpus=$top/build/fuzz/$name
    mkdir -p "$corpus"
    cp -n "$top"/tests/import/corpus/* "$top"/tests/train/data/*.safetensors "$corpus"/ 2>/dev/null || true
    echo "== $name"
    "$target" -max_total_time="${FUZZ_SECONDS:-30}" -timeout=20 -rss_limit_mb=3000 -max_len=20000 -print_final_stats=1 \
        -verbosity=0 "$corpus"
done
