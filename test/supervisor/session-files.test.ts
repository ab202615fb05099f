import { closeSync, ftruncateSync, openSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { listFiles, storeUpload } from '#troupe/supervisor/artifacts/session-files.js';
import { MAX_SESSION_UPLOAD_BYTES, MAX_UPLOADS } from '#troupe/supervisor/artifacts/upload-quota.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

/** A folder with one sparse file that leaves so many bytes of what a session may have. */
function almostFull(t: Test, left: number): string {
  const dir = t.testdir({});
  const large = openSync(join(dir, 'large'), 'w');
  ftruncateSync(large, MAX_SESSION_UPLOAD_BYTES - left);
  closeSync(large);
  return dir;
}

t.test('the uploads of a session are bounded in bytes and in number, and a replaced one counts once', async (t) => {
  const dir = almostFull(t, 2);
  await storeUpload(dir, 'two', Readable.from(['12']));
  await storeUpload(dir, 'two', Readable.from(['21']));
  await t.rejects(storeUpload(dir, 'more', Readable.from(['1'])), { code: 'BODY_TOO_LARGE', details: { files: 3 } });
  await storeUpload(dir, 'large', Readable.from(['small now']));
  t.match(await listFiles({ downloadsDir: dir, uploadsDir: null }), [{ name: 'large', bytes: 9 }, { name: 'two' }]);
  for (let n = 2; n < MAX_UPLOADS; n += 1) writeFileSync(join(dir, `file ${n}`), '');
  await t.rejects(storeUpload(dir, 'one more', Readable.from(['1'])), { code: 'BODY_TOO_LARGE' });
});

t.test('uploads that arrive at once are refused where they would be together, not when they are whole', async (t) => {
  const dir = almostFull(t, 4_000_000);
  const bodies = Array.from({ length: 40 }, () => new PassThrough());
  const stored = bodies.map((body, n) => storeUpload(dir, `file ${n}`, body).catch((error: unknown) => error));
  const onDisk = () => readdirSync(dir).filter((name) => name !== 'large');
  let most = 0;
  // None of them ends before all have sent what would be 8 MB together.
  for (let n = 0; n < 4; n += 1) {
    for (const body of bodies) {
      if (!body.destroyed) body.write(Buffer.alloc(50_000));
    }
    await new Promise(setImmediate);
    most = Math.max(
      most,
      onDisk().reduce((sum, name) => sum + statSync(join(dir, name)).size, 0),
    );
  }
  const refused = await Promise.race(stored);
  t.match(refused, { code: 'BODY_TOO_LARGE' });
  for (const body of bodies) if (!body.destroyed) body.end();
  const ends = await Promise.all(stored);
  const kept = ends.filter((end) => !(end instanceof Error));
  t.ok(kept.length >= 19 && kept.length < 40, `${kept.length} of 40 found room`);
  t.ok(most <= 4_000_000, `${most} bytes were on disk`);
  t.equal(onDisk().length, kept.length, 'nothing is left of the others');
});

t.test('uploads under way count among the files of a session', async (t) => {
  const dir = t.testdir({});
  for (let n = 0; n < MAX_UPLOADS - 2; n += 1) writeFileSync(join(dir, `file ${n}`), '');
  const bodies = [new PassThrough(), new PassThrough(), new PassThrough()];
  const stored = bodies.map((body, n) => storeUpload(dir, `more ${n}`, body));
  await t.rejects(Promise.race(stored), { code: 'BODY_TOO_LARGE' });
  for (const body of bodies) body.end('x');
  const ends = await Promise.allSettled(stored);
  t.equal(ends.filter(({ status }) => status === 'fulfilled').length, 2);
});

t.test('an upload that failed gives its room back', async (t) => {
  const dir = almostFull(t, 100);
  for (let n = 0; n < 3; n += 1) {
    const broken = new PassThrough();
    const stored = storeUpload(dir, 'broken', broken);
    broken.write(Buffer.alloc(90));
    while (readdirSync(dir).length < 2) await new Promise(setImmediate);
    broken.destroy(new Error('the client went'));
    await t.rejects(stored, { message: 'the client went' });
  }
  t.match(await storeUpload(dir, 'whole', Readable.from([Buffer.alloc(100)])), { bytes: 100 });
});
