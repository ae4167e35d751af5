# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of splits of links, at which NumPy looks.
. "$GNN_TOP/tests/lib.sh"
python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || { skip "links are split as ${0##*/} says" 'no numpy'; done_testing; }
import() { gnn-import -q --no-provenance "$@"; }
split() { import --split-links "$@"; }
cut() { gnn-partition -q --no-provenance "$@"; }
looks() { "$python" "$GNN_TOP/tests/import/link_splits.py" "$@"; }
