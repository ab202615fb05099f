import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { runMerge } from '#troupe/cli/merge/merge.js';
import { mergeParts } from '#troupe/cli/merge/merge-parts.js';
import { parseSuiteFile, renderSuiteFile, type SuitePart } from '#troupe/report/suite/suite-file.js';
import { FAILURE, flowResult, HOSTILE, sampleSuite } from '../report/suite/suite-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const names = [['login', 'shop/buy'], ['shop/pay'], []];
const part = (index: number, changes: Partial<SuitePart> = {}): SuitePart => ({
  index,
  count: 3,
  by: 'time',
  flows: 'aaaaaaaaaaaa',
  timings: 'bbbbbbbbbbbb',
  names,
  ...changes,
});
/** A report folder of a part with these flows. */
const folder = (dir: string, name: string, of: SuitePart | null, flows = names[(of?.index ?? 1) - 1] ?? []) => {
  const at = join(dir, name);
  mkdirSync(at, { recursive: true });
  const results = flows.map((flow) =>
    flow === 'shop/pay'
      ? flowResult(flow, {
          outcome: 'failed',
          failure: { ...FAILURE, message: HOSTILE },
          report: `${flow}/report.html`,
        })
      : flowResult(flow, { report: `${flow}/report.html` }),
  );
  writeFileSync(
    join(at, 'run.json'),
    renderSuiteFile(sampleSuite(results), of, (path) => path),
  );
  return at;
};

t.test('A run in its file is read as it was', async (t) => {
  const suite = sampleSuite();
  const read = parseSuiteFile(
    renderSuiteFile(suite, part(1), (path) => path),
    'x',
  );
  const { format, part: readPart, ...others } = read;
  t.equal(format, 1);
  t.same(readPart, part(1));
  t.same(others, suite);
  t.throws(() => parseSuiteFile('{"format": 2}', 'old/run.json'), {
    code: 'INVALID_REQUEST',
    message: /old\/run\.json/,
  });
  t.throws(() => parseSuiteFile('{"for', 'cut'), { code: 'INVALID_REQUEST' });
});

t.test('Parts become one index, JUnit and CTRF, with links to the reports where they are', async (t) => {
  const dir = t.testdir();
  const folders = [folder(dir, 'part 2', part(2)), folder(dir, 'part-1', part(1)), folder(dir, 'part-3', part(3))];
  const out = (name: string) => join(dir, 'all', name);
  const words = ['--html', out('html'), '--junit', out('j.xml'), '--ctrf', out('c.json'), '--timings', out('t.json')];
  t.equal(await runMerge([...folders, ...words]), 1, 'a flow failed');
  const html = readFileSync(out('html/index.html'), 'utf8');
  t.match(html, 'href="../../part-1/shop/buy/report.html"');
  t.match(html, 'href="../../part%202/shop/pay/report.html"');
  t.notMatch(html, '<img src=x');
  t.match(readFileSync(out('j.xml'), 'utf8'), /<testsuites[^>]* tests="3" failures="1"/);
  const { summary } = JSON.parse(readFileSync(out('c.json'), 'utf8')).results;
  t.match(summary, { tests: 3, passed: 2, failed: 1 });
  t.same(JSON.parse(readFileSync(out('t.json'), 'utf8')), { login: 1234.5, 'shop/buy': 1234.5 });
  t.equal(await runMerge([...folders.slice(1), '--html', out('some')]), 1, 'a part is missing');
  t.match(readFileSync(out('some/index.html'), 'utf8'), /shop\/<\/span><b>pay<\/b>/, 'its flows are there as not run');
});

t.test('Whole runs of different flows are merged; everything that passed is 0', async (t) => {
  const dir = t.testdir();
  const one = folder(dir, 'one', null, ['a']);
  const other = folder(dir, 'other', null, ['b']);
  t.equal(await runMerge([one, other, '--html', join(dir, 'all')]), 0);
  await t.rejects(runMerge([one, other, folder(dir, 'twin', null, ['b']), '--html', dir]), /both have the flow b/);
});

t.test('Parts that differ are refused by what differs', async (t) => {
  const dir = t.testdir();
  const one = folder(dir, 'one', part(1));
  const cases: [SuitePart | null, RegExp][] = [
    [part(2, { flows: 'cccccccccccc' }), /one and .*other are not parts of one run: their flows differ \(a+, c+\)/],
    [part(2, { timings: 'cccccccccccc' }), /their timings differ \(b+, c+\)/],
    [part(2, { count: 4 }), /one is of 3 parts, the other of 4/],
    [part(2, { names: [['login'], ['shop/buy', 'shop/pay'], []] }), /divided by different versions/],
    [part(1), /one and .*other are both part 1\/3/],
    [null, /one is a part of a run, the other a whole run/],
  ];
  for (const [differing, message] of cases) {
    const other = folder(dir, 'other', differing);
    await t.rejects(runMerge([one, other, '--html', join(dir, 'all')]), { name: 'UsageError', message });
  }
  await t.rejects(runMerge([join(dir, 'nowhere'), '--html', dir]), /There is no .*run\.json/);
  await t.rejects(runMerge([one]), /Missing option: --html/);
  await t.rejects(runMerge([]), /Missing argument: FOLDER/);
});

t.test('The setups of each part are in the merged run, by the number of their part', async (t) => {
  const suiteOf = (index: number) => {
    const flows = [flowResult('_setup'), ...(names[index - 1] ?? []).map((name) => flowResult(name))];
    return parseSuiteFile(
      renderSuiteFile(sampleSuite(flows), part(index), (path) => path),
      'x',
    );
  };
  const parts = [1, 2, 3].map((index) => ({ folder: `p${index}`, suite: suiteOf(index) }));
  const merged = mergeParts(parts, (at, path) => `${at}/${path}`).suite.flows.map(({ name }) => name);
  t.same(merged, ['_setup (part 1)', '_setup (part 2)', '_setup (part 3)', 'login', 'shop/buy', 'shop/pay']);
});

t.test('Repaired flows fail the merged run if asked to, unless they are quarantined', async (t) => {
  const dir = t.testdir();
  const merged = (name: string, quarantine: { until: string; ticket: string } | null, ...words: string[]) => {
    const at = join(dir, name);
    mkdirSync(at, { recursive: true });
    const repaired = flowResult('buy', { outcome: 'repaired', failure: FAILURE, quarantine });
    writeFileSync(
      join(at, 'run.json'),
      renderSuiteFile(sampleSuite([repaired]), null, (path) => path),
    );
    return runMerge([at, '--junit', join(dir, 'j.xml'), ...words]);
  };
  t.equal(await merged('a', null), 0);
  t.equal(await merged('b', null, '--fail-on-repaired'), 1);
  t.equal(await merged('c', { until: '2026-12-31', ticket: 'SHOP-7' }, '--fail-on-repaired'), 0);
});

t.test('Of failures that are equal one is told, and the others are named', async (t) => {
  const at = t.testdir();
  const failed = (name: string, message: string) =>
    flowResult(name, { outcome: 'failed', failure: { ...FAILURE, message } });
  const flows = [failed('a', 'no answer in 31 ms'), failed('b', 'another'), failed('c', 'no answer in 7 ms')];
  writeFileSync(
    join(at, 'run.json'),
    renderSuiteFile(sampleSuite(flows), null, (path) => path),
  );
  const { write } = process.stdout;
  let text = '';
  process.stdout.write = (chunk) => {
    text += String(chunk);
    return true;
  };
  const code = await runMerge([at, '--junit', join(at, 'j.xml')]).finally(() => {
    process.stdout.write = write;
  });
  t.equal(code, 1);
  t.match(text, /✗ a [^\n]*\n {4}[^\n]*no answer in 31 ms[^\n]*\n {4}and 1 more flow failed in the same way: c\n✗ b /);
  t.notMatch(text, 'no answer in 7 ms');
  t.match(readFileSync(join(at, 'j.xml'), 'utf8'), 'failures="3"', 'a collector has each');
});
