# SPDX-License-Identifier: Apache-2.0
# Files of torch.save that hold one graph are read, those of the fuzzers' seeds; tests/peers/86-torch-graphs.t compares what PyG writes.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-import
seeds=$GNN_TOP/tests/fuzz/seeds/pickle
for f in archive data legacy; do
    check "gnn-import reads $f" gnn-import --no-provenance --directed -o "$f" "$seeds/$f"
    check "gnn-import makes a sound store of $f" gnn-inspect --verify "$f"
done
check 'both containers give the same store' gnn-inspect --diff archive legacy
for f in archive data legacy; do
    gzip -c "$seeds/$f" >"$f.pt.gz"
    check "gnn-import reads $f compressed" gnn-import --no-provenance --directed -o S "$f.pt.gz"
    check "$f gives the same store compressed" gnn-inspect --diff S "$f"
    rm -rf S
    size=$(wc -c <"$seeds/$f")
    for at in 16 100 $((size / 2)) $((size - 1)); do
        head -c "$at" "$seeds/$f" >cut
        refuses 3 '^gnn-import: cut: ' "$f cut after $at bytes" gnn-import -o S cut
        check "gnn-import leaves nothing of it" test ! -e S
    done
done
for f in hetero dataset; do check "gnn-import reads $f" gnn-import --no-provenance -o "$f" "$seeds/$f"; done
check 'a HeteroData and a data set of it give the same store' gnn-inspect --diff hetero dataset
refuses 3 'this is a pickle' 'a pickle that runs a program' gnn-import -o S "$seeds/system"
refuses 3 "no member 'y'" 'an array that is not there' gnn-import -o S "$seeds/archive:y"
done_testing
