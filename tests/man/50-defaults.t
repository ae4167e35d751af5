# gnn-train without options does what its manual says that it does, and --help says the same.
. "$GNN_TOP/tests/lib.sh"
page=$GNN_TOP/man/gnn-train.1
gnn-import -q -o graph sbm:nodes=400
line=$(awk '/^\.Ss Defaults/ { on = 1 } on && /^\.Ed/ { exit } on && inside { print } on && /^\.Bd/ { inside = 1 }' "$page" | sed 's/\\e$//' | xargs)
case $line in 'gnn-train --store graph -'*) _ok 'the manual has a line of defaults' ;; *) _not_ok "no line of defaults, but '$line'" ;; esac
# shellcheck disable=SC2086
check 'that line trains' $line -q --no-provenance --metrics said.json -o said
check 'and no option' gnn-train --store graph -q --no-provenance --metrics none.json -o none
check 'makes the same model' cmp said none
events() { sed 's/"t":[^,]*,//; s/"[a-z]*_s":[^,}]*,*//g; s/"seconds":[^,}]*//; s/"gflops":[^,}]*,*//' "$1"; }
events said.json >said.events
events none.json >none.events
check 'in the same epochs' cmp said.events none.events
gnn-train --help >help
# The options of the line with their values, one a line.
echo "$line" | sed 's/^gnn-train --store graph //; s/ -/\n-/g' >options
while read -r option value; do
    grep -A 2 -e "\(^\|[ ,]\)${option}[ ,]" help | grep -q "default${value:+.*[ (]$value}" && _ok "--help says $option $value" || _not_ok "--help does not say $option $value"
done <options
status 0 'evaluation can be left out' gnn-train --store graph --eval none --epochs 1 -o none
cp err said
check 'and then is not announced' sh -c '! grep -q evaluating said'
status 0 'what is evaluated is said' gnn-train --store graph --epochs 1 -o none
cp err said
check 'in a line' grep -q '^gnn-train: evaluating set valid after each epoch' said
status 0 'batch norm takes the place of layer norm' gnn-train --store graph --batch-norm --epochs 1 -q -o none
status 2 'a set that is not there' gnn-train --store graph --eval nonesuch -o none
done_testing
