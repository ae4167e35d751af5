# SPDX-License-Identifier: Apache-2.0
# State dicts that promise what they do not hold: status 3 and one line, before memory is taken for it. (Of files with a description,
# tests/unit/test_model_file.c.)
. "$GNN_TOP/tests/lib.sh"
cat >make.pl <<'EOF'
# FILE NAME=ROWSxCOLS...: tensors of zeros
use strict;
my ($file, @of) = @ARGV;
my ($at, @entry) = (0);
for (@of) {
    my ($name, $r, $c) = /(.*)=(\d+)x(\d+)/;
    push @entry, sprintf '"%s":{"dtype":"F32","shape":[%d,%d],"data_offsets":[%d,%d]}', $name, $r, $c, $at, $at + 4 * $r * $c;
    $at += 4 * $r * $c;
}
my $head = '{' . join(',', @entry) . '}';
$head .= ' ' x (-length($head) % 8);
open my $o, '>:raw', $file or die;
print $o pack('Q<', length $head), $head, "\0" x $at;
EOF
gnn-import -q sbm:nodes=50 -o S
refused() { # WHAT TEXT TENSORS...: a state dict like that; the error has the text
    _what=$1 _text=$2
    shift 2
    perl make.pl m.safetensors "$@"
    status 3 "gnn-predict refuses a state dict $_what" gnn-predict -o o.npy S m.safetensors
    if [ "$(wc -l <err)" -eq 1 ] && grep -q "m.safetensors: .*$_text" err && [ ! -e o.npy ]; then
        _ok "gnn-predict says in one line what is wrong with a state dict $_what"
    else
        _not_ok "gnn-predict says in one line what is wrong with a state dict $_what"
        sed 's/^/# /' err
    fi
}
refused 'of too many parameters' 'a model of [0-9]* parameters' \
    "convs.0.lin_l.weight=65536x1" "convs.1.lin_l.weight=65536x1" "convs.2.lin_l.weight=4x1"
refused 'without its layer 1' 'no tensor of layer 1, but of layer 2' "convs.0.lin_l.weight=4x16" "convs.2.lin_l.weight=4x4"
refused 'of unknown tensors' 'no tensor has the name of a layer.s parameter .*, but conv1.lin_l.weight' "conv1.lin_l.weight=4x16"

# Layers that are known, but not supported.
knows() { # NAME LAYER TENSORS...: as we call it, and as the message does
    _kind=$1 _layer=$2
    shift 2
    refused "with $_kind layers" "not supported, $_layer" "$@"
    status 3 "gnn-train --init refuses a state dict with $_kind layers" \
        gnn-train --store S -f 3,3 --hidden 4 --epochs 1 --init m.safetensors -o o.npy
    mv err said
    check "gnn-train --init says that $_kind layers are not supported" \
        grep -q "m.safetensors: tensor .*not supported, $_layer.*supported are GraphSAGE.* and HGT" said
}
knows 'GAT without heads' 'GAT (PyG' convs.0.att_dst=1x4 convs.0.att_src=1x4 convs.0.bias=4x1 convs.0.lin.weight=4x16
knows 'GATv2 without heads' 'GATv2 (PyG' convs.0.att=1x4 convs.0.lin_l.weight=4x16 convs.0.lin_r.weight=4x16
knows 'PyG GIN' 'GIN (PyG' convs.0.nn.0.weight=4x16 convs.0.nn.0.bias=4x1
knows 'PyG TransformerConv' 'TransformerConv (PyG' convs.0.lin_key.weight=4x16 convs.0.lin_query.weight=4x16
knows 'DGL SAGE' 'DGL.s SAGEConv' layers.0.fc_self.weight=4x16 layers.0.fc_neigh.weight=4x16
done_testing
