import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { AccessTokens, callerOf } from '#troupe/auth/access-tokens.js';
import { LoginStates } from '#troupe/auth/login-states.js';
import { RequestVault } from '#troupe/auth/request-vault.js';
import { SetupValues } from '#troupe/auth/setup-values.js';
import { Journal } from '#troupe/journal/journal.js';
import { SessionId } from '#troupe/protocol/session.js';
import { ManualClock } from '../actors/manual-clock.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const COOKIE = 'sid-that-is-nowhere-else';
const STATE = {
  cookies: [{ name: 'sid', value: COOKIE, domain: 'shop.test', path: '/' }],
  origins: [{ origin: 'https://shop.test', localStorage: [{ name: 'token', value: 'jwt' }] }],
};
const OPEN = '127.0.0.1';

async function openStates(t: Test) {
  const dir = mkdtempSync(join(tmpdir(), 'troupe-states-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'troupe.db');
  const journal = await Journal.open({ file });
  t.teardown(() => journal.close());
  const clock = new ManualClock();
  const vault = await RequestVault.open(join(dir, 'key'));
  const tokens = await AccessTokens.open({ journal, vault, clock });
  const caller = async (name: string, role: 'run' | 'admin') => callerOf(await tokens.create({ name, role }, true));
  const states = new LoginStates({ journal, vault, tokens, clock });
  return { dir, file, journal, clock, vault, tokens, caller, states };
}

t.test('A state is read by the token that saved it and by admins, and by no other token', async (t) => {
  const { states, caller } = await openStates(t);
  const [ada, ben, root] = [await caller('ada', 'run'), await caller('ben', 'run'), await caller('root', 'admin')];
  t.match(await states.save(ada, 'shop', STATE, 60), { name: 'shop', cookies: 1, origins: ['https://shop.test'] });
  t.same(await states.read(ada, 'shop'), STATE);
  t.same(await states.read(root, 'shop'), STATE);
  t.same(await states.read(OPEN, 'shop'), STATE, 'without tokens every caller is an admin');
  await t.rejects(states.read(ben, 'shop'), { code: 'INVALID_REQUEST', message: /^There is no saved state 'shop'/ });
  await t.rejects(states.check(ben)('shop'), { code: 'INVALID_REQUEST', details: { issues: [{ path: 'state' }] } });
  await t.rejects(states.remove(ben, 'shop'), { code: 'NOT_FOUND' });
  t.same(await states.list(ben), []);
  t.match(await states.list(ada), [{ name: 'shop', token: ada.slice('token:'.length) }]);

  await states.save(ben, 'shop', { cookies: [], origins: [] }, 60);
  t.same(await states.read(ada, 'shop'), STATE, 'each token has names of its own');
  t.same(await states.read(ben, 'shop'), { cookies: [], origins: [] });
  await t.rejects(states.read(root, 'shop'), { message: /^Several tokens have saved a state 'shop'/ });
  t.equal(await states.remove(ben, 'shop'), 1);
  t.same(await states.read(ada, 'shop'), STATE);
  t.equal(await states.remove(root, 'shop'), 1);
  t.same(await states.list(root), []);
});

t.test('A state expires, and is then removed', async (t) => {
  const { states, journal, clock } = await openStates(t);
  await states.save(OPEN, 'short', STATE, 60);
  await states.save(OPEN, 'long', STATE, 600);
  clock.advance(60_000);
  await t.rejects(states.read(OPEN, 'short'), { code: 'INVALID_REQUEST' });
  t.match(await states.list(OPEN), [{ name: 'long' }]);
  await states.removeExpired();
  t.match(await journal.keyValues('state'), [{ id: 'long/admin' }]);
  t.match(await journal.keyValues('state-data'), [{ id: 'long/admin' }]);
});

t.test('The database alone does not tell what is in a state, and a row is not read as another one', async (t) => {
  const { states, journal, file, dir, tokens, clock } = await openStates(t);
  await states.save(OPEN, 'mine', STATE, 60);
  await states.save('token:aaaaaaaaaaaa', 'theirs', { cookies: [], origins: [] }, 60);
  const [mine] = (await journal.keyValues('state-data')).filter(({ id }) => id.startsWith('mine/'));
  await journal.write({ keyValues: [{ kind: 'state-data', id: 'theirs/token:aaaaaaaaaaaa', data: mine?.data }] });
  await t.rejects(states.read('token:aaaaaaaaaaaa', 'theirs'), { message: /cannot be read/ });
  const vault = await RequestVault.open(join(dir, 'other-key'));
  const other = new LoginStates({ journal, vault, tokens, clock });
  await t.rejects(other.read(OPEN, 'mine'), { message: /saved with another key/ });
  await journal.close();
  const disk = readFileSync(file, 'latin1');
  t.ok(disk.includes('https://shop.test'), 'the file is the one that has it');
  t.notOk(disk.includes(COOKIE));
});

t.test('A state that is too large, and one too many, are refused', async (t) => {
  const { states } = await openStates(t);
  const large = { ...STATE, cookies: [{ name: 'x', value: 'x'.repeat(1024 * 1024) }] };
  await t.rejects(states.save(OPEN, 'large', large, 60), { code: 'INVALID_REQUEST', message: /bytes/ });
  const few = { cookies: [], origins: [] };
  await Promise.all(Array.from({ length: 200 }, (_, n) => states.save(OPEN, `s${n}`, few, 60)));
  await t.rejects(states.save(OPEN, 'more', few, 60), { code: 'CAPACITY' });
  await states.save(OPEN, 's7', STATE, 60);
  t.same(await states.read(OPEN, 's7'), STATE, 'a state of the same name is replaced');
});

t.test('The value of a _setup flow is read by the caller that submitted it, and goes with its session', async (t) => {
  const { journal, vault, tokens, caller } = await openStates(t);
  const values = new SetupValues({ journal, vault, tokens });
  const [ada, ben, root] = [await caller('ada', 'run'), await caller('ben', 'run'), await caller('root', 'admin')];
  const id = SessionId.parse('abcdefghijkl');
  await values.save(ada, id, '{"user":7}');
  t.equal(await values.read(ada, id), '{"user":7}');
  t.equal(await values.read(root, id), '{"user":7}');
  await t.rejects(values.read(ben, id), { code: 'NOT_FOUND' });
  t.notMatch(JSON.stringify(await journal.keyValues('value')), 'user');
  await journal.remove(id);
  await t.rejects(values.read(ada, id), { code: 'NOT_FOUND' });
});
