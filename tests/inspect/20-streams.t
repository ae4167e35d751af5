# gnn-inspect on batch streams.
. "$GNN_TOP/tests/lib.sh"
command -v gnn-sample >/dev/null || { skip "streams" "gnn-sample is not built"; done_testing; }

gnn-import -q sbm:nodes=1000 -o one || exit 1
gnn-partition -q -k 4 -o four one || exit 1
draw() { gnn-sample -q -f 4,3 -b 60 --edge-ids "$@"; }
draw --epochs 0:2 -o a one && draw --epochs 0:2 -o p four && draw --epochs 0:2 --original-ids -o o four || exit 1
draw --epochs 2:3 -o later one && draw --epochs 0:2 --seed 9 -o other one || exit 1

says() { check "$1" grep -q -- "$2" said; }
check "a report" sh -c 'gnn-inspect -t a >said'
says "how it was drawn" 'fan-out 4,3, batches of 60 node'
says "how much" '^  batches 20, 1200 seeds, '
says "how large" '^  mean nodes after each hop: 60 '
says "tensors of the first batch" '^hop/1/node/to/node/indices  *u32'
check "the same from a pipe, as JSON" sh -c 'gnn-inspect --json - <a >said'
check "is JSON" perl -MJSON::PP -0777 -e 'my $r = decode_json(<>); die if $r->{kind} ne "stream" || $r->{batches} != 20' said

check "verified" gnn-inspect --verify a
check "each edge is in the store" gnn-inspect --verify --against one a
check "each edge is in the parts" gnn-inspect --verify --against four p
check "original ids too" gnn-inspect --verify --against four o
status 3 "another store" gnn-inspect --verify --against four a
check "epochs in sequence" sh -c 'cat a later | gnn-inspect --verify'
status 3 "an epoch again" sh -c 'cat a a | gnn-inspect --verify'
status 3 "no END" sh -c 'head -c -1 a | gnn-inspect --verify'
status 3 "a terminal is no stream, nothing neither" sh -c 'gnn-inspect </dev/null'

check "equal" gnn-inspect --diff a a
status 1 "other seeds" gnn-inspect --diff a other
check "say which" sh -c 'gnn-inspect --diff a other | grep -q "^header.sampling.seed: "'
status 1 "longer" sh -c 'cat a later | gnn-inspect --diff a - >said'
says "says so" '^batch 20: (end) | a batch$'
check "original ids need no store" gnn-inspect --diff --original a o
status 2 "store ids do" gnn-inspect --diff --original a p
check "and get one" gnn-inspect --diff --original --store four a p
check "or two" gnn-inspect --diff --original --store one --store four a p
status 2 "stdin is one stream" gnn-inspect --diff - -
status 2 "stores and streams do not compare" gnn-inspect --diff one a
check "exported" gnn-inspect --export a.npz a
check "is a zip" unzip -tq a.npz
check "the same to stdout" sh -c 'gnn-inspect --export - a | cmp - a.npz'
done_testing
