# SPDX-License-Identifier: Apache-2.0
# Real graphs: whole and in parts, the batches and the rows are the same, for any number of threads.
. "$GNN_TOP/tests/lib.sh"
same_batches() { gnn-inspect --export 1.npz "$1" && gnn-inspect --export 2.npz "$2" && cmp 1.npz 2.npz; }
[ -n "${GNN_DATA-}" ] || { skip "gnn-sample and gnn-gather give the same for partitions of real graphs" "GNN_DATA is not set"; done_testing; }
for g in cora acm; do
    check "gnn-import reads $g" gnn-import -q "$GNN_DATA/$g.zip" -o $g
    gnn-partition -q $g -k 4 -o $g.4
    for how in '-f 5,5 --frontier all' '-f -1,3 --frontier new' '-f 3,2 -r'; do
        # shellcheck disable=SC2086
        gnn-sample $how -b 64 --epochs 0:2 --original-ids --edge-ids $g | gnn-gather -o one $g
        # shellcheck disable=SC2086
        gnn-sample $how -b 64 --epochs 0:2 --original-ids --edge-ids -j2 $g.4 | gnn-gather -j2 -o many $g.4
        check "gnn-inspect --verify finds batches of $g drawn with $how in the store" gnn-inspect --verify one --against $g
        check "gnn-sample $how and gnn-gather give the same from 4 partitions of $g in 2 threads" same_batches one many
        rm -f one many 1.npz 2.npz
    done
    rm -rf $g $g.4
done
done_testing
