#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Plain things about files: no trailing blanks, no tabs in C, no line over 120 columns in Python's package or 150 in a makefile, a
# last newline, no file over 700 lines, no promises left in the text, comments in headers begin with the thing declared; shell
# scripts pass shellcheck, manual pages mandoc.
# usage: check-text.sh [TREE]
set -u
cd "${1:-$(dirname "$0")/..}" || exit 2
rc=0
bad() {
    if [ -n "$2" ]; then
        echo "$2" | head -n 20 | sed "s/\$/: $1/"
        rc=1
    fi
}
files() { find cmd lib kernels formats tests scripts man mk .ci Makefile README.md CHANGELOG.md CONTRIBUTING.md -type f "$@" 2>/dev/null | sort; }
list() { files ! -path 'tests/corpus/*' ! -path 'tests/*/data/*' ! -name '*.gnb' ! -name '*.np[yz]' "$@"; }
code=$(list \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \))
text=$(list \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.sh' -o -name '*.t' -o -name '*.sbatch' -o -name '*.p[ly]' -o -name '*.[157]' -o -name Makefile -o -name '*.mk' -o -name '*.md' \))
headers=$(list ! -path 'tests/*' \( -name '*.h' -o -name '*.cuh' \))
scripts=$(list \( -path 'scripts/*.sh' -o -path .ci/run \))
batch=$(list -name '*.sbatch')
rules=$(list \( -name Makefile -o -name '*.mk' \))
package=$(list -path 'formats/*' -name '*.py')
tests=$(list -path 'tests/*' \( -name '*.t' -o -name '*.sh' \))

# shellcheck disable=SC2086
{
    [ -z "$text" ] || bad 'trailing blanks' "$(grep -nE '[[:blank:]]+$' /dev/null $text | cut -d: -f1,2)"
    [ -z "$package" ] || bad 'over 120 columns' "$(grep -nE '.{121}' /dev/null $package | cut -d: -f1,2)"
    [ -z "$rules" ] || bad 'over 150 columns' "$(grep -nE '.{151}' /dev/null $rules | cut -d: -f1,2)"
    [ -z "$code" ] || bad 'a tab in C' "$(grep -n "$(printf '\t')" /dev/null $code | cut -d: -f1,2)"
    [ -z "$text" ] || bad 'a word twice' \
        "$(grep -nP '\b([a-z]{3,})( \1){2}\b|([a-z]{4,})\3\3|\b(the|of|to|and|with|for|is|are|from) \4\b' /dev/null $text | cut -d: -f1,2)"
    [ -z "$text" ] || bad 'a mark of a merge' "$(grep -nE '^(<{7}|>{7})( |$)|^={7}$' /dev/null $text | cut -d: -f1,2)"
    [ -z "$text" ] || bad 'a promise left in the text' \
        "$(grep -nwE 'TO''DO|FIX''ME|XX''X|HA''CK|not impl''emented' /dev/null $text | cut -d: -f1,2)"
    # Tables stand in comments that begin with "/*-", which clang-format leaves alone.
    [ -z "$code" ] || bad 'two tensors in a line of a table' \
        "$(grep -nE '^ \* .*\b[uif](8|16|32|64) \(.*\b[uif](8|16|32|64) \(|^ \* +[^ ].* [a-z]+(/[A-Za-z<>]+)+ +[uif](8|16|32|64)( \(|$)' /dev/null $code | cut -d: -f1,2)"
    [ -z "$code" ] || bad 'a declaration cut in two: its comment goes above it' \
        "$(grep -nE '^ +(const )?(unsigned|bool|int|double|float|char|void|size_t|u?int(8|16|32|64)_t|(struct|enum) [a-z0-9_]+)( \*+)?$|^ +[A-Z][A-Z0-9_]+ =$' /dev/null $code | cut -d: -f1,2)"
    [ -z "$headers" ] || bad 'a sentence that does not begin with the thing declared' \
        "$(grep -nE '^[[:blank:]]*/\* (What|Those|These|That|They|It|Of|The ones?|The same)\b|^[[:blank:]]*(/\*|\*) (.*[.:;] )?(What|Those|That one|The ones?)\b' /dev/null $headers | cut -d: -f1,2)"
    [ -z "$headers" ] || bad 'a sentence in two comments, or words of a time gone by' \
        "$(grep -nE '/\* \.\.\.[^"]*$|[ ,]\.\.\. \*/|\b([Bb]ut for|all the same|as ever)\b' /dev/null $headers | cut -d: -f1,2)"
    for f in $text; do
        case $f in *.md) ;; *) head -n 2 "$f" | grep -q 'SPDX-License-Identifier: Apache-2.0' || bad 'no SPDX line' "$f" ;; esac
        [ "$(tail -c 1 "$f" | wc -l)" -eq 1 ] || bad 'no newline at the end' "$f"
        [ "$(wc -l <"$f")" -le 700 ] || bad 'over 700 lines: more than one subject' "$f"
    done
    if [ -n "$scripts" ] && command -v shellcheck >/dev/null; then
        shellcheck -s sh -e SC1091 $scripts || rc=1
    fi
    if [ -n "$batch" ] && command -v shellcheck >/dev/null; then
        shellcheck $batch || rc=1
    fi
    # Tests call functions indirectly and write programs in single quotes: only what is surely wrong counts.
    if [ -n "$tests" ] && command -v shellcheck >/dev/null; then
        shellcheck -s sh -S warning -e SC1091,SC2034,SC2046,SC2010,SC2258,SC2238 $tests || rc=1
    fi
    pages=$(list -path 'man/*' -name '*.[157]')
    if [ -n "$pages" ] && command -v mandoc >/dev/null; then
        mandoc -Tlint -Wwarning $pages || rc=1
        # A macro goes on behind a comma: ".Pq with Fl -a , the same file" shows "-the -same -file"; No ends it.
        for f in $pages; do
            bad 'a macro that goes on: end it with No' "$(mandoc -T markdown "$f" 2>/dev/null | awk -F '[*][*]' -v f="$f" '{
                for (i = 2; i <= NF; i += 2)
                    if ($i ~ /^-[a-z][a-z][a-z]|(^| )(the|of|and|or|if|with|for|is|are|as|by|that|which)( |$)/) print f ": " $i
            }')"
        done
    fi
}
exit $rc
