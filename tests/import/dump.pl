# SPDX-License-Identifier: Apache-2.0
# dump.pl PART KEY FIELD...: a line for each edge, by destination: destination, source, fields. dump.pl PART node/TYPE FIELD: a line
# for each node, with its row of the field. Reads a partition file as gnb(5) says.
use strict; use warnings;
my ($file, $key, @field) = @ARGV;
open my $fh, '<:raw', $file or die "$file: $!\n";
my $s = do { local $/; <$fh> };
my ($at, %t) = (0);
for (1 .. 2) {
    my ($kind, $n, $seq, $table, $payload) = unpack 'x8 L< L< Q< Q< Q<', substr $s, $at, 64;
    my ($e, $data) = ($at + 64, $at + 64 + $table);
    for (1 .. $n) {
        my ($dtype, $codec, $d, $len, $off, $stored) = unpack 'C C C x S< x2 Q< Q<', substr $s, $e, 40;
        $t{substr $s, $e + 40 + 8 * $d, $len} = [$dtype, substr $s, $data + $off, $stored];
        $e += 40 + 8 * $d + $len;
        $e += -($e - $at) % 8;
    }
    $at = $data + $payload;
}
my %code = (1, 'C*', 5, 'L<*', 6, 'l<*', 7, 'Q<*', 8, 'q<*', 11, 'f<*', 12, 'd<*');
sub tensor {
    my $x = $t{$_[0]} // die "no $_[0]\n";
    unpack $code{$x->[0]}, $x->[1];
}
if ($key =~ m{^node/[^/]+$}) {
    my @v = tensor("$key/$field[0]");
    my $rows = (tensor('book/' . substr $key, 5))[1];
    my $width = @v / $rows;
    print join(' ', splice @v, 0, $width), "\n" while @v;
    exit;
}
sub of { tensor("edge/$key/$_[0]") }
my @ptr = of('indptr');
my @column = map { [of($_)] } 'indices', @field;
for my $v (0 .. $#ptr - 1) {
    for my $k ($ptr[$v] .. $ptr[$v + 1] - 1) { print join(' ', $v, map { $_->[$k] } @column), "\n" }
}
