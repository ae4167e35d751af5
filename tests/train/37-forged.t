# SPDX-License-Identifier: Apache-2.0
# Model files that somebody has changed under a checksum that holds: what a description promises is compared with the graph and
# with the tensors, and every file is refused by one line that says what does not fit.
. "$GNN_TOP/tests/lib.sh"
forge="/usr/bin/python3 $GNN_TOP/tests/train/forge.py"
train() { gnn-train -q --no-provenance --eval none --hidden 8 --epochs 1 -f 3,3 "$@" || exit 1; }
gnn-import -q -o s sbm:nodes=60,features=6,weights=1 && gnn-import -q -o t sbm:nodes=60,features=4,types=2 || exit 1
train --store s -m gat --heads 2 -o gat
train --store s -m gcn --edge-weight weight -o gcn
train --store t -m gatv2 --heads 2 -o gatv2
train --store t -m rgcn --bases 2 -o rgcn
train --store t -m hgt --heads 2 -o hgt
train --store t --encoder 6 --ffn --head 5 --jk cat -o around
mkdir same
if ! echo pass | $forge gat same 2>err || ! cmp gat same/1; then # the header is written in another way
    gnn-inspect --verify same/1 >out 2>&1 || { skip "model files that somebody has changed are refused" "python3 finds no libxxhash: $(tail -n 1 err)"; done_testing; }
fi
check "gnn-predict reads a model whose header was written by another program" gnn-predict -q s same/1 -o p.npy

# Of tensors that share memory, safetensors' save_model writes one.
train --store s -m gatv2 --heads 2 --share-weights -o shared
mkdir once
$forge shared once <<'EOF' || exit 1
[t.pop(k) for k in list(t) if ".lin_r." in k]
[t.pop(k) for k in list(t) if ".lin_r." in k]; import json; head(lambda h: json.dumps({k: v for k, v in json.loads(h).items() if k != "__metadata__"}))
EOF
gnn-predict -q s shared -o shared.npy
for k in 1 2; do
    check "gnn-predict reads a model of shared weights that are in the file once ($k)" gnn-predict -q s once/$k -o once.npy
    check "its predictions are those of the model that has them twice ($k)" cmp shared.npy once.npy
done

# One line of status 3 with the pattern, and no output.
refused() { # NAME PATTERN COMMAND...
    _name=$1 _pattern=$2
    shift 2
    timeout 300 "$@" >out 2>err
    _rc=$?
    if [ $_rc -eq 3 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q -e "$_pattern" err && [ ! -s out ] && [ ! -e x.npy ]; then _ok "$_name"; else
        _not_ok "$_name"
        echo "# status $_rc, without: $_pattern"
        sed 's/^/# /' err
    fi
    rm -f x.npy
}
# Lines of "EDIT | PATTERN" (forge.py) on stdin.
forged() { # MODEL STORE
    sed 's/  *|  */\t/' >lines
    rm -rf f && mkdir f
    cut -f 1 lines | $forge "$1" f || exit 1
    k=0
    while IFS='	' read -r edit pattern; do
        k=$((k + 1))
        refused "gnn-predict refuses the model of $1 with $(echo "$edit" | cut -c -80)" "$pattern" gnn-predict "$2" f/$k -o x.npy
        case $pattern in *tensor*) refused "gnn-inspect --verify refuses it" "$pattern" gnn-inspect --verify f/$k ;; esac
    done <lines
}
forged gat s <<'EOF'
d["kind"] = "gatv3" | cannot read member kind of the model's description
d["kind"] = "gatv2" | its parameters are of gat, not of gatv2
d["kind"] = "sage" | member heads
d["heads"] = 4 | tensor convs.0.att_src: shape (1, 2, 4) instead of (1, 4, 2)
d["heads"] = 3 | do not fill 8 columns
d["heads"] = -2 | member heads
d["heads"] = 2**63 | JSON: too big integer
del d["heads"] | tensor convs.0.att_src: shape
d["last_heads"] = "concat" | tensor convs.1.lin.weight: shape
d["negative_slope"] = float("nan") | JSON: invalid token
d["attention_dropout"] = 1 | member attention_dropout
d["bases"] = 2 | member bases
d["unheard_of"] = 1 | member unheard_of
d["edge_weight"] = "weight" | member edge_weight
d["encoder"] = 2**20 | no tensor encoder.weight
d["ffn"] = True | member ffn
d["residual"] = d["ffn"] = True | tensor norms.0.weight: shape (8) instead of (6)
d["head"] = [2**20] * 16 + [4] | 16492699582720 parameters in [0-9]* bytes is implausible
d["jk"] = "max"; d["head"] = [4] | layers of equal width, not 8 and 4
d["batch_norm"] = True | member batch_norm
d["width"] = [8, 4, 4] | tensor convs.1.lin.weight: shape
d["width"] = [2**20] * 64 | is implausible
d["width"] = [8] * 65 | member width
d["task"] = "binary" | member task
d["target"] = 2**32 | member target
d["node_types"][0]["features"] = 7 | tensor convs.0.lin.weight: shape (8, 6) instead of (8, 7)
d["node_types"][0]["features"] = 2**24 | is implausible
d["node_types"][0]["name"] = "a\nb" | node type 0 is node; the model's is a.u000ab
d["node_types"] *= 1025 | member node_types
d["edge_types"][0][2] = 1 | member edge_types
d["edge_types"][0].append(5) | member edge_types
d["edge_types"] *= 2 | two edge types would have parameters of the same name
text(lambda s: "") | JSON
text(lambda s: "[" * 100000) | JSON: maximum parsing depth
text(lambda s: s.replace('"kind"', '"kind":"sage","kind"')) | JSON: duplicate object key
t["convs.0.att_src"][1:] = [[], bytes(4)] | tensor convs.0.att_src: shape () instead of (1, 2, 4)
t["convs.0.att_src"][1:] = [[0, 2, 4], b""] | tensor convs.0.att_src: shape (0, 2, 4)
t["convs.0.att_src"][1:] = [[1, 2, 2**61], b""] | tensor convs.0.att_src: data_offsets and shape disagree
t["convs.0.att_src"][0] = "I32" | tensor convs.0.att_src is i32
t["convs.0.bias"][2] = struct.pack("<f", float("nan")) * 8 | tensor convs.0.bias: element 0 is nan
del t["convs.1.att_dst"] | no tensor convs.1.att_dst
t["convs.2.bias"] = ["F32", [4], bytes(16)] | tensor convs.2.bias is not part of the model
t["x" * 5000] = ["F32", [], bytes(4)] | tensor x* is not part of the model
head(lambda s: s.replace('"convs.0.bias"', '"convs.1.bias"')) | header: duplicate object key
t.clear() | no tensor convs.0.lin.weight
EOF
forged gcn s <<'EOF'
d["edge_weight"] = "" | member edge_weight
d["edge_weight"] = "y" | edge type node/to/node has no field y to weight its edges by
d["edge_features"] = True | member edge_features
EOF
forged gatv2 t <<'EOF'
d["share_weights"] = True | tensor convs.0.convs.<t0___to___t0>.lin_r.weight: the layers share it with convs.0.convs.<t0___to___t0>.lin_l.weight, but
d["heads"] = 64 | 64 heads side by side do not fill 8 columns
del d["edge_types"][4] | is not part of the model
EOF
forged rgcn t <<'EOF'
d["bases"] = 3 | tensor convs.0.weight: shape (2, 4, 8) instead of (3, 4, 8)
del d["bases"] | tensor convs.0.weight: shape (2, 4, 8) instead of (5, 4, 8)
d["bases"] = 65537 | member bases
d["node_types"][1]["features"] = 5 | rgcn requires node types of the same width
d["node_types"].reverse() | node type 0 is t0; the model's is t1
del d["edge_types"][4] | tensor convs.0.comp: shape (5, 2) instead of (4, 2)
d["edge_types"] = [[1, "x%d" % i, 1] for i in range(5)] | no edge type leads to the labelled node type t0
t["convs.0.weight"][1] = [2, 32] | tensor convs.0.weight: shape (2, 32)
t["convs.1.comp"][2] = struct.pack("<f", float("inf")) * 10 | tensor convs.1.comp: element 0 is inf
EOF
forged hgt t <<'EOF'
d["heads"] = 4 | tensor convs.0.p_rel.t0__to__t0: shape (1, 2) instead of (1, 4)
d["heads"] = 3 | 3 heads side by side do not fill 8 columns
del d["edge_types"][4] | tensor convs.0.k_rel.weight: shape (10, 4, 4) instead of (8, 4, 4)
d["head"] = [4] | no tensor
d["node_types"][1]["features"] = 5 | tensor convs.0.kqv_lin.lins.t1.weight: shape (24, 4) instead of (24, 5)
d["edge_types"][0][1] = "a__b"; d["edge_types"][1] = [0, "a__b", 0] | parameters of the same name, t0__a__b__t0
t["convs.0.k_rel.weight"][1] = [4, 10, 4] | tensor convs.0.k_rel.weight: shape (4, 10, 4)
del t["convs.1.p_rel.t0__to__t0"] | no tensor convs.1.p_rel.t0__to__t0
EOF
forged around t <<'EOF'
d["residual"] = False | member ffn
del d["ffn"] | tensor norms.0.t0.weight: shape (6) instead of (8)
d["head"] = [5, 3] | tensor lin.weight: shape (4, 5) instead of (3, 5)
del d["head"] | member jk
d["jk"] = "max" | shape\|equal width
d["encoder"] = 7 | tensor encoder.t0.weight: shape (6, 4) instead of (7, 4)
del t["encoder.t1.weight"] | no tensor encoder.t1.weight
EOF

# What fits the graph, but not its labels.
echo 'd["task"] = "regression"' | $forge gat same
check "gnn-predict predicts with a regression on a graph of classes" gnn-predict -q s same/1 -o p.npy
refused "gnn-predict refuses to score a regression by classes" 's: labels of a multiclass task .* cannot score a model of a regression task' gnn-predict s same/1 -n --split valid
gnn-import -q -o two sbm:nodes=60,features=6,targets=2
refused "gnn-predict refuses to score four targets by two" 'two: labels of a regression task with 2' gnn-predict two same/1 -n --split valid
done_testing
