import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { browserUser } from '#troupe/containers/chromium/browser-user.js';
import { findChromium } from '#troupe/containers/chromium/chromium-binary.js';
import { embeddedChromium } from '#troupe/containers/chromium/embedded-chromium.js';
import type { BrowserLease } from '#troupe/containers/driver.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { skipWithoutSandbox } from '../support/programs.js';
import { cacheDir } from '../support/shared-cache.js';
import { bounds, driverFixture, evaluateAt, openFolder, processesOfLease, wish } from './driver-fixture.js';

guardLeaks(t);

function program(t: Parameters<typeof openFolder>[0], text: string): string {
  const file = join(openFolder(t), 'chromium');
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
}

t.test('A TROUPE_CHROMIUM that cannot be used is refused by name, with what mends it', async (t) => {
  const cacheDir = join(openFolder(t), 'cache');
  const cases = [
    ['/nowhere/chromium', /TROUPE_CHROMIUM=\/nowhere\/chromium cannot be used: there is no such file; set it to/],
    [program(t, '#!/bin/sh\necho hello\n'), /it does not say that it is a Chromium; set it to/],
    [program(t, '#!/bin/sh\necho lost libnss3.so >&2; exit 127\n'), /lost libnss3\.so; set it to/],
  ] as const;
  for (const [configured, message] of cases) {
    await t.rejects(findChromium({ configured, cacheDir }), { code: 'UNAVAILABLE', message });
  }
});

/** A Chromium whose user namespaces are used up, as where a container or a distribution forbids them. */
const WITHOUT_NAMESPACES = `#!/bin/sh
exec unshare --user --map-current-user --keep-caps sh -c 'echo 0 > /proc/sys/user/max_user_namespaces
exec setpriv --inh-caps=-all --ambient-caps=-all "$0" "$@"' CHROMIUM "$@"
`;

t.test('A Chromium that ends at once is refused with its last words', async (t) => {
  const path = program(t, '#!/bin/sh\necho out of luck >&2; exit 3\n');
  const chromium = { path, product: 'Chromium 1.0', headlessShell: false, env: {}, source: 'configured' } as const;
  const { driver } = await driverFixture(t, { chromium });
  const message = /ended with exit code 3 before it could be used: out of luck/;
  await t.rejects(driver.lease(wish('refused'), bounds()), { code: 'UNAVAILABLE', message });
});

const title = 'A Chromium whose sandbox cannot start is refused with the remedy, and runs only with the sandbox off';
t.test(title, { skip: skipWithoutSandbox }, async (t) => {
  const found = await findChromium({ configured: process.env.TROUPE_CHROMIUM, cacheDir: cacheDir() });
  const path = program(t, WITHOUT_NAMESPACES.replace('CHROMIUM', found.path));
  // Browsers may read their own folder and what their environment names; this one's program lies elsewhere.
  const env = {
    ...found.env,
    LD_LIBRARY_PATH: [found.env.LD_LIBRARY_PATH ?? [], dirname(found.path)].flat().join(':'),
  };
  const chromium = { ...found, path, env };
  const { driver } = await driverFixture(t, { chromium, sandbox: true });
  const message =
    /sandbox cannot start here, since user namespaces are refused: .*set TROUPE_CHROMIUM_SANDBOX=false if all pages are your own/;
  await t.rejects(driver.lease(wish('unsafe'), bounds()), { code: 'UNAVAILABLE', message });
  const { driver: open } = await driverFixture(t, { chromium, sandbox: false });
  t.not(open.confinement, 'none', 'the files of the machine stay closed');
  const lease = await open.lease(wish('open'), bounds());
  t.equal(await evaluateAt(lease, 'data:text/html,<title>open</title>', 'document.title'), 'open');
  await lease.release();
});

/** The pages of a leased browser run under seccomp, and nothing of it is left when it was released. */
async function sandboxed(t: Test, lease: BrowserLease): Promise<void> {
  const renderers = processesOfLease(lease).filter((one) => one.commandLine.includes('--type=renderer'));
  t.ok(renderers.length > 0);
  t.ok(
    renderers.every((one) => one.seccomp === 2),
    'every renderer is behind a system call filter',
    { skip: skipWithoutSandbox },
  );
  await lease.release();
  // One that was killed and is on its way out has no command line any more.
  await eventually('its processes have ended', () => processesOfLease(lease).length === 0);
}

const FULL_CHROMIUM = '/usr/lib/chromium/chromium';

t.test(
  'A full Chromium runs without a window, with its sandbox',
  { skip: !existsSync(FULL_CHROMIUM) && `there is no ${FULL_CHROMIUM}` },
  async (t) => {
    const chromium = await findChromium({ configured: FULL_CHROMIUM, cacheDir: join(openFolder(t), 'cache') });
    const { driver } = await driverFixture(t, { chromium });
    const lease = await driver.lease(wish('full', { locale: 'fr-FR' }), bounds());
    const page = 'data:text/html,<title>full</title>';
    t.same(await evaluateAt(lease, page, '[document.title, navigator.language]'), ['full', 'fr-FR']);
    await sandboxed(t, lease);
  },
);

t.test(
  'The embedded Chromium is unpacked once, also by two at a time, and runs with its sandbox',
  { skip: process.arch !== 'x64' && 'the embedded Chromium is for x64' },
  async (t) => {
    const cacheDir = join(openFolder(t), 'cache');
    const user = browserUser(undefined);
    const [first, second] = await Promise.all([embeddedChromium(cacheDir, user), embeddedChromium(cacheDir, user)]);
    t.same(first, second);
    const chromium = { ...first, product: 'Chromium 147', headlessShell: true, source: 'embedded' } as const;
    const { driver } = await driverFixture(t, { chromium });
    const lease = await driver.lease(wish('embedded', { locale: 'fr-FR' }), bounds());
    const page = 'data:text/html,<title>unpacked</title>';
    const seen = await evaluateAt(lease, page, '[document.title, navigator.language, innerWidth, innerHeight]');
    t.same(seen, ['unpacked', 'fr-FR', 1000, 700]);
    await sandboxed(t, lease);
  },
);
