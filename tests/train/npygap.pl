# SPDX-License-Identifier: Apache-2.0
# npygap.pl A B MOST: exits 0 if two .npy arrays of f32 have the same shape and differ by at most MOST; prints the difference.
use strict;
use warnings;

sub array {
    open my $f, '<:raw', $_[0] or die "$_[0]: $!\n";
    local $/;
    my $all = <$f>;
    my $n = unpack 'v', substr $all, 8, 2;
    my $head = substr $all, 10, $n;
    $head =~ /'descr': '<f4'.*'shape': \(([\d, ]*)\)/ or die "$_[0]: not f32: $head\n";
    return ($1, [unpack 'f<*', substr $all, 10 + $n]);
}
my ($sa, $a) = array($ARGV[0]);
my ($sb, $b) = array($ARGV[1]);
$sa eq $sb or die "shapes ($sa) and ($sb)\n";
my $worst = 0;
for my $i (0 .. $#$a) {
    my $d = abs($a->[$i] - $b->[$i]);
    $d == $d or die "element $i: not a number\n";
    $worst = $d if $d > $worst;
}
printf "%.3g\n", $worst;
exit !(@$a && $worst <= $ARGV[2]);
