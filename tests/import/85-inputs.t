# SPDX-License-Identifier: Apache-2.0
# Several files: parts of one table, files that are no data, members by name, and what is refused, by a line that says why.
. "$GNN_TOP/tests/lib.sh"
imp() { gnn-import --no-provenance "$@"; }
same() { # NAME WANT INPUT...: the store of WANT
    what=$1 want=$2
    shift 2
    rm -rf L R
    check "gnn-import reads $what" imp "$@" -o R
    cp err said
    check "gnn-import reads $what as one file" sh -c 'gnn-import --no-provenance -o L "$0" && cmp L/part-00000.gnb R/part-00000.gnb' "$want"
}
says() { # NAME PATTERN INPUT...: status 3, and one line that says so
    what=$1 pattern=$2
    shift 2
    status 3 "gnn-import refuses $what" imp "$@" -o bad
    what="gnn-import says what is wrong with $what"
    if [ "$(wc -l <err)" -eq 1 ] && grep -q -- "^gnn-import: .*$pattern" err && [ ! -e bad ]; then _ok "$what"; else
        _not_ok "$what"
        sed 's/^/# /' err
    fi
}
told() { check "gnn-import says: $1" grep -q -- "$1" said; }

# Parts, as Spark writes them, with and without a header.
mkdir parts headed
printf '0,1\n1,2\n' >parts/part-00000.csv
printf '2,3\n3,0\n' >parts/part-00001.csv
cat parts/part-0* >all.csv
same 'two parts' all.csv parts/part-00000.csv parts/part-00001.csv
told 'one table in 2 parts, from part-00000.csv to part-00001.csv'
same 'parts with --format csv' all.csv --format csv parts/part-00000.csv parts/part-00001.csv
same 'a directory of parts' all.csv parts
: >parts/_SUCCESS && : >parts/._SUCCESS.crc && printf 'crc\0' >parts/.part-00000.csv.crc && : >parts/part-00002.csv
same 'a directory of parts with what Spark leaves there' all.csv parts
told 'not read: .*_SUCCESS'
told 'not read: .*part-00002.csv'
printf '3,0\n2,3\n1,2\n0,1\n' >back.csv
printf '1,2\n0,1\n' >p0 && printf '3,0\n2,3\n' >p1
same 'parts in the order in which they are given' back.csv p1 p0
printf 'source,target\n1,2\n2,3\n' >q0.csv
printf 'source,target\n3,1\n4,2\n' >q1.csv
printf 'source,target\n3,1\n4,2\n1,2\n2,3\n' >back2.csv
same 'parts with headers in the order in which they are given' back2.csv q1.csv q0.csv
for p in 0 1 2; do printf 'source,target,weight\n%s,%s,0.5\n' $p $((p + 1)) >headed/part-0000$p.csv; done
(cat headed/part-00000.csv && sed 1d headed/part-00001.csv && sed 1d headed/part-00002.csv) >headed.csv
same 'parts that all have the header' headed.csv headed
for f in headed/*; do sed -i 's/$/\r/' $f; done
same 'parts with carriage returns' headed.csv headed
mkdir marked
for f in headed/*; do { printf '\357\273\277' && cat $f; } >marked/"${f#*/}"; done
same 'parts with byte order marks' headed.csv marked
mkdir marks && for p in 0 1; do { printf '\357\273\277' && cat parts/part-0000$p.csv; } >marks/part-$p.csv; done
same 'parts with byte order marks and without a header' all.csv marks
gzip headed/part-00001.csv
same 'parts some of which are gzipped' headed.csv headed/part-00000.csv headed/part-00001.csv.gz headed/part-00002.csv
gzip headed/part-0000[02].csv
same 'a directory of gzipped parts' headed.csv headed
tar cf headed.tar headed && bsdtar --format zip -cf headed.zip headed 2>zip.out || cp headed.tar headed.zip
same 'parts in a tar archive' headed.csv headed.tar
same 'parts in a zip archive' headed.csv headed.zip
mkdir first && printf 'source,target\n0,1\n' >first/e_1.csv && printf '1,2\n' >first/e_2.csv && printf '2,0' >first/e_10.csv
(cat first/e_1.csv first/e_10.csv && echo && cat first/e_2.csv) >first.csv
same 'parts the first of which has the header, in the order of names' first.csv first
mkdir sub && mkdir sub/a sub/b && cp p0 sub/a/part-0 && cp p1 sub/b/part-0
same 'parts of one name in two directories' back.csv sub/b/part-0 sub/a/part-0
printf '0\n1\n2\n' | split -l 1 - cut. && sed 's/$/ 5/' cut.aa >x.aa && sed 's/$/ 6/' cut.ab >x.ab && mkdir split && mv x.aa x.ab split
printf '0 5\n1 6\n' >split.txt
same 'parts that split(1) made' split.txt split

mkdir diff && printf 'source,target\n0,1\n' >diff/part-0.csv && printf 'target,source\n1,2\n' >diff/part-1.csv
says 'parts with columns in another order' "diff: part-0.csv begins with 'source,target', and part-1.csv with 'target,source': parts of one table have the same columns" diff
printf '1,2\n' >diff/part-0.csv
says 'a header in the second part only' 'diff: part-0.csv begins with .* only the first' diff
printf '1,2,3\n' >diff/part-1.csv
says 'parts with more columns' "part-1.csv with '1,2,3': parts of one table" diff
printf '2,3\n3,4\n' >diff/part-1.csv && printf '4,5\nx\n' >diff/part-2.csv
says 'a bad line in the third part, which it names' 'diff/part-2.csv: line 2: ' diff
mkdir year=2020 && printf '0,1\n' >year=2020/part-0.csv && mkdir hive && mv year=2020 hive && mkdir hive/year=2021 && printf '1,2\n' >hive/year=2021/part-0.csv
says 'directories whose names are a column' 'hive: year=20.*: the name of its directory is a column' hive
mkdir two && printf '0,1\n' >two/follows.csv && printf '1,2\n' >two/likes.csv
says 'two tables that are no parts' 'two: 2 files, which are not parts of one table: follows.csv and likes.csv; name the one that holds the edges$' two
tar cf two.tar two
says 'two tables in an archive' 'two.tar: 2 files.*; name the one that holds the edges, as ARCHIVE:MEMBER' two.tar

# What is no data is left out and named; members are read by name.
mkdir -p box/__MACOSX box/docs
cp all.csv box/edges.csv
for f in README.md LICENSE README.karate meta.karate .DS_Store docs/paper.pdf edges.csv.md5 load.py __MACOSX/._edges.csv; do echo "text of $f" >box/$f; done
tar cf box.tar box && (cd box && tar cf ../flat.tar .)
same 'a table with companions' all.csv box
told 'not read: .* and [1-9] more'
same 'a table with companions in an archive' all.csv box.tar
told 'not read: .*README'
same 'a table with companions at the top of an archive' all.csv flat.tar
same 'a member of an archive' all.csv flat.tar:edges.csv
same 'a member of an archive below a directory' all.csv box.tar:box/edges.csv
gzip -nk box.tar && same 'a member of a gzipped archive' all.csv box.tar.gz:box/edges.csv
same 'a member of a directory' all.csv box:edges.csv
same 'the parts below a directory of an archive' headed.csv headed.tar:headed
tar cf nested.tar box.tar two.tar
same 'an archive in an archive, by its name' all.csv nested.tar:box.tar
says 'an archive in an archive' 'nested.tar: 2 files' nested.tar
tar cf lone.tar box.tar
says 'a lone archive in an archive, whose name it tells' 'lone.tar: box.tar: an archive in an archive, which is read by its name: lone.tar:box.tar$' lone.tar
cp all.csv 'a:b.csv' && same 'a file with a colon in its name' all.csv a:b.csv
cp box.tar 'c:d.tar' && same 'a member of an archive with a colon in its name' all.csv c:d.tar:box/edges.csv
cp all.csv sbm:nodes=3 && same 'a file that is named like a generator' all.csv ./sbm:nodes=3
rm sbm:nodes=3
says 'a member that is not there' "no member 'box/edge.csv'; did you mean 'box/edges.csv'? members: " box.tar:box/edge.csv
says 'a member of a file that is not there' 'no-such.tar:box/edges.csv: no such file, and no such generator' no-such.tar:box/edges.csv
status 2 'gnn-import refuses a member among several inputs' imp -o bad all.csv box.tar:box/edges.csv
mkdir none && echo text >none/README.md && echo text >none/LICENSE
says 'a directory of companions only' 'none: nothing in it is data: .*README.md' none
printf 'x,y\n1,2\n3,4\n5,6\n7,8\n' | sed 1d >x.csv && tar cf x.tar x.csv all.csv
check 'gnn-import takes features from a member of an archive' imp --features x.tar:x.csv x.tar:all.csv -o XF
mkdir kinds && cp all.csv kinds && printf 'PAR1\025\004PAR1' >kinds/x.parquet
says 'a table beside Parquet' 'x.parquet: this is Parquet' kinds
printf '\001\002\000\003' >kinds/x.parquet
says 'a table beside a binary file' 'kinds: 2 files, which are not parts of one table: all.csv and x.parquet, which is no text' kinds

printf 'id,f\n3,1\n2,5\n1,4\n0,2\n' >nodes.csv && tar cf n.tar all.csv nodes.csv
check 'gnn-import takes a table of nodes from a member of an archive' imp --nodes n.tar:nodes.csv n.tar:all.csv -o NT
check 'gnn-import takes a column of ids of a member of an archive' imp --nodes n.tar:nodes.csv:id n.tar:all.csv -o NC
check 'gnn-import takes the same table of nodes as a file' imp --nodes nodes.csv all.csv -o NF
check 'gnn-import makes the same of a table of nodes in an archive' sh -c 'cmp NT/part-00000.gnb NF/part-00000.gnb && cmp NC/part-00000.gnb NF/part-00000.gnb'

# A table of nodes beside the edges; triples with dictionaries.
mkdir pair kg
printf 'source,target\n0,1\n1,2\n' >pair/edges.csv
printf 'id,f1,label\n0,0.5,1\n1,0.25,0\n2,1,1\n' >pair/nodes.csv
check 'gnn-import reads the edges and the table of nodes' imp --nodes pair:nodes.csv -o PAIR pair:edges.csv
check 'gnn-import reads a table of nodes beside the edges' imp -o PAIR2 pair
check 'gnn-import reads a table of nodes as an input' imp -o PAIR3 pair/nodes.csv pair/edges.csv
for names in 'citing,cited' 'User ID;Item ID' 'Source,to'; do
    mkdir named && cp pair/nodes.csv named
    sep=$(printf %s "$names" | tr -dc ',;')
    printf '%s\n' "$names" "0${sep}1" "1${sep}2" >named/edges.csv
    check "gnn-import reads a table of nodes beside edges with the header '$names'" imp -o NAMED named
    check 'and finds the features' sh -c 'gnn-inspect NAMED | grep -q "3: x f32"'
    rm -r named NAMED
done
tar cf pair.tar pair
check 'gnn-import reads a table of nodes beside the edges of an archive' imp -o PAIR4 pair.tar
check 'gnn-import makes the same of all of them' sh -c 'for i in 2 3 4; do cmp PAIR/part-00000.gnb PAIR$i/part-00000.gnb || exit 1; done'
mkdir pair5 && cp pair/nodes.csv pair5 && sed '1s/.*/"Follower";"Followee"/; 2,$s/,/;/' pair/edges.csv >pair5/edges.csv
check 'gnn-import knows a table of edges beside nodes by the names it knows alone' imp -o PAIR5 pair5
check 'gnn-import makes the same of it' cmp PAIR/part-00000.gnb PAIR5/part-00000.gnb
printf 'a,b\n1,2\n' >pair/other.csv
says 'a table beside the edges that has no ids' "other.csv: none of its 2 columns is called like ids: --nodes .*other.csv:COLUMN names it" pair
printf 'ann\tlikes\tbob\n' >kg/train.txt
printf 'bob\tlikes\tcleo\n' >kg/valid.txt
printf 'cleo\tlikes\tann\n' >kg/test.txt
printf '0\tann\n1\tbob\n2\tcleo\n' >kg/entities.dict
printf '0\tlikes\n' >kg/relations.dict
check 'gnn-import reads triples with dictionaries' imp kg -o KG
cp err said
told 'not read: entities.dict, relations.dict'
check 'gnn-import reads triples by the names of their files' imp kg/train.txt kg/valid.txt kg/test.txt -o KG2
check 'gnn-import makes the same of triples with dictionaries and without' cmp KG/part-00000.gnb KG2/part-00000.gnb
mkdir bare && for f in train valid test; do cp kg/$f.txt bare/$f; done
check 'gnn-import reads triples in files without extensions' imp bare -o KG3
check 'gnn-import makes the same of them' cmp KG/part-00000.gnb KG3/part-00000.gnb
mkdir links && printf '0\t1\n' >links/train.txt && printf '1\t2\n' >links/test.txt
says 'sets of edges' "links: files named train, valid and test are triples, of three columns; but test.txt begins with '1\\\\u00092'" links
mkdir gcn && printf '0 1 2 3\n1 4\n' >gcn/train.txt && printf '0 5\n1 6 7\n' >gcn/test.txt
says 'sets of neighbours' 'test.txt: this is an adjacency list' gcn
mkdir pyg pyg/raw && printf '\200\004\225\020\0\0\0\0\0\0\0}' >pyg/raw/ind.cora.x && cp all.csv pyg/raw/other.csv
says 'a raw directory that is not of OGB' 'ind.cora.x: this is a pickle' pyg

# Bad inputs.
: >empty.csv && printf '\n\n  \n' >blank.csv && printf '# one\n#two\n' >comments.csv
says 'an empty file' 'empty.csv: empty' empty.csv
says 'blank lines' 'blank.csv: no edges' blank.csv
says 'comments' 'comments.csv: no edges' comments.csv
mkdir void && : >void/a.csv && : >void/b.csv
says 'a directory of empty files' 'void: all files in it are empty' void
mkdir nothing && tar cf nothing.tar nothing
says 'an empty directory' 'nothing: the directory is empty' nothing
says 'an archive of no members' 'nothing.tar: the archive is empty' nothing.tar
mkdir loop && ln -s ../loop loop/self && cp all.csv loop
says 'a directory that contains itself' 'directories more than 8 deep, or a loop of links' loop
ln -s round round
says 'a link to itself' 'round: cannot open' round
mkdir dangling && ln -s nowhere dangling/edges.csv
says 'a link to nothing in a directory' 'dangling/edges.csv: cannot open' dangling
mkdir pipes && mkfifo pipes/p && cp all.csv pipes
same 'a table beside a FIFO' all.csv pipes
told 'not read: p$'
mkfifo fifo
check 'gnn-import reads a FIFO' sh -c 'gzip -c all.csv >fifo & gnn-import --force -o piped fifo'
check 'gnn-import reads what was written to it' sh -c 'gnn-import -q --force -o plain all.csv && gnn-inspect --diff --ignore provenance piped plain'
status 2 'gnn-import refuses a directory among several inputs' imp -o bad all.csv box
cp all.csv closed.csv && chmod 0 closed.csv
if [ -r closed.csv ]; then skip 'gnn-import refuses a file that it may not read' 'root reads all files'; else
    status 1 'gnn-import refuses a file that it may not read' imp -o bad closed.csv
fi
if command -v zstd >which.out; then
    seq 1 5000 | sed 's/.*/& &1/' >long.txt
    zstd -q long.txt && head -c 3000 long.txt.zst >cut.txt.zst
    says 'zstd data that is cut' 'cut.txt.zst: ' cut.txt.zst
else skip 'gnn-import refuses zstd data that is cut' 'no zstd'; fi
printf 'not packed\n' >text.gz && printf '0 1\n1 2\n' >plain.gz
says 'text that is named like an archive' 'text.tar: cut short in its first bytes, or not an archive' "$(printf 'some text\n' >text.tar && echo text.tar)"
same 'a table that is named like a packed one' plain.gz plain.gz
printf '\001\002 \003\004\n\005 \006\n' >noise
says 'noise' 'noise: unknown format: neither text nor known by its first bytes; what is read: ' noise
perl -e 'mkdir "many"; for (0 .. 100000) { open my $f, ">", "many/p$_.csv" or die; }' &&
    says 'a directory of 100,001 files' 'many: more than 100000 members' many
rm -rf many
done_testing
