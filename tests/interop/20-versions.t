# What version 0.1 wrote stays readable: a store of one part and one of two with halos, batches of them, gathered and packed. Made by
#   gnn-import --no-provenance -o store sbm:nodes=12,degree=3,features=3,classes=3,types=2,weights=1,times=1,train=0.5,valid=0.2
#   gnn-partition --no-provenance -k 2 --halo-edges -o parts store
# and of either gnn-sample -f 3,2 -b 4 --edge-ids (.sampled; with -z 3 .packed) and gnn-gather --fields x,y,weight (.gathered)
. "$GNN_TOP/tests/lib.sh"
gzip -dc "$GNN_TOP/tests/interop/v0.1/written.tar.gz" | tar xf - || exit 1
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
done_testing
