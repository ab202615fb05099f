import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { S3Store } from '#troupe/artifact-store/s3-store.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { startSwift, swiftMissing } from '../support/swift/swift.js';

guardLeaks(t);

const MEGABYTE = 1024 * 1024;
const never = new AbortController().signal;

function contentOf(...chunks: readonly Buffer[]): Readable {
  return Readable.from(chunks, { objectMode: false });
}

t.test('A bucket of a server that checks signatures', { skip: swiftMissing() }, async (t) => {
  const swift = await startSwift(t);
  const store = new S3Store(swift.setting());
  const put = (path: string, content: Buffer, session = 'one') =>
    store.put({ session, path }, contentOf(content), { bytes: content.byteLength, signal: never });

  await t.test('Artifacts are there as they were put, by any name that a page can choose', async (t) => {
    await store.check();
    t.same(await swift.keys(), [], 'the check left nothing');
    const names = ['report.html', "downloads/a +%&=;ä日'()!*.txt", 'downloads/empty'];
    for (const name of names) await put(name, Buffer.from(name === 'downloads/empty' ? '' : name));
    await put('report.html', Buffer.from('of another session'), 'two');
    const listed = await store.list('one');
    t.same(listed.map(({ path }) => path).sort(), [...names].sort());
    for (const { path, bytes } of listed) {
      const opened = await store.open({ session: 'one', path });
      t.equal(opened?.bytes, bytes);
      t.equal((await buffer(opened?.open() ?? contentOf())).toString(), path === 'downloads/empty' ? '' : path);
    }
    t.equal(await store.open({ session: 'one', path: 'nothing' }), null);
    t.equal(await store.open({ session: 'one', path: '../two/report.html' }), null);
    await store.remove('one');
    t.same(await swift.keys(), ['troupe/two/report.html']);
    await store.remove('two');
  });

  await t.test('A large artifact goes in parts, and any range of it comes back', async (t) => {
    const video = Buffer.from(Uint32Array.from({ length: 5 * MEGABYTE }, (_, index) => index).buffer);
    await put('video.mp4', video);
    const opened = await store.open({ session: 'one', path: 'video.mp4' });
    t.equal(opened?.bytes, 20 * MEGABYTE);
    for (const [start, end] of [
      [0, 0],
      [8 * MEGABYTE - 3, 8 * MEGABYTE + 4],
      [20 * MEGABYTE - 5, 20 * MEGABYTE - 1],
    ] as const) {
      const read = await buffer(opened?.open({ start, end }) ?? contentOf());
      t.ok(read.equals(video.subarray(start, end + 1)), `${start} to ${end}`);
    }
    t.ok((await buffer(opened?.open() ?? contentOf())).equals(video));
    t.same(await swift.unfinished(), []);
  });

  await t.test('A file that shrinks or grows while it is read is not stored, and leaves nothing', async (t) => {
    const half = contentOf(Buffer.alloc(9 * MEGABYTE));
    await t.rejects(
      store.put({ session: 'one', path: 'half' }, half, { bytes: 10 * MEGABYTE, signal: never }),
      /not the 10485760 bytes/,
    );
    await t.rejects(
      store.put({ session: 'one', path: 'more' }, contentOf(Buffer.alloc(9)), { bytes: 3, signal: never }),
      /not the 3 bytes/,
    );
    t.same(
      (await store.list('one')).map(({ path }) => path),
      ['video.mp4'],
    );
    t.same(await swift.unfinished(), []);
  });

  await t.test('What an interrupted upload left is removed by the next one', async (t) => {
    const begun = await swift.send('POST', `/${swift.bucket}/troupe/one/video-2.mp4?uploads=`);
    t.equal(begun.status, 200, begun.text);
    const other = await swift.send('POST', `/${swift.bucket}/troupe/other/video.mp4?uploads=`);
    t.equal(other.status, 200, other.text);
    t.equal((await swift.unfinished()).length, 2);
    await store.dropUnfinished('one');
    t.equal((await swift.unfinished()).length, 1, 'that of another session stays');
    await store.remove('other');
    t.same(await swift.unfinished(), []);
  });

  await t.test(
    'After kill -9 of the server in the middle of an upload, nothing looks complete, and it can be tried again',
    async (t) => {
      const large = Buffer.alloc(24 * MEGABYTE, 'large');
      async function* halting() {
        yield large.subarray(0, 17 * MEGABYTE);
        await eventually('parts are there', async () => (await swift.unfinished()).length > 0);
        await swift.kill();
        yield large.subarray(17 * MEGABYTE);
      }
      const halted = Readable.from(halting(), { objectMode: false });
      const place = { session: 'one', path: 'halted' };
      await t.rejects(store.put(place, halted, { bytes: large.byteLength, signal: never }), { code: 'UNAVAILABLE' });
      await swift.start();
      t.equal(await store.open(place), null);
      await store.dropUnfinished('one');
      await put('halted', large);
      t.same(await swift.unfinished(), []);
      const opened = await store.open(place);
      t.ok((await buffer(opened?.open() ?? contentOf())).equals(large));
    },
  );

  await t.test('Errors say what to do', async (t) => {
    const refused = new S3Store(swift.setting({ secretAccessKey: 'wrong' }));
    const missing = new S3Store(swift.setting({ bucket: 'missing' }));
    const message = (work: Promise<unknown>) =>
      work.then(
        () => 'no error',
        (error: unknown) =>
          error instanceof TroupeError && error.code === 'UNAVAILABLE' ? error.message : String(error),
      );
    t.match(await message(refused.check()), /refuses the keys \(SignatureDoesNotMatch\); correct AWS_ACCESS_KEY_ID/);
    t.match(await message(missing.check()), /does not exist; create it, or correct "artifacts.s3.bucket"/);
    t.match(await message(missing.open({ session: 'one', path: 'a' })), /does not exist/, 'not: no such artifact');
    const read = (await store.open({ session: 'one', path: 'video.mp4' }))?.open();
    await swift.kill();
    t.match(
      await message(store.list('one')),
      /does not answer \(ECONNREFUSED\); check that it runs, and "artifacts.s3.endpoint"/,
    );
    t.match(await message(buffer(read ?? contentOf())), /does not answer/, 'a read that fails is no end of the file');
    await swift.start();
    await eventually('it answers again', async () => (await store.list('one')).length === 2);
  });
});
