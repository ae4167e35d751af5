# SPDX-License-Identifier: Apache-2.0
# What ranks of version 0.1 wrote stays readable; see 20-versions.t.
. "$GNN_TOP/tests/ranks/setup.sh"
gzip -dc "$GNN_TOP/tests/interop/v0.1/more.tar.gz" | tar xf - || exit 1
check 'gnn-sample on 2 ranks draws from a store of fadb5d9' ranks 2 gnn-sample -q --no-provenance bare -f 3,2 -b 8 --count-once -o 'drawn.%r'
check 'gnn-gather on 2 ranks gathers for what fadb5d9 drew' ranks 2 gnn-gather -q --no-provenance bare -i 'bare.rank.%r' -o 'again.%r'
check 'gnn-train on 2 ranks learns from what fadb5d9 gathered' ranks 2 gnn-train -q --hidden 4 --batch-norm -i 'bare.rank.%r.rows' -o model
for r in 0 1; do
    check "gnn-sample on rank $r draws what fadb5d9 drew" gnn-inspect --diff drawn.$r bare.rank.$r
    check "gnn-gather on rank $r gathers what fadb5d9 gathered" gnn-inspect --diff again.$r bare.rank.$r.rows
done
done_testing
