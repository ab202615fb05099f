import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { TroupeError } from '../protocol/errors.js';
import { PRODUCT_NAME } from '../protocol/product-name.js';

/** The access token that commands send to a service (TROUPE_TOKEN). */
export function serviceToken(env: NodeJS.ProcessEnv = process.env): string | undefined {
  return env.TROUPE_TOKEN || undefined;
}

/** The service that commands use unless another one is named (TROUPE_URL). */
export function serviceUrl(env: NodeJS.ProcessEnv = process.env): string | undefined {
  return env.TROUPE_URL || undefined;
}

/** The session that commands use unless another one is named (TROUPE_SESSION). */
export function sessionInUse(env: NodeJS.ProcessEnv = process.env): string | undefined {
  return env.TROUPE_SESSION || undefined;
}

/** The home of this folder's service and of most commands: TROUPE_HOME, else the current folder. */
export function currentHome(env: NodeJS.ProcessEnv = process.env): string {
  return resolve(env.TROUPE_HOME ?? '.');
}

/**
 * The home that agents use: TROUPE_HOME, else a folder of the user. Never the current folder: it may be a project of
 * somebody else, with files that name a service of theirs.
 */
export function agentHome(env: NodeJS.ProcessEnv = process.env, platform: NodeJS.Platform = process.platform): string {
  if (env.TROUPE_HOME) return resolve(env.TROUPE_HOME);
  const inHome = platform === 'darwin' ? ['Library', 'Application Support'] : ['.local', 'share'];
  return join(env.XDG_DATA_HOME ? resolve(env.XDG_DATA_HOME) : join(homedir(), ...inHome), PRODUCT_NAME);
}

/** The program that a shell says it started (`_` of bash, zsh, and ksh): this one, or what ran it; '' if none says so. */
export function startedBy({ _: program = '' }: NodeJS.ProcessEnv = process.env): string {
  return program;
}

/** Whether TROUPE_HOME names the home. */
export function hasNamedHome(env: NodeJS.ProcessEnv = process.env): boolean {
  return Boolean(env.TROUPE_HOME);
}

/** The environment of a service that a command starts for a home. */
export function environmentFor(home: string, env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return { ...env, TROUPE_HOME: home };
}

/**
 * Whether Chromium's sandbox is on (TROUPE_CHROMIUM_SANDBOX); undefined where the environment does not say.
 * @throws INVALID_REQUEST if it says something else
 */
export function sandboxIn({ TROUPE_CHROMIUM_SANDBOX: said }: NodeJS.ProcessEnv): boolean | undefined {
  if (said === undefined || said === '') return undefined;
  if (said === 'true' || said === 'false') return said === 'true';
  throw new TroupeError(
    'INVALID_REQUEST',
    `TROUPE_CHROMIUM_SANDBOX is ${JSON.stringify(said)}; it can be true or false`,
  );
}
