#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs fuzz targets one after the other, each for $FUZZ_SECONDS on a corpus under build/fuzz that is kept between runs and
# seeded from tests/*/corpus, tests/fuzz/seeds (those of one target in a folder of its name) and small stores and streams. Stops at the first finding, which is left in
# the current directory.
set -eu
export TZ=UTC # libarchive asks for the time zone again and again
top=$(cd "$(dirname "$0")/../.." && pwd)
bin=$GNN_BIN
export OMP_NUM_THREADS=1 # what trains is too small for more
# Where memory came from is told by a run of the finding alone; meanwhile, it would cost more than what is fuzzed.
export ASAN_OPTIONS="malloc_context_size=1:quarantine_size_mb=16${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Small, so that most of their bytes mean something.
stores() {
    i=0
    for spec in sbm:nodes=8,degree=2,features=2 sbm:nodes=6,degree=2,features=1,types=2,weights=1,times=1 rmat:scale=3,edges=2 \
        "$top/tests/import/corpus/good-multilabel.zip" "$top/tests/import/corpus/good-triples.txt" "$top/tests/import/corpus/good-sparse.csv"; do
        i=$((i + 1))
        "$bin/gnn-import" -q --no-provenance -o "$tmp/s$i" "$spec"
    done
    mkdir "$tmp/real"
    perl -e 'srand 2; sub npy {
            my ($name, $type, $shape, @v) = @_;
            my $h = "{\x27descr\x27: \x27<$type\x27, \x27fortran_order\x27: False, \x27shape\x27: ($shape), }";
            $h .= " " x (53 - length($h) % 64 + 64 * (length($h) % 64 > 53)) . "\n";
            open my $f, ">:raw", "$name.npy" or die; print $f "\x93NUMPY\1\0", pack("v", length $h), $h, pack(($type eq "i8" ? "q" : "d") . "*", @v);
        }
        chdir shift;
        npy("edges", "i8", "24, 2", map { int rand 8 } 1 .. 48);
        npy("edge_weight", "f8", "24,", map { int rand 4 } 1 .. 24);
        npy("edge_time", "f8", "24,", map { rand 3 } 1 .. 24);
        npy("time", "f8", "8,", map { 1 + rand 3 } 1 .. 8);
        npy("y", "i8", "8,", map { $_ % 2 } 1 .. 8)' "$tmp/real"
    "$bin/gnn-import" -q --no-provenance --split random:0.5,0.25,0.25 -o "$tmp/s7" "$tmp/real" # of real times
}
streams() {
    "$bin/gnn-sample" -q -f 2,2 -b 4 -o "$tmp/b1" "$tmp/s1"
    "$bin/gnn-sample" -q -f 2 -b 4 -z 3 --edge-ids -o "$tmp/b2" "$tmp/s1"
    "$bin/gnn-sample" -q -f 2,1 -b 4 -o "$tmp/b3" "$tmp/s2"
    "$bin/gnn-gather" -q -o "$tmp/b4" -i "$tmp/b1" "$tmp/s1"
    "$bin/gnn-gather" -q -o "$tmp/b5" -i "$tmp/b3" "$tmp/s2"
    "$bin/gnn-sample" -q -f 2,1 -b 4 --weight weight --disjoint -o "$tmp/b6" "$tmp/s2"
    "$bin/gnn-sample" -q -f 1,1 -b 4 --labor --layer-dependency --batch-dependency 2 -o "$tmp/b7" "$tmp/s1"
    # Seeds of one time, so that references to zeros are times that fit.
    seq 0 5 | sed "s/$/ 4/" | "$bin/gnn-sample" -q -f 2,1 -b 6 --time-rule le --window 2 --seeds - --seed-type t0 --edge-ids -o "$tmp/b8" "$tmp/s2"
    "$bin/gnn-sample" -q -f 2,2 -b 4 --time-rule lt --latest --disjoint -o "$tmp/b9" "$tmp/s7"
    "$bin/gnn-sample" -q -f 2 -b 4 --time-rule le --window 0.5 --weight weight -o "$tmp/b10" "$tmp/s7"
    "$bin/gnn-gather" -q -o "$tmp/b11" -i "$tmp/b10" "$tmp/s7"
    "$bin/gnn-sample" -q --walk-length 3 --walks-per-seed 2 -b 4 -o "$tmp/b12" "$tmp/s1"
    "$bin/gnn-sample" -q --walk-length 3 --pairs 2 -b 4 -o "$tmp/b13" "$tmp/s1"
    "$bin/gnn-sample" -q --walk-length 4 --node2vec 0.5,2 --metapath t0/to/t0 -b 4 -o "$tmp/b14" "$tmp/s2"
    "$bin/gnn-sample" -q --walk-length 4 --weight weight --metapath t1/rev_up/t0 --metapath t0/up/t1 -b 4 -o "$tmp/b15" "$tmp/s2"
    "$bin/gnn-sample" -q --walk-length 4 --restart 0.25 --weight weight --metapath t0/to/t0 -b 4 -o "$tmp/b19" "$tmp/s2"
    "$bin/gnn-sample" -q -f 2,1 -b 4 --induced --edge-ids -o "$tmp/b16" "$tmp/s2"
    "$bin/gnn-sample" -q -f 2,2 -b 4 --induced --disjoint --time-rule le --window 0.5 -o "$tmp/b17" "$tmp/s7"
    "$bin/gnn-gather" -q -o "$tmp/b18" -i "$tmp/b17" "$tmp/s7"
    for b in 1 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do perl "$top/tests/fuzz/refer.pl" "$tmp/b$b" >"$tmp/b${b}r"; done
    perl "$top/tests/fuzz/refer.pl" device "$tmp/b1" >"$tmp/b1d"
}
stores
streams
for target; do
    name=${target##*/}
    corpus=$top/build/fuzz/$name
    max=20000
    mkdir -p "$corpus"
    case $name in
    fuzz_store)
        max=150000
        for s in "$tmp"/s?; do cp "$s/part-00000.gnb" "$corpus/${s##*/}"; done
        ;;
    fuzz_stream)
        max=65536
        cp "$tmp"/b?* "$corpus"
        ;;
    fuzz_ranks)
        max=240 # twenty changes, which are looked through for each message
        ;;
    fuzz_model)
        max=65536 # no seed is cut
        cp -n "$top"/tests/train/data/*.safetensors "$corpus"
        ;;
    *)
        seeds=$top/tests/fuzz/seeds/${name#fuzz_}
        if [ -d "$seeds" ]; then
            cp -n "$seeds"/* "$corpus"
        else
            cp -n "$top"/tests/import/corpus/* "$top"/tests/fuzz/seeds/*.* "$corpus"
        fi
        ;;
    esac
    echo "== $name"
    # Long, for a busy machine is no finding; FUZZ_TIMEOUT, for one that is suspended now and then.
    "$target" -max_total_time="${FUZZ_SECONDS:-30}" -timeout="${FUZZ_TIMEOUT:-60}" -rss_limit_mb=3000 -max_len=$max -print_final_stats=1 \
        -verbosity=0 "$corpus"
done
