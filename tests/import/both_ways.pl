#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# both_ways.pl DIR [SKIP]: makes a data set, in the layout of ogb:, of the edges user/buys/item that are on standard input, u,i each,
# and of their reverses, item/sold_to/user, but for the first SKIP of these.
use strict;
use warnings;
use File::Path 'make_path';
my ($dir, $skip) = (@ARGV, 0);
my @edge = map { [/(\d+)\D+(\d+)/] } grep { /\d/ } <STDIN>;

sub put {
    my ($name, @lines) = @_;
    open my $f, '>', "$dir/raw/$name.csv" or die "$name: $!";
    print $f "$_\n" for @lines;
    close $f or die;
}
my @most = map { my $k = $_; (sort { $b <=> $a } map { $_->[$k] } @edge)[0] + 1 } 0, 1;
my @way = (["user___buys___item", map { "$_->[0],$_->[1]" } @edge], ["item___sold_to___user", map { "$_->[1],$_->[0]" } @edge[$skip .. $#edge]]);
for my $way (@way) {
    my ($name, @lines) = @$way;
    make_path("$dir/raw/relations/$name");
    put("relations/$name/edge", @lines);
    put("relations/$name/num-edge-list", scalar @lines);
}
put("num-node-dict", "user,item", "$most[0],$most[1]");
put("triplet-type-list", "user,buys,item", "item,sold_to,user");
