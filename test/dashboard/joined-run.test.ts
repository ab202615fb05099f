import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { openReader } from '../support/reader.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

t.test('A joined run shows its flows, and a flow the commit that it failed with first', async (t) => {
  const service = await startTestService(t);
  const result = { startedAt: null, durationMs: 1500, sessionId: null, mayPassAgain: false };
  const passed = { ...result, state: 'completed', failure: null };
  const failed = { ...result, state: 'failed', failure: { code: 'MATCH_FAILED', message: 'sold out' } };
  const ran = async (build: string, commit: string, branch: string, ...results: object[]) => {
    const labels = { commit, branch };
    const jobs = [{ name: 'shop/buy' }, { name: 'login' }].slice(0, results.length);
    const { id } = (await service.call('POST', '/api/batches/join', { build, hash: 'h', labels, jobs })).body;
    for (const one of results) {
      const { token } = (await service.call('POST', `/api/batches/${id}/claim`, { machine: 'ci-3' })).body;
      t.equal((await service.call('POST', `/api/batches/${id}/claims/${token}/result`, one)).status, 200);
    }
    return String(id);
  };
  await ran('1', 'good', 'main', passed);
  await ran('2', 'other', 'topic', passed);
  const run = await ran('3', 'bad', 'main', failed, passed);

  const { page, shows, problems } = await openReader(t);
  await page.goto(`${service.url}/#/runs/${run}`);
  await shows('run by the machines that joined build 3');
  const flows = page.getByRole('region', { name: 'Flows' });
  t.match(await flows.getByRole('listitem').allInnerTexts(), [
    /failed\s+shop\/buy\s+sold out\s+ci-3/,
    /completed\s+login/,
  ]);
  await flows.getByRole('link', { name: 'shop/buy' }).click();
  await page.getByLabel('Branch').selectOption('main');
  await page.getByText(/^It failed first with bad on main, .*; before that, it passed with good\.$/).waitFor();
  const rows = page.getByRole('table', { name: 'shop/buy, by commit, newest first' }).getByRole('row');
  t.match(await rows.allInnerTexts(), [/Commit/, /bad\s+main\s+failed\s+0\s+1/, /good\s+main\s+passed\s+1\s+0/]);
  t.same(problems, []);
});
