# SPDX-License-Identifier: Apache-2.0
# A store that is larger than memory: the same batches and models, rows that are asked for before they are read, and large tensors
# that are verified only if that is asked for.
. "$GNN_TOP/tests/lib.sh"
shim=$GNN_B/shim.so
[ -e "$shim" ] || { skip 'a store larger than memory gives the same batches' 'the shim is not built'; done_testing; }
# The store has 78 MB.
small() { env LD_PRELOAD="$shim" FAULT_MEMORY=40000000 "$@"; }
gnn-import -q -o S sbm:nodes=70000,degree=3,features=256,times=1,classes=4 && gnn-partition -q -k 3 --method random -o P S || exit 1
seq 0 1279 | sed 's/$/ 500/' >seeds
batches='--no-provenance -f 3,2 -b 64'
for store in S P; do
    for rule in '--steps 0:20' '--steps 0:20 --edge-ids' '--steps 0:20 --labor' '--seeds seeds --time-rule le --edge-ids'; do
        # shellcheck disable=SC2086
        gnn-sample -q $batches $rule -o want $store
        # shellcheck disable=SC2086
        check "gnn-sample draws from $store out of core: $rule" small gnn-sample $batches $rule -o got $store
        cp err said
        check "they are the same batches: $rule" cmp want got
        check "it says that $store is larger than memory: $rule" grep -q "^gnn-sample: $store: [78][0-9] MB, and 40 MB of memory: at least [45][0-9] % of it stays on the disk; tensors of 64 MiB or more are not verified (--verify does so first)" said
        check "and what batches take: $rule" grep -q "^gnn-sample: $store: 16 batches took [0-9.]* MB of the disk and [0-9.]* s each" said
    done
    for fields in '-F x,y,time' '-F x --dtype bf16'; do
        # shellcheck disable=SC2086
        gnn-gather -q --no-provenance -i want -o rows $fields $store
        # shellcheck disable=SC2086
        check "gnn-gather gathers from $store out of core: $fields" small gnn-gather -q --no-provenance -i want -o got $fields $store
        check "they are the same rows: $fields" cmp rows got
    done
done
ask() { env LD_PRELOAD="$shim" FAULT_OP=ask FAULT_COUNT=count "$@"; }
one='-q -f 3 -b 64 --steps 0:1 --count'
# shellcheck disable=SC2086
check 'gnn-sample draws a batch' small env FAULT_OP=ask FAULT_COUNT=count gnn-sample $one S
check 'it asked for the row of each seed that has edges, and for no other' sh -c 'read -r n <count && [ "$n" -gt 40 ] && [ "$n" -le 64 ]'
# shellcheck disable=SC2086
check 'gnn-sample draws it in memory' ask gnn-sample $one S
check 'it asked for none' grep -qx 0 count
# shellcheck disable=SC2086
gnn-sample -q $batches --steps 0:20 -o want S
# shellcheck disable=SC2086
check 'gnn-sample draws where asking fails' small env FAULT_OP=ask FAULT_N=1 FAULT_STICKY=1 gnn-sample -q $batches --steps 0:20 -o got S
check 'they are the same batches then' cmp want got
options='-q --no-provenance --store S -f 3,2 -b 512 --hidden 8 --epochs 1 --eval none'
# shellcheck disable=SC2086
check 'gnn-train trains' gnn-train $options -o want.safetensors
# shellcheck disable=SC2086
check 'gnn-train trains out of core' small gnn-train $options -o got.safetensors
check 'it is the same model' cmp want.safetensors got.safetensors

# What is verified: of a damaged feature in memory always, else if that is asked for, before anything else.
perl -e 'open F, "+<:raw", $ARGV[0]; my $at = int((-s F) / 2); seek F, $at, 0; read F, $_, 1; seek F, $at, 0; print F $_ ^ "\1"' S/part-00000.gnb
gnn-sample -q -f 3 -b 64 --steps 0:2 -o drawn S
status 3 'gnn-gather finds the damage in memory' gnn-gather -q -i drawn -o got S
check 'gnn-gather does not look for it out of core' small gnn-gather -q -i drawn -o got S
rm -f got
status 3 'gnn-gather finds it if that is asked for' small gnn-gather --verify -i drawn -o got S
cp err said
check "it names the tensor" grep -q "S/part-00000.gnb: tensor 'node/node/x': checksum mismatch" said
check 'it has written nothing' test ! -e got
status 3 'gnn-sample verifies what it does not read if that is asked for' small gnn-sample --verify -f 3 -b 64 --steps 0:2 -o got S
check 'gnn-sample says that all is verified' small gnn-sample --verify -f 3 -b 64 --steps 0:2 -o got P
cp err said
check 'in its line' grep -q 'stays on the disk; all of it has been verified' said
check 'gnn-sample verifies nothing' small gnn-sample --no-verify -f 3 -b 64 --steps 0:2 -o got P
cp err said
check 'and says nothing of it' grep -q 'stays on the disk$' said
# Small tensors are verified out of core, too.
perl -e 'open F, "+<:raw", $ARGV[0]; seek F, -5000, 2; read F, $_, 1; seek F, -5000, 2; print F $_ ^ "\1"' P/part-00000.gnb
status 3 'gnn-sample finds the damage of a small tensor out of core' small gnn-sample -q -f 3 -b 64 --steps 0:2 -o got P
done_testing
