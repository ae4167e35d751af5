# SPDX-License-Identifier: Apache-2.0
# The versions of gnn-tools that programs, manuals and messages name are those of CHANGELOG.md.
. "$GNN_TOP/tests/lib.sh"
sed -n 's/^## \([0-9]*\.[0-9]*\.[0-9]*\).*/\1/p' "$GNN_TOP/CHANGELOG.md" >versions
check 'CHANGELOG.md has versions' test -s versions
newest=$(head -n 1 versions)
for p in "$GNN_BIN"/gnn-*; do
    [ -x "$p" ] || continue
    check "$(basename "$p") --version is the newest of CHANGELOG.md" test "$("$p" --version)" = "$(basename "$p") $newest"
done
# "version 0.2", "releases before 0.3", "Version 0.2 and earlier": 0.3 is any 0.3.x. Formats have versions from 1.0 on.
cd "$GNN_TOP" || exit 1
git ls-files cmd lib kernels formats man scripts README.md CHANGELOG.md CONTRIBUTING.md >"$OLDPWD/files" 2>/dev/null ||
    find cmd lib kernels formats man scripts README.md CHANGELOG.md CONTRIBUTING.md -type f >"$OLDPWD/files"
# shellcheck disable=SC2046
grep -noiE '\b(version|release)s? (before |up to |from |since )?0\.[0-9]+(\.[0-9]+)?' $(cat "$OLDPWD/files") >"$OLDPWD/named"
cd "$OLDPWD" || exit 1
check 'manuals name versions' grep -q '^man/' named
while read -r line; do
    v=${line##* }
    grep -q "^$(echo "$v" | sed 's/\./\\./g')\(\.\|\$\)" versions && _ok "there is a version $v (${line%:*})" || _not_ok "there is no version $v: $line"
done <named
done_testing
