import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { TroupeError } from '#troupe/protocol/errors.js';
import { noteOf, ResultZips, zipOf } from '#troupe/supervisor/batches/result-zips.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const NAME = '0-1-0123456789ab.zip';
const lost = () => new TroupeError('NODE_LOST', 'The node other is gone');

/** Zips of the node `own`, and of others that send what `chunks` yields. */
function zipsOf(t: Test, chunks: () => Iterable<Buffer>) {
  const home = t.testdir({});
  const asked: string[] = [];
  const nodes = {
    ownId: 'own',
    fileOf: async (node: string, path: string) => {
      asked.push(`${node} ${path}`);
      return { bytes: 8, stream: Readable.from(chunks()) };
    },
  };
  const journal = { joinedAttempts: async () => [] };
  return { home, asked, zips: new ResultZips({ config: { batchesDir: home }, nodes, journal }) };
}

t.test('A note says which node has a zip', async (t) => {
  for (const zip of [
    { node: 'a.b-c_1', name: NAME },
    { node: null, name: NAME },
  ]) {
    t.same(zipOf(noteOf(zip)), zip);
  }
  const { zips } = zipsOf(t, () => []);
  t.match(zips.next({ job: 3, attempt: 2 }), { node: 'own', name: /^3-2-\w{12}\.zip$/ });
});

t.test('A zip is taken from this home, or from the node that has it', async (t) => {
  const { home, asked, zips } = zipsOf(t, () => [Buffer.from('some'), Buffer.from('thing')]);
  const copy = join(home, 'copy.zip');
  for (const node of ['own', null]) {
    const gone = await zips.fetch('batch', { node, name: NAME }, copy);
    t.match(gone, { code: 'NOT_FOUND', message: /is not in the home of the (?:node own|service)$/ });
  }
  mkdirSync(join(home, 'batch', 'results'), { recursive: true });
  const own = join(home, 'batch', 'results', NAME);
  writeFileSync(own, 'own');
  t.equal(await zips.fetch('batch', { node: 'own', name: NAME }, copy), own);
  t.equal(await zips.fetch('batch', { node: null, name: NAME }, copy), own, 'of before there were nodes');
  t.same(asked, []);
  t.equal(await zips.fetch('batch', { node: 'other', name: NAME }, copy), copy);
  t.equal(readFileSync(copy, 'utf8'), 'something');
  t.same(asked, [`other /api/batches/batch/results/${NAME}`]);
  await zips.remove('batch', { node: 'other', name: NAME });
  t.ok(existsSync(own), 'it is not this node’s to remove');
  await zips.remove('batch', { node: 'own', name: NAME });
  t.notOk(existsSync(own));
});

t.test('A node that goes in the middle of a zip is not a fault of this machine’s disk', async (t) => {
  const { home, zips } = zipsOf(t, function* () {
    yield Buffer.from('some');
    throw lost();
  });
  const zip = { node: 'other', name: NAME };
  t.match(await zips.fetch('batch', zip, join(home, 'copy.zip')), { code: 'NODE_LOST' });
  const whole = zipsOf(t, () => [Buffer.from('something')]);
  await t.rejects(whole.zips.fetch('batch', zip, join(home, 'none', 'copy.zip')), { code: 'ENOENT' });
});
