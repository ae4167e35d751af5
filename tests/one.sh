#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs one TAP test in a scratch directory of its own ($PWD inside the test). What it skips, how its checks fail, and where other
# systems differ, is said on descriptor 3, if that is open, as the runner's own output does not show it; how they fail also in $GNN_FAILURES.
case $1 in /*) t=$1 ;; *) t=$PWD/$1 ;; esac
name=${t#"${GNN_TOP-}"/}
dir=$(mktemp -d "${TMPDIR:-/tmp}/gnn-test.XXXXXX") || exit 99
trap 'rm -rf "$dir"; exit 130' HUP INT TERM
mkdir "$dir/d" || exit 99
case $t in
*.t) set -- sh "$t" ;;
*) set -- "$t" ;;
esac
perl "$(dirname "$0")/watch.pl" "$dir" "$@" 3>&-
rc=$(cat "$dir/rc" 2>/dev/null || echo 99)
# Comments before a check that fails, too: some tests say there what was wrong.
failures() {
    awk -v name="$name" '/^not ok/ { print "failed: " name ": " $0 said; on = 1; said = ""; next }
        /^#/ { if (on) print; else said = said "\n" $0; next } { on = 0; said = "" }' "$dir/tap"
}
if { true >&3; } 2>/dev/null; then
    sed -n "/ # SKIP /!s|^ok [0-9]* - \\(differs: .*\\)|\\1|p" "$dir/tap" >&3
    sed -n "s|^ok [0-9]* - \\(.*\\) # SKIP \\(.*\\)|skipped: $name: \\1: \\2|p" "$dir/tap" >&3
    [ "$rc" -eq 0 ] || failures >&3
fi
[ "$rc" -eq 0 ] || [ -z "${GNN_FAILURES-}" ] || failures >>"$GNN_FAILURES"
if [ "$rc" -eq 0 ]; then rm -rf "$dir"; else echo "# kept: $dir/d" >&2; fi
exit "$rc"
