import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Packages that a script needs and the product does not: installed once from the registry, without running what they
 * bring, into a folder of the user's cache and never into the checkout.
 *
 * @param name of the folder; another set of packages wants another name
 * @param packages `name@version`, exact
 * @returns the path of a file in one of them, by its parts
 */
export function cachedPackages(name, packages) {
  const root = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'troupe');
  const folder = join(root, name);
  if (!existsSync(folder)) {
    console.log(`installing ${packages.join(' ')} into ${folder}`);
    const unfinished = join(root, `.${name}.${process.pid}`);
    mkdirSync(unfinished, { recursive: true });
    writeFileSync(join(unfinished, 'package.json'), '{"private": true}');
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages];
    const { status } = spawnSync('npm', args, { cwd: unfinished, stdio: ['ignore', 'ignore', 'inherit'] });
    if (status !== 0) throw new Error(`npm could not install ${packages.join(' ')}`);
    renameSync(unfinished, folder);
  }
  return (...path) => join(folder, 'node_modules', ...path);
}
