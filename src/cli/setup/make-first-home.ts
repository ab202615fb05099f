import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../config.js';
import { makeHome } from '../../service/make-home.js';
import { keepOutOfGit, type Say } from './keep-out-of-git.js';

const EXAMPLES = fileURLToPath(new URL('../../../examples/flows', import.meta.url));

/**
 * Makes the service's folders where they are not yet. A home that has no flows folder gets the example flows, as
 * `flows/examples/`.
 * @param say takes what a person should know; standard error if it is left out
 * @throws UNAVAILABLE in one sentence with the path that cannot be used, and what to do
 */
export async function makeFirstHome(config: Config, say?: Say): Promise<void> {
  const isFirst = !existsSync(config.flowsDir);
  await makeHome(config);
  await keepOutOfGit(config.home, say);
  if (isFirst) await cp(EXAMPLES, join(config.flowsDir, 'examples'), { recursive: true });
}
