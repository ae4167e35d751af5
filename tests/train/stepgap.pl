# SPDX-License-Identifier: Apache-2.0
# stepgap.pl BEFORE A B MOST: BEFORE, A and B are safetensors files of a model before and after a step of SGD. Exits 0 if A and B
# have the same tensors and the steps differ, in each, by at most MOST times the tensor's largest step; steps below a hundredth
# of the model's largest count as that. Prints the largest difference and the tensor that has it.
use strict;
use warnings;
use JSON::PP;

sub tensors {
    open my $f, '<:raw', $_[0] or die "$_[0]: $!\n";
    local $/;
    my $all = <$f>;
    my $n = unpack 'Q<', $all;
    my $head = decode_json(substr $all, 8, $n);
    delete $head->{__metadata__};
    my %t;
    while (my ($name, $x) = each %$head) {
        my ($from, $to) = @{$x->{data_offsets}};
        my $bytes = substr $all, 8 + $n + $from, $to - $from;
        $t{$name} = [unpack $x->{dtype} eq 'I64' ? 'q<*' : $x->{dtype} eq 'F32' ? 'f<*' : die("$_[0]: $name: $x->{dtype}\n"), $bytes];
    }
    return \%t;
}
sub most {
    my ($x, $y) = @_;
    @$x == @$y or die "different shapes\n";
    my $most = 0;
    for my $i (0 .. $#$x) {
        my $d = abs($x->[$i] - $y->[$i]);
        $d == $d or die "not a number\n";
        $most = $d if $d > $most;
    }
    return $most;
}
my ($before, $one, $two) = map { tensors($_) } @ARGV[0 .. 2];
join(' ', sort keys %$one) eq join(' ', sort keys %$two) or die "different tensors\n";
my %step = map { $_ => most($before->{$_}, $one->{$_}) } keys %$one;
my $largest = (sort { $a <=> $b } values %step)[-1];
$largest > 0 or die "no step was taken\n";
my ($worst, $where) = (0, '');
for my $name (sort keys %$one) {
    my $gap = most($one->{$name}, $two->{$name}) / ($step{$name} > $largest / 100 ? $step{$name} : $largest / 100);
    ($worst, $where) = ($gap, $name) if $gap >= $worst;
}
printf "%.3g %s, largest step %.3g\n", $worst, $where, $largest;
exit !($worst <= $ARGV[3]);
