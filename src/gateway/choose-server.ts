import { TroupeError } from '../protocol/errors.js';
import type { ServerName, StartServer } from './http/http-server.js';

/** Which HTTP server to use; `auto` prefers uWebSockets.js and falls back to node:http if it cannot be loaded. */
export type ServerOption = 'auto' | ServerName;

/** The HTTP server of a service. */
export interface ServerChoice {
  readonly name: ServerName;
  readonly start: StartServer;
  /** The server and why it was chosen, for people. */
  readonly description: string;
  /** Why `auto` fell back to node:http; null otherwise. */
  readonly fallbackReason: string | null;
}

/**
 * Loads the chosen HTTP server only: uWebSockets.js has no binary for some machines.
 * @param load loads uWebSockets.js; replaced in tests
 * @throws UNAVAILABLE if `uws` was asked for and cannot be loaded
 */
export async function chooseServer(
  option: ServerOption = 'auto',
  load: () => Promise<{ readonly startUwsServer: StartServer }> = () => import('./uws/uws-server.js'),
): Promise<ServerChoice> {
  if (option === 'node') return nodeServer('node:http, set by "server" in troupe.json', null);
  try {
    const { startUwsServer } = await load();
    return { name: 'uws', start: startUwsServer, description: 'uWebSockets.js', fallbackReason: null };
  } catch (cause) {
    const why = whyNot(cause);
    if (option === 'auto') return nodeServer(`node:http (${why})`, why);
    const message = `The HTTP server cannot be "uws": ${why}. Set "server" in troupe.json to "auto" or "node", or use Node 20`;
    throw new TroupeError('UNAVAILABLE', message, undefined, { cause });
  }
}

async function nodeServer(description: string, fallbackReason: string | null): Promise<ServerChoice> {
  const { startNodeServer } = await import('./node/node-server.js');
  return { name: 'node', start: startNodeServer, description, fallbackReason };
}

/** The package's own sentence is always the same; the loader's message, which has the reason, follows it. */
function whyNot(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  const node = `Node ${process.versions.node.split('.')[0]}`;
  const [, glibc] = /GLIBC_([\d.]+)' not found/.exec(text) ?? [];
  if (glibc !== undefined) return `the binary of uWebSockets.js for ${node} needs glibc ${glibc} or later`;
  if (/Cannot find module '\.\/uws_/.test(text)) {
    return `uWebSockets.js has no binary for ${node} on this system (${process.platform} ${process.arch})`;
  }
  if (/Cannot find (module|package) 'uWebSockets\.js'/.test(text)) return 'uWebSockets.js is not installed';
  const lastLine = text.split('\n').findLast((line) => line.trim() !== '') ?? '';
  return `uWebSockets.js cannot be loaded: ${lastLine.trim().slice(0, 300)}`;
}
