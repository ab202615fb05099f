import { UsageError } from './failure.js';

/** `troupe requests <what>`: the request client. Parts are loaded when they are called. */
export async function runRequests(args: readonly string[]): Promise<number> {
  const [what, ...rest] = args;
  switch (what) {
    case 'import':
      return await (await import('./requests-import.js')).runRequestsImport(rest);
    case 'run':
      return await (await import('./requests-run.js')).runRequestsRun(rest);
    default:
      throw new UsageError(what === undefined ? 'requests needs a word after it' : `There is no 'requests ${what}'`);
  }
}
