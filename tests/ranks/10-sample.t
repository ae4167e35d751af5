# The ranks' batches together are the batch of one, whatever the number of ranks and parts.
. "$GNN_TOP/tests/ranks/setup.sh"
gnn-import -q --no-provenance -o S sbm:nodes=1600,degree=12,features=8 || { _not_ok inputs; done_testing; }
opts='--fanout 7,4,3 --batch 100 --eval valid --edge-ids'
check 'one rank, one part' gnn-sample -q S $opts -o one.gnb
for k in 3 4 7; do
    gnn-partition -q -k $k --method random -o P$k S || _not_ok "parts $k"
    for many in $(choice '2 3 4 7' "2 $k"); do
        [ $many -le $k ] || continue
        rm -f r.*.gnb
        check "$many ranks, $k parts" ranks $many gnn-sample -q P$k $opts -o 'r.%r.gnb'
        check "$many ranks, $k parts: together they are the one" union P$k one.gnb $(streams r $many)
        [ $many -eq $k ] || continue
        check "$many ranks gather" ranks $many gnn-gather -q P$k -i 'r.%r.gnb' -o 'g.%r.gnb'
        check "$many ranks gather what the store has" union P$k one.gnb $(streams g $many)
    done
done
gnn-partition -q --no-provenance -k 4 --halo-edges -o H4 S
check 'the halo has its edges' gnn-inspect --verify H4
check 'sampling with them' ranks 4 gnn-sample H4 $opts -v -o 'h.%r.gnb'
grep -q 'in the halo [1-9]' err && _ok 'tells what they save' || _not_ok 'tells what they save'
check 'sampling with them: the same' union H4 one.gnb $(streams h 4)
check 'two parts a rank' ranks 2 gnn-sample -q H4 $opts -o 'h.%r.gnb'
check 'two parts a rank: the same' union H4 one.gnb $(streams h 2)
gnn-partition -q --no-provenance -k 1 -o H1 H4
check 'put together again it is the one' gnn-inspect --diff S H1
ranks 4 gnn-sample -q P4 $opts -o 'r.%r.gnb'
for by in access degree halo; do
    check "copies by $by" ranks 4 gnn-gather P4 -v --replicate 0.4 --cache-order $by -i 'r.%r.gnb' -o 'g.%r.gnb' --metrics "k$by.%r"
    check "copies by $by: the same rows" union P4 one.gnb $(streams g 4)
done
# Nodes in several shares are counted once.
for many in $(choice '2 3 4' '2 4'); do
    check "who counts, $many ranks" ranks $many gnn-sample -q P4 $opts --count-once -j 2 -o 'r.%r.gnb'
    union P4 one.gnb $(streams r $many) >counted
    sed 's/^/# /' counted
    check "who counts, $many ranks: each node is counted once" grep -q ' [1-9][0-9]* nodes counted' counted
done
status 2 'who counts, alone' gnn-sample -q P4 $opts --count-once -o alone.gnb
ranks 4 gnn-sample -q P4 $opts -o 'r.%r.gnb'

fetched() { cat $1.? | sed -n 's/.*"fetched_rows":\([0-9]*\).*/\1/p' | awk '{ s += $1 } END { print s + 0 }'; }
ranks 4 gnn-gather -q P4 -i 'r.%r.gnb' -o 'g.%r.gnb' --metrics "knone.%r"
echo "# fetched: $(fetched knone), with copies by access $(fetched kaccess), degree $(fetched kdegree), halo $(fetched khalo)"
check 'copies save what is fetched' test $(fetched kaccess) -lt $(($(fetched knone) * 9 / 10))
for dtype in $(choice 'f16 bf16' bf16); do
    check "copies, $dtype" ranks 4 gnn-gather -q P4 --replicate 0.4 --dtype $dtype -i 'r.%r.gnb' -o 'g.%r.gnb'
    check "copies, $dtype: the store's rows" union P4 one.gnb $(streams g 4)
done
check 'with replacement' gnn-sample -q S --fanout 5,5 -r -b 64 -o one.gnb
check 'with replacement, 4 ranks' ranks 4 gnn-sample -q P4 -f 5,5 -r -b 64 -o 'r.%r.gnb'
check 'with replacement, the same' union P4 one.gnb $(streams r 4)
check 'all neighbours' gnn-sample -q S -f -1,-1 -b 20 --steps 0:3 -o one.gnb
check 'all neighbours, 3 ranks' ranks 3 gnn-sample -q P3 -f -1,-1 -b 20 --steps 0:3 -o 'r.%r.gnb'
check 'all neighbours, the same' union P3 one.gnb $(streams r 3)
check 'no shuffling, drop last, several threads' gnn-sample -q S -f 3,3 -b 350 --no-shuffle --drop-last -o one.gnb
check 'no shuffling, 4 ranks' ranks 4 gnn-sample -q P4 -f 3,3 -b 350 -j 3 --no-shuffle --drop-last -o 'r.%r.gnb'
check 'no shuffling, the same' union P4 one.gnb $(streams r 4)
seq 100 7 1500 >ids
check 'seeds of a file' gnn-sample -q P4 --seeds ids -f 5,4 -b 50 -o one.gnb
check 'seeds of a file, 4 ranks' ranks 4 gnn-sample -q P4 --seeds ids -f 5,4 -b 50 -o 'r.%r.gnb'
check 'seeds of a file, the same' union P4 one.gnb $(streams r 4)
head -n 3 ids >few
check 'fewer seeds than ranks' ranks 7 gnn-sample -q P7 --seeds few -f 5,4 -b 50 -o 'r.%r.gnb'
check 'some ranks have none' gnn-sample -q P7 --seeds few -f 5,4 -b 50 -o one.gnb
check 'fewer seeds than ranks, the same' union P7 one.gnb $(streams r 7)

# Statistics are those of all ranks.
gnn-sample -q P4 -f 7,4,3 -b 100 -c | sed -n '1,3p' >one.txt
ranks 4 gnn-sample -q P4 -f 7,4,3 -b 100 -c | sed -n '1,2p' >all.txt
check 'statistics: batches and seeds' sh -c 'head -n 2 one.txt | cmp - all.txt'

# Typed graphs, edge fields, types that change on the way.
if [ -n "${GNN_DATA:-}" ]; then
    gnn-import -q -o T "$GNN_DATA/acm.zip" && gnn-partition -q -k 3 -o T3 T || _not_ok 'typed input'
    check 'typed' gnn-sample -q T -f 4,4 -b 128 --edge-ids -o one.gnb
    check 'typed, 3 ranks' ranks 3 gnn-sample -q T3 -f 4,4 -b 128 --edge-ids --count-once -o 'r.%r.gnb'
    check 'typed, gathered' ranks 3 gnn-gather -q T3 -i 'r.%r.gnb' -o 'g.%r.gnb'
    check 'typed, the same' union T3 one.gnb $(streams g 3)
else
    skip 'a typed graph' 'GNN_DATA is not set'
fi
done_testing
