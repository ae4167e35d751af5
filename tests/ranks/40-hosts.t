# Ranks on two hosts that a link of TCP joins are as good as ranks on one.
. "$GNN_TOP/tests/ranks/two-hosts.sh"
gnn-import -q -o S sbm:nodes=3000,degree=12,features=8 && gnn-partition -q -k 4 -o P S || { _not_ok inputs; done_testing; }
draw='-q --no-provenance -f 5,5 -b 100 --eval valid'
check 'there are two' on_hosts 4 sh -c 'hostname >name.$OMPI_COMM_WORLD_RANK'
check 'two ranks each' test "$(cat name.? | sort | uniq -c | sed 's/ *\([0-9]*\) .*/\1/' | tr '\n' ' ')" = '2 2 '
check 'ranks sample on one host' ranks 4 gnn-sample $draw -o one.%r.gnb P
check 'ranks sample on two' on_hosts 4 gnn-sample $draw -o two.%r.gnb P
for r in 0 1 2 3; do check "rank $r: the same" cmp one.$r.gnb two.$r.gnb; done
check 'ranks train on one host' ranks 4 gnn-train $draw --store P --epochs 3 --hidden 16 --lr 0.01 --dropout 0 --no-layer-norm -o one
check 'ranks train on two' on_hosts 4 gnn-train $draw --store P --epochs 3 --hidden 16 --lr 0.01 --dropout 0 --no-layer-norm -o two
check 'the same model' cmp one two
check 'the link was used' sh -c 'test $(ip netns exec gnn'$$'0 cat /sys/class/net/v0/statistics/tx_bytes) -gt 500000'
done_testing
