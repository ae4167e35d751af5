# SPDX-License-Identifier: Apache-2.0
# Every EXAMPLES block of the manual runs, each in a directory of its own, and every page that is referred to is there.
. "$GNN_TOP/tests/lib.sh"
# The commands of the I-th literal block under EXAMPLES, as a reader would type them.
block() {
    awk -v want="$2" '
        /^\.Sh / { on = ($2 == "EXAMPLES") }
        on && /^\.Bd -literal/ { i++; inside = (i == want); next }
        /^\.Ed/ { inside = 0 }
        inside { sub(/^\$ /, ""); gsub(/\\&/, ""); gsub(/\\e/, "\\"); gsub(/\\-/, "-"); gsub(/\\\(aq/, "\047"); print }
    ' "$1"
}
blocks() { awk '/^\.Sh / { on = ($2 == "EXAMPLES") } on && /^\.Bd -literal/ { n++ } END { print n + 0 }' "$1"; }
home=$PWD
for page in "$GNN_TOP"/man/*.[157]; do
    [ -e "$page" ] || continue
    name=$(basename "$page")
    count=$(blocks "$page")
    case $name in
    gnn-*.1 | gnn.7) [ "$count" -gt 0 ] && _ok "$name has examples" || _not_ok "$name has no example" ;;
    esac
    i=1
    while [ "$i" -le "$count" ]; do
        block "$page" "$i" >"$home/block.sh"
        mkdir "$home/run" && cd "$home/run" || exit 1
        if [ -s "$home/block.sh" ] && timeout 600 sh -eu "$home/block.sh" >"$home/out" 2>"$home/err" </dev/null; then
            _ok "example $i of $name runs"
        else
            _not_ok "example $i of $name runs (status $?)"
            sed 's/^/# $ /' "$home/block.sh"
            tail -n 5 "$home/err" | sed 's/^/# /'
        fi
        cd "$home" && rm -rf run
        i=$((i + 1))
    done
    sed -n 's/^\.Xr \(gn[nb][a-z-]*\) \([157]\).*/\1.\2/p' "$page" | sort -u >refs
    lost=$(while read -r r; do
        [ -e "$GNN_TOP/man/$r" ] || echo "$r"
    done <refs)
    [ -z "$lost" ] && _ok "$name refers to pages that exist" || _not_ok "$name refers to pages that do not exist: $lost"
done
done_testing
