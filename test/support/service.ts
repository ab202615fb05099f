import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readVersion } from '#troupe/cli/version.js';
import { readConfig } from '#troupe/config.js';
import type { EventType } from '#troupe/protocol/events.js';
import type { SessionRecord } from '#troupe/protocol/session.js';
import { type Service, startService } from '#troupe/service.js';
import type { LogAbout } from '#troupe/telemetry/log.js';
import { EventReader } from './event-reader.js';
import { cacheDir } from './shared-cache.js';
import { storeSettings } from './test-store.js';
import { testedServer } from './tested-server.js';

/** Something that calls back when the test is over; a tap test is one. */
export interface Teardown {
  teardown(work: () => unknown): void;
}

/** An answer of the service, its body parsed where it is JSON. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of the body is what it goes on to check
  readonly body: any;
}

/** A whole service in a home of its own, as `troupe dashboard` would run it. */
export interface TestService {
  readonly url: string;
  readonly home: string;
  readonly logged: readonly string[];
  /** Who changed what. */
  readonly audited: readonly ({ readonly line: string } & LogAbout)[];
  call(method: string, path: string, body?: unknown, init?: RequestInit): Promise<Answered>;
  live(request?: object): Promise<SessionRecord>;
  run(id: string, js: string): Promise<Answered>;
  /** Settles when the session has told of an event of the type. */
  seen(id: string, type: EventType, times?: number): Promise<void>;
  /** Submits flow files as a job and answers its record when it has ended. */
  job(request: object): Promise<SessionRecord>;
  stop(drainMs?: number): Promise<void>;
}

/**
 * A folder for a service; removed when the test is over. Example flows are in `flows/examples/`. No browser is started
 * ahead unless the settings say so.
 */
export function makeHome(t: Teardown, settings: object = {}): string {
  // Not below the checkout: the browsers' user must reach it.
  const home = mkdtempSync(join(tmpdir(), 'troupe-test-'));
  chmodSync(home, 0o755);
  t.teardown(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, 'flows'));
  cpSync('examples/flows', join(home, 'flows', 'examples'), { recursive: true });
  // Where no Chromium is installed, each home would unpack the embedded one for itself: 200 MB, and seconds.
  mkdirSync(join(home, 'tmp'));
  mkdirSync(cacheDir(), { recursive: true });
  symlinkSync(cacheDir(), join(home, 'tmp', 'chromium'));
  // Whether or not this machine has Docker; the tests of containers say so.
  const driver = process.env.TROUPE_TEST_DRIVER ?? 'process';
  writeFileSync(
    join(home, 'troupe.json'),
    JSON.stringify({ driver, server: testedServer(), warmSessions: 0, ...storeSettings(t), ...settings }),
  );
  return home;
}

/** Starts a service in this process, on a free port unless one is given. It is stopped, without waiting for jobs, when the test is over. */
export async function startTestService(
  t: Teardown,
  settings: object = {},
  home: string = makeHome(t, settings),
  port = 0,
): Promise<TestService> {
  const logged: string[] = [];
  const audited: ({ line: string } & LogAbout)[] = [];
  const env = { ...process.env, TROUPE_HOME: home };
  const service: Service = await startService(readConfig({ port: String(port) }, env), {
    version: readVersion(),
    log: (line, about) => (about?.audit ? audited.push({ line, ...about }) : logged.push(line)),
  });
  t.teardown(() => service.stop({ drainMs: 0 }));
  return {
    ...client(service.url),
    home,
    logged,
    audited,
    stop: (drainMs) => service.stop(drainMs === undefined ? {} : { drainMs }),
  };
}

/**
 * The calls that a test makes of a service that runs anywhere.
 * @param headers sent with each of them, such as a token
 */
export function client(
  url: string,
  headers: { readonly [name: string]: string } = {},
): Pick<TestService, 'url' | 'call' | 'live' | 'run' | 'seen' | 'job'> {
  const call: TestService['call'] = async (method, path, body, init) => {
    const response = await fetch(url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...init,
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
  const expectStatus = ({ status, body }: Answered, wanted: number) => {
    if (status !== wanted) throw new Error(`Answered ${status}: ${JSON.stringify(body)}`);
    return body;
  };
  return {
    url,
    call,
    live: async (request = {}) => expectStatus(await call('POST', '/api/sessions', request), 201),
    run: (id, js) => call('POST', `/sessions/${id}/proxy`, { js }),
    async seen(id, type, times = 1) {
      const reader = await EventReader.open(url, `/api/sessions/${id}/events`);
      await reader.until(({ events }) => events.filter((event) => event.type === type).length >= times);
      reader.cut();
    },
    job: async (request) =>
      expectStatus(
        await call('POST', '/api/sessions/run', { prompt: 'a test', maxIterations: 0, waitTimeout: 120, ...request }),
        200,
      ),
  };
}
