import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { client, makeHome, startTestService, type TestService } from '../support/service.js';
import { startServiceProcess } from '../support/service-process.js';
import { startSwift, swiftMissing } from '../support/swift/swift.js';
import { readZip } from '../support/zip.js';

guardLeaks(t);

type Calls = Pick<TestService, 'url' | 'call'>;

const FLOW = `agent.go("data:text/html,<h1>Tea</h1><button>Buy</button>"); agent.act("{button}Buy", "click"); 1`;

const stateOf = async ({ call }: Calls, id: string) => (await call('GET', `/api/sessions/${id}`)).body.artifacts;

const stored = (service: Calls, id: string) =>
  eventually('the artifacts are in the store', async () => (await stateOf(service, id)) === 'stored');

/** What a client can read of a session. */
async function readable({ url, call }: Calls, id: string) {
  const at = `/api/sessions/${id}`;
  const listed: { path: string; bytes: number }[] = (await call('GET', `${at}/artifacts`)).body;
  const zip = await readZip(`${url}${at}/download`);
  const report = (await call('GET', `${at}/report.json`)).body;
  return { listed: listed.map(({ path }) => path), sizes: listed, zip, report };
}

t.test('The artifacts of sessions in a bucket', { skip: swiftMissing() }, async (t) => {
  const swift = await startSwift(t);
  for (const [name, value] of Object.entries(swift.env)) process.env[name] = value;
  t.teardown(() => {
    for (const name of Object.keys(swift.env)) delete process.env[name];
  });
  const settings = { artifacts: swift.artifacts };
  const newHome = () => {
    const home = makeHome(t, settings);
    writeFileSync(join(home, 'flows', 'buy.js'), FLOW);
    return home;
  };
  const homeOf = newHome();

  await t.test('They are moved there after the end, and read there: list, ranges, report, zip, pictures', async (t) => {
    const service = await startTestService(t, settings, homeOf);
    const job = await service.job({ flowFiles: ['buy.js'] });
    t.equal(job.status, 'completed');
    await stored(service, job.id);
    await eventually(
      'its folder is gone',
      () => !readdirSync(join(homeOf, 'sessions')).some((name) => name.includes(job.id)),
    );
    const { listed, sizes, zip, report } = await readable(service, job.id);
    t.equal(report.status, 'completed');
    t.ok(listed.some((path) => path.startsWith('screenshots/')));
    t.same([...zip.keys()].sort(), [...listed].sort(), 'the zip has what the list has');
    for (const { path, bytes } of sizes) t.equal(zip.get(path)?.byteLength, bytes, path);
    t.same((await swift.keys()).toSorted(), listed.map((path) => `troupe/${job.id}/${path}`).sort());
    const picture = listed.find((path) => path.startsWith('screenshots/')) ?? '';
    const whole = zip.get(picture) ?? Buffer.alloc(0);
    const part = await fetch(`${service.url}/api/sessions/${job.id}/artifacts/${picture}`, {
      headers: { range: 'bytes=1-3' },
    });
    t.equal(part.status, 206);
    t.equal(part.headers.get('content-range'), `bytes 1-3/${whole.byteLength}`);
    t.equal(Buffer.from(await part.arrayBuffer()).toString(), 'PNG');
    t.equal((await service.call('GET', `/api/sessions/${job.id}/artifacts/nothing.txt`)).status, 404);
    t.same((await service.call('GET', `/api/sessions/${job.id}/files`)).body, []);
    t.equal((await service.call('DELETE', `/api/sessions/${job.id}?purge=true`)).status, 200);
    t.same(await swift.keys(), [], 'a purge removes them from the bucket');
  });

  await t.test(
    'An outage keeps no slot and no job waiting; the upload goes on after kill -9 of service and store',
    async (t) => {
      const home = newHome();
      const before = await startServiceProcess(t, home, '--max-sessions', '1');
      const service = client(before.url);
      await swift.kill();
      const job = await service.job({ flowFiles: ['buy.js'] });
      t.equal(job.status, 'completed', 'it ends as it ended');
      t.equal(job.artifacts, 'pending');
      const next = await service.job({ flowFiles: ['buy.js'] });
      t.equal(next.status, 'completed', 'the one slot is free');
      const during = await readable(service, job.id);
      t.equal(during.report.status, 'completed', 'its node serves them meanwhile');
      await eventually('the log says so', () => before.output().includes('artifacts are not uploaded'));
      t.match(before.output(), /does not answer \(ECONNREFUSED\); check that it runs/);
      await before.end('SIGKILL');
      await swift.start();
      const after = await startServiceProcess(t, home);
      const again = client(after.url);
      await stored(again, job.id);
      await stored(again, next.id);
      const { listed, zip, report } = await readable(again, job.id);
      t.same(listed.toSorted(), during.listed.toSorted(), 'nothing is missing');
      for (const path of listed.filter((name) => name.startsWith('screenshots/')))
        t.ok(zip.get(path)?.equals(during.zip.get(path) ?? Buffer.alloc(0)), path);
      t.equal(report.status, 'completed');
      t.notOk(existsSync(join(home, 'sessions', job.id)));
      await swift.kill();
      const failed = await again.call('GET', `/api/sessions/${job.id}/report.json`);
      t.match(failed, { status: 503, body: { code: 'UNAVAILABLE', error: /does not answer/ } });
      t.match(await again.call('DELETE', `/api/sessions/${job.id}?purge=true`), { status: 503 });
      t.equal(
        (await again.call('GET', `/api/sessions/${job.id}`)).status,
        200,
        'what could not be removed is still known',
      );
      await swift.start();
      t.equal((await again.call('DELETE', `/api/sessions/${job.id}?purge=true`)).status, 200);
      t.notOk((await swift.keys()).some((key) => key.includes(job.id)));
      await after.end('SIGTERM');
    },
  );

  await t.test(
    'After kill -9 in the middle of an upload in parts, the next start uploads it whole and leaves no part',
    async (t) => {
      const home = newHome();
      const before = await startServiceProcess(t, home);
      const service = client(before.url);
      const live = await service.live();
      const click = `const link = document.createElement('a'); link.download = 'large.bin';
      link.href = URL.createObjectURL(new Blob([new Uint8Array(48 * 1024 * 1024).fill(7)])); link.click(); 1`;
      await service.run(live.id, `agent.go("data:text/html,<h1>Large</h1>"); agent.page(${JSON.stringify(click)}); 1`);
      await eventually('the download is there', async () => {
        const { body } = await service.call('GET', `/api/sessions/${live.id}/files`);
        return body.some(({ bytes }: { bytes: number }) => bytes === 48 * 1024 * 1024);
      });
      await service.call('DELETE', `/api/sessions/${live.id}`);
      await eventually('parts are sent', async () => (await swift.unfinished()).length > 0);
      await before.end('SIGKILL');
      t.equal((await swift.unfinished()).length, 1, 'it was in the middle');
      t.notOk(
        (await swift.keys()).some((key) => key.endsWith('large.bin')),
        'and nothing looks complete',
      );
      const after = client((await startServiceProcess(t, home)).url);
      await stored(after, live.id);
      t.same(await swift.unfinished(), []);
      const path = `/api/sessions/${live.id}/artifacts/downloads/large.bin`;
      const head = { headers: { range: `bytes=${48 * 1024 * 1024 - 4}-` } };
      const end = await fetch(after.url + path, head);
      t.equal(end.headers.get('content-range'), 'bytes 50331644-50331647/50331648');
      t.same([...Buffer.from(await end.arrayBuffer())], [7, 7, 7, 7]);
      t.match((await after.call('GET', `/api/sessions/${live.id}/files`)).body, [
        { name: 'large.bin', bytes: 50331648 },
      ]);
    },
  );

  await t.test('Pages do not reach the bucket, by no name of its machine', async (t) => {
    const service = await startTestService(t, settings, homeOf);
    const { id } = await service.live();
    const { port } = new URL(swift.endpoint);
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
      const reached = await service.run(id, `agent.go("http://${host}:${port}/")`);
      t.not(reached.status, 200, host);
    }
    await service.call('DELETE', `/api/sessions/${id}`);
    await stored(service, id);
    t.ok((await readable(service, id)).listed.includes('report.html'));
  });
});
