import { execFile } from 'node:child_process';
import { access, constants, readdir, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { stretched } from '../../base/deadline.js';
import { asAbsent } from '../../base/system-fault.js';
import type { BrowserUser } from '../chromium/browser-user.js';
import type { ChromiumBinary } from '../chromium/chromium-binary.js';
import { USER_NAMESPACE_PROBE } from './chromium-sandbox.js';
import { LANDLOCK_ABI, LANDLOCK_EXEC } from './landlock.js';

/**
 * What keeps a browser away from every file of the machine but its own and those of the system: the kernel's Landlock, or
 * bubblewrap. Neither needs root, and Chromium's own sandbox works inside both.
 */
export type Confinement =
  | { readonly kind: 'landlock'; readonly abi: number; readonly readable: readonly string[] }
  | { readonly kind: 'bubblewrap'; readonly path: string; readonly readable: readonly string[] }
  | { readonly kind: 'none' };

/** What one browser may use beside the system's files; absolute paths. */
export interface OwnFolders {
  readonly writable: readonly string[];
  readonly readable: readonly string[];
}

/** Where programs, libraries, fonts, certificates and settings are. What is missing on a machine is passed over. */
const SYSTEM_FOLDERS = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/etc',
  '/opt',
  '/nix/store',
  '/gnu/store',
  '/sys',
  '/var/cache/fontconfig',
  // Where /etc/resolv.conf leads.
  '/run/systemd/resolve',
  '/run/resolvconf',
  '/run/NetworkManager',
];
const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin';
const PROBE_MS = stretched(10_000);

/**
 * The confinement that this machine offers, tried out: inside it `home` cannot be listed, and for a browser with its
 * sandbox, user namespaces, which that is made of, can still be made.
 * @param home the folder that browsers must not read; absolute. The folders of single browsers may be inside it
 * @throws a fault of the system, which says nothing of what the machine offers
 */
export async function findConfinement(
  home: string,
  chromium: Pick<ChromiumBinary, 'path' | 'env'>,
  browsers: { readonly user: BrowserUser | null; readonly sandbox: boolean },
): Promise<Confinement> {
  const closed = await realpath(home);
  const readable = (
    await Promise.all([...SYSTEM_FOLDERS, ...(await foldersOf(chromium))].map((folder) => openBeside(folder, closed)))
  ).flat();
  for (const candidate of await candidates(readable)) {
    if (await holds(candidate, closed, browsers)) return candidate;
  }
  return { kind: 'none' };
}

/** A command line that runs `command` confined. With `none` it is the command itself. */
export function confined(confinement: Confinement, own: OwnFolders, command: readonly string[]): readonly string[] {
  switch (confinement.kind) {
    case 'none':
      return command;
    case 'landlock': {
      const readable = [...confinement.readable, ...own.readable].flatMap((path) => ['r', path]);
      // A sandbox writes the maps of its user namespaces into /proc, and shared memory is in /dev.
      const writable = ['/proc', '/dev', ...own.writable].flatMap((path) => ['w', path]);
      return ['perl', '-e', LANDLOCK_EXEC, String(confinement.abi), ...readable, ...writable, '--', ...command];
    }
    case 'bubblewrap': {
      const readable = [...confinement.readable, ...own.readable].flatMap((path) => ['--ro-bind-try', path, path]);
      const writable = own.writable.flatMap((path) => ['--bind', path, path]);
      const kernel = ['--unshare-pid', '--proc', '/proc', '--dev-bind', '/dev', '/dev'];
      return [confinement.path, ...readable, ...kernel, ...writable, '--', ...command];
    }
  }
}

async function candidates(readable: readonly string[]): Promise<readonly Confinement[]> {
  const abi = await run('perl', ['-e', LANDLOCK_ABI], null).then(Number, (error) => asAbsent(error) ?? 0);
  const bubblewrap = await firstExecutable(SYSTEM_PATH.split(':').map((folder) => join(folder, 'bwrap')));
  return [
    ...(abi > 0 ? [{ kind: 'landlock', abi, readable } as const] : []),
    ...(bubblewrap === null ? [] : [{ kind: 'bubblewrap', path: bubblewrap, readable } as const]),
  ];
}

async function holds(
  confinement: Confinement,
  closed: string,
  { user, sandbox }: { readonly user: BrowserUser | null; readonly sandbox: boolean },
): Promise<boolean> {
  // 0 where the home is closed and user namespaces are open, or where nobody can say.
  const isClosed = 'ls -- "$1" >/dev/null 2>&1 && exit 1;';
  const probe = `${isClosed} ${sandbox ? USER_NAMESPACE_PROBE : 'exit 0'}`;
  const [command = '', ...args] = confined(confinement, { readable: [], writable: [] }, [
    'sh',
    '-c',
    probe,
    'sh',
    closed,
  ]);
  return run(command, args, user).then(
    () => true,
    // What could not be tried may hold all the same: browsers must not run unconfined for that.
    (error) => asAbsent(error) ?? false,
  );
}

async function run(command: string, args: readonly string[], user: BrowserUser | null): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, {
    ...(user ?? {}),
    cwd: '/',
    env: { PATH: SYSTEM_PATH },
    timeout: PROBE_MS,
    killSignal: 'SIGKILL',
  });
  return stdout;
}

/** Where the browser and what its environment names are, which may be anywhere. */
async function foldersOf({ path, env }: Pick<ChromiumBinary, 'path' | 'env'>): Promise<readonly string[]> {
  const named = Object.values(env).flatMap((value) => value.split(':').filter(isAbsolute));
  return [dirname(path), dirname(await realpath(path)), ...named];
}

/** The folder, or where `closed` is inside it everything in it that does not lead there. Nothing for what is not there. */
async function openBeside(folder: string, closed: string): Promise<readonly string[]> {
  const path = await realpath(folder).catch(() => null);
  if (path === null || path === closed) return [];
  if (!closed.startsWith(`${path}/`)) return [folder];
  const names = await readdir(path);
  return (await Promise.all(names.map((name) => openBeside(join(path, name), closed)))).flat();
}

async function firstExecutable(paths: readonly string[]): Promise<string | null> {
  for (const path of paths) {
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return path;
  }
  return null;
}
