import { mkdir } from 'node:fs/promises';
import { AccessTokens } from '../auth/access-tokens.js';
import { RequestVault } from '../auth/request-vault.js';
import { systemClock } from '../base/clock.js';
import { serviceToken } from '../config/environment.js';
import { type Config, readConfig } from '../config.js';
import { Journal } from '../journal/journal.js';
import { CreatedToken, Role, TokenInfo, type TokenLimits, type TokenRequest } from '../protocol/access.js';
import { TOKEN_CREATE, TOKEN_LIST, TOKEN_REVOKE } from '../terminal/commands/service-commands.js';
import { UnprovenService, UsageError } from '../terminal/failure.js';
import { print, printError } from '../terminal/output.js';
import { parseOptions, unknownSubcommand } from '../terminal/parse-options.js';
import { reachService } from './local-service/reach-service.js';
import { ServiceClient } from './service-client.js';
import { keepOutOfGit } from './setup/keep-out-of-git.js';

/** Where tokens are kept: a running service, or its home while none runs. */
interface TokenBook {
  create(request: TokenRequest): Promise<CreatedToken>;
  list(): Promise<readonly TokenInfo[]>;
  revoke(id: string): Promise<void>;
  close(): Promise<void>;
}

/** Makes, lists and revokes access tokens: through the service where one runs, else in its home. */
export async function runToken(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  switch (command) {
    case 'create':
      return create(rest);
    case 'list':
      return list(rest);
    case 'revoke':
      return revoke(rest);
    default:
      throw unknownSubcommand(command, ['create', 'list', 'revoke']);
  }
}

async function create([name, ...rest]: readonly string[]): Promise<number> {
  if (name === undefined || name.startsWith('-')) throw new UsageError('Missing argument: NAME');
  const options = parseOptions(rest, TOKEN_CREATE);
  const role = Role.safeParse(options.role);
  if (!role.success)
    throw new UsageError(
      options.role === undefined
        ? 'Missing option: --role view, run, or admin'
        : `--role takes view, run, or admin, not '${options.role}'`,
    );
  const limits: TokenLimits = {
    ...limit('running', options.running),
    ...limit('queued', options.queued),
    ...limit('perMinute', options['per-minute']),
  };
  const { token, ...info } = await within(options.url, (book) => book.create({ name, role: role.data, limits }));
  printError(`${describe(info)}\nThe token is shown this once:\n`);
  print(`${token}\n`);
  return 0;
}

async function list(rest: readonly string[]): Promise<number> {
  const { url } = parseOptions(rest, TOKEN_LIST);
  const tokens = await within(url, (book) => book.list());
  for (const token of tokens) print(`${describe(token)}\n`);
  if (tokens.length === 0) printError('There are no tokens.\n');
  return 0;
}

async function revoke([id, ...rest]: readonly string[]): Promise<number> {
  if (id === undefined || id.startsWith('-')) throw new UsageError('Missing argument: ID');
  const { url } = parseOptions(rest, TOKEN_REVOKE);
  await within(url, (book) => book.revoke(id));
  print(`${id} is revoked\n`);
  return 0;
}

function limit(name: keyof TokenLimits, text: string | undefined): TokenLimits {
  if (text === undefined) return {};
  if (!/^\d+$/.test(text)) throw new UsageError(`A limit is a whole number, not '${text}'`);
  return { [name]: Number(text) };
}

function describe({ id, name, role, limits, createdAt }: TokenInfo): string {
  const bounds = Object.entries(limits).map(([limit, most]) => `${limit} ${most}`);
  return [id, role.padEnd(5), createdAt, name, ...bounds].join('  ');
}

async function within<T>(url: string | undefined, work: (book: TokenBook) => Promise<T>): Promise<T> {
  const config = readConfig({});
  const reached = await reachService(config, { url, isAdmin: true });
  if (reached instanceof UnprovenService) {
    if (serviceToken() !== undefined) throw reached;
    printError(`${reached.message}\n`);
  }
  if (!(reached instanceof ServiceClient)) printError(`The tokens are those of ${config.home}\n`);
  const book = reached instanceof ServiceClient ? remoteBook(reached) : await localBook(config);
  try {
    return await work(book);
  } finally {
    await book.close();
  }
}

function remoteBook(client: ServiceClient): TokenBook {
  return {
    create: async (request) => CreatedToken.parse(await client.json('POST', '/api/tokens', request)),
    list: async () => TokenInfo.array().parse(await client.json('GET', '/api/tokens')),
    revoke: async (id) => void (await client.json('DELETE', `/api/tokens/${encodeURIComponent(id)}`)),
    close: async () => undefined,
  };
}

/** @throws UNAVAILABLE when another process has the home */
async function localBook(config: Config): Promise<TokenBook> {
  await mkdir(config.home, { recursive: true });
  await keepOutOfGit(config.home);
  const journal = await Journal.open({
    file: config.journalFile,
    database: config.database,
    isShared: config.node !== undefined,
  });
  try {
    const vault = await RequestVault.open(config.keyFile, config.clusterKey);
    const tokens = await AccessTokens.open({ journal, vault, clock: systemClock });
    const configured = config.token !== undefined;
    return {
      create: (request) => tokens.create(request, configured),
      list: async () => tokens.list(),
      revoke: (id) => tokens.revoke(id, configured),
      close: () => journal.close(),
    };
  } catch (error) {
    await journal.close();
    throw error;
  }
}
