import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { hasAllCases } from '../support/sampled.js';
import { client, makeHome, startTestService } from '../support/service.js';
import { runTroupe } from '../support/service-process.js';
import { readZip } from '../support/zip.js';

guardLeaks(t);

/** Flows that use one login. All of them in the nightly job. */
const FLOWS = hasAllCases ? 50 : 4;

/** A site with a login, which counts them. Its cookie and its token are nowhere else. */
async function openShop(t: Test) {
  const site = await openSite(t);
  const cookie = randomBytes(18).toString('base64url');
  const token = randomBytes(18).toString('base64url');
  let logins = 0;
  site.set(
    '/login',
    '<title>Login</title><form method=post action=/in><input name=password type=password aria-label=Password><button>Log in</button></form>',
  );
  site.set('/in', (request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      logins += body === 'password=open-sesame' ? 1 : 0;
      response
        .writeHead(200, { 'content-type': 'text/html', 'set-cookie': `sid=${cookie}; HttpOnly; Path=/` })
        .end(`<title>In</title><script>fetch('/token').then(r => r.text()).then(t => {
          localStorage.setItem('token', t); document.title = 'Ready' })</script>`);
    });
  });
  site.set('/token', (_, response) => response.end(token));
  site.set('/account', (request, response) => {
    const isIn = request.headers.cookie?.includes(`sid=${cookie}`) === true;
    response
      .writeHead(isIn ? 200 : 401, { 'content-type': 'text/html' })
      .end(`<title>${isIn ? 'Account' : 'Who?'}</title>
      <script>document.title += localStorage.getItem('token') === null ? '' : ' with token'</script>`);
  });
  return { ...site, cookie, token, logins: () => logins };
}

const logIn = (origin: string) => `
  agent.go('${origin}/login');
  agent.act('{input}Password', 'input', '{{password}}');
  agent.act('{button}Log in', 'click');
  agent.expect(agent).toHaveTitle('Ready');`;

t.test('A login state starts other sessions, of its token and of admins alone', async (t) => {
  const shop = await openShop(t);
  const service = await startTestService(
    t,
    { maxSessions: 2, token: 'TROUPE_STATES_ADMIN' },
    stateHome(t, shop.origin),
  );
  const admin = client(service.url, { authorization: 'Bearer root-of-all-states-0123456789' });
  const as = async (name: string) => {
    const { body } = await admin.call('POST', '/api/tokens', { name, role: 'run' });
    return client(service.url, { authorization: `Bearer ${body.token}` });
  };
  const [ada, ben] = [await as('ada'), await as('ben')];
  const first = await ada.live();
  await ada.run(first.id, `agent.go('${shop.origin}/account')`);
  for (const wrong of ['', `'a/b'`, `'shop', {expiresIn: 0}`, `'shop', {expiresIn: 1e9}`, `'shop', {days: 1}`]) {
    t.match(
      await ada.run(first.id, `agent.saveState(${wrong})`),
      { status: 422, body: { code: 'SCRIPT_ERROR' } },
      wrong,
    );
  }
  await ada.run(first.id, logIn(shop.origin).replace('{{password}}', 'open-sesame'));
  const saved = await ada.run(first.id, `agent.saveState('shop', {expiresIn: 600})`);
  t.match(saved, { status: 200, body: { name: 'shop', cookies: 1, origins: [shop.origin], expiresAt: String } });
  await ada.call('DELETE', `/api/sessions/${first.id}`);

  t.match((await ben.call('GET', '/api/states')).body, []);
  for (const body of [{ state: 'shop' }, { state: 'gone' }, { state: 'shop', storageState: {} }]) {
    t.match(await ben.call('POST', '/api/sessions', body), {
      status: 400,
      body: { code: 'INVALID_REQUEST', details: { issues: [{ path: 'state' }] } },
    });
  }
  t.equal((await ben.call('DELETE', '/api/states/shop')).status, 404);
  for (const caller of [ada, admin]) {
    const { id } = await caller.live({ state: 'shop' });
    t.match(await caller.run(id, `agent.go('${shop.origin}/account'); agent.tabs()[0].title`), {
      body: 'Account with token',
    });
    await caller.call('DELETE', `/api/sessions/${id}`);
  }
  t.equal(shop.logins(), 1);
  t.match((await ada.call('GET', '/api/states')).body, [{ name: 'shop', cookies: 1 }]);
  t.match(await ada.call('DELETE', '/api/states/shop'), { status: 200, body: { name: 'shop', removed: 1 } });
  t.equal((await ada.call('POST', '/api/sessions', { state: 'shop' })).status, 400);
});

/** A home whose configuration names the admin token of the test. */
function stateHome(t: Test, origin: string): string {
  process.env.TROUPE_STATES_ADMIN = 'root-of-all-states-0123456789';
  t.teardown(() => delete process.env.TROUPE_STATES_ADMIN);
  return makeHome(t, {
    maxSessions: 2,
    token: 'TROUPE_STATES_ADMIN',
    forward: [Number(new URL(origin).port)],
  });
}

t.test('The flows of a run log in once, and no file of their artifacts tells the login', async (t) => {
  const shop = await openShop(t);
  const service = await startTestService(t, { maxSessions: 2, forward: [Number(new URL(shop.origin).port)] });
  const folder = mkdtempSync(join(tmpdir(), 'checkout-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const files: Record<string, string> = {
    '_setup.js': `({ base }) => {${logIn(shop.origin)} return { user: 'ada', ...agent.saveState('shop-run') }; }`,
    '_teardown.ts': `({ base, setup }) => { agent.go(base + '/account'); agent.expect(agent).toHaveTitle('Account with token'); match(setup.user, 'ada'); }`,
    'troupe-run.json': JSON.stringify({ args: { base: shop.origin }, state: 'shop-run' }),
  };
  for (let n = 1; n <= FLOWS; n += 1) {
    files[`f${n}.js`] =
      `({ base, setup }) => { agent.go(base + '/account'); agent.expect(agent).toHaveTitle('Account with token'); match(setup, {user: 'ada', cookies: 1}); }`;
  }
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, 'flows', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  process.env.password = 'open-sesame';
  t.teardown(() => delete process.env.password);
  const words = ['--url', service.url, '--secret', 'password', '--trace', 'on'];
  const { code, output } = await runTroupe(makeHome(t), 'run', join(folder, 'flows/*.js'), ...words);
  t.equal(code, 0, output);
  t.match(output, `${FLOWS + 2} passed, in`);
  t.equal(shop.logins(), 1);
  const { body } = await service.call('GET', '/api/sessions');
  t.equal(body.length, FLOWS + 2);
  for (const { id, name } of body) {
    for (const [file, content] of await readZip(`${service.url}/api/sessions/${id}/download`)) {
      for (const secret of [shop.cookie, shop.token, 'open-sesame']) {
        t.notOk(content.includes(secret), `${name}: ${file}`);
      }
    }
  }
  t.equal((await service.call('GET', `/api/sessions/${body[0].id}/value`)).status, 404, 'a teardown has no value');
});
