# Short runs of scripts/accuracy.sh: one seed or split each, with a margin.
. "$GNN_TOP/tests/lib.sh"
[ -z "${GNN_SAN-}" ] || { skip accuracy "minutes of training say nothing more under a sanitizer"; done_testing; }
for d in cora acm amazon-computers tolokers; do
    if [ -n "${GNN_DATA:-}" ]; then
        check "$d" sh "$GNN_TOP/scripts/accuracy.sh" --quick $d
    else
        skip "$d" "GNN_DATA is not set"
    fi
done
done_testing
