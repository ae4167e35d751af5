# SPDX-License-Identifier: Apache-2.0
# Hundreds of relations and dozens of sets take a few lines, and -v lists them.
. "$GNN_TOP/tests/lib.sh"

says() { check "$1" grep -q -- "$2" said; }
lines() { check "$1" test "$(wc -l <said)" -le "$2"; }

perl -e 'for my $r (1 .. 237) { print "n$_\t/domain$r/type/property./domain$r/other/relation\tn", $_ + 1, "\n" for 1 .. $r % 9 + 1 }' >kg.txt
gnn-import -q -o kg kg.txt || exit 1
gnn-inspect kg >said
lines "gnn-inspect shows 237 relations in 10 lines" 10
says "gnn-inspect shows the first of 237 relations" '^  edges  node//domain1/type/property./domain1/other/relation/node *2$'
says "gnn-inspect sums up the other relations in a line" '^  edges  \.\.\. 232 more (-v lists them); all 237: 1179, from 1 to 9 each$'
gnn-inspect -v kg >said
check "gnn-inspect -v lists 237 relations" test "$(grep -c '^  edges ' said)" = 237
check "gnn-inspect -v lists the last of 237 relations" test "$(grep -c 'domain237/' said)" = 1
gnn-inspect -s kg >said
lines "gnn-inspect -s shows 237 relations in 30 lines" 30
says "gnn-inspect -s sums up the other relations in a line" \
    '^  \.\.\. 232 more (-v lists them); all 237 edge types: 0 symmetric, self-loops 0, parallel edges 0$'
gnn-inspect -v -s kg >said
check "gnn-inspect -v -s shows the reverses of 237 relations" test "$(grep -c ' directed, 0.00 % have their reverse;' said)" = 237
check "gnn-inspect -s --json lists 237 relations" perl -MJSON::PP -e '
    my $r = decode_json(scalar `gnn-inspect -s --json kg`);
    @{$r->{edge_types}} == 237 && @{$r->{statistics}{edges}} == 237 or die'
gnn-import -o again kg.txt 2>said
lines "gnn-import reports on 237 relations in two lines" 2
says "gnn-import sums up the edges of 237 relations in a line" \
    '237 edge types: 1179 edges, 0 have their reverse, 0 self-loops, 0 parallel (-v lists them)$'

perl -e 'print "$_,", ($_ + 1) % 61, "\n" for 0 .. 60' >e.csv
list=
for i in $(seq 1 30); do
    printf "%s\n" "$i" "$((i + 30))" >"f$i"
    [ "$i" -gt 1 ] || echo 0 >>f1
    list="$list${list:+,}set$i=f$i"
done
gnn-import -q -u -o sets --split "$list" e.csv || exit 1
gnn-inspect sets >said
says "gnn-inspect sums up 30 sets" '^  split  \.\.\. 25 more (-v lists them); all 30: [0-9]*, from 2 to 3 each$'
gnn-inspect -v sets >said
check "gnn-inspect -v lists 30 sets" test "$(grep -c '^  split ' said)" = 30

echo 1 >seeds
gnn-sample -q kg -f 2 --seeds seeds --seed-type node -o kg.gnb || exit 1
gnn-inspect kg.gnb >said
says "gnn-inspect sums up the fan-outs of 237 relations" 'fan-out 2/2/2/2/2/\.\.\. 232 more: --seed'
done_testing
