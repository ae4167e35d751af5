# SPDX-License-Identifier: Apache-2.0
# A GNB stream of raw tensors as one whose local ids and rows are references into memory that its writer offers, which
# holds zeros (fuzz_stream.c). With "nodes" nodes and trees are references, too, and with times to 32768, where that counts up from 0
# (fuzz_producer.c).
# All sums are 0: what reads it must not look at them. usage: refer.pl [device|nodes] FILE
use strict;
use warnings;

my $how = @ARGV > 1 ? shift : '';
my ($device, $nodes) = ($how eq 'device', $how eq 'nodes');
open my $fh, '<:raw', $ARGV[0] or die "$ARGV[0]: $!\n";
my $in = do { local $/; <$fh> };
my ($out, $at, $frames) = ('', 0, 0);
sub padded { my ($s, $to) = @_; return $s . "\0" x (-length($s) % $to) }
while ($at < length $in) {
    my ($major, $kind, $n, $seq, $table, $payload) = unpack 'x4 S x2 L L Q Q Q', substr $in, $at, 64;
    my ($entries, $base, $data, $p) = ('', $at + 64 + $table, '', $at + 64);
    for (1 .. $n) {
        my ($dtype, $codec, $ndim, $len, $offset, $stored, $raw) = unpack 'C C C x S x2 Q Q Q', substr $in, $p, 40;
        my $tail = substr $in, $p + 40, 8 * $ndim + $len;
        my $bytes = substr $in, $base + $offset, $stored;
        my $name = substr $tail, 8 * $ndim;
        if ($kind == 2 && $name !~ m{^(key|counts/)|indptr$} && ($device || $nodes || $name !~ m{^(nodes|tree)/})) {
            $codec = 2;
            $bytes = pack 'Q Q L L', $nodes && $name =~ m{^(nodes|tree|time)/} ? 32768 : 0, 0, $seq % 3, $device ? 2 : 0;
            $bytes .= pack 'Q a64', 1, '' if $device;
        }
        $bytes = pack 'Q Q', $seq, length $out if $name eq 'totals';
        $data = padded($data, 64);
        $entries .= padded(pack('C C C C S S Q Q Q Q', $dtype, $codec, $ndim, 0, $len, 0, length $data, length $bytes, $raw, 0) . $tail, 8);
        $data .= $bytes;
        $p += 40 + 8 * $ndim + $len + -(40 + 8 * $ndim + $len) % 8;
    }
    $entries = padded($entries, 64);
    $data = padded($data, 64);
    $out .= pack('a4 S S L L Q Q Q L L Q Q', substr($in, $at, 4), $major, 1, $kind, $n, $seq, length $entries, length $data, 64, 0, 0, 0) . $entries . $data;
    $at = $base + $payload;
}
binmode STDOUT;
print $out;
