import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { stretched } from '#troupe/base/deadline.js';
import { readCiBuild } from '#troupe/config/ci.js';
import { killProcess, processes } from './processes.js';
import { shareCache } from './shared-cache.js';

// A test does not depend on the CI that runs it; one about CI sets what it needs.
for (const [name, value] of Object.entries(process.env)) {
  if (readCiBuild({ [name]: value }) !== null) delete process.env[name];
}

/** What is on its way out has this long: a socket that closes, a thread or a process that was told to end. */
const GRACE_MS = stretched(15_000);
const LOOK_EVERY_MS = 20;
/** A file that leaks something would otherwise hang until its time is up. */
const EXIT_AFTER_END_MS = 500;

/** The thread of the loader of tests, the first of a process that has it: Node tells of it since 24. */
const LOADER_THREAD = process.execArgv.some((word) => word.includes('test-loader')) ? 1 : 0;

/** Kinds of handles that keep a process alive and that the lists of /proc do not show. */
const COUNTED = ['PipeWrap', 'FSEventWrap', 'StatWatcher', 'Timeout', 'UDPWrap'];

/**
 * Fails a test file that leaves something behind: a worker thread, a TCP socket or server, an open file, a timer or
 * watcher that keeps the process alive, a child process, or anything in the temporary folder, above all a browser's
 * profile, and processes that live in it. Call it once, first thing in the file, so that its check comes after every
 * other teardown. From then on `os.tmpdir()` is a folder of this file's own. Linux only; elsewhere only threads and
 * handles are looked at. With TROUPE_LEAKS=report, what is left behind is a comment, `# LEAK ...`, and no failure.
 */
export function guardLeaks(
  t: { teardown(check: () => Promise<void>): unknown; comment(text: string): unknown },
  { graceMs = GRACE_MS }: { readonly graceMs?: number } = {},
): void {
  const parent = tmpdir();
  shareCache(parent);
  // Short: a browser's socket in it must have a short path. Open, since a browser may run as another user.
  const folder = mkdtempSync(join(parent, 'tt-'));
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;

  const workers = new Set<Worker>();
  const onWorker = (worker: Worker): void => {
    if (worker.threadId === LOADER_THREAD) return;
    workers.add(worker);
    worker.once('exit', () => workers.delete(worker));
  };
  process.on('worker', onWorker);

  // Both streams are made when they are first used: now, so that they count as there before.
  process.stdout.write('');
  process.stderr.write('');
  const before = new Set(held(folder));
  const countsBefore = counts();

  const left = (): string[] => {
    const threads = [...workers].map((worker) => `worker thread ${worker.threadId}`);
    const handles = COUNTED.flatMap((kind) => {
      const more = (counts().get(kind) ?? 0) - (countsBefore.get(kind) ?? 0);
      return more > 0 ? [`${more} ${kind} more than before`] : [];
    });
    return [...threads, ...handles, ...held(folder).filter((one) => !before.has(one))];
  };

  t.teardown(async () => {
    const end = performance.now() + graceMs;
    let leaks = left();
    while (leaks.length > 0 && performance.now() < end) {
      await pause(LOOK_EVERY_MS);
      leaks = left();
    }
    process.off('worker', onWorker);
    process.env.TMPDIR = parent;
    for (const { pid, commandLine, parentPid } of processes()) {
      const ours = parentPid === process.pid ? !before.has(describe(pid, commandLine)) : commandLine.includes(folder);
      if (ours && !isTool(commandLine)) killProcess(pid);
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
    if (leaks.length === 0) return;
    const reports = process.env.TROUPE_LEAKS === 'report';
    // What is left may keep the process alive.
    setTimeout(() => process.exit(reports ? undefined : 1), EXIT_AFTER_END_MS).unref();
    if (reports) return void t.comment(leaks.map((leak) => `LEAK ${leak}`).join('\n'));
    throw new Error(`This file leaves behind:\n  ${leaks.join('\n  ')}`);
  });
}

/** Everything that this process holds just now and that /proc can tell, in words. */
function held(folder: string): string[] {
  // Where npm keeps its own compiled code under Node 22 and later.
  const files = entries(folder).filter((name) => name !== 'node-compile-cache');
  return [...descriptors(), ...heldProcesses(folder), ...files.map((name) => join(folder, name))];
}

function heldProcesses(folder: string): string[] {
  return processes()
    .filter(({ parentPid, commandLine }) => parentPid === process.pid || commandLine.includes(folder))
    .filter(({ commandLine }) => !isTool(commandLine))
    .map(({ pid, commandLine }) => describe(pid, commandLine));
}

/** TCP sockets and files that are open in this process. */
function descriptors(): string[] {
  const sockets = tcpSockets();
  return entries('/proc/self/fd').flatMap((fd) => {
    const target = linkOf(`/proc/self/fd/${fd}`);
    const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
    if (inode !== undefined) {
      const socket = sockets.get(inode);
      return socket === undefined ? [] : [`${socket} (inode ${inode})`];
    }
    return /^\/(?!proc\/|dev\/|sys\/|memfd:)/.test(target) ? [`open file ${target}`] : [];
  });
}

/** Inode to description (proc(5), `/proc/net/tcp`). */
function tcpSockets(): Map<string, string> {
  const found = new Map<string, string>();
  for (const table of ['/proc/self/net/tcp', '/proc/self/net/tcp6']) {
    for (const line of textOf(table).split('\n').slice(1)) {
      const [, local, remote, state, , , , , , inode] = line.trim().split(/\s+/);
      if (local === undefined || remote === undefined || inode === undefined) continue;
      const listens = state === '0A';
      const what = listens ? `server on port ${portOf(local)}` : `socket ${portOf(local)} -> ${portOf(remote)}`;
      found.set(inode, what);
    }
  }
  return found;
}

function portOf(address: string): number {
  return Number.parseInt(address.split(':')[1] ?? '', 16);
}

function describe(pid: number, commandLine: string): string {
  return `process ${pid}: ${commandLine.slice(0, 160)}`;
}

/** The test runner's own compiler, which it starts when it likes and keeps. */
function isTool(commandLine: string): boolean {
  return /tsimp|esbuild --service/.test(commandLine);
}

function counts(): Map<string, number> {
  const found = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) found.set(kind, (found.get(kind) ?? 0) + 1);
  return found;
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
