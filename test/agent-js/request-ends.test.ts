import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { CdpEvent } from '#troupe/agent-js/browser/cdp.js';
import { NetworkLog } from '#troupe/agent-js/network/network-log.js';
import { RequestMemory } from '#troupe/agent-js/network/request-memory.js';
import { harPieces, NETWORK_LOG, notedRequests } from '#troupe/report/har.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

interface Seen {
  readonly method?: string;
  readonly type?: string;
  readonly status?: number;
  readonly headers?: object;
  /** Bytes of the pieces of its body. */
  readonly pieces?: readonly number[];
  readonly failed?: { readonly errorText: string; readonly canceled: boolean };
}

const ABORTED = { errorText: 'net::ERR_ABORTED', canceled: true };

/** What Chromium says of a request, as it was recorded. */
function eventsOf(
  requestId: string,
  { method = 'GET', type = 'Fetch', status, headers = {}, pieces = [], failed }: Seen,
) {
  const event = (name: string, params: object) =>
    ({
      method: `Network.${name}`,
      params: { requestId, timestamp: 1, ...params },
      session: 's',
    }) as unknown as CdpEvent;
  const request = { method, url: `http://a/${requestId}`, headers: {} };
  const response = { status, statusText: '', headers, mimeType: 'text/plain', encodedDataLength: 111 };
  return [
    event('requestWillBeSent', { request, type, wallTime: 1 }),
    ...(status === undefined ? [] : [event('responseReceived', { type, response })]),
    ...pieces.map((dataLength) => event('dataReceived', { dataLength, encodedDataLength: 0 })),
    failed === undefined
      ? event('loadingFinished', { encodedDataLength: 1 })
      : event('loadingFailed', { type, ...failed }),
  ];
}

/** Requests by the error that they are listed with. */
const CASES: readonly [error: string | null, seen: Readonly<Record<string, Seen>>][] = [
  [
    null,
    {
      '204': { method: 'DELETE', status: 204, failed: ABORTED },
      '205': { status: 205, headers: { 'Content-Length': '0' }, failed: ABORTED },
      '304': { status: 304, failed: ABORTED },
      // The length is that of the body that GET would get.
      head: { method: 'HEAD', status: 200, headers: { 'content-length': '50' }, failed: ABORTED },
      // The page has the body, and aborts afterwards.
      whole: { status: 200, headers: { 'content-length': '5' }, pieces: [2, 3], failed: ABORTED },
      // Nobody knows how long it would have been: the page has what it wanted.
      cancelled: { status: 200, pieces: [6], failed: ABORTED },
      // A length of what is sent says nothing about what was read.
      packed: {
        status: 200,
        headers: { 'content-length': '90', 'Content-Encoding': 'gzip' },
        pieces: [50],
        failed: ABORTED,
      },
      stream: { type: 'EventSource', status: 200, pieces: [9], failed: ABORTED },
      // A navigation that stays where it is (cyrus-and/chrome-har-capturer#77), and one that becomes a download.
      stays: { type: 'Document', status: 204, failed: ABORTED },
      download: { type: 'Document', status: 200, headers: { 'content-length': '5' }, failed: ABORTED },
      // Other ways of asking, for which the browser says that they have ended (microsoft/playwright#42834).
      image: { type: 'Image', status: 204 },
      beacon: { method: 'POST', type: 'Ping', status: 204 },
    },
  ],
  [
    'net::ERR_ABORTED',
    {
      // There was no answer: the page gave up, or `page.route` aborted it.
      unanswered: { failed: ABORTED },
      routed: { failed: { errorText: 'net::ERR_ABORTED', canceled: false } },
      // The page gave up a body of which it knew that there was more.
      part: { status: 200, headers: { 'content-length': '100' }, pieces: [3], failed: ABORTED },
    },
  ],
  [
    'net::ERR_CONTENT_LENGTH_MISMATCH',
    {
      short: {
        status: 200,
        headers: { 'content-length': '100' },
        pieces: [3],
        failed: { errorText: 'net::ERR_CONTENT_LENGTH_MISMATCH', canceled: false },
      },
    },
  ],
  [
    'net::ERR_INCOMPLETE_CHUNKED_ENCODING',
    {
      cut: { status: 200, pieces: [3], failed: { errorText: 'net::ERR_INCOMPLETE_CHUNKED_ENCODING', canceled: false } },
    },
  ],
  ['net::ERR_EMPTY_RESPONSE', { reset: { failed: { errorText: 'net::ERR_EMPTY_RESPONSE', canceled: false } } }],
];

const ALL = CASES.flatMap(([error, seen]) => Object.entries(seen).map(([id, one]) => ({ id, error, seen: one })));

t.test('Requests that have their answer are not failed in network.har', async (t) => {
  const entries = await loggedEntries(
    t,
    ALL.flatMap(({ id, seen }) => eventsOf(id, seen)),
  );
  for (const { id, error } of ALL) t.equal(entries.get(id)?.response._error ?? null, error, id);
});

t.test('Nor in agent.requests()', async (t) => {
  const memory = new RequestMemory();
  for (const { id, seen } of ALL) for (const event of eventsOf(id, seen)) memory.observe(event);
  const module = memory.addTo({ calls: {} } as never, {} as never);
  const context = { signal: new AbortController().signal, remainingMs: () => 60_000 } as never;
  const listed = (await module.calls.requests?.([], context)) as {
    url: string;
    error?: string;
    status: number | null;
  }[];
  for (const { id, error, seen } of ALL) {
    const one = listed.find(({ url }) => url === `http://a/${id}`);
    t.equal(one?.error ?? null, error, id);
    t.equal(one?.status ?? null, seen.status ?? null, id);
  }
});

t.test('An error without a body is a failure of its status', async (t) => {
  const dir = t.testdir({});
  const log = new NetworkLog({ file: join(dir, NETWORK_LOG), redact: (value) => value });
  for (const event of eventsOf('gone', { method: 'HEAD', status: 404, failed: ABORTED })) log.observe(event);
  await log.close();
  const { failed } = await notedRequests(dir);
  t.match(failed, [{ request: { method: 'HEAD', status: 404 } }]);
  t.notOk('error' in (failed[0]?.request ?? {}));
});

async function loggedEntries(t: Test, events: readonly CdpEvent[]) {
  const dir = t.testdir({});
  const log = new NetworkLog({ file: join(dir, NETWORK_LOG), redact: (value) => value });
  for (const event of events) log.observe(event);
  await log.close();
  let har = '';
  for await (const piece of (await harPieces(dir)) ?? []) har += piece;
  const { entries }: { entries: { request: { url: string }; response: { _error?: string } }[] } = JSON.parse(har).log;
  return new Map(entries.map((entry) => [entry.request.url.replace('http://a/', ''), entry]));
}
