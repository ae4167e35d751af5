# SPDX-License-Identifier: Apache-2.0
# .ci/run leaves nothing running, however it ends. Its parts are those of a small tree, which note what they are and sleep.
. "$GNN_TOP/tests/lib.sh"
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
mkdir -p tree/scripts && cp -r "$GNN_TOP/.ci" tree && cd tree && git init -q && printf '%s\n' build out err >.gitignore || exit 1
echo 'exit 0' >scripts/install-deps.sh
echo 'exit 0' >scripts/bare-path.pl
# shellcheck disable=SC2016
echo 'echo $$ >>build/pids; . build/how' >scripts/check.sh
printf '%s:\n\t@echo $$$$ >>build/pids; . build/%s\n' lint beside syntax no-more check-san-parts no-more check-san-emulated no-more check-san-threads no-more check-ranks no-more check-bundle no-more check-bare no-more >Makefile
git add . && git commit -q -m tree && mkdir -p build/bare/bin || exit 1
PATH="$PATH:/bin" && export PATH
for p in sh make; do ln -s "$(command -v $p)" build/bare/bin; done
ln -s "$(command -v sleep)" build/bare/bin
: >build/no-more
perl=$(command -v perl)
# run HOW-OF-CHECK HOW-BESIDE: its status
run() {
    : >build/pids
    echo "$1" >build/how
    echo "$2" >build/beside
    # Whoever runs these tests may have SIGHUP ignored, which no shell could trap then.
    # shellcheck disable=SC2016
    "$perl" -e '$SIG{HUP} = "DEFAULT"; exec @ARGV' sh .ci/run >../said 2>&1 &
    pid=$!
    if [ -n "${3-}" ]; then # both are under way
        until [ "$(wc -l <build/pids)" -ge 2 ] || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
        kill "-$3" $pid
    fi
    wait $pid
}
# Nothing else on this machine sleeps so.
ended() {
    for _i in $(seq 300); do
        [ -n "$(grep -alsE "^sleep.31$1\.$$" /proc/[0-9]*/cmdline)" ] || return 0
        sleep 0.1
    done
    false
}
status 0 '.ci/run ends well when all parts do' run : :
check '.ci/run runs its parts' test "$(wc -l <build/pids)" -ge 4
status 7 '.ci/run ends with the status of the tests' run 'sleep 0.5; exit 7' "sleep 3111.$$"
check '.ci/run leaves nothing running when the tests fail' ended 11
status 2 '.ci/run ends with the status of what runs beside the tests' run : 'exit 1'
for sig in TERM HUP; do
    case $sig in TERM) rc=143 ;; *) rc=129 ;; esac
    status $rc ".ci/run ends on SIG$sig, in the middle of its parts" run "sleep 3112.$$; :" "sleep 3113.$$; :" $sig
    check ".ci/run leaves nothing running on SIG$sig" ended '1[23]'
done
# Before what it starts is a group.
mkdir build/slow
# shellcheck disable=SC2016
printf '#!%s\nopen F, ">", "build/pids"; print F "$$\\n$$\\n"; close F; sleep 3114;\n' "$(command -v perl)" >build/slow/perl
chmod +x build/slow/perl
PATH="$PWD/build/slow:$PATH" status 143 '.ci/run ends on SIGTERM, at once' run : : TERM
check '.ci/run leaves nothing running on SIGTERM, at once' sh -c '! kill -0 "$1" 2>/dev/null' sh "$(head -n 1 build/pids)"
cd .. || exit 1
check '.ci/run leaves no file' sh -c 'test -z "$(ls -A "$TMPDIR")"'
done_testing
