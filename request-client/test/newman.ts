import { createRequire } from 'node:module';
import { join } from 'node:path';
import { installOwnPackages } from '../../test/support/own-packages.js';

/** Newman, with a manifest of its own. */
const FOLDER = join(import.meta.dirname, '../../test/newman');

interface ScriptRun {
  readonly error?: Error;
}

/** The part of newman 6's summary that the tests use. */
export interface RunSummary {
  readonly run: {
    readonly stats: { readonly requests: { readonly total: number; readonly failed: number } };
    readonly failures: readonly { readonly error: { readonly message: string } }[];
    readonly executions: readonly {
      readonly cursor: { readonly ref: string };
      readonly item: { readonly name: string };
      readonly request?: { readonly method: string; readonly url: { toString(): string } };
      readonly response?: { readonly code: number };
      readonly requestError?: Error;
      readonly assertions?: readonly {
        readonly assertion: string;
        readonly skipped?: boolean;
        readonly error?: Error;
      }[];
      readonly prerequestScript?: readonly ScriptRun[];
      readonly testScript?: readonly ScriptRun[];
    }[];
  };
  readonly environment: {
    readonly values: { readonly members: readonly { readonly key: string; readonly value: unknown }[] };
  };
}

/** The part of newman 6 that the tests use. */
interface Newman {
  run(options: object, done: (error: Error | null, summary: RunSummary) => void): unknown;
}

/** Installs newman: see {@link installOwnPackages}. */
export function installNewman(): Promise<string | false> {
  return installOwnPackages(FOLDER);
}

/**
 * Runs a collection with newman, which is installed first where it is missing.
 *
 * @param options as newman takes them
 * @throws if newman cannot be installed, or cannot run the collection
 */
export async function runNewman(options: object): Promise<RunSummary> {
  const missing = await installNewman();
  if (missing !== false) throw new Error(missing);
  const newman: Newman = createRequire(join(FOLDER, 'package.json'))('newman');
  return new Promise((resolve, reject) => {
    newman.run(options, (error, summary) => (error === null ? resolve(summary) : reject(error)));
  });
}
