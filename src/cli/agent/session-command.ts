import type { Troupe } from '../../client/troupe.js';
import { TroupeError } from '../../protocol/errors.js';
import { PRODUCT_NAME } from '../../protocol/product-name.js';
import type { LiveRequest, SessionRecord } from '../../protocol/session.js';
import { SESSION_CREATE, SESSION_DELETE, SESSION_LIST } from '../../terminal/commands/agent-commands.js';
import { UsageError } from '../../terminal/failure.js';
import { print, printError } from '../../terminal/output.js';
import { checkWords, parseOptions, parseWords, unknownSubcommand } from '../../terminal/parse-options.js';
import { typedCommand } from '../../terminal/typed-command.js';
import { reported } from './report-failure.js';
import { agentService, chosenSession, forgetSession, rememberSession } from './used-session.js';

/** `troupe session create|list|delete`. @returns 0 done, 1 it failed, 2 it could not run */
export async function runSession([command, ...rest]: readonly string[]): Promise<number> {
  switch (command) {
    case 'create':
      return create(rest);
    case 'list':
      return list(rest);
    case 'delete':
      return remove(rest);
    default:
      throw unknownSubcommand(command, ['create', 'list', 'delete']);
  }
}

async function create(args: readonly string[]): Promise<number> {
  const { url, ...given } = parseOptions(args, SESSION_CREATE);
  const request = requestOf(given);
  return reported(async () => {
    print(`${await makeSession(await agentService(url), request, url)}\n`);
  });
}

/** Makes a session that later commands use, and returns its id. */
export async function makeSession(
  troupe: Troupe,
  request: Omit<LiveRequest, 'mode'>,
  url: string | undefined,
): Promise<string> {
  const { id } = await troupe.sessions.create({ name: PRODUCT_NAME, ...request });
  await rememberSession(id, url);
  return id;
}

async function list(args: readonly string[]): Promise<number> {
  const { url, all = false } = parseOptions(args, SESSION_LIST);
  return reported(async () => {
    const troupe = await agentService(url);
    const used = await chosenSession({ url });
    const records = await troupe.sessions.list(all ? { limit: 100 } : { state: 'running' });
    for (const record of records) print(`${lineOf(record, used)}\n`);
    if (records.length === 0) printError('There are no sessions.\n');
  });
}

async function remove(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, SESSION_DELETE);
  const { url } = values;
  checkWords(positionals, ['ID'], 0);
  return reported(async () => {
    const id = positionals[0] ?? (await chosenSession({ url }));
    if (id === undefined)
      throw new TroupeError('NOT_FOUND', `There is no session to delete; ${typedCommand()} session list shows all`);
    await (await agentService(url)).sessions.get(id).stop();
    await forgetSession(id, url);
    print(`${id}\n`);
  });
}

function lineOf({ id, status, mode, name, createdAt }: SessionRecord, used: string | undefined): string {
  return [id === used ? '*' : ' ', id, status.padEnd(9), mode, createdAt, name ?? ''].join('  ').trimEnd();
}

function requestOf(given: {
  readonly name?: string | undefined;
  readonly viewport?: string | undefined;
  readonly locale?: string | undefined;
  readonly forward?: string | undefined;
  readonly 'idle-timeout'?: string | undefined;
}): Omit<LiveRequest, 'mode'> {
  const { name, viewport, locale, forward, 'idle-timeout': idle } = given;
  const [, width, height] = /^(\d+)x(\d+)$/.exec(viewport ?? '') ?? [];
  if (viewport !== undefined && width === undefined) throw new UsageError('--viewport takes a size such as 1280x720');
  return {
    ...(name === undefined ? {} : { name }),
    ...(locale === undefined ? {} : { locale }),
    ...(viewport === undefined ? {} : { viewport: { width: Number(width), height: Number(height) } }),
    ...(forward === undefined ? {} : { forward: forward.split(',').map((port) => numberIn('--forward', port)) }),
    ...(idle === undefined ? {} : { idleTimeout: numberIn('--idle-timeout', idle) }),
  };
}

function numberIn(option: string, text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new UsageError(`${option} takes whole numbers, not '${text}'`);
}
