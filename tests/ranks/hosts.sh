#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two hosts on this machine, with a link between them: namespaces of network and host name. Needs root.
#   hosts.sh up NAME               makes hosts 0 and 1, 10.77.0.1 and 10.77.0.2
#   hosts.sh on NAME HOST CMD...   runs CMD on one of them
#   hosts.sh rsh NAME ADDRESS CMD  the same in the manner of rsh, for mpirun; blanks in CMD split words once more
#   hosts.sh cut NAME              pulls the cable: nothing comes through any more, and nobody is told
#   hosts.sh slow NAME RATE        such as 100mbit
#   hosts.sh down NAME             ends what still runs there
set -eu
PATH=$PATH:/usr/sbin:/sbin
[ $# -ge 2 ] || { echo 'usage: hosts.sh up|on|rsh|cut|slow|down NAME ...' >&2; exit 2; }
verb=$1 name=$2
shift 2
case $verb in
up)
    for i in 0 1; do ip netns add "$name$i"; done
    ip link add v0 netns "${name}0" type veth peer name v1 netns "${name}1"
    for i in 0 1; do
        ip -n "$name$i" addr add 10.77.0.$((i + 1))/24 dev v$i
        ip -n "$name$i" link set v$i up
        ip -n "$name$i" link set lo up
    done
    ;;
on)
    host=$1
    shift
    # shellcheck disable=SC2016
    exec ip netns exec "$name$host" unshare --uts sh -c 'hostname "$0" && exec "$@"' "$name$host" "$@"
    ;;
rsh)
    while case $1 in -*) ;; *) false ;; esac do shift; done
    host=$((${1##*.} - 1))
    shift
    exec ip netns exec "$name$host" unshare --uts sh -c "hostname $name$host; $*"
    ;;
cut) ip -n "${name}1" link set v1 down ;;
slow) for i in 0 1; do tc -n "$name$i" qdisc replace dev v$i root tbf rate "$1" burst 256kb latency 50ms; done ;;
down)
    for i in 0 1; do
        for p in $(ip netns pids "$name$i" 2>/dev/null); do kill -9 "$p" 2>/dev/null || :; done
        ip netns del "$name$i" 2>/dev/null || :
    done
    ;;
*) echo "hosts: what is $verb?" >&2; exit 2 ;;
esac
