import { z } from 'zod';
import type { ProcessEntry } from './process-table.js';

/** A browser process and everything that proves it is ours: pid, start time, and the folder that its command line names. */
export const ProcessIdentity = z.object({
  driver: z.literal('process'),
  leaseId: z.string(),
  pid: z.int().positive(),
  /** Clock ticks since boot. */
  startTicks: z.int().nonnegative(),
  /** The program, as it was started. */
  binary: z.string(),
  /** The lease's folder; absolute. */
  folder: z.string(),
  /** The port of this machine at which its SOCKS proxy listens; absent for a browser that a version before this one started. */
  gatePort: z.int().positive().optional(),
  /** Its DevTools WebSocket, where an earlier version started it with one; others have a pipe. */
  cdpUrl: z.url().optional(),
  product: z.string(),
});
export type ProcessIdentity = z.infer<typeof ProcessIdentity>;

/** What a lease's own folder remembers of its process, from its first moment. */
export const ProcessNote = ProcessIdentity.pick({ leaseId: true, pid: true, startTicks: true, binary: true });
export type ProcessNote = z.infer<typeof ProcessNote>;
/** The browser itself among its processes. */
export type ProcessLeader = Omit<ProcessNote, 'leaseId'>;

/** The folder that Chromium is told to keep everything in, inside a lease's folder. */
export function profileOf(folder: string): string {
  return `${folder}/profile`;
}

/**
 * Whether a command line names this lease's profile: the browser's own does, and so do its crash handlers, which are in
 * no group of ours (their database may lie in the browser's home instead).
 */
export function namesProfile(commandLine: string, folder: string): boolean {
  return leaseFolderNamed(commandLine, folder) === '';
}

/** The name of the lease under `root` whose profile this command line names, or null. */
export function leaseNamed(commandLine: string, root: string): string | null {
  const name = leaseFolderNamed(commandLine, root);
  return name === null || name === '' ? null : name;
}

/**
 * The processes of a lease among `table`. Whatever names the profile is one. Members of the leader's group or session
 * are too, unless the leader's pid belongs to another process by now; where the leader is gone they must also be the
 * same program, since its number could have been another's in between; or nameless as yet, see {@link isNameless}.
 */
export function processesOf(
  table: readonly ProcessEntry[],
  folder: string,
  note: ProcessLeader | null,
): readonly ProcessEntry[] {
  const leader = note === null ? undefined : table.find((entry) => entry.pid === note.pid);
  return table.filter((entry) => {
    if (namesProfile(entry.commandLine, folder)) return true;
    if (note === null || (entry.group !== note.pid && entry.session !== note.pid)) return false;
    if (leader !== undefined) return leader.startTicks === note.startTicks;
    return entry.startTicks >= note.startTicks && (isNameless(entry) || entry.commandLine.startsWith(note.binary));
  });
}

/**
 * Whether a process is just becoming another program, on a busy machine for a while: it has no command line, or is a helper
 * of Chromium, which are started as `/proc/self/exe` and then give themselves the browser's name.
 */
export function isNameless({ commandLine }: ProcessEntry): boolean {
  return commandLine === '' || /^\/proc\/self\/exe[\0 ]/.test(commandLine);
}

/** The process that names the profile and leads its session: the browser itself, whose helpers may name nothing. */
export function leaderOf(table: readonly ProcessEntry[], folder: string): ProcessLeader | null {
  const leader = table.find((entry) => entry.pid === entry.session && namesProfile(entry.commandLine, folder));
  if (leader === undefined) return null;
  const [binary = ''] = leader.commandLine.split(/[\0 ]/, 1);
  return { pid: leader.pid, startTicks: leader.startTicks, binary };
}

/** What stands between `under` and the browser's own folder in an argument that only Chromium is given. */
function leaseFolderNamed(commandLine: string, under: string): string | null {
  for (const option of ['--user-data-dir=', '--database=']) {
    const start = commandLine.indexOf(option + under);
    if (start === -1) continue;
    const rest = commandLine.slice(start + option.length + under.length);
    const name = /^(?:\/([\w-]+))?\/(?:profile|home)(?:[/\s\0]|$)/.exec(rest);
    if (name !== null) return name[1] ?? '';
  }
  return null;
}
