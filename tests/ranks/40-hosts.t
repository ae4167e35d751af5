# SPDX-License-Identifier: Apache-2.0
# Ranks on two hosts that a link of TCP joins are as good as ranks on one.
. "$GNN_TOP/tests/ranks/two-hosts.sh"
gnn-import -q -o S sbm:nodes=3000,degree=12,features=8 && gnn-partition -q -k 4 -o P S ||
    { _not_ok "gnn-import and gnn-partition make the store"; done_testing; }
draw='-q --no-provenance -f 5,5 -b 100 --eval valid'
check 'mpirun starts 4 ranks on two hosts' on_hosts 4 sh -c 'hostname >name.$OMPI_COMM_WORLD_RANK'
check 'mpirun starts two ranks on each of two hosts' test "$(cat name.? | sort | uniq -c | sed 's/ *\([0-9]*\) .*/\1/' | tr '\n' ' ')" = '2 2 '
check 'gnn-sample draws on 4 ranks of one host' ranks 4 gnn-sample $draw -o one.%r.gnb P
check 'gnn-sample draws on 4 ranks of two hosts' on_hosts 4 gnn-sample $draw -o two.%r.gnb P
for r in 0 1 2 3; do check "gnn-sample gives rank $r the same stream on two hosts as on one" cmp one.$r.gnb two.$r.gnb; done
check 'gnn-train learns on 4 ranks of one host' ranks 4 gnn-train $draw --store P --epochs 3 --hidden 16 --lr 0.01 --dropout 0 --no-layer-norm -o one
check 'gnn-train learns on 4 ranks of two hosts' \
    on_hosts 4 gnn-train $draw --store P --epochs 3 --hidden 16 --lr 0.01 --dropout 0 --no-layer-norm -o two
check 'gnn-train writes the same model on two hosts as on one' cmp one two
check 'the ranks of two hosts send more than 500 kB over the link between them' \
    sh -c 'test $(ip netns exec gnn'$$'0 cat /sys/class/net/v0/statistics/tx_bytes) -gt 500000'
done_testing
