# SPDX-License-Identifier: Apache-2.0
# Weights, times and features of edges that are not used: each program that could use them says so, in one line, which is true.
. "$GNN_TOP/tests/lib.sh"

says() { check "$1" sh -c "[ \"\$(grep -c warning said)\" = 1 ] && grep -q -- \"\$1\" said" - "$2"; }
run() { # NAME COMMAND...
    check "$@"
    mv err said
}
perl -e 'print "source,target,weight,time\n"; print $_ % 40, ",", ($_ * 7 + 3) % 40, ",1.5,$_\n" for 1 .. 300' >e.csv
perl -e 'print $_ % 3, "\n" for 1 .. 40' >y.csv
perl -e 'print join(",", $_ % 3, $_ % 5), "\n" for 1 .. 40' >x.csv
run "gnn-import stores fields of edges, which nothing could use yet" gnn-import -u --dedup --labels y.csv --features x.csv --split random:0.5,0.25,0.25 -o S e.csv
check "gnn-import does not warn of them" sh -c '! grep -q warning said'
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
        'warning: edge fields weight, time are not used: neighbours are sampled uniformly, whatever their time, and the model treats all edges equally$'
done
run "gnn-predict reads a store with fields of edges" gnn-predict -o p.npy S m
says "gnn-predict says that it treats all edges equally" 'warning: edge field weight is not used: the model treats all edges equally'
run "gnn-train --edge-weight learns from a store" gnn-train --store S -f 3,3 -m gcn --edge-weight weight --epochs 1 --hidden 4 -o mw
says "gnn-train --edge-weight warns of times only" 'warning: edge field time is not used: neighbours are sampled whatever their time$'
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

# All combinations of fields, ways to sample and models: what the line has to say of each.
/usr/bin/python3 -c 'import numpy' 2>err || { skip 'each warning is true' 'no NumPy'; done_testing; }
/usr/bin/python3 -c '
import itertools, numpy as np
r = np.random.default_rng(1)
for k in range(16):
    f = {"edge_index": r.integers(0, 40, (2, 300)), "x": r.random((40, 4), np.float32), "y": np.arange(40) % 3}
    if k & 1: f["edge_weight"] = r.random(300, np.float32)
    if k & 2: f["edge_time"], f["node_time"] = r.integers(0, 9, 300), np.zeros(40, int)
    if k & 4: f["edge_x"] = r.random((300, 2), np.float32)
    if k & 8: f["w"] = r.random(300, np.float32)
    np.savez("f%d.npz" % k, **f)'
# claims FIELDS SAMPLING MODEL: the line, if there is one
claims() {
    weight=$(($1 & 1)) time=$(($1 & 2)) x=$(($1 & 4)) said='' does=''
    case "$2 $3" in *"weight weight"*) weight=0 ;; esac
    case $2 in stream | *time-rule*) time=0 ;; esac
    case $3 in none | *edge-features*) x=0 ;; esac
    # Weights that are given in one place could be used in the other, if there is one.
    case $2 in stream | *full-batch* | *weight*) could= ;; *) could=1 ;; esac
    case $3 in none | *edge-weight*) ;; *) could=1 ;; esac
    [ -n "$could" ] || weight=0
    list=
    [ $weight = 0 ] || list=weight
    [ $time = 0 ] || list="${list:+$list, }time"
    [ $x = 0 ] || list="${list:+$list, }x (features)"
    [ -n "$list" ] || return 0
    case $2 in *weight*) by=0 ;; *) by=$weight ;; esac # what sampling lacks
    case $time$by:$2 in
    *:stream | 00:* | 0*full-batch*) ;;
    *full-batch*) said='full batches have edges of all times' ;;
    *clusters*) said='clusters have all edges' ;;
    *latest*) said='the latest neighbours are taken' ;;
    *" -1"*time-rule*) said='all neighbours of their time are taken' ;;
    *time-rule*) said='neighbours are sampled uniformly among those of their time' ;;
    0*" -1"*) said='all neighbours are taken' ;;
    2*" -1"*) said='all neighbours are taken, whatever their time' ;;
    01*) said='neighbours are sampled uniformly' ;;
    20*) said='neighbours are sampled whatever their time' ;;
    21*) said='neighbours are sampled uniformly, whatever their time' ;;
    esac
    case $list in *,*) are='s %s are' them=them ;; *) are=' %s is' them=it ;; esac
    case $weight$x:$3 in
    00:* | *:none) ;;
    *edge-weight*) does="the model weights edges by ${3##* }" ;;
    *edge-features*) does='the model uses the features of edges' ;;
    *gat*) does="attention does not depend on $them" ;;
    *) does='the model treats all edges equally' ;;
    esac
    # shellcheck disable=SC2059
    printf "warning: edge field$are not used: %s%s%s\n" "$list" "$said" "${said:+${does:+, and }}" "$does"
}
tell() { # FIELDS SAMPLING MODEL COMMAND...
    claims "$1" "$2" "$3" >want
    shift 3
    "$@" >out 2>err
    _rc=$?
    sed -n 's/^gnn-[a-z]*: \(warning: edge field\)/\1/p' err >got
    _tried=$((_tried + 1))
    [ $_rc -eq 0 ] && cmp -s want got || { _bad=$((_bad + 1)); echo "# status $_rc: $*"; sed 's/^/# want /' want; sed 's/^/# /' err; }
}
fits() { # FIELDS OPTIONS: the fields that the options need exist
    case $2 in *"weight weight"*) [ $(($1 & 1)) != 0 ] || return 1 ;; esac
    case $2 in *"weight w") [ $(($1 & 8)) != 0 ] || return 1 ;; esac
    case $2 in *time-rule*) [ $(($1 & 2)) != 0 ] || return 1 ;; esac
    case $2 in *edge-features* | gine*) [ $(($1 & 4)) != 0 ] || return 1 ;; esac
}
_tried=0 _bad=0
[ -z "${GNN_SAN-}" ] || GNN_SWEEP='' # it sees the same in all of them
for k in $(seq 0 15); do
    gnn-import -q --directed --split random:0.5,0.25,0.25 -o f$k f$k.npz && gnn-partition -q -k 4 -o p$k f$k || _not_ok "gnn-import reads fields $k"
    for how in '-f 2,2' '-f -1,-1' '-f 2,2 --weight weight' '-f 2,2 --weight w' '--clusters 2' '-f 2,2 --time-rule le' '-f -1,-1 --time-rule le' '-f 2,2 --time-rule lt --latest' '-f 2,2 --time-rule le --weight w'; do
        fits $k "$how" && turn 3 || continue
        tell $k "$how" none gnn-sample $how --count p$k
    done
    for model in sage 'gcn' 'gcn --edge-weight weight' 'gcn --edge-weight w' gat 'gat --edge-features' 'gine --edge-features'; do
        fits $k "$model" || continue
        for how in '-f 2,2' '-f -1,-1' '-f 2,2 --weight weight' '-f 2,2 --weight w' '--clusters 2 --layers 2' '--full-batch --layers 2' '-f 2,2 --time-rule le' '-f 2,2 --time-rule le --latest'; do
            fits $k "$how" && turn 5 || continue
            # shellcheck disable=SC2086
            tell $k "$how" "$model" gnn-train --store p$k $how -m $model --hidden 4 --epochs 1 --eval none -o m
        done
        turn 3 || continue
        fields=x,y,degree
        case $model in *weight\ *) fields=x,y,degree,${model##* },degree:${model##* } ;; *features) fields=x,y,degree,edge/node/to/node/x ;; esac
        # shellcheck disable=SC2086
        gnn-train -q --store f$k -f 2,2 -m $model --hidden 4 --epochs 1 --eval none -o m && tell $k stream "$model" gnn-predict -o p.npy f$k m
    done
done
[ $_bad -eq 0 ] && _ok "each warning is true ($_tried)" || _not_ok "$_bad of $_tried warnings are not true"
done_testing
