# SPDX-License-Identifier: Apache-2.0
# One of something is named in the singular.
. "$GNN_TOP/tests/lib.sh"
says() { # WANTED-TEXT COMMAND...: among what it prints, whatever its status
    _want=$1
    shift
    "$@" >out 2>err
    if cat out err | grep -q -F -e "$_want"; then _ok "$* says: $_want"; else
        _not_ok "$* does not say: $_want"
        cat out err | sed 's/^/# /' | tail -n 20
    fi
}
printf 'id,f0,y,set\n0,1,0,train\n1,3,1,valid\n2,5,1,train\n' >n.csv && printf 'source,target\n1,0\n' >e.csv && printf '0,0\n' >loop.csv
says 'node/to/node: 1 edge, directed, 0.00 % have their reverse, 0 self-loops' gnn-import -o S --nodes n.csv e.csv
printf 'source,target\n0,0\n' >loop.csv
says 'node/to/node: 1 edge, 1 self-loop, 0 parallel' gnn-import -o L --nodes n.csv loop.csv
printf '1\n2\n3\n' >y.txt
gnn-import -q -o R --features y.txt --labels y.txt --task regression --split random:0.4,0.3,0.3 e.csv 2>/dev/null ||
    { printf '1 0\n2 0\n' >e.txt && gnn-import -q -o R --features y.txt --labels y.txt --task regression --split random:0.4,0.3,0.3 e.txt; }
says 'regression of node, 1 output' gnn-inspect R
printf '0\n0\n1\n' >p
says 'halo      0 nodes' gnn-partition --from p -o P S
says 'cut       0 of 1 edge (0.00 %)' gnn-partition --from p -o P --force S
printf '0\n1\n1\n' >p
says 'halo      1 node, 33.33 % of 3' gnn-partition --from p -o P --force S
printf '0\n0\n0\n' >p
says '1 of 2 partitions has no nodes' gnn-partition --from p -k 2 -o P --force S
says 'steps from 5 on: an epoch has only 1 step' gnn-sample -f 2 --steps 5:6 S
gnn-sample -q -f 2 -b 1 --steps 0 -o b S
says '1 seed, 2 of an epoch' gnn-gather --plan --cache 0.5 -i b S
says 'measured in 1 batch' gnn-gather --plan --cache 0.5 -i b S
says '1 seed in 1 step an epoch' gnn-inspect "$(gnn-sample -q -f 2 --split valid -o v S && echo v)"
says 'batches 1, 1 seed, ' gnn-inspect v
gnn-train -q --store S -f 2,2 --hidden 4 --epochs 1 -o two
gnn-train -q --store R -f 2 --epochs 1 -o r 2>/dev/null
says 'the model has 2 layers, but the batches have 1 hop' sh -c 'gnn-gather -q -i b S | gnn-predict -n two'
says '1 hop, but the model of --init two has 2 layers' gnn-train --store S -f 2 --init two -o x
says 'a model of a regression task with 1 output; this graph has a binary task with' gnn-train --store S -f 2 --init r -o x
says 'sage, 1 layer, ' gnn-train -v --store S -f 2 --epochs 1 -o x
says '1 node%' sh -c 'gnn-predict -v --split valid -o x.npy S two 2>&1 | sed "s/, 1 node$/, 1 node%/"'
printf 'id,f0,y,set\n0,1,0,train\n1,3,,train\n2,5,,valid\n' >m.csv && gnn-import -q -o M --nodes m.csv e.csv
says 'set train: 1 of 2 nodes has a label; the others do not count' gnn-train --store M -f 2 --eval valid --epochs 1 -o x
says 'set valid: none of its 1 node has a label' gnn-train --store M -f 2 --eval valid --epochs 1 -o x
says '(0 of 1 label known)' gnn-train --store M -f 2 --eval valid --epochs 1 -o x
printf '7\n' >one
printf '1 0\n2 0\n' >e.txt
says '1 row for 3 nodes' gnn-import -o X --features one e.txt
says '--hidden names 2 widths; 1 hop needs 0' gnn-train --store S -f 2 --hidden 4,4 -o x
printf 'a,b\n0,1\n1,2\n2\n' >ragged.csv
says ': 1 field, but line' gnn-import -o X ragged.csv
gnn-partition -q -k 1 -o C --force S
says '1 step of the optimiser' sh -c 'gnn-train -q --store S -f 2 --epochs 1 --checkpoint K -o x && gnn-inspect K/checkpoint.safetensors'
done_testing
