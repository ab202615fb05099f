import { join } from 'node:path';
import { installOwnPackages } from './own-packages.js';

export const LIBRARIES = join(import.meta.dirname, '../pages/libraries');

/** Installs the libraries beside their pages: see {@link installOwnPackages}. */
export function installLibraries(): Promise<string | false> {
  return installOwnPackages(LIBRARIES);
}
