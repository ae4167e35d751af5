# SPDX-License-Identifier: Apache-2.0
# The fuzz targets of streams and stores over good files, their truncations and flipped bits. Checksums are ignored.
. "$GNN_TOP/tests/lib.sh"
replay=${GNN_B:-none}/tests/fuzz/replay_
[ -x "${replay}stream" ] || { skip 'the fuzz targets replay damaged files' 'not built'; done_testing; }
gnn-import -q -o S sbm:nodes=300,degree=6,features=16 && gnn-partition -q -k 2 -o P S &&
    gnn-sample -q -f 3,2 -b 64 -o B S && gnn-gather -q -o G -i B S && gnn-sample -q -z 3 -f 3,2 -b 64 --edge-ids -o Z P || exit 1
# damage DIR FILE...: the files, and each cut and with a flipped bit in its headers or anywhere
damage() {
    mkdir "$1"
    perl -e 'srand 1; my $d = shift; local $/;
        for my $f (@ARGV) {
            open F, "<:raw", $f; $_ = <F>; (my $b = $f) =~ s#/#-#g;
            open O, ">:raw", "$d/$b"; print O;
            for my $i (0 .. 99) {
                open O, ">:raw", "$d/$b.cut$i"; print O substr $_, 0, int rand length;
                open O, ">:raw", "$d/$b.flip$i"; my $c = $_;
                substr($c, int rand($i % 2 && 4096 < length $c ? 4096 : length $c), 1) ^= chr 1 << int rand 8; print O $c;
            }
        }' "$@"
}
gnn-import -q -o T sbm:nodes=24,degree=3,features=4 && gnn-sample -q -f 3,2 -b 8 T | gnn-gather -q -o D T &&
    perl "$GNN_TOP/tests/fuzz/refer.pl" D >R || exit 1
# Of times, weights and trees.
gnn-import -q -o E sbm:nodes=24,degree=3,features=4,weights=1,times=1 &&
    seq 0 23 | sed 's/$/ 20/' | gnn-sample -q -f 3,2 -b 24 --time-rule le --window 15 --weight weight --edge-ids --seeds - -o L E &&
    seq 0 23 | sed 's/$/ 30/' | gnn-sample -q -f 2,2 -b 24 --time-rule lt --latest --disjoint --seeds - -o N E &&
    gnn-sample -q -f 2,2 -b 8 --labor --layer-dependency -o A E && perl "$GNN_TOP/tests/fuzz/refer.pl" L >LR || exit 1
# Of walks, of one seed as references are to zeros, their pairs, and induced edges.
gnn-sample -q --walk-length 5 --walks-per-seed 2 --node2vec 0.5,2 -b 1 -o W E && gnn-sample -q --walk-length 5 --pairs 2 -b 8 -o V E &&
    seq 0 23 | sed 's/$/ 30/' | gnn-sample -q -f 2,2 -b 24 --time-rule lt --induced --disjoint --edge-ids --seeds - -o I E &&
    perl "$GNN_TOP/tests/fuzz/refer.pl" W >WR && perl "$GNN_TOP/tests/fuzz/refer.pl" I >IR || exit 1
check 'damaged streams are there to replay' damage streams B G Z R L N A LR W V I WR IR
check 'damaged pickles are there to replay' damage pickles "$GNN_TOP"/tests/fuzz/seeds/pickle/*
check 'damaged files of DGL are there to replay' damage dgl "$GNN_TOP"/tests/fuzz/seeds/dgl/*
check 'damaged partitions of DGL are there to replay' damage dgl_parts "$GNN_TOP"/tests/fuzz/seeds/dgl_parts/*
check 'damaged N-Triples are there to replay' damage statements "$GNN_TOP"/tests/fuzz/seeds/ntriples.txt
check 'damaged folders are there to replay' damage folders "$GNN_TOP"/tests/fuzz/seeds/folder/*
check 'damaged OnDiskDatasets are there to replay' damage ondisk "$GNN_TOP"/tests/fuzz/seeds/ondisk/*
check 'damaged partitions are there to replay' damage parts S/part-00000.gnb P/part-00001.gnb
# Else the damage would go no further than the checksums.
flip() { # FILE BYTES-FROM-THE-END: with a bit of the payload flipped, as another file
    perl -e 'local $/; open F, "<:raw", $ARGV[0]; $_ = <F>; substr($_, -$ARGV[1], 1) ^= "\x01"; print' "$1" "$2"
}
good() { # TARGET FILE: is good to the end
    check "fuzz_$1 reads ${2##*/} to the end and ignores its checksums" \
        sh -c '"$0" "$1" >out.good && grep -q " 1 of them good" out.good' "$replay$1" "$2"
}
flip S/part-00000.gnb 40000 >part
flip G 500 >stream
good store part
good stream stream
for f in R L N A LR W V I WR IR; do good stream $f; done
good ogb "$GNN_TOP/tests/import/corpus/bad-zipcrc.zip"
good any "$GNN_TOP/tests/import/corpus/bad-crc.txt.gz"
for target in dgl dgl_parts folder ondisk parts pickle ranks checkpoint producer table verify; do
    check "fuzz_$target replays its seeds" sh -c '"$0" "$1"/*' "$replay$target" "$GNN_TOP/tests/fuzz/seeds/$target"
done
for target in parts ranks checkpoint verify; do good $target "$GNN_TOP/tests/fuzz/seeds/$target/none"; done
for rule in le latest labor disjoint walks node2vec induced; do good ranks "$GNN_TOP/tests/fuzz/seeds/ranks/$rule"; done
for rule in lt window induced induced-disjoint walks node2vec; do good verify "$GNN_TOP/tests/fuzz/seeds/verify/$rule"; done
for seed in sampled gathered typed typed-gathered temporal temporal-disjoint disjoint walks pairs induced; do good producer "$GNN_TOP/tests/fuzz/seeds/producer/good-$seed"; done
for seed in ogb typed; do good ogb "$GNN_TOP/tests/fuzz/seeds/$seed.txt"; done
for seed in archive legacy legacy4 numpy2 numpy5 plain2 plain5 data hetero dataset cycle saved2 saved4; do good pickle "$GNN_TOP/tests/fuzz/seeds/pickle/$seed"; done
for seed in coo ids forms csc hetero two tensors; do good dgl "$GNN_TOP/tests/fuzz/seeds/dgl/$seed"; done
for seed in plain typed beside old ends kept; do good dgl_parts "$GNN_TOP/tests/fuzz/seeds/dgl_parts/$seed"; done
for seed in "$GNN_TOP"/tests/fuzz/seeds/folder/*; do good folder "$seed"; done
for seed in triples ntriples; do good triples "$GNN_TOP/tests/fuzz/seeds/$seed.txt"; done
for seed in plain typed links; do good ondisk "$GNN_TOP/tests/fuzz/seeds/ondisk/$seed"; done
for seed in plain words header triples columns relation networkx returns hashes late time bom huge; do good table "$GNN_TOP/tests/fuzz/seeds/table/$seed"; done
for seed in csr scipy; do good npy "$GNN_TOP/tests/fuzz/seeds/$seed.bin"; done
check 'fuzz_stream replays damaged streams' sh -c '"$0" streams/*' "${replay}stream"
check 'fuzz_pickle replays damaged pickles' sh -c '"$0" pickles/*' "${replay}pickle"
check 'fuzz_dgl replays damaged files of DGL' sh -c '"$0" dgl/*' "${replay}dgl"
check 'fuzz_dgl_parts replays damaged partitions of DGL' sh -c '"$0" dgl_parts/*' "${replay}dgl_parts"
check 'fuzz_triples replays damaged N-Triples' sh -c '"$0" statements/*' "${replay}triples"
check 'fuzz_folder replays damaged folders' sh -c '"$0" folders/*' "${replay}folder"
check 'fuzz_ondisk replays damaged OnDiskDatasets' sh -c '"$0" ondisk/*' "${replay}ondisk"
check 'fuzz_store replays damaged partitions' sh -c '"$0" parts/*' "${replay}store"
done_testing
