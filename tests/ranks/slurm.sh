# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests that need Slurm: a cluster of CLUSTER_NODES (3) fake nodes for this test alone, which is skipped where Slurm is not.
. "$GNN_TOP/tests/ranks/setup.sh"
for _p in slurmctld slurmd munged srun; do
    PATH=$PATH:/usr/sbin:/sbin command -v $_p >/dev/null 2>&1 || { skip "a cluster of Slurm runs the jobs of ${0##*/}" "no $_p"; done_testing; }
done
cluster() { sh "$GNN_TOP/tests/ranks/cluster.sh" "$@"; }
_cluster=${PWD%/d}/slurm
# Of a test that fails the logs are kept.
trap '[ $failed -eq 0 ] || cp "$_cluster"/*.log .; cluster stop "$_cluster"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
if ! cluster start "$_cluster" "${CLUSTER_NODES:-3}" "${CLUSTER_CPUS:-3}" >start.log 2>&1; then
    _not_ok 'a cluster of Slurm starts'
    sed 's/^/# /' start.log
    done_testing
fi
eval "$(cluster env "$_cluster")"
export SLURM_PMIX_FENCE=tree
# submit SCRIPT ARGS...: prints the number of the job; its output goes to NUMBER.txt, or NUMBER_TASK.txt.
submit() { # [-sbatch options]... SCRIPT ARGS...
    case $* in *--array*) _txt='%A_%a.txt' ;; *) _txt='%j.txt' ;; esac
    sbatch --parsable --output="$_txt" "$@"
}
# finished JOB: waits until the job is through; true if all of it ended well. The state is in `state', all that Slurm knows in `job'.
finished() {
    # A controller that does not answer on a busy machine says nothing about the job.
    until scontrol show job "$1" >job 2>/dev/null && sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p' job | sort -u >state && [ -s state ] &&
        ! grep -qE 'PENDING|RUNNING|CONFIGURING|COMPLETING|REQUEUE|SIGNALING|SUSPENDED' state; do
        sleep 0.3
    done
    [ "$(cat state)" = COMPLETED ] || { cat state "$1"*.txt; false; }
}
