import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
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
  const sent = (key: string) => key.startsWith(`troupe/${left.id}/screenshots/`);
  await eventually('its picture is in the bucket', async () => (await swift.keys()).some(sent));
  const pictures = (await swift.keys()).filter(sent).map((key) => key.slice(`troupe/${left.id}/`.length));

  await a.process.end('SIGKILL');
  t.equal((await b.call('GET', `${at}/report.json`)).body.status, 'completed', 'at once, of the node that is gone');
  await eventually(
    'the session has ended',
    async () => (await b.call('GET', `/api/sessions/${left.id}`)).body.status === 'failed',
  );
  await stored(b, left.id);
  const listed = (await b.call('GET', `/api/sessions/${left.id}/artifacts`)).body.map(
    ({ path }: { path: string }) => path,
  );
  for (const picture of pictures) t.ok(listed.includes(picture), `${picture} was saved`);
  const { body: report } = await b.call('GET', `/api/sessions/${left.id}/report.json`);
  t.ok(report.steps.length > 0);
  t.match((await b.call('GET', `/api/sessions/${left.id}/report`)).body, /data:image\/png;base64/, 'with its picture');
  t.notOk(existsSync(join(b.home, 'sessions', left.id)));
  t.equal((await b.call('DELETE', `${at}?purge=true`)).status, 200, 'any node removes them');
  t.notOk((await swift.keys()).some((key) => key.includes(job.id)));
  await b.call('DELETE', `/api/sessions/${own.id}`);
  // It removes the browser that it left.
  const again = await nodes.start('a', settings);
  await eventually('its folders are gone', () => !existsSync(join(again.home, 'sessions', left.id)));
  t.equal(await stateAt(again, left.id), 'stored');
});

t.test('Without a store, the record says on which node they are', { skip: missing }, async (t) => {
  const nodes = await makeNodes(t, { flows: { 'buy.js': FLOW } });
  const a = await nodes.start('a');
  const job = await a.job({ flowFiles: ['buy.js'] });
  t.match(job, { node: 'a', artifacts: 'node' });
});
