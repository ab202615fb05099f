import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome, startTestService } from '../support/service.js';
import { startSwift, swiftMissing } from '../support/swift/swift.js';
import { readZip } from '../support/zip.js';

guardLeaks(t);

const FLOW = `agent.go("data:text/html,<h1>Tea</h1><button>Buy</button>"); agent.act("{button}Buy", "click"); 1`;

t.test(
  'Network log, trace and video are in the bucket, too, and retention removes from it',
  {
    skip: swiftMissing(),
    timeout: 280_000,
  },
  async (t) => {
    const swift = await startSwift(t);
    for (const [name, value] of Object.entries(swift.env)) process.env[name] = value;
    t.teardown(() => {
      for (const name of Object.keys(swift.env)) delete process.env[name];
    });
    const home = makeHome(t, { artifacts: swift.artifacts });
    writeFileSync(join(home, 'flows', 'buy.js'), FLOW);
    const service = await startTestService(t, {}, home);
    const job = await service.job({ flowFiles: ['buy.js'], trace: 'on', video: 'on' });
    const at = `/api/sessions/${job.id}`;
    const isStored = async () => (await service.call('GET', at)).body.artifacts === 'stored';
    await eventually('the artifacts are in the store', isStored);
    const own = async () => (await swift.keys()).filter((key) => key.startsWith(`troupe/${job.id}/`));
    const keys = await own();
    for (const name of ['network.har', 'trace.zip', 'video.mp4', 'report.junit.xml'])
      t.ok(keys.includes(`troupe/${job.id}/${name}`), name);
    const zip = await readZip(`${service.url}${at}/download`);
    const listed: { path: string; bytes: number }[] = (await service.call('GET', `${at}/artifacts`)).body;
    for (const { path, bytes } of listed) t.equal(zip.get(path)?.byteLength, bytes, path);
    await service.stop(0);
    const file = join(home, 'troupe.json');
    const config = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...config, retention: { days: 1e-6 } }));
    const later = await startTestService(t, {}, home);
    await eventually('the bucket has nothing of it', async () => (await own()).length === 0);
    t.equal((await later.call('GET', at)).status, 404);
  },
);
