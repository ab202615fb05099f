import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { tarFile } from '#troupe/containers/docker/worker-image.js';
import { guardLeaks } from '../support/leaks.js';
import { openFolder } from './driver-fixture.js';

guardLeaks(t);

t.test('tar unpacks what is packed, with its modes', async (t) => {
  const folder = openFolder(t);
  const entries = [
    { name: 'run', mode: 0o755, content: Buffer.from('#!/bin/sh\n') },
    { name: 'empty', mode: 0o644, content: Buffer.alloc(0) },
    { name: 'block', mode: 0o600, content: Buffer.alloc(1024, 'x') },
  ];
  writeFileSync(join(folder, 'it.tar'), await tarFile(entries));
  execFileSync('tar', ['-xf', 'it.tar'], { cwd: folder });
  for (const { name, mode, content } of entries) {
    t.ok(readFileSync(join(folder, name)).equals(content), name);
    t.equal(statSync(join(folder, name)).mode & 0o777, mode, name);
  }
});
