import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Test } from 'tap';
import { openFolder } from '../containers/driver-fixture.js';

/** What an engine says of itself. */
export interface EngineRelease {
  readonly Version: string;
  readonly ApiVersion: string;
  readonly MinAPIVersion: string;
  readonly Components?: readonly { readonly Name: string }[];
}

export const ENGINE_20_10: EngineRelease = { Version: '20.10.24', ApiVersion: '1.41', MinAPIVersion: '1.12' };
export const ENGINE_28: EngineRelease = { Version: '28.5.1', ApiVersion: '1.51', MinAPIVersion: '1.24' };
export const ENGINE_29: EngineRelease = { Version: '29.1.2', ApiVersion: '1.52', MinAPIVersion: '1.44' };
export const PODMAN: EngineRelease = {
  Version: '5.6.1',
  ApiVersion: '1.41',
  MinAPIVersion: '1.24',
  Components: [{ Name: 'Podman Engine' }],
};

/** What a fake engine answers: JSON, `undefined` to let the call hang. It may write to the response itself. */
export type EngineAnswer = (call: string, response: ServerResponse, request: IncomingMessage) => unknown;

export interface FakeEngine {
  readonly socketPath: string;
  /** The calls so far, as `POST /containers/create`, without those for the version. */
  readonly calls: string[];
  /** Every call as it came, with its API version and query. */
  readonly urls: string[];
  /** Takes the place of the one that is there, as an upgrade does. */
  become(release: EngineRelease): void;
}

/** An engine of a release, which refuses other API versions with its words; a test answers the calls. */
export async function fakeEngine(t: Test, answer: EngineAnswer, first: EngineRelease = ENGINE_28): Promise<FakeEngine> {
  let release = first;
  const calls: string[] = [];
  const urls: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://x');
    const [, version, path = ''] = /^(?:\/v(\d+\.\d+))?(\/.*)$/.exec(pathname) ?? [];
    urls.push(`${request.method} ${pathname}${search}`);
    const refused = version === undefined ? null : refusal(version, release);
    if (refused !== null) {
      response.writeHead(400).end(JSON.stringify({ message: refused }));
      return;
    }
    const call = `${request.method} ${path}`;
    if (call !== 'GET /version') calls.push(call);
    const said = call === 'GET /version' ? release : answer(call, response, request);
    if (said !== undefined) response.end(JSON.stringify(said));
  });
  server.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)));
  const socketPath = join(openFolder(t), 's');
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    socketPath,
    calls,
    urls,
    become(next) {
      release = next;
    },
  };
}

function refusal(asked: string, { ApiVersion, MinAPIVersion }: EngineRelease): string | null {
  const minor = (version: string) => Number(version.split('.')[1]);
  if (minor(asked) < minor(MinAPIVersion)) {
    return `client version ${asked} is too old. Minimum supported API version is ${MinAPIVersion}, please upgrade your client to a newer version`;
  }
  if (minor(asked) > minor(ApiVersion)) {
    return `client version ${asked} is too new. Maximum supported API version is ${ApiVersion}`;
  }
  return null;
}
