# SPDX-License-Identifier: Apache-2.0
# gnn-train without options does what its manual says that it does, and --help says the same.
. "$GNN_TOP/tests/lib.sh"
page=$GNN_TOP/man/gnn-train.1
gnn-import -q -o graph sbm:nodes=400
line=$(awk '/^\.Ss Defaults/ { on = 1 } on && /^\.Ed/ { exit } on && inside { print } on && /^\.Bd/ { inside = 1 }' "$page" | sed 's/\\e$//' | xargs)
case $line in
'gnn-train --store graph -'*) _ok 'gnn-train.1 has a line of defaults' ;;
*) _not_ok "gnn-train.1 has no line of defaults, but '$line'" ;;
esac
# shellcheck disable=SC2086
check 'gnn-train trains with the line of defaults of gnn-train.1' $line -q --no-provenance --metrics said.json -o said
check 'gnn-train trains without any option' gnn-train --store graph -q --no-provenance --metrics none.json -o none
check 'gnn-train writes the same model without options as with the line of defaults' cmp said none
events() { sed '/"event":"start"/d; s/"t":[^,]*,//; s/"[a-z]*_s":[^,}]*,*//g; s/"seconds":[^,}]*//; s/"gflops":[^,}]*,*//' "$1"; }
events said.json >said.events
events none.json >none.events
check 'gnn-train runs the same epochs without options as with the line of defaults' cmp said.events none.events
gnn-train --help >help
# The options of the line with their values, one a line.
echo "$line" | sed 's/^gnn-train --store graph //; s/ -/\n-/g' >options
while read -r option value; do
    grep -A 2 -e "\(^\|[ ,]\)${option}[ ,]" help | grep -q "default${value:+.*[ (]$value}" &&
        _ok "gnn-train --help says that $option $value is the default" ||
        _not_ok "gnn-train --help does not say that $option $value is the default"
done <options
status 0 'gnn-train --eval none trains without evaluation' gnn-train --store graph --eval none --epochs 1 -o none
cp err said
check 'gnn-train --eval none does not announce an evaluation' sh -c '! grep -q evaluating said'
status 0 'gnn-train trains and evaluates by default' gnn-train --store graph --epochs 1 -o none
cp err said
check 'gnn-train says in one line which set it evaluates' grep -q '^gnn-train: evaluating set valid after each epoch' said
status 0 'gnn-train --batch-norm takes the place of layer norm' gnn-train --store graph --batch-norm --epochs 1 -q -o none
status 2 'gnn-train refuses --eval of a set that the store lacks' gnn-train --store graph --eval nonesuch -o none
done_testing
