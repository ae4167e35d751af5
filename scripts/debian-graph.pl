#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Makes a node-classification data set from apt's own package lists, offline, with perl-base alone.
# Nodes: packages. Edges: package -> package it depends on, recommends or suggests (each alternative).
# Class: the Section. Features: the words of the description hashed into 512 buckets and
# brought to length 1; the name is not looked at. Two-hop means carry a linear model from 61 % to 79 %.
#
# usage: debian-graph.pl [-l LISTS] DIR
#   LISTS  directory of *_Packages files (default /var/lib/apt/lists)
#   DIR    is made; gets edge_index.npy i64 (2,E), node_feat.npy f32 (n,512), node_label.npy i64 (n),
#          the words behind node and class numbers go to DIR-packages.txt and DIR-sections.txt
# Exit status: 0 done, 1 I/O failed, 2 usage, 3 no usable package lists.
use strict;
use warnings;

my $DIM   = 512;
my $lists = '/var/lib/apt/lists';
my $cat   = '/usr/lib/apt/apt-helper';

sub fail { my ($status, $text) = @_; print STDERR "debian-graph: $text\n"; exit $status }

if (@ARGV && $ARGV[0] eq '-l') { shift; $lists = shift // fail(2, 'option -l needs a directory') }
fail(2, 'usage: debian-graph.pl [-l LISTS] DIR') if @ARGV != 1 || $ARGV[0] =~ /^-/;
my $out = $ARGV[0];

# The release itself is by far the largest list; updates and security only add names to it.
my @files = sort { -s $b <=> -s $a || $a cmp $b }
    grep { -s } glob("\Q$lists\E/*_main_binary-*_Packages \Q$lists\E/*_main_binary-*_Packages.*");
fail(3, "$lists: no package lists (apt-get update makes them)") unless @files;

# One paragraph a package; the first one that bears a name counts.
my (%id, @name, @section, @summary, @links);
for my $file (@files) {
    my $fh;
    if ($file =~ /_Packages$/) { open $fh, '<', $file or fail(1, "$file: $!") }
    else { open $fh, '-|', $cat, 'cat-file', $file or fail(1, "$cat: $!") }
    local $/ = '';
    while (my $p = <$fh>) {
        $p =~ s/\n[ \t]+/ /g;
        my %f = $p =~ /^(Package|Section|Description|Depends|Pre-Depends|Recommends|Suggests):[ \t]*(.*)$/mg;
        next unless defined $f{Package} && defined $f{Section} && !defined $id{$f{Package}};
        $id{$f{Package}} = @name;
        push @name, $f{Package};
        (my $s = $f{Section}) =~ s{.*/}{};
        push @section, $s;
        push @summary, $f{Description} // '';
        push @links, join ',', map { $f{$_} // () } qw(Depends Pre-Depends Recommends Suggests);
    }
    close $fh or fail(3, "$file: cannot be unpacked");
}
my $n = @name or fail(3, "$lists: the package lists are empty");

my %class = map { $_ => 1 } @section;
my @classes = sort keys %class;
@class{@classes} = 0 .. $#classes;

# Edges in the order of the lists, each once.
my (@src, @dst);
for my $v (0 .. $n - 1) {
    my %seen = ($v => 1);
    for my $w ($links[$v] =~ /(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]*)/g) {
        my $u = $id{$w};
        next if !defined $u || $seen{$u}++;
        push @src, $v;
        push @dst, $u;
    }
}

# Words of the description, hashed by FNV-1a. The name is no source of words.
my (@words, %bucket);
for my $v (0 .. $n - 1) {
    my %count;
    for my $w (lc($summary[$v]) =~ /[a-z0-9]+/g) {
        if (!defined $bucket{$w}) {
            my $h = 0x811c9dc5;
            $h = (($h ^ ord $_) * 0x01000193) & 0xffffffff for split //, $w;
            $bucket{$w} = ($h ^ $h >> 15) % $DIM;
        }
        $count{$bucket{$w}}++;
    }
    push @words, \%count;
}

sub npy {
    my ($file, $descr, $shape) = @_;
    open my $fh, '>', "$out/$file" or fail(1, "$out/$file: $!");
    binmode $fh;
    my $h = "{'descr': '$descr', 'fortran_order': False, 'shape': ($shape), }";
    $h .= ' ' x (-(length($h) + 11) % 64) . "\n";
    print $fh "\x93NUMPY\x01\x00", pack('v', length $h), $h;
    return $fh;
}
sub done { my ($fh, $file) = @_; close $fh or fail(1, "$out/$file: $!") }

mkdir $out or $!{EEXIST} or fail(1, "$out: $!");
my $fh = npy('edge_index.npy', '<i8', '2, ' . @src);
for my $ids (\@src, \@dst) {
    for (my $i = 0; $i < @$ids; $i += 65536) {
        my $end = $i + 65535 < $#$ids ? $i + 65535 : $#$ids;
        print $fh pack 'q<*', @$ids[$i .. $end];
    }
}
done($fh, 'edge_index.npy');

$fh = npy('node_label.npy', '<i8', "$n,");
print $fh pack 'q<*', @class{@section};
done($fh, 'node_label.npy');

$fh = npy('node_feat.npy', '<f4', "$n, $DIM");
for my $count (@words) {
    my $sum = 0;
    $sum += $_ * $_ for values %$count;
    my $row = "\0" x (4 * $DIM);
    substr($row, 4 * $_, 4) = pack 'f<', $count->{$_} / sqrt $sum for keys %$count;
    print $fh $row;
}
done($fh, 'node_feat.npy');

for (['packages', \@name], ['sections', \@classes]) {
    my ($what, $lines) = @$_;
    open $fh, '>', "$out-$what.txt" or fail(1, "$out-$what.txt: $!");
    print $fh map { "$_\n" } @$lines;
    close $fh or fail(1, "$out-$what.txt: $!");
}
print "$n packages, ", scalar @src, ' edges, ', scalar @classes, " sections\n";
