# SPDX-License-Identifier: Apache-2.0
# What version 0.1 wrote stays readable: a store of one part and one of two with halos, batches of them, gathered and packed. Made by
#   gnn-import --no-provenance -o store sbm:nodes=12,degree=3,features=3,classes=3,types=2,weights=1,times=1,train=0.5,valid=0.2
#   gnn-partition --no-provenance -k 2 --halo-edges -o parts store
# and of either gnn-sample -f 3,2 -b 4 --edge-ids (.sampled; with -z 3 .packed) and gnn-gather --fields x,y,weight (.gathered)
# A checkpoint by gnn-train --no-provenance --store store -f 3,2 -b 4 --hidden 4 --epochs 2 --eval valid --checkpoint trained --checkpoint-every 1
. "$GNN_TOP/tests/lib.sh"
for f in written trained; do
    gzip -dc "$GNN_TOP/tests/interop/v0.1/$f.tar.gz" | tar xf - || exit 1
done
for s in store parts; do
    check "gnn-inspect --verify finds $s of version 0.1 sound" gnn-inspect --verify $s
    check "gnn-inspect --verify finds each edge of $s.sampled of version 0.1 in $s" gnn-inspect --verify --against $s $s.sampled
    check "gnn-inspect --verify finds each row of $s.gathered of version 0.1 in $s" gnn-inspect --verify --against $s $s.gathered
    check "gnn-gather gathers for $s.sampled of version 0.1" gnn-gather -q --no-provenance --fields x,y,weight -i $s.sampled -o again $s
    check "gnn-gather gathers for $s.sampled what version 0.1 gathered" gnn-inspect --diff again $s.gathered
    check "gnn-sample draws from $s of version 0.1" gnn-sample -q --no-provenance -f 3,2 -b 4 --edge-ids -o drawn $s
    check "gnn-sample draws from $s what version 0.1 drew" gnn-inspect --diff drawn $s.sampled
    check "gnn-train learns from $s.gathered of version 0.1" gnn-train -q --hidden 4 -i $s.gathered -o model
    rm -f again drawn model
done
check 'gnn-inspect reads packed batches of version 0.1' gnn-inspect --diff store.packed store.sampled
check 'gnn-inspect --verify finds partitions of version 0.1 to be the graph of its store' gnn-inspect --verify --against store parts
train="gnn-train -q --no-provenance --store store -f 3,2 -b 4 --hidden 4 --eval valid --checkpoint trained"
status 3 'gnn-train --resume refuses a checkpoint of version 0.1 with another pick rule' $train --replace --epochs 3 --resume -o model
check 'gnn-train --resume goes on from a checkpoint of version 0.1' $train --epochs 3 --resume -o model

# More of it, by commit fadb5d9: names and keys of nodes, narrow features, labels of several columns, parts without ids of edges, batches
# by other rules, original ids, rows narrowed and with degrees, shares of ranks. A stream is called by its store, and what is
# in its rows by .rows; it is drawn and gathered again by these options. The stores were made by
#   gnn-import --no-provenance tests/import/corpus/good-triples.tar.gz -o words
#   gnn-import --no-provenance -u --columns source=from,target=to,weight=weight,time=when t.csv -o keys, ids 10, 70, 31, 900
#   gnn-import --no-provenance -u --dtype f16 --features x.txt --labels y.txt --task multilabel --split random:0.5,0.25,0.25 e.txt -o labels
#   gnn-import --no-provenance sbm:nodes=40,degree=4,features=5,classes=3 -o whole
#   gnn-partition --no-provenance -k 3 --method random --no-edge-ids -o bare whole
rm -rf ./*
gzip -dc "$GNN_TOP/tests/interop/v0.1/more.tar.gz" | tar xf - || exit 1
for s in words keys labels whole bare; do
    check "gnn-inspect --verify finds store $s of fadb5d9 sound" gnn-inspect --verify $s
    check "gnn-inspect --export writes store $s of fadb5d9" gnn-inspect --raw --export x.npz $s
done
check 'gnn-inspect --verify finds partitions of fadb5d9 without edge ids to be the graph of the whole' gnn-inspect --verify --against whole bare
check 'gnn-partition -k 1 puts partitions of fadb5d9 without edge ids together' gnn-partition -q --no-provenance -k 1 -o one bare
check 'gnn-partition -k 1 makes of partitions of fadb5d9 the store that they came from' gnn-inspect --diff one whole
again() { # STREAM "OPTIONS OF GNN-SAMPLE" ["OPTIONS OF GNN-GATHER"]
    check "gnn-inspect --verify finds each edge of $1 of fadb5d9 in its store" gnn-inspect --verify --against "${1%%.*}" "$1"
    # shellcheck disable=SC2086
    seq 0 2 | gnn-sample -q --no-provenance -o drawn $2 "${1%%.*}"
    check "gnn-sample draws $1 of fadb5d9 again" gnn-inspect --diff drawn "$1"
    [ $# -eq 3 ] || return 0
    check "gnn-inspect --verify finds each row of $1.rows of fadb5d9 in its store" gnn-inspect --verify --against "${1%%.*}" "$1.rows"
    # shellcheck disable=SC2086
    check "gnn-gather gathers for $1 of fadb5d9" gnn-gather -q --no-provenance $3 -i "$1" -o again "${1%%.*}"
    check "gnn-gather gathers for $1 what fadb5d9 gathered" gnn-inspect --diff again "$1.rows"
    check "gnn-train learns from $1.rows of fadb5d9" gnn-train -q --hidden 4 -i "$1.rows" -o model
    check "gnn-predict applies the model of $1.rows to its store" gnn-predict -q -o classes.npy "${1%%.*}" model
}
again labels.new '-f 3,2 -b 5 --frontier new --eval valid --epochs 0:2' '-F x,y,degree --dtype bf16'
again whole.again '-f 4,2 -b 8 -r --no-shuffle --seed 5' '-F x,y,degree'
again whole.packed '-f -1,2 -b 8 --drop-last -z 3' ''
again bare.original '-f -1,2 -b 8 --original-ids --steps 1:3' ''
again words.seeds '-f 2 -b 3 --seeds - --edge-ids'
for r in 0 1; do
    check "gnn-inspect --verify finds each edge of rank $r of fadb5d9 in its store" gnn-inspect --verify --against bare bare.rank.$r
    check "gnn-inspect --verify finds each row of rank $r of fadb5d9 in its store" gnn-inspect --verify --against bare bare.rank.$r.rows
done
done_testing
