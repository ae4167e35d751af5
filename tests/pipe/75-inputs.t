# SPDX-License-Identifier: Apache-2.0
# Inputs that are no files: pipes and devices in a store, links that loop, directories. Status 3 and one line, at once.
. "$GNN_TOP/tests/lib.sh"
{ gnn-import -q -o S sbm:nodes=200 && gnn-sample -q -f 3,3 -o b S && gnn-gather -q -i b -o g S && gnn-train -q --hidden 8 --checkpoint C --checkpoint-every 1 -i g -o m &&
    printf '0 1\n1 2\n' >e.txt && printf '0\n1\n' >ids; } || { _not_ok 'the programs make the inputs of this test'; done_testing; }
refused() { # INPUT TEXT COMMAND...
    _what="$3 refuses $1" _text=$2
    shift 2
    status 3 "$_what" timeout 600 "$@"
    [ "$(wc -l <err)" -eq 1 ] && grep -q -e "$_text" err && [ ! -e x ] && _ok "$_what in one line" ||
        { _not_ok "$_what in one line"; sed 's/^/# /' err; rm -rf x; }
}
mkfifo pipe
ln -s /dev/zero device
ln -s loop loop
perl -MSocket -e 'socket my $s, AF_UNIX, SOCK_STREAM, 0 or die; bind $s, pack_sockaddr_un "socket" or die'
long=$(printf '%0300d' 0)
mkdir dir
kinds='pipe device loop socket'
what() {
    case $1 in pipe) echo 'a FIFO' ;; device) echo 'a device' ;; loop) echo 'Too many levels' ;; socket) echo 'No such device\|a socket' ;; esac
}
for kind in $kinds; do
    for file in part-00000.gnb store.json; do
        rm -rf T && cp -r S T && rm "T/$file" && ln -s "../$kind" "T/$file"
        refused "a $kind as $file" "T/$file: .*\($(what $kind)\)" gnn-sample -q -f 3 -o x T
        status 3 "gnn-inspect refuses a $kind as $file" timeout 600 gnn-inspect T
    done
    refused "a $kind as a model" "^gnn-predict: $kind: .*\($(what $kind)\)" gnn-predict -q -o x S $kind
    refused "a $kind as a model to start from" "^gnn-train: $kind: .*\($(what $kind)\)" gnn-train -q --store S --hidden 8 --epochs 1 --init $kind -o x
    rm -rf K && mkdir K && ln -s "../$kind" K/checkpoint.safetensors
    refused "a $kind as a checkpoint" "K/checkpoint.safetensors: .*\($(what $kind)\)" \
        gnn-train -q --store S --hidden 8 --epochs 2 --checkpoint K --resume -o x
done
for name in 'a store|gnn-sample -q -f 3 -o x loop' 'a stream|gnn-gather -q -i loop -o x S' 'a stream to train on|gnn-train -q -i loop -o x' \
    'seeds|gnn-sample -q -f 3 --seeds loop -o x S' 'partitions of nodes|gnn-partition -q -o x --from loop S' 'a data set|gnn-import -q -o x loop' \
    'features|gnn-import -q -o x --features loop e.txt' 'one of several inputs|gnn-import -q -o x e.txt loop' 'what is inspected|gnn-inspect loop' \
    'what is compared|gnn-inspect --diff S loop' 'an order of rows|gnn-gather -q --plan --cache 0.5 --cache-order loop -i b S'; do
    # shellcheck disable=SC2086
    refused "a loop as ${name%%|*}" 'loop.*: .*\(Too many levels\|no such store\)' ${name#*|}
    _c=$(echo "${name#*|}" | sed "s/loop/$long/")
    # shellcheck disable=SC2086
    status 3 "${_c%% *} refuses a name that is too long as ${name%%|*}" timeout 600 $_c
done
for name in 'seeds|gnn-sample -q -f 3 --seeds dir -o x S' 'partitions of nodes|gnn-partition -q -o x --from dir S' \
    'a stream|gnn-gather -q -i dir -o x S' \
    'an order of rows|gnn-gather -q --plan --cache 0.5 --cache-order dir -i b S' 'a model|gnn-predict -q -o x S dir'; do
    # shellcheck disable=SC2086
    _c=${name#*|}
    # shellcheck disable=SC2086
    status 3 "${_c%% *} refuses a directory as ${name%%|*}" timeout 600 $_c
done
for kind in $kinds; do
    refused "a $kind as an order of rows" "^gnn-gather: $kind: .*\($(what $kind)\)" gnn-gather -q --plan --cache 0.5 --cache-order $kind -i b S
done
# What is read once, in order, may be a pipe.
check 'gnn-sample reads seeds from a pipe' timeout 600 bash -c 'gnn-sample -q -f 3 --seeds <(cat ids) -o x S'
check 'gnn-partition reads partitions of nodes from a pipe' timeout 600 bash -c 'gnn-partition -q -o P --from <(seq 200 | sed s/.*/0/) S'
done_testing
