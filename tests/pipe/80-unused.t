# Weights, times and features of edges, which nothing uses yet: each program that could be expected to use them says so, in one line.
. "$GNN_TOP/tests/lib.sh"

says() { check "$1" sh -c "[ \"\$(grep -c warning said)\" = 1 ] && grep -q -- \"\$1\" said" - "$2"; }
run() { # NAME COMMAND...
    check "$@"
    mv err said
}
perl -e 'print "source,target,weight,time\n"; print $_ % 40, ",", ($_ * 7 + 3) % 40, ",1.5,$_\n" for 1 .. 300' >e.csv
perl -e 'print $_ % 3, "\n" for 1 .. 40' >y.csv
perl -e 'print join(",", $_ % 3, $_ % 5), "\n" for 1 .. 40' >x.csv
run "import" gnn-import -u --dedup --labels y.csv --features x.csv --split random:0.5,0.25,0.25 -o S e.csv
says "says that they are kept only" 'warning: edge fields weight, time are not used: stored, and gathered on request, .* sampling is uniform and models treat all edges equally'
run "partition" gnn-partition -k 2 -o P S
says "says that edges count alike" 'warning: edge field weight is not used: all edges have the same weight'
run "sample" gnn-sample -f 3,3 -b 8 --edge-ids -o s.gnb S
says "says that it draws uniformly" 'warning: edge fields weight, time are not used: neighbours are sampled uniformly, whatever their time'
run "gather" gnn-gather --fields x,y,weight -i s.gnb -o g.gnb S
check "does what it is told, and is silent" sh -c '! grep -q warning said'
run "train from a stream" gnn-train -i g.gnb --hidden 4 -o m
says "takes all edges alike" 'warning: edge field weight is not used: the model treats all edges equally'
for model in sage gcn; do
    run "train $model from a store" gnn-train --store S -f 3,3 --model $model --epochs 1 --hidden 4 -o m
    says "$model does both" 'warning: edge fields weight, time are not used: neighbours are sampled uniformly, and the model treats'
done
run "predict" gnn-predict -o p.npy S m
says "takes all edges alike" 'warning: edge field weight is not used: the model treats all edges equally'
run "all of them with -q" sh -c 'gnn-import -q --force -u --dedup --labels y.csv --features x.csv --split random:0.5,0.25,0.25 -o S e.csv &&
    gnn-partition -q --force -k 2 -o P S && gnn-sample -q -f 3,3 -b 8 S | gnn-gather -q S | gnn-train -q --hidden 4 -o m && gnn-predict -q -o p.npy S m'
check "are silent" test ! -s said
run "edges without fields" sh -c 'gnn-import --force -o N sbm:nodes=100 && gnn-train --store N -f 3,3 --epochs 1 --hidden 4 -o n'
check "need no warning" sh -c '! grep -q warning said'
done_testing
