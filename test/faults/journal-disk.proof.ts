import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { Journal } from '#troupe/journal/journal.js';
import { guardLeaks } from '../support/leaks.js';
import { skipWithout } from '../support/programs.js';
import { REMEDY } from './fault-scenario.js';

guardLeaks(t);

const CALLS: { readonly [call: string]: readonly ('ENOSPC' | 'EIO' | 'EMFILE')[] } = {
  open: ['EMFILE', 'EIO'],
  truncate: ['EIO'],
  sync: ['EIO'],
  write: ['ENOSPC', 'EIO'],
};
/** So many calls from the first on, then every so many. */
const EACH_OF = 12;
const STRIDE = 150;

const skip = skipWithout('cc');

t.test('a journal keeps what it took, and nothing else, whatever call of its disk fails once', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'journal-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const library = join(folder, 'failing-disk.so');
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, 'test/faults/failing-disk.c', '-ldl']);
  for (const [call, codes] of Object.entries(CALLS)) {
    for (const code of codes) {
      for (let nth = 1; ; nth += nth < EACH_OF ? 1 : STRIDE) {
        const file = join(folder, `${call}-${code}-${nth}.db`);
        const { struck, lines } = await written(library, file, { call, code, nth });
        if (!struck) break;
        t.same(await broken(file, lines), [], `${call} #${nth} ${code}`);
      }
    }
  }
});

interface Line {
  readonly id?: string | null;
  readonly error?: { readonly code: string; readonly message: string } | null;
}

/** What a writer was told while a call of its disk failed. */
async function written(
  library: string,
  file: string,
  { call, code, nth }: { readonly call: string; readonly code: 'ENOSPC' | 'EIO' | 'EMFILE'; readonly nth: number },
): Promise<{ readonly struck: boolean; readonly lines: readonly Line[] }> {
  const fault = { FAULT_CALL: call, FAULT_NTH: String(nth), FAULT_FILE: file };
  const env = { ...process.env, NODE_OPTIONS: '', LD_PRELOAD: library, ...fault };
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['test/faults/journal-writer.entry.mjs', file],
    { env: { ...env, FAULT_ERRNO: String(constants.errno[code]) } },
  );
  const lines = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Line => JSON.parse(line));
  return { struck: stderr.includes('struck'), lines };
}

/** What does not hold, by the journal as it is opened next. */
async function broken(file: string, lines: readonly Line[]): Promise<readonly string[]> {
  const journal = await Journal.open({ file });
  const kept = new Set((await journal.keyValues('batch')).map(({ id }) => id));
  await journal.close();
  const told = lines.flatMap(({ id, error }) => (id === undefined ? [] : [{ id, error }]));
  return told.flatMap(({ id, error }) => {
    const said = JSON.stringify(error);
    if (error === null || error === undefined) return kept.has(id ?? '') ? [] : [`${id} was taken and is not there`];
    const understood = error.code === 'UNAVAILABLE' && REMEDY.test(error.message);
    return [
      ...(understood ? [] : [`${id} was refused with ${said}`]),
      ...(id !== null && kept.has(id) ? [`${id} is there and was refused with ${said}`] : []),
    ];
  });
}
