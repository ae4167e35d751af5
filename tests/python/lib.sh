# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of the Python package after tests/lib.sh: $python is a python3 with NumPy.
# py NAME: a test that passes if the Python code on standard input does; it begins with tests/python/helpers.py
python=
for p in "${GNN_PYTHON:-python3}" python3 /usr/bin/python3; do
    $p -c 'import numpy' 2>/dev/null && python=$p && break
done
PYTHONPATH=$GNN_TOP/formats/python:$GNN_TOP/tests/python
export PYTHONPATH GNN_BIN
[ -n "$python" ] || { skip "the Python package" "no NumPy"; done_testing; }
py() {
    printf '%s\n' 'from helpers import *' >snippet.py
    cat >>snippet.py
    check "$1" "$python" snippet.py
}
