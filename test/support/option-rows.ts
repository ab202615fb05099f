import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import type { Test } from 'tap';
import type { z } from 'zod';
import type { AutoRequest, JobRequest, LiveRequest, RunRequest } from '#troupe/protocol/session.js';
import { SELF_SIGNED } from '../../request-client/test/engine/run/self-signed.js';
import { openSite } from './agent-fixture.js';

/** Every field that any of the requests for a session or a job has. */
export type OptionField = keyof z.output<typeof RunRequest> | keyof AutoRequest | keyof JobRequest | keyof LiveRequest;

type Ask = Partial<Omit<RunRequest, 'mode' | 'waitTimeout'>>;

/** How a test sees that a field of a request holds. */
export type OptionRow =
  /** A script sees it. */
  | {
      readonly kind: 'seen';
      readonly ask: Ask;
      /** A function of `agent`, as source. It first opens what it needs. */
      readonly see: string;
      readonly expected: unknown;
      /** It is not for a live session. */
      readonly jobsOnly?: true;
      /** It is not for the browsers of `agent.session`, and why. */
      readonly notSecond?: string;
      /** It can only be told apart with this driver. */
      readonly driver?: 'docker';
    }
  /** It is in what the session leaves, after a script that opens the page `/`. */
  | {
      readonly kind: 'left';
      readonly ask: Ask;
      readonly isThere: (files: ReadonlyMap<string, Buffer>) => boolean;
    }
  /** The record has it. */
  | { readonly kind: 'record'; readonly ask: Ask; readonly record: object }
  /** Nothing of it is in a browser or in its actor: the service acts on it, the same for all browsers. */
  | { readonly kind: 'service'; readonly what: string };

export interface OptionSite {
  readonly rows: { readonly [F in OptionField]-?: OptionRow };
  /** The address of a page with a field. */
  readonly page: string;
  /** A file for `requests/`, with the request `inner/get`. */
  readonly requests: object;
  /** The ports of the servers that every session of a container may reach, through the setting of the same name. */
  readonly forward: readonly number[];
}

/** In a script: what a call returns, or the code of its error. */
const TRIED = `const tried = (call) => { try { return call() } catch (error) { return error.code } };`;

/** Servers of the test's own, and a row for every field. */
export async function openOptionSite(t: Test): Promise<OptionSite> {
  const site = await openSite(t);
  const base = site.origin;
  const page = site.set('/', '<title>Here</title><input aria-label=Name><p>Hello</p>');
  site.set('/asked', (request, response) => {
    const { 'x-team': team, 'user-agent': agent } = request.headers;
    response.setHeader('content-type', 'text/html').end(`<title>${team} ${agent}</title>`);
  });
  site.set('/in', (request, response) => {
    const given = Buffer.from(request.headers.authorization?.slice('Basic '.length) ?? '', 'base64').toString();
    if (given === 'ada:secret') response.setHeader('content-type', 'text/html').end('<title>In</title>');
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="r"' }).end();
  });
  site.set('/inner', (_, response) => response.setHeader('content-type', 'text/html').end('<title>Inner</title>'));
  const secure = await portOf(
    t,
    createTlsServer(SELF_SIGNED, (_, response) => {
      response.setHeader('content-type', 'text/html').end('<title>Secure</title>');
    }),
  );
  const proxy = await portOf(
    t,
    createServer((_, response) => {
      response.setHeader('content-type', 'text/html').end('<title>By proxy</title>');
    }),
  );
  const sitePort = Number(new URL(base).port);
  const forwarded = await portOf(
    t,
    createServer((_, response) => {
      response.setHeader('content-type', 'text/html').end('<title>Forwarded</title>');
    }),
  );
  const shows = (expression: string) =>
    `(agent) => { agent.go('${page}'); return agent.page(${JSON.stringify(expression)}) }`;
  const title = (path: string) => `(agent) => { ${TRIED} return tried(() => agent.go('${path}').title) }`;
  const reaches = `(agent) => { ${TRIED} return [tried(() => agent.go('${base}/inner').title),
    tried(() => Request.run('inner/get').status), tried(() => Flow.run('lib/ask'))] }`;
  const service = (what: string): OptionRow => ({ kind: 'service', what });
  const seen = (
    ask: Ask,
    see: string,
    expected: unknown,
    more: Pick<Extract<OptionRow, { kind: 'seen' }>, 'jobsOnly' | 'notSecond' | 'driver'> = {},
  ): OptionRow => ({ kind: 'seen', ask, see, expected, ...more });

  const rows: OptionSite['rows'] = {
    mode: service('which of the requests it is'),
    name: { kind: 'record', ask: { name: 'checkout' }, record: { name: 'checkout' } },
    labels: { kind: 'record', ask: { labels: { branch: 'main' } }, record: { labels: { branch: 'main' } } },
    viewport: seen({ viewport: { width: 900, height: 600 } }, shows('[innerWidth, innerHeight]'), [900, 600]),
    locale: seen({ locale: 'de-DE' }, shows('navigator.language + (1234.5).toLocaleString()'), 'de-DE1.234,5'),
    timezone: seen({ timezone: 'Asia/Tokyo' }, shows('new Date(0).getTimezoneOffset()'), -540),
    device: seen({ device: 'iPhone 15' }, shows('[devicePixelRatio, navigator.maxTouchPoints > 0]'), [3, true]),
    permissions: seen(
      { permissions: ['notifications'] },
      shows("navigator.permissions.query({ name: 'notifications' }).then(({ state }) => state)"),
      'granted',
    ),
    // It is told to pages that may ask.
    geolocation: seen(
      { geolocation: { latitude: 48.2, longitude: 16.37 }, permissions: ['geolocation'] },
      shows(`new Promise((done) => navigator.geolocation.getCurrentPosition(
        ({ coords }) => done([coords.latitude, coords.longitude]), ({ message }) => done(message)))`),
      [48.2, 16.37],
    ),
    colorScheme: seen({ colorScheme: 'dark' }, shows("matchMedia('(prefers-color-scheme: dark)').matches"), true),
    userAgent: seen(
      { userAgent: 'Shop/1.0' },
      `(agent) => agent.go('${base}/asked').title + agent.page('navigator.userAgent')`,
      'undefined Shop/1.0Shop/1.0',
    ),
    headers: seen(
      { headers: { 'x-team': 'blue' } },
      `(agent) => agent.go('${base}/asked').title.split(' ')[0]`,
      'blue',
    ),
    ignoreHTTPSErrors: seen({ ignoreHTTPSErrors: true }, title(`https://localhost:${secure}/`), 'Secure'),
    httpCredentials: seen({ httpCredentials: { username: 'ada', password: 'secret' } }, title(`${base}/in`), 'In'),
    storageState: seen(
      { storageState: { cookies: [{ name: 'seat', value: '7', domain: '127.0.0.1', path: '/' }] } },
      shows('document.cookie'),
      'seat=7',
      { notSecond: 'another person is not logged in as the first' },
    ),
    state: seen({ state: 'ada' }, shows('document.cookie'), 'saved=8', {
      notSecond: 'another person is not logged in as the first',
    }),
    proxy: seen({ proxy: { server: `http://127.0.0.1:${proxy}` } }, title('http://shop.invalid/'), 'By proxy'),
    egress: seen({ egress: { deny: ['127.0.0.1'] } }, reaches, ['ACTION_FAILED', 'REQUEST_FAILED', 'REQUEST_FAILED']),
    forward: seen({ forward: [forwarded] }, title(`http://127.0.0.1:${forwarded}/`), 'Forwarded', {
      driver: 'docker',
    }),
    screenshots: {
      kind: 'left',
      ask: { screenshots: 'on' },
      // Of a live session's steps in a row only the last has one, unless all are to have one.
      isThere: (files) => [...files.keys()].filter((name) => name.startsWith('screenshots/')).length >= 3,
    },
    har: {
      kind: 'left',
      ask: { har: 'bodies' },
      isThere: (files) => String(files.get('network.har')).includes('<p>Hello</p>'),
    },
    video: { kind: 'left', ask: { video: 'on' }, isThere: (files) => files.has('video.mp4') },
    trace: { kind: 'left', ask: { trace: 'on' }, isThere: (files) => files.has('trace.zip') },
    idleTimeout: service('a timer of the session, outside of its browser'),
    hardTimeout: service('a timer of the session, and the time that its flows and its model are given'),

    args: seen({ args: { tea: 2 } }, '() => args.tea', 2, { jobsOnly: true }),
    secrets: seen(
      { secrets: { pw: 'correct horse' } },
      `(agent) => { agent.go('${page}'); agent.act('{input}Name', 'input', '{{pw}}');
        return agent.page("document.querySelector('input').value.length") }`,
      13,
      { jobsOnly: true },
    ),
    // The service of the test waits far longer by itself.
    actTimeout: seen(
      { actTimeout: 0.2, hardTimeout: 30 },
      `(agent) => { ${TRIED} agent.go('${page}'); return tried(() => agent.act('{button}None', 'click')) }`,
      'LOCATOR_NOT_FOUND',
      { jobsOnly: true },
    ),
    // The second attempt finds what the first one stored.
    updateBaselines: seen(
      { updateBaselines: true },
      `(agent) => { ${TRIED} agent.go('${page}');
        return ['written', 'matched'].includes(tried(() => agent.expectLook('here').status)) }`,
      true,
      { jobsOnly: true },
    ),
    pauseOnFailure: service('a job that failed waiting for a person: it has a test of its own'),
    prompt: service('the text that a model is given'),
    flowFiles: service('which flows the task runs'),
    model: service('which model the task asks'),
    maxIterations: service('how often the task asks a model'),
    maxTokens: service('how much the task asks of a model'),
    retries: service('how often the queue takes the job'),
    webhook: service('the outbox sends it'),
    webhookFormat: service('the outbox sends it'),
    waitTimeout: service('how long the call waits'),
  };
  const requests = {
    info: { name: 'Inner', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
    item: [{ name: 'get', request: { method: 'GET', header: [], url: `${base}/inner` } }],
  };
  return { page, rows, requests, forward: [sitePort, secure, proxy] };
}

async function portOf(t: Test, server: Server & { closeAllConnections(): void }): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port; // A server that listens on a port has an address of this kind.
}
