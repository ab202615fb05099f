import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { type Answered, makeHome, startTestService } from '../support/service.js';

guardLeaks(t);

const MIB = 1024 * 1024;

/** A home on a disk of its own, which holds so many bytes; gone when the test is over. */
function mountHome(t: Test, bytes: number): string {
  const outer = makeHome(t);
  // A short path: browsers keep their files below it.
  const home = mkdtempSync(join(tmpdir(), 'd-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=755`, 'tmpfs', home]);
  t.teardown(() => {
    execFileSync('umount', ['--lazy', home]);
    rmSync(home, { recursive: true });
  });
  // With the link to where an embedded browser is unpacked: there is no room for it here.
  execFileSync('cp', ['-a', ...['flows', 'tmp', 'troupe.json'].map((name) => join(outer, name)), home]);
  return home;
}

/** Takes all room that is left. */
function fill(home: string): void {
  const file = openSync(join(home, 'filler'), 'a');
  try {
    for (let block = Buffer.alloc(MIB); block.length > 0; ) {
      try {
        writeSync(file, block);
      } catch {
        block = block.subarray(0, Math.floor(block.length / 2));
      }
    }
  } finally {
    closeSync(file);
  }
}

function canMount(): boolean {
  if (process.geteuid?.() !== 0) return false;
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const skip = canMount() ? false : 'mounting a small disk takes root';

t.test(
  'a full disk is said by every call that writes, and by health until there is room again',
  { skip },
  async (t) => {
    const home = mountHome(t, 96 * MIB);
    const service = await startTestService(t, {}, home);
    const { id } = await service.live();
    t.equal((await service.run(id, "File.write('before.js', '() => 1')")).status, 200);
    const health = () => service.call('GET', '/api/health');
    t.match(await health(), { status: 200, body: { status: 'ok', reason: undefined } });

    const isFull = ({ status, body, headers }: Answered, what: string) => {
      t.equal(status, 503, what);
      t.match(
        body,
        { code: 'UNAVAILABLE', error: /disk is full; free disk space .* or set a smaller `retention`/ },
        what,
      );
      t.ok(headers.has('retry-after'), what);
    };
    // The log of changes may have room left over from before.
    const text = 'x'.repeat(400_000);
    const job = { prompt: 'one', flowFiles: ['before.js'], maxIterations: 0, args: { text } };
    const refused = async (method: string, path: string, body: unknown): Promise<Answered> => {
      let answer: Answered;
      do {
        fill(home);
        answer = await service.call(method, path, body);
      } while (answer.status < 300);
      return answer;
    };
    const upload = `/api/sessions/${id}/files/big.bin`;
    isFull(await refused('PUT', upload, 'x'.repeat(MIB)), 'upload');
    t.same((await service.call('GET', `/api/sessions/${id}/files`)).body, [], 'no half of an upload is left');
    const flows = readdirSync(join(home, 'flows'));
    isFull(await service.run(id, `File.write('after.js', 'x'.repeat(${MIB}))`), 'a flow');
    t.same(readdirSync(join(home, 'flows')), flows, 'no half of a flow is left');
    const flowsOfBatch = { 'own.js': `/* ${'x'.repeat(500_000)} */ () => 1` };
    const batch = { jobs: [{ prompt: 'one', flowFiles: ['own.js'], maxIterations: 0 }], flows: flowsOfBatch };
    isFull(await refused('POST', '/api/batches', batch), 'batch');
    t.same(readdirSync(join(home, 'batches')), [], 'nothing of a batch is left');
    isFull(await refused('POST', '/api/jobs', job), 'job');
    const created = await refused('POST', '/api/sessions', { labels: { note: 'x' } });
    t.equal(created.status, 503, `create: ${JSON.stringify(created.body)}`);

    isFull(await health(), 'health');
    t.match((await health()).body, {
      details: { status: 'failing', reason: /disk is full/, capacity: { running: 1 } },
    });
    rmSync(join(home, 'filler'));
    let now = await health();
    while (now.status !== 200) now = await health();
    t.match(now.body, { status: 'ok', reason: undefined });
    t.equal((await service.call('PUT', upload, 'x'.repeat(MIB))).status, 201);
    t.equal((await service.call('POST', '/api/jobs', job)).status, 201);
  },
);
