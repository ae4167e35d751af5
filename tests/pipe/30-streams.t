# Streams that come in small pieces are the same streams; streams that are cut or die are errors, never a result.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/pipe/setup.sh"
# 1-byte writes to the reader, 1-byte reads from the writer.
relay() { perl -e 'while (sysread STDIN, $c, 1) { exit 1 if !syswrite STDOUT, $c }'; }
gnn-sample -q --no-provenance -f 5,5 -b 256 S | relay | gnn-gather -q --no-provenance S | relay >X 2>err
cmp X G >/dev/null 2>&1 && _ok 'byte by byte through two programs' || _not_ok 'byte by byte through two programs'
relay <G | gnn-train -q --no-provenance --hidden 8 -o M2
same M M2 'byte by byte into gnn-train'
gnn-gather -q --no-provenance -i - S <B | cat >X
same X G '- is stdin'
rm -f X

size=$(wc -c <B)
for len in 0 1 63 64 65 4096 $((size / 2)) $((size - 64)) $((size - 1)); do
    head -c "$len" B >cut
    for c in 'gnn-gather -o X S' 'gnn-inspect --verify -'; do
        status 3 "$c, first $len of $size bytes" sh -c "$c <cut"
        says_one 'in one line'
        absent X 'and leaves nothing'
    done
    head -c "$len" G >cut
    status 3 "gnn-train, first $len bytes" sh -c 'timeout 600 gnn-train -q --no-provenance --hidden 8 -o X <cut'
    says_one 'in one line'
    absent X 'and leaves nothing'
done
status 3 'a pipeline that is cut' sh -c "gnn-sample -q --no-provenance -f 5,5 -b 64 --epochs 0:20 S 2>/dev/null | head -c 200000 | gnn-gather -q --no-provenance S | gnn-train -q --no-provenance --hidden 8 -o X"
absent X 'leaves no model'

# The first program is killed while the others run.
mkfifo fifo
for i in 1 2 3; do
    gnn-sample -q --no-provenance -f 5,5 -b 64 --epochs 0:100000 S >fifo 2>/dev/null &
    pid=$!
    (sleep 0.$i; kill -9 $pid) &
    status 3 "killed after 0.$i s" sh -c 'timeout 600 gnn-gather -q --no-provenance S <fifo | timeout 600 gnn-train -q --no-provenance --hidden 8 -o X'
    absent X 'leaves no model'
    wait $pid 2>/dev/null
done
(cat B; printf garbage) >joined
status 3 'something after the end' gnn-gather -o X -i joined S
cat G G >joined
check 'two streams joined' gnn-train -q --no-provenance --hidden 8 -o X -i joined
gnn-import -q -o S9 sbm:nodes=2000,degree=8,features=16,seed=9
gnn-sample -q --no-provenance -f 5,5 -b 256 S9 | gnn-gather -q --no-provenance S9 | cat G - >joined
status 3 'streams of different stores do not join' gnn-train -q --no-provenance --hidden 8 -o Y -i joined
absent Y 'leaves no model'
status 3 'a stream of another store' sh -c 'gnn-sample -q --no-provenance -f 2,2 S9 | gnn-gather -o Y S'
absent Y 'leaves nothing'
printf 'from,to\n1,2\n' >text
status 3 'a short text' gnn-inspect text
cp err said
check 'is no stream cut short' grep -q 'text: frame 0 at byte 0: not a GNB frame' said
done_testing
