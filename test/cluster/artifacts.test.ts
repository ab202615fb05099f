import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { SessionRecord } from '#troupe/protocol/session.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { startSwift, swiftMissing } from '../support/swift/swift.js';
import { postgresMissing } from '../support/test-store.js';
import { readZip } from '../support/zip.js';
import { makeNodes, type RunningNode } from './running-nodes.js';

guardLeaks(t);

const missing = swiftMissing() || (await postgresMissing());
const FLOW = 'agent.go("data:text/html,<h1>Tea</h1><button>Buy</button>"); agent.act("{button}Buy", "click"); 1';

const stateAt = async ({ call }: RunningNode, id: string) => (await call('GET', `/api/sessions/${id}`)).body.artifacts;

const stored = (node: RunningNode, id: string) =>
  eventually('the artifacts are in the store', async () => (await stateAt(node, id)) === 'stored');

const isPicture = (path: string) => path.startsWith('screenshots/');
const MISSING = 'artifacts-missing.txt';

t.test('With a bucket, every node has the artifacts, also of a node that was killed', { skip: missing }, async (t) => {
  const swift = await startSwift(t);
  for (const [name, value] of Object.entries(swift.env)) process.env[name] = value;
  const nodes = await makeNodes(t, { flows: { 'buy.js': FLOW } });
  const settings = { artifacts: swift.artifacts };
  const [a, b] = await Promise.all([nodes.start('a', settings), nodes.start('b', { ...settings, maxSessions: 1 })]);
  const own = await b.live();
  const job = await a.job({ flowFiles: ['buy.js'] });
  t.equal(job.node, 'a');
  await stored(b, job.id);
  const at = `/api/sessions/${job.id}`;
  const [there, here] = [await readZip(`${a.url}${at}/download`), await readZip(`${b.url}${at}/download`)];
  t.same([...here.keys()], [...there.keys()], 'both nodes serve the same');
  t.ok([...here.keys()].some(isPicture));
  const left = await a.live();
  await a.run(left.id, 'agent.go("data:text/html,<h1>Tea</h1>"); agent.screenshot("tea")');
  const picture = () => {
    const dir = join(a.home, 'sessions', left.id, 'screenshots');
    return existsSync(dir) ? readdirSync(dir).find((name) => name.endsWith('.png')) : undefined;
  };
  await eventually('its picture is on the disk', () => picture() !== undefined);
  const name = `screenshots/${picture()}`;

  await a.process.end('SIGKILL');
  t.equal((await b.call('GET', `${at}/report.json`)).body.status, 'completed', 'at once, of the node that is gone');
  await eventually(
    'the session has ended',
    async () => (await b.call('GET', `/api/sessions/${left.id}`)).body.status === 'failed',
  );
  await stored(b, left.id);
  const listed = async (): Promise<readonly string[]> =>
    (await b.call('GET', `/api/sessions/${left.id}/artifacts`)).body.map(({ path }: { path: string }) => path);
  t.ok((await listed()).includes(MISSING), 'what is on the node that is gone is said to be missing');
  t.notOk((await listed()).includes(name));
  const { body: report } = await b.call('GET', `/api/sessions/${left.id}/report.json`);
  t.ok(report.steps.length > 0, 'the steps are in the database');
  t.notOk(existsSync(join(b.home, 'sessions', left.id)));
  t.equal((await b.call('DELETE', `${at}?purge=true`)).status, 200, 'any node removes them');
  t.notOk((await swift.keys()).some((key) => key.includes(job.id)));
  await b.call('DELETE', `/api/sessions/${own.id}`);

  const again = await nodes.start('a', settings);
  await eventually('its folder is gone', () => !existsSync(join(again.home, 'sessions', left.id)));
  t.equal(await stateAt(again, left.id), 'stored');
  t.ok((await listed()).includes(name), 'the node that is back has added the picture');
});

t.test(
  'Without a store, the zip of a batch has the files of every node, or says which are missing',
  { skip: missing },
  async (t) => {
    const nodes = await makeNodes(t, { flows: { 'buy.js': FLOW } });
    const [a, b] = await Promise.all([nodes.start('a', { maxSessions: 1 }), nodes.start('b', { maxSessions: 1 })]);
    // Each waits until the other one runs.
    const wait = { prompt: 'x', flowFiles: ['buy.js', 'own.js'], maxIterations: 0 };
    const { body: batch } = await a.call('POST', '/api/batches', {
      flows: { 'own.js': 'agent.wait(60000); 1', 'buy.js': FLOW },
      jobs: [
        { ...wait, name: 'one' },
        { ...wait, name: 'two' },
      ],
    });
    const records = async (): Promise<readonly SessionRecord[]> =>
      (await a.call('GET', `/api/sessions?batch=${batch.id}`)).body;
    await eventually(
      'each node has one',
      async () =>
        new Set((await records()).map(({ node }) => node ?? '')).size === 2 &&
        (await records()).every(({ node }) => node !== undefined),
    );
    for (const { id } of await records()) await a.seen(id, 'StepFinished', 2);
    await a.call('DELETE', `/api/batches/${batch.id}`);
    const [one, two] = [await recordOn('a'), await recordOn('b')];
    async function recordOn(node: string): Promise<SessionRecord> {
      const found = (await records()).find((record) => record.node === node);
      if (found === undefined) throw new Error(`no job ran on ${node}`);
      return found;
    }
    t.match([one, two], [{ artifacts: 'node' }, { artifacts: 'node' }], 'the records say where they are');
    const zipped = async (node: RunningNode, { name }: SessionRecord) => {
      const files = await readZip(`${node.url}/api/batches/${batch.id}/download`);
      return [...files.keys()].flatMap((path) => (path.startsWith(`${name}/`) ? [path.slice(`${name}/`.length)] : []));
    };
    for (const record of [one, two]) {
      const paths = await zipped(a, record);
      t.same(await zipped(b, record), paths, 'the same at both nodes');
      t.ok(paths.some(isPicture), `pictures of ${record.node}`);
      t.notOk(paths.includes(MISSING));
    }
    const counted = async (node: RunningNode) => (await node.call('GET', `/api/batches/${batch.id}/junit`)).body;
    t.match(await counted(b), 'tests="4"', 'its JUnit report, too');
    await b.process.end('SIGKILL');
    const state = async () =>
      (await a.call('GET', '/api/nodes')).body.find(({ id }: { id: string }) => id === 'b')?.state;
    await eventually('b is lost', async () => (await state()) === 'lost');
    const left = await zipped(a, two);
    t.ok(left.includes(MISSING) && left.includes('report.html'), 'what can be made of the journal, and a note');
    t.notOk(left.some(isPicture));
    t.ok((await zipped(a, one)).some(isPicture));
    await nodes.start('b', { maxSessions: 1 });
    await eventually('b is back', async () => (await state()) === 'up');
    t.ok((await zipped(a, two)).some(isPicture), 'and so are its files');
  },
);
