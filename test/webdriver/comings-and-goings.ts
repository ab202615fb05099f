import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { chromium } from 'playwright-core';
import { connect } from 'puppeteer-core';
import { WebSocket } from 'ws';
import { killBrowser, runningBrowsers } from '../support/browsers.js';
import { chromedrivers } from '../support/chromedrivers.js';
import { containerOf, containersUnder, docker } from '../support/docker.js';
import { eventually } from '../support/eventually.js';
import type { Teardown, TestService } from '../support/service.js';

export const IN_DOCKER = process.env.TROUPE_TEST_DRIVER === 'docker';

/** What a way of coming and going has to work with. */
export interface Scene {
  readonly service: TestService;
  readonly began: Began;
  /** Of this connection alone. */
  readonly name: string;
}

/** One connection from its beginning to its end; resolves with the ids of sessions that it knows it had. */
export type Way = (scene: Scene) => Promise<readonly string[]>;

/** Pages tell it that their script runs. */
export class Began {
  readonly #server: Server;
  readonly #names = new Set<string>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => {
      this.#names.add((request.url ?? '').slice(1));
      response.end();
    });
  }

  static async listen(t: Teardown): Promise<Began> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => {
      server.closeAllConnections();
      server.close();
    });
    return new Began(server);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** A script that tells of itself and never ends. */
  script(name: string): string {
    return `fetch('http://127.0.0.1:${this.port}/${name}', { mode: 'no-cors' })`;
  }

  async reached(name: string): Promise<void> {
    await eventually(`the script of ${name} runs`, () => this.#names.has(name));
  }
}

/** What is left of a service's browsers. */
export async function browsersLeft(): Promise<readonly string[]> {
  return IN_DOCKER ? containersUnder(tmpdir()) : runningBrowsers();
}

async function create({ service, began, name }: Scene, more: object = {}): Promise<string> {
  const options = { name, forward: [began.port], ...more };
  const body = { capabilities: { alwaysMatch: { 'troupe:options': options } } };
  const answered = await service.call('POST', '/session', body);
  if (answered.status !== 200) throw new Error(`${name}: ${JSON.stringify(answered.body)}`);
  return answered.body.value.sessionId;
}

/** A command that waits until something ends it; settles with the status of its answer, or 0 if there is none. */
async function hang(scene: Scene, id: string, signal?: AbortSignal): Promise<{ readonly answer: Promise<number> }> {
  const { service, began, name } = scene;
  const init = signal === undefined ? {} : { signal };
  const body = { script: began.script(name), args: [] };
  const answer = service.call('POST', `/session/${id}/execute/async`, body, init).then(
    ({ status }) => status,
    () => 0,
  );
  await began.reached(name);
  return { answer };
}

/** The session ends without anybody's help. */
async function ends({ service, name }: Scene, id: string): Promise<void> {
  await eventually(`${name} has ended`, async () => {
    const { body } = await service.call('GET', `/api/sessions/${id}`);
    return /stopped|failed/.test(body.status);
  });
}

/** The session is gone for its WebDriver client too, and the command that it waited for has failed. */
async function isOver(scene: Scene, id: string, answer: Promise<number>): Promise<readonly string[]> {
  const status = await answer;
  if (status < 400) throw new Error(`${scene.name}: the command was answered with ${status}`);
  await ends(scene, id);
  const { body } = await scene.service.call('GET', `/session/${id}/title`);
  if (body.value.error !== 'invalid session id') throw new Error(`${scene.name}: ${JSON.stringify(body)}`);
  return [id];
}

async function killItsBrowser(id: string): Promise<void> {
  if (IN_DOCKER) await docker('kill', await containerOf(id));
  else killBrowser(id);
}

/** Its page has a title of its own, by which its chromedriver is known. */
async function killItsDriver(title: string): Promise<void> {
  const found = new AbortController();
  const { signal } = found;
  const asked = chromedrivers().map(async (pid) => {
    const [, port] = /--port=(\d+)/.exec(readFileSync(`/proc/${pid}/cmdline`, 'latin1')) ?? [];
    const ask = async (path: string) =>
      JSON.parse(await (await fetch(`http://127.0.0.1:${port}${path}`, { signal })).text());
    const [session] = (await ask('/sessions')).value;
    if ((await ask(`/session/${session.id}/title`)).value !== title) throw new Error('Another one');
    return pid;
  });
  const pid = await Promise.any(asked);
  found.abort();
  await Promise.allSettled(asked);
  process.kill(pid, 'SIGKILL');
}

const socketOf = ({ service }: Scene): string => `${service.url.replace('http', 'ws')}/cdp`;

/** Each way of coming and going over WebDriver, by its name. */
export const WEBDRIVER_WAYS: { readonly [name: string]: Way } = {
  async 'a client that ends its session'(scene) {
    const id = await create(scene);
    await scene.service.call('POST', `/session/${id}/url`, { url: 'about:blank' });
    await scene.service.call('DELETE', `/session/${id}`);
    return [id];
  },
  async 'a client that ends it twice'(scene) {
    const id = await create(scene);
    const ended = await Promise.all([1, 2].map(() => scene.service.call('DELETE', `/session/${id}`)));
    if (!ended.some(({ status }) => status === 200)) throw new Error(JSON.stringify(ended.map(({ body }) => body)));
    return [id];
  },
  async 'a client that leaves before it is answered'({ service, name }) {
    const leaves = new AbortController();
    const body = { capabilities: { alwaysMatch: { 'se:name': name } } };
    const made = service.call('POST', '/session', body, { signal: leaves.signal }).catch(() => null);
    await service.call('GET', '/api/health');
    leaves.abort();
    await made;
    return [];
  },
  async 'a client that leaves when its session runs, before it is answered'(scene) {
    const { service, name } = scene;
    const leaves = new AbortController();
    const body = { capabilities: { alwaysMatch: { 'se:name': name } } };
    const made = service.call('POST', '/session', body, { signal: leaves.signal }).catch(() => null);
    let id = '';
    await eventually(`${name} begins`, async () => {
      const { body } = await service.call('GET', `/api/sessions?limit=1000`);
      id = body.find((one: { name?: string }) => one.name === name)?.id ?? '';
      return id !== '';
    });
    leaves.abort();
    await made;
    await ends(scene, id);
    return [id];
  },
  async 'a client that leaves in a command and does not come back'(scene) {
    const id = await create(scene, { idleTimeout: 10 });
    await scene.service.call('POST', `/session/${id}/timeouts`, { script: 500 });
    const leaves = new AbortController();
    const { answer } = await hang(scene, id, leaves.signal);
    leaves.abort();
    await answer;
    await ends(scene, id);
    return [id];
  },
  async 'a session that is deleted in a command'(scene) {
    const id = await create(scene);
    const { answer } = await hang(scene, id);
    await scene.service.call('DELETE', `/api/sessions/${id}`);
    return isOver(scene, id, answer);
  },
  async 'a browser that is killed in a command'(scene) {
    const id = await create(scene);
    const { answer } = await hang(scene, id);
    await killItsBrowser(id);
    return isOver(scene, id, answer);
  },
  async 'a chromedriver that is killed'(scene) {
    const { service, name } = scene;
    const id = await create(scene);
    await service.call('POST', `/session/${id}/url`, { url: `data:text/html,<title>${name}</title>` });
    await killItsDriver(name);
    const { status } = await service.call('POST', `/session/${id}/refresh`, {});
    return isOver(scene, id, Promise.resolve(status));
  },
};

/** The same over `/cdp` and `/playwright`. */
export const SOCKET_WAYS: { readonly [name: string]: Way } = {
  async 'Puppeteer that closes its browser'(scene) {
    const browser = await connect({ browserWSEndpoint: socketOf(scene) });
    await browser.newPage();
    await browser.close();
    return [];
  },
  async 'Puppeteer that disconnects'(scene) {
    const browser = await connect({ browserWSEndpoint: socketOf(scene) });
    await browser.disconnect();
    return [];
  },
  async 'Playwright that closes its connection'({ service }) {
    const browser = await chromium.connectOverCDP(`${service.url.replace('http', 'ws')}/playwright`);
    await browser.contexts()[0]?.newPage();
    await browser.close();
    return [];
  },
  async 'a client whose line is cut before it is connected'(scene) {
    const socket = new WebSocket(socketOf(scene));
    socket.on('error', () => undefined);
    await scene.service.call('GET', '/api/health');
    socket.terminate();
    return [];
  },
  async 'a client whose line is cut in a command'(scene) {
    const socket = new WebSocket(socketOf(scene));
    await once(socket, 'open');
    const closed = once(socket, 'close').then(([code, reason]) => Promise.reject(new Error(`${code}: ${reason}`)));
    socket.send(JSON.stringify({ id: 1, method: 'Target.getTargets' }));
    await Promise.race([once(socket, 'message'), closed]);
    socket.send(JSON.stringify({ id: 2, method: 'Target.createTarget', params: { url: 'about:blank' } }));
    socket.terminate();
    return [];
  },
};
