import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The repository as the checks see it: `paths` are the files that git knows or would add, with forward slashes; `read`
 * and `has` also reach what git ignores. Where git is not installed, `paths` are the files that `.gitignore` does not
 * name. Tests hand in one made of an object.
 */
export function openRepository(root) {
  return {
    paths: (pathsByGit(root) ?? pathsWithoutGit(root)).filter((path) => existsSync(join(root, path))),
    has: (path) => existsSync(join(root, path)),
    read: (path) => readFileSync(join(root, path), 'utf8'),
    readBytes: (path) => readFileSync(join(root, path)),
    list: (path) => readdirSync(join(root, path)),
    root,
  };
}

function pathsByGit(root) {
  const { status, stdout } = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return status === 0 ? stdout.split('\0').filter((path) => path !== '') : null;
}

function pathsWithoutGit(root) {
  const ignored = readFileSync(join(root, '.gitignore'), 'utf8').split('\n').filter(Boolean).map(ignorePattern);
  const under = (folder) =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.name === '.git' || ignored.some((pattern) => pattern.test(path))) return [];
      return entry.isDirectory() ? under(path) : [path];
    });
  return under('');
}

/** A line of `.gitignore` as this repository writes them: at the root where it begins with a slash, `*` within a name. */
function ignorePattern(line) {
  const text = line
    .replace(/^\/|\/$/g, '')
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '[^/]*');
  return new RegExp(line.startsWith('/') ? `^${text}$` : `(^|/)${text}$`);
}
