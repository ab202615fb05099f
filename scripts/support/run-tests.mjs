import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { compileTests } from './compile-tests.mjs';

const CACHE = resolve('node_modules/.cache/troupe');
/** The longest that a file may take, in seconds. */
const FILE_LIMIT_S = 300;
/** A file that does not end by itself when its time is up is killed so much later. */
const KILLED_AFTER_MS = 15_000;

/**
 * Runs test files, several at a time, and writes what they say as one TAP document, as tap's own runner does.
 * @param files paths from the root of the checkout, which is the current folder
 * @param onLine is called with each line; those of one file come together
 * @returns whether all of them passed
 */
export async function runTests(files, { jobs, refuseSkips, onLine }) {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(`${CACHE}/compiled-`);
  const compiled = await compileTests(files, folder);
  const waiting = [...compiled];
  let ended = 0;
  let passed = true;
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [name, file] = next;
      const startedAt = Date.now();
      const { ok, lines, why } = await runFile(file, refuseSkips);
      ended += 1;
      passed &&= ok;
      for (const line of lines) onLine(`    ${line}`);
      onLine(`${ok ? '' : 'not '}ok ${ended} - ${name} # time=${Date.now() - startedAt}ms`);
      if (!ok) for (const line of ['---', why, '...']) onLine(`  ${line}`);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  rmSync(folder, { recursive: true, force: true });
  return passed;
}

async function runFile(file, refuseSkips) {
  const child = spawn(process.execPath, ['--enable-source-maps', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TAP: '1', TAP_TIMEOUT: String(FILE_LIMIT_S), TAP_FAIL_SKIP: refuseSkips ? '1' : '0' },
  });
  const lines = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const late = setTimeout(() => child.kill('SIGKILL'), FILE_LIMIT_S * 1000 + KILLED_AFTER_MS);
  const [code, signal] = await once(child, 'close');
  clearTimeout(late);
  // A file that ends before it has said what it planned has not passed, whatever its exit code.
  const ok = code === 0 && lines.some((line) => /^1\.\.\d+/.test(line));
  return { ok, lines, why: signal === null ? `exit code: ${code}` : `signal: ${signal}` };
}
