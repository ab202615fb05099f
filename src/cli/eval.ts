import { text } from 'node:stream/consumers';
import { Troupe } from '../client/troupe.js';
import { agentHome, serviceToken, serviceUrl } from '../config/environment.js';
import { encodeError, TroupeError } from '../protocol/errors.js';
import { SessionRecord } from '../protocol/session.js';
import { usedSession } from './agent/used-session.js';
import { describeFailure, UsageError } from './failure.js';
import { findService } from './local-service/find-service.js';
import { type UsedService, useService } from './own-service.js';
import { parseWords } from './parse-options.js';

/**
 * Runs a script from the shell, in a session that is there or in one of its own, and prints its value as JSON.
 * @returns 0 done, 1 the script failed, 2 it could not run
 */
export async function runEval(args: readonly string[]): Promise<number> {
  const { js, url, own, ...given } = await readOptions(args);
  let service: UsedService | null = null;
  try {
    const session = given.session === 'last' ? (await usedSession({ url })).id : given.session;
    service = await useService({ url: url ?? (await addressOf(session, own)), own, sessions: 1 });
    if (session !== undefined && service.own)
      throw new TroupeError('UNAVAILABLE', 'No service runs here; --url names one');
    const value = await evaluate(service, session, js);
    process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    return 0;
  } catch (error) {
    const { code, details } = encodeError(error);
    const line =
      typeof details?.line === 'number' ? ` (line ${details.line}, column ${String(details.column ?? 1)})` : '';
    process.stderr.write(`troupe: ${code === 'INTERNAL' ? '' : `${code}: `}${describeFailure(error)}${line}\n`);
    return code === 'UNAVAILABLE' || code === 'UNAUTHORIZED' || code === 'NOT_FOUND' ? 2 : 1;
  } finally {
    await service?.close();
  }
}

/** Sessions of `troupe session` and `troupe go` run in the service of agents, which may be another than the one of this folder. */
async function addressOf(session: string | undefined, own: boolean | undefined): Promise<string | undefined> {
  if (session === undefined || own === true || serviceUrl() !== undefined) return undefined;
  const service = await findService(agentHome());
  if (service === null) return undefined;
  const client = new Troupe({ url: service.url, token: serviceToken() });
  const record = await client.sessions
    .get(session)
    .record()
    .catch(() => null);
  return record === null ? undefined : service.url;
}

async function evaluate({ client }: UsedService, session: string | undefined, js: string): Promise<unknown> {
  if (session !== undefined) return client.json('POST', `/sessions/${encodeURIComponent(session)}/proxy`, { js });
  const { id } = SessionRecord.parse(await client.json('POST', '/api/sessions', { name: 'troupe eval' }));
  try {
    return await client.json('POST', `/sessions/${id}/proxy`, { js });
  } finally {
    await client.json('DELETE', `/api/sessions/${id}`);
  }
}

async function readOptions(args: readonly string[]) {
  const line = { type: 'string' } as const;
  const { values, positionals } = parseWords(args, { session: line, url: line, own: { type: 'boolean' } });
  const [word, ...others] = positionals;
  if (word === undefined || others.length > 0) throw new UsageError('eval takes one script in quotes, or - to read it');
  return { ...values, js: word === '-' ? await text(process.stdin) : word };
}
