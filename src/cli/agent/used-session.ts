import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { provenFetch } from '../../client/local-service/find-service.js';
import type { Session } from '../../client/session.js';
import { Troupe } from '../../client/troupe.js';
import { agentHome, serviceToken, serviceUrl, sessionInUse } from '../../config/environment.js';
import { TroupeError } from '../../protocol/errors.js';
import { typedCommand } from '../../terminal/typed-command.js';
import { namedService } from '../local-service/reach-service.js';
import { findOrStartService } from '../local-service/start-service.js';

/** How a command was told which session to use. */
export interface SessionOptions {
  readonly session?: string | undefined;
  readonly url?: string | undefined;
}

const ID = /^[a-z0-9]{12}$/;

/** The service that agents use: that of `--url` or TROUPE_URL, else the one of their home, which is started if none runs. */
export async function agentService(given: string | undefined): Promise<Troupe> {
  const named = namedService(given);
  const token = serviceToken();
  if (named !== null) return new Troupe({ url: named.url, token });
  const service = await findOrStartService(agentHome());
  return new Troupe({ url: service.url, token, fetch: provenFetch(service) });
}

/**
 * The id of the session that a command uses: that of `--session`, of TROUPE_SESSION, or the one that was made last.
 * Undefined if there is none.
 */
export async function chosenSession({ session = sessionInUse(), url }: SessionOptions): Promise<string | undefined> {
  if (session !== undefined) return session;
  const remembered = await readFile(memoryFile(url), 'utf8').catch(() => '');
  return ID.test(remembered.trim()) ? remembered.trim() : undefined;
}

/** Whether the user named the session, so that another one must not take its place. */
export function isNamed({ session = sessionInUse() }: SessionOptions): boolean {
  return session !== undefined;
}

/** @throws NOT_FOUND with what to do if there is none */
export async function usedSession(options: SessionOptions): Promise<Session> {
  const id = await lastSession(options.url, options.session);
  return (await agentService(options.url)).sessions.get(id);
}

/** The id of {@link chosenSession}. @throws NOT_FOUND with what to do if there is none */
export async function lastSession(url: string | undefined, session?: string): Promise<string> {
  const id = await chosenSession({ url, session });
  if (id === undefined)
    throw new TroupeError('NOT_FOUND', `There is no session yet: begin with ${typedCommand()} go URL`);
  return id;
}

/** Later commands use this session. */
export async function rememberSession(id: string, url: string | undefined): Promise<void> {
  const file = memoryFile(url);
  await mkdir(agentHome(), { recursive: true });
  await writeFile(`${file}.${process.pid}`, `${id}\n`, { mode: 0o600 });
  await rename(`${file}.${process.pid}`, file);
}

/** If it is the one that later commands would use, they use none. */
export async function forgetSession(id: string, url: string | undefined): Promise<void> {
  if ((await chosenSession({ url })) === id && sessionInUse() === undefined) await rm(memoryFile(url), { force: true });
}

/** One for each service that is named by its address, since ids are those of one service. */
function memoryFile(given: string | undefined): string {
  const url = given ?? serviceUrl();
  const name = url === undefined ? 'session' : `session-${encodeURIComponent(url).replaceAll('%', '_').slice(0, 200)}`;
  return join(agentHome(), name);
}
