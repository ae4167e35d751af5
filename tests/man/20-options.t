# SPDX-License-Identifier: Apache-2.0
# Option table, --help, manual page and shell completion name the same long options.
. "$GNN_TOP/tests/lib.sh"
common='--device --help --metrics --no-provenance --output --progress --quiet --seed --threads --verbose --version'
for bin in "$GNN_BIN"/gnn-*; do
    [ -x "$bin" ] || continue
    p=$(basename "$bin")
    "$bin" --help >help 2>err || { _not_ok "$p --help prints its options"; continue; }
    # --help lists an option at the start of a line, possibly after its letter.
    sed -n 's/^ *\(-[A-Za-z0-9], *\)\{0,1\}\(--[a-z0-9-]*\).*/\2/p' help | sort -u >in.help
    "$bin" --completion 2>err | sh "$GNN_TOP/scripts/completion.sh" "$p" >completion ||
        { _not_ok "$p --completion makes a completion script"; continue; }
    grep -o -e '--[a-z][a-z0-9-]*' completion | sort -u >in.completion
    page=$GNN_TOP/man/$p.1
    if [ -e "$page" ]; then
        awk '/^\.Sh /{ on = ($2 == "OPTIONS") } on && /^\.(It )?Fl /' "$page" | tr ' ' '\n' | sed -n 's/^-\([a-z0-9][a-z0-9-]*\)$/--\1/p' | sort -u >in.man
    else
        _not_ok "$p has a manual page"
        continue
    fi
    [ -s in.help ] && _ok "$p --help lists options" || _not_ok "$p --help lists options"
    missing=$(comm -23 in.help in.man | while read -r o; do grep -qx -e "--no-${o#--}" in.man || case " $common " in *" $o "*) ;; *) echo "$o" ;; esac; done)
    [ -z "$missing" ] && _ok "$p.1 has every option" || _not_ok "$p.1 lacks $(echo $missing)"
    # A SYNOPSIS that does not speak of "options" names each, by letter or in full, the common ones apart.
    awk '/^\.Sh /{ on = ($2 == "SYNOPSIS") } on' "$page" >synopsis
    if ! grep -q options synopsis; then
        missing=$(sed -n '/^Common options/q; s/^ *\(-\([A-Za-z0-9]\), *\)\{0,1\}--\([a-z0-9-]*\).*/\3 \2/p' help | while read -r o letter; do
            grep -Eq "Fl (-$o|-no-$o|[a-z]*${letter:-=}[a-z]*)( |\$)" synopsis || echo "--$o"
        done)
        [ -z "$missing" ] && _ok "$p.1 has every option in its SYNOPSIS" || _not_ok "$p.1 lacks in its SYNOPSIS $(echo $missing)"
    fi
    # "--no-NAME" of a flag NAME is understood without a line of its own in --help.
    extra=$(comm -13 in.help in.man | while read -r o; do grep -qx -e "--${o#--no-}" in.help || echo "$o"; done)
    [ -z "$extra" ] && _ok "$p.1 has no option that $p lacks" || _not_ok "$p.1 has options that $p lacks: $(echo $extra)"
    missing=$(comm -23 in.help in.completion)
    [ -z "$missing" ] && _ok "$p completes every option" || _not_ok "$p does not complete $(echo $missing)"
    extra=$(comm -13 in.help in.completion | while read -r o; do grep -qx -e "--${o#--no-}" in.help || echo "$o"; done)
    [ -z "$extra" ] && _ok "$p completes no option that it lacks" || _not_ok "$p completes options that it lacks: $(echo $extra)"
    # The words of an option, where its line in the manual has some.
    "$bin" --completion | sed -n 's/^--\([a-z-]*\)[^ ]* choice /\1 /p' | while read -r o words; do
        line=$(grep -E "^\.It Fl .*-$o Cm " "$page") || continue
        for w in $(echo "$words" | tr '|' ' '); do
            case " $line " in *" $w "*) ;; *) echo "--$o $w" ;; esac
        done
    done >in.words
    [ -s in.words ] && _not_ok "$p.1 lacks $(tr '\n' ' ' <in.words)" || _ok "$p.1 has the words of every option"
    # What would have no effect is not there.
    case $p in
    gnn-inspect) lacks='--progress=never --no-provenance' ;;
    gnn-predict) lacks=--no-provenance ;;
    *) lacks= ;;
    esac
    for o in $lacks; do
        status 2 "$p refuses $o, which would have no effect" "$bin" "$o" x x
        cp err err.lacks
        check "$p says that it has no option ${o%=*}" grep -q "unknown option '${o%=*}'" err.lacks
    done
    check "the completion of $p is a shell script" bash -n completion
done
done_testing
