# SPDX-License-Identifier: Apache-2.0
# Where results go: links, slashes, inputs, other writers, what killed ones leave behind.
. "$GNN_TOP/tests/lib.sh"
small=sbm:nodes=200
big=sbm:nodes=60000,degree=10,features=32
{ gnn-import -q -o a $small && gnn-import -q -o other sbm:nodes=100 && gnn-sample -q -f 3,3 -o b a && cp b b0; } ||
    { _not_ok 'gnn-import and gnn-sample make the inputs of this test'; done_testing; }
clean() { [ -z "$(find . -name '*.tmp*')" ] && _ok "$1" || { _not_ok "$1: $(find . -name '*.tmp*' | head -n 3)"; rm -rf ./*.tmp*; }; }
same() { cmp -s "$1" "$2" && _ok "$3" || _not_ok "$3"; }
is_link() { [ "$(readlink "$1")" = "$2" ] && _ok "$3" || _not_ok "$3"; }
says() { grep -q -e "$1" err && _ok "$2" || { _not_ok "$2"; sed 's/^/# /' err; }; }

# ---- links and slashes ----
ln -s a l
status 2 'gnn-partition refuses a link to its input as output' gnn-partition --force -k 2 -o l a
says '^gnn-partition: -o l: is the same file as the input a,' 'gnn-partition says that a link leads to its input'
check 'gnn-partition leaves an input whole that a link leads to' gnn-inspect --verify a
ln -s other lo
check 'gnn-import --force replaces the store that a link leads to' gnn-import -q --force -o lo sbm:nodes=50
is_link lo other 'gnn-import --force keeps the link to a store'
check 'gnn-import --force puts the new store where the link leads' sh -c 'gnn-inspect other | grep -q "^  nodes  node  *50:"'
check 'gnn-import --force ignores slashes after a link to a store' gnn-import -q --force -o lo// $small
is_link lo other 'gnn-import --force keeps the link to a store with slashes after it'
status 2 'gnn-import without --force does not replace a store that a link leads to' gnn-import -q -o lo $small
ln -s to-be/made dangling
ln -s dangling twice
status 1 'gnn-import fails where a link leads into a directory that is not there' gnn-import -q -o twice $small
mkdir to-be
check 'gnn-import makes the store where a link to nothing leads' gnn-import -q -o twice/ $small
check 'gnn-import makes a sound store where a link to nothing leads' gnn-inspect --verify to-be/made
is_link dangling to-be/made 'gnn-import keeps a link to nothing'
ln -s loop2 loop1
ln -s loop1 loop2
status 1 'gnn-import fails where links loop' gnn-import -q -o loop1 $small
status 1 'gnn-sample fails where links loop' gnn-sample -q -f 3 -o loop1 a
ln -s f lf
check 'gnn-sample makes the file where a link to nothing leads' gnn-sample -q -f 3,3 -o lf a
is_link lf f 'gnn-sample keeps a link to nothing'
check 'gnn-sample replaces the file that a link leads to' gnn-sample -q -f 2,2 -o lf a
is_link lf f 'gnn-sample keeps the link to a file'
check 'gnn-sample makes a whole file where a link leads' gnn-inspect --verify f
status 2 'gnn-sample refuses a slash after the name of a file' gnn-sample -q -f 3 -o f/ a
status 2 'gnn-sample refuses a slash after a new name' gnn-sample -q -f 3 -o new/ a
status 2 'gnn-sample refuses a directory as output' gnn-sample -q -f 3 -o to-be a
touch other/.keep
status 2 'gnn-import --force does not replace a store with a hidden file in it' gnn-import -q --force -o other $small
says "holds '.keep'" 'gnn-import --force names the hidden file in a store'
rm other/.keep
check 'gnn-import --force replaces a store by a name that ends in a dot' gnn-import -q --force -o other/. $small
clean 'programs leave no temporary where links lead'

# ---- inputs ----
status 2 'gnn-gather does not write a stream over itself' gnn-gather -q -i b -o ./b a
status 2 'gnn-gather does not write a stream over itself by a hard link' sh -c 'ln b hard && gnn-gather -q -i b -o hard a'
status 2 'gnn-gather does not write a stream from stdin over itself' sh -c 'gnn-gather -q -o b a <b'
status 2 'gnn-gather does not append a stream to itself on stdout' sh -c 'gnn-gather -q -i b a >>b'
status 2 'gnn-train does not write a model over the one that --init reads' \
    sh -c 'gnn-train -q --store a --epochs 1 --hidden 8 -o m && gnn-train -q --store a --epochs 1 --hidden 8 --init m -o m'
status 2 'gnn-predict does not write predictions over the model' gnn-predict -q -o m a m
status 2 'gnn-gather does not write into the store that it reads' gnn-gather -q -i b -o a/x a
status 2 'gnn-gather --metrics does not write over a file of the store through a link' gnn-gather -q -i b -o x --metrics l/store.json a
status 2 'gnn-import --force does not replace a store that its input lies in' gnn-import -q --force -o a a/store.json
status 2 'gnn-gather --metrics does not replace the stream that it reads' gnn-gather -q -i b -o x --metrics ../d/b a
status 2 'gnn-import --metrics does not replace what --split reads' \
    sh -c 'seq 0 9 >ids && printf "0 1\n1 2\n" >e.txt && gnn-import -q -o s --split train=ids --metrics ids e.txt'
status 2 'gnn-gather --metrics does not go where the stream goes' gnn-gather -q -i b -o x --metrics x a
status 2 'gnn-import --metrics does not go into the store that --force replaces' gnn-import -q --force -o other --metrics other/m $small
status 2 'gnn-train --checkpoint does not write into the store that it reads' gnn-train -q --store a --epochs 1 --checkpoint a -o x
status 2 'gnn-train does not write the model over the checkpoint' \
    sh -c 'mkdir C && gnn-train -q --store a --epochs 1 --checkpoint C -o C/checkpoint.safetensors'
same b b0 'programs that refuse to write over a stream keep it as it was'
check 'programs that refuse to write into a store keep it as it was' gnn-inspect --verify a
mkdir K
ln -s K L
for own in K/checkpoint.lock K/./checkpoint.lock L/checkpoint.lock K; do
    status 2 "gnn-train does not write the model over its own lock: $own" gnn-train -q --store a --epochs 1 --hidden 8 --checkpoint K -o $own
done
status 2 'gnn-train does not write metrics over its own lock' gnn-train -q --store a --epochs 1 --hidden 8 --checkpoint K -o x --metrics K/checkpoint.lock
status 2 'gnn-train does not write the model over the checkpoint in directories that do not exist yet' \
    gnn-train -q --store a --epochs 1 --hidden 8 --checkpoint n/K -o n/K/checkpoint.safetensors
status 2 'gnn-train does not give the model the name of the directory of checkpoints that it makes' \
    gnn-train -q --store a --epochs 1 --hidden 8 --checkpoint n -o n
check 'gnn-train has written nothing that it refuses' test -z "$(ls -A K)" -a ! -e n -a ! -e x
check 'gnn-train writes model and metrics to one device' gnn-train -q --store a --epochs 1 --hidden 8 -o /dev/null --metrics /dev/null
check 'gnn-train writes model and metrics beside checkpoints' gnn-train -q --store a --epochs 1 --hidden 8 --checkpoint C -o C/m --metrics C/metrics
clean 'programs leave no temporary where they refuse an output'

# ---- several at once, and killed ones ----
check 'one of two gnn-import that write one store fails' sh -c '
    gnn-import -q -o S '$big' 2>e1 & gnn-import -q -o S '$big' 2>e2; r2=$?; wait $!; r1=$?
    [ $((r1 + r2)) -gt 0 ] && [ $((r1 * r2)) -eq 0 ] && gnn-inspect --verify S'
check 'two gnn-import --force that write one store succeed' sh -c '
    gnn-import -q --force -o S '$big' & gnn-import -q --force -o S '$big' || exit; wait $! && gnn-inspect --verify S'
check 'two gnn-sample that write one file succeed' sh -c '
    gnn-sample -q -f 5,5 -b 512 -o B S & gnn-sample -q -f 5,5 -b 512 -o B S || exit; wait $! && gnn-inspect --verify B'
clean 'programs that write one output leave no temporary'
shim=$GNN_B/shim.so
killed() { # WHO OUT SETTINGS... -- COMMAND...: killed as it renames; the next run removes what is left, and nothing else
    _who=$1 _out=$2
    shift 2
    _set=
    while [ "$1" != -- ]; do _set="$_set $1"; shift; done
    shift
    rm -rf "$_out"
    # shellcheck disable=SC2086
    env FAULT_OP=rename FAULT_N=1 FAULT_KILL=1 $_set LD_PRELOAD="$shim" "$@" 2>err
    find . -maxdepth 1 -name "$_out.tmp.*" >left
    : >"$_out.tmp.mine"
    ln -s b "$_out.tmp.0123456789abcdef"
    check "$_who works again after it was killed in a rename" env $_set LD_PRELOAD="$shim" "$@"
    check "$_who keeps files and links that a killed run did not leave" \
        sh -c '[ -e "$1.mine" ] && [ -L "$1.0123456789abcdef" ]' - "$_out.tmp"
    rm -f "$_out.tmp.mine" "$_out.tmp.0123456789abcdef"
    clean "$_who removes what a killed run left"
}
killed gnn-import K -- gnn-import -q -o K $small
check 'gnn-import leaves its temporary directory when it is killed in a rename' test -s left
killed gnn-sample K -- gnn-sample -q -f 3,3 -o K a
check 'gnn-sample leaves nothing when it is killed in a rename' test ! -s left
killed 'gnn-sample without O_TMPFILE' K FAULT_NAMED=1 -- gnn-sample -q -f 3,3 -o K a
check 'gnn-sample without O_TMPFILE leaves a temporary when it is killed in a rename' test -s left
same b b0 'gnn-sample does not follow links in the place of temporaries'
rm -rf K
mkdir K.tmp.00000000000000ff
touch K.tmp.00000000000000ff/store.json
mkdir busy && (cd busy && exec perl -MFcntl=:flock -e 'open my $d, "<", "../K.tmp.00000000000000ff" or die; flock $d, LOCK_EX or die; open my $f, ">", "ready"; sleep 60') &
holder=$!
until [ -e busy/ready ]; do sleep 0.05; done
check 'gnn-import makes a store whose temporary another program holds' gnn-import -q --force -o K $small
check 'gnn-import keeps a temporary that another program holds' test -e K.tmp.00000000000000ff/store.json
kill $holder; wait $holder 2>/dev/null
rm -rf K.tmp.*
long=$(printf '%0255d' 0)
check 'gnn-sample makes a file with the longest name that there is' gnn-sample -q -f 3,3 -o "$long" a
check 'gnn-import makes and replaces a store with the longest name that there is' \
    sh -c 'rm "$1" && gnn-import -q -o "$1" '$small' && gnn-import -q --force -o "$1" '$small sh "$long"
clean 'programs leave no temporary of long names'

# ---- stdin is stdout ----
cp b both
status 2 'gnn-gather refuses a file that is both stdin and stdout' sh -c 'exec timeout 600 gnn-gather -q -i - a <both >>both'
says '^gnn-gather: stdout: is the same file as the input stdin, which is never overwritten$' 'gnn-gather says that stdout is its input'
same both b 'gnn-gather keeps a file that is both stdin and stdout as it was'
check 'gnn-gather accepts a file as stdin and stdout that it neither reads nor writes' sh -c ': >log && exec gnn-gather -q -i b -o x a <>log >&0'
rm -f x

# ---- files without a name ----
nameless() { # COMMAND...: its -o is a descriptor of a file that has been removed, whose contents afterwards are in `got`
    perl -e 'use Fcntl; open my $f, "+>", "gone" or die; unlink "gone"; print $f "x" x 1e6; $f->flush; fcntl $f, F_SETFD, 0;
        system(@ARGV, "-o", "/dev/fd/" . fileno $f) and die; seek $f, 0, 0; open my $o, ">", "got"; print {$o} <$f>' "$@"
}
gnn-sample -q --no-provenance -f 3,3 -o want a
check 'gnn-sample writes to a file that has no name any more' nameless gnn-sample -q --no-provenance -f 3,3 a
same got want 'gnn-sample writes the same to a file that has no name any more'
check 'gnn-sample makes no file called deleted' test -z "$(find . -name '*deleted*')"

# ---- who may read what is replaced ----
mode() { stat -c %a "$@" | tr '\n' ' '; }
echo old >kept && chmod 640 kept
check 'gnn-sample replaces a file' gnn-sample -q -f 3,3 -o kept a
check 'gnn-sample keeps the mode of a file that it replaces' test "$(mode kept)" = '640 '
chmod 604 kept && mkdir Q && gnn-train -q --store a --epochs 1 --hidden 8 --checkpoint Q --checkpoint-every 1 -o kept && chmod 600 Q/checkpoint.safetensors
check 'gnn-train keeps the modes of a model and a checkpoint that it replaces' \
    gnn-train -q --store a --epochs 2 --hidden 8 --checkpoint Q --checkpoint-every 1 --resume -o kept
check 'gnn-train has kept them' test "$(mode kept Q/checkpoint.safetensors)" = '604 600 '
gnn-import -q -o own $small
for modes in '700 600' '750 640' '500 400'; do
    chmod ${modes#* } own/* && chmod ${modes% *} own
    check "gnn-import replaces a store of mode $modes" gnn-import -q --force -o own $small
    check "gnn-import keeps the modes of a store that it replaces, $modes" test "$(mode own)$(mode own/* | xargs -n1 | sort -u)" = "$modes"
done
chmod 700 own
check 'gnn-predict makes what is not there yet as the umask says' sh -c 'umask 027; gnn-predict -q -o fresh a kept; test "$(stat -c %a fresh)" = 640'
clean 'programs leave no temporary where they keep modes'

# ---- no space, no permission ----
for run in 'gnn-import -q -o no sbm:nodes=20000,features=64' 'gnn-sample -q -f 10,10 -o no S' 'gnn-partition -q -k 2 -o no S'; do
    status 1 "$run fails where a file may not grow" sh -c "ulimit -f 64; $run"
done
if [ "$(id -u)" -eq 0 ]; then skip 'gnn-sample and gnn-import fail in a directory without permission' 'root may do anything'; else
    mkdir locked && chmod 555 locked
    status 1 'gnn-sample fails in a directory without permission' gnn-sample -q -f 3,3 -o locked/x a
    status 1 'gnn-import fails in a directory without permission' gnn-import -q -o locked/x $small
fi
check 'programs leave no result where a file may not grow' test ! -e no
clean 'programs leave no temporary where a file may not grow'
done_testing
