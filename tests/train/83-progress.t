# SPDX-License-Identifier: Apache-2.0
# Progress shows where a run is, what it has reached and when it ends; waiting for batches is told once, and only where it matters.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q -o S sbm:nodes=1500,degree=10,features=16 && gnn-sample -q -f 5,5 -b 64 --epochs 3 --eval valid S | gnn-gather -q -o st S ||
    { _not_ok 'the programs make the inputs of this test'; done_testing; }
train='gnn-train --hidden 8 --progress always'
lines() { tr '\r' '\n' <err | sed 's/^.\[K//' >said; }
shows() { check "$2" grep -q -e "$1" said; }
number='[0-9][0-9.]*'
check 'gnn-train shows progress' $train --store S -f 5,5 -b 64 --epochs 3 -o m
lines
shows "^epoch 0 of 3 \[#*\.*\] [0-9]*/15 loss $number, $number step" 'gnn-train shows the epoch of the epochs, the step, the loss and the rate'
shows "^epoch [12] of 3 .*, best valid accuracy $number (epoch [01]), $number step.*, at most 0:[0-9][0-9] left" 'gnn-train shows the best value so far and the time left'
check 'gnn-train without a word of it does not speak of waiting' sh -c '! grep waiting said && ! grep waited said'
check 'gnn-train without early stopping shows progress' $train --store S -f 5,5 -b 64 --epochs 3:5 --patience 0 --eval none -o m
lines
shows "^epoch [34] of 5 .* loss $number, $number step[^,]*, [0-9]:[0-9][0-9] left" 'gnn-train shows the time left, and no best value where nothing is evaluated'
check 'gnn-train of full batches shows progress' $train --full-batch --store S --epochs 3 -o m
lines
shows "^epoch \[#*\.*\] 3/3 loss $number, best valid accuracy $number (epoch [01])" 'gnn-train of full batches counts epochs'
check 'gnn-train of a stream shows progress' $train -i st -o m
lines
shows "^epoch [012] \[#*\.*\] [0-9]*/15 loss $number" 'gnn-train of a stream shows what it knows'
check 'gnn-train of a slow stream trains' sh -c "(head -c 1000000 st; sleep 5; tail -c +1000001 st) | $train -o m"
lines
shows '^gnn-train: training waited for batches for [0-9]* of [0-9]* s: the programs before it' 'gnn-train says that it waited where that matters'
done_testing
