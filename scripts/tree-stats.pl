#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What the tree is like, in numbers: statements, those of lib/api apart; statics named by one word; files of cmd and lib that ask whether there
# are several ranks, or a device, and how often they do (not who owns the subject: lib/comm, cmd/ranks; lib/gpu, cmd/device, and
# what is for devices only, gpu_*.c and *_cuda.c);
# and cycles, that is sets of units that call each other's functions, or read each other's data, both ways. A unit is the sources and
# the header of one name in a folder (x.c, x.cu, x.h): a header has the functions that have their bodies in it, and uses what these do.
# What a header declares is its source's that defines it; macros without a body in braces are not looked into.
# usage: tree-stats.pl [-v | -c] [TREE]     -v: names; -c: only the names of what there should be none of, one a line, and
#                                           exit status 1 if there is any
use strict;
use warnings;

my $mode = @ARGV && $ARGV[0] =~ /^-[vc]$/ ? shift : '';
my $top = $ARGV[0] // '.';

# Code without comments and strings.
sub code {
    my ($file) = @_;
    open my $fh, '<', $file or die "$file: $!\n";
    my $text = do { local $/; <$fh> };
    $text =~ s{/\*.*?\*/|//[^\n]*}{ }gs;
    $text =~ s{"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'}{""}gs;
    return $text;
}

# A pointer or flag of that name as a condition.
sub condition {
    my ($name) = @_;
    my $path = qr/\b(?:\w+(?:->|\.))*/;
    return qr/!\s*$path$name\b(?!\s*(?:->|\.|\[|\())|$path$name\s*(?:\?|&&|\|\||[!=]=\s*NULL)
        |(?:&&|\|\|)\s*$path$name\s*(?=[;)&|?])|\b(?:if|while)\s*\($path$name\)/x;
}
my %question = (
    'several ranks' => [qr{^(?!lib/comm/|cmd/ranks|\S*_cuda)}, condition(qr/(?:comm|far)/), qr/\bsize\s*(?:[=!]=|>|<=)\s*1\b|\branks_many\s*\(\)|\branked\s*\?/],
    'a device' => [qr{^(?!lib/gpu[/.]|cmd/device|lib/\w+/gpu_|\S*_cuda)}, condition(qr/(?:gpu|device|place|on_device)/), qr/\bstrn?cmp\s*\(\s*(?:\w+(?:->|\.))*(?:device|spec)\b|\bdevice_is_cpu\(/],
);
my (%asking, %asked);

my (%statements, @one, $statics, $files, %home, %words);
for my $file (sort map { glob "\Q$top\E/$_" } map { ("$_/*.[ch]", "$_/*/*.[ch]", "$_/*/*/*.[ch]", "$_/*/*.cu", "$_/*/*.cuh") } qw(cmd lib kernels formats)) {
    my $text = code($file);
    (my $name = $file) =~ s{^\Q$top\E/}{};
    my ($folder) = $name =~ m{^(lib/api|\w+)/};
    # The two of for (;;) are not statements.
    (my $plain = $text) =~ s/\bfor\s*\([^;]*;[^;]*;/for (/g;
    $statements{$folder} += () = $plain =~ /;/g;
    $files++;
    while ($text =~ /^static\s+(?:inline\s+|GNN_\w+\s+)*[\w\s*]*?\b(\w+)\s*\((?!\*)/mg) {
        $statics++;
        push @one, "$name: $1" if $1 !~ /_/;
    }
    for my $what ($name =~ m{^(?:cmd|lib)/} ? keys %question : ()) {
        my ($where, @how) = @{$question{$what}};
        my $n = grep { $name =~ $where } map { $text =~ /$_/g } @how;
        next if !$n;
        $asked{$what} += $n;
        push @{$asking{$what}}, "$name: $n";
    }
    (my $unit = $name) =~ s/\.(cuh?|[ch])$//;
    next if $unit =~ /no_gpu$/;
    if ($name =~ /h$/) {
        $home{$1} = $unit while $text =~ /^\w[\w \t*\n]*?\b(\w+)\s*\([^;{}]*\)\s*\{/mg;
        my @body = $text =~ /\)\s*(?:const\s*)?(?=(\{(?:[^{}]++|(?1))*\}))/g;
        $text = "@body";
    } else {
        # What begins a line, is not static and has a body or a value is the file's to offer.
        while ($text =~ /^(?!static\b|constexpr\b|typedef\b|extern\s+\w+\s+\w+[^{=]*;|else\b)[a-z][\w \t*]*?\b(\w+)(?:\s*\([^;{}]*\)\s*\{|(?:\[\w*\])?\s*=)/mg) {
            $home{$1} = $unit;
        }
    }
    # What it uses; a name that a macro makes is any that begins like it.
    $words{$unit}{$_} = 1 for $text =~ /(?<!\.)(?<!->)\b(\w+(?:\s*##)?)/g;
}
my %to;
for my $name (keys %words) {
    for my $w (keys %{$words{$name}}) {
        my @known = $w =~ /^(\w+?)\s*##/ ? grep { index($_, $1) == 0 } keys %home : grep { exists $home{$_} } $w;
        $to{$name}{$_} = 1 for grep { $_ ne $name } map { $home{$_} } @known;
    }
}
# Strongly connected sets, by Tarjan's algorithm.
my (%index, %low, %on, @stack, @cycles);
sub visit {
    no warnings 'recursion';
    my ($v) = @_;
    $index{$v} = $low{$v} = keys %index;
    push @stack, $v;
    $on{$v} = 1;
    for my $w (sort keys %{$to{$v} // {}}) {
        if (!defined $index{$w}) {
            visit($w);
            $low{$v} = $low{$w} if $low{$w} < $low{$v};
        } elsif ($on{$w} && $index{$w} < $low{$v}) {
            $low{$v} = $index{$w};
        }
    }
    return if $low{$v} != $index{$v};
    my @set;
    do { push @set, pop @stack; $on{$set[-1]} = 0 } while $set[-1] ne $v;
    push @cycles, [sort @set] if @set > 1;
}
defined $index{$_} or visit($_) for sort keys %to;

if ($mode eq '-c') {
    print map { "$_: a static function's name is two words or more\n" } @one;
    print map { "@$_: these files call each other in a circle\n" } @cycles;
    exit(@one || @cycles ? 1 : 0);
}
my $all = 0;
my $api = delete $statements{'lib/api'} // 0;
$all += $_ for values %statements;
print "files: $files\n";
print "statements: $all (", join(', ', map { "$_ $statements{$_}" } sort keys %statements), "), and $api of the C API\n";
printf "static functions named by one word: %d of %d\n", scalar @one, $statics;
print map { "    $_\n" } $mode ? @one : ();
for my $what (reverse sort keys %asking) {
    printf "files that ask for %s: %d (%d times)\n", $what, scalar @{$asking{$what}}, $asked{$what};
    print map { "    $_\n" } $mode ? @{$asking{$what}} : ();
}
printf "cycles between files: %d (%d files)\n", scalar @cycles, scalar map { @$_ } @cycles;
print map { "    @$_\n" } @cycles;
