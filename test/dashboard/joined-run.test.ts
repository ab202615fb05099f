import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { openReader } from '../support/reader.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

t.test(
  'The page of a joined run lists its flows, what failed first, and offers nothing that it cannot do',
  async (t) => {
    const service = await startTestService(t);
    const passed = {
      state: 'completed',
      startedAt: null,
      durationMs: 1500,
      sessionId: null,
      failure: null,
      mayPassAgain: false,
    };
    const failed = { ...passed, state: 'failed', failure: { code: 'MATCH_FAILED', message: 'sold out' } };
    const jobs = [{ name: 'login' }, { name: 'shop/buy' }];
    const { id } = (await service.call('POST', '/api/batches/join', { build: '3', hash: 'h', jobs })).body;
    for (const result of [passed, failed]) {
      const { token } = (await service.call('POST', `/api/batches/${id}/claim`, { machine: 'ci-3' })).body;
      t.equal((await service.call('POST', `/api/batches/${id}/claims/${token}/result`, result)).status, 200);
    }
    const { page, shows, problems } = await openReader(t);
    await page.goto(`${service.url}/#/runs/${id}`);
    await shows('run by the machines that joined build 3');
    const flows = page.getByRole('region', { name: 'Flows' });
    t.match(await flows.getByRole('listitem').allInnerTexts(), [
      /shop\/buy\s+Failed in [^\n]+\s+sold out\s+ci-3/,
      /login\s+Passed in /,
    ]);
    t.equal(await page.getByRole('button', { name: /Re-run/ }).count(), 0);
    t.same(problems, []);
  },
);
