# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of ranks on two hosts (hosts.sh), which are skipped where such hosts cannot be made.
. "$GNN_TOP/tests/ranks/setup.sh"
hosts() { _verb=$1; shift; sh "$GNN_TOP/tests/ranks/hosts.sh" "$_verb" "gnn$$" "$@"; }
trap 'hosts down' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
if ! hosts up >up.log 2>&1; then
    skip "two hosts run the ranks of ${0##*/}" "no namespaces of the network: $(head -n 1 up.log)"
    done_testing
fi
# on_hosts N COMMAND...: ranks, the first half of them on host 0
on_hosts() {
    _n=$1
    shift
    hosts on 0 mpirun --mca plm_rsh_agent "sh $GNN_TOP/tests/ranks/hosts.sh rsh gnn$$" --mca btl_tcp_if_include 10.77.0.0/24 \
        --mca oob_tcp_if_include 10.77.0.0/24 --host 10.77.0.1:$((_n / 2)),10.77.0.2:$((_n - _n / 2)) -n $_n "$@"
}
# The processes of that name on both hosts.
there() { for _p in $(ip netns pids gnn$$0; ip netns pids gnn$$1); do grep -lsx "$1" /proc/$_p/comm; done; }
