# Model files that promise what they do not hold: status 3 and one line, before memory is taken for it.
. "$GNN_TOP/tests/lib.sh"
cat >make.pl <<'EOF'
# FILE WIDTHS NODE-TYPES TARGET: a model of which only the description is there; FILE NAME=ROWSxCOLS...: tensors
use strict;
my ($file, @of) = @ARGV;
my ($at, @entry) = (0);
if ($of[0] =~ /=/) {
    for (@of) {
        my ($name, $r, $c) = /(.*)=(\d+)x(\d+)/;
        push @entry, sprintf '"%s":{"dtype":"F32","shape":[%d,%d],"data_offsets":[%d,%d]}', $name, $r, $c, $at, $at + 4 * $r * $c;
        $at += 4 * $r * $c;
    }
} else {
    my $types = join ',', map { sprintf '{"name":"%s","features":%d}', split /=/ } split / /, $of[1] =~ s/:/=/gr;
    my $gnn = qq({"version":1,"kind":"sage","width":[$of[0]],"layer_norm":false,"residual":false,"feature_norm":"none",)
        . qq("task":"multiclass","target":$of[2],"node_types":[$types],"edge_types":[[0,"to",0]]});
    $gnn =~ s/"/\\"/g;
    @entry = qq("__metadata__":{"gnn":"$gnn"});
}
my $head = '{' . join(',', @entry) . '}';
$head .= ' ' x (-length($head) % 8);
open my $o, '>:raw', $file or die;
print $o pack('Q<', length $head), $head, "\0" x $at;
EOF
gnn-import -q sbm:nodes=50 -o S
refused() { # TEXT WIDTHS...: the last error has the text
    _text=$1
    shift
    perl make.pl m.safetensors "$@"
    status 3 "$_text" gnn-predict -o o.npy S m.safetensors
    if [ "$(wc -l <err)" -eq 1 ] && grep -q "m.safetensors: .*$_text" err && [ ! -e o.npy ]; then _ok 'in a line'; else
        _not_ok 'in a line'
        sed 's/^/# /' err
    fi
}
refused 'a model of [0-9]* parameters' 1048576,4 node:1024 0
refused 'a model of [0-9]* parameters' "convs.0.lin_l.weight=65536x1" "convs.1.lin_l.weight=65536x1" "convs.2.lin_l.weight=4x1"
refused 'no relation leads to the classified node type b' 4,4 'node:16 b:16' 1
refused 'no tensor convs.0.lin_l.weight' 4,4 node:16 0
refused 'no tensor of layer 1, but of layer 2' "convs.0.lin_l.weight=4x16" "convs.2.lin_l.weight=4x4"
done_testing
