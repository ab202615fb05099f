import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The repository as the checks see it: `paths` are the files that git knows or would add, with forward slashes; `read`
 * and `has` also reach what git ignores. Tests hand in one made of an object.
 */
export function openRepository(root) {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return {
    paths: listed.split('\0').filter((path) => path !== '' && existsSync(join(root, path))),
    has: (path) => existsSync(join(root, path)),
    read: (path) => readFileSync(join(root, path), 'utf8'),
  };
}
