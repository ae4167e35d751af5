# SPDX-License-Identifier: Apache-2.0
# STORE.index: what gnn-sample --keep-index keeps is used, never trusted, and changes no bit.
. "$GNN_TOP/tests/lib.sh"
smp() { gnn-sample --no-provenance "$@"; }
gnn-import -q -o s sbm:nodes=900,degree=12,weights=1
gnn-import -q -o h sbm:nodes=700,types=3,weights=1
gnn-partition -q -k 3 -o h3 h
printf 'source,target,time,w\n' >told.csv
awk 'BEGIN { srand(3); for (i = 0; i < 900; i++) printf "%d,%d,%d,%d\n", rand() * 60, rand() * 60, rand() * 5000, rand() * 3 }' >>told.csv
gnn-import -q --directed -o t told.csv
seq 0 59 | awk '{ print $1, 900 + 50 * $1 }' >asked

# keeps NAME STORE FILES OPTIONS...: the same bytes without an index, while it is kept, and with it; and what is kept.
keeps() {
    _name=$1 _store=$2 _files=$3
    shift 3
    rm -rf "$_store.index"
    smp "$_store" "$@" -o without
    check "gnn-sample --keep-index of $_name draws what it draws without" smp "$_store" "$@" --keep-index -o keeping
    check "gnn-sample --keep-index of $_name keeps $_files" test "$(cd "$_store.index" && echo *)" = "$_files"
    check "gnn-sample of $_name draws with an index" smp "$_store" "$@" -o with
    check "batches of $_name are the same without an index, while it is made, and with it" sh -c 'cmp without keeping && cmp without with'
    for _f in "$_store.index"/*; do
        check "gnn-inspect --verify finds ${_f##*/} of $_name sound" gnn-inspect --verify "$_f"
    done
}
keeps weights s weight-weight-0-0 -f 6,4,-1 -b 60 --weight weight --steps 0:6 --edge-ids
# computes STORE OPTIONS...: the run computes sums of weights, and says how much memory they take
computes() { smp "$@" --weight weight -v -o said.batches 2>said && grep -q 'MB of memory for their sums' said; }
check 'gnn-sample takes no memory for sums that are kept' sh -c 'gnn-sample s -f 6 --weight weight -v -o o 2>said && grep -q ^gnn-sample: said && ! grep "of memory for their sums" said'
each=$(for t in 0 1 2 3 4 5 6 7 8; do printf 'weight-weight-%d-0 weight-weight-%d-1 weight-weight-%d-2 ' $t $t $t; done)
keeps 'weights of nine types in three partitions' h3 "${each% }" -f 5,3 -b 40 --weight weight --edge-ids
keeps 'steps of node2vec' s sources-0-0 --walk-length 12 --node2vec 0.25,4 -b 100
keeps times t times-0-0 -f 4,3 --time-rule le --seeds asked -b 20 --edge-ids
keeps 'times and weights' t 'times-0-0 weight-w-0-0' -f 4,3 --time-rule lt --weight w --seeds asked -b 20 --edge-ids

# Who else reads it, and by which name.
rm -rf s.index
check 'gnn-sample takes memory for sums that are not' computes s -f 4,3
check 'nothing is kept that is not asked for' test ! -e s.index
ln -s s link
smp link/ -f 4,3 --weight weight --keep-index -o with
check 'the index of a store lies beside it, whatever link leads there' sh -c 'test -e s.index/weight-weight-0-0/store.json && test ! -e link.index'
computes link -f 4,3
check 'it is used by any name of the store' test $? = 1 -a -s said
gnn-train -q --no-provenance --store s -f 4,3 --weight weight --epochs 1 --hidden 8 -o with.safetensors
mv s.index away
gnn-train -q --no-provenance --store s -f 4,3 --weight weight --epochs 1 --hidden 8 -o without.safetensors
check 'gnn-train --weight makes the same model with an index' cmp with.safetensors without.safetensors
mv away s.index
check 'gnn-import --force replaces a store that has an index' gnn-import -q --force -o s sbm:nodes=900,degree=12,weights=1,seed=5

# Of another store, damaged, or something else.
kept=s.index/weight-weight-0-0
refuses 3 "^gnn-sample: .*/$kept: was not computed of s as it is now: remove it, or compute it anew (gnn-sample --keep-index)\$" 'an index of the store that was' \
    gnn-sample s -f 4,3 --weight weight -o x
check 'gnn-sample --keep-index replaces it' smp s -f 4,3 --weight weight --edge-ids --keep-index -o keeping
check 'gnn-sample draws with what replaced it' smp s -f 4,3 --weight weight --edge-ids -o with
mv s.index away
smp s -f 4,3 --weight weight --edge-ids -o without
mv away s.index
check 'batches are those without an index' sh -c 'cmp without with && cmp without keeping'
for how in 'edges 0' 'cut 20' 'flip 60'; do
    # shellcheck disable=SC2086
    check "gnn-sample refuses an index that is damaged (${how% *})" perl "$GNN_TOP/tests/faults/hurt.pl" $how $kept/part-00000.gnb $kept/part-00000.gnb x gnn-sample -q -f 4,3 --weight weight -o x s
done
flip() { perl -e 'open my $f, "+<", $ARGV[0] or die; seek $f, $ARGV[1], 0; read $f, my $c, 1; seek $f, $ARGV[1], 0; print $f chr(ord($c) ^ 64)' "$1" "$2"; }
flip $kept/part-00000.gnb 40000
refuses 3 "$kept/part-00000.gnb: tensor '[a-z]*'" 'a kept array with a flipped bit' gnn-sample s -f 4,3 --weight weight -o x
check 'gnn-sample --keep-index replaces an array with a flipped bit' smp s -f 4,3 --weight weight --edge-ids --keep-index -o keeping
check 'gnn-inspect --verify finds it sound' gnn-inspect --verify $kept
check 'batches are those without damage' cmp without keeping
rm $kept/store.json
status 3 'gnn-sample refuses an index without store.json' gnn-sample -q s -f 4,3 --weight weight -o x
status 2 'gnn-sample --keep-index replaces no directory that is no store' gnn-sample -q s -f 4,3 --weight weight --keep-index -o x
rm -rf s.index
: >s.index
status 1 'gnn-sample --keep-index fails where it cannot keep' gnn-sample -q s -f 4,3 --weight weight --keep-index -o x
rm s.index
refuses 2 'keep-index.* requires --weight, --top, --time-rule or --node2vec' 'to keep what is not computed' gnn-sample -q s -f 4,3 --keep-index -o x
check 'nothing is left of what was refused' test -z "$(ls -d x x.* 2>/dev/null)"

# A killed process, and two at once.
mkdir -p s.index/weight-weight-0-0.tmp.0123456789abcdef
: >s.index/weight-weight-0-0.tmp.0123456789abcdef/part-00000.gnb
smp s -f 4,3 --weight weight --edge-ids --keep-index -o one &
smp s -f 4,3 --weight weight --edge-ids --keep-index -o two
wait $!
check 'two programs keep the same index at once' test $? = 0
check 'they draw what one draws' sh -c 'cmp one without && cmp two without'
check 'nothing is left but the index, neither of them nor of a killed process' test "$(ls s.index)" = weight-weight-0-0
check 'gnn-inspect --verify finds it sound' gnn-inspect --verify $kept

# Whoever takes it for a store finds one without nodes.
refuses 2 "no set 'train'" 'an index for a store' gnn-sample -q -f 3 $kept -o x
check 'gnn-partition divides an index as a store of nothing' gnn-partition -k 2 -o divided $kept
mv out said
check 'gnn-partition has no figure of nothing' sh -c 'grep -qx "halo      0 nodes" said && ! grep nan said'

# Numbers that are wrong and not verified lead to edges of the row all the same, if to some twice.
python=$(command -v python3)
if [ -n "$python" ]; then
    cat >spoil.py <<'END'
import random, struct, sys
random.seed(int(sys.argv[2]))
data = bytearray(open(sys.argv[1], "rb").read())
at = sum(struct.unpack_from("<QQ", data, 24), 64)  # the second frame has the arrays; padding between them stays zero
table, payload = struct.unpack_from("<QQ", data, at + 24)
for k in range(at + 64 + table, at + 64 + table + payload, 4096):
    n = len(data[k:k + 4096].rstrip(b"\0"))
    data[k:k + n] = bytes(random.getrandbits(8) for _ in range(n))
open(sys.argv[1], "wb").write(data)
END
    for seed in 1 2 3; do
        "$python" spoil.py $kept/part-00000.gnb $seed
        for how in '-f 4,3' '-f 4,3 -r' '-f 40,100' '-f 40,100 -r' '-f -1,3'; do
            check "gnn-sample --no-verify draws by noise with $how ($seed)" gnn-sample -q --no-verify s $how --weight weight --edge-ids -b 60 -o noise
            case $how in *-r) check "its edges are edges of the store with $how ($seed)" gnn-inspect --verify noise --against s ;; esac
        done
        smp s -f 4,3 --weight weight --keep-index -c >/dev/null
        for _f in t.index/*/part-00000.gnb; do
            cp "$_f" kept.gnb
            "$python" spoil.py "$_f" $seed
            for how in '-f 4,3 --weight w' '-f 20,9 --weight w' '-f 3,3 --latest' '-f 3 --window 100 -r'; do
                check "gnn-sample --no-verify draws by noise in ${_f#t.index/} with --time-rule $how ($seed)" \
                    gnn-sample -q --no-verify t $how --time-rule le --seeds asked -b 20 -o noise
            done
            mv kept.gnb "$_f"
        done
    done
fi
done_testing
