# SPDX-License-Identifier: Apache-2.0
# A filter whose reader goes away dies of SIGPIPE, silently, even when its parent ignores that signal.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/pipe/setup.sh"
many='gnn-sample -f 5,5 -b 64 --epochs 0:50'
quiet_pipe 'gnn-sample' $many S
$many S >long 2>/dev/null
quiet_pipe 'gnn-gather' gnn-gather -i long S
quiet_pipe 'gnn-gather behind gnn-sample' sh -c "$many S | gnn-gather S"
trap '' PIPE
quiet_pipe 'gnn-sample with a parent that ignores SIGPIPE' $many S
quiet_pipe 'gnn-gather with a parent that ignores SIGPIPE' gnn-gather -i long S
trap - PIPE
done_testing
