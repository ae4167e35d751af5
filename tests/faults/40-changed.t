# SPDX-License-Identifier: Apache-2.0
# A store that is cut short, or written to, while a program works on it: status 1 and a line that names the file, and nothing is left.
# One that is replaced while a program opens it: the old one or the new one, whole.
. "$GNN_TOP/tests/lib.sh"
graph=sbm:nodes=3000,degree=10,features=256
part=S/part-00000.gnb
{ gnn-import -q -o was $graph && gnn-sample -q -f 5,5 -b 256 -o b was && gnn-gather -q --no-provenance -i b -o want was && gnn-train -q --hidden 8 -o m -i want; } ||
    { _not_ok 'the programs make the inputs of this test'; done_testing; }
mkfifo line
fresh() { rm -rf S o C && cp -r was S; }
cut_it() { truncate -s 8192 $part; }
opened() { # waits until a program has mapped the part
    perl -e 'for (1 .. 600) { for (glob "/proc/[0-9]*") { open my $c, "<", "$_/comm" or next; (<$c> // "") =~ /^$ARGV[1]/ or next;
        open my $m, "<", "$_/maps" or next; exit if grep index($_, $ARGV[0]) >= 0, <$m> } select undef, undef, undef, .1 }' "$PWD/$part" "${1-gnn-}"
}
# during NAME CHANGE FEED COMMAND...: what COMMAND says, when CHANGE is done to the store after it has opened it, and FEED lets it go on.
# FEED may wait for ever for a command that has ended before it opened the FIFO, so it ends with the command.
during() {
    _name=$1 _change=$2 _feed=$3
    shift 3
    fresh
    timeout 600 "$@" >out 2>err &
    _pid=$!
    opened
    $_change
    $_feed &
    _feeder=$!
    wait $_pid
    rc=$?
    kill $_feeder 2>/dev/null
    wait $_feeder
}
named() { # NAME STATUS TEXT: that, in one line, and nothing left
    [ "$rc" -eq "$2" ] && grep -q -e "$3" err && [ "$(wc -l <err)" -eq 1 ] && _ok "$1" || { _not_ok "$1: status $rc"; sed 's/^/# /' err; }
    _left=$(find . -name '*.tmp*' -o -path './C/*' -o -name o)
    [ -z "$_left" ] && _ok "$1: nothing is left" || _not_ok "$1: $_left is left"
}
cut="$part: cut to 8192 bytes while it was in use"
none() { :; }
feed() { exec timeout 600 sh -c 'cat b >line'; }
drain() { exec timeout 600 cat line >drained; }
long='--epochs 0:100000000 --eval none --hidden 8 -o o --store S'

during cut cut_it feed gnn-gather -q -i line -o o S
named 'gnn-gather says that its store was cut' 1 "^gnn-gather: $cut"
during cut cut_it feed gnn-gather -q -j 1 --no-verify -i line -o o S
named 'gnn-gather -j 1 --no-verify says that its store was cut' 1 "^gnn-gather: $cut"
during cut cut_it none gnn-sample -q -f 5,5 -b 64 --epochs 0:100000000 --transport inline -o o S
named 'gnn-sample says that its store was cut' 1 "^gnn-sample: $cut"
during cut cut_it none gnn-sample -q -f 5,5 -b 64 --epochs 0:100000000 -c -j 2 S
named 'gnn-sample -j 2 says that its store was cut' 1 "^gnn-sample: $cut"
during cut cut_it none gnn-train -q -j 2 --checkpoint C $long
rm -f C/checkpoint.safetensors
named 'gnn-train says that its store was cut' 1 "^gnn-train: $cut"
during cut cut_it drain gnn-predict -q -j 2 -o line S m
named 'gnn-predict says that its store was cut' 1 "^gnn-predict: $cut"
# Features that stay in the store for the next program.
fresh
{ gnn-sample -q -f 5,5 -b 64 --epochs 0:100000000 S | gnn-gather -q S | gnn-train -q --hidden 8 -o o 2>err
    echo $? >status; } 2>others &
opened gnn-train
cut_it
wait $!
rc=$(cat status)
named 'gnn-train says that the store of its features was cut' 1 "^gnn-train: $PWD/$cut"
assign() { exec timeout 600 sh -c 'seq 1 3000 | sed "s/.*/0/" >line'; }
during cut cut_it assign gnn-partition -q -k 2 --from line -o o S
named 'gnn-partition says that its store was cut' 1 "^gnn-partition: $cut"
during cut cut_it drain gnn-inspect --export line S
named 'gnn-inspect --export says that its store was cut' 1 "^gnn-inspect: $cut"
# write(2) out of mapped memory fails with EFAULT instead.
check 'gnn-inspect --export writes more than a pipe holds' sh -c '[ "$(gnn-inspect --export - was | wc -c)" -gt 2000000 ]'
fresh
{ gnn-inspect --export - S 2>err; echo $? >rc; } | { opened; sleep 0.3; cut_it; cat >drained; }
rc=$(cat rc)
named 'gnn-inspect --export says that its store was cut while it writes' 1 "^gnn-inspect: $cut"

# ---- written to in place ----
garbage() { perl -e 'open my $f, "+<", $ARGV[0] or die; seek $f, 8192, 0; print $f "\xff" x ((-s $f) - 8192 - 4096)' $part; }
nans() { perl -e 'open my $f, "+<", $ARGV[0] or die; seek $f, (-s $f) / 2, 0; print $f "\xff" x 400000' $part; }
during garbage garbage none gnn-train -q --no-verify $long
named 'gnn-train says that its store was written to' 1 "^gnn-train: $part: written to while it was in use"
during nans nans none gnn-train -q --no-verify $long
named 'gnn-train does not blame the learning rate for nan in its store' 1 "^gnn-train: $part: written to while it was in use"
during garbage garbage feed gnn-gather -q -i line -o o S
named 'gnn-gather says that its store was written to, not only damaged' 1 "^gnn-gather: $part: written to while it was in use"
flip() { perl -e 'open my $f, "+<", $ARGV[0] or die; seek $f, (-s $f) / 2, 0; print $f "\1"' $part; }
during flip flip feed gnn-gather -q -i line -o o S
named 'gnn-gather says that one byte of its store was written to' 1 "^gnn-gather: $part: written to while it was in use"

# ---- not changed ----
unchanged() { # NAME: the command ended well, with the rows of the store as it was
    [ $rc -eq 0 ] && cmp -s o want && _ok "$1" || { _not_ok "$1: status $rc"; sed 's/^/# /' err; }
}
touch_it() { touch $part; }
during touched touch_it feed gnn-gather -q --no-provenance -i line -o o S
unchanged 'gnn-gather does not mind another time of change of its store'
replace() { gnn-import -q --force -o S sbm:nodes=50; }
during replaced replace feed gnn-gather -q --no-provenance -i line -o o S
unchanged 'gnn-gather reads a store to its end that is replaced'
remove() { rm -r S; }
during removed remove feed gnn-gather -q --no-provenance -i line -o o S
unchanged 'gnn-gather reads a store to its end that is removed'
pending='gnn-sample ends by SIGBUS where no signals may be pending'
if prlimit --sigpending=0 true 2>/dev/null; then
    during cut cut_it none prlimit --sigpending=0 gnn-sample -q -f 5 --epochs 0:100000000 -c S
    [ $rc -eq 135 ] && _ok "$pending" || { _not_ok "$pending: status $rc"; sed 's/^/# /' err; }
else
    skip "$pending" 'no prlimit(1)'
fi
# store.json of the old one has been opened when the new one takes its place.
replaced() { # COMMAND...
    rm -rf S o && gnn-partition -q -k 3 -o S was
    env LD_PRELOAD="$GNN_B/shim.so" FAULT_OP=read FAULT_N=1 FAULT_SLOW=3 "$@" >out 2>err &
    _pid=$!
    until ls -l /proc/$_pid/fd 2>/dev/null | grep -q 'S/store.json$' || ! kill -0 $_pid 2>/dev/null; do sleep 0.05; done
    gnn-partition -q --force -k $parts -o S was
    wait $_pid
    rc=$?
}
for parts in 3 5 2; do
    for command in 'gnn-sample -q --no-provenance -f 5,5 -b 256 -o o S' 'gnn-train -q --store S --epochs 1 --hidden 8 -o o'; do
        replaced $command
        check "${command%% *} reads a store of 3 parts or of $parts that takes its place" logged err test $rc -eq 0
    done
done
bus() { kill -BUS "$(cat pid)"; }
during bus bus none sh -c 'gnn-sample -q -f 5 --epochs 0:100000000 -c S & echo $! >pid; wait $!'
[ $rc -eq 135 ] && _ok 'gnn-sample ends by a SIGBUS that somebody sends' ||
    { _not_ok "gnn-sample ends with status $rc by a SIGBUS that somebody sends"; sed 's/^/# /' err; }

# A file that nobody may remove.
fresh
if chattr +i $part 2>/dev/null; then
    status 1 'gnn-import says that what it replaced is left' gnn-import --force -q -o S sbm:nodes=100,degree=3
    cp err err.said
    check 'it names where that is, and the result is complete' sh -c 'grep -q "S: complete, but what it replaced cannot be removed: it is .*/S\.tmp\.[0-9a-f]* now$" err.said && gnn-inspect --verify S'
    chattr -i S.tmp.*/part-00000.gnb && rm -rf S.tmp.*
else
    skip 'gnn-import says that what it replaced is left' 'no file can be made immutable here'
fi
done_testing
