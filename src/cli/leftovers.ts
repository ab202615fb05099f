import { lstat, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { asAbsent } from '../base/system-fault.js';
import type { Config } from '../config.js';
import { isRunning, killProcess, listProcesses, readProcess, untilGone } from '../containers/process/process-table.js';

/** What a command needs while it runs, each in a folder of its own in the system's temporary folder. */
export type Temporary = 'run' | 'serve' | 'reports' | 'joined' | 'doctor';

const PREFIX = /^troupe-(?:run|serve|reports|joined|doctor)-/;
const OWNER = 'owner.json';
const GROUP = 'group.json';
/** Made by the command that removes a folder, so that one does it. */
const CLAIM = 'clearing.json';
const END_MS = 5_000;

const Key = z.object({ pid: z.int().positive(), startTicks: z.int().nonnegative() });
/** The command that made a folder. Numbers of processes mean something in one namespace alone. */
const Owner = Key.extend({ namespace: z.string() });

/** Makes a folder that the command removes, or, if it is killed, the next command that runs flows or scripts on Linux. */
export async function makeTemporary(kind: Temporary): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `troupe-${kind}-`));
  const namespace = await ownNamespace();
  if (namespace !== null) await writeFile(join(folder, OWNER), thisProcess(namespace), { mode: 0o600 });
  return folder;
}

/** Notes the leader of a session of processes that is to end with the folder's command. */
export async function noteGroup(folder: string, pid: number): Promise<void> {
  const leader = readProcess(pid);
  if (leader === null) return;
  await writeFile(join(folder, GROUP), JSON.stringify({ pid, startTicks: leader.startTicks }), { mode: 0o600 });
}

/**
 * Ends what commands of this user that were killed have left: browsers, containers, what `serve` started, and their folders.
 * What cannot be removed is left to the next command.
 */
export async function clearLeftovers(config: Pick<Config, 'dockerSocket'>): Promise<void> {
  const namespace = await ownNamespace();
  if (namespace === null) return;
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((one) => PREFIX.test(one))) {
    const folder = join(tmpdir(), name);
    try {
      if ((await isLeft(folder, namespace)) && (await claim(folder, namespace))) await clear(folder, config);
    } catch {
      // The next command tries again.
    }
  }
}

/** Whether the folder is this user's, and its command is gone. One without a note may be of another program. */
async function isLeft(folder: string, namespace: string): Promise<boolean> {
  const stats = await lstat(folder);
  if (!stats.isDirectory() || stats.uid !== process.getuid?.()) return false;
  const owner = await noteIn(folder, OWNER, Owner);
  return owner !== null && owner.namespace === namespace && !isRunning(owner);
}

/** False while another command clears the folder. A claim outlives a command that is killed meanwhile. */
async function claim(folder: string, namespace: string): Promise<boolean> {
  const file = join(folder, CLAIM);
  const other = await noteIn(folder, CLAIM, Owner);
  if (other !== null && isRunning(other)) return false;
  await rm(file, { force: true });
  await writeFile(file, thisProcess(namespace), { flag: 'wx', mode: 0o600 });
  return true;
}

async function clear(folder: string, { dockerSocket }: Pick<Config, 'dockerSocket'>): Promise<void> {
  try {
    const group = await noteIn(folder, GROUP, Key);
    if (group !== null) await endSession(group);
    const instance = await instanceOf(join(folder, 'troupe.db'));
    if (instance !== null) {
      const { removeLeftoverContainers, removeLeftoverProcesses } = await import('../containers/orphans.js');
      await removeLeftoverProcesses({ workDir: join(folder, 'tmp/browsers'), instance });
      const where = { workDir: join(folder, 'tmp/containers'), instance };
      if (dockerSocket !== null) {
        const { DockerEngine } = await import('../containers/docker/docker-engine.js');
        await removeLeftoverContainers(new DockerEngine(dockerSocket), where);
      }
    }
    await rm(folder, { recursive: true, force: true });
  } finally {
    await rm(join(folder, CLAIM), { force: true });
  }
}

/** Ends a session of processes. Its number is not another's while one of them runs. */
async function endSession(leader: z.infer<typeof Key>): Promise<void> {
  const members = (await listProcesses()).filter(
    ({ session, startTicks }) => session === leader.pid && startTicks >= leader.startTicks,
  );
  const known = members.find(({ pid }) => pid === leader.pid);
  if (known !== undefined && known.startTicks !== leader.startTicks) return;
  for (const member of members) killProcess(member);
  await untilGone(members, END_MS);
}

/** What labels the browsers of a service; null if it had not come so far. */
async function instanceOf(file: string): Promise<string | null> {
  if ((await lstat(file).catch(asAbsent)) === null) return null;
  // Loaded where there is something to clear.
  const { Journal } = await import('../journal/journal.js');
  const journal = await Journal.open({ file, database: undefined, isShared: false });
  await journal.close();
  return journal.instance;
}

async function noteIn<T>(folder: string, name: string, shape: z.ZodType<T>): Promise<T | null> {
  const text = await readFile(join(folder, name), 'utf8').catch(asAbsent);
  try {
    return text === null ? null : shape.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

function thisProcess(namespace: string): string {
  const { pid } = process;
  return JSON.stringify({ pid, startTicks: readProcess(pid)?.startTicks ?? 0, namespace });
}

/** Null where there is no /proc. */
function ownNamespace(): Promise<string | null> {
  return readlink('/proc/self/ns/pid').catch(() => null);
}
