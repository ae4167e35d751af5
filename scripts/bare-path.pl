#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Makes DIR/bin and DIR/sbin: links to the programs that a Debian has on which nothing was installed but what install-deps.sh lists.
# With PATH=DIR/bin a machine that has more is as good as a bare one. Says why, and fails, where apt does not know the packages.
# usage: bare-path.pl DIR
use strict;
use warnings;
use File::Basename qw(basename dirname);
use File::Path qw(make_path remove_tree);

@ARGV == 1 or die "usage: bare-path.pl DIR\n";
my ($dir, $list) = ($ARGV[0], dirname($0) . '/install-deps.sh');

# What apt would install where nothing is.
chomp(my @listed = `sh $list --list`);
my @empty = map { ('-o', $_) } 'Dir::State::Status=/dev/null', 'Dir::State::extended_states=/dev/null', 'Dir::Cache::pkgcache=', 'Dir::Cache::srcpkgcache=';
open my $apt, '-|', 'apt-get', @empty, qw(-s --no-install-recommends install ?essential ?priority(required)), @listed or die "bare-path: no apt-get\n";
my @packages = map { /^Inst (\S+)/ ? $1 : () } <$apt>;
close $apt && @packages or die "bare-path: apt-get cannot say what the packages of install-deps.sh depend on\n";

my (%file, %link, %there);
for my $package (@packages) {
    for my $installed (glob "/var/lib/dpkg/info/$package.list /var/lib/dpkg/info/$package:*.list") {
        open my $f, '<', $installed or next;
        $there{$package} = 1;
        while (<$f>) {
            chomp;
            $file{$_} = 1;
            $link{$2}{basename $_} = $_ if m{^(/usr)?/(s?bin)/[^/]+$};
        }
    }
}
my @absent = grep { !$there{$_} } @listed;
die "bare-path: not installed as packages of Debian: @absent\n" if @absent;
# Of packages that offer the same names that with the highest priority has them.
for my $name (map { basename $_ } glob '/var/lib/dpkg/alternatives/*') {
    local $/ = '';
    my ($group, @offers) = `update-alternatives --query $name`;
    my ($best) = sort { ($b =~ /^Priority: (.*)/m)[0] <=> ($a =~ /^Priority: (.*)/m)[0] } grep { /^Alternative: (.*)/m && $file{$1} } @offers;
    next if !$best;
    my %at = ($name, $group =~ /^Link: (.*)/m, $group =~ /^ (\S+) (.*)/mg);
    my %is = ($name, $best =~ /^Alternative: (.*)/m, $best =~ /^ (\S+) (.*)/mg);
    $at{$_} =~ m{^(?:/usr)?/(s?bin)/([^/]+)$} and $link{$1}{$2} = $is{$_} for keys %is;
}
for my $bin (keys %link) {
    remove_tree("$dir/$bin");
    make_path("$dir/$bin");
    symlink $link{$bin}{$_}, "$dir/$bin/$_" or die "bare-path: $dir/$bin/$_: $!\n" for grep { -x $link{$bin}{$_} } keys %{$link{$bin}};
}
