#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Computes means and deviations of runs by itself, and compares them with what gnn-inspect --table --csv prints.
# usage: runs.pl TABLE.csv OPTION,... FILE...      FILE: a finished run, NAME-SEED.ndjson; runs of one NAME are one line of the table
use strict;
use warnings;
use JSON::PP;
my ($table, $options, @files) = @ARGV;
my @options = split /,/, $options;

sub lines { local @ARGV = shift; return map { decode_json($_) } <> }
# A row of RFC 4180, without line breaks in cells.
sub cells {
    my ($line, @out) = shift;
    chomp $line;
    while ($line =~ /\G(?:"((?:[^"]|"")*)"|([^,"]*))(,|$)/gc) {
        push @out, defined $1 ? $1 =~ s/""/"/gr : $2;
        last if $3 eq '';
    }
    return @out;
}
sub figures {
    my @v = grep { defined } @_;
    return ('', '', 0) if !@v;
    my $mean = 0;
    $mean += $_ / @v for @v;
    my $squares = 0;
    $squares += ($_ - $mean)**2 for @v;
    return ($mean, @v > 1 ? sqrt($squares / (@v - 1)) : '', scalar @v);
}
sub same { my ($x, $y) = @_; return $x eq '' || $y eq '' ? $x eq $y : abs($x - $y) <= 1e-12 * (1 + abs $x) }

my (%runs, @names);
for my $file (@files) {
    my ($name) = $file =~ m{([^/]*)-\d+\.ndjson$} or die "$file: no name";
    push @names, $name if !$runs{$name};
    push @{$runs{$name}}, [lines($file)];
}
open my $fh, '<', $table or die;
my ($header, @rows) = <$fh>;
my @header = cells($header);
@rows == @names or die 'rows: ' . @rows . ', groups of runs: ' . @names;
my $compared = 0;
for my $name (@names) {
    my %got;
    my @cells = cells(shift @rows);
    @cells == @header or die 'cells: ' . @cells . ', columns: ' . @header;
    @got{@header} = @cells;
    my @ends = map { grep { $_->{event} eq 'end' } @$_ } @{$runs{$name}};
    my ($start) = grep { $_->{event} eq 'start' } @{$runs{$name}[0]};
    my %want;
    for my $o (@options) {
        my $v = $start->{options}{$o} // 'default';
        $want{$o} = ref $v eq 'ARRAY' ? "@$v" : JSON::PP::is_bool($v) ? ($v ? 'yes' : 'no') : $v;
    }
    my $figure = sub {
        my ($column, @f) = (shift, figures(@_));
        @want{$column, "$column deviation", "$column runs"} = @f;
    };
    $want{seeds} = @ends;
    $want{'left out'} = 0;
    $figure->('best epoch', map { $_->{best_epoch} } @ends);
    my ($train, @sets) = @{$start->{sets}};
    for my $s (@sets) { $figure->("$s $start->{metric}", map { $_->{$s}{$start->{metric}} } @ends) }
    $figure->('seconds per epoch', map { ($_->{train_s} + $_->{wait_s} + $_->{eval_s}) / $_->{epochs} } @ends);
    for my $h (@header) {
        exists $want{$h} or die "a column '$h'";
        my $equal = grep({ $_ eq $h } @options) ? $got{$h} eq $want{$h} : same($got{$h}, $want{$h});
        $equal or die "$name: $h is $got{$h}, not $want{$h}";
        $compared++;
    }
    for my $w (keys %want) { exists $got{$w} or die "no column '$w'" }
}
print "$compared cells\n";
