# Where results go: links, slashes, inputs, other writers, what killed ones leave behind.
. "$GNN_TOP/tests/lib.sh"
small=sbm:nodes=200
big=sbm:nodes=60000,degree=10,features=32
{ gnn-import -q -o a $small && gnn-import -q -o other sbm:nodes=100 && gnn-sample -q -f 3,3 -o b a && cp b b0; } || { _not_ok inputs; done_testing; }
clean() { [ -z "$(find . -name '*.tmp*')" ] && _ok "$1" || { _not_ok "$1: $(find . -name '*.tmp*' | head -n 3)"; rm -rf ./*.tmp*; }; }
same() { cmp -s "$1" "$2" && _ok "$3" || _not_ok "$3"; }
is_link() { [ "$(readlink "$1")" = "$2" ] && _ok "$3" || _not_ok "$3"; }
says() { grep -q -e "$1" err && _ok "$2" || { _not_ok "$2"; sed 's/^/# /' err; }; }

# ---- links and slashes ----
ln -s a l
status 2 'a link to the input is the input' gnn-partition --force -k 2 -o l a
says '^gnn-partition: -o l: is the same file as the input a,' 'and that is said'
check 'the input is whole' gnn-inspect --verify a
ln -s other lo
check '--force replaces the store that a link leads to' gnn-import -q --force -o lo sbm:nodes=50
is_link lo other 'the link stays'
check 'the new store is where the link leads' sh -c 'gnn-inspect other | grep -q "50"'
check 'slashes after a link to a store count for nothing' gnn-import -q --force -o lo// $small
is_link lo other 'the link stays, after slashes too'
status 2 'without --force a link to a store is not replaced' gnn-import -q -o lo $small
ln -s to-be/made dangling
ln -s dangling twice
status 1 'a link into a directory that is not there' gnn-import -q -o twice $small
mkdir to-be
check 'a link to nothing: its target is made' gnn-import -q -o twice/ $small
check 'which is sound' gnn-inspect --verify to-be/made
is_link dangling to-be/made 'that link stays'
ln -s loop2 loop1
ln -s loop1 loop2
status 1 'a loop of links is no place for a store' gnn-import -q -o loop1 $small
status 1 'nor for a file' gnn-sample -q -f 3 -o loop1 a
ln -s f lf
check 'a file where a link to nothing leads' gnn-sample -q -f 3,3 -o lf a
is_link lf f 'the link to the file stays'
check 'a file is replaced where the link leads' gnn-sample -q -f 2,2 -o lf a
is_link lf f 'and that link stays'
check 'which is whole' gnn-inspect --verify f
status 2 'a slash after the name of a file' gnn-sample -q -f 3 -o f/ a
status 2 'a slash after a new name of a file' gnn-sample -q -f 3 -o new/ a
status 2 'a directory as a file' gnn-sample -q -f 3 -o to-be a
touch other/.keep
status 2 'a store with a hidden file in it is not replaced' gnn-import -q --force -o other $small
says "holds '.keep'" 'the message names the file'
rm other/.keep
check 'a store by a name that ends in a dot' gnn-import -q --force -o other/. $small
clean 'no temporary is left of all this'

# ---- inputs ----
status 2 'a stream is not written over itself' gnn-gather -q -i b -o ./b a
status 2 'nor over itself by another name' sh -c 'ln b hard && gnn-gather -q -i b -o hard a'
status 2 'nor when it comes from stdin' sh -c 'gnn-gather -q -o b a <b'
status 2 'nor when it goes to stdout' sh -c 'gnn-gather -q -i b a >>b'
status 2 'a model is not written over the one it starts from' sh -c 'gnn-train -q --store a --epochs 1 --hidden 8 -o m && gnn-train -q --store a --epochs 1 --hidden 8 --init m -o m'
status 2 'predictions are not written over the model' gnn-predict -q -o m a m
status 2 'nothing is written into a store that is read' gnn-gather -q -i b -o a/x a
status 2 'nor over one of its files, through a link' gnn-gather -q -i b -o x --metrics l/store.json a
status 2 'a store does not replace one that an input lies in' gnn-import -q --force -o a a/store.json
status 2 '--metrics does not replace the input' gnn-gather -q -i b -o x --metrics ../d/b a
status 2 '--metrics does not replace what is read for a split' sh -c 'seq 0 9 >ids && printf "0 1\n1 2\n" >e.txt && gnn-import -q -o s --split train=ids --metrics ids e.txt'
status 2 '--metrics does not go where the result goes' gnn-gather -q -i b -o x --metrics x a
status 2 'nor into the store that is replaced' gnn-import -q --force -o other --metrics other/m $small
status 2 'checkpoints are not kept in a store that is read' gnn-train -q --store a --epochs 1 --checkpoint a -o x
status 2 'a model does not replace the checkpoint' sh -c 'mkdir C && gnn-train -q --store a --epochs 1 --checkpoint C -o C/checkpoint.safetensors'
same b b0 'the stream is as it was'
check 'the store is as it was' gnn-inspect --verify a
check 'a device is not an input or output to look after' gnn-train -q --store a --epochs 1 --hidden 8 -o /dev/null --metrics /dev/null
check 'the model and metrics may lie beside checkpoints' gnn-train -q --store a --epochs 1 --hidden 8 --checkpoint C -o C/m --metrics C/metrics
clean 'no temporary is left of that'

# ---- several at once, and killed ones ----
check 'two programs write one store: the second fails, or both follow each other' sh -c '
    gnn-import -q -o S '$big' 2>e1 & gnn-import -q -o S '$big' 2>e2; r2=$?; wait $!; r1=$?
    [ $((r1 + r2)) -gt 0 ] && [ $((r1 * r2)) -eq 0 ] && gnn-inspect --verify S'
check 'with --force both succeed' sh -c '
    gnn-import -q --force -o S '$big' & gnn-import -q --force -o S '$big' || exit; wait $! && gnn-inspect --verify S'
check 'two programs write one file' sh -c '
    gnn-sample -q -f 5,5 -b 512 -o B S & gnn-sample -q -f 5,5 -b 512 -o B S || exit; wait $! && gnn-inspect --verify B'
clean 'nothing is left of any of them'
shim=$GNN_B/shim.so
if [ -n "${GNN_SAN-}" ]; then skip 'killed programs' 'the sanitizer owns the calls'; else
    killed() { # NAME OUT SETTINGS... -- COMMAND...: killed as it renames; the next run removes what is left, and nothing else
        _name=$1 _out=$2
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
        check "$_name: the next run works" env $_set LD_PRELOAD="$shim" "$@"
        [ -e "$_out.tmp.mine" ] && [ -L "$_out.tmp.0123456789abcdef" ] && _ok "$_name: other files and links stay" || _not_ok "$_name: other files and links stay"
        rm -f "$_out.tmp.mine" "$_out.tmp.0123456789abcdef"
        clean "$_name: what the killed one left is removed"
    }
    killed 'gnn-import killed' K -- gnn-import -q -o K $small
    [ -s left ] && _ok 'a killed store leaves its temporary directory' || _not_ok 'a killed store leaves its temporary directory'
    killed 'gnn-sample killed' K -- gnn-sample -q -f 3,3 -o K a
    [ ! -s left ] && _ok 'a killed file leaves nothing' || _not_ok 'a killed file leaves nothing'
    killed 'gnn-sample killed, where files have names' K FAULT_NAMED=1 -- gnn-sample -q -f 3,3 -o K a
    [ -s left ] && _ok 'where files have names it leaves one' || _not_ok 'where files have names it leaves one'
    same b b0 'links in the place of temporaries are not followed'
    rm -rf K
    mkdir K.tmp.00000000000000ff
    touch K.tmp.00000000000000ff/store.json
    mkdir busy && (cd busy && exec perl -MFcntl=:flock -e 'open my $d, "<", "../K.tmp.00000000000000ff" or die; flock $d, LOCK_EX or die; open my $f, ">", "ready"; sleep 60') &
    holder=$!
    until [ -e busy/ready ]; do sleep 0.05; done
    check 'a result whose temporary another program holds' gnn-import -q --force -o K $small
    [ -e K.tmp.00000000000000ff/store.json ] && _ok 'what is held is not removed' || _not_ok 'what is held is not removed'
    kill $holder; wait $holder 2>/dev/null
    rm -rf K.tmp.*
fi
long=$(printf '%0255d' 0)
check 'a name as long as names can be' gnn-sample -q -f 3,3 -o "$long" a
check 'the same for a store' sh -c 'rm "$1" && gnn-import -q -o "$1" '$small' && gnn-import -q --force -o "$1" '$small sh "$long"
clean 'nothing is left of long names'

# ---- stdin is stdout ----
cp b both
status 2 'a file that is both stdin and stdout' sh -c 'exec timeout 600 gnn-gather -q -i - a <both >>both'
says '^gnn-gather: stdout: is the same file as the input stdin, which is never overwritten$' 'is named as such'
same both b 'and stays as it is'
check 'where nothing is written there, it may be' sh -c ': >log && exec gnn-gather -q -i b -o x a <>log >&0'
rm -f x

# ---- files without a name ----
nameless() { # COMMAND...: its -o is a descriptor of a file that has been removed, whose contents afterwards are in `got`
    perl -e 'use Fcntl; open my $f, "+>", "gone" or die; unlink "gone"; print $f "x" x 1e6; $f->flush; fcntl $f, F_SETFD, 0;
        system(@ARGV, "-o", "/dev/fd/" . fileno $f) and die; seek $f, 0, 0; open my $o, ">", "got"; print {$o} <$f>' "$@"
}
gnn-sample -q --no-provenance -f 3,3 -o want a
check 'a result may go to a file that has no name any more' nameless gnn-sample -q --no-provenance -f 3,3 a
same got want 'and is there'
[ -z "$(find . -name '*deleted*')" ] && _ok 'and nowhere else' || _not_ok "and nowhere else: $(ls)"

# ---- no space, no permission ----
for run in 'gnn-import -q -o no sbm:nodes=20000,features=64' 'gnn-sample -q -f 10,10 -o no S' 'gnn-partition -q -k 2 -o no S'; do
    status 1 "a limit of the file size: $run" sh -c "ulimit -f 64; $run"
done
if [ "$(id -u)" -eq 0 ]; then skip 'no permission' 'root may do anything'; else
    mkdir locked && chmod 555 locked
    status 1 'a directory without permission, for a file' gnn-sample -q -f 3,3 -o locked/x a
    status 1 'a directory without permission, for a store' gnn-import -q -o locked/x $small
fi
[ ! -e no ] && _ok 'there is no result' || _not_ok 'there is no result'
clean 'and nothing is left'
done_testing
