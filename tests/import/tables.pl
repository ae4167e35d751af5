# SPDX-License-Identifier: Apache-2.0
# Small text tables from a grammar, and what each must be read as, by the rules of gnn-import(1), "Text tables".
# tables.pl make DIR: files DIR/N.txt, N.args and N.want, so that each pair of values of two dimensions occurs.
# tables.pl dump STORE: the edges by id, in the form of N.want.
use strict; use warnings; use Encode;

my %dim = (
    header => [qw(none names case unknown comment)],
    sep => ["\t", ';', ',', ' '],
    ids => [qw(dense sparse words mixed padded huge quoted letters real missing)],
    third => [qw(none weight missing date relation label nodict dict)],
    comment => [qw(none hash percent middle row)],
    end => ["\n", "\r\n", "\r", 'mixed', 'nolast'],
    code => [qw(utf8 mark UTF-16 latin1)],
    columns => [qw(none numbers)],
);
my @names = sort keys %dim;

# What cannot be, as a table: Python's dicts have no header, and a header of a column that is not there.
sub sane {
    my $t = shift;
    my $dict = ($t->{third} // '') =~ /dict/;
    return !($dict && ($t->{header} // '') =~ /names|case|unknown/) && !($dict && ($t->{columns} // '') eq 'numbers');
}

# Greedy: for a pair that is missing, the table that has most of the missing ones, of some by chance. First all pairs, then all that occur
# in tables that are read, as one value that is refused hides the others.
sub tables {
    srand 7;
    (cover(sub { 1 }), cover(sub { want($_[0]) !~ /^refused/ }));
}
sub cover {
    my $fits = shift;
    my (%missing, @all);
    for my $i (0 .. $#names) { for my $j ($i + 1 .. $#names) {
        my ($a, $b) = @names[$i, $j];
        for my $x (@{$dim{$a}}) { for my $y (@{$dim{$b}}) { $missing{"$a=$x $b=$y"} = [$a, $x, $b, $y] if sane({$a, $x, $b, $y}) } }
    } }
    while (%missing) {
        my ($key) = sort keys %missing;
        my ($want, $best, $most) = ($missing{$key}, undef, -1);
        for (1 .. 300) {
            last if $best && $_ > 60;
            my %t = map { $_ => $dim{$_}[rand @{$dim{$_}}] } @names;
            @t{@$want[0, 2]} = @$want[1, 3];
            sane(\%t) && $fits->(\%t) or next;
            my $n = grep { exists $missing{$_} } pairs(\%t);
            ($best, $most) = (\%t, $n) if $n > $most;
        }
        delete $missing{$_} for $key, $best ? pairs($best) : ();
        push @all, $best if $best;
    }
    @all;
}
sub pairs {
    my $t = shift;
    map { my $i = $_; map { "$names[$i]=$t->{$names[$i]} $names[$_]=$t->{$names[$_]}" } $i + 1 .. $#names } 0 .. $#names;
}

my %ids = (
    dense => [0, 1, 2, 3], sparse => [70, 10, '5000000000', 31], words => [qw(ann bob cleo dan)], mixed => [5, 'x7', 10, 6],
    padded => ['007', 7, '010', 12], huge => ['9223372036854775808', 1, 2, 3], quoted => ['a b', 'c,d;e', 'f "g"', 'h'],
    letters => ["\x{e4}b", "\x{f6}", 'o', "\x{e9}"], real => ['1.0', 2, 3, 4], missing => [1, 'NA', 3, 4],
);
my @edges = ([0, 1], [1, 2], [2, 3], [3, 0], [0, 2]); # each id of line 1 stands in another, too
my %third = (weight => [2, 0.5, -1, 3, 1], missing => ['NA', 2, 'null', '', 4], date => [map { "2011-05-0$_" } 1 .. 5],
    relation => [qw(likes knows likes likes knows)], label => [qw(likes knows likes likes knows)], nodict => [('{}') x 5],
    dict => [map { "{'weight': $_, 'a': 1}" } 1 .. 5]);

sub cell { my ($s, $sep) = @_; $s =~ /["\s,;]/ && $s !~ /^\{/ || $s eq '' ? '"' . $s =~ s/"/""/gr . '"' : $s }
sub columns_of { # the cells of edge I, or of the header, in order
    my ($t, $ends, $third) = @_;
    $t->{third} eq 'none' ? @$ends : $t->{third} eq 'relation' ? ($ends->[0], $third, $ends->[1]) : (@$ends, $third);
}
sub text {
    my $t = shift;
    my $sep = $t->{sep};
    my $row = sub { join $sep, map { cell($_, $sep) } columns_of($t, @_) };
    my $name = $t->{third} eq 'relation' ? 'relation' : $t->{third} eq 'label' ? 'label' : $t->{third} eq 'weight' ? 'weight' : 'score';
    my @line = map { $row->([@{$ids{$t->{ids}}}[@{$edges[$_]}]], ($third{$t->{third}} // [])->[$_]) } 0 .. $#edges;
    my $h = $t->{header};
    my $unknown = $h eq 'unknown' ? $row->(['alpha', 'beta'], 'gamma') : undef;
    unshift @line, $row->($h eq 'case' ? ['FROM', 'To'] : ['source', 'target'], $h eq 'case' ? ucfirst $name : $name) if $h =~ /names|case/;
    unshift @line, $unknown if $unknown;
    unshift @line, '# ' . $row->(['source', 'target'], $name) if $h eq 'comment';
    unshift @line, "# caf\x{e9} and more" if $t->{comment} eq 'hash';
    unshift @line, '% sym, unweighted' if $t->{comment} eq 'percent';
    splice @line, -2, 0, '', "  # 8 9 caf\x{e9}" if $t->{comment} eq 'middle';
    splice @line, -2, 0, '#' . $row->(['zoe', 'yan'], '4') if $t->{comment} eq 'row';
    my $e = $t->{end};
    my $i = 0;
    my $all = join '', map { $_ . ($e eq 'mixed' ? ("\r", "\n", "\r\n")[$i++ % 3] : $e eq 'nolast' ? "\n" : $e) } @line;
    $all =~ s/\n\z// if $e eq 'nolast';
    return $t->{code} eq 'latin1' ? encode('ISO-8859-1', $all) : $t->{code} eq 'UTF-16' ? encode('UTF-16', $all)
        : ($t->{code} eq 'mark' ? "\xef\xbb\xbf" : '') . encode('UTF-8', $all);
}
sub args {
    my $t = shift;
    $t->{columns} eq 'none' ? '' : '--columns source=1,target=' . ($t->{third} eq 'relation' ? '3,relation=2'
        : '2' . ({weight => ',weight=3', missing => ',score=3', label => ',relation=3'}->{$t->{third}} // ''));
}

# The oracle: reasons to refuse, of which any may be told, or the edges. It knows the table's making, not its text.
sub want {
    my $t = shift;
    my ($h, @no) = ($t->{header});
    my $third = $t->{third};
    my $columns = $t->{columns} ne 'none';
    my $named = $h =~ /names|case/;
    my $triples = $third =~ /relation|label/ && ($columns || $named || $third eq 'relation');
    my %kind = (dense => 'n', sparse => 'n', missing => 'n', real => 'n');
    my $kind = $kind{$t->{ids}} // 'w';
    # A header of other names is one above numbers, in the ends or beside them.
    my $above = $h eq 'unknown' && ($t->{ids} =~ /dense|sparse|padded|huge|real|missing/ || $third =~ /weight|missing|date/);
    # Ids above which nothing is recognised are ids like others.
    my $row = $h eq 'unknown' && !$above;
    # NA is no number: a word, which the ids beside it are not alone in being; among numbers it is missing.
    my $words = $kind eq 'w' || $triples || $row;
    return 'refused UTF-16' if $t->{code} eq 'UTF-16';
    push @no, 'no UTF-8|not UTF-8' if $t->{code} eq 'latin1' && $t->{ids} eq 'letters';
    push @no, 'Python' if $third eq 'dict';
    push @no, '--comments' if $t->{comment} eq 'row' && $words;
    push @no, 'no column is the' if $above && !$columns;
    push @no, '--columns' if !$columns && !$named && $third =~ /weight|missing|date/;
    push @no, 'not a number' if $named && $third eq 'date' && !$columns;
    push @no, 'not an id' if !$words && $t->{ids} =~ /real|missing/;
    # Without names: the second column has ids of the first, or all of both are numbers.
    push @no, '--columns' if $third eq 'label' && !$columns && !$named;
    push @no, '--columns.*--format triples|--format triples.*--columns' if $third eq 'relation' && !$columns && !$named && !$row && $kind eq 'n';
    return 'refused ' . join '|', @no if @no;
    my @edges = map { [@{$ids{$t->{ids}}}[@$_]] } @edges;
    my @label = $triples ? @{$third{$third}} : ('to') x 5;
    my @value = !$triples && ($columns || $named) && $third =~ /weight|missing/ ? map { /^(NA|null|)$/ ? 'nan' : $_ } @{$third{$third}} : ();
    if ($row) {
        unshift @edges, ['alpha', 'beta'];
        unshift @label, $triples ? 'gamma' : 'to';
    }
    join "\n", sort map { join ' ', map { s/ /_/gr } encode('UTF-8', $edges[$_][0]), $label[$_], encode('UTF-8', $edges[$_][1]), @value ? $value[$_] : () } 0 .. $#edges;
}

sub dump_store {
    open my $fh, '<:raw', "$_[0]/part-00000.gnb" or die "$_[0]: $!\n";
    my $s = do { local $/; <$fh> };
    my ($at, %t) = (0);
    for (1 .. 2) {
        my ($kind, $n, $seq, $table, $payload) = unpack 'x8 L< L< Q< Q< Q<', substr $s, $at, 64;
        my ($e, $data) = ($at + 64, $at + 64 + $table);
        for (1 .. $n) {
            my ($dtype, $codec, $d, $len, $off, $stored) = unpack 'C C C x S< x2 Q< Q<', substr $s, $e, 40;
            $t{substr $s, $e + 40 + 8 * $d, $len} = [$dtype, substr $s, $data + $off, $stored];
            $e += 40 + 8 * $d + $len;
            $e += -($e - $at) % 8;
        }
        $at = $data + $payload;
    }
    my %code = (5, 'L<*', 7, 'Q<*', 8, 'q<*', 11, 'f<*');
    my $of = sub { my $x = $t{$_[0]} or return; unpack $code{$x->[0]}, $x->[1] };
    my ($name, @off) = ($t{'node/node/name'}, $of->('node/node/name_offsets'));
    my @key = $of->('node/node/key');
    my $id = sub { $name ? substr $name->[1], $off[$_[0]], $off[$_[0] + 1] - $off[$_[0]] : @key ? $key[$_[0]] : $_[0] };
    my @out;
    for my $key (sort keys %t) {
        my ($rel) = $key =~ m{^edge/node/(.*)/node/indptr$} or next;
        my ($ptr, $src) = map { [$of->("edge/node/$rel/node/$_")] } 'indptr', 'indices';
        my @value = map { $t{"edge/node/$rel/node/$_"} ? $of->("edge/node/$rel/node/$_") : () } 'weight', 'score', 'Score';
        for my $v (0 .. $#$ptr - 1) {
            push @out, join ' ', map { s/ /_/gr } $id->($src->[$_]), $rel, $id->($v), @value ? $value[$_] != $value[$_] ? 'nan' : $value[$_] : () for $ptr->[$v] .. $ptr->[$v + 1] - 1;
        }
    }
    print "$_\n" for sort @out;
}

if ($ARGV[0] eq 'dump') { dump_store($ARGV[1]); exit }
my @all = tables();
for my $i (0 .. $#all) {
    my %file = (txt => text($all[$i]), args => args($all[$i]), want => want($all[$i]) . "\n",
        what => join(', ', map { "$_ " . $all[$i]{$_} =~ s/\r/CR/gr =~ s/\n/LF/gr =~ s/\t/TAB/gr =~ s/ /blank/gr } @names) . "\n");
    for my $k (keys %file) { open my $f, '>:raw', "$ARGV[1]/$i.$k" or die "$!\n"; print $f $file{$k} }
}
