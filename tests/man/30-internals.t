# SPDX-License-Identifier: Apache-2.0
# gnn-internals(7) speaks of files that exist and of functions that are where it says.
. "$GNN_TOP/tests/lib.sh"
home=$PWD
page=$GNN_TOP/man/gnn-internals.7
cd "$GNN_TOP" || exit 1
# Functions and paths in the order of the text; a function belongs to the next path, unless one has gone before in
# the same pair of brackets.
tokens=$(sed -n 's/^\.\(Fn\|Pa\|Pq\) /\1 /p' "$page" | sed 's/^Pq //; s/ , / /g; s/ Pa / \nPa /g; s/[;,.]//2g' | grep -E '^(Fn|Pa) ')
paths=$(echo "$tokens" | sed -n 's/^Pa \([a-z][a-z0-9_/.-]*[a-z]\).*/\1/p' | sort -u)
for p in $paths; do
    [ -e "$p" ] && _ok "gnn-internals.7 names $p, which exists" || _not_ok "gnn-internals.7 names $p, which does not exist"
done
waiting=
check_in() { # FUNCTION FILE: it is defined there
    grep -Eq "^([a-z_].*[ *])?$1\\(" "$2" 2>/dev/null && _ok "gnn-internals.7 names $1, which is defined in $2" ||
        _not_ok "gnn-internals.7 names $1, which is not defined in $2"
}
echo "$tokens" >"$home/tokens"
while read -r kind name _; do
    case $kind in
    Fn) waiting="$waiting $name" ;;
    Pa)
        case $name in *.[ch] | *.cu)
            for f in $waiting; do check_in "$f" "$name"; done
            waiting=
            ;;
        esac
        ;;
    esac
done <"$home/tokens"
for f in $waiting; do
    grep -rq "$f(" cmd lib kernels formats && _ok "gnn-internals.7 names $f, which is in the source" ||
        _not_ok "gnn-internals.7 names $f, which is not in the source"
done
# The columns of a batch, as gnb(5) and the header name them.
sed -n 's/^ *\[GNN_COLUMN_[A-Z_]*\] *= {"\([a-z]*\)", "\([a-z]*\)", GNN_PER_\([A-Z]*\),.*/\1 \2 \3/p' lib/data/columns.c >"$home/columns"
while read -r prefix suffix per; do
    case $suffix in BATCH | NTYPE) per=$suffix suffix= ;; esac
    case $per in
    BATCH) name=$prefix ;;
    NTYPE) name=$prefix/T${suffix:+/$suffix} ;;
    BLOCK) name=$prefix/H/S/R/D/$suffix ;;
    esac
    for f in man/gnb.5 lib/data/batch.h; do
        grep -Eq "^( \\*  |\\.It Va) +$name( |\$)" "$f" && _ok "$f has the column $name" || _not_ok "$f does not have the column $name"
    done
done <"$home/columns"
[ "$(wc -l <"$home/columns")" -eq "$(grep -c '^    GNN_COLUMN_' lib/data/columns.h)" ] && _ok 'these are all columns' || _not_ok 'these are not all columns'
# The modules of lib in the order that scripts/check-layers.pl enforces.
listed=$(sed -n 's|^\.It Pa lib/||p' "$page" | xargs)
enforced=$(sed -n 's/^my @modules = qw(\(.*\));/\1/p' scripts/check-layers.pl)
[ -n "$enforced" ] && [ "$listed" = "$enforced" ] && _ok 'gnn-internals.7 lists the modules in the order of check-layers.pl' ||
    _not_ok "gnn-internals.7 lists the modules as '$listed', not '$enforced'"
done_testing
