# SPDX-License-Identifier: Apache-2.0
# The arguments of check_kernels, which scripts/gpu-check.sh relies on. (All of its groups are run as a test of their own.)
. "$GNN_TOP/tests/lib.sh"
kernels=$GNN_B/emu/tests/gpu/check_kernels
refusing=check_kernels
check 'check_kernels --groups prints names, one a line' sh -c '"$1" --groups >groups && grep -qx heads groups && ! grep -v "^[a-z]*$" groups' - "$kernels"
check 'check_kernels runs the groups that are named, in their order' "$kernels" 1 label heads
cp out ran
check 'check_kernels runs no others' sh -c '[ "$(sed -n "s|^# \([a-z]*\): [0-9.]* s$|\1|p" ran | tr "\n" " ")" = "label heads " ]'
check 'check_kernels multiplies sizes' "$kernels" 2 heads
cp out twice
check 'check_kernels says so' grep -q '^ok .*: 260 rows, 8 heads of 8$' twice
refuses 2 "no group 'feet'" 'a group that there is not' "$kernels" 1 heads feet
refuses 2 "scale '0'" 'a scale of 0' "$kernels" 0
refuses 2 "scale 'heads'" 'a group in the place of the scale' "$kernels" heads
done_testing
