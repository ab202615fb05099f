/**
 * Landlock (https://docs.kernel.org/userspace-api/landlock.html) has system calls and no command of its own. Perl is on
 * nearly every Linux and can make system calls by number; these three have the same numbers on every architecture.
 */

/** A Perl program that prints the version of the kernel's Landlock, or a negative number where there is none. */
export const LANDLOCK_ABI = 'print syscall(444, 0, 0, 1)';

/**
 * A Perl program that confines itself and becomes another program, under the same pid. Its arguments: the version of the
 * kernel's Landlock; `r PATH` or `w PATH` for everything below a path that may be read and executed, or also written;
 * `--`; the command. Whatever no rule names is closed. Processes outside cannot be traced, nor read through /proc, and
 * from version 6 on cannot be sent signals.
 */
export const LANDLOCK_EXEC = `
use strict;
use POSIX ();
my $abi = shift @ARGV;
my @rules;
while (@ARGV) {
  my $mode = shift @ARGV;
  last if $mode eq '--';
  push @rules, [$mode, shift @ARGV];
}
my $all = (1 << 13) - 1;
$all |= 1 << 13 if $abi >= 2;
$all |= 1 << 14 if $abi >= 3;
$all |= 1 << 15 if $abi >= 5;
my $read = (1 << 0) | (1 << 2) | (1 << 3) | (1 << 15);
my $file = (1 << 0) | (1 << 1) | (1 << 2) | (1 << 14) | (1 << 15);
my $attributes = $abi >= 6 ? pack('QQQ', $all, 0, 2) : pack('Q', $all);
my $rules = syscall(444, $attributes, length($attributes), 0);
die "landlock_create_ruleset: $!" if $rules < 0;
for (@rules) {
  my ($mode, $path) = @$_;
  sysopen(my $handle, $path, 0x200000) or next;
  my $access = ($mode eq 'w' ? $all : $read) & $all;
  $access &= $file unless -d $path;
  my $rule = pack('Ql', $access, fileno($handle));
  syscall(445, $rules + 0, 1, $rule, 0) == 0 or die "landlock_add_rule $path: $!";
}
my $prctl = (POSIX::uname())[4] eq 'x86_64' ? 157 : 167;
syscall($prctl, 38, 1, 0, 0, 0) == 0 or die "prctl: $!";
syscall(446, $rules + 0, 0) == 0 or die "landlock_restrict_self: $!";
exec { $ARGV[0] } @ARGV or die "exec $ARGV[0]: $!";
`;
