# SPDX-License-Identifier: Apache-2.0
# gnn-inspect of models, checkpoints and state dicts of other programs.
. "$GNN_TOP/tests/lib.sh"
D=$GNN_TOP/tests/train/data
train() { gnn-train -q --no-provenance --store s -f 3,3 -b 64 --hidden 8 --epochs 3 --eval valid --lr 0.003 --batch-norm "$@"; }
gnn-import -q -o s sbm:nodes=300,features=5 && train -o m --checkpoint C --checkpoint-every 4 && train --seed 2 -o other || exit 1
c=C/checkpoint.safetensors
says() { check "$1" grep -q -- "$2" said; }

check 'gnn-inspect reports on a model' sh -c 'gnn-inspect m >said'
says 'gnn-inspect names a model and its checksum' '^model m: .*, checksum correct$'
says 'gnn-inspect shows the layers of a model' '^  layers sage, widths 8, 4, batch norm$'
check 'gnn-train makes a model with an option of its layers' train -m gin --train-eps -o gin
check 'gnn-inspect reports on a model with an option of its layers' sh -c 'gnn-inspect gin >said.gin'
check 'gnn-inspect shows the options of layers' grep -q '^  layers gin, widths 8, 4, train-eps, batch norm$' said.gin
check 'gnn-train makes a model with an option of several words' train --aggr max --normalize -o sage.max
check 'gnn-inspect shows the word of an option' sh -c "gnn-inspect sage.max | grep -q '^  layers sage, widths 8, 4, aggr max, normalize, batch norm$'"
says 'gnn-inspect shows the task of a model' '^  task   multiclass of node$'
says 'gnn-inspect shows the node types of a model' '^  nodes  node  *5 features$'
says 'gnn-inspect shows the relations of a model' '^  edges  node/to/node$'
says 'gnn-inspect counts the parameters of a model' '^  parameters [0-9]* numbers in 11 tensors, '
says 'gnn-inspect lists the tensors of a model' '^convs.0.lin_l.weight  *f32   8 x 5  *160$'
check 'gnn-inspect reports on a checkpoint' sh -c "gnn-inspect $c >said"
says 'gnn-inspect names a checkpoint and its checksum' "^checkpoint $c: .*, checksum correct$"
says 'gnn-inspect shows the epoch and steps of a checkpoint' '^  state  after epoch [12], step [0-9]*.*; [0-9]* steps of the optimiser$'
says 'gnn-inspect shows the best epoch of a checkpoint' '^  best   epoch [0-9], accuracy [0-9.]*, [0-9] epochs since$'
says 'gnn-inspect shows the optimizer of a checkpoint' '^  optimizer adam, lr 0.003, schedule constant$'
check 'gnn-inspect --json reports on a checkpoint' sh -c "gnn-inspect --json $c --metrics j >said"
check 'gnn-inspect --json holds the training state of a checkpoint' perl -MJSON::PP -0777 -e '
    my $r = decode_json(<>); my $t = $r->{training};
    die unless $r->{kind} eq "checkpoint" && $r->{checksum} && $r->{architecture}{batch_norm} && $r->{parameters}{tensors} == 11 &&
        $t->{optimizer} eq "adam" && $t->{lr} == 0.003 && $t->{optimizer_steps} > 0 && $t->{run} =~ /frontier/ && @{$r->{tensors}} == 17' said
check 'gnn-inspect --metrics reports on a checkpoint' grep -q '"kind":"checkpoint"' j

check 'gnn-inspect reports on a state dict of another program' sh -c "gnn-inspect '$D/gcn.safetensors' >said"
says 'gnn-inspect says that a state dict has no checksum' '^state dict .*gcn.safetensors: .*, no checksum, not verified$'
says 'gnn-inspect guesses the layers of a state dict and says so' '^  layers gcn, widths .*; inferred from names and shapes$'
check 'gnn-inspect reads off a state dict which layers project their sources' \
    sh -c "gnn-inspect '$D/sage-more.safetensors' | grep -q '^  layers sage, widths 16, 4, project; inferred from names and shapes$'"
check 'gnn-inspect -t reports on a typed state dict' sh -c "gnn-inspect '$D/typed.safetensors' -t >said"
says 'gnn-inspect -t lists the tensors of a typed state dict' '^convs.0.convs.<a___cites___a>.lin_l.weight '
perl -e 'my $h = "{" . join(",", map { sprintf q("convs.%d.lin_key.weight":{"dtype":"F32","shape":[1],"data_offsets":[%d,%d]}), $_, 4 * $_, 4 * $_ + 4 } 0 .. 39) . "}";
    $h .= " " x (-length($h) % 8); print pack("Q<", length $h), $h, "\0" x 160' >gat
check 'gnn-inspect reports on layers that it does not know' sh -c 'gnn-inspect gat >said'
says 'gnn-inspect names layers that it does not know' '^  layers not known: gat: tensor convs.*TransformerConv (PyG)'
says 'gnn-inspect does not list 40 tensors unless -t asks for them' '^  -t lists the tensors$'

check 'gnn-inspect --verify finds a model sound' sh -c 'gnn-inspect --verify m >said'
says 'gnn-inspect --verify reads the checksum of a model' '^ok  checksum: of all bytes$'
check 'gnn-inspect --verify finds a checkpoint sound' sh -c "gnn-inspect --verify $c >said"
says 'gnn-inspect --verify reads the counters of a checkpoint' '^ok  counters: of epoch [12], step [0-9]*$'
check 'gnn-inspect --verify accepts a state dict' sh -c "gnn-inspect --verify '$D/gcn.safetensors' >said"
says 'gnn-inspect --verify says that a state dict has no checksum' '^ok  no checksum: only the format is verified'
for f in m $c; do
    perl -e 'local $/; open F, "<:raw", $ARGV[0]; $_ = <F>; substr($_, -9, 1) ^= "\1"; print' $f >bad
    for o in '' --verify '--export x.npz'; do
        status 3 "gnn-inspect${o:+ $o} finds a flipped bit in $f" gnn-inspect bad $o
    done
done
check 'gnn-inspect --export leaves no archive of a damaged model' test ! -e x.npz

check 'gnn-inspect --diff finds a model equal to itself' gnn-inspect --diff m m
status 1 'gnn-inspect --diff finds two models different' sh -c 'gnn-inspect --diff m other >said'
says 'gnn-inspect --diff names the tensor in which models differ' '^model, tensor convs.*, element 0: [-0-9.e]* | [-0-9.e]*$'
gnn-train -q --store s -f 3 --epochs 1 -o one
status 1 'gnn-inspect --diff finds models of other architectures different' sh -c 'gnn-inspect --diff m one >said'
says 'gnn-inspect --diff names the member in which architectures differ' '^gnn\.'
gnn-train -q --store s -f 3,3 -b 64 --hidden 8 --epochs 3 --eval valid --lr 0.003 --batch-norm -o by
status 1 'gnn-inspect --diff finds models of other provenance different' gnn-inspect --diff m by
check 'gnn-inspect --diff --ignore provenance finds models equal that differ in provenance' gnn-inspect --diff --ignore provenance m by
status 2 'gnn-inspect --diff refuses a model and a store' gnn-inspect --diff m s
check 'gnn-inspect --export writes the tensors of a model' gnn-inspect --export m.npz m
check 'gnn-inspect --export writes all tensors of a model' \
    sh -c 'perl -0777 -ne "END { exit !(\$n == 22) } \$n += () = /convs\.0\.lin_l\.weight\.npy|[a-z_.0-9]*\.npy/g" m.npz'
status 2 'gnn-inspect refuses -s of a model' gnn-inspect -s m
status 2 'gnn-inspect --verify --against refuses a model' gnn-inspect --verify --against s m
status 2 'gnn-inspect --diff --original refuses models' gnn-inspect --diff --original m m
done_testing
