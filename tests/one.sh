#!/bin/sh
# Runs one TAP test in a scratch directory of its own ($PWD inside the test).
case $1 in /*) t=$1 ;; *) t=$PWD/$1 ;; esac
dir=$(mktemp -d "${TMPDIR:-/tmp}/gnn-test.XXXXXX") || exit 99
cd "$dir" || exit 99
case $t in
*.t) sh "$t" ;;
*) "$t" ;;
esac
rc=$?
cd /
if [ $rc -eq 0 ]; then rm -rf "$dir"; else echo "# kept: $dir" >&2; fi
exit $rc
