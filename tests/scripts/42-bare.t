# SPDX-License-Identifier: Apache-2.0
# Every program that a script or a test calls is there on a bare Debian after scripts/install-deps.sh.
. "$GNN_TOP/tests/lib.sh"
calls() { (cd "$GNN_TOP" && perl tests/scripts/commands.pl "$@"); }

# What the reader of scripts finds, and what it leaves alone.
cat >planted.sh <<'T'
# one in a comment
mine() { two "$1" | tee three; }
mine four && ! five >six; A=7 seven <eight
x="$(nine "$(ten)") eleven" y='$(twelve)' z=$((1 + $(thirteen)))
case $x in fourteen | fifteen) sixteen ;; *) echo seventeen ;; esac
for i in eighteen; do nineteen; done
while twenty; do env -u B C=d timeout -k 1 5 twentyone; done
check 'a name' sh -c 'cd twentytwo && twentythree "$@"' twentyfour
"$z" twentyfive; ./twentysix; command -v twentyseven
cat <<E | xargs -n 1 twentyeight
twentynine $(thirty)
E
cat <<'E' >script
#!/bin/sh
thirtyone
E
list=(thirtytwo "$x") # of bash
trap 'thirtythree' EXIT
T
calls "$PWD/planted.sh" | sed 's/ .*//' | sort -u >got
for w in cat check env five nine nineteen seven sh sixteen tee ten thirteen thirty thirtyone thirtythree timeout \
    twenty twentyeight twentyone twentythree two xargs; do
    echo $w
done | sort >want
check 'commands.pl finds the programs that a script calls, wherever it does' diff want got
mkdir make
printf 'all:\n\t$(Q)one $(if $(X),two -a $(Y)) $$(three) | four\nZ := $(shell five)\n' >make/Makefile
calls "$PWD/make/Makefile" | sed 's/ .*//' | sort | paste -sd ' ' >got
check 'commands.pl finds the programs that recipes call' grep -qx 'five four one three' got

if ! perl "$GNN_TOP/scripts/bare-path.pl" bare 2>why; then
    skip 'each program that a script calls is on a bare Debian' "$(tail -n 1 why)"
    done_testing
fi
# Those that a machine may lack, and what is then left out, which is said.
cat >optional <<'T'
clang its other warnings
clang-format the format of the code
clang-format-14 the format of the code
dpkg-buildpackage make deb, which asks for it
lintian make deb, which asks for it
mmdebstrap a bare Debian, for which check-bare.sh installs it
nvidia-smi the name of the GPU
strace what hostile pickles open, which the test of them says
T
{ cut -d' ' -f1 optional; ls bare/bin bare/sbin; basename -a "$GNN_TOP"/cmd/gnn-*.c | sed 's/\.c$//'; } | sort -u >there
(cd "$GNN_TOP" && find Makefile mk .ci scripts tests -type f \( -path '.ci/*' -o -name Makefile -o -name '*.mk' -o -name '*.sh' -o -name '*.t' -o -name '*.sbatch' \)) >files
# shellcheck disable=SC2046
calls $(cat files) >calls || _not_ok 'commands.pl reads all scripts'
check 'commands.pl finds hundreds of calls' test "$(wc -l <calls)" -gt 1000
sort calls | join -v 1 - there >missing
check 'each program that a script calls is on a bare Debian' diff /dev/null missing
check 'bare-path.pl links the awk of a bare Debian' sh -c 'readlink bare/bin/awk | grep -qx /usr/bin/mawk'
check 'bare-path.pl links nothing that a bare Debian lacks' sh -c '! ls bare/bin | grep -xe pkill -e man -e clang -e nvidia-smi -e file'
done_testing
