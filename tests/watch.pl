#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Runs one test in DIR/d, with its output and its errors in DIR/tap as well and its status in DIR/rc. A test that says nothing for
# GNN_PATIENCE seconds (600; 1,800 where GNN_SWEEP widens tests) is ended, with a word on what was running, also if it has closed its
# output. One that ends before its end shows its last words. One that leaves processes, or files in TMPDIR, which is DIR/tmp, fails.
# usage: watch.pl DIR COMMAND...
use strict;
use warnings;
use POSIX qw(WNOHANG);
use Time::HiRes qw(sleep time);

my ($dir, @command) = @ARGV;
my ($pid, $status);
my $patience = $ENV{GNN_PATIENCE} || ($ENV{GNN_SWEEP} ? 1800 : 600);
my $linger = $patience < 30 ? $patience : 30; # seconds that processes have to end after they were told to

sub slurp { open my $f, '<', $_[0] or return ''; local $/; <$f> // '' }
sub tail { my @lines = split /\n/, slurp($_[0]); join '', map { "#   $_\n" } @lines > 15 ? @lines[-15 .. -1] : @lines }

# Orphans of the test become children of this process (PR_SET_CHILD_SUBREAPER), whatever session and environment they have.
my %prctl = (x86_64 => 157, aarch64 => 167);
my $number = $prctl{(POSIX::uname)[4]};
warn "watch.pl: what a test leaves is found by its environment only\n" if !defined $number || syscall($number, 36, 1, 0, 0, 0);

# Whether the test has ended. Orphans that have are reaped, too.
sub has_ended {
    while ((my $gone = waitpid -1, WNOHANG) > 0) { $status = $? if $gone == $pid }
    defined $status;
}

# Processes of this test: its descendants, and those that have inherited its environment. Zombies are none.
sub running {
    my %child;
    has_ended();
    my @all = map { m{(\d+)} } glob '/proc/[0-9]*';
    for (@all) {
        my ($state, $parent) = slurp("/proc/$_/stat") =~ /.*\) (\S) (\d+)/s or next;
        push @{$child{$parent}}, [$_, $state];
    }
    my (%found, @more) = ();
    for (@more = $$; @more;) {
        my $family = $child{shift @more} // [];
        $found{$_->[0]} = $_->[1] for @$family;
        push @more, map { $_->[0] } @$family;
    }
    for (@all) { $found{$_} //= '?' if slurp("/proc/$_/environ") =~ /(?:^|\0)GNN_TEST=\Q$dir\E(?:\0|$)/ }
    grep { $_ != $$ && $found{$_} ne 'Z' } sort { $a <=> $b } keys %found;
}
sub named { map { "#   $_: " . substr(slurp("/proc/$_/cmdline") =~ tr/\0\n/  /r, 0, 200) . "\n" } @_ }

sub finish { # what does not obey is killed
    kill 'TERM', -$pid;
    for (my $until = time + $linger; time < $until && !has_ended(); sleep .1) { }
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

my ($heard, $open, $until) = (time, 1);
until (has_ended() && !$open) {
    last if defined $status && time > ($until //= time + $linger); # and others go on talking
    vec(my $ready = '', fileno $in, 1) = $open;
    if (select $ready, undef, undef, $open ? 1 : .05) {
        $open = sysread($in, my $text, 65536) ? 1 : 0 or next;
        tell_all($text);
        $heard = time;
    } elsif ($open && has_ended()) { # and others hold the pipe open
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
