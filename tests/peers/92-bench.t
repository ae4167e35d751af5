# SPDX-License-Identifier: Apache-2.0
# bench-peers.py measures each row once on a small graph, beside the systems that are there, and makes the table again from its file.
. "$GNN_TOP/tests/lib.sh"
py=${GNN_PEERS:-python3}
if ! "$py" -B -c 'import torch' 2>err; then
    skip "bench-peers.py" "$py has no PyTorch"
    done_testing
fi
bench() { python3 -B "$GNN_TOP/scripts/bench-peers.py" "$@"; }
# sides OURS: for each side of ours (true) or of peers (false) without a value, its row, and how many have one
sides() {
    perl -ne 'next unless /"ours": '"$1"'/; /"row": "([^"]*)"/; if (/"value": null/) { print "$1: $_"; $bad++ } else { $n++ }
        END { print "$n values\n"; exit !$n || ('"$1"' && $bad) }' peers.ndjson
}
status 1 "an interpreter without PyTorch is refused" bench /bin/false
cp err said
check "it says what to set" grep -q 'bench-peers: none of /bin/false has PyTorch: set PEERS' said
check "all rows are measured" bench --scale 0.003 --rounds 1 "$py"
cp out log
check "no row of gnn-tools fails" sides true
check "peers have values, too" sides false
sed 's/^/# /' out
check "the table is made from the file" bench --table peers.ndjson
cp out table
check "it is the same" sh -c 'sed -n "/^date/,\$p" log | cmp - table'
done_testing
