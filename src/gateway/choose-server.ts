import { TroupeError } from '../protocol/errors.js';
import type { ServerName, StartServer } from './http/http-server.js';

/** Which HTTP server is wanted; `auto` takes uWebSockets.js where it can be loaded. */
export type ServerWish = 'auto' | ServerName;

/** The HTTP server of a service. */
export interface ServerChoice {
  readonly name: ServerName;
  readonly start: StartServer;
  /** For people: which one it is. */
  readonly description: string;
  /** Why it is not the faster one, which was wanted too; null otherwise. */
  readonly shortcoming: string | null;
}

/**
 * Loads the HTTP server that is wanted, and no other: the binary of uWebSockets.js does not exist for every machine.
 * @param load what loads uWebSockets.js; a test has another
 * @throws UNAVAILABLE where `uws` is wanted and cannot be loaded
 */
export async function chooseServer(
  wish: ServerWish = 'auto',
  load: () => Promise<{ readonly startUwsServer: StartServer }> = () => import('./uws/uws-server.js'),
): Promise<ServerChoice> {
  if (wish === 'node') return nodeServer('node:http, as "server" in troupe.json says', null);
  try {
    const { startUwsServer } = await load();
    return { name: 'uws', start: startUwsServer, description: 'uWebSockets.js', shortcoming: null };
  } catch (cause) {
    const why = whyNot(cause);
    if (wish === 'auto') return nodeServer(`node:http (${why})`, why);
    const message = `The HTTP server cannot be "uws": ${why}. Set "server" in troupe.json to "auto" or "node", or use Node 20`;
    throw new TroupeError('UNAVAILABLE', message, undefined, { cause });
  }
}

async function nodeServer(description: string, shortcoming: string | null): Promise<ServerChoice> {
  const { startNodeServer } = await import('./node/node-server.js');
  return { name: 'node', start: startNodeServer, description, shortcoming };
}

/** The package says the same whatever went wrong, and then what the loader said. */
function whyNot(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  const node = `Node ${process.versions.node.split('.')[0]}`;
  const [, glibc] = /GLIBC_([\d.]+)' not found/.exec(text) ?? [];
  if (glibc !== undefined) return `the binary of uWebSockets.js for ${node} needs glibc ${glibc} or later`;
  if (/Cannot find module '\.\/uws_/.test(text)) {
    return `uWebSockets.js has no binary for ${node} on this system (${process.platform} ${process.arch})`;
  }
  if (/Cannot find (module|package) 'uWebSockets\.js'/.test(text)) return 'uWebSockets.js is not installed';
  const said = text.split('\n').findLast((line) => line.trim() !== '') ?? '';
  return `uWebSockets.js cannot be loaded: ${said.trim().slice(0, 300)}`;
}
