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
check "237 relations are imported" gnn-import -q --format triples --labels y.csv --features x.csv --split random:0.5,0.25,0.25 -o kg kg.txt
check "and sound" gnn-inspect --verify kg
check "under the names that they have" perl -MJSON::PP -e '
    my $names = sub { open my $f, "<", $_[0] or die; my %n; while (<$f>) { chomp; $n{(split /\t/)[1]}++ } \%n }->("kg.txt");
    my $r = decode_json(scalar `gnn-inspect --json kg`);
    utf8::encode($_->{name}) for @{$r->{edge_types}};
    my %got = map { ($_->{name} =~ m{^node/(.*)/node$}s)[0] => $_->{count} } @{$r->{edge_types}};
    keys %got == 237 && keys %$names == 237 or die;
    $got{$_} == $names->{$_} or die "$_\n" for keys %$names'
check "partitioned" gnn-partition -q -k 3 -o three kg
check "and the same graph" gnn-inspect --verify --against kg three
check "sampled, with fan-outs of their own" sh -c "gnn-sample -q kg -f 2,2 -f 'node/x=1,y=2:z/node=2,1' -f 'node/Größe/日本/🎬/node=1,0' \
    -f 'node//film/actor/film./film/performance/film/node=-1,-1' --edge-ids --original-ids -b 8 -o kg.gnb"
check "the same from the parts" sh -c "gnn-sample -q three -f 2,2 -f 'node/x=1,y=2:z/node=2,1' -f 'node/Größe/日本/🎬/node=1,0' \
    -f 'node//film/actor/film./film/performance/film/node=-1,-1' --edge-ids --original-ids -b 8 -o three.gnb &&
    gnn-inspect --diff --original --store kg kg.gnb --store three three.gnb"
status 2 "a relation that is not there" gnn-sample -q kg -f 2,2 -f 'node/film/node=1,1' -o none
check "gathered" gnn-gather -q kg --fields x,y,degree -i kg.gnb -o rows.gnb
check "and sound" gnn-inspect --verify --against kg rows.gnb
for model in sage gcn; do
    check "$model learns from the stream" gnn-train -q --model $model --hidden 4 -i rows.gnb -o $model.stream
    check "$model learns from the store" gnn-train -q --model $model --store kg -f 2,2 -b 8 --epochs 1 --hidden 4 -o $model
    check "$model predicts" gnn-predict -q -o $model.npy kg $model
    check "$model predicts the same of the parts" sh -c "gnn-predict -q -o $model.3.npy three $model && cmp $model.npy $model.3.npy"
done
check "parameters are called as PyG would" perl -MJSON::PP -0777 -ne '
    my $j = decode_json(substr $_, 8, unpack "Q<", $_);
    $j->{"convs.0.convs.<node___/film/actor/film#/film/performance/film___node>.lin_l.weight"} or die;
    $j->{"convs.0.convs.<node___" . "r" x 1000 . "___node>.lin_r.weight"} or die' sage
check "exported" gnn-inspect --export kg.npz kg
python=
for p in python3 /usr/bin/python3; do
    $p -c 'import numpy' 2>/dev/null && python=$p && break
done
if [ -n "$python" ]; then
    check "NumPy finds all names in it" "$python" -B "$GNN_TOP/tests/interop/roundtrip.py" export kg kg.npz
else
    skip "NumPy finds all names in it" "no numpy"
fi

# What cannot be a name.
bad() { # NAME WHY RELATION
    printf 'a\tr\tb\na\t%b\tb\n' "$3" >bad.txt
    status 3 "$1" gnn-import --format triples -o bad bad.txt
    mv err said
    check "$1: one line that says so" sh -c "[ \$(wc -l <said) = 1 ] && LC_ALL=C grep -aq 'bad.txt: line 2: relation name .*$2' said && [ ! -e bad ]"
}
long=$(printf '%01001d' 0)
bad "1001 bytes" "1001 bytes, more than 1000" "$long"
bad "a control character" "control character" 'a\001b'
bad "no UTF-8" "not UTF-8" '\0377'
bad "a NUL" "control character" 'a\0000b'

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
check "typed, with the reverses" gnn-import -q -u -o typed.gnn --split random:0.4,0.3,0.3 typed
check "is sound" gnn-inspect --verify typed.gnn
check "in parts too" sh -c 'gnn-partition -q -k 2 -o typed.2 typed.gnn && gnn-inspect --verify --against typed.gnn typed.2'
check "and learnt from" gnn-train -q --store typed.2 -f 2,2 -f "$a/$r/$b=1,1" --epochs 1 --hidden 4 --batch-norm -o typed.model
done_testing
