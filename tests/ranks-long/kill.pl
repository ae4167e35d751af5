# SPDX-License-Identifier: Apache-2.0
# Something happens to one rank of three at a random point; TAP says how such jobs end.
# usage: kill.pl POINTS AT-ONCE SEED   in a folder that has the store P and the streams s.0.gnb s.1.gnb s.2.gnb
# Environment: GNN_MPI, FAULT_MPI (see fault.c); GNN_WORK: what is disturbed in turn, by default the list @turns below.
# Whatever happens, the job must end within the time-out and 2 seconds (on a machine that does nothing else: GNN_IDLE=1; elsewhere ten times that), with a status that is not 0 and a line that names the rank,
# and leave no process, and no file under its name that is not whole. Training must go on from there to the same model.
use strict;
use warnings;
use File::Path qw(remove_tree);
use POSIX qw(setsid WNOHANG);
use Time::HiRes qw(time sleep);

my ($points, $at_once, $seed) = @ARGV;
my ($ranks, $timeout) = (3, 8);
my $most = ($timeout + 2) * ($ENV{GNN_IDLE} ? 1 : 10);
my $patience = 120;      # seconds after its fault until a job is called hung; 480 more where none has come
my %work = (
    sample => '-f 5,5 -b 50 --epochs 4 --eval valid -o r.%r.gnb ../P',
    gather => '-i ../s.%r.gnb -o g.%r.gnb ../P',
    train => '--store ../P -f 5,5 -b 50 --epochs 4 --eval valid --hidden 16 --checkpoint C --checkpoint-every 20 -o model',
    map { ($_->[0] => "--store ../P --full-batch --epochs 8 --hidden 16 --checkpoint C --checkpoint-every 2 -o model $_->[1]") }
        ['full', '--layers 3 -m gat --heads 2 --batch-norm'], ['full-keep', '--layers 3 -m gatv2 --heads 2 --remote-rows keep'],
        ['full-needed', '--layers 2 -m gat --heads 2 --needed-only --remote-rows all'],
        ['full-sample', '--layers 3 --batch-norm --boundary 0.5 --message-dtype bf16'],
);
# Each of the first three as often as full batches.
my @turns = split / /, $ENV{GNN_WORK} // join ' ', map { ('sample', 'gather', 'train', $_) } qw(full full-keep full-needed full-sample);
my %program = map { ($_ => 'train') } grep { /full/ } keys %work;
# What mpirun makes of a rank's end, or what the other ranks say of it.
my %ends = (kill => [137, 5], segv => [139, 5], stop => [5], exit => [1, 5]);
my @hows = qw(kill segv stop exit);
srand $seed;
$| = 1;

sub slurp { local (@ARGV, $/) = shift; my $text = -e $ARGV[0] ? <> : ''; $text // '' }
sub status { my $rc = shift; $rc & 127 ? 128 + ($rc & 127) : $rc >> 8 }
chomp(my $here = `pwd`);

# Processes that have this folder as theirs.
sub processes {
    my $dir = "$here/$_[0]";
    map { m{(\d+)} } grep { (readlink // '') eq $dir } glob '/proc/[0-9]*/cwd';
}

sub start {
    my ($dir, $w, $env, @more) = @_;
    mkdir $dir;
    my $pid = fork // die "fork: $!";
    return $pid if $pid;
    chdir $dir or die "$dir: $!";
    # Several mpiruns are there at once: see tests/ranks/setup.sh.
    mkdir "../../$dir";
    $ENV{OMPI_MCA_orte_tmpdir_base} .= "/$dir";
    setsid();
    @ENV{keys %$env} = values %$env;
    # Undisturbed runs have all the time they need.
    open STDOUT, '>', 'stdout';
    open STDERR, '>', 'stderr';
    exec 'mpirun', '-n', $ranks, 'gnn-' . ($program{$w} // $w), '-q', '--no-provenance', '--timeout', $env->{FAULT_HOW} ? $timeout : 100, @more, split / /, $work{$w};
}

# ---- undisturbed: the results, and how many points there are ----

my (%calls, $n);
for my $w (sort keys %work) {
    waitpid start("want.$w", $w, {FAULT_RANK => 1, FAULT_COUNT => 'count'}), 0;
    $calls{$w} = int(slurp("want.$w/count") || 0);
    my $good = !$? && $calls{$w};
    printf "%s %d - gnn-%s ends well without a fault: a rank has %d points\n", $good ? 'ok' : 'not ok', ++$n, $w =~ /(full.*)/ ? "train ($1)" : $w, $calls{$w};
    exit 1 if !$good;
}

# ---- faults ----

my (%run, %status, %slowest, %bad, %spoke);
my $alone = 0;
my @again; # what took too long beside others, to be tried alone
my ($begun, $counted, $missed, $resumed, $shown) = (0) x 5;

sub complain {
    my ($r, $text) = @_;
    $bad{$r->{how}}++;
    return if $shown++ > 9;
    my @said = grep { /\S/ } split /\n/, slurp("$r->{dir}/stderr");
    print "# gnn-$r->{w}, $r->{how} of rank $r->{env}{FAULT_RANK} at $r->{env}{FAULT_AT} + $r->{env}{FAULT_LATER} us: $text\n";
    print map { "#     $_\n" } @said[0 .. ($#said < 14 ? $#said : 14)];
}

sub begin {
    if (!%run && @again) {
        my $r = shift @again;
        $run{start($r->{dir}, $r->{w}, $r->{env})} = {%$r, since => time};
        $alone = 1;
        return;
    }
    my $w = $turns[$begun % @turns];
    my $how = $hows[(int($begun / 4) + int($begun / 16)) % @hows];
    # One that stops while MPI starts (the first call) has 300 seconds: 45-start.t.
    my $first = $how eq 'stop' ? 2 : 1;
    my %env = (FAULT_HOW => $how, FAULT_TOLD => 'told', FAULT_RANK => int rand $ranks, FAULT_AT => $first + int rand $calls{$w} - $first + 1,
               FAULT_LATER => rand() < .5 ? 0 : 1 + int rand 3000);
    my $dir = 'run.' . $begun++;
    $run{start($dir, $w, \%env)} = {w => $w, how => $how, dir => $dir, env => \%env, since => time};
}

sub ended { # false: to be tried again
    my ($r, $rc, $when) = @_;
    my ($told, $said, $status) = (slurp("$r->{dir}/told"), slurp("$r->{dir}/stderr"), status($rc));
    if (!$told && ($status == 0 || $status == 5)) { # through before the fault came, or the processors are too busy even without one
        $missed++;
        return 1;
    }
    my $took = $told ? $when - $told : 0;
    complain($r, 'fails without a fault') if !$told;
    if ($took > $most && !$r->{alone}++) {
        push @again, $r;
        return;
    }
    print "# $counted points\n" if !(++$counted % 10); # a sign of life for the runner
    $status{$r->{how}}{$status}++;
    $slowest{$r->{how}} = $took if $took > ($slowest{$r->{how}} // 0);
    $spoke{$r->{how}}++ if $said =~ /^gnn-\w+: rank \d+: .*rank/m;
    complain($r, sprintf 'ended %.2f s later', $took) if $took > $most;
    complain($r, "status $status") if !grep { $_ == $status } @{$ends{$r->{how}}};
    complain($r, 'no line names a rank') if $said !~ /rank \d/;
    1;
}

sub look { # at what is left
    my ($r) = @_;
    my @left = processes($r->{dir});
    for (my $until = time + 30; @left && time < $until; sleep .05) { # mpirun does not wait for those whom it kills
        @left = processes($r->{dir});
    }
    if (@left) {
        complain($r, "processes are left: @left");
        kill 'KILL', @left;
    }
    my $result = qr/[rg]\.\d\.gnb|model/;
    for my $path (grep { m{/$result$} } glob "$r->{dir}/*") {
        my ($name) = $path =~ m{([^/]+)$};
        complain($r, "$name is not whole") if system 'cmp', '-s', $path, "want.$r->{w}/$name";
    }
    my @odd = grep { !m{/(told|stdout|stderr|C|C/checkpoint\.(safetensors|lock)|$result)$} } glob "$r->{dir}/* $r->{dir}/C/*";
    complain($r, "left behind: @odd") if @odd;
}

sub reap {
    my ($r, $rc, $when) = @_;
    if ($r->{again}) {
        $resumed++;
        complain($r, 'going on: status ' . status($rc)) if $rc;
        complain($r, 'going on: another model') if !$rc && system 'cmp', '-s', "$r->{dir}/model", "want.$r->{w}/model";
    } else {
        my $counts = ended($r, $rc, $when);
        look($r);
        if ($counts && $r->{w} =~ /train|full/) {
            unlink "$r->{dir}/model";
            $run{start($r->{dir}, $r->{w}, {}, '--resume')} = {%$r, again => 1, since => time};
            return;
        }
    }
    remove_tree($r->{dir});
}

while ($counted < $points || %run || @again) {
    $alone &&= %run;
    begin() while !$alone && (!%run && @again || $counted + @again + keys(%run) < $points && keys %run < $at_once);
    while ((my $pid = waitpid -1, WNOHANG) > 0) {
        my $r = delete $run{$pid};
        reap($r, $?, time) if $r;
    }
    for my $pid (keys %run) {
        my $r = $run{$pid};
        my $told = $r->{again} ? '' : slurp("$r->{dir}/told");
        next if $r->{hung} || time - ($told || $r->{since} + 480) < $patience;
        $r->{hung} = 1;
        complain($r, 'does not end');
        kill 'KILL', $pid, processes($r->{dir});
    }
    sleep 0.005;
}

for my $how (@hows) {
    printf "%s %d - gnn-sample, gnn-gather and gnn-train end on all ranks when one ends by %s\n", $bad{$how} ? 'not ok' : 'ok', ++$n, $how;
    printf "# %s: at most %.2f s later; ranks told by themselves %d times; status %s\n", $how, $slowest{$how} // 0, $spoke{$how} // 0,
        join ', ', map { "$_: $status{$how}{$_} times" } sort { $a <=> $b } keys %{$status{$how}};
}
print "# $counted points; training went on $resumed times; $missed faults did not come and are not counted\n";
exit(%bad ? 1 : 0);
