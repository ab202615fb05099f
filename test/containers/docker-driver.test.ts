import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import t from 'tap';
import { bridgeAddress } from '#troupe/service/choose-driver.js';
import { dockerFixture, engineInUse, runInside, skipWithoutDocker } from '../support/docker.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { bounds, evaluateAt, inTime, wish } from './driver-fixture.js';

guardLeaks(t);
const options = { skip: skipWithoutDocker };

t.test(
  'A worker is a browser on a desktop, in the size and language asked for, and its release leaves nothing',
  options,
  async (t) => {
    const { driver, containers } = await dockerFixture(t);
    const lease = await driver.lease(wish('size', { locale: 'de-DE' }), bounds());
    const page = 'data:text/html,<title>Guten Tag</title>';
    const seen = await evaluateAt(
      lease,
      page,
      '[document.title, navigator.language, innerWidth, innerHeight, navigator.webdriver]',
    );
    t.same(seen, ['Guten Tag', 'de-DE', 1000, 700, true]);
    t.match(lease.endpoint.product, /^Chrom(e|ium) [\d.]+$/);
    t.same(JSON.parse(JSON.stringify(lease.identity)), lease.identity, 'the identity is plain JSON');
    t.equal(await greetingOf(String(lease.endpoint.desktopSocket)), 'RFB 003.008\n');
    t.equal((await containers()).length, 1);
    await Promise.all([lease.release(), lease.release()]);
    t.match((await inTime(lease.exited)).reason, /released/);
    t.same(await containers(), []);
    t.notOk(existsSync(String(lease.identity.folder)));
    await lease.release();
  },
);

t.test(
  'From inside a worker there is no capability, no place to write, no network and no other process to see',
  options,
  async (t) => {
    const { driver } = await dockerFixture(t);
    const [lease, other] = await Promise.all(['sealed', 'other'].map((id) => driver.lease(wish(id), bounds())));
    if (lease === undefined || other === undefined) return;
    const inside = (command: string, user?: string) => runInside(lease.identity.containerId, command, user);
    await evaluateAt(lease, 'data:text/html,<p>a page of its own', '1');
    const text = async (command: string, user?: string) => (await inside(command, user)).text;

    const status = await text('cat /proc/self/status');
    t.match(status, /CapEff:\s+0+\n/);
    t.match(status, /CapBnd:\s+0+\n/);
    t.match(status, /NoNewPrivs:\s+1\n/);
    t.match(status, /Seccomp:\s+2\n/);
    const filters = await text(
      "grep -l -z -e --type=renderer /proc/[0-9]*/cmdline | sed 's/cmdline/status/' | xargs grep -h -e Seccomp_filters -e NSpid",
    );
    t.match(filters, /Seccomp_filters:\s+2/, 'renderers are behind a filter of their own besides');
    t.match(filters, /NSpid:\s+\d+\s+\d+/, 'and in a namespace of their own: the sandbox of Chromium is on');

    for (const user of ['1000:1000', '0:0']) {
      for (const place of ['/', '/etc', '/usr/bin', '/var/tmp', lease.endpoint.uploadsDir]) {
        t.match(await inside(`touch ${place}/x`, user), { code: 1 }, `${user} ${place}`);
      }
    }
    t.match(await inside(`touch /tmp/x /home/worker/x ${lease.endpoint.downloadsDir}/x`), { code: 0 });
    t.match(await inside('cp /bin/true /tmp/true && /tmp/true'), { code: 126 }, 'what it writes does not run');
    for (const command of ['mount -t tmpfs x /tmp', 'unshare -Urm mount -t tmpfs x /tmp']) {
      for (const user of ['1000:1000', '0:0']) {
        t.not((await inside(command, user)).code, 0, `${user} ${command}`);
      }
    }

    t.equal(await text("cut -d: -f1 /proc/net/dev | sed 1,2d | tr -d ' \\n'"), 'lo', 'loopback is its only interface');
    const bridge = String(await bridgeAddress(engineInUse()));
    for (const place of [`127.0.0.1:${await listen(t)}`, `${bridge}:${await listen(t, bridge)}`]) {
      t.match(await inside(`socat -T2 /dev/null TCP:${place},connect-timeout=2`), { code: 1 }, place);
    }
    const reply = async (host: string, port: number) => {
      const request = [5, 1, 0, 5, 1, 0, 1, ...host.split('.').map(Number), port >> 8, port & 255];
      const octal = request.map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
      const spoken = `(printf '${octal}'; sleep 1) | socat -t1 - TCP:127.0.0.1:1080 | od -An -tu1 -N4`;
      return (await text(spoken)).trim().split(/ +/)[3];
    };
    const stranger = await listen(t, bridge);
    t.equal(await reply(bridge, stranger), '0', 'whoever speaks to the gate itself is let out');
    lease.permit({ egress: { deny: [`${bridge}/32`] } });
    t.equal(await reply(bridge, stranger), '2', 'to what is open, and not to what is denied');
    t.equal(await reply('127.0.0.1', stranger), '2', "nor to this machine's own loopback");
    t.match(await inside('ls /var/run/docker.sock /run/docker.sock', '0:0'), { code: 2 });
    t.match(
      await inside(`ls ${dirname(String(lease.identity.folder))}`, '0:0'),
      { text: /^b-sealed$/ },
      'of the folders of others it sees none',
    );
    t.notMatch(await text('ps ax 2>/dev/null || cat /proc/[0-9]*/cmdline'), /b-other/);
    await Promise.all([lease.release(), other.release()]);
  },
);

t.test(
  'Pages reach forwarded ports as localhost, and neither their own DevTools nor another port',
  options,
  async (t) => {
    const { driver } = await dockerFixture(t);
    const port = await listen(t);
    const lease = await driver.lease(wish('forward'), bounds());
    const url = `http://localhost:${port}/`;
    const answers = (at: string) =>
      evaluateAt(
        lease,
        'data:text/html,x',
        `fetch(${JSON.stringify(at)}, {mode: 'no-cors'}).then(() => 'open', () => 'closed')`,
      );
    t.equal(await answers(url), 'closed', 'before it is permitted');
    lease.permit({ forward: [port] });
    t.equal(await evaluateAt(lease, url, 'document.title'), 'here');
    t.equal(await evaluateAt(lease, `http://127.0.0.1:${port}/`, 'document.title'), 'here');
    t.equal(await answers('http://localhost:9222/json/version'), 'closed');
    t.equal(await answers(`${url}redirect?to=http://localhost:9222/json/version`), 'closed');
    t.equal(await answers(`${url}redirect?to=/`), 'open');
    await lease.release();
  },
);

t.test('A proxy of a session is reached through its worker, and bypassed hosts go past it', options, async (t) => {
  const { driver, another } = await dockerFixture(t);
  const direct = await listen(t);
  const bridge = String(await bridgeAddress(engineInUse()));
  const proxy = createServer((_request, response) => response.end('<title>by proxy</title>'));
  await new Promise<void>((resolve) => proxy.listen(0, bridge, resolve));
  t.teardown(() => proxy.close());
  const { port } = proxy.address() as AddressInfo;
  const server = `http://${bridge}:${port}`;
  const lease = await driver.lease(wish('proxied', { proxy: { server, bypass: '*.localhost' } }), bounds());
  lease.permit({ forward: [direct] });
  t.equal(await evaluateAt(lease, 'http://shop.invalid/cart', 'document.title'), 'by proxy');
  const adopted = await (await another()).adopt(JSON.parse(JSON.stringify(lease.identity)));
  t.equal(
    adopted && (await evaluateAt(adopted, 'http://shop.invalid/', 'document.title')),
    'by proxy',
    'after a restart too',
  );
  await adopted?.release();
  await lease.release();
  await t.rejects(driver.lease(wish('https', { proxy: { server: 'https://proxy.test' } }), bounds()), {
    code: 'INVALID_REQUEST',
  });
});

t.test('A start that is given up, or is late, leaves nothing', options, async (t) => {
  const { driver, containers } = await dockerFixture(t);
  const starts = [0, 30, 200, 500].map(async (ms, index) => {
    const controller = new AbortController();
    const start = driver.lease(wish(`cut-${index}`), { signal: controller.signal, deadlineMs: 30_000 });
    if (ms === 0) controller.abort();
    else setTimeout(() => controller.abort(), ms);
    await t.rejects(start, { code: 'UNAVAILABLE', message: /cancelled/ });
  });
  await Promise.all([
    ...starts,
    t.rejects(driver.lease(wish('late'), bounds(100)), { code: 'UNAVAILABLE', message: /within 100 ms/ }),
  ]);
  // An engine that is busy makes the container of a call that was given up all the same: the next sweep removes it.
  await eventually('nothing is left', async () => {
    await driver.sweep(new Set());
    return (await containers()).length === 0;
  });
});

t.test(
  'A later service adopts a worker with its page, and sweeps away what belongs to no session',
  options,
  async (t) => {
    const { driver, another, containers } = await dockerFixture(t);
    const [kept, orphan] = await Promise.all(['kept', 'orphan'].map((id) => driver.lease(wish(id), bounds())));
    if (kept === undefined || orphan === undefined) return;
    await evaluateAt(kept, 'data:text/html,<title>as it was</title>', '1');
    writeFileSync(join(kept.endpoint.uploadsDir, 'note.txt'), 'text');

    const later = await another();
    const identity = JSON.parse(JSON.stringify(kept.identity));
    t.equal(await later.adopt({ ...identity, leaseId: 'other' }), null);
    t.equal(await later.adopt({ ...identity, driver: 'process' }), null);
    const adopted = await later.adopt(identity);
    t.equal(adopted && (await evaluateAt(adopted, null, 'document.title')), 'as it was');
    const port = await listen(t);
    adopted?.permit({ forward: [port] });
    t.equal(
      adopted && (await evaluateAt(adopted, `http://localhost:${port}/`, 'document.title')),
      'here',
      'its way out is open again',
    );
    t.same(await later.sweep(new Set(['kept'])), ['orphan']);
    t.match((await inTime(orphan.exited)).reason, /killed|released/);
    await adopted?.release();
    t.same(await containers(), []);
    t.same(await later.sweep(new Set()), []);
    await Promise.all([kept.release(), orphan.release()]);
    t.same(readdirSync(dirname(String(identity.folder))), []);
  },
);

/** Says `here` at any path; `/redirect?to=` leads elsewhere. */
async function listen(t: { teardown(work: () => unknown): void }, host = '127.0.0.1'): Promise<number> {
  const server = createServer((request, response) => {
    const to = new URL(request.url ?? '/', 'http://x').searchParams.get('to');
    if (to !== null) response.writeHead(302, { location: to });
    response.end('<title>here</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function greetingOf(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(path).once('error', reject);
    socket.once('data', (data) => {
      resolve(data.toString());
      socket.destroy();
    });
  });
}
