# SPDX-License-Identifier: Apache-2.0
# A limit of address space (ulimit -v) or of data (-d), from too little to enough: never a signal, always one line, nothing left behind. What
# is in short supply is memory for the code that oneDNN generates, for threads and for their stacks.
. "$GNN_TOP/tests/lib.sh"
[ -z "${GNN_SAN:-}" ] || { skip 'gnn-predict and gnn-train end cleanly under limits of address space' 'sanitizers reserve more'; done_testing; }
gnn-import -q -o g sbm:nodes=2000,features=40 && gnn-train -q --store g -f 5,5 --hidden 64 --epochs 1 -o m || exit 1
limit=v
sweep() { # NAME FROM STEP COMMAND...: with more and more, until it succeeds three times
    _name=$1 _kb=$2 _step=$3 _good=0 _bad='' _refused=0
    shift 3
    while [ $_good -lt 3 ] && [ "$_kb" -lt 2000000 ]; do
        sh -c 'ulimit -c 0 && ulimit "-$0" "$1" && shift && exec timeout 600 "$@"' $limit "$_kb" "$@" >out 2>err
        _rc=$?
        case $_rc,$(wc -l <err) in
            0,0) _good=$((_good + 1)) ;;
            1,1 | 127,1) _refused=$((_refused + 1)) ;; # 127: the system's loader
            *) _bad="$_bad $_kb:$_rc" ;;
        esac
        _kb=$((_kb + _step))
    done
    if [ -z "$_bad" ] && [ $_good -eq 3 ] && [ $_refused -gt 0 ] && ! ls o.tmp* >ls 2>&1; then _ok "$_name"; else
        _not_ok "$_name ($_refused refused, $_good good; KB and status:$_bad)"
        sed 's/^/# /' err ls
    fi
}
sweep 'gnn-predict -j 1 ends cleanly in little address space' 46000 1500 gnn-predict -q -j1 -n g m
sweep 'gnn-predict -j 2 ends cleanly in little address space' 50000 2500 gnn-predict -q -j2 -n g m
sweep 'gnn-train -j 1 ends cleanly in little address space' 60000 2500 gnn-train -q -j1 --prefetch 1 --store g -f 5,5 --hidden 64 --epochs 1 -o o
sweep 'gnn-train -j 2 ends cleanly in little address space' 60000 4000 gnn-train -q -j2 --store g -f 5,5 --hidden 64 --epochs 1 -o o
limit=d
sweep 'gnn-predict -j 2 ends cleanly under a limit of data' 1500 1500 gnn-predict -q -j2 -n g m
done_testing
