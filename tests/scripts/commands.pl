#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Prints the programs that shell scripts, and the recipes of a Makefile, call: "PROGRAM FILE:LINE". It reads them as a shell does, but
# for what a variable holds; what it cannot know, such as "$train", it leaves out. Builtins, paths and the functions of these files are none.
# usage: commands.pl FILE...
use strict;
use warnings;

my %word = map { ($_ => 1) } qw(if then else elif while until do ! { time);
my %builtin = (%word, map { ($_ => 1) } split ' ', '. : [ alias bg break cd command continue done echo esac eval exec exit export false fg fi getopts
    hash jobs kill local printf pwd read readonly return set shift test times trap true type ulimit umask unalias unset wait } [[ ]] shopt source declare let');
# What runs the command that follows: its words before that, and its options with a value.
my %runs = (check => 1, status => 2, refuses => 3, ranks => 1, on_hosts => 1, env => 0, exec => 0, command => 0, eval => 0, nohup => 0, setsid => 0, sudo => 0,
            nice => 0, timeout => 1, xargs => 0, mpirun => 0, unshare => 0, chroot => 1, srun => 0, time => 0);
my %valued = (env => 'u', timeout => 'ks', xargs => 'nPIL', nice => 'n', mpirun => 'n');
my (%function, %calls, $file);

sub slurp { local (@ARGV, $/) = shift; scalar <> }

# Reads what is quoted or substituted at pos, and returns it, \0 for a substitution; undef if there is nothing of that.
# Commands in it are followed.
sub piece {
    my ($t, $line) = @_;
    if ($$t =~ /\G'([^']*)'/gc) { my $w = $1; $$line += $w =~ tr/\n//; return $w }
    if ($$t =~ /\G\\(.)/gcs) { $$line++ if $1 eq "\n"; return $1 eq "\n" ? '' : $1 }
    return dollar($t, $line) if $$t =~ /\G(?=[\$`])/gc;
    return undef if $$t !~ /\G"/gc;
    my $w = '';
    until ($$t =~ /\G"/gc) {
        if ($$t =~ /\G([^"\\\$`]+)/gc) { $w .= $1; $$line += $1 =~ tr/\n// }
        else { $w .= piece($t, $line) // die "$file:$$line: no end of a string\n" }
    }
    $w;
}

sub word {
    my ($t, $line) = @_;
    my $w = '';
    while (1) {
        if ($$t =~ /\G([^\s'"\\\$`;&|()<>]+)/gc) { $w .= $1 }
        elsif ($w !~ /^\w+=$/ || $$t !~ /\G\([^()]*\)/gc) { $w .= piece($t, $line) // return $w } # but for an array of bash
    }
}

sub dollar {
    my ($t, $line) = @_;
    if ($$t =~ /\G\$\(\(/gc) { # arithmetic: no commands, unless in substitutions
        my $depth = 2;
        while ($depth) {
            if ($$t =~ /\G\(/gc) { $depth++ }
            elsif ($$t =~ /\G\)/gc) { $depth-- }
            elsif ($$t =~ /\G(?=\$)/gc) { dollar($t, $line) }
            else { $$t =~ /\G[^()\$]+/gc or die "$file:$$line: no end of arithmetic\n" }
        }
    } elsif ($$t =~ /\G\$\(/gc) { commands($t, $line, ')') }
    elsif ($$t =~ /\G`((?:[^`\\]|\\.)*)`/gcs) { my $in = $1; commands(\$in, $line, '') }
    elsif ($$t =~ /\G\$\{/gc) {
        until ($$t =~ /\G\}/gc) {
            $$t =~ /\G[^}'"\\\$`]+/gc or defined piece($t, $line) or die "$file:$$line: no end of a parameter\n";
        }
    } else { $$t =~ /\G\$(\w+|[@*#?$!-])?/gc }
    "\0";
}

# A simple command: who runs, and whom it runs.
sub simple {
    my ($line, @w) = @_;
    shift @w while @w && $w[0] =~ /^[A-Za-z_]\w*=/s;
    return if !@w;
    my $name = shift @w;
    $calls{"$name $file:$line"} = 1 if $name =~ /^[\w.+\[-]+$/ && !$builtin{$name} && !$function{$name};
    if ($name =~ /^(ba)?sh$|^eval$|^trap$/) { # a string is a script: of sh after -c
        my $text = $name =~ /^e|^t/ ? $w[0] : ((map { $w[$_] =~ /^-\w*c$/ ? $w[$_ + 1] : () } 0 .. $#w - 1)[0]);
        commands(\"$text\n", \(my $at = $line), '') if defined $text && $text ne '-';
        return if $name ne 'eval';
    }
    if ($name eq 'find') { $w[$_] =~ /^-exec/ and simple($line, @w[$_ + 1 .. $#w]) for 0 .. $#w }
    return if !defined $runs{$name} || $name eq 'command' && ($w[0] // '') =~ /^-v/;
    while (@w && $w[0] =~ /^-/) {
        my $option = shift @w;
        if ($option =~ /^--?(mca|x|host|np|hostfile)$/) { splice @w, 0, $1 eq 'mca' ? 2 : 1 }
        elsif ($option =~ /^-([A-Za-z])$/ && index($valued{$name} // '', $1) >= 0) { shift @w }
    }
    splice @w, 0, $runs{$name};
    simple($line, @w);
}

sub commands {
    my ($t, $line, $end) = @_;
    my (@w, @here, @case, $first);
    my $flush = sub { simple($first, @w) if @w; @w = () };
    while (1) {
        $$t =~ /\G(?:[ \t]|\\\n(?{ $$line++ }))+/gc;
        if ($$t =~ /\G\z/gc) { $flush->(); return }
        if ($$t =~ /\G#[^\n]*/gc) { next }
        if ($$t =~ /\G\n/gc) {
            $flush->();
            $$line++;
            while (my $h = shift @here) {
                my ($tag, $quoted, $dash) = @$h;
                $$t =~ /\G(.*?)^$dash\Q$tag\E$(?:\n|\z)/gcms or die "$file:$$line: no end of << $tag\n";
                my ($body, $from) = ($1, $$line);
                $$line += ($body =~ tr/\n//) + 1;
                if ($body =~ /^#!.*sh\n/) { commands(\$body, \$from, '') }
                elsif (!$quoted) { while ($body =~ /\G[^\$`\\]*(?:\\.[^\$`\\]*)*/gcs && $body =~ /\G(?=[\$`])/gc) { dollar(\$body, \$from) } }
            }
            next;
        }
        if ($end && !@case && $$t =~ /\G\)/gc) { $flush->(); return }
        if (@case && $case[-1] eq 'pattern') { # up to the parenthesis
            if ($$t =~ /\Gesac\b/gc) { pop @case; next }
            $$t =~ /\G\(/gc;
            until ($$t =~ /\G\)/gc) { $$t =~ /\G[\s|]+/gc or $$t =~ /\G(?=[^;&()<>])/ && defined word($t, $line) or die "$file:$$line: no end of a pattern\n" }
            $case[-1] = 'body';
            next;
        }
        if ($$t =~ /\G;;/gc) { $flush->(); @case and $case[-1] = 'pattern'; next }
        if (!@w && @case && $case[-1] eq 'body' && $$t =~ /\Gesac\b/gc) { pop @case; next }
        if ($$t =~ /\G\(\)/gc) { @w = (); next } # the name of a function
        if ($$t =~ /\G\d*<<(-?)\s*(?=(\S))/gc) { my ($dash, $q) = ($1, $2); push @here, [word($t, $line), $q =~ /['"\\]/ ? 1 : 0, $dash ? "\t*" : '']; next }
        if ($$t =~ /\G\d*[<>]\(/gc) { commands($t, $line, ')'); next } # bash
        if ($$t =~ /\G\d*(?:>>|<>|>\||[<>]&?)[ \t]*/gc) { word($t, $line); next }
        if ($$t =~ /\G\(/gc) { $flush->(); commands($t, $line, ')'); next }
        if ($$t =~ /\G(?:&&|\|\||[;&|])/gc) { $flush->(); next }
        if ($$t =~ /\G\)/gc) { $flush->(); next }
        my ($from, $at) = ($$line, pos($$t) // 0);
        my $w = word($t, $line);
        die "$file:$$line: what is " . substr($$t, $at, 20) . "?\n" if (pos($$t) // 0) == $at;
        if (!@w && $word{$w}) { next }
        if (!@w && $w eq 'case') { $$t =~ /\G\s+/gc; word($t, $line); $$t =~ /\G\s+in\b\s*/gc; push @case, 'pattern'; $$line += $& =~ tr/\n// if $&; next }
        if (!@w && $w eq 'for') { $$t =~ /\G[ \t]+\w+[ \t]*/gc; $$t =~ /\Gin\b/gc; $w = 'true' }
        $first = $from if !@w;
        push @w, $w;
    }
}

# Recipes as a shell gets them, near enough: of $(if ...) all that it may give; of other expansions a parameter.
sub recipes {
    my ($text) = @_;
    my @lines = map { /^\t[@-]*(.*)/ ? $1 : /(\$\(shell .*)/ ? "true $1" : '' } split /\n/, $text;
    my $all = join("\n", @lines) =~ s/\$\(Q\)@?//gr =~ s/\$\$\(/\x01/gr =~ s/\$\$/\x02/gr;
    my $expand = sub {
        my ($x) = @_;
        return "\x01$1)" if $x =~ /^shell (.*)/s;
        return $1 =~ tr/,/;/r if $x =~ /^if [^,]*,(.*)/s;
        return "\x02x";
    };
    1 while $all =~ s/\$\(((?:[^()\x01]|\x01(?:[^()\x01]|\((?:[^()\x01])*\))*\))*)\)/$expand->($1)/e;
    $all =~ s/\x01/\$(/gr =~ s/\x02/\$/gr . "\n";
}

my %text = map { ($_ => slurp($_)) } @ARGV;
my %own = map { ($_ => [$text{$_} =~ /(?:^|[;{&|]) *([A-Za-z_]\w*) *\(\)/mg]) } @ARGV;
my %sourced = map { ($_ => 1) } grep { /\.sh$/ && $text{$_} !~ /^#!/ } @ARGV; # these know what the files beside them have
for (@ARGV) {
    $file = $_;
    my ($text, $dir) = ($text{$file}, $file =~ m{(.*/)});
    %function = map { ($_ => 1) } map { $_ eq $file || $sourced{$_} || $sourced{$file} && /^\Q$dir\E/ ? @{$own{$_}} : () } @ARGV;
    $text = recipes($text) if $file =~ /Makefile$|\.mk$/;
    commands(\$text, \(my $line = 1), '');
}
print map { "$_\n" } sort keys %calls;
