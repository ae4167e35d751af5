#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the bash completion of a program from its option table:
#   gnn-sample --completion | sh scripts/completion.sh gnn-sample >/usr/share/bash-completion/completions/gnn-sample
# Each input line is "--NAME[,-X] KIND [CHOICES]", KIND one of flag, value, choice (a|b|c), file; or "- argument a|b|c".
set -eu
program=${1:?usage: completion.sh PROGRAM}
awk -v program="$program" '
    $1 == "-" && $2 == "argument" { gsub(/\|/, " ", $3); words = $3; next }
    NF < 2 || $1 !~ /^--[a-z0-9-]+(,-[A-Za-z0-9])?$/ { print "completion.sh: not an option table: " $0 >"/dev/stderr"; bad = 1; exit 1 }
    { split($1, name, ","); all = all " " name[1]; sub(/,/, "|", $1) }
    $2 == "file" { files = files "|" $1 }
    $2 == "value" { values = values "|" $1 }
    $2 == "choice" { gsub(/\|/, " ", $3); choices = choices "    " $1 ") COMPREPLY=($(compgen -W \"" $3 "\" -- \"$cur\")); return ;;\n" }
    END {
        if (bad)
            exit 1
        f = "_" program
        gsub(/-/, "_", f)
        print "# bash completion for " program
        print f "() {"
        print "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}"
        print "    [ \"$cur\" != = ] || cur="
        print "    [ \"$prev\" != = ] || prev=${COMP_WORDS[COMP_CWORD-2]}"
        print "    COMPREPLY=()"
        print "    case $prev in"
        printf "%s", choices
        if (files != "")
            print "    " substr(files, 2) ") COMPREPLY=($(compgen -f -- \"$cur\")); return ;;"
        if (values != "")
            print "    " substr(values, 2) ") return ;;"
        print "    esac"
        print "    case $cur in"
        print "    -*) COMPREPLY=($(compgen -W \"" substr(all, 2) "\" -- \"$cur\")) ;;"
        print "    *) COMPREPLY=($(compgen -f" (words == "" ? "" : " -W \"" words "\"") " -- \"$cur\")) ;;"
        print "    esac"
        if (words != "")
            print "    [[ ${COMPREPLY[*]} != *: ]] || compopt -o nospace 2>/dev/null"
        print "}"
        print "complete -o filenames -F " f " " program
    }'
