# SPDX-License-Identifier: Apache-2.0
# Archives that are cut, lengthened or odd: refused with status 3 and one line that names them; nothing is lost in silence.
. "$GNN_TOP/tests/lib.sh"
c=$GNN_TOP/tests/import/corpus
imp() { gnn-import --no-provenance "$@"; }
says() { # NAME PATTERN INPUT...: status 3, one line that begins with the input and says so, and no store
    what=$1 pattern=$2
    shift 2
    status 3 "gnn-import refuses $what" imp "$@" -o bad
    what="gnn-import says what is wrong with $what"
    [ "$(wc -l <err)" -eq 1 ] && grep -q "^gnn-import: .*$pattern" err && [ ! -e bad ] && _ok "$what" || {
        _not_ok "$what"
        sed 's/^/# /' err
    }
}
cut_to() { head -c "$2" "$1"; }
less() { head -c -"$2" "$1"; } # without its last bytes

# Members in an order in which the last ones are not missed: x and y.
mkdir -p d/raw d/split/s
printf '0,1\n1,2\n2,3\n3,0\n' >d/raw/edge.csv
echo 4 >d/raw/num-node-list.csv
echo 4 >d/raw/num-edge-list.csv
printf '1,2\n3,4\n5,6\n7,8\n' >d/raw/node-feat.csv
printf '0\n1\n1\n0\n' >d/raw/node-label.csv
for s in train valid test; do echo $s | sed 's/train/0/; s/valid/1/; s/test/2/' >d/split/s/$s.csv; done
tar -b 1 -cf g.tar d/split d/raw/num-node-list.csv d/raw/num-edge-list.csv d/raw/edge.csv d/raw/node-feat.csv d/raw/node-label.csv
check 'gnn-import reads a tar archive' imp -o G g.tar
check 'gnn-import takes features and labels from a tar archive' sh -c 'gnn-inspect G | grep -q "x f32" && gnn-inspect G | grep -q "y i32"'

for gone in 1024 2048 3072; do
    less g.tar $gone >cut.tar
    says "a tar archive without its last $gone bytes" 'cut.tar: cut short: the tar archive lacks the two blocks of zeros' cut.tar
done
less g.tar 512 >cut.tar
says 'a tar archive with one block of zeros' 'cut.tar: cut short: .* lacks the second' cut.tar
less g.tar 1 >cut.tar
says 'a tar archive without its last byte' 'cut.tar: cut short' cut.tar
cat g.tar g.tar >more.tar
says 'two tar archives in one file' 'more.tar: bytes after the end of the tar archive' more.tar
(cat g.tar && head -c 5120 /dev/zero) >zeros.tar
check 'gnn-import reads a tar archive with zeros behind it' imp -o Z zeros.tar
check 'gnn-import makes the same store of a tar archive with zeros behind it' cmp G/part-00000.gnb Z/part-00000.gnb
# Skipped by a seek, which can go beyond the end of a file.
head -c 100000 /dev/zero >zero && tar -b 1 -cf end.tar d zero
less end.tar 2000 >cut.tar
says 'a tar archive cut within a member that is skipped' 'cut.tar: .*Truncated' cut.tar

gzip -nc g.tar >g.tar.gz
for gone in 1 4 8 20; do
    less g.tar.gz $gone >cut.tar.gz
    says "a gzipped tar archive without its last $gone bytes" 'cut.tar.gz: the gzip data is cut short' cut.tar.gz
done
cut_to g.tar.gz 2 >cut.tar.gz
says 'the first two bytes of a gzipped tar archive' 'cut.tar.gz: cut short in its first bytes' cut.tar.gz
perl -e 'local $/; open F, "<:raw", $ARGV[0]; $_ = <F>; substr($_, -6, 1) ^= "\1"; print' g.tar.gz >crc.tar.gz
says 'a gzipped tar archive with another checksum' 'crc.tar.gz: the gzip data is damaged .*data check' crc.tar.gz
if command -v zstd >which.out; then
    zstd -q --check g.tar -o g.tar.zst
    check 'gnn-import reads a tar archive in zstd' imp -o ZS g.tar.zst
    less g.tar.zst 1 >cut.tar.zst
    says 'a tar archive in zstd without its last byte' 'cut.tar.zst: .*Truncated' cut.tar.zst
else skip 'gnn-import reads a tar archive in zstd' 'no zstd'; fi

for f in good-ogb.zip good-arrays.npz good-ogb-binary.zip; do
    less "$c/$f" 1 >"cut.${f##*.}"
    says "$f without its last byte" 'the directory at the end of the zip archive is missing' "cut.${f##*.}"
    less "$c/$f" 60 >"cut.${f##*.}"
    says "$f cut in its directory" 'the directory at the end of the zip archive is missing' "cut.${f##*.}"
    (cat "$c/$f" && echo) >"more.${f##*.}"
    says "$f with a line behind it" 'bytes after the end of the zip archive' "more.${f##*.}"
done
edit() { # FILE PERL: its bytes in $_ changed
    perl -e 'local $/; open F, "<:raw", $ARGV[0]; $_ = <F>; eval $ARGV[1]; die $@ if $@; print' "$1" "$2"
}
# shellcheck disable=SC2016
{
    edit "$c/good-ogb.zip" 's/^(.*PK\x01\x02.{42}[^\0]*?)node-feat/$1node-fest/s' >name.zip
    says 'a member that has another name in the directory of a zip archive' "name.zip: member '.*': its name differs from the directory" name.zip
    edit "$c/good-ogb.zip" '$_ = substr($_, 7)' >start.zip
    says 'a zip archive without its first bytes' 'start.zip: cut short' start.zip
    edit "$c/good-ogb.zip" 's/(PK\x05\x06.{4})(.)(.)(.)/$1 . chr(ord($2) - 1) . $3 . chr(ord($4) - 1)/se' >count.zip
    says 'a zip archive with a member more than declared' 'count.zip: .*members declared, more found' count.zip
    # An entry of the directory taken out: the member would be lost to who reads the directory.
    edit "$c/good-ogb.zip" '
        my $n = length; my ($e) = /(PK\x05\x06.*)$/s; my ($cn, $size, $at) = unpack "x10 v V V", $e;
        my ($a, $b, $x) = unpack "x28 v v v", substr $_, $at; my $len = 46 + $a + $b + $x;
        substr($e, 8, 8) = pack "v v V", $cn - 1, $cn - 1, $size - $len;
        $_ = substr($_, 0, $at) . substr($_, $at + $len, $size - $len) . $e' >lost.zip
    says 'a member that the directory of a zip archive lacks' "lost.zip: .*the bytes before it belong to no listed member" lost.zip
}

says 'a name that leads out of the archive' 'leads out' "$c/bad-escape.tar"
says 'an absolute name in an archive' 'leads out' "$c/bad-absolute.tar"
says 'encrypted members of a zip archive' "member 'd/raw/.*': it is encrypted" "$c/bad-encrypted.zip"
tar -b 1 -cf twice.tar d
tar -b 1 -rf twice.tar d/raw/edge.csv
says 'a member that a tar archive holds twice' "twice.tar: member 'd/raw/edge.csv' occurs twice" twice.tar
tar -cf outer.tar g.tar
says 'a tar archive in a tar archive' 'outer.tar: g.tar: an archive in an archive' outer.tar
ln -s edge.csv d/raw/node_link.csv
tar -b 1 -cf link.tar d
says 'a symbolic link in a tar archive' "link.tar: member 'd/raw/node_link.csv' is a link" link.tar
rm d/raw/node_link.csv
ln d/raw/edge.csv d/raw/node_link.csv
tar -b 1 -cf link.tar d
says 'a hard link in a tar archive' "link.tar: member '.*' is a link" link.tar
rm d/raw/node_link.csv
mkfifo d/raw/fifo
tar -b 1 -cf fifo.tar d
says 'a FIFO in a tar archive' "fifo.tar: member 'd/raw/fifo' is neither" fifo.tar
rm d/raw/fifo
if truncate -s 3G d/raw/node_time.csv 2>trunc.err; then
    tar -S -b 1 -cf sparse.tar d
    rm d/raw/node_time.csv
    says 'a sparse member of 3 GiB in a tar archive' 'sparse.tar: d/raw/node_time.csv: \(line 1: a byte of value 0\|implausible\)' sparse.tar
else skip 'gnn-import refuses a sparse member of 3 GiB in a tar archive' 'no large files'; fi
# A member that claims 8 GiB.
# shellcheck disable=SC2016
edit g.tar 'my $h = substr $_, -2048, 512; substr($h, 124, 11) = "77777777777"; substr($h, 148, 8) = " " x 8;
    substr($h, 148, 7) = sprintf "%06o\0", unpack "%32C*", $h; substr($_, -2048, 512) = $h' >huge.tar
says 'a member of a tar archive that claims 8 GiB' 'huge.tar: .*\(cut\|Truncated\)' huge.tar

printf 'PK' >two.npz
says 'two bytes of an npz file' 'two.npz: cut short in its first bytes' two.npz
check 'two.npz is an archive of several arrays' cp "$c/good-arrays.npz" two.npz
says 'several arrays for --features' 'two.npz: several members, but .* must be one file' --features two.npz "$c/good-snap.txt"
says 'several arrays for --labels' 'two.npz: several members, but .* must be one file' --labels two.npz "$c/good-snap.txt"
says 'several arrays for --split' 'two.npz: several members' --split train=two.npz "$c/good-snap.txt"
check 'gnn-import leaves no temporary file of an archive' test -z "$(find . -name '*.tmp*')"
done_testing
