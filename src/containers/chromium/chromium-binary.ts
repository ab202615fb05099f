import { execFile } from 'node:child_process';
import { access, constants, open, realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { stretched } from '../../base/deadline.js';
import { thisMachine } from '../../base/machine.js';
import { asAbsent, errorCode } from '../../base/system-fault.js';
import { TroupeError } from '../../protocol/errors.js';
import { installBrowser } from './browser-package.js';
import { type BrowserUser, browserUser } from './browser-user.js';
import { embeddedChromium } from './embedded-chromium.js';

/** A Chromium that was seen to run here. */
export interface ChromiumBinary {
  readonly path: string;
  /** For people: `Chromium 156.0.8078.79`. */
  readonly product: string;
  /** True for the shell that is headless by itself and has no windows. */
  readonly headlessShell: boolean;
  /** What it needs in its environment beyond the usual. */
  readonly env: Readonly<Record<string, string>>;
  readonly source: 'configured' | 'system' | 'embedded';
}

/**
 * Where packages put the browser itself. The headless shell comes first: it starts in two thirds of the time and needs
 * half the memory. Launchers in /usr/bin come last: they add flags and load extensions. One from a snap sees no folder
 * of ours and is passed by.
 */
const SYSTEM_PATHS = [
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/lib/chromium/chromium',
  '/usr/lib64/chromium-browser/headless_shell',
  '/usr/lib64/chromium-browser/chromium-browser',
  '/usr/lib/chromium-browser/chromium-browser',
  '/usr/lib64/chromium/chromium',
  '/opt/google/chrome/chrome',
  '/opt/chromium.org/chromium/chromium',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
];

const VERSION_MS = stretched(15_000);

/**
 * The Chromium to use: `configured` (the value of TROUPE_CHROMIUM) and no other where it is given; else the system's;
 * else the one inside @sparticuz/chromium, unpacked into `cacheDir`. Each is asked for its version first.
 * @throws UNAVAILABLE with what, why, and the command that fixes it; a fault of the system
 */
export async function findChromium(options: {
  readonly configured: string | undefined;
  readonly cacheDir: string;
  /** Who browsers run as when the service is root; by default the first normal user. */
  readonly user?: BrowserUser | undefined;
}): Promise<ChromiumBinary> {
  const user = browserUser(options.user);
  if (options.configured !== undefined && options.configured !== '') {
    const path = options.configured;
    const product = await productOf(path, {}, user).catch((cause: unknown) => {
      asAbsent(cause);
      throw new TroupeError(
        'UNAVAILABLE',
        `TROUPE_CHROMIUM=${path} cannot be used: ${reasonOf(cause)}; set it to a Chromium or Chrome, or unset it`,
        undefined,
        { cause },
      );
    });
    return { path, product, headlessShell: isHeadlessShell(path), env: {}, source: 'configured' };
  }
  for (const path of SYSTEM_PATHS) {
    if (await isSnap(path)) continue;
    const product = await productOf(path, {}, user).catch(asAbsent);
    if (product !== null) return { path, product, headlessShell: isHeadlessShell(path), env: {}, source: 'system' };
  }
  try {
    const { path, env } = await embeddedChromium(options.cacheDir, user);
    return { path, product: await productOf(path, env, user), headlessShell: true, env, source: 'embedded' };
  } catch (cause) {
    asAbsent(cause);
    throw new TroupeError(
      'UNAVAILABLE',
      `There is no Chromium or Chrome on this machine, and ${reasonOf(cause)}; ${installBrowser(thisMachine())}`,
      undefined,
      { cause },
    );
  }
}

async function productOf(
  path: string,
  env: Readonly<Record<string, string>>,
  user: BrowserUser | null,
): Promise<string> {
  await access(path, constants.X_OK);
  // HOME is nowhere: a version needs no profile. The user is the browser's, so that a folder closed to it shows here.
  const { stdout } = await promisify(execFile)(path, ['--version'], {
    ...(user ?? {}),
    cwd: '/',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/nonexistent', ...env },
    timeout: VERSION_MS,
    killSignal: 'SIGKILL',
    maxBuffer: 65_536,
  });
  const [, product] = /((?:Google )?Chrom(?:e|ium)[A-Za-z ]* \d+(?:\.\d+)+)/.exec(stdout) ?? [];
  if (product === undefined) throw new Error('it does not say that it is a Chromium');
  return product;
}

async function isSnap(path: string): Promise<boolean> {
  const target = await realpath(path).catch(() => path);
  if (target.endsWith('/snap') || target.startsWith('/snap/')) return true;
  if (!path.startsWith('/usr/bin/')) return false;
  const file = await open(target).catch(asAbsent);
  if (file === null) return false;
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(4096), length: 4096, position: 0 });
    const text = buffer.toString('latin1', 0, bytesRead);
    return text.startsWith('#!') && text.includes('/snap/');
  } finally {
    await file.close();
  }
}

function isHeadlessShell(path: string): boolean {
  return /headless[-_]shell/.test(basename(path));
}

/** The part of an error that tells a person what is wrong. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const code = errorCode(cause);
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES') return 'the user that browsers run as may not run it';
  const stderr: unknown = Reflect.get(cause, 'stderr');
  const [line] = typeof stderr === 'string' ? stderr.trim().split('\n') : [];
  return line !== undefined && line !== '' ? line : cause.message;
}
