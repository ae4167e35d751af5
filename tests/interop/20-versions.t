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
    check "$s of version 0.1 is proved" gnn-inspect --verify $s
    check "$s.sampled of version 0.1 is proved against it" gnn-inspect --verify --against $s $s.sampled
    check "$s.gathered of version 0.1 is proved against it" gnn-inspect --verify --against $s $s.gathered
    check "$s.sampled of version 0.1 is gathered for" gnn-gather -q --no-provenance --fields x,y,weight -i $s.sampled -o again $s
    check "$s.sampled gathers to what version 0.1 gathered" gnn-inspect --diff again $s.gathered
    check "$s of version 0.1 is sampled from" gnn-sample -q --no-provenance -f 3,2 -b 4 --edge-ids -o drawn $s
    check "$s is sampled to what version 0.1 drew" gnn-inspect --diff drawn $s.sampled
    check "$s.gathered of version 0.1 is trained on" gnn-train -q --hidden 4 -i $s.gathered -o model
    rm -f again drawn model
done
check 'packed batches of version 0.1 are read' gnn-inspect --diff store.packed store.sampled
check 'the parts of version 0.1 are the graph of its store' gnn-inspect --verify --against store parts
train="gnn-train -q --no-provenance --store store -f 3,2 -b 4 --hidden 4 --eval valid --checkpoint trained"
status 3 'a checkpoint of version 0.1 is refused with another pick rule' $train --replace --epochs 3 --resume -o model
check 'a checkpoint of version 0.1 goes on' $train --epochs 3 --resume -o model

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
    check "store $s of fadb5d9 is proved" gnn-inspect --verify $s
    check "store $s of fadb5d9 is exported" gnn-inspect --export x.npz $s
done
check 'parts without ids of edges are their graph' gnn-inspect --verify --against whole bare
check 'and are put together' gnn-partition -q --no-provenance -k 1 -o one bare
check 'to the same' gnn-inspect --diff one whole
again() { # STREAM "OPTIONS OF GNN-SAMPLE" ["OPTIONS OF GNN-GATHER"]
    check "$1 of fadb5d9 is proved" gnn-inspect --verify --against "${1%%.*}" "$1"
    # shellcheck disable=SC2086
    seq 0 2 | gnn-sample -q --no-provenance -o drawn $2 "${1%%.*}"
    check "$1 is drawn again" gnn-inspect --diff drawn "$1"
    [ $# -eq 3 ] || return 0
    check "$1.rows of fadb5d9 is proved" gnn-inspect --verify --against "${1%%.*}" "$1.rows"
    # shellcheck disable=SC2086
    check "$1 of fadb5d9 is gathered for" gnn-gather -q --no-provenance $3 -i "$1" -o again "${1%%.*}"
    check "$1 gathers to what fadb5d9 gathered" gnn-inspect --diff again "$1.rows"
    check "$1.rows of fadb5d9 is trained on" gnn-train -q --hidden 4 -i "$1.rows" -o model
    check "and the model is applied to its store" gnn-predict -q -o classes.npy "${1%%.*}" model
}
again labels.new '-f 3,2 -b 5 --frontier new --eval valid --epochs 0:2' '-F x,y,degree --dtype bf16'
again whole.again '-f 4,2 -b 8 -r --no-shuffle --seed 5' '-F x,y,degree'
again whole.packed '-f -1,2 -b 8 --drop-last -z 3' ''
again bare.original '-f -1,2 -b 8 --original-ids --steps 1:3' ''
again words.seeds '-f 2 -b 3 --seeds - --edge-ids'
for r in 0 1; do
    check "rank $r of fadb5d9 is proved" gnn-inspect --verify --against bare bare.rank.$r
    check "rank $r of fadb5d9 is proved with rows" gnn-inspect --verify --against bare bare.rank.$r.rows
done
done_testing
