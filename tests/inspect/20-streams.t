# SPDX-License-Identifier: Apache-2.0
# gnn-inspect on batch streams.
. "$GNN_TOP/tests/lib.sh"
command -v gnn-sample >/dev/null || { skip "gnn-inspect reads batch streams" "gnn-sample is not built"; done_testing; }

gnn-import -q sbm:nodes=1000 -o one || exit 1
gnn-partition -q -k 4 -o four one || exit 1
draw() { gnn-sample -q -f 4,3 -b 60 --edge-ids "$@"; }
draw --epochs 0:2 -o a one && draw --epochs 0:2 -o p four && draw --epochs 0:2 --original-ids -o o four || exit 1
draw --epochs 2:3 -o later one && draw --epochs 0:2 --seed 9 -o other one || exit 1

says() { check "$1" grep -q -- "$2" said; }
check "gnn-inspect -t reports on a stream" sh -c 'gnn-inspect -t a >said'
says "gnn-inspect says how a stream was sampled" '^  drawn  for node, fan-out 4,3: --seed [0-9]* --batch 60 --frontier all'
says "gnn-inspect counts the batches and seeds of a stream" '^  batches 20, 1200 seeds, '
says "gnn-inspect shows the mean number of nodes after each hop" '^  mean nodes after each hop: 60 '
says "gnn-inspect -t lists the tensors of the first batch" '^hop/1/node/to/node/indices  *u32'
check "gnn-inspect --json reads a stream from stdin" sh -c 'gnn-inspect --json - <a >said'
check "gnn-inspect --json counts the batches of a stream" \
    perl -MJSON::PP -0777 -e 'my $r = decode_json(<>); die if $r->{kind} ne "stream" || $r->{batches} != 20' said

check "gnn-inspect --verify finds a stream sound" gnn-inspect --verify a
check "gnn-inspect --verify --against finds each sampled edge in the store" gnn-inspect --verify --against one a
check "gnn-inspect --verify --against finds each sampled edge in the partitions" gnn-inspect --verify --against four p
check "gnn-inspect --verify --against finds edges of a stream with original ids" gnn-inspect --verify --against four o
status 3 "gnn-inspect --verify --against refuses a stream of another store" gnn-inspect --verify --against four a
check "gnn-inspect --verify accepts epochs that follow one another" sh -c 'cat a later | gnn-inspect --verify'
status 3 "gnn-inspect --verify refuses an epoch that comes again" sh -c 'cat a a | gnn-inspect --verify'
status 3 "gnn-inspect --verify refuses a stream without its last byte" sh -c 'head -c -1 a | gnn-inspect --verify'
status 3 "gnn-inspect refuses an empty standard input" sh -c 'gnn-inspect </dev/null'

check "gnn-inspect --diff finds a stream equal to itself" gnn-inspect --diff a a
status 1 "gnn-inspect --diff finds streams of other seeds different" gnn-inspect --diff a other
check "gnn-inspect --diff names the seed in which streams differ" sh -c 'gnn-inspect --diff a other | grep -q "^header.sampling.seed: "'
status 1 "gnn-inspect --diff finds a longer stream different" sh -c 'cat a later | gnn-inspect --diff a - >said'
says "gnn-inspect --diff says where the shorter stream ends" '^batch 20: (end) | a batch$'
check "gnn-inspect --diff --original compares streams with original ids" gnn-inspect --diff --original a o
status 2 "gnn-inspect --diff --original asks for the store of streams with other ids" gnn-inspect --diff --original a p
check "gnn-inspect --diff --original --store maps the ids of one stream" gnn-inspect --diff --original --store four a p
check "gnn-inspect --diff --original --store maps the ids of two streams" gnn-inspect --diff --original --store one --store four a p
status 2 "gnn-inspect --diff refuses stdin twice" gnn-inspect --diff - -
status 2 "gnn-inspect --diff refuses a store and a stream" gnn-inspect --diff one a
check "gnn-inspect --export writes the tensors of a stream" gnn-inspect --export a.npz a
check "gnn-inspect --export writes a zip archive" unzip -tq a.npz
check "gnn-inspect --export writes the same to stdout" sh -c 'gnn-inspect --export - a | cmp - a.npz'
done_testing
