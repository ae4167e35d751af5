# SPDX-License-Identifier: Apache-2.0
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
run "gnn-import stores fields of edges" gnn-import -u --dedup --labels y.csv --features x.csv --split random:0.5,0.25,0.25 -o S e.csv
says "gnn-import says that it only stores fields of edges" \
    'warning: edge fields weight, time are not used: stored, and gathered on request, .* sampling uses them only with --weight or --time-rule (gnn-sample, gnn-train), and models only with gnn-train --edge-weight'
run "gnn-partition reads a store with fields of edges" gnn-partition -k 2 -o P S
says "gnn-partition says that all edges have the same weight" 'warning: edge field weight is not used: all edges have the same weight'
run "gnn-sample reads a store with fields of edges" gnn-sample -f 3,3 -b 8 --edge-ids -o s.gnb S
says "gnn-sample says that it samples uniformly" \
    'warning: edge fields weight, time are not used: neighbours are sampled uniformly, whatever their time'
run "gnn-gather gathers weights of edges" gnn-gather --fields x,y,weight -i s.gnb -o g.gnb S
check "gnn-gather does not warn of weights that it gathers" sh -c '! grep -q warning said'
run "gnn-train learns from a stream with weights of edges" gnn-train -i g.gnb --hidden 4 -o m
says "gnn-train says that it treats all edges equally" 'warning: edge field weight is not used: the model treats all edges equally'
for model in sage gcn; do
    run "gnn-train --model $model learns from a store with fields of edges" gnn-train --store S -f 3,3 --model $model --epochs 1 --hidden 4 -o m
    says "gnn-train --model $model says that it samples uniformly and treats all edges equally" \
        'warning: edge fields weight, time are not used: neighbours are sampled uniformly, and the model treats'
done
run "gnn-predict reads a store with fields of edges" gnn-predict -o p.npy S m
says "gnn-predict says that it treats all edges equally" 'warning: edge field weight is not used: the model treats all edges equally'
run "gnn-train --edge-weight learns from a store" gnn-train --store S -f 3,3 -m gcn --edge-weight weight --epochs 1 --hidden 4 -o mw
says "gnn-train --edge-weight warns of times only" 'warning: edge field time is not used'
for store in S P; do
    run "gnn-sample --weight reads $store" gnn-sample --weight weight -f 3,3 -b 8 --edge-ids -o w.gnb $store
    says "gnn-sample --weight warns of times only" 'warning: edge field time is not used: neighbours are sampled whatever their time'
    run "gnn-sample --weight time reads $store" gnn-sample --weight time -f 3,3 -b 8 -o t.gnb $store
    check "gnn-sample --weight time does not warn" sh -c '! grep -q warning said'
done
gnn-sample -q --weight weight -f 3,3 -b 8 --edge-ids S | gnn-gather -q --fields x,y,weight -o gw.gnb S
run "gnn-train learns from a stream sampled by weight" gnn-train -i gw.gnb --hidden 4 -o m2
check "gnn-train does not warn of weights that a stream was sampled by" sh -c '! grep -q warning said'
run "gnn-train --weight learns from a store" gnn-train --store S -f 3,3 --weight weight --epochs 1 --hidden 4 -o m2
says "gnn-train --weight warns of times only" 'warning: edge field time is not used'
run "gnn-train --weight time learns from a store" gnn-train --store S -f 3,3 --weight time --epochs 1 --hidden 4 -o m2
says "gnn-train --weight time warns of weights only" 'warning: edge field weight is not used'
run "gnn-predict reads a model with edge weights" gnn-predict -o p.npy S mw
check "gnn-predict does not warn of weights that the model uses" sh -c '! grep -q warning said'
run "all programs accept fields of edges with -q" \
    sh -c 'gnn-import -q --force -u --dedup --labels y.csv --features x.csv --split random:0.5,0.25,0.25 -o S e.csv &&
    gnn-partition -q --force -k 2 -o P S && gnn-sample -q -f 3,3 -b 8 S | gnn-gather -q S | gnn-train -q --hidden 4 -o m && gnn-predict -q -o p.npy S m'
check "no program warns of fields of edges with -q" test ! -s said
for field in weight time; do
    cut -d , -f 1,2,$([ $field = weight ] && echo 3 || echo 4) e.csv >one.csv
    gnn-import -q -u --dedup --force --labels y.csv --split random:0.5,0.25,0.25 -o one one.csv
    run "gnn-sample reads a store whose edges have $field only" gnn-sample -f 3,3 -b 8 -o s.gnb one
    [ $field = weight ] && how='neighbours are sampled uniformly$' || how='neighbours are sampled whatever their time$'
    says "gnn-sample speaks of $field only" "warning: edge field $field is not used: $how"
done
run "gnn-import and gnn-train accept edges without fields" \
    sh -c 'gnn-import --force -o N sbm:nodes=100 && gnn-train --store N -f 3,3 --epochs 1 --hidden 4 -o n'
check "gnn-import and gnn-train do not warn of edges without fields" sh -c '! grep -q warning said'
done_testing
