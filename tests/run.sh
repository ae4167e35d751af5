#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs TAP tests under prove, each in a fresh directory that is kept only when the test fails.
# Skipped tests are listed on lines of their own among prove's.
# Usage: tests/run.sh TEST...   (environment: GNN_BIN programs, GNN_TOP source tree, GNN_DATA real graphs)
set -eu
# More than twice as many tests at once as processors: most of them wait at times. Asked before nproc would obey OMP_NUM_THREADS.
jobs=${JOBS:-$((2 * $(nproc) + 1))}
export LC_ALL=C OMP_NUM_THREADS="${OMP_NUM_THREADS:-2}" GOMP_SPINCOUNT="${GOMP_SPINCOUNT:-1000}"
top=${GNN_TOP:-$(cd "$(dirname "$0")/.." && pwd)}
export GNN_TOP="$top"
export PYTHONDONTWRITEBYTECODE=1 # nothing is left in the source tree
if [ -n "${GNN_DATA:-}" ]; then
    GNN_DATA=$(cd "$GNN_DATA" && pwd)
    export GNN_DATA
fi
exec 3>&1
GNN_FAILURES=$(mktemp)
export GNN_FAILURES
trap 'rm -f "$GNN_FAILURES"' EXIT
trap 'exit 130' HUP INT TERM
rc=0
prove -j "$jobs" --timer --merge -e "sh $top/tests/one.sh" "$@" || rc=$?
if [ $rc -ne 0 ]; then # why, at the end, where one looks first
    cat "$GNN_FAILURES"
    echo 'Result: FAIL'
fi
exit $rc
