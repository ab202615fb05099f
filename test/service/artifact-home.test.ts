import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Journal } from '#troupe/journal/journal.js';
import { sampleRecord } from '../report/sample-session.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome, startTestService } from '../support/service.js';
import { homePlace } from '../support/test-store.js';

guardLeaks(t);

t.test(
  'A home of before moves its artifacts to the folder that troupe.json names, and serves them from there',
  async (t) => {
    const folder = t.testdir({});
    const home = makeHome(t, { artifacts: { folder } });
    const journal = await Journal.open(homePlace(home));
    const record = sampleRecord({ endedAt: new Date().toISOString() });
    await journal.write({ records: [{ record, lease: null }] });
    await journal.close();
    const screenshots = join(home, 'sessions', record.id, 'screenshots');
    mkdirSync(screenshots, { recursive: true });
    writeFileSync(join(screenshots, '001.png'), 'a picture');
    const service = await startTestService(t, {}, home);
    const at = `/api/sessions/${record.id}`;
    await eventually('it is stored', async () => (await service.call('GET', at)).body.artifacts === 'stored');
    await eventually('no folder is left', () => readdirSync(join(home, 'sessions')).length === 0);
    const part = await fetch(`${service.url}${at}/artifacts/screenshots/001.png`, { headers: { range: 'bytes=2-8' } });
    t.match([part.status, part.headers.get('content-type'), await part.text()], [206, 'image/png', 'picture']);
    t.equal((await service.call('DELETE', `${at}?purge=true`)).status, 200);
    t.same(readdirSync(join(folder, 'sessions')), []);
  },
);
