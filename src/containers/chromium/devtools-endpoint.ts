import { get, type RequestOptions } from 'node:http';
import { z } from 'zod';

/** `/json/version` is 600 bytes. */
const MAX_ANSWER_BYTES = 65_536;

const BEHIND_SOCKET = /^ws\+unix:(.*):(\/devtools\/browser\/[\w-]+)$/s;
const BROWSER_PATH = /^\/devtools\/browser\/[\w-]+$/;

const Version = z.looseObject({ Browser: z.string(), webSocketDebuggerUrl: z.string() });

/**
 * Whether the browser behind this URL answers, and is the one that the URL names: another may have its port by now.
 * The answer comes from Chromium's main thread, so a browser that hangs does not give it.
 */
export async function answersAt(cdpUrl: string, signal: AbortSignal): Promise<boolean> {
  try {
    const behindSocket = BEHIND_SOCKET.exec(cdpUrl);
    if (behindSocket !== null) {
      const [, socket = '', path = ''] = behindSocket;
      return (await askAtSocket(socket, signal)).path === path;
    }
    const { host, hostname, port, pathname } = new URL(cdpUrl);
    const version = Version.parse(JSON.parse(await fetchText({ hostname, port, headers: { host } }, signal)));
    return new URL(version.webSocketDebuggerUrl).pathname === pathname;
  } catch {
    return false;
  }
}

/** The CDP WebSocket of the same browser at another unix socket; null where the URL is not that of a browser at one. */
export function movedTo(socket: string, cdpUrl: string): string | null {
  const path = BEHIND_SOCKET.exec(cdpUrl)?.[2];
  return path === undefined ? null : `ws+unix:${socket}:${path}`;
}

/** The browser behind a unix socket: its CDP WebSocket as `ws` takes it, and what it calls itself. Rejects when none answers. */
export async function browserAtSocket(
  socket: string,
  signal: AbortSignal,
): Promise<{ readonly cdpUrl: string; readonly product: string }> {
  const { product, path } = await askAtSocket(socket, signal);
  return { cdpUrl: `ws+unix:${socket}:${path}`, product };
}

async function askAtSocket(socketPath: string, signal: AbortSignal): Promise<{ product: string; path: string }> {
  const text = await fetchText({ socketPath, headers: { host: 'localhost' } }, signal);
  const { Browser, webSocketDebuggerUrl } = Version.parse(JSON.parse(text));
  const path = new URL(webSocketDebuggerUrl).pathname;
  // It becomes a part of a URL that names a socket: with `..` in it that would be another socket.
  if (!BROWSER_PATH.test(path)) throw new Error('The browser names no DevTools path of a browser');
  return { product: Browser.replace('/', ' '), path };
}

function fetchText(place: RequestOptions, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ ...place, path: '/json/version', agent: false, signal }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_ANSWER_BYTES) response.destroy(new Error('The answer is too long'));
        else chunks.push(chunk);
      });
      response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
      response.on('error', reject);
    }).on('error', reject);
  });
}
