import t from 'tap';
import { type Distribution, distributionOf, isOlder, libcOf, thisMachine } from '#troupe/base/machine.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const RELEASES: readonly [string, Distribution | null][] = [
  ['PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_ID="12"\nID=debian\n', 'debian'],
  ['NAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\n', 'ubuntu'],
  ['NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\n', 'ubuntu'],
  ['NAME="Raspbian GNU/Linux"\nID=raspbian\nID_LIKE=debian\n', 'debian'],
  ['NAME="Fedora Linux"\nID=fedora\nVERSION_ID=42\n', 'fedora'],
  ['NAME="Rocky Linux"\nID="rocky"\nID_LIKE="rhel centos fedora"\n', 'rhel'],
  ['NAME="AlmaLinux"\nID="almalinux"\nID_LIKE="rhel centos fedora"\n', 'rhel'],
  ['NAME="Nobara Linux"\nID=nobara\nID_LIKE="rhel centos fedora"\n', 'rhel'],
  ['NAME="Oracle Linux Server"\nID="ol"\nID_LIKE="fedora"\n', 'rhel'],
  ['NAME="Amazon Linux"\nID="amzn"\nID_LIKE="fedora"\n', 'amazon'],
  ['NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.22.0\n', 'alpine'],
  ["NAME='postmarketOS'\nID='postmarketos'\nID_LIKE='alpine'\n", 'alpine'],
  ['NAME="Arch Linux"\nID=arch\n', 'arch'],
  ['NAME="Manjaro Linux"\nID=manjaro\nID_LIKE=arch\r\n', 'arch'],
  ['NAME="openSUSE Leap"\nID="opensuse-leap"\nID_LIKE="suse opensuse"\n', 'suse'],
  ['ID="sles"\n', 'suse'],
  ['NAME="NixOS"\nID=nixos\n', null],
  ['ID=constructor\nID_LIKE=toString\n', null],
  ['VERSION_ID=debian\n# ID=debian\n', null],
  ['', null],
];

t.test('A distribution is known by its name, or by the one that it says it is like', (t) => {
  for (const [text, distribution] of RELEASES) t.equal(distributionOf(text), distribution, JSON.stringify(text));
  t.end();
});

t.test('The C library is glibc where the report of Node names its version, else musl', (t) => {
  t.same(libcOf({ glibcVersionRuntime: '2.36' }), { name: 'glibc', version: '2.36' });
  t.same(libcOf({}), { name: 'musl' });
  t.same(libcOf(undefined), { name: 'musl' });
  t.end();
});

t.test('Versions are compared as numbers', (t) => {
  t.equal(isOlder('2.9', '2.28'), true);
  t.equal(isOlder('2.28', '2.28'), false);
  t.equal(isOlder('3.0', '2.28'), false);
  t.end();
});

t.test('This machine is one that tests run on', (t) => {
  t.match(thisMachine(), { platform: process.platform, arch: process.arch });
  t.end();
});
