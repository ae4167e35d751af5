# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of several ranks. ranks N COMMAND... runs it under mpirun; without one, or without the plug-in, the test is
# skipped as a whole.
. "$GNN_TOP/tests/lib.sh"
if ! command -v mpirun >/dev/null 2>&1 || [ ! -e "$GNN_B/lib/gnn-tools/gnn-mpi.so" ]; then
    skip "mpirun runs the ranks of ${0##*/}" 'no MPI'
    done_testing
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_btl_vader_single_copy_mechanism=none
# Ranks share processors with other tests, and starting is most of what they do: nothing waits in a loop, and no other transport is looked for.
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp
export HWLOC_HIDE_ERRORS=2 # without /sys it explains itself to stderr
# What killed ranks leave goes with the test's directory. So does the directory in which mpirun keeps its files: one
# mpirun that ends removes what they share while another begins.
export OMPI_MCA_btl_vader_backing_directory="$PWD" OMPI_MCA_orte_tmpdir_base="$PWD/.."
# MPI keeps some of its memory.
[ "${GNN_SAN:-}" != address ] || export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
# Two processors for everybody: no more threads than that.
export OMP_NUM_THREADS=1
ranks() {
    _n=$1
    shift
    mpirun --quiet -n "$_n" "$@"
}
# on RANKS DEVICES PROGRAM ARGUMENTS...: on emulated devices, which do their work in another order each time, and in each rank
emu=$GNN_B/emu/bin
export GNN_MPI="$GNN_B/lib/gnn-tools/gnn-mpi.so" # beside emulated programs there is none
seed=0
on() {
    _n=$1 _d=$2 _p=$3
    shift 3
    seed=$((seed + 10))
    # shellcheck disable=SC2016
    GNN_FAKE_DEVICES=$_d GNN_FAKE_SEED=$seed ranks "$_n" sh -c \
        'export GNN_FAKE_SEED=$((GNN_FAKE_SEED + ${OMPI_COMM_WORLD_RANK:-0})); exec timeout 600 "$@"' sh "$emu/$_p" --timeout 120 "$@"
}
same_files() { for _r in $(seq 0 $(($1 - 1))); do cmp "want.$_r" "got.$_r" || return 1; done; }
# one_device_fails PROGRAM ARGUMENTS...: whichever call to the device of rank 1 fails, both ranks end with its status, one says why, and
# nothing is written; or no harm is done. want.R is what PROGRAM writes to got.R.
one_device_fails() {
    _p=$1 _wrong='' _overcome=0 _tried=0
    shift
    # shellcheck disable=SC2016
    _fails() { _k=$1 && shift && GNN_FAKE_DEVICES=2 timeout 600 mpirun --quiet -n 2 sh -c 'test $OMPI_COMM_WORLD_RANK = 0 || export GNN_FAKE_FAIL='"$_k"'; exec "$@"' \
        sh "$emu/$_p" --timeout 120 --no-provenance --device cuda "$@" -o got.%r; }
    _fails 0 "$@" 2>calls.txt
    _calls=$(sed -n 's/fake device: \([0-9]*\) calls/\1/p' calls.txt)
    for _k in $(seq 1 "$(choice 1 $((${_calls:-0} / $(wide && echo 18 || echo 7))))" "${_calls:-0}"); do
        rm -f got.*
        _fails "$_k" "$@" 2>failed.txt
        _rc=$?
        _tried=$((_tried + 1))
        case $_rc in
        1 | 4) [ "$(grep -c "$_p" failed.txt)" = 1 ] && [ -z "$(ls got.* 2>/dev/null)" ] || _wrong="$_wrong $_k" ;;
        0) same_files 2 && _overcome=$((_overcome + 1)) || _wrong="$_wrong $_k" ;;
        *) _wrong="$_wrong $_k:$_rc" ;;
        esac
    done
    check "$_p ends on all ranks when a call to one device fails ($_tried of $_calls tried, $_overcome without harm$_wrong)" \
        test -z "$_wrong" -a "$_tried" -gt 5 -a "$_overcome" -lt $((_tried / 3))
}
# mpirun -n N $note COMMAND...: the number of each rank's process is in pid.RANK
note=$PWD/../note
# shellcheck disable=SC2016
printf '#!/bin/sh\n%s\n' 'echo $$ >pid.$OMPI_COMM_WORLD_RANK' 'exec "$@"' >"$note" && chmod +x "$note"
# union STORE ONE RANKS...: do the streams of the ranks make up the one?
union() { /usr/bin/python3 "$GNN_TOP/tests/ranks/union.py" "$@"; }
# streams NAME N: NAME.0.gnb ... NAME.(N-1).gnb
streams() { for _r in $(seq 0 $(($2 - 1))); do echo "$1.$_r.gnb"; done; }
# choice ALL FEW: prints ALL with GNN_SWEEP=all; else FEW or, under a sanitizer, its last word.
choice() {
    if [ "${GNN_SWEEP-}" = all ]; then echo "$1"; elif [ -n "${GNN_SAN-}" ]; then echo "${2##* }"; else echo "$2"; fi
}
