#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A Slurm cluster of fake nodes on this machine: no systemd, cgroups, /etc/slurm or rights of root needed.
#   cluster.sh start DIR NODES CPUS      nodes n0, n1, ...; everything is in DIR, which must not exist; its name must be short, for sockets
#   cluster.sh env DIR                   prints what to set: eval "$(cluster.sh env DIR)"
#   cluster.sh kill-node DIR NODE        as if its power failed
#   cluster.sh revive-node DIR NODE
#   cluster.sh stop DIR                  ends what runs there; DIR is removed
set -eu
PATH=$PATH:/usr/sbin:/sbin
say() { echo "cluster: $*" >&2; }
[ $# -ge 2 ] || { say 'usage: cluster.sh start|env|kill-node|revive-node|stop DIR ...'; exit 2; }
verb=$1 dir=$2
shift 2
case $dir in /*) ;; *) dir=$PWD/$dir ;; esac
export SLURM_CONF="$dir/slurm.conf"

# Zombies that nobody waits for count as gone.
alive() { grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status"; }

# Ports that are free now: the first of a row of N + 1.
ports() {
    perl -MIO::Socket::INET -e 'for (1 .. 100) { my $p = 20000 + int rand 10000;
        next if grep { !IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $_, Listen => 1) } $p .. $p + $ARGV[0];
        print $p; exit } exit 1' "$1"
}

configure() { # NODES CPUS
    port=$(ports "$1")
    host=$(hostname -s) user=$(id -un)
    names='n0' theirs=$((port + 1))
    [ "$1" -eq 1 ] || { names="n[0-$(($1 - 1))]" theirs="[$((port + 1))-$((port + $1))]"; }
    # A requeued job waits for cred_expire + 1 seconds; less than 5 is not taken. SlurmdTimeout: until a node that is silent is down. Steps of Open MPI on
    # one machine meet in files unless each node has a TmpFS of its own.
    cat >"$SLURM_CONF" <<CONF
ClusterName=fake
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool.%n
TmpFS=$dir/tmp.%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.%n.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog=$dir/prolog
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
SlurmdParameters=config_overrides
MpiDefault=pmix
ReturnToService=2
InactiveLimit=0
KillWait=2
MinJobAge=36000
SlurmctldTimeout=30
SlurmdTimeout=${CLUSTER_SLURMD_TIMEOUT:-30}
JobRequeue=1
NodeName=$names NodeAddr=127.0.0.1 NodeHostname=$host Port=$theirs CPUs=$2 RealMemory=2000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE OverSubscribe=NO State=UP
CONF
    # The plug-in for v1 is the only one that starts where no cgroups are mounted. It is not used.
    printf '%s\n' CgroupAutomount=no CgroupPlugin=cgroup/v1 >"$dir/cgroup.conf"
    # Open MPI names its shared memory by host and number on the host: each node needs a folder of its own.
    cat >"$dir/prolog" <<PROLOG
#!/bin/sh
echo "export OMPI_MCA_btl_vader_backing_directory=$dir/tmp.\$SLURMD_NODENAME"
echo "export OMPI_MCA_btl_tcp_if_include=lo"
PROLOG
    chmod 755 "$dir/prolog"
}

no_start() { # WHO
    say "$1 does not start; the end of the logs:"
    tail -n 8 "$dir"/*.log >&2
    exit 1
}

start() { # NODES CPUS
    mkdir -p "$dir"
    mkdir "$dir/state" "$dir/munge"
    chmod 755 "$dir" "$dir/munge"
    configure "$@"
    head -c 1024 /dev/urandom >"$dir/munge/key"
    chmod 600 "$dir/munge/key"
    munged --force --socket="$dir/munge/socket" --key-file="$dir/munge/key" --pid-file="$dir/munged.pid" \
        --seed-file="$dir/munge/seed" --log-file="$dir/munge.log" || no_start munged
    slurmctld -f "$SLURM_CONF" || no_start slurmctld
    i=0
    while [ $i -lt "$1" ]; do
        mkdir "$dir/spool.n$i" "$dir/tmp.n$i"
        slurmd -N n$i -f "$SLURM_CONF" || no_start "slurmd of n$i"
        i=$((i + 1))
    done
    t=0
    until [ "$(sinfo -h -o '%D %t' 2>/dev/null)" = "$1 idle" ]; do
        t=$((t + 1))
        [ $t -lt 3000 ] || no_start 'not each node'
        sleep 0.1
    done
}

# Every process of a node: its slurmd and what that started, which hold its log open, and the tasks.
node_pids() {
    perl -e '
        my ($conf, $node, $log) = @ARGV;
        sub all { my $f; local $/; open $f, "<", $_[0] and <$f> or "" }
        for my $pid (map { m{(\d+)$} } glob "/proc/[0-9]*") {
            my %env = map { $_ => 1 } split /\0/, all("/proc/$pid/environ");
            print "$pid\n" if $env{"SLURM_CONF=$conf"} && $env{"SLURMD_NODENAME=$node"} ||
                all("/proc/$pid/cmdline") =~ /^slurm/ && grep { (readlink // "") eq $log } glob "/proc/$pid/fd/*";
        }' "$SLURM_CONF" "$1" "$dir/slurmd.$1.log"
}

# All of them stop before the first is killed: none must live long enough to report the end of another.
kill_node() {
    pids="$(cat "$dir/slurmd.$1.pid" 2>/dev/null || :) $(node_pids "$1")"
    # shellcheck disable=SC2086
    { kill -STOP $pids; kill -9 $pids; } 2>/dev/null || :
    rm -f "$dir/slurmd.$1.pid"
}

stop() {
    [ -e "$SLURM_CONF" ] || exit 0
    # Jobs end first: what is left of one would disturb the next cluster.
    if scancel --user="$(id -un)" 2>/dev/null; then
        t=0
        while [ $t -lt 50 ] && squeue -h 2>/dev/null | grep -q .; do
            t=$((t + 1))
            sleep 0.1
        done
    fi
    pids=$(cat "$dir"/*.pid 2>/dev/null) || :
    for p in $pids; do kill "$p" 2>/dev/null || :; done
    for p in $pids; do
        t=0
        while alive "$p"; do
            t=$((t + 1))
            [ $t -lt 50 ] || kill -9 "$p" 2>/dev/null || :
            sleep 0.1
        done
    done
    for n in "$dir"/spool.*; do kill_node "${n##*/spool.}"; done
    rm -rf "$dir"
}

case $verb in
start) start "$@" ;;
env) echo "export SLURM_CONF='$SLURM_CONF'" ;;
kill-node) kill_node "$1" ;;
revive-node) slurmd -N "$1" -f "$SLURM_CONF" ;;
stop) stop ;;
*) say "what is $verb?"; exit 2 ;;
esac
