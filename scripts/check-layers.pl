#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Dependencies: cmd -> lib -> {kernels, formats}; inside lib a module includes only modules that stand before it
# in @modules, and every file is in one of them; a directory inside a module includes nothing of the directories beside it; only cmd prints or exits; only lib/base/mem.c allocates for lib;
# a few functions are used nowhere; no two sources or headers, those of tests included, have one name; no two GNN_SIMD functions have one name: clang makes the clones of static ones global.
# usage: check-layers.pl [TREE]      one line a finding; exit status 1 if there is any
use strict;
use warnings;
use File::Basename qw(basename dirname);
use File::Find qw(find);

my $top = shift // '.';
my %may = (
    cmd     => {map { $_ => 1 } qw(cmd lib kernels formats)},
    lib     => {map { $_ => 1 } qw(lib kernels formats)},
    kernels => {kernels => 1},
    formats => {formats => 1},
);
my @modules = qw(base data comm store gpu stream cache import partition sample gather ops model train predict inspect api);
my %rank = map { $modules[$_] => $_ } 0 .. $#modules;
my $never  = qr/\b(strcpy|strcat|stpcpy|strncpy|strncat|sprintf|vsprintf|gets|atoi|atol|atoll|atof|strtok|alloca
    |rand|srand|random|srandom|drand48|tmpnam|mktemp|system|asctime|ctime|gmtime|localtime|setjmp|longjmp)\s*\(/x;
my $prints = qr/\b(?:(printf|vprintf|puts|putchar|perror|exit|abort|err|errx|warn|warnx|psignal)\s*\(|(stderr|stdout)\b)/;
my $heap   = qr/\b(malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|strdup|strndup|asprintf|vasprintf)\s*\(/;

my %simd;

my $found = 0;
sub report { print "@_\n"; $found = 1 }

my %named;
find({no_chdir => 1, wanted => sub {
    push @{$named{basename($_)}}, s{^\Q$top\E/}{}r if -f && /\.(c|h|cc|cu|cuh)$/;
}}, grep { -d } map { "$top/$_" } qw(cmd lib kernels formats tests));
@{$named{$_}} > 1 && report("$_: a name for one file: @{[sort @{$named{$_}}]}") for sort keys %named;

for my $folder (sort keys %may) {
    for my $file (sort map { glob "\Q$top/$folder\E/$_" } qw(*.[ch] */*.[ch] */*/*.[ch] *.cuh */*.cu */*.cuh)) {
        open my $fh, '<', $file or die "$file: $!\n";
        my $text = do { local $/; <$fh> };
        (my $name = $file) =~ s{^\Q$top\E/}{};
        # Comments go, strings become empty, line numbers stay.
        my @include = map { m/^\s*#\s*include\s*"([^"]*)"/ ? $1 : undef } split /\n/, $text;
        $text =~ s{(/\*.*?\*/)|(//[^\n]*)|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')}
                  {my $c = $1 // ''; $c =~ s/[^\n]//g; defined $3 ? '""' : $c}gse;
        my $module = $name =~ m{^lib/([^/]+)/} ? $1 : undef;
        my $inner = $name =~ m{^(lib/[^/]+/[^/]+)/} ? $1 : undef;
        report("$name: no module: lib has none but @modules") if $folder eq 'lib' && !exists $rank{$module // ''};
        for my $f ($text =~ /^GNN_SIMD static [^(;]*?(\w+)\(/gm) {
            report("$name: $f is the name of a GNN_SIMD function of $simd{$f}, too") if exists $simd{$f};
            $simd{$f} = $name;
        }
        my $line = 0;
        for my $s (split /\n/, $text) {
            my $at = "$name:" . ++$line;
            if (defined(my $inc = $include[$line - 1])) {
                my ($to) = $inc =~ m{^([a-z]+)/};
                report("$at: include \"$inc\" by its path from the root") if !defined $to;
                report("$at: $folder may not include \"$inc\"") if defined $to && !$may{$folder}{$to};
                if (defined $module && exists $rank{$module} && $inc =~ m{^lib/([^/]+)/}) {
                    report("$at: $module may not include \"$inc\": $1 comes after it") if ($rank{$1} // @modules) > $rank{$module};
                }
                my ($beside) = defined $inner && $inc =~ m{^(lib/\w+/\w+)/} ? $1 : ();
                if (defined $beside && $beside ne $inner && dirname($beside) eq dirname($inner)) {
                    report("$at: $inner may not include \"$inc\": $beside is beside it");
                }
                next;
            }
            report("$at: $1 is not to be used") if $s =~ $never;
            report("$at: only cmd prints or ends the process (" . ($1 // $2) . ')') if $folder ne 'cmd' && $s =~ $prints;
            report("$at: $1 outside lib/base/mem.c") if $folder eq 'lib' && $name !~ m{^lib/(base/mem|comm/calls_mpi)\.c$} && $s =~ $heap;
            report("$at: kernels do not allocate ($1)") if $folder eq 'kernels' && $s =~ $heap;
        }
    }
}
exit $found;
