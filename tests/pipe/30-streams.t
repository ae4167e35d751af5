# SPDX-License-Identifier: Apache-2.0
# Streams that come in small pieces are the same streams; streams that are cut or die are errors, never a result.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/pipe/setup.sh"
refusing=gnn-inspect
# 1-byte writes to the reader, 1-byte reads from the writer.
relay() { perl -e 'while (sysread STDIN, $c, 1) { exit 1 if !syswrite STDOUT, $c }'; }
gnn-sample -q --no-provenance -f 5,5 -b 256 S | relay | gnn-gather -q --no-provenance S | relay >X 2>err
same X G 'gnn-gather writes the same when it gets and gives a byte at a time'
relay <G | gnn-train -q --no-provenance --hidden 8 -o M2
same M M2 'gnn-train makes the same model when it gets a byte at a time'
gnn-gather -q --no-provenance -i - S <B | cat >X
same X G 'gnn-gather -i - reads stdin'
rm -f X

size=$(wc -c <B)
for len in 0 1 63 64 65 4096 $((size / 2)) $((size - 64)) $((size - 1)); do
    head -c "$len" B >cut
    for c in 'gnn-gather -o X S' 'gnn-inspect --verify -'; do
        status 3 "$c refuses the first $len of $size bytes of a stream" sh -c "$c <cut"
        says_one "$c says in one line that a stream ends after $len bytes"
        absent X "$c leaves nothing of a stream that ends after $len bytes"
    done
    head -c "$len" G >cut
    status 3 "gnn-train refuses the first $len bytes of a stream" sh -c 'timeout 600 gnn-train -q --no-provenance --hidden 8 -o X <cut'
    says_one "gnn-train says in one line that a stream ends after $len bytes"
    absent X "gnn-train leaves no model of a stream that ends after $len bytes"
done
status 3 'gnn-train refuses what a pipeline passes on that is cut' \
    sh -c "gnn-sample -q --no-provenance -f 5,5 -b 64 --epochs 0:20 S 2>/dev/null |
    head -c 200000 |  gnn-gather -q --no-provenance S | gnn-train -q --no-provenance --hidden 8 -o X"
absent X 'gnn-train leaves no model of a pipeline that is cut'

# The first program is killed while the others run.
mkfifo fifo
for i in 1 2 3; do
    gnn-sample -q --no-provenance -f 5,5 -b 64 --epochs 0:100000 S >fifo 2>/dev/null &
    pid=$!
    # From when both have opened the pipe: whoever is killed before leaves the reader waiting for a writer.
    (until grep -qs '^gnn-' /proc/$pid/comm || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done; sleep 0.$i; kill -9 $pid) &
    status 3 "gnn-train fails at the end of a pipeline whose gnn-sample is killed after 0.$i s" \
        sh -c 'timeout 600 gnn-gather -q --no-provenance S <fifo | timeout 600 gnn-train -q --no-provenance --hidden 8 -o X'
    absent X "gnn-train leaves no model of a pipeline whose gnn-sample is killed after 0.$i s"
    wait $pid 2>/dev/null
done
(cat B; printf garbage) >joined
status 3 'gnn-gather refuses garbage behind a stream' gnn-gather -o X -i joined S
cat G G >joined
check 'gnn-train learns from two streams joined' gnn-train -q --no-provenance --hidden 8 -o X -i joined
gnn-import -q -o S9 sbm:nodes=2000,degree=8,features=16,seed=9
gnn-sample -q --no-provenance -f 5,5 -b 256 S9 | gnn-gather -q --no-provenance S9 | cat G - >joined
status 3 'gnn-train refuses to join streams of different stores' gnn-train -q --no-provenance --hidden 8 -o Y -i joined
absent Y 'gnn-train leaves no model of streams of different stores'
status 3 'gnn-gather refuses a stream of another store' sh -c 'gnn-sample -q --no-provenance -f 2,2 S9 | gnn-gather -o Y S'
absent Y 'gnn-gather leaves nothing of a stream of another store'
printf 'from,to\n1,2\n' >text
refuses 3 'text: frame 0 at byte 0: not a GNB frame' 'a short text' gnn-inspect text
done_testing
