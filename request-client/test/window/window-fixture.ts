import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { WindowServer } from '#request-client/window/window-server.js';
import { Workspace, type WorkspaceOptions } from '#request-client/window/workspace.js';
import { openFolder } from '../../../test/containers/driver-fixture.js';
import { openAgent, openBrowser } from '../../../test/support/agent-fixture.js';

/** A request that the test's server got. */
export interface Heard {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/**
 * A server that answers with JSON of the request, and `/bytes` with three megabytes of binary data. `status` and
 * `redirect` are for the next answers.
 */
export interface EchoServer {
  readonly origin: string;
  readonly heard: Heard[];
  status: number;
  redirect: string | null;
  /** Delay before an answer; a client that has disconnected gets none. */
  delayMs: number;
}

export async function startEcho(t: Test): Promise<EchoServer> {
  const heard: Heard[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url = '', headers } = request;
    heard.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
    if (echo.delayMs > 0) {
      const timer = setTimeout(() => response.end(), echo.delayMs);
      return void response.once('close', () => clearTimeout(timer));
    }
    if (url === '/bytes') return void response.end(Buffer.alloc(3_000_000, 'A\0'));
    response.writeHead(echo.redirect === null ? echo.status : 302, {
      'Content-Type': 'application/json',
      ...(echo.redirect === null ? {} : { Location: echo.redirect }),
    });
    response.end(JSON.stringify({ method, url, id: 7 }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  const echo: EchoServer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard,
    status: 200,
    redirect: null,
    delayMs: 0,
  };
  return echo;
}

/** A window of the request client in real Chromium, with ways to wait for its content. */
export interface WindowFixture {
  readonly server: WindowServer;
  readonly workspace: Workspace;
  readonly folder: string;
  /** An agent's call on the page. */
  call(method: string, ...args: readonly unknown[]): Promise<unknown>;
  act(locator: string, action: string, value?: unknown): Promise<unknown>;
  /** A key press anywhere; modifiers as in `Control+s`. */
  press(key: string): Promise<unknown>;
  /** Waits until an expression is true in the page, for at most 20 s. */
  holds(expression: string): Promise<void>;
  shows(text: string): Promise<void>;
  text(): Promise<string>;
  /** What axe, once loaded, reports for the current page: light, then dark. */
  faults(): Promise<unknown>;
}

export async function openWindow(t: Test, options: Partial<WorkspaceOptions> = {}): Promise<WindowFixture> {
  const folder = openFolder(t);
  const workspace = new Workspace({ openBrowser: async () => undefined, ...options });
  const server = await WindowServer.start({ workspace, folder, port: 0 });
  t.teardown(async () => {
    await server.close();
    await workspace.close();
  });
  const { call } = await openAgent(t, await openBrowser(t));
  const holds = async (expression: string): Promise<void> => {
    const deadline = Date.now() + 60_000;
    while ((await call('page', expression)) !== true) {
      if (Date.now() > deadline)
        throw new Error(`Not so: ${expression}\n${await call('page', 'document.body.innerText')}`);
      // Paced by the page's frames, which show each update.
      await call('page', 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    }
  };
  const faults = async (): Promise<unknown> => {
    const run = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html, any, all }) =>
        [id, html.slice(0, 200), ...[...any, ...all].map(({ message }) => message)].join(' | '))))`;
    const found: unknown[] = [];
    for (const scheme of ['light', 'dark']) {
      await call('page', `document.documentElement.style.colorScheme = '${scheme}'`);
      found.push(await call('page', run));
    }
    await call('page', "document.documentElement.style.colorScheme = ''");
    return found;
  };
  await call('go', server.url);
  await holds('document.querySelector("nav") !== null');
  return {
    server,
    workspace,
    folder,
    call,
    act: (locator, action, value) => call('act', locator, action, ...(value === undefined ? [] : [value])),
    press: (key) => call('act', 'body', 'press', key),
    holds,
    shows: (text) => holds(`document.body.innerText.includes(${JSON.stringify(text)})`),
    text: async () => String(await call('page', 'document.body.innerText')),
    faults,
  };
}
