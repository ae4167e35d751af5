# SPDX-License-Identifier: Apache-2.0
# What all programs do alike with their options: metrics, missing inputs, standard output, --help.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q -o S sbm:nodes=200
gnn-sample -q -f 3 -o b S
gnn-gather -q -i b -o g S
gnn-train -q -i g -o m.st
says() { # TEXT: of the last command
    if grep -q -e "$1" err; then _ok "$_name: it says '$1'"; else _not_ok "$_name: it does not say '$1': $(cat err)"; fi
}
left() { # FILE [NAME]: no result, whole or half
    if ls -d -- "$1"* >/dev/null 2>&1; then _not_ok "${2:-$_name}: $1 is left"; else _ok "${2:-$_name}: no result is left"; fi
}

# A metrics file that cannot be written ends a program before it works.
M=no/such/m
status 1 'gnn-import fails where --metrics cannot be written' gnn-import --metrics $M -o R sbm:
says 'no/such/m: cannot create'
left R
status 1 'gnn-partition fails where --metrics cannot be written' gnn-partition --metrics $M -k 2 -o R S
left R
status 1 'gnn-sample fails where --metrics cannot be written' gnn-sample --metrics $M -f 3 -o R S
left R
status 1 'gnn-gather fails where --metrics cannot be written' gnn-gather --metrics $M -i b -o R S
left R
status 1 'gnn-train fails where --metrics cannot be written' gnn-train --metrics $M -i g -o R
left R
status 1 'gnn-predict fails where --metrics cannot be written' gnn-predict --metrics $M -o R S m.st
left R
status 1 'gnn-inspect fails where --metrics cannot be written' gnn-inspect --metrics $M S
[ ! -s out ] && _ok "$_name: nothing is printed" || _not_ok "$_name: something is printed"

# Metrics on stdout, but not among the bytes of a result.
status 0 'gnn-predict --metrics - writes to stdout' gnn-predict -q --metrics - -o p.npy S m.st
grep -q '"event":"end"' out && _ok "$_name: the metrics are there" || _not_ok "$_name: the metrics are missing"
status 0 'gnn-import --metrics - writes to stdout' gnn-import --metrics - -o I sbm:nodes=100
grep -q '"nodes":100' out && _ok "$_name: the metrics are there" || _not_ok "$_name: the metrics are missing"
status 0 'gnn-inspect --metrics writes a file' gnn-inspect --metrics i.json S
grep -q '"stage":"gnn-inspect"' i.json && _ok "$_name: the metrics are there" || _not_ok "$_name: the metrics are missing"
status 2 'gnn-predict refuses metrics and an array on stdout' gnn-predict --metrics - S m.st
says 'stdout takes the result'
status 2 'gnn-sample refuses metrics and a stream on stdout' gnn-sample --metrics - -f 3 S
status 2 'gnn-train refuses metrics and a model on stdout' gnn-train --metrics - -i g

# An input that is not there is 3, one that may not be read is 1.
for c in 'gnn-import -o R no' 'gnn-import -o R no b' 'gnn-import -o R --features no b' 'gnn-import -o R no:' \
    'gnn-partition -k 2 -o R no' 'gnn-sample -f 3 no' 'gnn-sample -f 3 --seeds no S' 'gnn-gather -i b no' 'gnn-gather -i no S' \
    'gnn-train -i no -o R' 'gnn-train --store no -o R' 'gnn-train --store S --init no -o R' 'gnn-predict no m.st' 'gnn-predict S no' \
    'gnn-inspect no' 'gnn-inspect b/no' 'gnn-inspect --verify no' 'gnn-inspect --verify --against no S' \
    'gnn-inspect --diff S no' 'gnn-inspect --diff no b' 'gnn-inspect --export x.npz no'; do
    # shellcheck disable=SC2086
    status 3 "$c fails, as an input is not there" $c
done
left R 'programs whose inputs are not there'
chmod 0 g
if [ -r g ]; then skip 'gnn-train and gnn-import fail where a file may not be read' 'root may read all'; else
    status 1 'gnn-train fails where a stream may not be read' gnn-train -i g -o R
    status 1 'gnn-import fails where a data set may not be read' gnn-import -o R g
fi

# A store is a directory.
status 2 'gnn-import refuses to write a store to stdout' gnn-import -o - sbm:nodes=100
status 2 'gnn-partition refuses to write a store to stdout' gnn-partition -k 2 -o - S
left - 'gnn-import and gnn-partition refuse to write a store to stdout'

# Messages say numbers as people write them, and name what was asked for.
status 2 'gnn-sample refuses a number out of range' gnn-sample -f 3 -b 2G S
says 'between 1 and 1073741824'
status 2 'gnn-sample refuses epochs without an end' gnn-sample -f 3 --epochs 2: S
says 'expected A:B with A < B'
status 2 'gnn-import refuses a size out of range' gnn-import -o R sbm:nodes=1T
says 'from 1 to 4294967294'
status 0 'gnn-import accepts a size with a suffix' gnn-import -v -o K sbm:nodes=1k
says '1000 nodes'
status 2 'gnn-import refuses a suffix behind a suffix' gnn-import -o R sbm:nodes=1kk
printf 'from,to\nalice,bob\n' >words.csv
status 3 'gnn-import --ids numbers refuses words as ids' gnn-import --ids numbers -o R words.csv
says 'where ids are numbers'
status 2 'gnn-import refuses an empty name' gnn-import -o '' sbm:
says 'output: the name is empty'
check 'gnn-import leaves nothing of an empty name' sh -c '! ls -d .tmp* 2>no.tmp'
status 2 'gnn-import refuses a generator beside a file' gnn-import -o R words.csv sbm:
says 'sbm:: a generator must be the only input'
status 2 'gnn-train --keep best refuses to work without a set' gnn-train -i g --keep best -o R
says 'keep best requires a set'
status 2 'gnn-train --schedule refuses to work without --epochs' gnn-train -i g --schedule cosine -o R
says 'requires --epochs'
if [ -c /dev/full ]; then
    status 1 'gnn-train fails where --metrics is on a full disk' gnn-train -q -i g --metrics /dev/full -o R
    says 'cannot write metrics: No space'
fi
left R 'programs that refuse options'
status 3 'gnn-import refuses an unknown generator' gnn-import -o R nosuch:
says 'no such generator'
status 1 'gnn-import fails in a directory that is not there' gnn-import -o no/such sbm:nodes=100
says 'no/such: cannot create'
printf '0 1\n1 0\n' >plain
gnn-import -q -o P plain
status 2 'gnn-sample refuses a store without sets' gnn-sample -f 3 P
says 'gnn-import --split'
printf '0 1 1289241911\n1 0 1289241912\n' >times
gnn-import -q -o T --columns source=1,target=2,time=3 times
check 'gnn-inspect -s keeps the digits of large numbers' sh -c 'gnn-inspect -s T | grep -q "min 1289241911, mean 128924191[12], max 1289241912"'

# --help names each value that an option takes.
while read -r p option values; do
    "$p" --help >help
    check "$p --help names the values of --$option" sh -c 'grep -A 2 -e "--$1 " help | grep -q "one of $2\$"' - "$option" "$values"
done <<'T'
gnn-import format auto, ogb, npz, snap, csv, jodie, triples, ntriples, mtx, metis
gnn-import self-loops keep, add, remove
gnn-gather dtype stored, f32, f16, bf16
gnn-train optimizer adam, adamw, sgd
gnn-predict output-kind classes, probs, embeddings, values, scores
gnn-sample frontier all, new
gnn-partition method metis, fennel, ldg, access, random
T
gnn-import --help >help
check 'gnn-import --help names the generators' grep -q 'rmat:, sbm:, products: or igbh:' help
check 'gnn-import --help says which options may be repeated' \
    sh -c 'grep -q -e "--split .*may be repeated" help && grep -q -e "--map .*may be repeated" help'
for bin in "$GNN_BIN"/gnn-*; do
    "$bin" --help >help
    check "$(basename "$bin") --help has no blanks at ends of lines" sh -c '! grep -n " \$" help'
done
done_testing
