#!/usr/bin/perl
# What the tree is like, in numbers: statements, statics named by one word, and cycles, that is sets of files whose
# functions call each other both ways.
# usage: tree-stats.pl [-v] [TREE [OBJECTS]]     OBJECTS: a folder of a build (build/HASH) of the tree, for cycles; -v: names
use strict;
use warnings;

my $verbose = @ARGV && $ARGV[0] eq '-v' && shift;
my ($top, $objects) = ($ARGV[0] // '.', $ARGV[1]);

# Code without comments and strings.
sub code {
    my ($file) = @_;
    open my $fh, '<', $file or die "$file: $!\n";
    my $text = do { local $/; <$fh> };
    $text =~ s{/\*.*?\*/|//[^\n]*}{ }gs;
    $text =~ s{"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'}{""}gs;
    return $text;
}

my (%statements, @one, $statics, $files);
for my $file (sort map { glob "\Q$top\E/$_" } map { ("$_/*.[ch]", "$_/*/*.[ch]", "$_/*/*.cu", "$_/*/*.cuh") } qw(cmd lib kernels formats)) {
    my $text = code($file);
    (my $name = $file) =~ s{^\Q$top\E/}{};
    my ($folder) = $name =~ m{^(\w+)/};
    # The two of for (;;) are not statements.
    (my $plain = $text) =~ s/\bfor\s*\([^;]*;[^;]*;/for (/g;
    $statements{$folder} += () = $plain =~ /;/g;
    $files++;
    while ($text =~ /^static\s+(?:inline\s+|GNN_\w+\s+)*[\w\s*]*?\b(\w+)\s*\(/mg) {
        $statics++;
        push @one, "$name: $1" if $1 !~ /_/;
    }
}
my $all = 0;
$all += $_ for values %statements;
print "files: $files\n";
print "statements: $all (", join(', ', map { "$_ $statements{$_}" } sort keys %statements), ")\n";
printf "static functions named by one word: %d of %d\n", scalar @one, $statics;
print map { "    $_\n" } @one if $verbose;
exit 0 unless defined $objects;

# Who calls whom, from the symbols of the objects.
my (%home, %needs);
for my $o (split /\n/, `find '$objects/lib' '$objects/kernels' '$objects/formats' -name '*.o'`) {
    (my $name = $o) =~ s{^\Q$objects\E/|\.o$}{}g;
    next if $name =~ /gpu_none$/;
    for (`nm '$o'`) {
        my @f = split;
        $home{$f[-1]} = $name if @f == 3 && $f[1] =~ /^[TDRBi]$/;
        push @{$needs{$name}}, $f[-1] if @f == 2 && $f[0] eq 'U';
    }
}
my %to;
for my $name (keys %needs) {
    $to{$name} = {map { $_ => 1 } grep { defined && $_ ne $name } map { $home{$_} } @{$needs{$name}}};
}
# Strongly connected sets, by Tarjan's algorithm.
my (%index, %low, %on, @stack, @cycles, $next);
sub visit {
    no warnings 'recursion';
    my ($v) = @_;
    $index{$v} = $low{$v} = $next++;
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
$next = 0;
defined $index{$_} or visit($_) for sort keys %to;
printf "cycles between files: %d (%d files)\n", scalar @cycles, scalar map { @$_ } @cycles;
print map { "    @$_\n" } @cycles;
