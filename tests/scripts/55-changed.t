# SPDX-License-Identifier: Apache-2.0
# .ci/changed says which parts of the tree the day before HEAD has touched.
. "$GNN_TOP/tests/lib.sh"
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
git init -q r && cd r || exit 1
changed() { sh "$GNN_TOP/.ci/changed" "$@"; }
commit() { # HOUR PATH
    mkdir -p "${2%/*}"
    echo "$1" >"$2"
    git add .
    GIT_COMMITTER_DATE="$((1700000000 + 3600 * $1)) +0000" git commit -q -m "$2"
}
commit 0 old/a
commit 10 kept/a
commit 20 scripts/a
commit 30 lib/a
status 0 '.ci/changed is true of a path that HEAD touches' changed lib
status 0 '.ci/changed is true of a path that a commit less than a day older touches' changed none scripts
status 0 '.ci/changed is true of a file' changed kept/a
status 1 '.ci/changed is false of a path that only older commits touch' changed old none
status 2 '.ci/changed refuses to be asked for nothing' changed
rm out err
echo more >>old/a
status 0 '.ci/changed is true of a file that is not committed' changed old
cd ..
git clone -q --depth 1 "file://$PWD/r" s && cd s || exit 1
status 0 '.ci/changed is true where history is too short to know' changed old
done_testing
