import t from 'tap';
import {
  FORWARD_HEADER,
  FORWARD_VALID_MS,
  ForwardSeal,
  forwardedHeaders,
  keyFingerprint,
} from '#troupe/cluster/forward-seal.js';
import { NonceMemory } from '#troupe/cluster/nonce-memory.js';
import { SessionId } from '#troupe/protocol/session.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const KEY = Buffer.alloc(32, 1);
const TO = 'start of b';
const SESSION = SessionId.parse('abcdefghijkl');
const REQUEST = {
  caller: 'token1',
  role: 'run',
  session: SESSION,
  method: 'POST',
  path: '/sessions/x/proxy?a=1',
} as const;
const START_MS = 1_700_000_000_000;

function sealAt(nowMs: { value: number }, key = KEY): ForwardSeal {
  return new ForwardSeal(key, { clock: { now: () => new Date(nowMs.value) } });
}

t.test('a sealed request says who asks, about which session', async (t) => {
  const now = { value: START_MS };
  const opened = sealAt(now).open(sealAt(now).seal(TO, REQUEST), TO, REQUEST);
  t.same(opened, { caller: 'token1', role: 'run', session: SESSION });
});

t.test('it is accepted once', async (t) => {
  const now = { value: START_MS };
  const receiver = sealAt(now);
  const header = sealAt(now).seal(TO, REQUEST);
  receiver.open(header, TO, REQUEST);
  t.throws(() => receiver.open(header, TO, REQUEST), { code: 'UNAUTHORIZED', message: /used before/ });
  now.value += 2 * FORWARD_VALID_MS;
  receiver.open(sealAt(now).seal(TO, REQUEST), TO, REQUEST);
  now.value = START_MS;
  t.throws(() => receiver.open(header, TO, REQUEST), { code: 'UNAUTHORIZED' }, 'nor after the clock was set back');
});

t.test('everything else is refused', async (t) => {
  const now = { value: START_MS };
  const header = sealAt(now).seal(TO, REQUEST);
  const [version = '', payload = '', mac = ''] = header.split('.');
  const fields: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const altered = (change: object) => {
    const text = JSON.stringify({ ...Object(fields), ...change });
    return `${version}.${Buffer.from(text).toString('base64url')}.${mac}`;
  };
  const refused: readonly (readonly [why: string, header: string, to?: string, request?: object])[] = [
    ['empty', ''],
    ['a word', 'yes'],
    ['no MAC', `${version}.${payload}.`],
    ['no payload', `${version}..${mac}`],
    ['another version', `v2.${payload}.${mac}`],
    ['a fourth part', `${header}.x`],
    ['a MAC that is too short', header.slice(0, -1)],
    ['a MAC that is too long', `${header}A`],
    ['a bit of the MAC', header.slice(0, -3) + (header.at(-3) === 'A' ? 'B' : 'A') + header.slice(-2)],
    ['a second spelling of the MAC', `${header}=`],
    ['a space before', ` ${header}`],
    ['another caller', altered({ caller: 'token2' })],
    ['another role', altered({ role: 'admin' })],
    ['another session', altered({ session: 'abcdefghijkm' })],
    ['no session', altered({ session: null })],
    ['a later time', altered({ time: START_MS + 1 })],
    ['another nonce', altered({ nonce: 'A'.repeat(22) })],
    ['another receiver in the payload', altered({ to: 'start of c' })],
    ['another field', altered({ more: 1 })],
    ['another key', sealAt(now, Buffer.alloc(32, 2)).seal(TO, REQUEST)],
    [
      'a key that the public fingerprint would be',
      sealAt(now, Buffer.from(keyFingerprint(KEY), 'base64url')).seal(TO, REQUEST),
    ],
    ['for another start of this node', header, 'a later start of b'],
    ['for another method', header, TO, { ...REQUEST, method: 'DELETE' }],
    ['for another path', header, TO, { ...REQUEST, path: '/sessions/y/proxy?a=1' }],
    ['for another query', header, TO, { ...REQUEST, path: '/sessions/x/proxy?a=2' }],
    ['a huge header', `${version}.${'A'.repeat(10_000)}.${mac}`],
    ['two headers in one', `${header}, ${header}`],
    [
      'method and path divided elsewhere',
      header,
      TO,
      { method: `${REQUEST.method}${REQUEST.path[0]}`, path: REQUEST.path.slice(1) },
    ],
  ];
  for (const [why, given, to = TO, request = REQUEST] of refused) {
    const asked = { method: REQUEST.method, path: REQUEST.path, ...request };
    t.throws(() => sealAt(now).open(given, to, asked), { code: 'UNAUTHORIZED' }, why);
  }
  for (const ms of [FORWARD_VALID_MS + 1, -FORWARD_VALID_MS - 1, 1e12]) {
    t.throws(() => sealAt({ value: START_MS + ms }).open(header, TO, REQUEST), { message: /clocks/ }, `${ms} ms later`);
  }
  t.ok(sealAt({ value: START_MS + FORWARD_VALID_MS }).open(header, TO, REQUEST), 'the last instant');
});

t.test('the memory of nonces is bounded, and refuses what it has forgotten', async (t) => {
  const memory = new NonceMemory(30_000, 10);
  for (let n = 0; n < 10; n += 1) t.ok(memory.accept(`n${n}`, n * 1_000, n * 1_000));
  t.notOk(memory.accept('n3', 3_000, 9_000));
  t.ok(memory.accept('new', 9_500, 9_500));
  t.ok(memory.size <= 10);
  t.notOk(memory.accept('n0', 0, 9_500), 'forgotten for room');
  t.ok(memory.accept('late', 100_000, 100_000));
  t.equal(memory.size, 1);
  t.notOk(memory.accept('n9', 9_000, 9_500), 'forgotten because of its age; then the clock was set back');
  t.ok(memory.accept('after the step', 95_000, 96_000), 'a corrected clock refuses nothing new');
});

t.test('a second with more messages than the bound refuses the rest of them', async (t) => {
  const memory = new NonceMemory(30_000, 3);
  for (const nonce of ['a', 'b', 'c']) t.ok(memory.accept(nonce, 1_000, 1_000));
  t.notOk(memory.accept('d', 1_500, 1_500));
  t.notOk(memory.accept('a', 1_000, 1_500));
  t.ok(memory.accept('e', 2_000, 2_000));
});

t.test('no header that authenticates a client, or belongs to one hop, is passed on', async (t) => {
  const kept = [
    ['Accept', 'a/b'],
    ['content-type', 'application/json'],
    ['Last-Event-ID', '7'],
    ['idempotency-key', 'k'],
  ] as const;
  const left = ['Authorization', 'COOKIE', 'Proxy-Authorization', FORWARD_HEADER, 'Host', 'Transfer-Encoding', 'X-Hop'];
  const headers = [...kept, ...left.map((name) => [name, 'x'] as const), ['Connection', 'close, x-hop'] as const];
  t.same(forwardedHeaders(headers), kept);
});
