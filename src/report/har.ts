import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { asAbsent } from '../base/system-fault.js';

/** The file in which a running session collects network entries. Archives ignore the name. */
export const NETWORK_LOG = '.network.jsonl';

/**
 * `network.har` (HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/) of a session's folder, in pieces; null if
 * there
 * are no entries. Skips a line that was truncated when the process was killed.
 */
export async function harPieces(dir: string): Promise<AsyncIterable<string> | null> {
  const file = join(dir, NETWORK_LOG);
  const stats = await stat(file).catch(asAbsent);
  return stats?.isFile() ? pieces(file) : null;
}

async function* pieces(file: string): AsyncGenerator<string> {
  yield '{"log":{"version":"1.2","creator":{"name":"Troupe","version":"1"},"pages":[],"entries":[';
  let separator = '\n';
  for await (const line of createInterface({ input: createReadStream(file, 'utf8') })) {
    if (!isWhole(line)) continue;
    yield `${separator}${line}`;
    separator = ',\n';
  }
  yield '\n]}}\n';
}

function isWhole(line: string): boolean {
  try {
    return typeof JSON.parse(line) === 'object';
  } catch {
    return false;
  }
}
