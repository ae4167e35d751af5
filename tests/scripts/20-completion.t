# The completion script that is made from an option table offers what it should.
. "$GNN_TOP/tests/lib.sh"
cat >table <<'T'
--fanout value
--shuffle flag
--no-shuffle flag
--frontier,-F choice all|new
--output,-o file
- argument sbm:|rmat:
T
touch some-file
sh "$GNN_TOP/scripts/completion.sh" gnn-x <table >x.bash
offers() { # NAME WANT WORD...
    _n=$1 _w=$2
    shift 2
    cat >try.bash <<'T'
. ./x.bash
COMP_WORDS=(gnn-x "$@")
COMP_CWORD=$#
_gnn_x
echo "${COMPREPLY[*]}"
T
    _got=$(bash try.bash "$@")
    if [ "$_got" = "$_w" ]; then _ok "$_n"; else _not_ok "$_n: '$_got' instead of '$_w'"; fi
}
check 'is a script' bash -n x.bash
offers 'options' '--fanout --frontier' --f
offers 'all options' '--fanout --shuffle --no-shuffle --frontier --output' --
offers 'choices' 'all new' --frontier ''
offers 'a choice' 'new' --frontier n
offers 'choices after =' 'all new' --frontier =
offers 'a choice after =' 'all' --frontier = a
offers 'files' 'some-file' --output some
offers 'choices after a letter' 'all new' -F ''
offers 'files after a letter' 'some-file' -o some
offers 'words as arguments' 'sbm:' sb
offers 'nothing for numbers' '' --fanout ''
offers 'files as arguments' 'some-file' some
"$GNN_BIN/gnn-train" --completion >table
check 'a flag that is on can be turned off' grep -qx -e '--no-shuffle flag' table
check 'one that is off cannot' sh -c '! grep -q -e --no-resume table'
check 'letters are in the table' grep -q -e '^--model,-m choice sage|gcn' table
check 'generators are' sh -c '"$GNN_BIN/gnn-import" --completion | grep -qx -e "- argument sbm:|rmat:|products:"'
printf 'rubbish\n' >table
status 1 'no table, no script' sh -c 'sh "$GNN_TOP/scripts/completion.sh" gnn-x <table'
done_testing
