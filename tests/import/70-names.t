# SPDX-License-Identifier: Apache-2.0
# Relations called as people call them: long, with slashes, dots, blanks, quotes and letters of any script, through the whole chain.
. "$GNN_TOP/tests/lib.sh"

# 237 relations between 40 nodes, with names as in Freebase and worse.
cat >names.pl <<'END'
my @rel = ('/film/actor/film./film/performance/film', 'a b [c] (d) {e}', q(it's "quoted"), 'x=1,y=2:z', 'Größe/日本/🎬', '..', '../../etc',
    '%s%n%d', '<a___b>', '-1', '\\back\\', 'r' x 1000, 'ü' x 500);
push @rel, map { "/dom$_/type/prop./dom$_/rel" } 1 .. 236 - @rel;
srand 1;
for my $r (@rel) { print join("\t", 'n' . int rand 40, $r, 'n' . int rand 40), "\n" for 1 .. 3 }
print join("\t", "n$_", 'to', 'n' . ($_ + 1) % 40), "\n" for 0 .. 39;
END
perl names.pl >kg.txt
perl -e 'print $_ % 3, "\n" for 1 .. 40' >y.csv
perl -e 'print join(",", $_ % 3, $_ % 5), "\n" for 1 .. 40' >x.csv
check "gnn-import reads 237 relations" gnn-import -q --format triples --labels y.csv --features x.csv --split random:0.5,0.25,0.25 -o kg kg.txt
check "gnn-inspect --verify finds a store of 237 relations sound" gnn-inspect --verify kg
check "gnn-import keeps the names of 237 relations" perl -MJSON::PP -e '
    my $names = sub { open my $f, "<", $_[0] or die; my %n; while (<$f>) { chomp; $n{(split /\t/)[1]}++ } \%n }->("kg.txt");
    my $r = decode_json(scalar `gnn-inspect --json kg`);
    utf8::encode($_->{name}) for @{$r->{edge_types}};
    my %got = map { ($_->{name} =~ m{^node/(.*)/node$}s)[0] => $_->{count} } @{$r->{edge_types}};
    keys %got == 237 && keys %$names == 237 or die;
    $got{$_} == $names->{$_} or die "$_\n" for keys %$names'
check "gnn-partition divides a store of 237 relations" gnn-partition -q -k 3 -o three kg
check "gnn-inspect --verify finds 237 relations in partitions the same graph" gnn-inspect --verify --against kg three
check "gnn-sample -f gives relations with odd names fan-outs of their own" \
    sh -c "gnn-sample -q kg -f 2,2 -f 'node/x=1,y=2:z/node=2,1' -f 'node/Größe/日本/🎬/node=1,0' \
    -f 'node//film/actor/film./film/performance/film/node=-1,-1' --edge-ids --original-ids -b 8 -o kg.gnb"
check "gnn-sample draws the same from the partitions of 237 relations" \
    sh -c "gnn-sample -q three -f 2,2 -f 'node/x=1,y=2:z/node=2,1' -f 'node/Größe/日本/🎬/node=1,0' \
    -f 'node//film/actor/film./film/performance/film/node=-1,-1' --edge-ids --original-ids -b 8 -o three.gnb &&
    gnn-inspect --diff --original --store kg kg.gnb --store three three.gnb"
status 2 "gnn-sample -f refuses a relation that the store lacks" gnn-sample -q kg -f 2,2 -f 'node/film/node=1,1' -o none
check "gnn-gather gathers for batches of 237 relations" gnn-gather -q kg --fields x,y,degree -i kg.gnb -o rows.gnb
check "gnn-inspect --verify finds gathered batches of 237 relations sound" gnn-inspect --verify --against kg rows.gnb
for model in sage gcn; do
    check "gnn-train --model $model learns from a stream of 237 relations" gnn-train -q --model $model --hidden 4 -i rows.gnb -o $model.stream
    check "gnn-train --model $model learns from a store of 237 relations" \
        gnn-train -q --model $model --store kg -f 2,2 -b 8 --epochs 1 --hidden 4 -o $model
    check "gnn-predict applies a $model model to 237 relations" gnn-predict -q -o $model.npy kg $model
    check "gnn-predict gives the same classes by a $model model for the partitions of 237 relations" \
        sh -c "gnn-predict -q -o $model.3.npy three $model && cmp $model.npy $model.3.npy"
done
check "gnn-train names the parameters of relations as PyG does" perl -MJSON::PP -0777 -ne '
    my $j = decode_json(substr $_, 8, unpack "Q<", $_);
    $j->{"convs.0.convs.<node___/film/actor/film#/film/performance/film___node>.lin_l.weight"} or die;
    $j->{"convs.0.convs.<node___" . "r" x 1000 . "___node>.lin_r.weight"} or die' sage
check "gnn-inspect --export writes a store of 237 relations" gnn-inspect --raw --export kg.npz kg
python=
for p in python3 /usr/bin/python3; do
    $p -c 'import numpy' 2>/dev/null && python=$p && break
done
if [ -n "$python" ]; then
    check "NumPy finds the names of 237 relations in what gnn-inspect exports" "$python" -B "$GNN_TOP/tests/interop/roundtrip.py" export kg kg.npz
else
    skip "NumPy finds the names of 237 relations in what gnn-inspect exports" "no numpy"
fi

# What cannot be a name.
bad() { # NAME WHY RELATION
    printf 'a\tr\tb\na\t%b\tb\n' "$3" >bad.txt
    status 3 "gnn-import refuses a relation name $1" gnn-import --format triples -o bad bad.txt
    mv err said
    check "gnn-import says in one line why it refuses a relation name $1" \
        sh -c "[ \$(wc -l <said) = 1 ] && LC_ALL=C grep -aq 'bad.txt: line 2: relation name .*$2' said && [ ! -e bad ]"
}
long=$(printf '%01001d' 0)
bad "of 1001 bytes" "1001 bytes, more than 1000" "$long"
bad "with a control character" "control character" 'a\001b'
bad "that is not UTF-8" "not UTF-8" '\0377'
printf 'a\tr\tb\na\ta\0b\tb\n' >bad.txt
refusing=gnn-import
refuses 3 'bad.txt: line 2: a byte of value 0, which is no text' 'a relation name with a NUL' gnn-import --format triples -o bad bad.txt

# Typed graphs, whose node types have such names too.
mkdir -p typed/raw/relations typed/raw/node-label typed/raw/node-feat
a='Ort/a b' r='ist (in)/[bei]' b='größe'
for rel in "$a,$r,$b" "$b,$r 2,$b"; do
    printf '%s\n' "$rel"
done >typed/raw/triplet-type-list.csv
printf '%s,%s\n3,4\n' "$a" "$b" >typed/raw/num-node-dict.csv
printf '%s,%s\nFalse,False\n' "$a" "$b" >typed/raw/nodetype-has-feat.csv
printf '%s,%s\nTrue,False\n' "$a" "$b" >typed/raw/nodetype-has-label.csv
mkdir -p "typed/raw/relations/${a}___${r}___$b" "typed/raw/relations/${b}___$r 2___$b" "typed/raw/node-label/$a"
printf '0,3\n1,2\n2,0\n' >"typed/raw/relations/${a}___${r}___$b/edge.csv"
echo 3 >"typed/raw/relations/${a}___${r}___$b/num-edge-list.csv"
printf '0,3\n' >"typed/raw/relations/${b}___$r 2___$b/edge.csv"
echo 1 >"typed/raw/relations/${b}___$r 2___$b/num-edge-list.csv"
printf '0\n1\n0\n' >"typed/raw/node-label/$a/node-label.csv"
check "gnn-import -u reads node types with odd names" gnn-import -q -u -o typed.gnn --split random:0.4,0.3,0.3 typed
check "gnn-inspect --verify finds a store of node types with odd names sound" gnn-inspect --verify typed.gnn
check "gnn-partition divides a store of node types with odd names" \
    sh -c 'gnn-partition -q -k 2 -o typed.2 typed.gnn && gnn-inspect --verify --against typed.gnn typed.2'
check "gnn-train learns from node types with odd names" \
    gnn-train -q --store typed.2 -f 2,2 -f "$a/$r/$b=1,1" --epochs 1 --hidden 4 --batch-norm -o typed.model
done_testing
