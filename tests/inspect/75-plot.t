# SPDX-License-Identifier: Apache-2.0
# gnn-inspect --plot: pictures of runs and stores, whole or not at all.
. "$GNN_TOP/tests/lib.sh"
refusing='gnn-inspect --plot'
gnn-import -q sbm:nodes=300 -o store
for seed in 1 2; do
    gnn-train -q --store store -f 3,3 --epochs 5 --patience 0 --seed $seed --eval valid --eval test --metrics run-$seed.ndjson -o m || exit 1
done
gnn-train -q --store store -f 3,3 --epochs 3 --eval none --lr 0.1 --metrics none.ndjson -o m

# What is refused; no gnuplot is needed for that.
status 1 'gnn-inspect --plot fails without gnuplot' env PATH="$GNN_BIN" gnn-inspect --plot a.png run-1.ndjson
cp err said
check 'in one line that names the Debian package' grep -qx 'gnn-inspect: --plot requires gnuplot (Debian package gnuplot-nox)' said
check 'and no picture' test ! -e a.png
refuses 2 'a.pdf: expected a name that ends in .png or .svg' 'another ending' gnn-inspect --plot a.pdf run-1.ndjson
refuses 2 'expected a name that ends in .png or .svg' 'stdout' gnn-inspect --plot - run-1.ndjson
refuses 2 'RUN is missing' 'nothing to plot' gnn-inspect --plot a.png
refuses 2 'exclude each other' 'a table' gnn-inspect --table --plot a.png run-1.ndjson

# A gnuplot that fails, in each way.
mkdir fake
fake() { printf '#!/bin/sh\n%s\n' "$1" >fake/gnuplot && chmod +x fake/gnuplot; }
echo before >kept.png
while IFS='|' read -r what why; do
    fake "$what"
    refuses 1 "^gnn-inspect: gnuplot $why$" "what is no picture: $what" env PATH="$PWD/fake:$PATH" gnn-inspect --plot kept.png run-1.ndjson
    check "the file of before stays: $what" grep -qx before kept.png
done <<'END'
exit 0|ended with status 0 and made no picture
exit 3|ended with status 3 and made no picture
kill -9 $$|was ended by signal 9 and made no picture
printf "\211PNG IHDR ..."|ended with status 0 and made no picture
echo "line 3: undefined variable" >&2; exit 1|failed: line 3: undefined variable
END

if ! command -v gnuplot >/dev/null; then
    skip 'gnn-inspect --plot makes pictures' 'no gnuplot'
    done_testing
fi
gnuplot=$(command -v gnuplot)
fake "tee script | $gnuplot \"\$@\""
plot() { PATH="$PWD/fake:$PATH" gnn-inspect --plot "$@"; }
is_png() { perl -0777 -ne 'die if !/^\x89PNG\r\n\x1a\n.*IEND\xae\x42\x60\x82\z/s || length() < 2000' "$1"; }
is_svg() { perl -0777 -ne 'die if !/^<\?xml.*<svg.*<\/svg>\s*\z/s' "$1"; }
data() { sed -n "/^\$$1 << END/,/^END/p" script | sed '1d;$d'; }

check 'gnn-inspect --plot draws two runs' plot runs.png run-1.ndjson run-2.ndjson
check 'as a PNG' is_png runs.png
check 'and as an SVG' sh -c 'gnn-inspect --plot runs.svg run-1.ndjson run-2.ndjson && test -s runs.svg'
check 'which is whole' is_svg runs.svg
plot runs.png run-1.ndjson run-2.ndjson
data r1 >got
check 'the data are epochs, losses and the metric of the first evaluated set' sh -c "perl -MJSON::PP -e '
    open my \$got, \"<\", \"got\"; open my \$run, \"<\", \"run-2.ndjson\";
    for (grep { \$_->{event} eq \"epoch\" } map { decode_json(\$_) } <\$run>) {
        my @g = split /\\t/, <\$got>; my @w = (\$_->{epoch}, \$_->{loss}, \$_->{valid}{accuracy}); abs(\$g[\$_] - \$w[\$_]) < 1e-12 or die \"@g\" for 0 .. 2; \$n++ }
    die if \$n != 5 || !eof \$got'"
data best >got
check 'the best epochs are marked' sh -c 'for i in 1 2; do sed -n "s/.*\"best_epoch\":\([0-9]*\).*/\1/p" run-$i.ndjson; done >want && cut -f1 got | cmp - want'
check 'the legend has the seeds' sh -c "grep -q \"title 'seed 1'.*title 'seed 2'.*title 'best epoch'\" script"
check 'an axis has the metric and the set' grep -q "^set ylabel 'accuracy (valid)'$" script
check 'a run that evaluates nothing is shown beside others' plot runs.png run-1.ndjson none.ndjson
cp err said
check 'which is said' grep -qx 'gnn-inspect: none.ndjson: no set was evaluated: only its loss is shown' said
check 'the legend has what differs' grep -q "title 'epochs 3, patience default, eval none, lr 0.1, seed 1'" script
check 'alone, it has one panel' sh -c "PATH=\"\$PWD/fake:\$PATH\" gnn-inspect --plot one.png none.ndjson && grep -q '^set multiplot layout 1,1' script"
sed '6,$d' run-1.ndjson >open.ndjson
check 'an unfinished run is shown as far as it goes' plot runs.png open.ndjson
cp err said
check 'which is said, too' grep -q "^gnn-inspect: open.ndjson: unfinished: no event 'end' after 2 epochs" said
data r0 >got
check 'so many epochs' test "$(wc -l <got)" -eq 2
sed '2,$d' run-1.ndjson >begun.ndjson
refuses 3 'begun.ndjson: no epoch to plot' 'a run without epochs' gnn-inspect --plot a.png begun.ndjson
sed '/"epoch":2,"steps"/s/"valid":{"accuracy":[0-9.]*/"valid":{"accuracy":null/; /"epoch":3,"steps"/s/"valid":{/"other":{/' run-1.ndjson >holes.ndjson
check 'figures may be missing' plot runs.png holes.ndjson
data r0 >got
check 'one that is not defined interrupts a curve, one that was not asked for does not' sh -c 'sed -n 3p got | grep -q "	NaN$" && sed -n 4p got | grep -q "	?$"'
sed '1s/"metric":"accuracy"/"metric":"f1-macro"/' run-1.ndjson >f1.ndjson
refuses 2 'run-1.ndjson has the metric accuracy, and f1.ndjson has f1-macro' 'two metrics' gnn-inspect --plot a.png run-1.ndjson f1.ndjson
awk '{ print }' run-1.ndjson >"it's \$x
y.ndjson"
check 'names of files may have quotes and ends of lines' plot runs.png "it's \$x
y.ndjson" none.ndjson
for i in $(seq 60); do sed "1s/\"seed\":1/\"seed\":$i/" run-1.ndjson >many-$i.ndjson; done
check 'sixty runs fit' plot many.png many-*.ndjson
check 'the picture is as high as the legend' sh -c 'grep -q "size 1250,1152$" script'

# A store.
check 'gnn-inspect --plot draws a store' plot store.png store
check 'as a PNG, too' is_png store.png
data d0 >in && data d1 >outgoing && data sets >sets
gnn-inspect --edges node/to/node store >edges
degrees() { awk -v c="$1" '{ d[$c]++ } END { for (i in d) n[d[i]]++; for (k in n) print k "\t" n[k] }' edges | sort -n; }
degrees 2 >want
check 'in-degrees are those of the edges' cmp want in
degrees 1 >want
check 'out-degrees are those of the edges' cmp want outgoing
check 'sets have their sizes' sh -c 'cut -f2,3 sets | tr "\t\n" " ;" | grep -qx "180 random/train;60 random/valid;60 random/test;"'
gnn-partition -q -k 3 -o parts store
cp script whole && plot parts.png parts
check 'partitions make the same picture' cmp script whole
printf 'u,i\n1,1\n1,2\n1,3\n2,3\n' >ui.csv
gnn-import -q --columns source=u,target=i --edge-type "it's/buys/item" -o typed ui.csv
check 'a store with types and without sets is drawn' plot typed.svg typed
check 'with its names' grep -q "title 'it''s/buys/item, in'" script
check 'without a panel of sets' grep -q '^set multiplot layout 1,1$' script
gnn-import -q --nodes 10 -o isolated ui.csv 2>/dev/null || gnn-import -q sbm:nodes=10,degree=1 -o isolated
check 'nodes without edges are counted in the legend' sh -c "PATH=\"\$PWD/fake:\$PATH\" gnn-inspect --plot isolated.png isolated && grep -q 'of degree 0)' script"
cp -r store hurt && perl -e 'open my $f, "+<", "hurt/part-00000.gnb"; seek $f, -9000, 2; read $f, my $x, 1; seek $f, -9000, 2; print $f chr(ord($x) ^ 4)'
echo before >kept.png
status 3 'a damaged store is refused' gnn-inspect --plot kept.png hurt
check 'and the file of before stays' grep -qx before kept.png
refuses 2 'store is a store: expected one store, or runs' 'a store among runs' gnn-inspect --plot a.png run-1.ndjson store
refuses 3 'absent: cannot open' 'what is not there' gnn-inspect --plot a.png absent
refuses 2 'is the same file as the input' 'an output that is an input' sh -c 'cp run-1.ndjson run.png && gnn-inspect --plot run.png run.png'

# Files.
check 'an existing file is replaced' sh -c 'echo before >new.png && gnn-inspect --plot new.png run-1.ndjson'
check 'by a whole picture' is_png new.png
refuses 1 'No space left on device' 'a full disk' sh -c 'ln -s /dev/full full.png && gnn-inspect --plot full.png run-1.ndjson'
if [ "$(id -u)" -eq 0 ]; then skip 'a directory without permission' 'root may do anything'; else
    mkdir closed && chmod 500 closed
    refuses 1 'Permission denied' 'a directory without permission' gnn-inspect --plot closed/a.png run-1.ndjson
fi
refuses 1 'absent/a.png' 'a directory that is not there' gnn-inspect --plot absent/a.png run-1.ndjson
gnn-inspect --plot both.png run-1.ndjson &
gnn-inspect --plot both.png store
wait
check 'two at once leave one whole picture' is_png both.png
rm -f a.png
check 'nothing else is left' sh -c 'test -z "$(ls -A | grep -e tmp -e "^a\.")"'
done_testing
