import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { asAbsent } from '../../../base/system-fault.js';
import { TroupeError } from '../../../protocol/errors.js';

const FILE = 'quarantine.json';

const Entry = z.strictObject({
  /** A path in the flows folder, with or without extension. */
  flow: z.string().min(1).max(500),
  /** The last day, in UTC. */
  until: z.iso.date(),
  /** Where the repair is tracked. */
  ticket: z.string().min(1).max(500),
});

/** A flow whose failures do not fail the build, until a day and for a reason that a ticket tells. */
export type QuarantineEntry = z.infer<typeof Entry>;

/** The quarantine of a flows folder on one day. */
export interface Quarantine {
  /** By the flow's path without extension. */
  readonly entries: ReadonlyMap<string, QuarantineEntry>;
  /** Entries that no longer count, and entries without a flow: one sentence each, for people. */
  readonly notes: readonly string[];
}

/**
 * Reads `quarantine.json` of a flows folder. An entry counts through its `until` day (UTC).
 * @param hasFlow whether the folder has a flow of that path
 * @throws INVALID_REQUEST naming the file and what is wrong in it
 */
export async function readQuarantine(
  root: string | null,
  hasFlow: (path: string) => boolean,
  now: Date,
): Promise<Quarantine> {
  if (root === null) return { entries: new Map(), notes: [] };
  const file = join(root, FILE);
  const text = await readFile(file, 'utf8').catch(asAbsent);
  if (text === null) return { entries: new Map(), notes: [] };
  const entries = new Map<string, QuarantineEntry>();
  const notes: string[] = [];
  const today = now.toISOString().slice(0, 10);
  for (const entry of parse(file, text)) {
    const name = entry.flow.replace(/\.(js|ts|md)$/, '');
    if (entries.has(name)) throw invalid(file, `'${name}' has two entries`);
    if (!hasFlow(name)) notes.push(`${FILE} names '${name}', but the flows folder has no such flow`);
    else if (entry.until < today)
      notes.push(`The quarantine of ${name} ended on ${entry.until} (${entry.ticket}): its failures count again`);
    else entries.set(name, entry);
  }
  return { entries, notes };
}

function parse(file: string, text: string): readonly QuarantineEntry[] {
  try {
    return z.array(Entry).parse(JSON.parse(text));
  } catch (cause) {
    throw invalid(file, cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause), cause);
  }
}

function invalid(file: string, why: string, cause?: unknown): TroupeError {
  return new TroupeError(
    'INVALID_REQUEST',
    `${file} is not valid. It is an array of {"flow", "until": "YYYY-MM-DD", "ticket"}: ${why}`,
    undefined,
    { cause },
  );
}
