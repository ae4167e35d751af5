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
export HWLOC_HIDE_ERRORS=2 # without /sys it explains itself to stderr
# What killed ranks leave goes with the test's directory. So does the directory in which mpirun keeps its files: one
# mpirun that ends removes what they share while another begins.
export OMPI_MCA_btl_vader_backing_directory="$PWD" OMPI_MCA_orte_tmpdir_base="$PWD/.."
# MPI keeps some of its memory.
[ "${GNN_SAN:-}" != address ] || export ASAN_OPTIONS=detect_leaks=0
# Two processors for everybody: no more threads than that.
export OMP_NUM_THREADS=1
ranks() {
    _n=$1
    shift
    mpirun --quiet -n "$_n" "$@"
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
