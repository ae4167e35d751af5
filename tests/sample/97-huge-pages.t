# SPDX-License-Identifier: Apache-2.0
# --huge-pages: what batches read is copied before it is used, and batches, rows and models stay the same.
. "$GNN_TOP/tests/lib.sh"
shim=$GNN_B/shim.so
gnn-import -q -o S sbm:nodes=70000,degree=40,features=32,times=1,weights=1,classes=4 && gnn-partition -q -k 2 --method random -o P S || exit 1
offered=$(cat /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null || echo '[never]')
case $offered in *'[never]'*) offered= ;; esac
# told STORE: a line on standard error says what was copied, or that nothing can be
told() {
    if [ "$offered" ]; then
        perl -ne '/: (\d+) of (\d+) MB copied in [\d.]+ s, (\d+) MB of it in huge pages$/ && $1 > 0 && $1 <= $2 and $n++; END { exit(($n // 0) != 1) }' said
    else
        grep -q 'huge-pages has no effect: the kernel makes none' said
    fi
}
seq 0 1279 | sed 's/$/ 500/' >seeds
batches='--no-provenance -f 5,5 -b 64'
for store in S P; do
    for rule in '--steps 0:20' '--steps 0:20 --weight weight --edge-ids' '--steps 0:20 --labor' '--seeds seeds --time-rule le --edge-ids'; do
        # shellcheck disable=SC2086
        gnn-sample -q $batches $rule -o want $store || exit 1
        # shellcheck disable=SC2086
        check "gnn-sample draws from copies of $store: $rule" gnn-sample --huge-pages $batches $rule -o got $store
        cp err said
        check "it says what was copied of $store: $rule" told
        check "they are the same batches: $rule" cmp want got
    done
    gnn-gather -q --no-provenance -i want -F x,y -o rows $store || exit 1
    check "gnn-gather gathers from copies of $store" gnn-gather --huge-pages --no-provenance -i want -F x,y -o got $store
    cp err said
    check "it says what was copied of $store" told
    check "they are the same rows of $store" cmp rows got
done
options='--no-provenance -f 3,2 -b 512 --hidden 8 --epochs 1 --eval valid'
# shellcheck disable=SC2086
gnn-train -q $options -o want.safetensors --store P || exit 1
# shellcheck disable=SC2086
check 'gnn-train trains from copies' gnn-train -q --huge-pages $options -o got.safetensors --store P
check 'it is the same model' cmp want.safetensors got.safetensors
gnn-predict -q -o want.npy P want.safetensors || exit 1
check 'gnn-predict predicts from copies' gnn-predict -q --huge-pages -o got.npy P want.safetensors
check 'it predicts the same' cmp want.npy got.npy

# A store whose edges take the place of those of its base store: the latter are not read, so not copied.
gnn-import -q --split-links node/to/node=80/10/10 -o L S || exit 1
check 'gnn-sample draws from copies of a store with a base store' gnn-sample --huge-pages -q -f 5 --links node/to/node -b 64 --steps 0:2 -o got L
gnn-sample --huge-pages -f 5 --links node/to/node -b 64 --steps 0:2 -o got L 2>said
[ -z "$offered" ] || check 'edges that others have replaced are not copied' perl -ne '/: (\d+) of (\d+) MB copied/ && $1 == $2 && $1 < 12 and $n++; END { exit(($n // 0) != 1) }' said
printf '0,1\n1,2\n' >plain.csv && gnn-import -q -o tiny plain.csv
gnn-sample --huge-pages -f 5 -b 2 --steps 0:1 -o got tiny 2>said
[ -z "$offered" ] || check 'a store without large tensors has nothing to copy' grep -q 'no effect: nothing that would be copied has 4 MiB' said

# What has no effect, or no place, is refused.
status 2 'full batches refuse it' gnn-train --full-batch --huge-pages --epochs 1 --hidden 8 -o x.safetensors --store S
cp err said
check 'they say why' grep -q 'huge-pages.*has no effect with --full-batch' said
gnn-gather -q -i want -F x,y -o rows P
status 2 'a stream refuses it' gnn-train --huge-pages --epochs 1 --hidden 8 -o x.safetensors -i rows
cp err said
check 'it says why' grep -q 'huge-pages.*requires --store' said
if [ -e "$shim" ]; then
    # shellcheck disable=SC2086
    status 2 'a store that is larger than memory has no place for copies' env LD_PRELOAD="$shim" FAULT_MEMORY=10000000 gnn-sample --huge-pages $batches --steps 0:1 -o got S
    cp err said
    check 'it says so' grep -q 'gnn-sample: --huge-pages: S is larger than memory' said
    # A third of 66 MB holds the graph and no more.
    # shellcheck disable=SC2086
    check 'where memory is short, less is copied' env LD_PRELOAD="$shim" FAULT_MEMORY=66000000 gnn-train --huge-pages $options -o got.safetensors --store S
    cp err said
    [ -z "$offered" ] || check 'it says how much' perl -ne '/: (\d+) of (\d+) MB copied/ && $1 < $2 && $1 <= 22 and $n++; END { exit(($n // 0) != 1) }' said
fi

# Copies are verified as the file is.
gnn-sample -q -f 3 -b 64 --steps 0:2 -o drawn S || exit 1
perl -e 'open F, "+<:raw", $ARGV[0]; my $at = $ARGV[1] * (-s F); seek F, $at, 0; read F, $_, 1; seek F, $at, 0; print F $_ ^ "\1"' S/part-00000.gnb 0.05
status 3 'gnn-gather finds damage in copies' gnn-gather --huge-pages -i drawn -F x,y -o got S
cp err said
check 'it names the tensor' grep -q "S/part-00000.gnb: tensor 'node/node/x': checksum mismatch" said
done_testing
