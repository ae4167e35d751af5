# SPDX-License-Identifier: Apache-2.0
# Each block of gnn-python(7) runs, in the order of the text, each in an interpreter of its own; a diff is what it says of the block
# that follows it. What needs torch or PyG is run where they are (make check-peers).
# shellcheck disable=SC2046,SC2154
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/python/lib.sh"
export PATH="$GNN_BIN:$PATH"
# Blocks go to 1, 2 and so on.
awk '/^\.Bd -literal/ { file = ++n; next } /^\.Ed/ { file = ""; next } file { gsub(/\\e/, "\\"); gsub(/\\-/, "-"); gsub(/\\&/, ""); print >file }' "$GNN_TOP/man/gnn-python.7"
count=$(find . -maxdepth 1 -type f -name '[0-9]*' | wc -l)
check 'gnn-python(7) has blocks of code' test "$count" -ge 6
# torch and PyG leave code that they have made; the package leaves nothing.
mkdir left
i=0 diff='' ran=0
while [ $i -lt "$count" ]; do
    i=$((i + 1))
    name="block $i of gnn-python(7): $(head -n 1 $i | cut -c 1-60)"
    case $(head -n 1 $i) in
    -*) diff=$i; continue ;;
    '$ '*)
        sed -i 's/^\$ //' $i
        check "$name" sh -eu ./$i
        continue
        ;;
    *Error:*) # what PyG says; the words are its own
        check "$name is what PyG's error says" grep -q "'NeighborSampler' requires either 'pyg-lib' or 'torch-sparse'" $i
        continue
        ;;
    esac
    if [ -n "$diff" ]; then
        sed -n 's/^+//p' "$diff" >added
        check "block $diff of gnn-python(7) adds a line of the script that follows" grep -qxFf added $i
        diff=
    fi
    missing=$(for module in $(sed -n 's/^\(import\|from\) \([a-z_]*\).*/\2/p' $i); do env TMPDIR="$PWD/left" "$python" -c "import $module" 2>/dev/null || echo "$module"; done)
    if [ -n "$missing" ]; then
        skip "$name" "Python has no $(echo $missing)"
    else
        check "$name" env TMPDIR="$PWD/left" "$python" ./$i
        ran=$((ran + 1))
    fi
done
check 'the package leaves no temporary file' sh -c '! find left -mindepth 1 -maxdepth 1 ! -name "torch*" | grep .'
check 'at least three blocks of Python have run' test $ran -ge 3
done_testing
