import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t, { type Test } from 'tap';
import { describeUnsteady, runSuite } from '../../scripts/support/run-suite.mjs';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const PASSES = `t.test('x', (t) => { t.pass('good'); t.end(); });`;
const FAILS = `t.test('x', (t) => { t.equal(1, 2, 'the same'); t.end(); });`;
const SKIPS = `t.test('x', { skip: 'not here' }, () => undefined);`;
/** What a file does in its first run, and what in its second. */
const first = (once: string, then: string) =>
  `if (existsSync(marker)) { ${then} } else { writeFileSync(marker, ''); ${once} }`;

/** Makes a test file of each source, and runs stages of them. */
function workshop(t: Test, sources: { readonly [name: string]: string }) {
  mkdirSync('node_modules/.cache', { recursive: true });
  const folder = mkdtempSync(join('node_modules', '.cache', 'run-suite-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const [name, source] of Object.entries(sources)) {
    // A file runs where it stands, and its types are removed.
    const text = `import t from 'tap';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
const marker: string = join(import.meta.dirname, '${name}.ran');
${source}`;
    writeFileSync(join(folder, `${name}.test.ts`), text);
  }
  const stage = (name: string, files: readonly string[], rules: { endsRun?: boolean; secondTry?: boolean } = {}) => {
    const steps = files.map((file) => ({ file: join(folder, `${file}.test.ts`), env: {} }));
    return { name, steps, atOnce: 3, secondTry: true, ...rules };
  };
  const run = async (stages: readonly ReturnType<typeof stage>[], refuseSkips = false) => {
    const printed: string[] = [];
    const result = await runSuite(stages, { refuseSkips, print: (line) => printed.push(line) });
    const names = (list: typeof result.failures) => list.map(({ step }) => basename(step.file, '.test.ts')).sort();
    return { ...result, failed: names(result.failures), unsteady: names(result.unsteady), result, printed };
  };
  return { stage, run, ran: (name: string) => existsSync(join(folder, `${name}.ran`)) };
}

t.test('Every way in which a file fails, fails the run; a skip does where skips are refused', async (t) => {
  const { stage, run } = workshop(t, {
    passes: PASSES,
    fails: FAILS,
    'ends with 1': `t.pass('good'); process.exitCode = 1;`,
    'ends early': `t.plan(2); t.pass('one'); process.exit(0);`,
    'says nothing': 'process.exit(0);',
    skips: SKIPS,
    'plans nothing': `t.plan(0, 'not here');`,
  });
  const names = ['passes', 'fails', 'ends with 1', 'ends early', 'says nothing', 'skips', 'plans nothing'];
  const { failed, printed, skipped } = await run([stage('files', names, { secondTry: false })]);
  t.same(failed, ['ends early', 'ends with 1', 'fails', 'says nothing']);
  t.match(printed.join('\n'), /not ok 1 - the same/);
  t.match(printed.join('\n'), /SKIP not here/);
  t.ok(skipped > 0);
  const refused = await run([stage('files', names, { secondTry: false })], true);
  t.same(refused.failed, ['ends early', 'ends with 1', 'fails', 'plans nothing', 'says nothing', 'skips']);
});

t.test('A file that always fails is red; one that fails once is green and named', async (t) => {
  const { stage, run } = workshop(t, { fails: FAILS, wavers: first(FAILS, PASSES), passes: PASSES });
  const wavering = await run([stage('files', ['wavers', 'passes'])]);
  t.same(wavering.failed, []);
  t.same(wavering.unsteady, ['wavers']);
  t.equal(wavering.result.failed, 0, 'its first try does not count');
  const [, line = ''] = describeUnsteady(wavering.result.unsteady, 'abc');
  t.match(line, /wavers\.test\.ts","test":"x","failure":"the same","commit":"abc"} at load \d/);
  const failing = await run([stage('files', ['fails', 'passes'])]);
  t.same(failing.failed, ['fails']);
  t.same(failing.unsteady, []);
});

t.test('Four files that fail once are red, and none is tried again', async (t) => {
  const names = ['a', 'b', 'c', 'd'];
  const { stage, run } = workshop(t, Object.fromEntries(names.map((name) => [name, first(FAILS, PASSES)])));
  const { failed, unsteady } = await run([stage('one', ['a', 'b']), stage('two', ['c', 'd'])]);
  t.same(failed, names);
  t.same(unsteady, []);
});

t.test('A red file of a stage that ends the run, ends it before the next stage', async (t) => {
  const { stage, run, ran } = workshop(t, { wavers: first(FAILS, PASSES), next: first(PASSES, PASSES) });
  const pure = stage('pure', ['wavers'], { endsRun: true, secondTry: false });
  const { failed } = await run([pure, stage('browsers', ['next'])]);
  t.same(failed, ['wavers']);
  t.notOk(ran('next'));
});

t.test('A second try that skips, prints no plan or fails is red', async (t) => {
  const { stage, run } = workshop(t, {
    skips: first(FAILS, SKIPS),
    'ends early': first(FAILS, 'process.exit(0);'),
  });
  const { failed, unsteady } = await run([stage('files', ['skips', 'ends early'])]);
  t.same(failed, ['ends early', 'skips']);
  t.same(unsteady, []);
});

t.test('Where no second try is allowed, a file that fails once is red', async (t) => {
  const { stage, run } = workshop(t, { wavers: first(FAILS, PASSES) });
  t.same((await run([stage('kills', ['wavers'], { secondTry: false })])).failed, ['wavers']);
});
