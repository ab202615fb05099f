import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome, startTestService } from '../support/service.js';
import { readZip } from '../support/zip.js';

guardLeaks(t);

t.test(
  'Artifacts move to a folder, also those of before, wait for it if it is missing, and are missed without it',
  async (t) => {
    const home = makeHome(t);
    const share = join(t.testdir({}), 'share');
    const file = join(home, 'troupe.json');
    const settings = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(join(home, 'flows', 'tea.js'), `agent.go("data:text/html,<h1>Tea</h1>"); 1`);
    const started = (artifacts?: object) => {
      writeFileSync(file, JSON.stringify({ ...settings, ...artifacts }));
      return startTestService(t, {}, home);
    };
    const run = { flowFiles: ['tea.js'] };

    const first = await started();
    const before = await first.job(run);
    t.equal(before.artifacts, undefined);
    const at = `/api/sessions/${before.id}`;
    const zipBefore = await readZip(`${first.url}${at}/download`);
    t.ok([...zipBefore.keys()].some((name) => name.startsWith('screenshots/')));
    await first.stop(0);

    const outage = await started({ artifacts: { folder: share } });
    const during = await outage.job(run);
    t.match(during, { status: 'completed', artifacts: 'pending' });
    await eventually('the log says so', () =>
      outage.logged.some((line) => line.includes('artifacts are not uploaded')),
    );
    t.ok(outage.logged.some((line) => /cannot be stored now: .*share.*mount or create it/.test(line)));
    const zip = await readZip(`${outage.url}/api/sessions/${during.id}/download`);
    t.notOk(existsSync(share));
    await outage.stop(0);

    mkdirSync(share);
    const again = await started({ artifacts: { folder: share } });
    for (const { id } of [before, during]) {
      const record = async () => (await again.call('GET', `/api/sessions/${id}`)).body;
      await eventually('it is in the store', async () => (await record()).artifacts === 'stored');
    }
    await eventually('no folder is left', () => readdirSync(join(home, 'sessions')).length === 0);
    for (const [id, known] of [
      [before.id, zipBefore],
      [during.id, zip],
    ] as const) {
      const read = await readZip(`${again.url}/api/sessions/${id}/download`);
      t.same([...read.keys()].sort(), [...known.keys()].sort());
      for (const [name, content] of known) if (name.endsWith('.png')) t.ok(read.get(name)?.equals(content), name);
    }
    const picture = [...zip.keys()].find((name) => name.startsWith('screenshots/')) ?? '';
    const part = await fetch(`${again.url}/api/sessions/${during.id}/artifacts/${picture}`, {
      headers: { range: 'bytes=1-3' },
    });
    t.match([part.status, part.headers.get('content-type'), await part.text()], [206, 'image/png', 'PNG']);
    t.equal((await again.call('DELETE', `/api/sessions/${during.id}?purge=true`)).status, 200);
    t.same(readdirSync(join(share, 'sessions')), [before.id]);
    await again.stop(0);

    const without = await started();
    for (const [method, path] of [
      ['GET', `${at}/report.json`],
      ['GET', `${at}/files`],
      ['DELETE', `${at}?purge=true`],
    ] as const) {
      const answer = await without.call(method, path);
      t.match(answer, {
        status: 503,
        body: { code: 'UNAVAILABLE', error: /set "artifacts" in troupe.json as it was/ },
      });
    }
    t.equal((await without.call('GET', at)).body.artifacts, 'stored');
  },
);
