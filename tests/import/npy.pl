# SPDX-License-Identifier: Apache-2.0
# npy.pl FILE DESCR SHAPE <VALUES: an .npy array.
use strict; use warnings;
my ($file, $descr, $shape) = @ARGV;
my $h = "{'descr': '$descr', 'fortran_order': False, 'shape': ($shape), }";
$h .= ' ' x (63 - (10 + length $h) % 64) . "\n";
open my $fh, '>:raw', $file or die;
my $code = {'<i8' => 'q<', '<u8' => 'Q<', '<f8' => 'd<', '<f4' => 'f<', '<i4' => 'l<', '<u4' => 'L<', '|u1' => 'C', '|b1' => 'C'}->{$descr};
print $fh "\x93NUMPY\1\0", pack('v', length $h), $h, map { pack $code, $_ } split ' ', do { local $/; <STDIN> };
