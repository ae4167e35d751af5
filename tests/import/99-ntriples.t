# SPDX-License-Identifier: Apache-2.0
# N-Triples are triples of IRIs and blank nodes: statements of literals are left out and counted; what is none is refused with its line.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-import
imp() { gnn-import --no-provenance --force "$@"; }
cat >g.nt <<'EOT'
# people
<http://e.org/a> <http://e.org/knows> <http://e.org/b> . # a comment

_:b1 <http://e.org/knows> <http://e.org/caf\u00E9\U0001F600> .
<http://e.org/a> <http://e.org/name> "A \"q\" \u00e9 \\ < . # "@en-GB .
<http://e.org/a><http://e.org/age>"3"^^<http://www.w3.org/2001/XMLSchema#int>.
	<http://e.org/b>	<http://e.org/likes>	_:b1.
<http://e.org/c> <http://e.org/name> "" .
EOT
tab=$(printf '\t')
# The same as triples.
cat >g.txt <<EOT
http://e.org/a${tab}http://e.org/knows${tab}http://e.org/b
_:b1${tab}http://e.org/knows${tab}http://e.org/café😀
http://e.org/b${tab}http://e.org/likes${tab}_:b1
EOT
check 'gnn-import reads N-Triples' imp -o S g.nt
cp err said
check 'it says how, and how many literals it left out' grep -q '^gnn-import: read as: N-Triples; left out: 3 statements whose object is a literal$' said
check 'gnn-import reads the same words as triples' imp -o T g.txt --format triples
check 'both are the same store' gnn-inspect --diff S T
check 'a node of literals alone is none' sh -c 'gnn-inspect S | grep -q "nodes  node *4$"'
gnn-inspect --export - --format csv --edges node/http://e.org/knows/node S >got
printf 'source,target\nhttp://e.org/a,http://e.org/b\n_:b1,http://e.org/café😀\n' >want
check 'names are IRIs, decoded, and blank nodes' cmp got want
check 'the store verifies' gnn-inspect --verify S

# Forms of the file
gzip -c g.nt >g.nt.gz
check 'gnn-import reads them packed' imp -o T g.nt.gz
check 'packed ones are the same store' gnn-inspect --diff S T
sed 's/$/\r/' g.nt >dos.nt
check 'gnn-import reads lines of DOS' imp -o T dos.nt
check 'lines of DOS are the same store' gnn-inspect --diff S T
printf '\357\273\277' | cat - g.nt >bom.nt
check 'gnn-import reads a byte order mark' imp -o T bom.nt
check 'it is no part of a name' gnn-inspect --diff S T
cp g.nt noname
check 'gnn-import knows them by their content' imp -o T noname
check 'they are the same store by content' gnn-inspect --diff S T
check 'gnn-import reads them from a pipe' sh -c 'cat g.nt | gnn-import -q --no-provenance --force -o T -'
check 'from a pipe, they are the same store' gnn-inspect --diff S T
{ yes '# a long licence' | head -500; cat g.nt; } >late.nt
check 'gnn-import knows them by their name behind long comments' imp -o T late.nt
check 'they are the same store behind comments' gnn-inspect --diff S T
printf '%s' '<a> <p> <b> .' >one.nt
check 'gnn-import reads a last line without its end' imp -o T one.nt
cp err said
check 'a file without literals says nothing of any' grep -q 'read as: N-Triples$' said

# Several files
sed -n 1,4p g.nt >p-1.nt
sed -n '5,$p' g.nt >p-2.nt
check 'gnn-import reads parts' imp -o T p-1.nt p-2.nt
check 'parts are the same store' gnn-inspect --diff S T
cp p-1.nt p-3.nt
check 'gnn-import takes no first line for a header' imp -o T p-1.nt p-3.nt
check 'all lines of both parts are edges' sh -c 'gnn-inspect T | grep -q "knows/node *4$"'
mkdir kg
printf '<a> <p> <b> .\n' >kg/train.nt
printf '<b> <p> "x" .\n<b> <q> <c> .\n' >kg/valid.nt
printf '<c> <p> <a> .\n' >kg/test.nt
check 'gnn-import reads sets' imp -o T kg
for f in train:a.p.b valid:b.q.c test:c.p.a; do echo "${f#*:}" | tr . '\t' >kg/${f%%:*}.txt; rm kg/${f%%:*}.nt; done
check 'gnn-import reads the same sets of triples' imp -o U kg
check 'both have the same edges and sets' gnn-inspect --diff T U
printf '<a> <p> <b> .\n' >n.nt
printf '1 2\n' >n.txt
refuses 3 "n.txt with '1 2'" 'parts of a table and of N-Triples' gnn-import -o X n.nt n.txt

# What is wrong
good='<a> <p> <b> .'
bad() { # LINE TEXT
    rm -rf X
    printf '%s\n\n%s\n' "$good" "$1" >x.nt
    refuses 3 "x.nt: line 3: $2" "$1" gnn-import -o X x.nt
    check "gnn-import leaves nothing of $1" test ! -e X
}
bad 'foo bar baz .' "no subject, <IRI> or _:NAME: 'foo bar baz .'"
bad '"x" <p> <b> .' 'no subject, <IRI> or _:NAME: .*"x"'
bad '<a> _:p <b> .' "no predicate, <IRI>: '_:p <b> .'"
bad '<a> <p> b .' "no object, <IRI>, _:NAME or a literal in quotes: 'b .'"
bad '<a> <p> .' "no object, .*: '.'"
bad '<a> <p>' 'no object, .*: the line ends'
bad '<a> <p> <b>' "no '.' after the object: the line ends"
bad '<a> <p> <b> <g> .' "a fourth term, as in N-Quads: '<g> .'"
bad '<a> <p> "x" _:g .' "a fourth term, as in N-Quads: '_:g .'"
bad '<a> <p> <b> . <c> <p> <b> .' "more after the '.': '<c> <p> <b> .'"
bad '<a b> <p> <b> .' "an IRI with a character that no IRI has: '<a b> <p>"
bad '<a{> <p> <b> .' "an IRI with a character that no IRI has: '<a{> <p>"
bad '<a> <p> <b' "an IRI without its '>': '<b'"
bad '<_:a> <p> <b> .' "an IRI that begins as blank nodes do: '<_:a> <p>"
bad '<> <p> <b> .' "an IRI without a character: '<> <p>"
bad '<< <a> <p> <b> >> <p> <b> .' 'an IRI with a character that no IRI has'
bad '<a\u0020> <p> <b> .' 'an escape that stands for no character of an IRI'
bad '<a\ud800> <p> <b> .' 'an escape that stands for no character of an IRI'
bad '<a\U00110000> <p> <b> .' 'an escape that stands for no character of an IRI'
bad '<a\u00> <p> <b> .' 'an escape that stands for no character of an IRI'
bad '<a\u0085> <p> <b> .' 'an escape that stands for no character of an IRI'
bad '<a\n> <p> <b> .' 'an escape that stands for no character of an IRI'
bad '<a> <p> "\y" .' 'an escape that stands for no character: '
bad '<a> <p> "\u12" .' 'an escape that stands for no character: '
bad '<a> <p> "x .' "a literal without its closing quote: '\"x .'"
bad '<a> <p> "x\" .' 'a literal without its closing quote'
bad '<a> <p> "x"@ .' "a language that is none: '@ .'"
bad '<a> <p> "x"@en- .' "a language that is none: '@en- .'"
bad '<a> <p> "x"^<t> .' 'a type of a literal that is no ^^<IRI>'
bad '<a> <p> "x"^^t .' 'a type of a literal that is no ^^<IRI>'
bad '<a> <p> "x"^^<t .' 'an IRI with a character that no IRI has'
bad '_: <p> <b> .' "a blank node without a name: '_: <p>"
bad '_:-a <p> <b> .' 'a blank node without a name'
bad '_a <p> <b> .' 'a blank node without a name'
bad "$(printf '<\351> <p> <b> .')" 'not UTF-8 (if it is Latin-1'
bad "$(printf '_:\351 <p> <b> .')" 'not UTF-8 (if it is Latin-1'
echo 'nonsense' >x.nt
refuses 3 "x.nt: line 1: no subject, <IRI> or _:NAME: 'nonsense'" 'a file with no statement, by its name' gnn-import -o X x.nt
echo '<a> <p> "b" .' >x.nt
refuses 3 'x.nt: no triples but such of literals' 'literals alone' gnn-import -o X x.nt
echo '# nothing' >x.nt
refuses 3 'x.nt: no triples' 'comments alone' gnn-import -o X x.nt
printf '%s\nx\n' "$good" >p-2.nt
refuses 3 "p-2.nt: line 2: no subject, <IRI> or _:NAME: 'x'" 'a line of the second part' gnn-import -o X p-1.nt p-2.nt
for i in $(seq 1025); do echo "<a> <p$i> <b> ."; done >x.nt
refuses 3 'x.nt: line 1025: more than 1024 relations' 'many relations' gnn-import -o X x.nt
status 2 '--columns does not apply to N-Triples' gnn-import --columns source=1,target=2 -o X g.nt
done_testing
