# SPDX-License-Identifier: Apache-2.0
# The ranks' batches together are the batch of one, whatever the number of ranks and parts. tests/rules compares ways to sample.
. "$GNN_TOP/tests/ranks/setup.sh"
gnn-import -q --no-provenance -o S sbm:nodes=1600,degree=12,features=8 || { _not_ok "gnn-import makes the graph"; done_testing; }
opts='--fanout 7,4,3 --batch 100 --eval valid --edge-ids'
check 'gnn-sample draws the batches of one process from one part' gnn-sample -q S $opts -o one.gnb
for k in 3 4 7; do
    gnn-partition -q -k $k --method random -o P$k S || _not_ok "gnn-partition makes $k parts"
    for many in $(choice '2 3 4 7' $((k == 4 ? 2 : k))); do
        [ $many -le $k ] || continue
        rm -f r.*.gnb
        check "gnn-sample on $many ranks draws from $k parts" ranks $many gnn-sample -q P$k $opts -o 'r.%r.gnb'
        check "gnn-sample on $many ranks draws from $k parts the batches of one process" union P$k one.gnb $(streams r $many)
        [ $many -eq $k ] || continue
        check "gnn-gather on $many ranks gathers their batches" ranks $many gnn-gather -q P$k -i 'r.%r.gnb' -o 'g.%r.gnb'
        check "gnn-gather on $many ranks gathers the rows that the store has" union P$k one.gnb $(streams g $many)
    done
done
gnn-partition -q --no-provenance -k 4 --halo-edges -o H4 S
check 'gnn-inspect --verify accepts parts with halo edges' gnn-inspect --verify H4
check 'gnn-sample on 4 ranks draws from parts with halo edges' ranks 4 gnn-sample H4 $opts -v -o 'h.%r.gnb'
grep -q 'in the halo [1-9]' err && _ok 'gnn-sample -v counts the nodes that it samples in the halo' ||
    _not_ok 'gnn-sample -v counts the nodes that it samples in the halo'
check 'gnn-sample on 4 ranks draws with halo edges the batches of one process' union H4 one.gnb $(streams h 4)
check 'gnn-sample on 2 ranks draws from four parts with halo edges' ranks 2 gnn-sample -q H4 $opts -o 'h.%r.gnb'
check 'gnn-sample on 2 ranks with two parts each draws the batches of one process' union H4 one.gnb $(streams h 2)
gnn-partition -q --no-provenance -k 1 -o H1 H4
check 'gnn-partition -k 1 makes the first store again from parts with halo edges' gnn-inspect --diff S H1
ranks 4 gnn-sample -q P4 $opts -o 'r.%r.gnb'
for by in access degree halo; do
    check "gnn-gather --replicate on 4 ranks gathers with replicated rows in the order of $by" \
        ranks 4 gnn-gather P4 -v --replicate 0.4 --cache-order $by -i 'r.%r.gnb' -o 'g.%r.gnb' --metrics "k$by.%r"
    check "gnn-gather --replicate in the order of $by gathers the rows that the store has" union P4 one.gnb $(streams g 4)
done
# What --plan measures is what ranks fetch, whatever the order.
gnn-sample -q P4 --fanout 7,4,3 --batch 100 -o whole.gnb
ranks 4 gnn-sample -q P4 --fanout 7,4,3 --batch 100 -o 'w.%r.gnb'
gnn-gather --plan --replicate 0.2,0.4 -i whole.gnb P4 >plan
sum() { cat "$2".? | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" | awk '{ s += $1 } END { print s + 0 }'; } # KEY FILE
planned() { awk -v o="$1" -v a="$2" '$1 == o && $2 == a && NF == 5 { print $5 }' plan; }                  # ORDER SHARE
for by in access degree halo; do
    ranks 4 gnn-gather -v P4 --replicate 0.4 --cache-order $by -i 'w.%r.gnb' -o 'g.%r.gnb' --metrics "f$by.%r" 2>said.$by
    check "gnn-gather --replicate in the order of $by fetches the $(planned $by 0.4) rows that --plan measures" \
        test "$(sum fetched_rows f$by)" = "$(planned $by 0.4)"
done
check 'gnn-gather --replicate by access sends messages to choose the copies' test "$(sum copies_chosen_bytes faccess)" -gt 0
check 'gnn-gather --replicate by halo sends no message to choose the copies' test "$(sum copies_chosen_bytes fhalo)" = 0
check 'gnn-gather --replicate -v says what the copies took' grep -q 'copies of remote rows: [1-9][0-9]*; sent [0-9.]* MB to choose them, and' said.access
# A node counts once in a hop, along however many edge types.
gnn-import -q --no-provenance -o Q sbm:nodes=600,degree=8,types=3
gnn-partition -q --method random -k 2 -o Q2 Q
ranks 2 gnn-sample -q Q2 -f 3,3 -b 50 --steps 0 -o 't.%r.gnb' --metrics 'mt.%r'
found() { # nodes after the first hop: what the second hop samples for
    for r in 0 1; do gnn-inspect --export t.$r.npz t.$r.gnb; done
    /usr/bin/python3 -c 'import numpy as np, glob
print(sum(int(z[k][1]) for z in map(np.load, glob.glob("t.?.npz")) for k in z.files if "/counts/" in k))'
}
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    check "gnn-sample on 2 ranks counts each frontier node of a hop once: $(found)" test "$(sum frontier mt)" = "$(found)"
else
    skip 'gnn-sample on 2 ranks counts each frontier node of a hop once' 'no numpy'
fi
# Nodes in several shares are counted once.
for many in $(choice '2 3 4' '2 4'); do
    check "gnn-sample --count-once on $many ranks draws batches" ranks $many gnn-sample -q P4 $opts --count-once -j 2 -o 'r.%r.gnb'
    union P4 one.gnb $(streams r $many) >counted
    sed 's/^/# /' counted
    check "gnn-sample --count-once on $many ranks counts each node once" grep -q ' [1-9][0-9]* nodes counted' counted
done
status 2 'gnn-sample refuses --count-once in a single process' gnn-sample -q P4 $opts --count-once -o alone.gnb
ranks 4 gnn-sample -q P4 $opts -o 'r.%r.gnb'

fetched() { cat $1.? | sed -n 's/.*"fetched_rows":\([0-9]*\).*/\1/p' | awk '{ s += $1 } END { print s + 0 }'; }
ranks 4 gnn-gather -q P4 -i 'r.%r.gnb' -o 'g.%r.gnb' --metrics "knone.%r"
echo "# fetched: $(fetched knone), with copies by access $(fetched kaccess), degree $(fetched kdegree), halo $(fetched khalo)"
check 'gnn-gather --replicate saves at least a tenth of the remote rows' test $(fetched kaccess) -lt $(($(fetched knone) * 9 / 10))
for dtype in $(choice 'f16 bf16' bf16); do
    check "gnn-gather --replicate --dtype $dtype on 4 ranks gathers" \
        ranks 4 gnn-gather -q P4 --replicate 0.4 --dtype $dtype -i 'r.%r.gnb' -o 'g.%r.gnb'
    check "gnn-gather --replicate --dtype $dtype gathers the rows that the store has" union P4 one.gnb $(streams g 4)
done
gnn-import -q --no-provenance -o W sbm:nodes=900,degree=12,features=4,weights=1
gnn-partition -q --no-provenance -k 4 --halo-edges -o W4 W
# An index that ranks keep is that of one process, and any number of ranks uses it.
gnn-sample -q W -f 5,4 --weight weight -b 64 --edge-ids -o one.gnb
check 'gnn-sample --keep-index on 2 ranks draws' ranks 2 gnn-sample -q W4 -f 5,4 --weight weight -b 64 --edge-ids --keep-index -o 'r.%r.gnb'
check 'gnn-sample --keep-index on 2 ranks draws the batches of one process' union W4 one.gnb $(streams r 2)
check 'gnn-sample --keep-index on 2 ranks keeps what 4 partitions have' test "$(cd W4.index && echo *)" = 'weight-weight-0-0 weight-weight-0-1 weight-weight-0-2 weight-weight-0-3'
mv W4.index kept
gnn-sample -q W4 -f 5,4 --weight weight --keep-index -c >stats
check 'what ranks keep is what one process keeps' sh -c 'for p in 0 1 2 3; do cmp kept/weight-weight-0-$p/part-00000.gnb W4.index/weight-weight-0-$p/part-00000.gnb || exit 1; done'
rm -f r.*.gnb
check 'gnn-sample on 4 ranks draws with an index' ranks 4 gnn-sample -q W4 -f 5,4 --weight weight -b 64 --edge-ids -o 'r.%r.gnb'
check 'gnn-sample on 4 ranks draws with an index the batches of one process' union W4 one.gnb $(streams r 4)
rm -rf W4.index
gnn-sample -q W -f 5,4 --labor -b 64 -o one.gnb
check 'gnn-sample --labor on 4 ranks draws' ranks 4 gnn-sample -q W4 -f 5,4 --labor -b 64 -o 'r.%r.gnb'
# Accesses of these picks are not computed, so copies are those of the halo.
for by in '' '--cache-order halo'; do
    ranks 4 gnn-gather -q W4 --replicate 0.4 $by -i 'r.%r.gnb' -o 'g.%r.gnb' --metrics "k${by:+halo}.%r"
done
check 'gnn-gather --replicate takes the rows of the halo for --labor by default' \
    test "$(sum replicated_rows k) $(sum fetched_rows k)" = "$(sum replicated_rows khalo) $(sum fetched_rows khalo)" -a "$(sum copies_fetched_bytes k)" -gt 0
check 'gnn-gather --replicate gathers for --labor the rows that the store has' union W4 one.gnb $(streams g 4)
refuses 2 'expected accesses are known of uniform picks only: .* (for --replicate: halo or degree)' '--replicate by access for --labor' \
    ranks 4 gnn-gather -q W4 --replicate 0.4 --cache-order access -i 'r.%r.gnb' -o 'g.%r.gnb'
/usr/bin/python3 "$GNN_TOP/tests/sample/temporal.py" G.npz f8 900 12000
gnn-import -q -o G G.npz
gnn-partition -q -k 4 --halo-edges -o G4 G
perl -e 'srand 3; print int rand 900, " ", int(rand 30) - 9, "\n" for 1 .. 300' >pairs
check 'gnn-sample draws the batches of one process for seeds with times' gnn-sample -q G4 --seeds pairs -f 5,4 --time-rule lt -b 50 --shuffle --edge-ids -o one.gnb
check 'gnn-sample on 3 ranks draws for seeds with times' ranks 3 gnn-sample -q G4 --seeds pairs -f 5,4 --time-rule lt -b 50 --shuffle --edge-ids -o 'r.%r.gnb'
check 'gnn-sample on 3 ranks draws for seeds with times the batches of one process' union G4 one.gnb $(streams r 3)
check 'gnn-sample -f -1,-1 draws the batches of one process with all neighbours' gnn-sample -q S -f -1,-1 -b 20 --steps 0:3 -o one.gnb
check 'gnn-sample -f -1,-1 on 3 ranks draws all neighbours' ranks 3 gnn-sample -q P3 -f -1,-1 -b 20 --steps 0:3 -o 'r.%r.gnb'
check 'gnn-sample -f -1,-1 on 3 ranks draws the batches of one process' union P3 one.gnb $(streams r 3)
check 'gnn-sample --no-shuffle --drop-last draws the batches of one process' gnn-sample -q S -f 3,3 -b 350 --no-shuffle --drop-last -o one.gnb
check 'gnn-sample --no-shuffle --drop-last -j 3 on 4 ranks draws' ranks 4 gnn-sample -q P4 -f 3,3 -b 350 -j 3 --no-shuffle --drop-last -o 'r.%r.gnb'
check 'gnn-sample --no-shuffle --drop-last on 4 ranks draws the batches of one process' union P4 one.gnb $(streams r 4)
seq 100 7 1500 >ids
check 'gnn-sample --seeds draws the batches of one process for the ids of a file' gnn-sample -q P4 --seeds ids -f 5,4 -b 50 -o one.gnb
check 'gnn-sample --seeds on 4 ranks draws for the ids of a file' ranks 4 gnn-sample -q P4 --seeds ids -f 5,4 -b 50 -o 'r.%r.gnb'
check 'gnn-sample --seeds on 4 ranks draws the batches of one process' union P4 one.gnb $(streams r 4)
head -n 3 ids >few
check 'gnn-sample on 7 ranks draws for three seeds' ranks 7 gnn-sample -q P7 --seeds few -f 5,4 -b 50 -o 'r.%r.gnb'
check 'gnn-sample draws the batches of one process for three seeds' gnn-sample -q P7 --seeds few -f 5,4 -b 50 -o one.gnb
check 'gnn-sample on 7 ranks draws for three seeds the batches of one process' union P7 one.gnb $(streams r 7)

# Statistics are those of all ranks.
gnn-sample -q P4 -f 7,4,3 -b 100 -c | sed -n '1,3p' >one.txt
ranks 4 gnn-sample -q P4 -f 7,4,3 -b 100 -c | sed -n '1,2p' >all.txt
check 'gnn-sample -c on 4 ranks counts the batches and seeds of all ranks' sh -c 'head -n 2 one.txt | cmp - all.txt'

# Typed graphs, edge fields, types that change on the way.
if [ -n "${GNN_DATA:-}" ]; then
    gnn-import -q -o T "$GNN_DATA/acm.zip" && gnn-partition -q -k 3 -o T3 T ||
        _not_ok 'gnn-import and gnn-partition make a graph of several node types'
    check 'gnn-sample draws the batches of one process from a graph of several node types' gnn-sample -q T -f 4,4 -b 128 --edge-ids -o one.gnb
    check 'gnn-sample --count-once on 3 ranks draws from a graph of several node types' \
        ranks 3 gnn-sample -q T3 -f 4,4 -b 128 --edge-ids --count-once -o 'r.%r.gnb'
    check 'gnn-gather on 3 ranks gathers for a graph of several node types' ranks 3 gnn-gather -q T3 -i 'r.%r.gnb' -o 'g.%r.gnb'
    check 'gnn-sample and gnn-gather on 3 ranks give for a graph of several node types what one process draws' union T3 one.gnb $(streams g 3)
else
    skip 'gnn-sample and gnn-gather on 3 ranks give for a graph of several node types what one process draws' 'GNN_DATA is not set'
fi
done_testing
