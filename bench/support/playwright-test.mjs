// A suite of Playwright Test, run as its users run it: its own command, its own worker processes. It is installed on demand
// into the user's cache. Every test has a browser of its own, and does the steps of `steps.mjs` in it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cachedPackages } from '../../scripts/support/cached-packages.mjs';

const VERSION = '1.65.1';
const OUTPUT = 'outcome.json';

/**
 * `run(jobs)` runs the suite of so many tests, numbered on from the run before, and answers how many passed and in how
 * many seconds, from the start of the first test to the end of the last: the start of the command is not counted.
 *
 * @param options.flow `{ steps, answer, expected, args }`; a `$n` in an argument is the number of the test
 */
export function playwrightTest({ workers, executablePath, flow }) {
  const path = cachedPackages(`playwright-test-${VERSION}`, [`@playwright/test@${VERSION}`]);
  const folder = mkdtempSync(join(tmpdir(), 'pt-'));
  symlinkSync(path(), join(folder, 'node_modules'));
  const config = { testDir: '.', fullyParallel: true, workers, reporter: [['json', { outputFile: OUTPUT }]] };
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  writeFileSync(join(folder, 'playwright.config.js'), `export default ${JSON.stringify(config)};\n`);
  writeFileSync(join(folder, 'flow.spec.js'), specOf(executablePath, flow));
  let done = 0;
  return {
    name: `Playwright Test ${VERSION}`,
    async run(jobs) {
      const env = { ...process.env, FIRST: String(done), JOBS: String(jobs) };
      done += jobs;
      const command = [path('@playwright', 'test', 'cli.js'), 'test'];
      const child = spawn(process.execPath, command, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] });
      await once(child, 'close');
      return outcomeOf(JSON.parse(readFileSync(join(folder, OUTPUT), 'utf8')));
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function specOf(executablePath, flow) {
  return `import { chromium, expect, test } from '@playwright/test';
import { byPlaywright } from ${JSON.stringify(new URL('./steps.mjs', import.meta.url).href)};

const { steps, answer, expected, args } = ${JSON.stringify(flow)};
const first = Number(process.env.FIRST);
for (let n = first; n < first + Number(process.env.JOBS); n += 1) {
  const own = Object.fromEntries(Object.entries(args).map(([name, text]) => [name, text.replace('$n', String(n))]));
  test(\`order \${n}\`, async () => {
    const browser = await chromium.launch({ executablePath: ${JSON.stringify(executablePath)} });
    try {
      const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
      expect(await byPlaywright(page, steps, own, answer)).toBe(expected);
    } finally {
      await browser.close();
    }
  });
}
`;
}

function outcomeOf({ suites }) {
  const results = suites.flatMap(({ specs }) => specs.flatMap(({ tests }) => tests.flatMap(({ results }) => results)));
  const starts = results.map(({ startTime }) => Date.parse(startTime));
  const ends = results.map(({ startTime, duration }) => Date.parse(startTime) + duration);
  return {
    passed: results.filter(({ status }) => status === 'passed').length,
    seconds: (Math.max(...ends) - Math.min(...starts)) / 1_000,
  };
}
