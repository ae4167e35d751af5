# SPDX-License-Identifier: Apache-2.0
# gnn-inspect --table: groups, figures and what is left out of them.
. "$GNN_TOP/tests/lib.sh"
refusing='gnn-inspect --table'
figures() { perl "$GNN_TOP/tests/inspect/runs.pl" "$@"; }
table() { gnn-inspect --table --csv "$@" >table.csv; }
run() { # NAME SEED OPTION...
    _run=$1-$2
    _seed=$2
    shift 2
    gnn-train -q --store one -f 3,3 --epochs 4 --seed "$_seed" --metrics "$_run.ndjson" -o m "$@" || exit 1
}
gnn-import -q sbm:nodes=300 -o one
gnn-import -q --seed 2 sbm:nodes=300 -o two
for seed in 1 2 3; do
    run low $seed --lr 0.001 --eval valid --eval test
    run wide $seed --hidden 32 --eval valid --eval test --no-layer-norm
    run high $seed --lr 5e-2 --eval valid --eval test
done

# Figures.
check 'gnn-inspect --table compares three settings of three seeds' table low-*.ndjson wide-*.ndjson high-*.ndjson
check 'its means and deviations are those of runs.pl' figures table.csv lr,hidden,layer-norm low-*.ndjson wide-*.ndjson high-*.ndjson
check 'the header of CSV has what differs, and figures' grep -q '^lr,hidden,layer-norm,seeds,left out,best epoch,' table.csv
check 'the order of runs is that of groups' sh -c 'gnn-inspect --table --csv high-1.ndjson low-1.ndjson | cut -d, -f1 | tr "\n" " " | grep -qx "lr 0.05 0.001 "'
cp low-2.ndjson moved-2.ndjson
check 'the names of files do not matter' sh -c 'gnn-inspect --table --csv low-1.ndjson moved-2.ndjson low-3.ndjson >a && gnn-inspect --table --csv low-*.ndjson >b && cmp a b'
check 'runs of one setting have no column of options' sh -c 'gnn-inspect --table low-*.ndjson | head -n 1 | grep -qx "seeds  best epoch *valid accuracy *test accuracy *s/epoch"'
table low-*.ndjson && mean=$(sed -n 2p table.csv | cut -d, -f6) deviation=$(sed -n 2p table.csv | cut -d, -f7)
check 'text has the same with four digits' sh -c "gnn-inspect --table low-*.ndjson | grep -qF \"\$(printf '%.4f \\302\\261 %.4f' $mean $deviation)\""
check 'one seed has no deviation' sh -c 'gnn-inspect --table low-1.ndjson | tail -n 1 | grep -q "^1 " && ! gnn-inspect --table low-1.ndjson | grep -q "$(printf "\302\261")"'
table low-1.ndjson
check 'nor has it one in CSV' figures table.csv '' low-1.ndjson
check 'gnn-inspect --table --json has the seeds and the figures' perl -MJSON::PP -0777 -e '
    my $r = decode_json(`gnn-inspect --table --json low-1.ndjson low-3.ndjson high-2.ndjson`);
    my ($low, $high) = @{$r->{groups}};
    die if "@{$low->{seeds}} @{$high->{seeds}}" ne "1 3 2" || $low->{options}{lr} != 0.001 || $low->{sets}[1]{set} ne "test" || $low->{sets}[0]{runs} != 2;
    die if defined $high->{sets}[0]{deviation} || @{$r->{notes}}'

# What tells runs apart.
run plain 1 --eval valid
run plain 2 --eval valid
check 'a run without a test set has no figure of it' sh -c 'gnn-inspect --table plain-*.ndjson low-*.ndjson | sed -n 2p | grep -q " -  "'
table plain-*.ndjson low-*.ndjson
check 'nor in CSV' sh -c 'head -n 2 table.csv | tail -n 1 | grep -q ",,,0,"'
run none 1 --eval none
check 'a run that evaluates nothing has a line, too' sh -c 'gnn-inspect --table none-1.ndjson | tail -n 1 | grep -q "^1 *- "'
for seed in 1 2; do
    for f in 3,3 2,2; do
        gnn-sample -q --seed $seed -f $f --epochs 2 --eval valid one | gnn-gather -q one | gnn-train -q --seed $seed --metrics "pipe$f-$seed.ndjson" -o m
    done
done
check 'the header of a stream tells runs apart' sh -c 'gnn-inspect --table --csv pipe*.ndjson | cut -d, -f1-4 | tr "\n" ";" | grep -q "^sampling fanout,seeds,left out,best epoch;\"2,2\",2,0;"'
gnn-train -q --store two -f 3,3 --epochs 4 --lr 0.001 --eval valid --eval test --metrics other-1.ndjson -o m
check 'runs on two stores have the column store' sh -c 'gnn-inspect --table low-1.ndjson other-1.ndjson | cut -d" " -f1 | tr "\n" " " | grep -qx "store one two "'
mv two 'a, "b"'
gnn-train -q --store 'a, "b"' -f 3,3 --epochs 4 --lr 0.001 --eval valid --eval test --metrics quoted-1.ndjson -o m
table low-1.ndjson quoted-1.ndjson
check 'a path with a comma and quotes is a cell of CSV' grep -q '^"a, ""b""",1,' table.csv
mv one saved && cp -r 'a, "b"' one
gnn-train -q --store one -f 3,3 --epochs 4 --lr 0.001 --eval valid --eval test --metrics replaced-1.ndjson -o m
rm -r one && mv saved one
check 'two graphs under one path are told apart by their identities' sh -c 'gnn-inspect --table low-1.ndjson replaced-1.ndjson | tail -n 2 | cut -d" " -f1 | sort -u | grep -c "^[0-9a-f]\{16\}$" | grep -qx 2'
check 'an outcome of another metric is another column' sh -c '
    gnn-train -q --store one -f 3,3 --epochs 2 --metric f1-macro --eval valid --metrics f1.ndjson -o m && gnn-inspect --table --csv plain-1.ndjson f1.ndjson | head -n 1 | grep -q "valid accuracy runs,valid f1-macro,"'

# What is left out is said, and has status 1.
lacks() { # WHY FILE: with two other runs
    status 1 "gnn-inspect --table has status 1: $1" gnn-inspect --table "$2" low-2.ndjson low-3.ndjson
    cp out got && cp err said
    check "it says why: $1" grep -q "^gnn-inspect: $2: $1" said
    check "the table has the others: $1" sh -c 'sed -n 2p got | grep -q "^2 of 3 " && test "$(wc -l <got)" -eq 2'
}
grep -v '"event":"end"' low-1.ndjson >open.ndjson
lacks "unfinished: no event 'end' after 4 epochs" open.ndjson
head -c -20 low-1.ndjson >cut.ndjson
lacks 'unfinished: cut in line 10, after 4 epochs' cut.ndjson
sed '/"event":"end"/s/"stopped_early"/"stopped":true,"stopped_early"/' low-1.ndjson >stopped.ndjson
lacks 'unfinished: stopped by a signal after 4 epochs' stopped.ndjson
cp low-2.ndjson again.ndjson
status 1 'a seed that is there twice counts once' gnn-inspect --table --csv low-2.ndjson again.ndjson low-3.ndjson
cp out table.csv && cp err said
check 'and this is said' grep -qx 'gnn-inspect: again.ndjson: has the options and the seed of low-2.ndjson' said
sed 's/^2,1,/2,0,/' table.csv >table && check 'its figures are those of two runs' figures table '' low-2.ndjson low-3.ndjson
sed '/"event":"end"/s/"accuracy":0\.[0-9]*/"accuracy":0.5/' low-2.ndjson >again.ndjson
status 1 'a seed is there twice with other figures' gnn-inspect --table low-2.ndjson again.ndjson
cp err said
check 'and this is said, too' grep -q 'low-2.ndjson, and other figures$' said
sed '/"event":"end"/s/"test":{"accuracy":[0-9.]*/"test":{"accuracy":null/' low-1.ndjson >low-4.ndjson
status 1 'a figure that is not defined is left out' gnn-inspect --table --csv low-4.ndjson low-2.ndjson low-3.ndjson
cp out table.csv && cp err said
check 'the figures of that set are those of two runs' figures table.csv '' low-2.ndjson low-3.ndjson low-4.ndjson
check 'this is said' grep -qx 'gnn-inspect: low-4.ndjson: accuracy of set test is not defined' said
check 'and shown in text' sh -c 'gnn-inspect -q --table low-4.ndjson low-2.ndjson low-3.ndjson | grep -q " (2 of 3)  "'
check 'only unfinished runs make a line without figures' sh -c 'gnn-inspect --table open.ndjson 2>/dev/null | tail -n 1 | grep -qx "0 of 1  - *- *- *-"'
check 'with -q, no more than the table is said' sh -c '! gnn-inspect -q --table open.ndjson low-2.ndjson >out 2>err && test ! -s err && grep -q "^1 of 2" out'

# What is no run.
while IFS='|' read -r name why make; do
    sh -c "$make" <low-1.ndjson >"$name"
    refuses 3 "^gnn-inspect: $name: $why" "$name" gnn-inspect --table low-2.ndjson "$name"
    check "nothing is printed: $name" test ! -s out
done <<'END'
empty|empty: no metrics of a run of gnn-train|:
begun|cut in line 1, before metrics of a run of gnn-train|head -c 30
words|line 1: JSON: |echo not a run
nan|line 10: JSON: |sed '$s/"seconds":[0-9.]*/"seconds":NaN/'
hurt|line 3: JSON: |sed '3s/:/;/'
zero|line 2: JSON: |sed '2s/^/\x00/'
list|line 1: not an object of --metrics: no member 'stage'|echo '[1]'
other|line 1: metrics of 'gnn-predict', not of gnn-train|sed 's/gnn-train"/gnn-predict"/'
old|line 1: no event 'start' before this|sed 1d
both|line 11: a second run begins|cat - low-2.ndjson
bare|line 1: event 'start' without a member 'options' of its type|sed '1s/"options":{[^}]*}/"options":3/'
sets|line 1: a name of a set is no text|sed '1s/"sets":\["train"/"sets":[7/'
END
sed '1s/"sets":\["train","valid"/"sets":["train","v\\u001b[2Jd"/' low-1.ndjson >escape.ndjson
check 'what a terminal obeys is escaped' sh -c 'gnn-inspect --table escape.ndjson >out; grep -q "v.u001b\[2Jd accuracy" out && ! grep -q "$(printf "\033")" out'
perl -e 'srand 7; local $/; my $all = <STDIN>;
    for my $i (1 .. 150) {
        my $x = $all;
        for (0 .. int rand 3) { my $at = int rand length $x; substr $x, $at, int rand 4, join "", map { substr "{}[]\",:0e-\\n", int rand 12, 1 } 0 .. int rand 3 }
        open my $f, ">", "hurt" or die; print $f $x; close $f;
        my $rc = system "gnn-inspect --table hurt low-2.ndjson >out 2>err";
        $rc == 0 || $rc == 1 << 8 || $rc == 3 << 8 or die "file $i: $rc"; $seen{$rc}++ }
    print join(" ", map { "$_: $seen{$_}" } sort keys %seen), "\n"; exit !$seen{3 << 8}' <low-1.ndjson >hurts
check 'random damage ends with status 0, 1 or 3' test $? -eq 0
refuses 3 'one: this is a store, not metrics of gnn-train' 'a store' gnn-inspect --table one
refuses 3 'm: this is a model' 'a model' gnn-inspect --table m
refuses 3 'absent.ndjson: cannot open' 'what is not there' gnn-inspect --table absent.ndjson
if [ "$(id -u)" -eq 0 ]; then skip 'gnn-inspect --table refuses a file without permission' 'root may do anything'; else
    cp low-1.ndjson closed.ndjson && chmod 0 closed.ndjson
    refuses 1 'closed.ndjson: cannot open: Permission denied' 'a file without permission' gnn-inspect --table closed.ndjson
fi
mkfifo pipe
refuses 3 '^gnn-inspect: pipe: ' 'a pipe, without waiting' timeout 20 gnn-inspect --table pipe
status 1 'gnn-inspect --table fails on a full disk' sh -c 'gnn-inspect --table low-1.ndjson >/dev/full'
status 1 'gnn-inspect --table --csv fails on a full disk' sh -c 'gnn-inspect --table --csv low-1.ndjson >/dev/full'
check 'events of gnn-train before and after the run are passed over' sh -c '
    (echo "{\"v\":1,\"stage\":\"gnn-train\",\"t\":0,\"event\":\"cache\"}"; cat low-1.ndjson; echo "{\"v\":1,\"stage\":\"gnn-train\",\"t\":9,\"event\":\"later\"}") >more.ndjson && gnn-inspect --table more.ndjson'
while IFS='|' read -r args why; do
    # shellcheck disable=SC2086
    refuses 2 "$why" "$args" gnn-inspect $args
done <<'END'
--table|RUN is missing
--csv low-1.ndjson|--csv requires --table
--table --csv --json low-1.ndjson|--json has no effect: --csv is another form
--table --stats low-1.ndjson|--stats has no effect
--table --verify low-1.ndjson|exclude each other
low-1.ndjson low-2.ndjson|one argument at most
END

# Of ranks, the first one has the run.
if [ -e "$GNN_B/lib/gnn-tools/gnn-mpi.so" ] && command -v mpirun >/dev/null; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    gnn-partition -q -k 2 -o parts one
    mpirun --quiet -n 2 gnn-train -q --store parts -f 3,3 --epochs 4 --lr 0.001 --eval valid --eval test --frontier all --metrics 'rank%r.ndjson' -o m
    check 'the metrics of rank 0 are a run' gnn-inspect --table rank0.ndjson
    refuses 3 'rank1.ndjson: ' 'the metrics of rank 1' gnn-inspect --table rank1.ndjson
    check 'ranks are a column where nothing else differs' sh -c '
        gnn-train -q --store parts -f 3,3 --epochs 4 --lr 0.001 --eval valid --eval test --frontier all --metrics alone.ndjson -o m
        gnn-inspect --table alone.ndjson rank0.ndjson | cut -c 1-16 | tr -s " " | tr "\n" ";" | grep -q "^ranks of the job;1 ;2 ;"'
else
    skip 'the metrics of rank 0 are a run' 'no MPI'
fi
done_testing
