import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { linesOf } from '../../base/lines.js';
import { asAbsent } from '../../base/system-fault.js';
import { TraceLine } from '../../protocol/trace/trace.js';

/** The file in which a running session collects what only its trace needs. Archives ignore the name. */
export const TRACE_LOG = '.trace.jsonl';
/** Lines that are read; a session writes 5,000, and again after each restart. */
const MAX_LINES = 50_000;

/** The lines of a session's folder. Skips one that was truncated when the process was killed, or is too long. */
export async function readTraceLog(dir: string): Promise<readonly TraceLine[]> {
  const file = join(dir, TRACE_LOG);
  const stats = await stat(file).catch(asAbsent);
  if (!stats?.isFile()) return [];
  const lines: TraceLine[] = [];
  for await (const text of linesOf(createReadStream(file))) {
    if (lines.length >= MAX_LINES) break;
    const line = TraceLine.safeParse(parsed(text));
    if (line.success) lines.push(line.data);
  }
  return lines;
}

function parsed(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
