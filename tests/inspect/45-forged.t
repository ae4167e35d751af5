# SPDX-License-Identifier: Apache-2.0
# gnn-inspect on streams whose header names a store, but does not fit it.
. "$GNN_TOP/tests/lib.sh"
refusing='gnn-inspect --verify'
python=/usr/bin/python3
"$python" -c 'import numpy, xxhash' 2>/dev/null || { skip 'gnn-inspect refuses headers that do not fit the store' 'no numpy or xxhash'; done_testing; }
change() { "$python" "$GNN_TOP/tests/inspect/change.py" "$@"; }
gnn-import -q -o S sbm:nodes=300,degree=6
gnn-partition -q -k 2 -o P S
gnn-sample -q -f 3,2 -b 50 -o s.gnb S
gnn-sample -q -f 3,2 -b 50 -o p.gnb P

more='h["schema"]["node_types"][0]["count"] = 1 << 31; b[0]["nodes/node"][0] = (1 << 31) - 1'
change s.gnb forged "$more"
refuses 3 'sampled from another store' "nodes that the store does not have" gnn-inspect --verify --against S forged
change p.gnb forged "$more"
status 2 "gnn-inspect --diff --original maps no ids by a store of other nodes" gnn-inspect --diff --original --store P forged forged
change s.gnb forged 'h["sampling"]["fanout"][1] = [0]'
refuses 3 'rows\{0,1\}, where there can be 0' "edges of a type that is not sampled" gnn-inspect --verify --against S forged
done_testing
