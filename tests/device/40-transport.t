# SPDX-License-Identifier: Apache-2.0
# Batches that stay on a device between two programs (emulated): the same bytes, whoever else reads, dies or fails.
. "$GNN_TOP/tests/lib.sh"
emu=$GNN_B/emu/bin
export GNN_FAKE_DEVICES=2
gnn-import -q -o s sbm:nodes=400,degree=7,features=12
gnn-import -q -o h sbm:nodes=200,types=3
how="-q --no-provenance -f 4,3 -b 20"
for g in s h; do gnn-sample $how "$g" | gnn-gather -q --no-provenance -o "want.$g" "$g" || exit 1; done
# joined SAMPLE-OPTIONS GATHER-OPTIONS GRAPH: through both programs; rcs keeps their statuses
joined() {
    rm -f got rc1 rc2 ms
    # shellcheck disable=SC2086
    { timeout 600 "$emu/gnn-sample" $how --metrics ms $1 "$3" 2>err1; echo $? >rc1; } |
        { timeout 600 "$emu/gnn-gather" -q --no-provenance $2 -o got "$3" 2>err2; echo $? >rc2; }
    rcs="$(cat rc1) $(cat rc2)"
}
# good HOW SHARED SAMPLE-OPTIONS GATHER-OPTIONS GRAPH: SHARED is a pattern for the number of batches that stayed
good() {
    joined "$3" "$4" "$5"
    if [ "$rcs" = "0 0" ] && cmp got "want.$5" && grep -q "\"shared_batches\":$2,\"" ms; then
        _ok "gnn-sample and gnn-gather pass on the right batches $1"
    else
        _not_ok "gnn-sample and gnn-gather pass on the right batches $1"
        echo "# statuses $rcs"
        sed 's/^/# /' err1 err2
        grep -o '"shared_batches":[0-9]*' ms | sed 's/^/# /'
    fi
}
for seed in 1 2 3; do
    export GNN_FAKE_SEED=$seed
    good "over shared memory of the device, with seed $seed" 12 '--device cuda --transport cuda' '--device cuda' s
done
good "over shared memory of the device, for a graph of several node types" '[1-9][0-9]*' '--device cuda --transport cuda' '--device cuda' h
good "over shared memory of two devices" 12 '--device cuda:0,1 --transport cuda' '--device cuda:1,0' s
good "over shared memory of the second device" 12 '--device cuda:1 --transport cuda' '--device cuda:0,1' s
good "over shared memory of the device if the reader can use it" '[0-9]*' '--device cuda' '--device cuda' s
good "inline, when the reader works on another device" 0 '--device cuda:0' '--device cuda:1' s
good "over shared memory of that one of two devices which the reader uses" '[0-6]' '--device cuda:0,1' '--device cuda:1' s
good "over shared memory of the host" '[0-9]*' '--device cuda --transport shm' '--device cuda' s
good "inline in the pipe" 0 '--device cuda --transport inline' '--device cuda' s
good "from devices to a reader without devices" '[0-9]*' '--device cuda' '' s
good "from a writer without devices to a reader with them" '[0-9]*' '' '--device cuda' s
"$emu/gnn-sample" $how --device cuda s | cat >kept
gnn-gather -q --no-provenance -i kept -o got s
check "gnn-sample writes no reference to shared memory into a stream that is kept" cmp got want.s
{ "$emu/gnn-sample" $how --device cuda --transport cuda s; gnn-sample $how s; } | "$emu/gnn-gather" -q --no-provenance --device cuda --count s >counted
check "gnn-gather reads the joined streams of a writer with devices and one without" grep -q '^batches 24$' counted

# Every second batch in shared memory, which the reader still holds at the end of a stream when it waits for the next one.
gnn-import -q -o l sbm:nodes=20000,degree=10,features=1
large() { timeout 600 "$emu/gnn-sample" -q --no-provenance -f 5,5 -b 1000 --steps 0:8 --metrics "$1" --device cuda:0,1 l; echo $? >>rcs; }
rm -f rcs
{ large m1; large m2; } | timeout 600 "$emu/gnn-gather" -q --no-provenance --device cuda --count l >counted
check "gnn-sample ends well when two of its streams are joined, partly in shared memory of the device" test "$(echo $(cat rcs))" = "0 0"
check "gnn-gather reads all batches of two joined streams, partly in shared memory of the device" grep -q '^batches 16$' counted
check "gnn-sample passes most batches of joined streams in shared memory of the device" grep -q '"shared_batches":[5-8],' m2

# A reader that has had enough: the writers die of SIGPIPE, as without devices.
rm -f rcs
{ "$emu/gnn-sample" $how --epochs 0:200 --eval valid --device cuda --transport cuda s 2>err1; echo $? >>rcs; } |
    { "$emu/gnn-gather" -q --device cuda --transport cuda s 2>err2; echo $? >>rcs; } |
    timeout 600 "$emu/gnn-train" -q --device cuda --patience 1 -o model 2>err
check "gnn-sample and gnn-gather end by SIGPIPE when gnn-train stops early on a device" test $? -eq 0 -a "$(echo $(cat rcs))" = "141 141"
check "gnn-sample and gnn-gather say nothing when gnn-train stops early on a device" test ! -s err1 -a ! -s err2

# Batches of devices and of the host take turns in the slots.
gnn-import -q -o w sbm:nodes=4000,degree=7,features=12
how="-q --no-provenance -f 9,9 -b 400"
gnn-sample $how w | gnn-gather -q --no-provenance -o want.w w || exit 1
good "in turns over shared memory of the device and of the host" '[0-9]*' '--device cuda:0,1' '--device cuda:1' w

# Where the system lets no other program open a device's memory: through memory of the host.
export GNN_FAKE_NO_EXPORT=1
good "over shared memory of the host when the memory of the device cannot be exported" '[0-9]*' '--device cuda' '--device cuda' w
joined '--device cuda --transport cuda' '--device cuda' w
check "gnn-sample --transport cuda fails when the memory of the device cannot be exported" logged err1 logged err2 test "$rcs" = "4 3" -a ! -e got
check "gnn-sample --transport cuda says that the memory of the device cannot be exported" \
    grep -q 'cannot export memory of device 0: CUDA: exporting device memory: operation not supported' err1
unset GNN_FAKE_NO_EXPORT
how="-q --no-provenance -f 4,3 -b 20"

# What cannot be.
joined '--device cuda:0 --transport cuda' '--device cuda:1' s
check "gnn-sample --transport cuda fails when its reader uses another device" logged err1 logged err2 test "$rcs" = "1 3" -a ! -e got
check "gnn-sample --transport cuda says that its reader uses none of its devices" grep -q 'uses none of the devices of this program' err1
joined '--device cuda --transport cuda' '' s
check "gnn-sample --transport cuda fails when its reader uses no device" logged err1 logged err2 test "$rcs" = "1 3" -a ! -e got
status 2 "gnn-sample refuses --transport cuda into a file" "$emu/gnn-sample" $how --device cuda --transport cuda -o x s
status 2 "gnn-sample refuses --transport cuda without --device" gnn-sample $how --transport cuda s
status 2 "gnn-sample refuses --transport cuda with -z" "$emu/gnn-sample" $how --device cuda --transport cuda -z 1 s

# Either side dies, at whatever frame.
bad=0
for ms in 60 100 130 160 190 220 250 280; do
    rm -f got
    { timeout -s KILL "0.$(printf %03d $ms)" "$emu/gnn-sample" $how --epochs 0:50 --device cuda --transport cuda s 2>/dev/null; } 2>/dev/null |
        timeout 600 "$emu/gnn-gather" -q --no-provenance --device cuda -o got s 2>err2
    rc=$?
    [ $rc -eq 3 ] && [ ! -e got ] && [ "$(wc -l <err2)" -eq 1 ] || { bad=$((bad + 1)); echo "# after $ms ms: $rc"; sed 's/^/# /' err2; }
done
check "gnn-gather ends with status 3, one line and no output when its writer is killed" test $bad -eq 0
bad=0
for ms in 60 120 160 200 240 280; do
    { timeout 600 "$emu/gnn-sample" $how --epochs 0:50 --device cuda --transport cuda s 2>err1; echo $? >rc1; } |
        timeout -s KILL "0.$(printf %03d $ms)" "$emu/gnn-gather" -q --no-provenance --device cuda -o got s 2>/dev/null
    rc=$(cat rc1)
    [ "$rc" -eq 141 ] || { bad=$((bad + 1)); echo "# after $ms ms: $rc"; sed 's/^/# /' err1; }
done
check "gnn-sample ends by SIGPIPE when its reader is killed" test $bad -eq 0

# Every call of the run-time fails once, on either side.
sweep() { # WHICH: 1 the writer, 2 the reader
    bad=0 k=1
    while [ $k -lt "$2" ]; do
        if [ "$1" -eq 1 ]; then
            rm -f got
            { GNN_FAKE_FAIL=$k timeout 600 "$emu/gnn-sample" $how --device cuda --transport cuda s 2>err1; echo $? >rc1; } |
                timeout 600 "$emu/gnn-gather" -q --no-provenance --device cuda -o got s 2>err2
            echo $? >rc2
            want="[14] 3"
        else
            rm -f got
            { timeout 600 "$emu/gnn-sample" $how --device cuda --transport cuda s 2>err1; echo $? >rc1; } |
                GNN_FAKE_FAIL=$k timeout 600 "$emu/gnn-gather" -q --no-provenance --device cuda -o got s 2>err2
            echo $? >rc2
            want="[0-9]* [14]"
        fi
        rcs="$(cat rc1) $(cat rc2)"
        # shellcheck disable=SC2254
        case $rcs in
        $want) [ ! -e got ] || rcs="output after $rcs" ;;
        "0 0") cmp -s got want.s || rcs="damage" ;; # a failure that does not matter
        *) rcs="statuses $rcs" ;;
        esac
        case $rcs in output* | damage | statuses*) bad=$((bad + 1)); echo "# call $k: $rcs"; sed 's/^/# /' err1 err2 ;; esac
        k=$((k + $3))
    done
}
sweep 1 330 23
check "gnn-sample --transport cuda ends cleanly when a call to the device fails in the writer" test $bad -eq 0
sweep 2 420 29
check "gnn-gather ends cleanly when a call to the device fails in the reader of --transport cuda" test $bad -eq 0
done_testing
