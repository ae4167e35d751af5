#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what a Debian machine lacks to build gnn-tools and run its tests and demo; does nothing, and
# needs no rights, where all of it is there.
# usage: install-deps.sh [--list | --missing]
set -eu

# package, and what shows that it is not needed: a command, one of the system's, a header, or a module of Python
wanted='gcc cmd:cc
g++ cmd:c++
make cmd:make
pkg-config cmd:pkg-config
libc6-dev hdr:stdio.h
libzstd-dev hdr:zstd.h
libarchive-dev hdr:archive.h
zlib1g-dev hdr:zlib.h
libjansson-dev hdr:jansson.h
libxxhash-dev hdr:xxhash.h
libyaml-dev hdr:yaml.h
libmetis-dev hdr:metis.h
libdnnl-dev hdr:dnnl.h
perl cmd:prove
git cmd:git
python3-numpy py:numpy
python3-xxhash py:xxhash
python3-zstandard py:zstandard
metis cmd:gpmetis
gnuplot-nox cmd:gnuplot
mandoc cmd:mandoc
shellcheck cmd:shellcheck
unzip cmd:unzip
zip cmd:zip
xz-utils cmd:xz
zstd cmd:zstd
libarchive-tools cmd:bsdtar
bsdutils cmd:script
openmpi-bin cmd:mpirun
libopenmpi-dev cmd:mpicc
slurm-wlm sys:slurmd
munge sys:munged
iproute2 sys:ip'

have() {
    case $1 in
    cmd:*) command -v "${1#cmd:}" >/dev/null 2>&1 ;;
    sys:*) command -v "${1#sys:}" >/dev/null 2>&1 || [ -x "/usr/sbin/${1#sys:}" ] || [ -x "/sbin/${1#sys:}" ] ;;
    py:*) /usr/bin/python3 -c "import ${1#py:}" >/dev/null 2>&1 ;;
    hdr:*)
        for d in /usr/include /usr/include/*-linux-gnu /usr/local/include; do
            [ ! -e "$d/${1#hdr:}" ] || return 0
        done
        return 1
        ;;
    esac
}

missing=
while read -r package probe; do
    have "$probe" || missing="$missing $package"
done <<EOT
$wanted
EOT

case ${1-} in
'') ;;
--list) echo "$wanted" | cut -d' ' -f1; exit 0 ;;
--missing) for p in $missing; do echo "$p"; done; exit 0 ;;
*) echo "install-deps: unknown argument $1" >&2; exit 2 ;;
esac
[ -n "$missing" ] || exit 0

echo "install-deps: installing$missing"
if ! command -v apt-get >/dev/null 2>&1; then
    echo "install-deps: no apt-get here; install the equivalents of these Debian packages:$missing" >&2
    exit 1
fi
sudo=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "install-deps: not root and no sudo; as root run: apt-get install$missing" >&2
        exit 1
    fi
    sudo=sudo
fi
export DEBIAN_FRONTEND=noninteractive
install() {
    # shellcheck disable=SC2086
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing >/dev/null
}
# Lists of a fresh machine are absent, those of an old one may name files that are gone.
ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1 || $sudo apt-get update -qq
install || { $sudo apt-get update -qq && install; }
