# SPDX-License-Identifier: Apache-2.0
# Splits of OGB's archives in files of torch.save, and typed graphs in its binary layout, give what text gives.
. "$GNN_TOP/tests/lib.sh"
python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || { skip "OGB's splits of torch.save" 'no numpy'; done_testing; }
check 'data sets are written' "$python" -B "$GNN_TOP/tests/import/ogb_nodes.py"
imp() { gnn-import --no-provenance --directed --force "$@"; }
for kind in graph typed; do
    check "gnn-import reads a $kind of text" imp -o $kind good/$kind-text
done
mv typed dicts
for d in good/*; do
    what=${d#good/}
    [ "${what#*-}" = text ] && continue
    check "gnn-import reads $what" imp -o S "$d"
    check "it leaves nothing unread" sh -c '! grep "not read" err | grep -v "graph-both: split/time/train.pt"'
    [ "${what%%-*}" = typed ] && of=dicts || of=${what%%-*}
    check "$what gives the same store" gnn-inspect --diff S "$of"
done
check 'what OGB does not read is named' sh -c 'gnn-import -o X good/graph-both 2>&1 | grep -q "split/time/train.pt is not read"'
(cd good && "$python" -m zipfile -c ../z.zip graph-dict-legacy4-int32-tensor dicts-files-zip2-int64-tensor)
check 'gnn-import reads an archive' imp -o S z.zip:graph-dict-legacy4-int32-tensor
check 'it gives the same store' gnn-inspect --diff S graph
check 'gnn-import reads an archive of arrays' imp -o S z.zip:dicts-files-zip2-int64-tensor
check 'it gives the same store, too' gnn-inspect --diff S dicts
check 'gnn-import leaves out and renames fields of dicts' imp --map =node_age --map born=edge_year -o S good/dicts-files-zip4-int64-array
check 'they are' sh -c 'gnn-inspect S >out && ! grep -q age out && grep -q "born i64" out'
for f in bad/*.txt; do
    name=${f#bad/}
    name=${name%.txt}
    rm -rf S
    status 3 "gnn-import refuses $name" gnn-import -o S "bad/$name"
    cp err said
    check "gnn-import says in one line what is wrong with $name" sh -c '[ "$(wc -l <said)" -eq 1 ] && grep -q "^gnn-import: bad/$1: .*$(cat "bad/$1.txt")" said' - "$name"
    grep -q "^gnn-import: bad/$name: .*$(cat "$f")" said || sed 's/^/# /' said
    check "gnn-import leaves nothing of $name" test ! -e S
done
. "$GNN_TOP/tests/faults/sweep.sh"
rm -rf S
sweep 'gnn-import of split_dict.pt ends cleanly when malloc fails' malloc S -- gnn-import -q good/graph-dict-legacy4-int32-tensor -o S
sweep 'gnn-import of a typed split ends cleanly when malloc fails' malloc S -- gnn-import -q good/typed-files-pickle4-int64-array -o S
check 'nothing of a file is run' test ! -e ran
done_testing
