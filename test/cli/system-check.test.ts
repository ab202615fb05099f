import t from 'tap';
import type { Distribution, Machine } from '#troupe/base/machine.js';
import { checkSystem, installCommand, installDocker, libsqlPackage } from '#troupe/cli/setup/system-check.js';
import { embeddedRefusal, installBrowser } from '#troupe/containers/chromium/browser-package.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const glibc = (version: string) => ({ name: 'glibc', version }) as const;
const musl = { name: 'musl' } as const;

function linux(distribution: Distribution | null, more: Partial<Machine> = {}): Machine {
  return { platform: 'linux', arch: 'x64', libc: glibc('2.36'), distribution, ...more };
}

const alpine = linux('alpine', { libc: musl });
const mac: Machine = { platform: 'darwin', arch: 'arm64', libc: null, distribution: null };

/** The machine, what setup says of it, and whether the embedded browser runs there. */
const SYSTEMS: readonly [string, Machine, { level: string; why?: RegExp; fix?: RegExp }, RegExp | null][] = [
  ['Debian', linux('debian'), { level: 'ok', why: /^Linux on x64 \(debian\) with glibc 2\.36$/ }, null],
  ['the oldest glibc', linux('rhel', { libc: glibc('2.28') }), { level: 'ok' }, null],
  [
    'an older glibc',
    linux('rhel', { libc: glibc('2.17') }),
    { level: 'failed', why: /glibc 2\.17, and 2\.28/, fix: /upgrade/ },
    null,
  ],
  ['Debian on arm64', linux('debian', { arch: 'arm64' }), { level: 'ok', why: /arm64/ }, /for Linux on x64.*arm64/],
  ['Alpine', alpine, { level: 'ok', why: /\(alpine\) with musl/ }, /needs glibc/],
  ['Alpine on arm64', { ...alpine, arch: 'arm64' }, { level: 'ok' }, /for Linux on x64/],
  ['32 bits', linux('debian', { arch: 'arm' }), { level: 'failed', why: /arm, and x64 or arm64 is needed/ }, /arm/],
  ['RISC-V', linux('debian', { arch: 'riscv64' }), { level: 'failed' }, /riscv64/],
  ['macOS', mac, { level: 'note', why: /development/, fix: /Linux virtual machine/ }, /darwin/],
  ['Windows', { ...mac, platform: 'win32', arch: 'x64' }, { level: 'failed', fix: /wsl --install/ }, /win32/],
  ['FreeBSD', { ...mac, platform: 'freebsd', arch: 'x64' }, { level: 'failed', fix: /Linux/ }, /freebsd/],
];

t.test('setup says of each system whether it will do, and what to do where it will not', (t) => {
  for (const [name, machine, finding, refusal] of SYSTEMS) {
    const found = checkSystem(machine);
    t.match(found, finding, name);
    t.equal(found.level === 'ok', found.fix === undefined, `${name}: whatever is wrong has a remedy`);
    t.notMatch(`${found.why}${found.fix}`, /\n/);
    const embedded = embeddedRefusal(machine);
    if (refusal === null) t.equal(embedded, null, name);
    else t.match(embedded, refusal, name);
  }
  t.end();
});

t.test('The browser, Docker and other programs are installed with the package manager of the distribution', (t) => {
  const cases: readonly [Machine, string, string, string][] = [
    [
      linux('debian'),
      'apt-get install chromium-headless-shell',
      'apt-get install docker.io',
      'apt-get install bubblewrap',
    ],
    [linux('fedora'), 'dnf install chromium-headless', 'dnf install moby-engine', 'dnf install bubblewrap'],
    [alpine, 'apk add chromium', 'apk add docker', 'apk add bubblewrap'],
    [linux('arch'), 'pacman -S chromium', 'pacman -S docker', 'pacman -S bubblewrap'],
    [linux('suse'), 'zypper install chromium', 'zypper install docker', 'zypper install bubblewrap'],
  ];
  for (const [machine, browser, docker, bubblewrap] of cases) {
    t.same(
      [installBrowser(machine), installDocker(machine), installCommand(machine, 'bubblewrap')],
      [browser, docker, bubblewrap],
    );
  }
  t.match(installBrowser(linux('ubuntu')), /^npx playwright install.*TROUPE_CHROMIUM/, "Ubuntu's Chromium is a snap");
  t.match(installBrowser(linux('amazon')), /docker driver/);
  t.match(installBrowser(linux(null)), /install Chromium or Chrome, or set TROUPE_CHROMIUM/);
  t.match(installBrowser(mac), /brew install/);
  t.equal(installDocker(mac), 'install Docker');
  t.equal(installCommand(linux(null), 'bubblewrap'), 'install bubblewrap');
  t.end();
});

t.test("The journal's database is a package for the system, the processor and the C library", (t) => {
  const cases: readonly [Machine, string | null][] = [
    [linux('debian'), '@libsql/linux-x64-gnu'],
    [linux('debian', { arch: 'arm64' }), '@libsql/linux-arm64-gnu'],
    [alpine, '@libsql/linux-x64-musl'],
    [{ ...alpine, arch: 'arm64' }, '@libsql/linux-arm64-musl'],
    [mac, '@libsql/darwin-arm64'],
    [{ ...mac, arch: 'x64' }, '@libsql/darwin-x64'],
    [linux('debian', { arch: 'riscv64' }), null],
    [{ ...mac, platform: 'win32' }, null],
  ];
  for (const [machine, name] of cases) t.equal(libsqlPackage(machine), name, `${machine.platform} ${machine.arch}`);
  t.end();
});
