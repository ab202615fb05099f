import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { readPosix } from '#request-client/curl/import/shells/read-posix.js';
import { toBytes } from '#request-client/curl/import/source-text.js';
import { guardLeaks } from '../../../../test/support/leaks.js';
import { skipWithout } from '../../../../test/support/programs.js';
import { SEED } from '../../../../test/support/seed.js';
import { browserForms } from './browser-forms.js';
import { generatedCommand } from './generated-commands.js';
import { onePoint } from './one-point.js';
import { quotedCommands } from './posix-commands.js';

guardLeaks(t);

/** The arguments that bash passes to curl, captured by a function of that name; one character per byte. */
async function wordsByBash(commands: readonly string[]): Promise<string[][]> {
  const script = `curl() { printf '%s\\0' "$@" $'\\1'; }\n${commands.join('\n')}`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script], {
    encoding: 'latin1',
    env: { LC_ALL: 'C.UTF-8' },
    maxBuffer: 64 * 1024 * 1024,
    timeout: 60_000,
  });
  return stdout
    .split('\u0001\0')
    .slice(0, -1)
    .map((words) => words.split('\0').slice(0, -1));
}

function wordsByUs(command: string): (readonly string[])[] {
  return readPosix(toBytes(command)).commands.map(({ words }) => words.slice(1).map(({ text }) => text));
}

for (const [name, commands] of Object.entries({
  'what browsers copy': browserForms.filter(({ form }) => form.endsWith('-posix')).map(({ text }) => onePoint(text)),
  'texts in every way of quoting': quotedCommands(),
  'generated commands': fc.sample(generatedCommand, { numRuns: 400, seed: SEED }),
})) {
  t.test(`bash gives the same words: ${name}`, { skip: skipWithout('bash') }, async (t) => {
    const byBash = await wordsByBash(commands);
    t.equal(byBash.length, commands.length);
    const differing = commands.flatMap((command, index) => {
      const [bash, us] = [[byBash[index]], wordsByUs(command)];
      return JSON.stringify(bash) === JSON.stringify(us) ? [] : [{ command, bash, us }];
    });
    t.strictSame(differing.slice(0, 5), []);
  });
}
