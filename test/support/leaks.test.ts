import { execFile } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { guardLeaks } from './leaks.js';

guardLeaks(t);

/** Runs the specimen as tap runs a test file, and answers its exit code and what it printed. */
function run(...args: string[]): Promise<{ readonly code: unknown; readonly text: string }> {
  const specimen = join(import.meta.dirname, 'leaks-specimen.entry.ts');
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import=./scripts/test-loader.mjs', specimen, ...args],
      { timeout: 30_000 },
      (error, stdout, stderr) => {
        resolve({ code: error?.code ?? 0, text: stdout + stderr });
      },
    );
  });
}

t.test('A file that gives everything back passes the guard, also when giving back takes a moment', async (t) => {
  const { code, text } = await run();
  t.equal(code, 0, text);
});

t.test('A file that leaves something behind fails, ends by itself, and names everything that it left', async (t) => {
  const { code, text } = await run('leave');
  t.equal(code, 1, text);
  const named = [
    /worker thread \d+/,
    /server on port \d+/,
    /open file .*kept\.txt/,
    /1 Timeout more than before/,
    /process \d+: sleep 97/,
    /process \d+: .*--user-data-dir=\S+\/profile/,
    /tt-\w+\/kept\.txt/,
  ];
  for (const one of named) t.match(text, one);
});
