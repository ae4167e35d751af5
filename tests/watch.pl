#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Runs one test in DIR/d, with its output and its errors in DIR/tap as well and its status in DIR/rc. A test that says nothing for
# GNN_PATIENCE seconds (600) is ended, with a word on what was running. One that ends before its end shows its last words. One that leaves
# processes, or files in TMPDIR, which is DIR/tmp, fails.
# usage: watch.pl DIR COMMAND...
use strict;
use warnings;
use POSIX qw(WNOHANG);
use Time::HiRes qw(sleep time);

my ($dir, @command) = @ARGV;
my $pid;
my $patience = $ENV{GNN_PATIENCE} || 600;
my $linger = $patience < 30 ? $patience : 30; # seconds that processes have to end after they were told to

sub slurp { open my $f, '<', $_[0] or return ''; local $/; <$f> // '' }
sub tail { my @lines = split /\n/, slurp($_[0]); join '', map { "#   $_\n" } @lines > 15 ? @lines[-15 .. -1] : @lines }

# Processes of this test: those that have inherited its environment. Zombies have none.
sub running { grep { $_ != $$ && slurp("/proc/$_/environ") =~ /(?:^|\0)GNN_TEST=\Q$dir\E(?:\0|$)/ } map { m{(\d+)} } glob '/proc/[0-9]*' }
sub named { map { "#   $_: " . substr(slurp("/proc/$_/cmdline") =~ tr/\0\n/  /r, 0, 200) . "\n" } @_ }

sub finish { # what does not obey is killed
    kill 'TERM', -$pid;
    for (my $until = time + $linger; time < $until && waitpid($pid, WNOHANG) <= 0; sleep .1) { }
    kill 'KILL', -$pid, running();
}

mkdir "$dir/tmp" or die "$dir/tmp: $!\n";
pipe my $in, my $out or die "pipe: $!\n";
$pid = fork // die "fork: $!\n";
if (!$pid) {
    setpgrp;
    @ENV{'GNN_TEST', 'TMPDIR'} = ($dir, "$dir/tmp");
    open STDOUT, '>&', $out or die "stdout: $!\n";
    open STDERR, '>&', $out or die "stderr: $!\n";
    close $in;
    close $out;
    chdir "$dir/d" or die "$dir/d: $!\n";
    exec @command or die "$command[0]: $!\n";
}
close $out;
# Where the runner is ended, so is the test.
$SIG{$_} = sub { finish(); exit 1 } for qw(HUP INT TERM PIPE);
open my $tap, '>', "$dir/tap" or die "$dir/tap: $!\n";
sub tell_all { syswrite STDOUT, $_[0]; syswrite $tap, $_[0] }

my ($status, $heard) = (undef, time);
while (1) {
    vec(my $ready = '', fileno $in, 1) = 1;
    if (select $ready, undef, undef, 1) {
        sysread $in, my $text, 65536 or last;
        tell_all($text);
        $heard = time;
    } elsif (waitpid($pid, WNOHANG) > 0) { # and others hold the pipe open
        $status = $?;
        last;
    } elsif (time - $heard > $patience) {
        tell_all(join '', "\n# nothing was said for $patience seconds; what runs:\n", named(running()),
                 map { ("# the end of $_:\n", tail("$dir/d/$_")) } grep { -s "$dir/d/$_" } qw(out err));
        tell_all("not ok - the test goes on\n");
        finish();
        $status = 1 << 8;
        last;
    }
}
waitpid $pid, 0 and $status = $? if !defined $status;
my $rc = $status & 127 ? 128 + ($status & 127) : $status >> 8;

tell_all("not ok - the test comes to its end: status $rc\n" . tail("$dir/tap")) if $rc && slurp("$dir/tap") !~ /^not ok/m;
my @left;
for (my $until = time + $linger; (@left = running()) && time < $until; sleep .1) { }
if (@left) {
    tell_all(join '', "not ok - the test leaves no process\n", named(@left));
    kill 'KILL', @left;
    $rc ||= 1;
}
if (!$rc and my @files = map { m{([^/]+)$} } glob "$dir/tmp/* $dir/tmp/.[!.]*") {
    tell_all("not ok - the test leaves no temporary file\n#   @files\n");
    $rc = 1;
}
open my $f, '>', "$dir/rc" or die "$dir/rc: $!\n";
print $f "$rc\n";
