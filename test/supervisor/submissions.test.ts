import { join } from 'node:path';
import t, { type Test } from 'tap';
import { RequestVault } from '#troupe/auth/request-vault.js';
import { Journal } from '#troupe/journal/journal.js';
import { Submissions } from '#troupe/supervisor/jobs/submissions.js';
import { guardLeaks } from '../support/leaks.js';
import { journalPlace } from '../support/test-store.js';

guardLeaks(t);

const REQUEST = { mode: 'live' };
const read = async (id: string) => `read ${id}`;

async function open(t: Test) {
  const dir = t.testdir({});
  const journal = await Journal.open(await journalPlace(t, join(dir, 'journal.sqlite')));
  t.teardown(() => journal.close());
  const vault = await RequestVault.open(join(dir, 'troupe.key'));
  return { journal, restarted: () => new Submissions(journal, vault) };
}

t.test('A key makes one session, for those who ask meanwhile, afterwards, and after a restart', async (t) => {
  const { journal, restarted } = await open(t);
  let made = 0;
  const submissions = restarted();
  const submit = (to: Submissions) =>
    to.once(
      'key',
      REQUEST,
      async (submission) => {
        made += 1;
        await journal.write({ submissions: [{ ...submission, sessionId: 's_1' }] });
        return 'made s_1';
      },
      read,
    );
  t.same(await Promise.all([submit(submissions), submit(submissions)]), ['made s_1', 'made s_1']);
  t.equal(await submit(submissions), 'read s_1');
  t.equal(await submit(restarted()), 'read s_1');
  t.equal(made, 1);
});

t.test('A key is refused for another request, also while the first is being made', async (t) => {
  const { restarted } = await open(t);
  const submissions = restarted();
  const first = submissions.once('key', REQUEST, async () => 'made', read);
  const again = async () => submissions.once('key', { mode: 'auto' }, async () => 'other', read);
  await t.rejects(again(), { code: 'INVALID_REQUEST', details: { issues: [{ path: 'Idempotency-Key' }] } });
  t.equal(await first, 'made');
});

t.test('A key is free again when what it was for failed', async (t) => {
  const { restarted } = await open(t);
  const submissions = restarted();
  const failing = async (): Promise<string> => {
    throw new Error('no');
  };
  await t.rejects(submissions.once('key', REQUEST, failing, read), { message: 'no' });
  t.equal(await submissions.once('key', REQUEST, async () => 'made', read), 'made');
});
