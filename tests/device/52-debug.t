# SPDX-License-Identifier: Apache-2.0
# What the environment asks of devices for measurements: GNN_DEBUG_TIME's time line and what GNN_GPU_OFF switches off, on emulated devices.
. "$GNN_TOP/tests/lib.sh"
emu=$GNN_B/emu/bin
gnn-import -q -o s sbm:nodes=400,degree=7,features=12
train() { # OUT ENVIRONMENT...: 48 steps
    _out=$1
    shift
    env "$@" "$emu/gnn-train" --no-provenance --store s -f 4,3 -b 20 --hidden 8 --epochs 4 --keep last --eval none --dropout 0 \
        --no-layer-norm --device cuda --metrics m.json -o "$_out" 2>said
}
check "gnn-train trains on a device" train plain.st A=
check "gnn-train tells no times unless asked" sh -c '! grep -E "time line|times, [0-9.]* ms" said && ! grep -E "timeline|operation" m.json'

# The fake device's clock goes on by 1 ms with each operation of any stream.
check "gnn-train trains with GNN_DEBUG_TIME=timeline" train t.st GNN_DEBUG_TIME=timeline
check "gnn-train with GNN_DEBUG_TIME=timeline writes the same model" cmp plain.st t.st
check "gnn-train with GNN_DEBUG_TIME=timeline does not tell the times of operations" sh -c '! grep "times, [0-9.]* ms" said'
lines='^gnn-train: train [0-9]/[0-9]*: sampling -[0-9.]* to -[0-9.]*, gathering -[0-9.]* to -[0-9.]*, training 0.000 to [0-9.]*$'
check "gnn-train tells when each stream worked on the 21st to the 40th batch" \
    sh -c 'test "$(grep -c "$1" said)" -eq 20 && grep -q "train 1/8:" said && grep -q "train 3/3:" said' sh "$lines"
check "each batch of the time line is sampled, then gathered, then trained on, in that order" \
    perl -ne 'if (/sampling (\S+) to (\S+), gathering (\S+) to (\S+), training 0.000 to (\S+)$/) {
        $n++; die $_ unless $1 < $2 && $2 <= $3 && $3 < $4 && $4 <= 0 && $5 > 20 } END { die "no lines\n" unless $n }' said
check "most of gathering is done while another batch is trained on" \
    perl -ne '$share = $1 if /gathering: (\d+) % of \S+ ms while a batch was trained on$/; END { die "$share\n" unless $share > 50 }' said
check "gnn-train tells how long the device trained, and waited between batches" \
    grep -q "^gnn-train: training: [0-9.]* ms, and [0-9.]* ms between batches$" said
check "the time line is in the metrics" perl -MJSON::PP -ne 'my $j = decode_json($_);
    if ($j->{event} eq "timeline") { $n++; die $_ unless $j->{set} eq "train" && $j->{training}[0] == 0 && $j->{gathering}[1] <= 0 && $j->{sampling}[0] < $j->{sampling}[1] }
    END { die "$n\n" unless $n == 20 }' m.json
check "gnn-train trains on two devices with GNN_DEBUG_TIME=1" \
    train t.st GNN_DEBUG_TIME=1 GNN_FAKE_DEVICES=2
check "gnn-train with GNN_DEBUG_TIME=1 tells both, the time line and operations" \
    sh -c 'grep -q "time line" said && grep -q "optimiser: 48 times, [0-9.]* ms" said'
# The host's threads sample, and batches are copied.
check "gnn-train trains with GNN_DEBUG_TIME=timeline on batches from a pipe" sh -c '
    gnn-sample -q -f 4,3 -b 20 --epochs 4 s | gnn-gather -q s | GNN_DEBUG_TIME=timeline "$1/gnn-train" --hidden 8 --device cuda -o t.st 2>said' sh "$emu"
check "gnn-train tells when batches from a pipe are copied" \
    sh -c 'test "$(grep -c "train [0-9]/[0-9]*: copying -[0-9.]* to -[0-9.]*, training 0.000 to [0-9.]*$" said)" -eq 20'

check "gnn-train trains with GNN_GPU_OFF=priority,gather2" train t.st GNN_GPU_OFF=priority,gather2
check "gnn-train with GNN_GPU_OFF=priority,gather2 writes the same model" cmp plain.st t.st
for order in priority reverse; do
    check "gnn-train trains where streams go by priority ($order)" train t.st GNN_FAKE_ORDER=$order
    check "gnn-train writes the same model where streams go by priority ($order)" cmp plain.st t.st
done
refusing=gnn-train
refuses 2 "GNN_GPU_OFF: 'fast' is none of priority, gather2" "an unknown word in GNN_GPU_OFF" \
    env GNN_GPU_OFF=gather2,fast "$emu/gnn-train" --store s -f 4,3 --device cuda -o t.st
for word in line operations,times 2 operation; do
    refuses 2 "GNN_DEBUG_TIME: '${word#*,}' is none of operations, timeline, 1" "an unknown word in GNN_DEBUG_TIME" \
        env GNN_DEBUG_TIME=$word "$emu/gnn-train" --store s -f 4,3 --device cuda -o t.st
done
check "gnn-train trains with GNN_DEBUG_TIME=operations,timeline" train t.st GNN_DEBUG_TIME=operations,timeline
check "gnn-train with GNN_DEBUG_TIME=operations,timeline tells both" sh -c 'grep -q "time line" said && grep -q "times, [0-9.]* ms" said'
for off in 0 ''; do
    check "gnn-train trains with GNN_DEBUG_TIME=$off" train t.st GNN_DEBUG_TIME=$off
    check "gnn-train with GNN_DEBUG_TIME=$off tells no times" sh -c '! grep -E "time line|times, [0-9.]* ms" said'
done
done_testing
