import { once } from 'node:events';
import { mkdir, open, readdir, readlink, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { openArchive } from '#troupe/report/archive.js';
import { guardLeaks } from '../support/leaks.js';
import { readZip } from './read-zip.js';
import { picture } from './sample-session.js';

guardLeaks(t);

/** Paths under `dir` that this process has open. */
async function openFiles(dir: string): Promise<string[]> {
  const descriptors = await readdir('/proc/self/fd');
  const paths = await Promise.all(descriptors.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return paths.filter((path) => path.startsWith(dir));
}

t.test('The zip has what a session may show, under its own names, and nothing else', async (t) => {
  const png = picture('one');
  const dir = t.testdir({
    'session.json': '{"id":1}',
    'transcript.jsonl': '{"seq":1}\n'.repeat(10_000),
    'report.html': '<p>',
    '.report.html.tmp': 'half',
    'secret.txt': 'not for anyone',
    screenshots: { '001-go.png': png },
    downloads: { 'empty.txt': '', 'half.pdf.crdownload': 'x', 'C:evil\\..\\..\\name.txt': 'd' },
    'healed-flows': { shop: { 'buy.js': 'agent.go()' } },
    uploads: { 'private.txt': 'p' },
    elsewhere: { 'report.txt': 'fresh', 'empty.txt': 'a second of the name' },
  });
  await symlink('/etc/passwd', join(dir, 'downloads', 'link.txt'));
  await symlink('/etc', join(dir, 'healed-flows', 'etc'));
  const living = join(dir, 'elsewhere');

  const files = await readZip(await buffer(openArchive([{ dir, downloadsDir: living }])));
  t.same(
    [...files.keys()],
    [
      'session.json',
      'transcript.jsonl',
      'report.html',
      'screenshots/001-go.png',
      'downloads/C_evil_.._.._name.txt',
      'downloads/empty.txt',
      'healed-flows/shop/buy.js',
      'downloads/report.txt',
    ],
  );
  t.ok(files.get('screenshots/001-go.png')?.stored, 'a picture is stored, not compressed again');
  t.ok(files.get('screenshots/001-go.png')?.content.equals(png));
  t.notOk(files.get('transcript.jsonl')?.stored);
  t.equal(files.get('transcript.jsonl')?.content.length, 100_000);
  t.equal(files.get('downloads/report.txt')?.content.toString(), 'fresh');
});

t.test('A session without a folder has an empty zip', async (t) => {
  const files = await readZip(await buffer(openArchive([{ dir: join(t.testdir({}), 'none') }])));
  t.equal(files.size, 0);
});

t.test('A file that shrinks, grows or vanishes while it is read does not break the zip', async (t) => {
  const dir = t.testdir({ 'session.json': '{}', screenshots: {}, downloads: {} });
  const mib = 1024 * 1024;
  await writeFile(join(dir, 'transcript.jsonl'), Buffer.alloc(8 * mib, 'a'));
  await writeFile(join(dir, 'video.mp4'), Buffer.alloc(8 * mib, 1));
  await writeFile(join(dir, 'downloads', 'gone.bin'), 'x');
  const zip = openArchive([{ dir }]);
  // The first bytes have come: the archive stands at the first files, with its buffers full.
  await once(zip, 'readable');
  const video = await open(join(dir, 'video.mp4'), 'a');
  await video.appendFile(Buffer.alloc(mib, 2));
  await video.close();
  await truncate(join(dir, 'transcript.jsonl'), 100);
  await t.resolves(import('node:fs/promises').then(({ rm }) => rm(join(dir, 'downloads'), { recursive: true })));

  const files = await readZip(await buffer(zip));
  t.equal(files.get('session.json')?.content.toString(), '{}');
  t.ok((files.get('transcript.jsonl')?.content.length ?? 0) <= 8 * mib);
  t.ok([8 * mib, 9 * mib].includes(files.get('video.mp4')?.content.length ?? 0));
  t.notOk(files.has('downloads/gone.bin'));
});

t.test('The zip is made no faster than it is read, and destroying it closes its file', async (t) => {
  const dir = t.testdir({});
  await mkdir(join(dir, 'screenshots'));
  const names = Array.from({ length: 40 }, (_, n) => `${String(n).padStart(3, '0')}.png`);
  for (const name of names) await writeFile(join(dir, 'screenshots', name), Buffer.alloc(1024 * 1024, 7));
  const zip = openArchive([{ dir }]);
  await once(zip, 'readable');
  const open = await openFiles(dir);
  t.equal(open.length, 1, 'one file at a time');
  t.notOk(open[0]?.endsWith('039.png'), 'it waits for its reader');
  zip.destroy();
  await once(zip, 'close');
  for (let turn = 0; turn < 100 && (await openFiles(dir)).length > 0; turn += 1) await new Promise(setImmediate);
  t.same(await openFiles(dir), []);
});
