# SPDX-License-Identifier: Apache-2.0
# Names that a terminal would obey, or that lead out of a directory: nothing prints them as they are, and no member is called so.
. "$GNN_TOP/tests/lib.sh"
hidden=$(printf 'a\342\200\256b\342\200\213c\342\201\246d') # to the left, no width, to the left in a piece of its own
export hidden
c1=$(printf 'e\302\23331mRED')
latin=$(printf 'caf\351')
# Control characters, also those beyond ASCII, and what is hidden: bytes that a terminal must not get.
clean() { # FILE...: UTF-8 throughout, without them
    perl -MEncode -0777 -ne 'my $t = eval { decode("UTF-8", $_, 1) } // die "not UTF-8\n";
        $t =~ /[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}\x{feff}]/ and die sprintf "%s: U+%04X\n", $ARGV, ord $&' "$@"
}
printf '0,1\n1,2\n2,0\n3,1\n' >e.csv
printf 'x%s\ny\nx%s\ny\n' "$hidden" "$hidden" >y.csv
printf '1,2\n3,4\n5,6\n7,8\n' >x.csv
check 'gnn-import takes names with hidden characters' gnn-import -o S --edge-type "$hidden/to/$hidden" --labels y.csv --features x.csv --split 'random:0.5,0.25,0.25' e.csv
cp err says
check 'gnn-import prints them escaped' clean says
check 'gnn-import prints which they are' grep -q 'a\\u202eb\\u200bc\\u2066d' says
check 'gnn-partition writes partitions of such types' sh -c 'gnn-partition -k 2 -o P --metrics pm S >pout 2>perr && gnn-sample -q -f 2 -b 2 S >b && gnn-gather -q -i b S >g && gnn-train -i g -o m --metrics tm >tout 2>terr'
check 'gnn-inspect shows them' sh -c 'for i in S P b g m; do gnn-inspect -v -t $i >>shown && gnn-inspect -t --json $i >$i.json && gnn-inspect --json --verify $i >>verified; done; gnn-inspect -s S >>shown'
check 'nothing that is printed has them as they are' clean pout perr tout terr shown verified
check 'metrics and JSON have them escaped' clean pm tm S.json P.json b.json g.json m.json
check 'JSON says what they are' perl -MJSON::PP -MEncode -0777 -ne '
    decode_json($_)->{node_types}[0]{name} eq decode("UTF-8", $ENV{hidden}) or die; exit 0' S.json
check 'gnn-inspect --diff prints them escaped' sh -c 'gnn-inspect --diff S P >diff 2>&1; test $? -eq 1'
check 'what gnn-inspect --diff prints is clean' clean diff
# In messages: of files, options, and inputs.
mistake() { # WHAT TEXT COMMAND...
    _what=$1 _text=$2
    shift 2
    "$@" >out 2>says
    check "$_what escapes what it quotes" clean says
    check "$_what says $_text" grep -q -F -e "$_text" says
}
mistake 'gnn-inspect of no file' 'e\u009b31mRED' gnn-inspect "$c1"
mistake 'gnn-inspect of no file in Latin-1' 'caf\xe9' gnn-inspect "$latin"
mistake 'gnn-inspect of a control character of ASCII' 'a\u001b[31m' gnn-inspect "$(printf 'a\033[31m')"
mistake 'gnn-sample of no set' 'a\u202eb' gnn-sample -f 2 --split "$hidden" S
mistake 'gnn-train of no metric' 'a\u202eb' gnn-train --metric "$hidden" -i g
printf 'source,target,weight\n0,1,1%s\n' "$c1" >w.csv
mistake 'gnn-import of no number' "'1e\\u009b31mRED'" gnn-import -o X w.csv
printf '0,1\n%s,2\n' "$latin" >l.csv
mistake 'gnn-import of an id in Latin-1' "'caf\\xe9'" gnn-import -o X l.csv
mkdir d && printf '0,1\n' >"d/$c1.csv" && printf '0,1\n' >d/b.csv && (cd d && tar cf ../a.tar "$c1.csv" b.csv)
mistake 'gnn-import of an archive' 'e\u009b31mRED.csv' gnn-import -o X a.tar
perl -e 'local $/; for (qw(store.json part-00000.gnb)) { open F, "<:raw", "S/$_"; my $t = <F>; mkdir "F"; $t =~ s/\xe2\x80\xae/\xc2\x9bX/g; open F, ">:raw", "F/$_"; print F $t }'
mistake 'gnn-inspect of a store with a control character in a name' 'a\u009bXb' gnn-inspect F

# Members of archives.
printf 'a\t../../up\tb\na\t/root\tc\nb\t.\tc\nb\t..\ta\na\tx%%2Fy\\z\ta\nc\tplain\ta\n' >t.tsv
check 'gnn-import takes relations that look like paths' gnn-import -q -o R t.tsv
gnn-partition -q -k 2 -o R2 R
gnn-sample -q -f 1 -b 3 --seeds e1 -o Rb R 2>err || { printf '0\n1\n2\n' >e1; gnn-sample -q -f 1 -b 3 --seeds e1 -o Rb R; }
for what in R R2 Rb S; do
    raw=--raw
    [ $what != Rb ] || raw=
    # shellcheck disable=SC2086
    check "gnn-inspect --export writes $what" gnn-inspect $raw --export $what.npz $what
    check "no member of $what leads out of a directory, and none is there twice" perl -0777 -ne '
        my (%n, $at); $at = unpack "V", substr $_, -6, 4;
        while (substr($_, $at, 4) eq "PK\1\2") {
            my ($n, $x, $c) = unpack "v3", substr $_, $at + 28, 6; my $name = substr $_, $at + 46, $n; $at += 46 + $n + $x + $c;
            die "$name\n" if $name =~ m{(^|/)\.{0,2}(/|$)|\\} || $n{$name}++;
        }
        die unless %n' $what.npz
done
check 'the names of members can be read' sh -c "LC_ALL=C grep -a -q 'edge/[^/]*/%2E.%2F..%2Fup/' R.npz && LC_ALL=C grep -a -q 'edge/[^/]*/%2Froot/' R.npz && grep -a -q 'x%252Fy%5Cz' R.npz"
gnn-import -o X R.npz 2>says
check 'gnn-import takes such an archive for what it is, with all of its members' grep -q 'no array of edges .*arrays: .*%2E.%2F..%2Fup' says
python=/usr/bin/python3
if "$python" -B -c 'import numpy' 2>/dev/null; then
    for what in R R2 S; do
        check "NumPy finds the tensors of $what in what gnn-inspect exports" "$python" -B "$GNN_TOP/tests/interop/roundtrip.py" export $what $what.npz
    done
    check 'NumPy finds the tensors of batches in what gnn-inspect exports' "$python" -B "$GNN_TOP/tests/interop/roundtrip.py" batches Rb Rb.npz
    # Models have names of their own.
    check 'a model has names that lead elsewhere' "$python" -B -c '
import json, struct
t = {n: {"dtype": "F32", "shape": [1], "data_offsets": [4 * i, 4 * i + 4]} for i, n in enumerate(["../../up", "/root", "a/../b", ".."])}
h = json.dumps(t).encode(); h += b" " * (-len(h) % 8)
open("w.safetensors", "wb").write(struct.pack("<Q", len(h)) + h + struct.pack("<4f", 1, 2, 3, 4))'
    check 'gnn-inspect --export writes it' gnn-inspect --export w.npz w.safetensors
    check 'no member of it leads elsewhere' "$python" -B -c '
import sys; sys.path.insert(0, sys.argv[1]); import numpy as np
z = np.load("w.npz"); assert sorted(z.files) == ["%2E.", "%2E.%2F..%2Fup", "%2Froot", "a%2F..%2Fb"], z.files' .
else
    skip 'NumPy finds the tensors in what gnn-inspect exports' 'no numpy'
fi
done_testing
