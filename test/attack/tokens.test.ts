import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import WebSocket from 'ws';
import { AccessTokens } from '#troupe/auth/access-tokens.js';
import { RequestVault } from '#troupe/auth/request-vault.js';
import { ShareLinks } from '#troupe/auth/share-links.js';
import { systemClock } from '#troupe/base/clock.js';
import { Credentials, type CredentialsOptions } from '#troupe/gateway/credentials.js';
import { Journal } from '#troupe/journal/journal.js';
import type { Role } from '#troupe/protocol/access.js';
import { SessionId } from '#troupe/protocol/session.js';
import { guardLeaks } from '../support/leaks.js';
import { sampled } from '../support/sampled.js';
import { makeHome, startTestService } from '../support/service.js';
import { runTroupe } from '../support/service-process.js';

guardLeaks(t);

/** Works on the tokens of a home that no service runs in. */
async function inHome<T>(home: string, work: (tokens: AccessTokens, journal: Journal) => Promise<T>): Promise<T> {
  const journal = await Journal.open({ file: join(home, 'troupe.db') });
  try {
    const vault = await RequestVault.open(join(home, 'troupe.key'));
    return await work(await AccessTokens.open({ journal, vault, clock: systemClock }), journal);
  } finally {
    await journal.close();
  }
}

const ID = SessionId.parse('abcdefghijkl');

t.test('A service whose last token was revoked is open to nobody, on any way in, after a restart too', async (t) => {
  // Nothing listens on that port.
  const home = makeHome(t, { port: 9 });
  const old = await inHome(home, async (tokens) => {
    const made = await tokens.create({ name: 'was', role: 'admin' }, true);
    const pass = tokens.cookieValueOf(made);
    // As with a configured admin beside it, which is gone from troupe.json afterwards.
    await tokens.revoke(made.id, true);
    return { id: made.id, token: made.token, pass };
  });
  const service = await startTestService(t, {}, home);
  const { port } = new URL(service.url);
  const body = JSON.stringify({ name: 'mine', role: 'admin' });
  const json = { 'content-type': 'application/json' };
  const mcp = { ...json, accept: 'application/json, text/event-stream' };
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const initialize = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello });
  const ways: [string, string, RequestInit?][] = [
    ['GET', '/api/sessions'],
    ['POST', '/api/sessions', { body: '{}' }],
    ['POST', '/api/jobs', { body: '{"prompt":"x","maxIterations":0,"flowFiles":["a.js"]}' }],
    ['POST', '/api/batches', { body: '{"jobs":[{"prompt":"x"}]}' }],
    ['DELETE', `/api/sessions/${ID}`],
    ['POST', `/sessions/${ID}/proxy`, { body: '{"js":"1"}' }],
    ['GET', '/api/tokens'],
    ['POST', '/api/tokens', { body }],
    ['DELETE', `/api/tokens/${old.id}`],
    ['GET', '/api/events'],
    ['GET', '/metrics'],
    ['GET', '/api/health'],
    ['GET', '/api/openapi.json'],
    ['GET', '/nope'],
    ['OPTIONS', '/api/sessions'],
    ['HEAD', '/api/sessions'],
    ['POST', '/mcp', { body: initialize, headers: mcp }],
    ['GET', '/mcp', { headers: mcp }],
    ['GET', `/sessions/${ID}/cdp/json/version`],
    ['GET', '/json/version'],
    ['GET', '/json/version/?token=null'],
    ['GET', '/json/list', { headers: { authorization: 'Basic YTpi' } }],
    ['PUT', '/json/new'],
    ['POST', '/api/login', { body: JSON.stringify({ token: old.token }) }],
    ['POST', '/api/login', { body: '{"token":"open"}' }],
    ['GET', '/api/sessions', { headers: { authorization: `Bearer ${old.token}` } }],
    ['GET', '/api/sessions', { headers: { authorization: 'Bearer null' } }],
    ['GET', '/api/sessions', { headers: { authorization: 'Bearer ' } }],
    ['GET', '/api/sessions', { headers: { authorization: 'Basic YTpi' } }],
    ['GET', '/api/sessions', { headers: { cookie: `troupe${port}=${old.pass}` } }],
    ['GET', '/api/sessions', { headers: { cookie: `troupe${port}=` } }],
    ['GET', '/api/sessions', { headers: { cookie: `troupe${port}-${ID}=${ID}.zzzzzz.${'a'.repeat(43)}` } }],
    ['GET', '/api/sessions', { headers: { origin: service.url } }],
    ['GET', `/shared/${ID}.zzzzzz.${'a'.repeat(43)}`],
  ];
  for (const [method, path, init] of ways) {
    const answer = await fetch(service.url + path, { method, redirect: 'manual', ...init });
    t.equal(answer.status, 401, `${method} ${path} ${JSON.stringify(init?.headers ?? '')}`);
    const text = await answer.text();
    if (method !== 'HEAD') t.match(text, /"code":"UNAUTHORIZED"/);
  }
  for (const path of ['/api/stream', `/sessions/${ID}/desktop`, `/sessions/${ID}/cdp`]) {
    const socket = new WebSocket(service.url.replace('http', 'ws') + path);
    socket.on('error', () => undefined);
    const [, response] = await once(socket, 'unexpected-response');
    socket.terminate();
    t.equal(response.statusCode, 401, `WebSocket ${path}`);
  }
  t.equal((await service.call('GET', '/')).status, 200, 'the page that asks for a token is there');
  const { body: refusal } = await service.call('GET', '/api/sessions');
  t.match(refusal.error, /troupe token create NAME --role admin.*"token" in troupe\.json/);
  t.match(service.logged.join('\n'), /troupe token create NAME --role admin/, 'the log says the way in');
  await service.stop(0);
  const made = await runTroupe(home, 'token', 'create', 'me', '--role', 'admin');
  const token = /^troupe_\S+$/m.exec(made.output)?.[0];
  const after = await startTestService(t, {}, home);
  const entered = await after.call('GET', '/api/sessions', undefined, {
    headers: { authorization: `Bearer ${token}` },
  });
  t.equal(entered.status, 200, 'the owner of the home gets in again');
  t.equal((await after.call('GET', '/api/sessions')).status, 401);
});

t.test('However a home came to have no token left, it is closed from then on', async (t) => {
  const ways: { [how: string]: (tokens: AccessTokens, journal: Journal) => Promise<void> } = {
    'one admin, revoked': async (tokens) => tokens.revoke((await make(tokens, 'admin')).id, true),
    'one that may only look, revoked': async (tokens) => tokens.revoke((await make(tokens, 'view')).id, true),
    'one that may run, revoked beside nobody': async (tokens) => tokens.revoke((await make(tokens, 'run')).id, false),
    'several, the admin last': async (tokens) => {
      const all = [await make(tokens, 'run'), await make(tokens, 'view'), await make(tokens, 'admin')];
      for (const { id } of all) await tokens.revoke(id, true);
    },
    'several at the same moment': async (tokens) => {
      const all = [await make(tokens, 'admin'), await make(tokens, 'admin'), await make(tokens, 'run')];
      await Promise.all(all.map(({ id }) => tokens.revoke(id, true)));
    },
    'revoked twice': async (tokens) => {
      const { id } = await make(tokens, 'admin');
      await Promise.allSettled([tokens.revoke(id, true), tokens.revoke(id, true)]);
    },
    'the rows were removed from the database by hand': async (tokens, journal) => {
      const { id } = await make(tokens, 'admin');
      await journal.write({ keyValues: [{ kind: 'token', id, data: null }] });
    },
    'made by the version before, then revoked': async (tokens, journal) => {
      const { id } = await make(tokens, 'admin');
      // That version wrote the token alone.
      await journal.write({ keyValues: [{ kind: 'access', id: 'closed', data: null }] });
      await tokens.revoke(id, true);
    },
  };
  for (const [how, empty] of sampled(Object.entries(ways), { name: 'no token left', count: 2 })) {
    const home = makeHome(t);
    const now = await inHome(home, async (tokens, journal) => {
      t.notOk(tokens.required, 'a new home is open');
      await empty(tokens, journal);
      return tokens.required;
    });
    t.ok(now, how);
    const again = await inHome(home, async (tokens) => ({ closed: tokens.required, size: tokens.size }));
    t.same(again, { closed: true, size: 0 }, `${how}: and opened again`);
  }
  const before = makeHome(t);
  await inHome(before, async (tokens, journal) => {
    await make(tokens, 'admin');
    await journal.write({ keyValues: [{ kind: 'access', id: 'closed', data: null }] });
  });
  t.ok(await inHome(before, async (tokens) => tokens.required), 'tokens of the version before close the home');
});

t.test('The last admin cannot be revoked, not even two at the same moment', async (t) => {
  const home = makeHome(t);
  await inHome(home, async (tokens) => {
    const one = await make(tokens, 'admin');
    const refusal = { code: 'INVALID_REQUEST', message: /the last admin token.*"token" in troupe\.json/ };
    await t.rejects(tokens.revoke(one.id, false), refusal, 'alone');
    const runs = await make(tokens, 'run');
    await t.rejects(tokens.revoke(one.id, false), refusal, 'beside one that may run');
    const two = await make(tokens, 'admin');
    const outcomes = await Promise.allSettled([tokens.revoke(one.id, false), tokens.revoke(two.id, false)]);
    t.same(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    t.equal(tokens.list().filter(({ role }) => role === 'admin').length, 1);
    await tokens.revoke(runs.id, false);
    for (const { id } of tokens.list()) await tokens.revoke(id, true);
    t.equal(tokens.size, 0, 'beside a configured admin it can');
  });
});

t.test('A service that other machines reach is never open', async (t) => {
  const home = makeHome(t);
  const vault = await RequestVault.open(join(home, 'troupe.key'));
  const cases: [Partial<CredentialsOptions>, 'open' | 'closed'][] = [
    [{}, 'open'],
    [{ host: 'localhost' }, 'open'],
    [{ host: '::1' }, 'open'],
    [{ host: '127.0.0.2' }, 'open'],
    [{ publicUrl: 'http://localhost:8080' }, 'open'],
    [{ publicUrl: 'https://127.0.0.1' }, 'open'],
    [{ publicUrl: 'http://[::1]:1/x' }, 'open'],
    [{ publicUrl: 'http://troupe.localhost' }, 'open'],
    [{ allowedHosts: ['localhost:9', '127.0.0.1'] }, 'open'],
    [{ token: 'set' }, 'closed'],
    [{ host: '0.0.0.0' }, 'closed'],
    [{ host: '::' }, 'closed'],
    [{ host: '192.0.2.7' }, 'closed'],
    [{ host: '127.0.0.1.evil.test' }, 'closed'],
    [{ host: 'localhost.evil.test' }, 'closed'],
    [{ host: 'build-machine' }, 'closed'],
    [{ publicUrl: 'https://troupe.example' }, 'closed'],
    [{ publicUrl: 'http://troupe.example:80/path' }, 'closed'],
    [{ publicUrl: 'http://localhost.example' }, 'closed'],
    [{ publicUrl: 'http://0.0.0.0' }, 'closed'],
    [{ publicUrl: 'http://10.0.0.1' }, 'closed'],
    [{ publicUrl: 'http://localhost@troupe.example' }, 'closed'],
    [{ allowedHosts: ['troupe.example'] }, 'closed'],
    [{ allowedHosts: ['localhost', 'farm.test:8080'] }, 'closed'],
    [{ allowedHosts: ['no place at all'] }, 'closed'],
  ];
  await inHome(home, async (tokens) => {
    const links = new ShareLinks({ vault, clock: systemClock });
    const handoffLinks = new ShareLinks({ vault, clock: systemClock }, 'handoff');
    const connections = { openHandoff: () => null };
    const request = { method: 'GET', path: '/', query: '', header: () => '' };
    const nothing = { host: 'localhost', origin: '', authorization: '', cookie: '' };
    for (const [options, expected] of cases) {
      const credentials = new Credentials({ host: '127.0.0.1', allowedHosts: [], ...options });
      const name = JSON.stringify(options);
      t.equal(credentials.areRequired(tokens), expected === 'closed', name);
      const ask = () =>
        credentials.principalOf(nothing, { tokens, links, handoffLinks, connections, nodes: null }, request);
      if (expected === 'open') t.match(ask(), { role: 'admin', name: 'open' }, name);
      else t.throws(ask, { code: 'UNAUTHORIZED' }, name);
    }
  });
});

function make(tokens: AccessTokens, role: Role) {
  return tokens.create({ name: `a ${role}`, role }, true);
}
