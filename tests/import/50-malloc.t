# SPDX-License-Identifier: Apache-2.0
# The k-th allocation fails in a small import: status 1 and no store. Archives are left to test_import, because libarchive
# itself does not survive a failing malloc.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/faults/sweep.sh"
[ -z "${GNN_SAN-}" ] || { skip 'gnn-import ends cleanly when malloc fails' 'the sanitizer owns malloc'; done_testing; }
c=$GNN_TOP/tests/import/corpus
for f in good-sparse.csv good-list.txt.gz good-weights.graph good-triples.txt good-rectangle.mtx good-fortran.npy; do
    sweep "gnn-import of $f ends cleanly when malloc fails" malloc S -- gnn-import -q "$c/$f" -o S
done
sweep 'gnn-import -u --dedup --self-loops add --split ends cleanly when malloc fails' \
    malloc S -- gnn-import -q -u --dedup --self-loops add --split random:0.5,0.25,0.25 "$c/good-sparse.csv" -o S
printf '0.5\n2.5\n' >y.txt
sweep 'gnn-import --task regression ends cleanly when malloc fails' \
    malloc S -- gnn-import -q --labels y.txt --task regression "$c/good-rectangle.mtx" -o S
sweep 'gnn-import igbh: ends cleanly when malloc fails' malloc S -- gnn-import -q igbh:scale=1e-6,features=4,classes=3 -o S
done_testing
