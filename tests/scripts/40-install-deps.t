# install-deps.sh on a machine that lacks things, with a stand-in for apt-get.
. "$GNN_TOP/tests/lib.sh"
deps=$GNN_TOP/scripts/install-deps.sh
mkdir bin
for c in sh cut env id ls; do ln -s "$(command -v $c)" bin/$c; done
has() { if grep -q "$1" "$2"; then _ok "$3"; else _not_ok "$3"; sed 's/^/# /' "$2"; fi; }
PATH=$PWD/bin "$PWD/bin/sh" "$deps" --missing >missing 2>&1
has '^make$' missing 'a missing tool is seen'
grep -q '^libc6-dev$' missing && _not_ok 'a header that is there is not missing' || _ok 'a header that is there is not missing'
PATH=$PWD/bin "$PWD/bin/sh" "$deps" >none 2>&1
[ $? -eq 1 ] && _ok 'without apt-get: status 1' || _not_ok 'without apt-get: status 1'
has 'no apt-get here; install' none 'and says what is needed'
cat >bin/apt-get <<'E'
#!/bin/sh
echo "$*" >>log
case $* in install*) [ -e updated ] || exit 100 ;; update*) : >updated ;; esac
E
chmod +x bin/apt-get
if [ "$(id -u)" -eq 0 ]; then
    PATH=$PWD/bin "$PWD/bin/sh" "$deps" >some 2>&1
    [ $? -eq 0 ] && _ok 'it installs' || _not_ok 'it installs'
    has '^install .*-y .*make' log 'by apt-get'
    has '^update' log 'after fetching lists when the first try fails'
else
    PATH=$PWD/bin "$PWD/bin/sh" "$deps" >some 2>&1
    [ $? -eq 1 ] && _ok 'not root, no sudo: status 1' || _not_ok 'not root, no sudo: status 1'
    has 'as root run: apt-get install' some 'and says what to run'
fi
status 2 'an unknown argument' sh "$deps" --rubbish
done_testing
