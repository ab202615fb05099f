import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { RequestVault } from '#troupe/auth/request-vault.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const REQUEST = { mode: 'auto', httpCredentials: { username: 'ada', password: 'canary-9c1' } };

t.test('a sealed request shows nothing, and opens again after a restart', async (t) => {
  const file = join(t.testdir({}), 'troupe.key');
  const vault = await RequestVault.open(file);
  const sealed = vault.seal(REQUEST, '10.0.0.7');
  t.notMatch(JSON.stringify(sealed), /canary|ada/);
  t.not(vault.seal(REQUEST, '10.0.0.7').sealed, sealed.sealed, 'no two look alike');
  t.same((await RequestVault.open(file)).unseal(JSON.parse(JSON.stringify(sealed))), {
    request: REQUEST,
    caller: '10.0.0.7',
  });
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.equal(vault.fingerprint(REQUEST), (await RequestVault.open(file)).fingerprint({ ...REQUEST }));
  t.not(vault.fingerprint(REQUEST), vault.fingerprint({ ...REQUEST, mode: 'live' }));
});

t.test('what was sealed under another key, changed, or never sealed opens to nothing', async (t) => {
  const dir = t.testdir({});
  const vault = await RequestVault.open(join(dir, 'one.key'));
  const { sealed, caller } = vault.seal(REQUEST, 'a');
  t.equal((await RequestVault.open(join(dir, 'other.key'))).unseal({ sealed, caller }), null);
  const first = sealed.startsWith('A') ? 'B' : 'A';
  for (const damaged of [{ sealed: first + sealed.slice(1), caller }, { sealed: 'short', caller }, REQUEST, null]) {
    t.equal(vault.unseal(damaged), null);
  }
});

t.test('a key that an earlier version wrote as bytes is taken as it is', async (t) => {
  const file = join(t.testdir({}), 'troupe.key');
  writeFileSync(file, Buffer.alloc(32, 0xf7));
  const sealed = (await RequestVault.open(file)).seal(REQUEST, 'a');
  t.match((await RequestVault.open(file)).unseal(sealed), { request: REQUEST });
  t.equal(readFileSync(file).length, 32);
});

t.test('a file that holds no key is refused by name and left as it is', async (t) => {
  const file = join(t.testdir({}), 'troupe.key');
  writeFileSync(file, 'too short');
  await t.rejects(RequestVault.open(file), { code: 'UNAVAILABLE', message: new RegExp(file) });
  t.equal(readFileSync(file, 'utf8'), 'too short');
});
