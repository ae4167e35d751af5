# SPDX-License-Identifier: Apache-2.0
# Text tables of edges: the rules of gnn-import(1) over tables made from a grammar, and by hand where a rule has an end.
. "$GNN_TOP/tests/lib.sh"
pl=$GNN_TOP/tests/import/tables.pl
refusing=gnn-import

mkdir g
perl "$pl" make g || exit 1
read_right() { # N: as the oracle wants
    rm -rf S got
    # shellcheck disable=SC2046
    gnn-import --directed -o S $(cat "g/$1.args") "g/$1.txt" 2>said
    _rc=$?
    _want=$(cat "g/$1.want")
    case $_want in
    refused*) { [ $_rc = 3 ] || [ $_rc = 2 ]; } && [ "$(wc -l <said)" = 1 ] && grep -Eq -- "${_want#refused }" said && [ ! -e S ] ;;
    *) [ $_rc = 0 ] && grep -q 'read as: ' said && perl "$pl" dump S >got && cmp -s got "g/$1.want" ;;
    esac
}
count=0 good=0
for f in g/*.txt; do
    i=${f#g/} i=${i%.txt}
    grep -q ^refused "g/$i.want" || good=$((good + 1))
    count=$((count + 1))
    if read_right "$i"; then continue; fi
    _not_ok "gnn-import reads table $i by the rules: $(cat "g/$i.what")"
    { cat "g/$i.args" && head -c 300 "g/$i.txt" && echo "-- wanted" && cat "g/$i.want" && echo "-- got" && cat said got; } 2>&1 | cat -v | sed 's/^/# /'
done
check "gnn-import reads or refuses $count tables by the rules" [ "$count" -ge 100 ]
check "the grammar makes tables that are read, $good of them" [ "$good" -ge 60 ]

as() { # NAME WANT [ARGUMENT...]: the edges of t.txt as tables.pl prints them, joined by ", ", or "refused TEXT"
    _what=$1 _want=$2
    shift 2
    rm -rf S
    gnn-import --directed -o S "$@" t.txt >out 2>said
    _rc=$?
    case $_want in
    refused*) { [ $_rc = 3 ] || [ $_rc = 2 ]; } && [ "$(wc -l <said)" = 1 ] && grep -q -- "${_want#refused }" said && [ ! -e S ] ;;
    *) [ $_rc = 0 ] && [ "$(perl "$pl" dump S | tr '\n' ',' | sed 's/,$//')" = "$_want" ] ;;
    esac
    if [ $? = 0 ]; then _ok "gnn-import: $_what"; else
        _not_ok "gnn-import: $_what"
        { echo "wanted: $_want"; [ ! -e S ] || perl "$pl" dump S | tr '\n' ','; cat said; } | sed 's/^/# /'
    fi
}
said() { check "gnn-import says: $1" grep -q -- "$1" said; }

# Line 1: never dropped without a word.
printf '1,2,NA\n2,3,0.5\n3,1,0.75\n' >t.txt
as 'a missing value in line 1 makes it no header' '1 to 2 nan,2 to 3 0.5,3 to 1 0.75' --columns source=1,target=2,score=3
said 'read as: edges by number; score = column 3 (--columns changes this)'
printf '1,2,2011-05-03\n2,3,2012-01-01\n3,1,2012-01-02\n' >t.txt
as 'a date in a column that is left out makes line 1 no header' '1 to 2,2 to 3,3 to 1' --columns source=1,target=2
printf '1,2,"610,086"\n2,3,"5"\n' >t.txt
as 'a number with a comma in line 1 is refused' "refused t.txt: line 1: not a number '610,086'" --columns source=1,target=2,count=3
printf '1 2 x\n2 3 4\n' >t.txt
as 'a word above numbers makes a line of ids no header' "refused t.txt: line 1: not a number 'x'" --columns source=1,target=2,score=3
printf '1a 2\n2 3\n3 1a\n' >t.txt
as 'an id with a letter makes line 1 no header' '1a to 2,2 to 3,3 to 1a'
printf 'u v\nv w\n' >t.txt
as 'names of ends that are ids below are refused' 'refused line 1 is a header by its names, or a row.*--header yes or no'
printf 'u v\nv w\n' >t.txt
as '--header no makes names of ends a row' 'u to v,v to w' --header no
printf 'u v\nv w\n' >t.txt
as '--header yes makes names of ends a header' 'v to w' --header yes
printf 'a b\nb c\n' >t.txt
as '--header yes needs names of ends' 'refused no column is the source' --header yes
printf 'a b\nb c\n' >t.txt
as '--columns names columns of any header' 'c to b' --header yes --columns source=b,target=a
printf '1 2\n3 4\n' >t.txt
as '--header yes drops a line of numbers, by columns' '3 to 4' --header yes --columns source=1,target=2
said 'line 1 is the header'
printf 'ann bob\nbob cleo\n' >t.txt
as 'two words are an edge' 'ann to bob,bob to cleo'
said 'read as: edges by name; line 1 is no header (--header yes makes it one)'
printf ',source,target,weight\n0,ann,bob,2\n1,bob,cleo,3\n' >t.txt
as 'a column without a name is left out' 'ann to bob 2,bob to cleo 3'
said 'left out = column 1'
printf 'Source,Target,Weight\nann,bob,1.5\nbob,cleo,2\n' >t.txt
as 'names count in any case' 'ann to bob 1.5,bob to cleo 2'
said 'read as: edges by name; line 1 is the header; weight = column 3 (--columns changes this)'
printf 'Origin;Destination\nann;bob\n' >t.txt
as 'other pairs of names are known' 'ann to bob'
printf ':START_ID,:END_ID\nann,bob\n' >t.txt
as 'signs between letters do not count in names' 'ann to bob'
printf 'source;target;user;from\n1;2;3;4\n' >t.txt
as 'the first pair of names has the ends' '1 to 2'
printf 'ann,bob,trust\nann,cleo,4\nbob,cleo,5\n' >t.txt
as 'a word above numbers is no name if the ids beside it are' "refused line 1: not a number 'trust'" --columns source=1,target=2,score=3

# Roles.
printf 'AAA,BBB,853\nAAA,CCC,1\nBBB,CCC,12\nCCC,AAA,7\n' >t.txt
as 'numbers in column 3 are no triples' 'refused t.txt: 3 columns; --columns must say'
printf 'AAA,BBB,853\nAAA,CCC,1\n' >t.txt
as '--columns reads weighted edges between words' 'AAA to BBB 853,AAA to CCC 1' --columns source=1,target=2,weight=3
printf 'u1 u2 0.5\nu2 u3 1\n' >t.txt
as 'fractions in column 3 are no triples' 'refused 3 columns; --columns'
printf 'ann likes bob\nbob likes cleo\n' >t.txt
as 'three words are a triple' 'ann likes bob,bob likes cleo'
said 'read as: triples; line 1 is no header'
for h in 'head relation tail' 'subject predicate object' 'h r t' 'node1 label node2' 'user relation item' 'FROM TYPE TO'; do
    printf '%s\nann likes bob\nbob likes cleo\n' "$h" >t.txt
    as "a header '$h' is no triple" 'ann likes bob,bob likes cleo'
    said 'read as: triples; line 1 is the header'
    printf '%s\nann likes bob\nbob likes cleo\n' "$h" >t.txt
    as "a header '$h' is no triple with --format triples" 'ann likes bob,bob likes cleo' --format triples
done
printf 'source,target,type\nann,bob,likes\nbob,cleo,knows\n' >t.txt
as 'a header says which column is the relation' 'ann likes bob,bob knows cleo'
said 'source = column 1, target = column 2, relation = column 3'
printf 'ann bob likes\nbob cleo likes\n' >t.txt
as 'ids in column 2 are refused as relations' 'refused the second has ids of the first.*--columns source=1,target=2,relation=3.*--format triples'
printf 'ann bob likes\nbob cleo likes\n' >t.txt
as '--columns names the relation' 'ann likes bob,bob likes cleo' --columns source=1,target=2,relation=3
printf 'ann likes bob 2014\nbob likes cleo 2015\n' >t.txt
as '--columns reads triples of more columns' 'ann likes bob,bob likes cleo' --columns source=1,relation=2,target=3
printf 'ann likes bob 2014\nbob likes cleo 2015\n' >t.txt
as 'triples have no other fields' "refused column 4 as 'time'" --columns source=1,relation=2,target=3,time=4
printf '1 likes 2\n2 likes 3\n' >t.txt
as 'a word between numbers has two readings' 'refused --format triples.*--columns'
printf '1 likes 2\n2 likes 3\n' >t.txt
as '--format triples takes numbers for words' '1 likes 2,2 likes 3' --format triples
printf '1 2 friend\n2 3 foe\n' >t.txt
as 'a word after numbers is no tail' 'refused 3 columns; --columns'
printf '1 likes 2\n2 likes 3\n' >t.txt
as '--ids numbers does not apply to triples' 'refused --ids numbers: ids of triples are words' --format triples --ids numbers
printf '00260881 _hypernym 00260622\n' >t.txt
as 'numbers with zeros before them are words' '00260881 _hypernym 00260622'
printf 'source,target,when\nann,bob,2020-01-01\n' >t.txt
as 'a date in a field is refused' "refused t.txt: line 2: not a number '2020-01-01', in column 3"
printf '0 1 {}\n1 2 {}\n' >t.txt
as "Python's empty attributes are left out" '0 to 1,1 to 2'
printf 'a b {}\nb c {}\n' >t.txt
as "Python's empty attributes of words are left out" 'a to b,b to c'
printf "0 1 {'weight': 3}\n1 2 {'weight': 2, 'x': 1}\n" >t.txt
as "Python's attributes are refused" 'refused line 1: .*write_weighted_edgelist'
printf "0 1 {}\n1 2 {'weight': 2}\n" >t.txt
as "Python's attributes are refused further down" 'refused line 2: .*write_weighted_edgelist'
printf 'source,target,when\n1,2,7\n2,3,8\n' >w.csv
check 'gnn-import --columns keeps what --time names' gnn-import -q --directed --columns source=source,target=target --time when -o W w.csv
check 'gnn-import --columns stores what --time names' sh -c 'gnn-inspect W | grep -q "time i64"'

printf 'Source,Target,Type,Weight\n1,2,Directed,1.5\n2,3,Directed,2\n' >t.txt
as 'words in a field are refused with the way to leave them out' "refused line 2: not a number 'Directed', in column 3 (--map =Type leaves it out)"
as '--map leaves out a field of words' '1 to 2 1.5,2 to 3 2' --map =Type
printf 'source target\n1 0 1\n2 1 2\n' >t.txt
as 'names of rows without a name, as R writes them, are refused' 'refused line 2: 3 fields, but line 1 has 2'

# Ids.
printf '007 7\n7 7.0\n' >t.txt
as 'each spelling is a node' '007 to 7,7 to 7.0'
printf '1.0 2.0\n2 3\n' >t.txt
as 'fractions are no ids' "refused line 1: not an id '1.0' (ids are plain integers, or words with --ids words)"
printf '1 2\n+1 1e5\n' >t.txt
as '--ids words takes any spelling' '+1 to 1e5,1 to 2' --ids words
printf '1 2\n+1 1e5\n' >t.txt
as 'a sign is refused' "refused line 2: not an id '+1'"
printf '1 2\n3 x\n' >t.txt
as '--ids numbers refuses words' "refused line 2: not a number, where ids are numbers: 'x'" --ids numbers
printf '18446744073709551616 1\n' >t.txt
as 'numbers beyond 2^63 are words' '18446744073709551616 to 1'
printf '9223372036854775807 1\n' >t.txt
as 'the largest number is one' '9223372036854775807 to 1'
printf '1,2\n,3\n' >t.txt
as 'an empty id is refused' 'refused line 2: an empty id'
printf 'ann,2\nbob,""\n' >t.txt
as 'an empty id among words is refused by line and column' 'refused line 2: column 2: the id is empty'
printf 'a\001b c\nd e\n' >t.txt
as 'a control character in an id is refused' "refused line 1: column 1: the id has a control character: 'a.u0001b'" --format csv
printf 'caf\351 b\nb c\n' >t.txt
as 'Latin-1 is refused with a remedy' 'refused line 1: column 1: the id is not UTF-8.*iconv -f ISO-8859-1'
printf 'caf\303\251 b\nb c\n' >t.txt
as 'UTF-8 is read' 'b to c,café to b'
printf '1 2\nNA 3\n' >t.txt
as 'a missing id among numbers is refused' "refused line 2: not an id 'NA'"
printf 'DE NA\nNA FR\n' >t.txt
as 'NA among words is a word' 'DE to NA,NA to FR'
printf '"New York","Paris, TX"\n"Paris, TX","a ""b"""\n' >t.txt
as 'quoted ids have blanks, separators and quotes' 'New_York to Paris,_TX,Paris,_TX to a_"b"'
printf 'New York, NY\tBoston, MA\nBoston, MA\tNew York, NY\n' >t.txt
as 'tabs separate before commas' 'Boston,_MA to New_York,_NY,New_York,_NY to Boston,_MA'
printf 'source;target;weight\n1;2;0,5\n' >t.txt
as 'semicolons separate before commas' "refused t.txt: line 2: not a number '0,5', in column 3 (--map =weight leaves it out)"
printf 'a b\nc\n' >t.txt
as 'rows of other numbers of fields are refused' 'refused line 2: 1 field, but line 1 has 2'
printf 'ann bob\nbob cleo\n' >t.txt
as '--nodes does not count words' 'refused --nodes.*ids are words' --nodes 3
printf 'ann bob\nbob ann\nann cleo\n' >w.txt
check 'gnn-import -u --dedup reads words' gnn-import -q -u --dedup --self-loops add -o W --force w.txt
check 'gnn-import -u --dedup stores each edge of words once' sh -c 'gnn-inspect --json W | grep -q "\"count\": 7,"'

# Line 1 that is neither a row nor a header like others.
printf '5 4\n1 2\n2 3\n3 1\n4 2\n' >t.txt
as 'a line of counts is refused' "refused t.txt: line 1: '5 4' is an edge, or the numbers of nodes and of edges.*--header no"
as '--header no takes it for an edge' '1 to 2,2 to 3,3 to 1,4 to 2,5 to 4' --header no
printf '# counts\n3 7\n0 1\n1 2\n2 0\n0 2\n2 1\n1 0\n1 1\n' >t.txt
as 'a line of more edges than nodes is refused' "refused t.txt: line 2: '3 7' is an edge, or the numbers"
printf '5 3\n1 2\n2 3\n3 1\n4 2\n' >t.txt
as 'a line of other counts is an edge' '1 to 2,2 to 3,3 to 1,4 to 2,5 to 3'
printf '5 4\n1 2\n2 6\n3 1\n4 2\n' >t.txt
as 'a line of too few nodes is an edge' '1 to 2,2 to 6,3 to 1,4 to 2,5 to 4'
printf '2 3\n3 4\n4 2\n2 4\n' >t.txt
as 'counts below an id are none' '2 to 3,2 to 4,3 to 4,4 to 2'
printf '1,2\nsource,target\n2,3\n' >t.txt
as 'a header among rows of numbers is refused' "refused t.txt: line 2: 'source' and 'target' are a header"
as '--ids words takes it for an edge' '1 to 2,2 to 3,source to target' --ids words
printf ',0,1\n0,5,6\n1,6,7\n' >t.txt
as 'the numbers of columns behind an empty cell are a header' '5 to 6,6 to 7' --columns source=0,target=1
printf '0,1\na,b\nb,c\n' >t.txt
as 'the numbers of columns above words are refused' 'refused t.txt: line 1 has the numbers of the columns'
as '--header no takes them for ids' '0 to 1,a to b,b to c' --header no
printf '0,1\n1,2\n' >t.txt
as 'the first edge of many is no header' '0 to 1,1 to 2'
printf 'Unnamed: 0,source,target\n0,5,6\n1,6,7\n' >t.txt
as 'a column that pandas has named is left out' '5 to 6,6 to 7'
printf '5,6,\n6,7,\n' >t.txt
as 'an empty last column is left out' '5 to 6,6 to 7'
printf '5,6,\n6,7,1\n' >t.txt
as 'a last column that is not empty is not' 'refused t.txt: 3 columns'
printf '(0, 0) (0, 1)\n(0, 1) (1, 1)\n' >t.txt
as 'tuples of Python are refused' "refused t.txt: line 1: nodes in Python's notation, '(0, ...'"
printf '1::2::5\n2::3::4\n' >t.txt
as 'an unknown separator is told' "refused t.txt: line 1: one column, '1::2::5': fields are separated by"
printf 'source,target,Paid Amount\n1,2,3\n' >t.txt
as 'a column that cannot be a field is told with what can be done' "refused t.txt: field name 'Paid Amount' has a blank.*--map NEW='Paid Amount'"
as '--map gives it another name' '1 to 2 3' --map 'score=Paid Amount'
printf 'movieId,userId,rating\n1,2,3\n5,2,3\n' >t.txt
check 'columns called like the types of --edge-type are ends' gnn-import -q -o MV --edge-type user/rated/movie t.txt
check 'columns called like types are ends by name' sh -c 'gnn-inspect MV | grep -q "nodes  *user  *1$" && gnn-inspect MV | grep -q "nodes  *movie  *2$"'
as 'without --edge-type, they are not' 'refused t.txt: no column is the source'

# Comments, or words that begin like them.
printf '#py #c\n#c #go\n' >t.txt
as 'a table of hashtags is refused' 'refused line 1 is a comment.*--comments yes or no'
printf '#py #c\n#c #go\n' >t.txt
as '--comments no reads hashtags' '#c to #go,#py to #c' --comments no
printf 'c go\n#py #c\n' >t.txt
as '--comments yes leaves out lines' 'c to go' --comments yes
printf '#source target\nann bob\n' >t.txt
as 'names behind a comment sign are a comment' 'ann to bob'
printf '%% sym\n%% 2 3 3\n1 2\n2 3\n' >t.txt
as 'lines that begin with % are comments' '1 to 2,2 to 3'
printf '# c\n%% d\n1 2\n#3 4\n' >t.txt
as 'among numbers, no line that begins with # is a row' '1 to 2'

# What the first rows say does not hold: the rest is looked at.
seq 1 5000 | awk '{ print $1, $1 + 1 }' >long.txt
{ cat long.txt; echo 'x7 1'; } >late.txt
check 'gnn-import reads a word in the last of many lines' sh -c 'gnn-import --directed -o L late.txt 2>said'
said "read as: edges by name, as line 5001 has 'x7'; line 1 is no header"
check 'gnn-import stores the word in the last of many lines' sh -c 'perl "$0" dump L | grep -qx "x7 to 1" && [ "$(perl "$0" dump L | wc -l)" = 5001 ]' "$pl"
{ cat long.txt; echo '7'; } >late.txt
refuses 3 'late.txt: line 5001: 1 field, but line 1 has 2' 'a short line after many' gnn-import -o bad late.txt
{ echo 'source,target,weight'; sed 's/ /,/; s/$/,1/' long.txt; echo '1,2,NA'; } >late.txt
refuses 3 'late.txt: line 5002: weight is missing' 'a missing weight after many' gnn-import -o bad late.txt
{ echo 'source,target' && sed 's/ /,/' long.txt && echo '007,5'; } >late.txt
check 'gnn-import reads an id with zeros after many' sh -c 'gnn-import --directed -o Z late.txt 2>said'
said "read as: edges by name, as line 5002 has '007'; line 1 is the header"
check 'gnn-import stores its zeros' sh -c 'perl "$0" dump Z | grep -qx "007 to 5"' "$pl"
check 'gnn-import --ids numbers reads it as a number' sh -c 'gnn-import -q --directed --ids numbers -o Y late.txt && perl "$0" dump Y | grep -c "^7 to" | grep -qx 2' "$pl"
{ cat long.txt && echo 'x 1'; } >late.txt
refuses 2 'late.txt: line 5001: ids are words, which cannot be counted' 'a word after many with --nodes N' gnn-import --nodes 6000 -o bad late.txt
{ sed 's/$/ {}/' long.txt && echo "1 2 {'w':3}"; } >late.txt
refuses 3 "late.txt: line 5001: attributes in Python's notation" 'a dict after many that are empty' gnn-import -o bad late.txt
{ sed 's/$/ {}/' long.txt && echo '1 2 3'; } >late.txt
refuses 3 'late.txt: 3 columns; --columns must say what they are' 'a number after many empty dicts' gnn-import -o bad late.txt
printf '1 2\n"1 "2"\n' >t.txt
as 'text right behind a closing quote is refused' 'refused line 2: a quote is not closed'
printf 'a b\n# c\n\nc d\0e\n' >t.txt
as 'a byte of value 0 is refused' 'refused t.txt: ' --comments yes
{ cat long.txt && printf '1 2\0\n'; } >late.txt
refuses 3 'late.txt: line 5001: a byte of value 0, which is no text' 'a byte of value 0 after many lines' gnn-import -o bad late.txt
printf 'source,target,w\n1,2,3\n' >map.csv && long=$(printf '%01000d' 0 | tr 0 x)
refuses 3 "map.csv: field name 'x*...' has 127 bytes, more than 48" 'a new name of 1000 bytes' gnn-import --map "$long=w" -o bad map.csv
refuses 3 'map.csv: no column is the source' 'a new name of 1000 bytes for an end' gnn-import --map "$long=source" -o bad map.csv
head -c 268435456 /dev/zero | tr '\0' 7 | gzip -1 >wide.gz
refuses 3 'wide.gz: line 1: longer than 268435456 bytes' 'a line of more than 256 MiB' gnn-import -o bad wide.gz
refuses 2 'header does not apply to the format mtx' '--header of a matrix' gnn-import --header yes --format mtx -o bad w.csv
status 0 'gnn-import -q reads words' gnn-import -q -o Q w.txt
check 'gnn-import -q does not say how it reads' test ! -s err
done_testing
