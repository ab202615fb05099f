import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { startedBy } from '../config/environment.js';
import { readProcess } from '../containers/process/process-table.js';

/** Shells and npm may stand between who ignores the signal and this process. */
const MAX_ANCESTORS = 8;
const HANG_UP = 1n;

let known: boolean | undefined;

/**
 * Whether SIGHUP was ignored when this process was started, as below `nohup`. Node itself takes an ignored SIGHUP back as it
 * starts, as npm does for what it runs, so the system no longer says so of this process. What is left to see:
 *
 * - standard input is /dev/null, opened for writing, or output goes to `nohup.out`: so `nohup` leaves them on a terminal
 * - an ancestor in the same session ignores the signal: a script that `nohup` runs, or one with `trap '' HUP`
 * - the shell says that it started `nohup` (the variable `_` of bash, zsh, and ksh), which is all that there is on macOS
 *
 * Where none of it can be seen, SIGHUP ends the process, as it ends every program of Node.
 */
export function ignoresHangUp(): boolean {
  known ??=
    process.platform !== 'win32' &&
    (basename(startedBy()) === 'nohup' || (isLinux() && (isOfNohup() || isBelowIgnorer())));
  return known;
}

/** Keeps SIGHUP from ending the process if it {@link ignoresHangUp}. May be called again. */
export function heedNohup(): void {
  if (ignoresHangUp() && !process.listeners('SIGHUP').includes(goOn)) process.on('SIGHUP', goOn);
}

/** Whoever listens last must not leave the signal to end the process: it is never removed. */
function goOn(): void {
  // Nothing ends.
}

function isLinux(): boolean {
  return process.platform === 'linux';
}

function isOfNohup(): boolean {
  if ([1, 2].some((fd) => basename(linkOf(fd)) === 'nohup.out')) return true;
  const flags = /(?:^|\n)flags:\s*([0-7]+)/.exec(textOf('/proc/self/fdinfo/0'))?.[1];
  // O_WRONLY is 1 of the two bits of the access mode.
  return linkOf(0) === '/dev/null' && flags !== undefined && (Number.parseInt(flags, 8) & 3) === 1;
}

function isBelowIgnorer(): boolean {
  const session = readProcess(process.pid)?.session;
  let pid = process.ppid;
  for (let above = 0; above < MAX_ANCESTORS && pid > 1 && readProcess(pid)?.session === session; above += 1) {
    const status = textOf(`/proc/${pid}/status`);
    const ignored = /\nSigIgn:\s*([0-9a-f]+)\n/.exec(status)?.[1];
    if (ignored !== undefined && (BigInt(`0x${ignored}`) & HANG_UP) !== 0n) return true;
    pid = Number(/\nPPid:\s*(\d+)\n/.exec(status)?.[1] ?? 0);
  }
  return false;
}

function linkOf(fd: number): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
