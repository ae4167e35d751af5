# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of the Python package after tests/lib.sh.
# python3 with NumPy is $python; says NAME CODE: a passing test if the code ends, with gnntools as g, numpy as np and the test's helpers
# refuses... is of tests/lib.sh
python=
for p in "${GNN_PYTHON-}" python3 /usr/bin/python3; do
    [ -n "$p" ] && $p -c 'import numpy' 2>/dev/null && python=$p && break
done
PYTHONPATH=$GNN_TOP/formats/python:$GNN_TOP/tests/python
export PYTHONPATH GNN_BIN
[ -n "$python" ] || { skip "the Python package" "no NumPy"; done_testing; }
# py NAME: a test that passes if the code on standard input does
py() {
    printf '%s\n' 'from helpers import *' >code.py
    cat >>code.py
    check "$1" "$python" code.py
}
