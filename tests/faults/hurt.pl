# SPDX-License-Identifier: Apache-2.0
# Damages a GNB file in many ways and runs a command on each damaged copy.
# usage: hurt.pl MODE COUNT FILE COPY OUT COMMAND...
#   MODE   edges: cut at every frame, table and payload edge; cut: at COUNT random offsets;
#          flip: COUNT random bits; all: cut at every byte
#   COPY   where the damaged copy is put before COMMAND runs (FILE itself may be named: it is restored)
#   OUT    what COMMAND would write; must not exist afterwards ("-": nothing)
# Each run must end with status 3 in 300 seconds and say one line on stderr. Prints each that did not.
use strict;
use warnings;

my ($mode, $count, $file, $copy, $out, @cmd) = @ARGV;
open my $fh, '<:raw', $file or die "$file: $!\n";
my $good = do { local $/; <$fh> };
close $fh;
my $size = length $good;
srand 20;

sub edges {
    my ($at, %cut) = (0);
    while ($at < $size) {
        my ($magic, $table, $payload) = unpack 'a4 x20 Q< Q<', substr $good, $at, 64;
        die "$file: no frame at $at\n" unless length $magic == 4;
        # around the header's end, the table's end and the payload's end
        for my $edge ($at, $at + 64, $at + 64 + $table, $at + 64 + $table + $payload) {
            $cut{$_} = 1 for grep { $_ < $size && $_ >= 0 } $edge - 1, $edge, $edge + 1;
        }
        $at += 64 + $table + $payload;
    }
    die "$file: frames end at $at instead of $size\n" if $at != $size;
    my @all = sort { $a <=> $b } keys %cut;
    return @all;
}

my @case =
      $mode eq 'edges' ? map { ['cut', $_] } edges()
    : $mode eq 'all'   ? map { ['cut', $_] } 0 .. $size - 1
    : $mode eq 'cut'   ? map { ['cut', int rand $size] } 1 .. $count
    :                    map { ['flip', int rand 8 * $size] } 1 .. $count;
my $wrong = 0;
for my $case (@case) {
    my ($how, $at) = @$case;
    my $bad = $how eq 'cut' ? substr($good, 0, $at) : $good;
    vec($bad, $at, 1) ^= 1 if $how eq 'flip';
    open $fh, '>:raw', $copy or die "$copy: $!\n";
    print $fh $bad;
    close $fh or die "$copy: $!\n";
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        open STDIN, '<', $copy =~ m{/} ? '/dev/null' : $copy; # a store's is found by name
        open STDOUT, '>', 'hurt.out';
        open STDERR, '>', 'hurt.err';
        exec 'timeout', '300', @cmd or exit 126;
    }
    waitpid $pid, 0;
    my $status = $? & 127 ? 'signal ' . ($? & 127) : $? >> 8;
    open my $err, '<', 'hurt.err';
    my @line = <$err>;
    my @why;
    push @why, "status $status" if $status ne '3';
    push @why, scalar(@line) . ' lines' if @line != 1;
    push @why, "$out is there" if $out ne '-' && -e $out;
    next unless @why;
    print "$how at $at of $size" . ($how eq 'flip' ? ' (byte ' . int($at / 8) . ')' : '') . ": @why: @line\n" if $wrong++ < 5;
    unlink $out;
}
open $fh, '>:raw', $copy or die;
print $fh $good if $copy eq $file;
close $fh;
print scalar(@case), " cases, $wrong wrong\n";
exit($wrong ? 1 : 0);
