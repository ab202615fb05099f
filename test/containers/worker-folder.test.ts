import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { WorkerFolder } from '#troupe/containers/docker/worker-folder.js';
import { guardLeaks } from '../support/leaks.js';
import { openFolder } from './driver-fixture.js';

guardLeaks(t);

t.test('The folder is closed to other users, and open inside to whoever the container runs as', async (t) => {
  const folder = new WorkerFolder(join(openFolder(t), 'b-one'));
  await folder.create();
  const mode = (path: string) => statSync(path).mode & 0o777;
  t.equal(mode(folder.path), 0o700);
  t.equal(mode(folder.downloads), 0o777);
  t.equal(mode(folder.sockets), 0o777);
  t.equal(mode(folder.uploads), 0o755);
  await folder.remove();
  await folder.remove();
});

t.test('Downloads are closed once they hold more than they may, and not before', async (t) => {
  const folder = new WorkerFolder(join(openFolder(t), 'b-two'));
  await folder.create();
  writeFileSync(join(folder.downloads, 'one'), Buffer.alloc(600));
  t.equal(await folder.closeWhenOver(1000), false);
  writeFileSync(join(folder.downloads, 'two'), Buffer.alloc(600));
  t.equal(await folder.closeWhenOver(1000), true);
  t.equal(statSync(folder.downloads).mode & 0o777, 0o555);
  await folder.remove();
  t.equal(await folder.closeWhenOver(1000), false, 'one that went with its container is no fault');
});
