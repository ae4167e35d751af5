# SPDX-License-Identifier: Apache-2.0
# install-deps.sh on a machine that lacks things, with a stand-in for apt-get.
. "$GNN_TOP/tests/lib.sh"
deps=$GNN_TOP/scripts/install-deps.sh
mkdir bin
for c in sh cut env id ls; do ln -s "$(command -v $c)" bin/$c; done
has() { if grep -q "$1" "$2"; then _ok "$3"; else _not_ok "$3"; sed 's/^/# /' "$2"; fi; }
PATH=$PWD/bin "$PWD/bin/sh" "$deps" --missing >missing 2>&1
has '^make$' missing 'install-deps.sh --missing names a tool that is missing'
grep -q '^libc6-dev$' missing && _not_ok 'install-deps.sh --missing does not name a header that is there' ||
    _ok 'install-deps.sh --missing does not name a header that is there'
PATH=$PWD/bin "$PWD/bin/sh" "$deps" >none 2>&1
[ $? -eq 1 ] && _ok 'install-deps.sh fails without apt-get' || _not_ok 'install-deps.sh fails without apt-get'
has 'no apt-get here; install' none 'install-deps.sh says without apt-get what is needed'
cat >bin/apt-get <<'E'
#!/bin/sh
echo "$*" >>log
case $* in install*) [ -e updated ] || exit 100 ;; update*) : >updated ;; esac
E
chmod +x bin/apt-get
if [ "$(id -u)" -eq 0 ]; then
    PATH=$PWD/bin "$PWD/bin/sh" "$deps" >some 2>&1
    [ $? -eq 0 ] && _ok 'install-deps.sh runs as root' || _not_ok 'install-deps.sh runs as root'
    has '^install .*-y .*make' log 'install-deps.sh installs by apt-get'
    has '^update' log 'install-deps.sh fetches lists when the first try to install fails'
else
    PATH=$PWD/bin "$PWD/bin/sh" "$deps" >some 2>&1
    [ $? -eq 1 ] && _ok 'install-deps.sh fails without root and sudo' || _not_ok 'install-deps.sh fails without root and sudo'
    has 'as root run: apt-get install' some 'install-deps.sh says without root and sudo what to run'
fi
status 2 'install-deps.sh refuses an unknown argument' sh "$deps" --rubbish
done_testing
