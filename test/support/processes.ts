import { readdirSync, readFileSync } from 'node:fs';

export interface SeenProcess {
  readonly pid: number;
  readonly parentPid: number;
  /** Its words, with spaces between them. */
  readonly commandLine: string;
}

/** Every process of this machine that has not ended, from /proc (proc(5)); none where there is no /proc. */
export function processes(): readonly SeenProcess[] {
  return entries('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = textOf(`/proc/${name}/stat`);
      const [state, parentPid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (stat === '' || state === 'Z' || state === 'X') return [];
      const commandLine = textOf(`/proc/${name}/cmdline`).replaceAll('\0', ' ').trim();
      return [{ pid: Number(name), parentPid: Number(parentPid), commandLine }];
    });
}

/** The processes whose command line contains a text, this one aside. */
export function processesWith(text: string): readonly SeenProcess[] {
  return processes().filter(({ pid, commandLine }) => pid !== process.pid && commandLine.includes(text));
}

/** Kills a process that may have ended meanwhile. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
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
