# SPDX-License-Identifier: Apache-2.0
# Links that a batch does not have, on devices that are emulated: for each rule, neighbours are drawn as the CPU draws them.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/device/setup.sh"

# Few nodes, so that there are parallel edges, reverses and equal times; edges of weight 0; and a type with its reverse.
perl -e 'srand 3; print "source,target,time,weight\n"; print int rand 60, ",", int(60 * rand() ** 2), ",", int rand 20, ",", int rand 4, "\n" for 1 .. 900' >t.csv
gnn-import -q --directed -o t t.csv
perl -e 'srand 5; print "u,i\n"; print "u", int rand 50, ",i", int rand 30, "\n" for 1 .. 400' >ui.csv
gnn-import -q -u --columns source=u,target=i --edge-type user/buys/item -o h ui.csv
gnn-import -q -o s sbm:nodes=300,degree=9
gnn-partition -q -k 3 --method random -o tp t
links='--links node/to/node -b 25 --epochs 0:1'
for how in '-f 4,3 --replace' '-f 4,3 --labor' '-f 70,80 --labor' '-f -1,2' '-f 3,3 --disjoint' '-f 4,2 --induced' '-f 3,3,2 --frontier new' \
    '-f 4,3 --edge-ids --negatives binary:1' '-f 40,3' '-f 300,3' '-f 1100,3 --replace' \
    '-f 4,3 --weight weight' '-f 4,3 --weight weight --replace' '-f 40,3 --weight weight' '-f 1,-1 --weight weight' '-f 4,3 --top weight' '-f 40,3 --top weight'; do
    same "without the links of a batch" 2 91 cuda:0,1 $links --exclude reverse $how t
done
for how in '' '--latest' '--window 3' '--window 6 --latest --edge-ids' '--weight weight' '--weight weight --replace' '--top weight' '--labor' '--hop-time edge'; do
    same "without the links of a batch and time" 1 92 cuda $links --exclude reverse -f 4,3 --time-rule le $how t
done
for how in '-f 4,3' '-f 4,3 --weight weight --edge-ids' '-f 4,3 --time-rule le --latest'; do
    same "without the links of a batch, of several partitions" 1 95 cuda $links --exclude reverse $how tp
done
for memory in 'device ' 'uva ' 'uva 4096'; do
    same "without the links of a batch, --graph-memory $memory" 1 93 cuda --links node/to/node -b 60 --exclude self -f 5,3 --edge-ids \
        --with ${memory% *} "${memory#* }" s
done
same "without the links of a batch, of several types" 1 94 cuda --links user/buys/item -b 30 --exclude reverse -f 3,2 --negatives triplet:2 h
sweep_calls "without the links of a batch" --links user/buys/item -b 100 --exclude reverse -f 2,2 --epochs 0:1 h
done_testing
