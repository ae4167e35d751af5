#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the two commands of README.md, demo.sh and check.sh, on a bare Debian: a minbase of this machine's release, made on the spot, with a
# clone of what is committed, and neither /sys nor a file system on /dev/shm. What a test that fails leaves is copied to build/bare-failed;
# all else is removed. Needs root, apt's sources, and 4 GB in TMPDIR (/var/tmp); packages stay in build/debs for the next time.
# usage: check-bare.sh [COMMAND]...     instead of the two, in the tree
# environment: GNN_DATA and TESTS, as of check.sh
set -eu
cd "$(dirname "$0")/.."
say() { echo "check-bare: $*" >&2; }
[ "$(id -u)" -eq 0 ] || { say 'needs root for a chroot'; exit 1; }
# shellcheck disable=SC2016
sources() { apt-get indextargets --format 'deb $(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian'; }
release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
sources | grep -q " $release main$" || { say "apt knows no archive of Debian's release $release"; exit 1; }
command -v mmdebstrap >/dev/null || apt-get install -qq -y --no-install-recommends mmdebstrap >/dev/null
[ -z "$(git status --porcelain)" ] || say 'what is not committed is left out'

dir=$(mktemp -d "${TMPDIR:-/var/tmp}/gnn-bare.XXXXXX")
trap 'rm -rf --one-file-system "$dir"' EXIT
trap 'exit 130' HUP INT TERM
root=$dir/root
apt-config dump | grep '^Acquire::.*Proxy' >"$dir/apt.conf" || : # those of this machine
sources | mmdebstrap --quiet --variant=minbase --dpkgopt=force-unsafe-io --include=ca-certificates --aptopt="$dir/apt.conf" "$release" "$root" -
# What an installer writes: without it, programs that look up this machine's name wait for a name server.
printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$(uname -n)" >"$root/etc/hosts"
git clone -q . "$root/gnn-tools"
mkdir -p build/debs "$root/data"
[ $# -gt 0 ] || set -- 'sh scripts/demo.sh' 'sh scripts/check.sh'
rc=0
# The namespaces take mounts and processes with them.
# shellcheck disable=SC2016
unshare --mount --pid --fork --kill-child sh -euc '
    root=$1
    shift
    mount -t proc proc "$root/proc"
    mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
    mount --bind build/debs "$root/var/cache/apt/archives"
    [ -z "${GNN_DATA-}" ] || mount --bind "$GNN_DATA" "$root/data"
    exec env -i HOME=/root TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin ${GNN_DATA:+GNN_DATA=/data} \
        TESTS="${TESTS-}" chroot "$root" sh -c "cd /gnn-tools && for command; do echo \"$ \$command\" && sh -c \"\$command\" || exit; done" sh "$@"
' sh "$root" "$@" || rc=$?
left=$(find "$root/tmp" "$root/var/tmp" "$root/dev/shm" -mindepth 1 -maxdepth 1)
if [ -n "$left" ]; then
    rm -rf build/bare-failed
    mkdir build/bare-failed
    say "left among the temporary files, now in build/bare-failed:" "$left"
    # shellcheck disable=SC2086
    mv $left build/bare-failed
    [ $rc -ne 0 ] || rc=1
fi
[ $rc -eq 0 ] || say "status $rc"
exit $rc
