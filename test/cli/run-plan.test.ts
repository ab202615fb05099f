import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { againCommand } from '#troupe/cli/run/again-command.js';
import { failureOf, inCheckout, retriedAttempts } from '#troupe/cli/run/flow-failure.js';
import { readLastFailed, storeLastFailed } from '#troupe/cli/run/last-run.js';
import { describeSource } from '#troupe/cli/run/plan/flow-tags.js';
import { planRun } from '#troupe/cli/run/plan/plan-run.js';
import { readQuarantine } from '#troupe/cli/run/plan/quarantine.js';
import { historyOf } from '#troupe/cli/run/run-history.js';
import { readRunOptions } from '#troupe/cli/run/run-options.js';
import { SessionRecord } from '#troupe/protocol/session.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('Tags are words with an @ that end a line of the first comment', async (t) => {
  const cases: [string, string, string[], string][] = [
    ['a.js', '// Buys a book.\n// @smoke @checkout-1\n() => 1', ['@smoke', '@checkout-1'], 'Buys a book.'],
    ['a.js', '// Buys a book. @smoke\n() => 1', ['@smoke'], 'Buys a book.'],
    [
      'a.js',
      '/**\n * Buys.\n * @param {string} name\n * @smoke\n */\n() => 1',
      ['@smoke'],
      'Buys.\n@param {string} name',
    ],
    ['a.js', '// Mails ada@example.com\n() => 1', [], 'Mails ada@example.com'],
    ['a.js', '() => 1 // @smoke', [], ''],
    ['a.js', '// @smoke @smoke', ['@smoke'], ''],
    ['a.md', '<!-- @smoke -->\n# Buy a book', ['@smoke'], ''],
    ['a.md', '# Buy a book @smoke', [], ''],
  ];
  for (const [path, source, tags, text] of cases) t.same(describeSource(path, source), { text, tags }, source);
});

const NAMED = ['login.js', 'shop/buy.js', 'shop/task.md'];
const TEXTS = {
  'login.js': '// Logs in. @smoke',
  'shop/buy.js': '// @smoke-slow',
  'shop/task.md': '<!-- @slow -->\n# Buy it',
};
const plan = (words: string[], failed: ReadonlySet<string> | null = null) =>
  planRun(readRunOptions(['x', ...words]), { root: '/w/flows', named: NAMED, texts: TEXTS }, {}, failed);
const names = (...args: Parameters<typeof plan>) => plan(...args).map(({ name }) => name);

t.test('Flows are chosen by path and tag, and run as often as asked, in file order', async (t) => {
  t.same(names([]), ['login', 'shop/buy', 'shop/task']);
  t.same(names(['--grep', '^shop/']), ['shop/buy', 'shop/task']);
  t.same(names(['--grep', '@smoke']), ['login'], 'a tag alone is that tag, not each one that begins with it');
  t.same(names(['--grep', '@smoke.*']), ['login', 'shop/buy']);
  t.same(names(['--grep', '@slow|login']), ['login', 'shop/task']);
  t.same(names(['--grep', 'nothing']), []);
  t.same(names([], new Set(['shop/buy', 'gone'])), ['shop/buy']);
  t.same(names(['--repeat-each', '2', '--grep', 'buy']), ['shop/buy', 'shop/buy (2)']);
  const twins = { root: '/w/flows', named: ['buy.js', 'buy.md'], texts: {} };
  t.same(
    planRun(readRunOptions(['x', '--repeat-each', '2']), twins, {}, null).map(({ name }) => name),
    ['buy', 'buy (2)', 'buy (3)', 'buy (4)'],
  );
  t.match(plan(['--act-timeout', '2.5', '--timeout', '60', '--har-bodies']), [
    {
      request: { name: 'login', prompt: 'Logs in.', maxIterations: 0, actTimeout: 2.5, hardTimeout: 60, har: 'bodies' },
    },
    { request: { prompt: 'shop/buy' } },
    { request: { prompt: 'Buy it' } },
  ]);
});

t.test('--data runs each flow once for each row, whose columns win over --args', (t) => {
  const files = { root: '/w/flows', named: ['buy.ts'], texts: { 'buy.ts': '// Buys. @smoke' } };
  const rows = [{ item: 'tea' }, { item: 'jam', count: 2 }];
  const options = readRunOptions(['x', '--data', 'rows.csv', '--args', 'item=none', '--args', 'base=/']);
  const jobs = planRun(options, files, {}, null, rows);
  t.match(jobs, [
    { name: 'buy', tags: ['@smoke'], request: { flowFiles: ['buy.ts'], args: { item: 'tea', base: '/' } } },
    { name: 'buy (2)', request: { name: 'buy (2)', args: { item: 'jam', base: '/', count: 2 } } },
  ]);
  t.match(againCommand(options, 'flows/buy.ts', true), '--data rows.csv');
  t.end();
});

t.test('A quarantine counts through its last day, and says what is over or wrong', async (t) => {
  const folder = (text: string) => {
    const root = t.testdir({ 'quarantine.json': text });
    return (today: string) => readQuarantine(root, (path) => path !== 'gone', new Date(`${today}T23:59:59Z`));
  };
  const read = folder(
    JSON.stringify([
      { flow: 'shop/buy.js', until: '2026-03-31', ticket: 'A-1' },
      { flow: 'gone', until: '2026-03-31', ticket: 'A-2' },
    ]),
  );
  t.same([...(await read('2026-03-31')).entries.keys()], ['shop/buy']);
  t.same((await read('2026-03-31')).notes, ["quarantine.json names 'gone', but the flows folder has no such flow"]);
  const over = await read('2026-04-01');
  t.equal(over.entries.size, 0);
  t.match(over.notes[0], /The quarantine of shop\/buy ended on 2026-03-31 \(A-1\): its failures count again/);
  t.same(await readQuarantine(t.testdir({}), () => true, new Date()), { entries: new Map(), notes: [] });
  const entry = { flow: 'a', until: '2026-03-31', ticket: 'A-1' };
  const wrong: [unknown, RegExp][] = [
    ['{', /JSON/],
    [{}, /array/],
    [[{ ...entry, until: 'soon' }], /until/],
    [[{ ...entry, until: '2026-02-30' }], /until/],
    [[{ flow: 'a', until: '2026-03-31' }], /ticket/],
    [[{ ...entry, reason: 'x' }], /reason/],
    [[entry, { ...entry, flow: 'a.js' }], /'a' has two entries/],
  ];
  for (const [content, message] of wrong) {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    await t.rejects(folder(text)('2026-01-01'), { code: 'INVALID_REQUEST', message }, text);
    await t.rejects(folder(text)('2026-01-01'), { message: /quarantine\.json is not valid/ });
  }
});

t.test('The failures of the last run are known for the flows folder', async (t) => {
  const before = process.env.XDG_CACHE_HOME;
  process.env.XDG_CACHE_HOME = t.testdir({});
  t.teardown(() => {
    if (before === undefined) delete process.env.XDG_CACHE_HOME;
    else process.env.XDG_CACHE_HOME = before;
  });
  t.equal(await readLastFailed('/w/flows'), null);
  await storeLastFailed('/w/flows', ['shop/buy']);
  await storeLastFailed('/w/other', []);
  t.same(await readLastFailed('/w/flows'), new Set(['shop/buy']));
  t.same(await readLastFailed('/w/other'), new Set());
  const folder = join(process.env.XDG_CACHE_HOME, 'troupe', 'last-run');
  mkdirSync(folder, { recursive: true });
  await storeLastFailed('/w/cut', ['a']);
  const { readdirSync } = await import('node:fs');
  for (const name of readdirSync(folder)) writeFileSync(join(folder, name), '{"failed":');
  t.equal(await readLastFailed('/w/cut'), null, 'a file that was cut off is none');
});

t.test('The command that runs a flow again has what the flow needs', async (t) => {
  process.env.RUN_AGAIN_SECRET = 'lovelace';
  t.teardown(() => delete process.env.RUN_AGAIN_SECRET);
  const words = ['--args', 'base=http://127.0.0.1:1/a b', '--args', 'n:=1', '--secret', 'RUN_AGAIN_SECRET'];
  const options = readRunOptions(['x.js', ...words, '--own', '--junit', 'j.xml', '--retries', '2', '--shard', '1/2']);
  t.equal(
    againCommand(options, 'flows/a b.js', false),
    "troupe run 'flows/a b.js' --args 'base=http://127.0.0.1:1/a b' --args n:=1 --secret RUN_AGAIN_SECRET --own",
  );
  t.equal(
    againCommand(options, "flows/it's.js", true),
    "troupe run 'flows/it'\\''s.js' --args base=… --args n:=… --secret RUN_AGAIN_SECRET",
    'in CI without values, which its log would show',
  );
  const whole = [
    ...['--flows', 'flows', '--data', 'rows.csv', '--state', 'shop', '--timeout', '60', '--act-timeout', '2.5'],
    ...['--har-bodies', '--screenshots', 'failures'],
  ];
  const here = [
    ...['--url', 'http://127.0.0.1:4444', '--forward', '3000,4500', '--trace', 'on', '--video', 'on-failure'],
    ...['--report', 'out/reports', '--html', 'out/html'],
  ];
  const aside = ['--grep', '@smoke', '--parallel', '4', '--ctrf', 'c.json', '--label', 'a=b', '--max-failures', '1'];
  const all = readRunOptions(['flows/a.js', ...whole, ...here, ...aside]);
  const again = againCommand(all, 'flows/a.js', false);
  t.equal(again, ['troupe run flows/a.js', ...whole, ...here].join(' '));
  const given = ({ words, grep, parallel, ctrf, labels, maxFailures, ...rest }: typeof all) => rest;
  t.same(given(readRunOptions(again.split(' ').slice(2))), given(all), 'it means what the run meant');
  t.equal(againCommand(all, 'flows/a.js', true), ['troupe run flows/a.js', ...whole].join(' '));
});

t.test('A failure is new if the flow passed the last time, else it has failed since a commit', async (t) => {
  const job = (name: string, commit: string | undefined, status: 'completed' | 'failed' | 'stopped') => ({
    name,
    status,
    labels: commit === undefined ? {} : { commit },
  });
  const history = historyOf(
    [
      job('a', undefined, 'failed'),
      job('b', 'c4', 'failed'),
      job('a', 'c3', 'completed'),
      job('b', 'c3', 'failed'),
      job('c', 'c3', 'failed'),
      job('b', 'c2', 'stopped'),
      job('b', 'c1', 'completed'),
    ],
    ['a', 'b', 'c', 'd'],
  );
  t.same(Object.fromEntries(history), {
    a: { isNew: true, commit: 'c3' },
    b: { isNew: false, commit: 'c3' },
    c: { isNew: false, commit: 'c3' },
  });
});

t.test('A failure is read from the report, and without one from the record', async (t) => {
  const at = '2026-01-02T03:04:05.000Z';
  const links = { self: '', proxy: '', prompt: '', download: '', events: '', view: '' };
  const cause = { code: 'MATCH_FAILED', error: 'differs', details: { line: 3, column: 5, flow: 'lib/add' } };
  const record = SessionRecord.parse({
    id: 'abcdefghijkl',
    sessionId: 'abcdefghijkl',
    mode: 'auto',
    name: 'a',
    labels: {},
    batch: null,
    status: 'failed',
    state: 'failed',
    prompt: null,
    flowFiles: [],
    model: null,
    maxIterations: 0,
    iterations: 0,
    attempt: 1,
    queuePosition: null,
    createdAt: at,
    startedAt: at,
    endedAt: at,
    lastActivityAt: at,
    endReason: 'finished',
    summary: null,
    error: { code: 'FLOW_FAILED', error: 'a:3: differs', details: { flow: 'a', cause } },
    tokens: { input: 0, cached: 0, output: 0 },
    driver: 'process',
    links,
  });
  const failure = failureOf(record, null);
  t.same(failure, { code: 'MATCH_FAILED', message: 'differs', flow: 'lib/add', line: 3, column: 5 });
  t.equal(inCheckout(failure, '/w/web/flows', '/w').file, 'web/flows/lib/add.js');
  t.equal(inCheckout(failure, null, '/w').file, undefined);
  t.match(failureOf({ ...record, error: null, summary: 'The model gave up' }, null), { message: 'The model gave up' });
  t.same(retriedAttempts(null), []);
});
