# SPDX-License-Identifier: Apache-2.0
# Full batches of only the rows that seeds depend on make the same model on any number of ranks, to the bit, and send as much.
. "$GNN_TOP/tests/ranks/setup.sh"
perl -e 'srand 4; print "source,target,weight\n"; printf "%d,%d,%.3f\n", int rand 601, int rand 580, .1 + rand for 1 .. 900; printf "%d,%d,1\n", $_, $_ * 7 % 580 for 0 .. 600; print "5,5,2\n"' >e.csv
perl -e 'print $_ % 3, "\n" for 1 .. 601' >y.csv
perl -e 'srand 5; print join(",", $_ % 3 + rand, rand, 1), "\n" for 1 .. 601' >x.csv
# Partition 0 has one node, 1 no edges; 4 has no seeds: its rank only helps others.
perl -e 'print $_ == 9 ? 0 : $_ >= 585 ? 1 : 2 + $_ % 3, "\n" for 0 .. 600' >assign
perl -e 'for (0 .. 584) { print $_, "\n" if $_ % 30 == 1 }' >train
perl -e 'for (0 .. 600) { print $_, "\n" if $_ % 30 == 4 }' >valid
import() { gnn-import -q --directed --labels y.csv --features x.csv --split train=train,valid=valid -o "$@"; }
import W e.csv && gnn-partition -q --from assign -o w W && import X --map x=weight e.csv && gnn-partition -q --from assign -o x X &&
    gnn-import -q -o T sbm:nodes=300,types=3,features=6,degree=2,train=0.03,valid=0.05 && gnn-partition -q -k 5 -o t T ||
    _not_ok 'gnn-import and gnn-partition make stores'
learn='-q --full-batch --needed-only --hidden 8 --epochs 3 --lr 0.01 --dropout 0.3 --no-provenance'
sent() { /usr/bin/python3 -c '
import json, sys
print([[e.get(k) for k in ("rows", "fetched_bytes", "pushed_bytes", "evaluated_bytes")] for e in map(json.loads, open(sys.argv[1])) if e["event"] in ("needed_only", "full_batch")])' "$1"; }
while read -r s opts <&4; do # mpirun would read standard input
    turn 3 || continue
    check "gnn-train --needed-only $opts learns in one process" gnn-train $learn --store $s -o m0 --metrics s0.json $opts
    for many in 1 $(choice '2 3 4 5' '2 5'); do
        check "gnn-train --needed-only $opts learns on $many ranks" ranks $many gnn-train $learn --store $s -o m$many --metrics s$many.json $opts
        check "gnn-train --needed-only $opts makes the model of one process on $many" cmp m0 m$many
        check "gnn-train --needed-only $opts computes and sends what one process does on $many" test "$(sent s0.json)" = "$(sent s$many.json)"
    done
done 4<<EOF
w -m sage
w -m sage --aggr max --eval none --layers 3
w -m gcn --edge-weight weight --layers 3
x -m gine --edge-features
t -m sage --encoder 4 --ffn --jk cat --head 5 --layers 3
t -m rgcn --bases 2 --encoder 6
x -m gat --heads 2 --edge-features --attention-dropout 0.3 --layers 3
x -m gatv2 --heads 2 --remote-rows keep
t -m hgt --heads 2 --head 0
w -m sage --message-dtype bf16
EOF
done_testing
