import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * For tap's `skip`: which of these programs this machine lacks, or false. `npm test` passes with Node and npm alone: a
 * test that compares the product with another program runs only where that program is installed.
 */
export function skipWithout(...programs: readonly string[]): string | false {
  const missing = programs.filter((program) => !isInstalled(program));
  return missing.length === 0 ? false : `not installed here: ${missing.join(', ')}`;
}

/** For tap's `skip`: why browsers of the process driver run without Chromium's sandbox here, or false where they have it. */
export const skipWithoutSandbox =
  process.env.TROUPE_CHROMIUM_SANDBOX === 'false' && "Chromium's sandbox cannot start here";

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
