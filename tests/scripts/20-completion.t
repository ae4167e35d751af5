# SPDX-License-Identifier: Apache-2.0
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
offers() { # WHAT WANT WORD...
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
    if [ "$_got" = "$_w" ]; then _ok "a completion script offers $_n"; else
        _not_ok "a completion script offers $_n: '$_got' instead of '$_w'"
    fi
}
check 'completion.sh makes a shell script from a table of options' bash -n x.bash
offers 'the options that begin with the word' '--fanout --frontier' --f
offers 'every option after --' '--fanout --shuffle --no-shuffle --frontier --output' --
offers 'the choices of an option' 'all new' --frontier ''
offers 'the choice that begins with the word' 'new' --frontier n
offers 'the choices of an option after =' 'all new' --frontier =
offers 'the choice of an option that begins with the word after =' 'all' --frontier = a
offers 'files after an option that takes a file' 'some-file' --output some
offers 'the choices of an option after its letter' 'all new' -F ''
offers 'files after the letter of an option' 'some-file' -o some
offers 'the words that an argument may begin with' 'sbm:' sb
offers 'nothing for an option that takes a number' '' --fanout ''
offers 'files as arguments' 'some-file' some
"$GNN_BIN/gnn-train" --completion >table
check 'gnn-train --completion lists --no-shuffle for a flag that is on' grep -qx -e '--no-shuffle flag' table
check 'gnn-train --completion lists no --no-resume for a flag that is off' sh -c '! grep -q -e --no-resume table'
check 'gnn-train --completion lists the letters of options' grep -q -e '^--model,-m choice sage|gcn' table
check 'gnn-import --completion lists the generators' sh -c '"$GNN_BIN/gnn-import" --completion | grep -qx -e "- argument sbm:|rmat:|products:|igbh:"'
printf 'rubbish\n' >table
status 1 'completion.sh fails on a table that is none' sh -c 'sh "$GNN_TOP/scripts/completion.sh" gnn-x <table'
done_testing
