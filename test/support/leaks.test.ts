import { execFile } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { stretched } from '#troupe/base/deadline.js';
import { guardLeaks } from './leaks.js';
import { processes } from './processes.js';

guardLeaks(t);

/** Runs the specimen as tap runs a test file, and answers its exit code and what it printed. */
function run(env: NodeJS.ProcessEnv, ...args: string[]): Promise<{ readonly code: unknown; readonly text: string }> {
  const specimen = join(import.meta.dirname, 'leaks-specimen.entry.ts');
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import=./scripts/test-loader.mjs', specimen, ...args],
      { timeout: stretched(60_000), env: { ...process.env, ...env } },
      (error, stdout, stderr) => {
        resolve({ code: error?.code ?? 0, text: stdout + stderr });
      },
    );
  });
}

t.test('A file that gives everything back passes the guard, also when giving back takes a moment', async (t) => {
  const { code, text } = await run({});
  t.equal(code, 0, text);
});

const NAMED = [
  /worker thread \d+/,
  /server on port \d+/,
  /open file .*kept\.txt/,
  /1 Timeout more than before/,
  /process \d+: sleep 97/,
  /process \d+: .*--user-data-dir=\S+\/profile/,
  /tt-\w+\/kept\.txt/,
];

t.test('A file that leaves something behind fails, ends by itself, and names everything that it left', async (t) => {
  const { code, text } = await run({ TROUPE_LEAKS: '' }, 'leave');
  t.equal(code, 1, text);
  for (const one of NAMED) t.match(text, one);
  t.same(leftOf(text), []);
});

t.test('Where leaks are only reported, it passes, and says and ends the same', async (t) => {
  const { code, text } = await run({ TROUPE_LEAKS: 'report' }, 'leave');
  t.equal(code, 0, text);
  for (const one of NAMED) t.match(text, new RegExp(`^ *# LEAK .*${one.source}`, 'm'));
  t.notMatch(text, /not ok/);
  t.same(leftOf(text), []);
});

/** The processes that the text names and that still run. */
function leftOf(text: string): string[] {
  const running = new Set(processes().map(({ pid }) => String(pid)));
  return [...text.matchAll(/process (\d+): /g)].flatMap(([, pid = '']) => (running.has(pid) ? [pid] : []));
}
