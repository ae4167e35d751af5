# SPDX-License-Identifier: Apache-2.0
# Induced subgraphs of DGL and PyG beside gnn-sample --induced; what they do not have, beside a look at each in-edge.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/peers/setup.sh"
stores plain plain+edges plain+both typed typed+both matrix
for hops in -1 -1,-1 99,99,99; do
    same dgl_shadow plain ids "DGL's ShaDow sampler, fan-outs $hops" -f $hops --induced
    same dgl_shadow plain ids "DGL's ShaDow sampler, fan-outs $hops, --frontier new" -f $hops --induced --frontier new
    same pyg_khop plain ids "PyG's k_hop_subgraph, fan-outs $hops" -f $hops --induced
done
same dgl_shadow typed a "DGL's ShaDow sampler, several types" -f -1,-1 --induced --seed-type a
is() { draw same none "$@"; }
for how in "" --disjoint "--frontier new" "--disjoint --frontier new"; do
    is plain ids "gnn-sample has all edges among nodes: $how" -f -1,-1 --induced $how
    is plain twice "gnn-sample has all edges among nodes, for seeds that are given twice: $how" -f -1 --induced $how
    is typed a "gnn-sample has all edges among nodes of several types: $how" -f -1,-1 -f b/of/a=0,0 --induced --seed-type a $how
    is matrix rows "gnn-sample has all edges of a weight among nodes: $how" -f 99,99 --weight weight --induced --seed-type row $how
    for rule in "le" "lt --window 4" "le --latest"; do
        is plain+both times "gnn-sample has all edges among nodes that their seed lets pass: $rule $how" -f $([ "${rule#*latest}" = "$rule" ] && echo -1,-1 || echo 3,2) --time-rule $rule --induced $how
        is typed+both atimes "gnn-sample has all edges of several types that their seed lets pass: $rule $how" \
            -f -1,-1,-1 --time-rule ${rule% --latest} --induced --seed-type a $how
    done
done
compare
done_testing
