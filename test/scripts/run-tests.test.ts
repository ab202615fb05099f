import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import t from 'tap';
import { runTests } from '../../scripts/support/run-tests.mjs';
import { TapReader } from '../../scripts/support/tap-reader.mjs';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const FILES = {
  passes: `t.test('x', (t) => { t.pass('good'); t.end(); });`,
  fails: `t.test('x', (t) => { t.equal(1, 2, 'the same'); t.end(); });`,
  'ends with 1': `t.pass('good'); process.exitCode = 1;`,
  'ends early': `t.plan(2); t.pass('one'); process.exit(0);`,
  'says nothing': 'process.exit(0);',
  skips: `t.test('x', { skip: 'not here' }, () => undefined);`,
};

t.test(
  'Every way in which a test file fails fails the run, and a skipped test does where skips are refused',
  async (t) => {
    const folder = mkdtempSync(join('node_modules', '.cache', 'run-tests-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    const files = Object.entries(FILES).map(([name, source]) => {
      const file = join(folder, `${name}.test.ts`);
      writeFileSync(
        file,
        `import t from 'tap';\nconst text: string = 'import.meta.url';\n${source}\nif (text.length !== 15 || !import.meta.url.includes('run-tests-')) throw new Error(text);\n`,
      );
      return relative('.', file);
    });
    const run = async (refuseSkips: boolean) => {
      const said: string[] = [];
      const reader = new TapReader((line) => said.push(line));
      const passed = await runTests(files, { jobs: 3, refuseSkips, onLine: (line) => reader.read(line) });
      const failed = reader.failedFiles.map((file) => /([^/]+)\.test\.ts$/.exec(file)?.[1]).sort();
      return { passed, failed, text: said.join('\n') };
    };
    const { passed, failed, text } = await run(false);
    t.equal(passed, false);
    t.same(failed, ['ends early', 'ends with 1', 'fails', 'says nothing']);
    t.match(text, /the same/);
    t.match(text, /SKIP not here/);
    t.same((await run(true)).failed, ['ends early', 'ends with 1', 'fails', 'says nothing', 'skips']);
  },
);
