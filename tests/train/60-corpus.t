# SPDX-License-Identifier: Apache-2.0
# The fuzz target of models over good files, their truncations and flipped bits.
. "$GNN_TOP/tests/lib.sh"
D=$GNN_TOP/tests/train/data
replay=$(ls "${GNN_B:-none}"/tests/fuzz/replay_model 2>/dev/null)
[ -n "$replay" ] || { skip "fuzz_model replays good, cut and damaged models" "not built"; done_testing; }
mkdir c
for f in "$D"/*.safetensors; do
    cp "$f" c/
    perl -e 'local $/; open F, "<:raw", $ARGV[0]; $_ = <F>; srand 1; my $b = "c/" . ($ARGV[0] =~ s#.*/##r);
        for my $i (0 .. 149) {
            open O, ">:raw", "$b.cut$i"; print O substr $_, 0, int rand length;
            open O, ">:raw", "$b.flip$i"; my $c = $_; substr($c, int rand 900 < length ? rand 900 : 9, 1) ^= chr 1 << int rand 8; print O $c;
        }' "$f"
done
gnn-import -q -o s sbm:nodes=60 && gnn-train -q --store s -f 2,2 --hidden 4 --epochs 1 -o own || exit 1
perl -e 'local $/; open F, "<:raw", $ARGV[0]; $_ = <F>; substr($_, -30, 1) ^= "\x01"; print' own >c/own
check "fuzz_model ignores checksums" sh -c "'$replay' c/own >out.good && grep -q ' 1 of them good' out.good"
check "fuzz_model replays good, cut and damaged models" sh -c "'$replay' c/*"
done_testing
