import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Test } from 'tap';
import { Agent } from '#troupe/agent-js/agent.js';
import type { WholeLook } from '#troupe/agent-js/look/look.js';
import type { StepScreenshotPolicy } from '#troupe/agent-js/steps.js';
import type { BrowserLease, LeaseOptions } from '#troupe/containers/driver.js';
import { encodeError } from '#troupe/protocol/errors.js';
import type { EventData, EventType, SessionEvent } from '#troupe/protocol/events.js';
import type { HostCallContext } from '#troupe/script/host-module.js';
import { Browser } from '#troupe/session/browser.js';
import { DevToolsChannel } from '#troupe/session/connection/devtools-channel.js';
import type { BrowserOptions } from '#troupe/session/session-options.js';
import { bounds, driverFixture, openFolder, wish } from '../containers/driver-fixture.js';
import { dockerFixture } from './docker.js';

/** Which driver's browsers the agent is tried on: `TROUPE_TEST_DRIVER=docker`, or processes. */
export const inContainers = process.env.TROUPE_TEST_DRIVER === 'docker';
const VIEWPORT = { width: 1280, height: 720 };
/** The sites of tests listen on this machine's loopback, at whatever port is free. */
const EVERY_PORT = Array.from({ length: 65_535 }, (_, index) => index + 1);

/** A real browser, ready to be connected to; gone at the test's end. */
export async function openBrowser(t: Test, proxy?: LeaseOptions['proxy']): Promise<BrowserLease> {
  if (!inContainers) return openReadersBrowser(t, proxy);
  const { driver } = await dockerFixture(t);
  const lease = await driver.lease(wish('agent', { viewport: VIEWPORT, proxy }), bounds());
  t.teardown(() => lease.release());
  lease.permit({ forward: EVERY_PORT });
  return lease;
}

/** The browser of a person, which is a process of this machine wherever sessions have theirs. */
export async function openReadersBrowser(t: Test, proxy?: LeaseOptions['proxy']): Promise<BrowserLease> {
  const { driver } = await driverFixture(t);
  const lease = await driver.lease(wish('agent', { viewport: VIEWPORT, proxy }), bounds());
  t.teardown(() => lease.release());
  return lease;
}

export interface Site {
  readonly origin: string;
  /** What a path answers: HTML, or a handler of its own. A path that is not set answers 404. */
  set(path: string, page: string | RequestListener): string;
}

export async function openSite(t: Test): Promise<Site> {
  const pages = new Map<string, string | RequestListener>();
  const server = createServer((request, response) => {
    const page = pages.get(new URL(request.url ?? '/', 'http://localhost').pathname);
    if (typeof page === 'function') return page(request, response);
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(page ?? '<title>Nothing here</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const set = (path: string, page: string | RequestListener): string => {
    pages.set(path, page);
    return origin + path;
  };
  return { origin, set };
}

export interface AgentFixture {
  readonly agent: Agent;
  readonly browser: Browser;
  readonly events: readonly SessionEvent[];
  readonly screenshotsDir: string;
  /** A call as a script makes it: arguments and result go through JSON. */
  call(method: string, ...args: readonly unknown[]): Promise<unknown>;
  look(options?: object): Promise<WholeLook>;
  /** As `call`, with another deadline or signal. */
  callWithin(
    limits: { ms?: number; signal?: AbortSignal; flowRun?: number | null; flow?: string },
    method: string,
    ...args: readonly unknown[]
  ): Promise<unknown>;
  /** As `call`, from a flow. */
  callFrom(
    site: { flowRun: number | null; flow?: string },
    method: string,
    ...args: readonly unknown[]
  ): Promise<unknown>;
  /** The error that a call fails with. */
  failure(method: string, ...args: readonly unknown[]): Promise<ReturnType<typeof encodeError>>;
  told<T extends EventType>(type: T): EventData<T>[];
}

const channels = new Map<BrowserLease, DevToolsChannel>();

/** Connects to a browser, over the channel of those that are connected already. It is closed with the test. */
export async function connectBrowser(
  t: Test,
  lease: BrowserLease,
  options: BrowserOptions,
  limits: Parameters<typeof Browser.connect>[3],
): Promise<Browser> {
  const known = channels.get(lease);
  const channel = known?.isOpen ? known : await DevToolsChannel.open(lease.devTools(), limits);
  if (channel !== known) t.teardown(() => channel.close());
  channels.set(lease, channel);
  return Browser.connect(lease.endpoint, channel, options, limits);
}

/** An agent on a browser; several may follow one another on the same. */
export async function openAgent(
  t: Test,
  lease: BrowserLease,
  more: {
    policy?: StepScreenshotPolicy;
    options?: BrowserOptions;
    allowedSchemes?: readonly string[];
    actMs?: number;
    takesOver?: boolean;
    flowsDir?: string;
    updating?: boolean;
  } = {},
): Promise<AgentFixture> {
  const screenshotsDir = join(openFolder(t), 'screenshots');
  const browser = await connectBrowser(t, lease, more.options ?? {}, {
    ...bounds(),
    takesOver: more.takesOver ?? false,
  });
  const events: SessionEvent[] = [];
  const agent = new Agent({
    browser,
    emit: (event) => events.push(event),
    screenshotsDir,
    stepScreenshots: more.policy ?? 'idle',
    ...(more.flowsDir === undefined ? {} : { flowsDir: more.flowsDir }),
    ...(more.updating === undefined
      ? {}
      : { baselines: { artifactsDir: openFolder(t), platform: 'test-system', updating: more.updating } }),
    ...(more.actMs === undefined ? {} : { actMs: more.actMs }),
    ...(more.allowedSchemes === undefined ? {} : { allowedSchemes: more.allowedSchemes }),
  });
  t.teardown(async () => {
    await agent.dispose();
    browser.close();
  });
  const callWithin: AgentFixture['callWithin'] = async (
    { ms = 90_000, signal, flowRun = null, flow },
    method,
    ...args
  ) => {
    const deadline = performance.now() + ms;
    const context: HostCallContext = {
      signal: signal ?? new AbortController().signal,
      remainingMs: () => deadline - performance.now(),
      pause: () => () => undefined,
      site: { kind: 'script', flow: flow ?? null, flowRun, line: 1, column: 1 },
    };
    const run = agent.module.calls[method];
    if (run === undefined) throw new Error(`No call ${method}`);
    const json = JSON.stringify(args.map((arg) => arg ?? null));
    return JSON.parse(JSON.stringify((await run(JSON.parse(json), context)) ?? null));
  };
  return {
    agent,
    browser,
    events,
    screenshotsDir,
    callWithin,
    call: (method, ...args) => callWithin({}, method, ...args),
    callFrom: (site, method, ...args) => callWithin(site, method, ...args),
    look: async (options) => (await callWithin({}, 'look', options)) as WholeLook,
    failure: async (method, ...args) => {
      try {
        await callWithin({}, method, ...args);
      } catch (error) {
        return encodeError(error);
      }
      throw new Error(`${method} did not fail`);
    },
    told: <T extends EventType>(type: T) =>
      events.filter((event) => event.type === type).map((event) => event.data as EventData<T>),
  };
}
