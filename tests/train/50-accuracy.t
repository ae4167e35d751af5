# Short runs of scripts/accuracy.sh: one seed or split each, with a margin. The fourth data set, amazon-computers, takes as
# long as these together and is left to `make bench`.
. "$GNN_TOP/tests/lib.sh"
[ -z "${GNN_SAN-}" ] || { skip accuracy "minutes of training say nothing more under a sanitizer"; done_testing; }
for d in cora acm tolokers; do
    if [ -n "${GNN_DATA:-}" ]; then
        check "$d is learned as well as promised" sh "$GNN_TOP/scripts/accuracy.sh" --quick $d
    else
        skip "$d is learned as well as promised" "GNN_DATA is not set"
    fi
done
done_testing
