# SPDX-License-Identifier: Apache-2.0
# A stream of batches on the standard input of a program that does not read it is refused; nothing is consumed. In a pipeline
# that fails, one program speaks: the one that knows.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q -o S sbm:nodes=2000,degree=8
gnn-sample -q -f 3 -b 256 -o b S
gnn-gather -q --no-provenance -i b -o g S
gnn-train -q -i g --hidden 4 -o m.st
cp b c
gnn_all='gnn-import|gnn-import -o X sbm:
gnn-partition|gnn-partition -k 2 -o X S
gnn-sample|gnn-sample -f 2 -o X S
gnn-gather -i|gnn-gather -i b -o X S
gnn-train --store|gnn-train --store S -f 2 --epochs 3 -o X
gnn-train -i|gnn-train -i g --hidden 4 -o X
gnn-predict|gnn-predict -o X S m.st
gnn-inspect|gnn-inspect S'
refused() { # NAME: of the last command
    if [ "$_rc" -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'stdin: a stream of batches, which is not read' err && [ ! -e X ]; then _ok "$1"; else
        _not_ok "$1: status $_rc"
        sed 's/^/# /' err
        rm -rf X
    fi
}
echo "$gnn_all" >all
while IFS='|' read -r name command <&3; do
    # shellcheck disable=SC2086
    $command <c >out 2>err 3<&-
    _rc=$?
    refused "$name refuses a stream in a file"
    # shellcheck disable=SC2086
    { gnn-sample -q -f 3 S 2>no; } | { $command >out 2>err 3<&-; echo $? >rc; }
    _rc=$(cat rc)
    refused "$name refuses a stream in a pipe"
done 3<all
{ gnn-sample -q -f 3 S | gnn-gather -q S | { gnn-sample -f 2 -o X S >out 2>err; echo $? >rc; }; } 2>no
_rc=$(cat rc)
refused 'gnn-sample refuses a stream from gnn-gather'
{ sleep 2; gnn-sample -q -f 3 S; } 2>no | { timeout 600 gnn-train -q --store S -f 10,10 -b 20 --epochs 100000 --eval none -o X >out 2>err; echo $? >rc; }
_rc=$(cat rc)
refused 'gnn-train --store refuses a stream that comes late'
perl -MSocket -e 'socketpair A, B, AF_UNIX, SOCK_STREAM, 0; open F, "<", "b"; syswrite B, join "", <F>; open STDIN, "<&", \*A;
    exec "gnn-sample", "-f", "2", "-o", "X", "S"' 2>err
_rc=$?
refused 'gnn-sample refuses a stream from a socket'

# What is not a stream stays for who reads it.
printf 'S\nS\nS\n' >list
while read -r f; do gnn-sample -q -f 2 -o Y "$f" && echo "$f"; done <list >lines
check 'gnn-sample leaves a loop over a file its lines' cmp list lines
# shellcheck disable=SC2002
cat list | while read -r f; do gnn-train -q --store "$f" -f 2 --epochs 1 -o Y && echo "$f"; done >lines
check 'gnn-train leaves a loop over a pipe its lines' cmp list lines
check 'gnn-gather -i /dev/stdin reads a file' sh -c 'gnn-gather -q --no-provenance -i /dev/stdin S <b | cmp - g'
check 'gnn-gather -i /dev/stdin reads a pipe' sh -c 'cat b | gnn-gather -q --no-provenance -i /dev/stdin S | cmp - g'
check 'gnn-gather -i - reads a pipe' sh -c 'cat b | gnn-gather -q --no-provenance -i - S | cmp - g'
check 'gnn-sample --seeds - reads seeds from stdin' sh -c 'echo 1 2 3 | gnn-sample -q -f 2 --seeds - -o Y S'

# The first cause is all that a user reads.
pipeline() { # NAME WANTED-LINES STATUS COMMAND
    sh -c "$4" >out 2>err
    _rc=$?
    sed 's/: .*//' err | xargs >who
    if [ $_rc -eq "$3" ] && [ "$(cat who)" = "$2" ] && [ ! -e X ]; then _ok "$1"; else
        _not_ok "$1: status $_rc, said by: $(cat who)"
        sed 's/^/# /' err
        rm -f X
    fi
}
pipeline 'gnn-sample alone reports a store that is not there' gnn-sample 3 'gnn-sample -f 2 nosuch | gnn-gather S | gnn-train -o X'
pipeline 'gnn-sample alone reports a mistake in its options' gnn-sample 3 'gnn-sample -f 2 --nosuch S | gnn-gather S | gnn-train -o X'
pipeline 'gnn-gather alone reports a store that is not there' gnn-gather 3 'gnn-sample -f 2 S | gnn-gather nosuch | gnn-train -o X'
pipeline 'gnn-gather alone reports a mistake in its options' gnn-gather 3 'gnn-sample -f 2 S | gnn-gather -F nosuch S | gnn-train -o X'
pipeline 'gnn-sample alone reports a store that is not there in front of gnn-inspect' \
    gnn-sample 3 'gnn-sample -f 2 nosuch | gnn-gather S | gnn-inspect --verify'
cp -r S B
perl -e 'open F, "+<", "B/part-00000.gnb"; binmode F; seek F, 50000, 0; print F "XYZ"'
pipeline 'gnn-gather alone reports a damaged store' gnn-gather 3 'gnn-sample -f 2 -b 16 --epochs 20 B | gnn-gather B | gnn-train -q -o X'
pipeline 'gnn-gather alone reports a stream that is cut' gnn-gather 3 'head -c 4000 b | gnn-gather S | gnn-train -q -o X'
pipeline 'gnn-gather alone reports a gnn-sample that is killed' gnn-gather 3 \
    '(gnn-sample -f 2,2 -b 2 --epochs 100000 S & sleep 0.3; kill -9 $!; wait 2>/dev/null) | gnn-gather S | gnn-train -q --hidden 4 -o X'
pipeline 'gnn-train reports an empty pipe' gnn-train 3 'true | gnn-train -o X'
: >empty
pipeline 'gnn-train reports an empty file' gnn-train 3 'gnn-train -o X <empty'
pipeline 'gnn-train -v speaks beside gnn-sample' 'gnn-sample gnn-train' 3 'gnn-sample -f 2 nosuch | gnn-train -v -o X'
pipeline 'gnn-train reports an empty pipe from cat' 'gnn-sample gnn-train' 3 'gnn-sample -f 2 nosuch | cat | gnn-train -o X'
mkfifo fifo
pipeline 'gnn-train reports an empty FIFO' 'gnn-sample gnn-train' 3 'gnn-sample -f 2 nosuch >fifo & gnn-train -o X <fifo'
done_testing
