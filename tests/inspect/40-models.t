# gnn-inspect of models, checkpoints and state dicts of other programs.
. "$GNN_TOP/tests/lib.sh"
D=$GNN_TOP/tests/train/data
train() { gnn-train -q --no-provenance --store s -f 3,3 -b 64 --hidden 8 --epochs 3 --eval valid --lr 0.003 --batch-norm "$@"; }
gnn-import -q -o s sbm:nodes=300,features=5 && train -o m --checkpoint C --checkpoint-every 4 && train --seed 2 -o other || exit 1
c=C/checkpoint.safetensors
says() { check "$1" grep -q -- "$2" said; }

check 'a model' sh -c 'gnn-inspect m >said'
says 'is one, and its checksum is correct' '^model m: .*, checksum correct$'
says 'has layers' '^  layers sage, widths 8, 4, batch norm$'
says 'has a task' '^  task   multiclass of node$'
says 'has types' '^  nodes  node  *5 features$'
says 'has relations' '^  edges  node/to/node$'
says 'has parameters' '^  parameters [0-9]* numbers in 11 tensors, '
says 'has tensors' '^convs.0.lin_l.weight  *f32   8 x 5  *160$'
check 'a checkpoint' sh -c "gnn-inspect $c >said"
says 'is one' "^checkpoint $c: .*, checksum correct$"
says 'has a state' '^  state  after epoch [12], step [0-9]*.*; [0-9]* steps of the optimiser$'
says 'has a best epoch' '^  best   epoch [0-9], accuracy [0-9.]*, [0-9] epochs since$'
says 'has an optimiser' '^  optimizer adam, lr 0.003, schedule constant$'
check 'JSON of a checkpoint' sh -c "gnn-inspect --json $c --metrics j >said"
check 'is JSON, with the same' perl -MJSON::PP -0777 -e '
    my $r = decode_json(<>); my $t = $r->{training};
    die unless $r->{kind} eq "checkpoint" && $r->{checksum} && $r->{architecture}{batch_norm} && $r->{parameters}{tensors} == 11 &&
        $t->{optimizer} eq "adam" && $t->{lr} == 0.003 && $t->{optimizer_steps} % 4 == 0 && $t->{run} =~ /frontier/ && @{$r->{tensors}} == 17' said
check 'and in --metrics' grep -q '"kind":"checkpoint"' j

check 'a state dict of another program' sh -c "gnn-inspect '$D/gcn.safetensors' >said"
says 'is not verified' '^state dict .*gcn.safetensors: .*, no checksum, not verified$'
says 'is guessed' '^  layers gcn, widths .*; inferred from names and shapes$'
check 'a long one' sh -c "gnn-inspect '$D/typed.safetensors' -t >said"
says 'lists its tensors' '^convs.0.convs.<a___cites___a>.lin_l.weight '
perl -e 'my $h = "{" . join(",", map { sprintf q("convs.%d.att_src":{"dtype":"F32","shape":[1],"data_offsets":[%d,%d]}), $_, 4 * $_, 4 * $_ + 4 } 0 .. 39) . "}";
    $h .= " " x (-length($h) % 8); print pack("Q<", length $h), $h, "\0" x 160' >gat
check 'layers that are not supported' sh -c 'gnn-inspect gat >said'
says 'are named' '^  layers not known: gat: tensor convs.*GAT (PyG.s GATConv)'
says 'and 40 tensors summed up' '^  -t lists the tensors$'

check 'verifies a model' sh -c 'gnn-inspect --verify m >said'
says 'by its checksum' '^ok  checksum: of all bytes$'
check 'verifies a checkpoint' sh -c "gnn-inspect --verify $c >said"
says 'with its counters' '^ok  counters: of epoch [12], step [0-9]*$'
check 'says what it cannot verify' sh -c "gnn-inspect --verify '$D/gcn.safetensors' >said"
says 'of a file without a checksum' '^ok  no checksum: only the format is verified'
for f in m $c; do
    perl -e 'local $/; open F, "<:raw", $ARGV[0]; $_ = <F>; substr($_, -9, 1) ^= "\1"; print' $f >bad
    for o in '' --verify '--export x.npz'; do
        status 3 "a flipped bit, $f $o" gnn-inspect bad $o
    done
done
check 'no archive after a failure' test ! -e x.npz

check 'a model is equal to itself' gnn-inspect --diff m m
status 1 'another is not' sh -c 'gnn-inspect --diff m other >said'
says 'says where' '^model, tensor convs.*, element 0: [-0-9.e]* | [-0-9.e]*$'
gnn-train -q --store s -f 3 --hidden 8 --epochs 1 -o one
status 1 'of another architecture' sh -c 'gnn-inspect --diff m one >said'
says 'says which member' '^gnn\.'
gnn-train -q --store s -f 3,3 -b 64 --hidden 8 --epochs 3 --eval valid --lr 0.003 --batch-norm -o by
status 1 'another provenance' gnn-inspect --diff m by
check 'which need not count' gnn-inspect --diff --ignore provenance m by
status 2 'a model and a store' gnn-inspect --diff m s
check 'exports' gnn-inspect --export m.npz m
check 'all tensors' sh -c 'perl -0777 -ne "END { exit !(\$n == 22) } \$n += () = /convs\.0\.lin_l\.weight\.npy|[a-z_.0-9]*\.npy/g" m.npz'
status 2 'statistics of a model' gnn-inspect -s m
status 2 'a model against a store' gnn-inspect --verify --against s m
status 2 'by original ids' gnn-inspect --diff --original m m
done_testing
