import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import type { JournalEvent, SessionEvent } from '#troupe/protocol/events.js';
import { SessionRecord } from '#troupe/protocol/session.js';

const START = Date.parse('2026-03-04T09:15:00.000Z');

export function sampleRecord(changes: Partial<SessionRecord> = {}): SessionRecord {
  const at = new Date(START).toISOString();
  return SessionRecord.parse({
    id: 'k3v9x0p2m7qa',
    sessionId: 'k3v9x0p2m7qa',
    mode: 'auto',
    name: 'Nightly: buy a lamp',
    labels: { branch: 'main' },
    batch: null,
    status: 'completed',
    state: 'completed',
    prompt: 'Log in as the demo user, buy the brass lamp and check that the order is listed.',
    flowFiles: ['shop/login.js', 'shop/buy.js'],
    model: null,
    maxIterations: 0,
    iterations: 0,
    attempt: 1,
    queuePosition: null,
    createdAt: at,
    startedAt: at,
    endedAt: new Date(START + 9_500).toISOString(),
    lastActivityAt: at,
    endReason: 'finished',
    summary: null,
    error: null,
    tokens: { input: 0, cached: 0, output: 0 },
    driver: 'process',
    links: { self: '', proxy: '', prompt: '', download: '', events: '', view: '' },
    ...changes,
  });
}

/** Gives events their numbers and instants: `ms` after the session's start. */
export function journaled(events: readonly (SessionEvent & { readonly ms: number })[]): JournalEvent[] {
  return events.map(({ ms, ...event }, index) => ({
    ...event,
    seq: index + 1,
    sessionId: sampleRecord().id,
    at: new Date(START + ms).toISOString(),
  }));
}

type At = SessionEvent & { readonly ms: number };

const step = (
  index: number,
  ms: number,
  durationMs: number,
  flow: string,
  line: number,
  js: string,
  rest: object,
): At => ({
  ms,
  type: 'StepFinished',
  data: {
    index,
    kind: 'flow',
    js,
    url: 'http://127.0.0.1:4500/',
    title: 'Lumen – lamps & light',
    startedAt: new Date(START + ms - durationMs).toISOString(),
    durationMs,
    screenshot: `${String(index).padStart(3, '0')}-step.png`,
    flow,
    line,
    column: 7,
    ...rest,
  },
});

const login: readonly At[] = [
  { ms: 0, type: 'SessionStarted', data: { driver: 'process', browser: 'Chromium 156', thread: 1 } },
  { ms: 10, type: 'FlowStarted', data: { path: 'shop/login', depth: 1 } },
  step(1, 820, 790, 'shop/login', 2, 'agent.go("/login")', {
    result: { url: 'http://127.0.0.1:4500/login', status: 200 },
  }),
  step(2, 1010, 96, 'shop/login', 3, 'agent.act("{input}User", "input", "demo")', { result: { changed: true } }),
  step(3, 1190, 88, 'shop/login', 4, 'agent.act("{input}Password", "input", "••••")', { result: { changed: true } }),
  step(4, 1720, 460, 'shop/login', 5, 'agent.act("{button}Log in", "click")', {
    result: { changed: true, title: 'Welcome' },
  }),
  { ms: 1730, type: 'AssertionChecked', data: { ok: true, flow: 'shop/login', line: 6, column: 3 } },
  { ms: 1740, type: 'FlowFinished', data: { path: 'shop/login', depth: 1, status: 'passed', durationMs: 1730 } },
  { ms: 1760, type: 'FlowStarted', data: { path: 'shop/buy', depth: 1 } },
  step(5, 2900, 1100, 'shop/buy', 2, 'agent.go("/lamps")', { result: { status: 200 } }),
  { ms: 2950, type: 'ConsoleWritten', data: { level: 'info', text: '12 lamps found', flow: 'shop/buy', line: 3 } },
  {
    ms: 2960,
    type: 'PageErrorLogged',
    data: { text: 'TypeError: basket is undefined', url: 'http://127.0.0.1:4500/shop.js' },
  },
  { ms: 2970, type: 'FlowStarted', data: { path: 'shop/parts/choose', depth: 2 } },
  step(6, 4100, 1080, 'shop/parts/choose', 1, 'agent.act("{a}Brass lamp", "click")', { result: { changed: true } }),
  { ms: 4110, type: 'FlowFinished', data: { path: 'shop/parts/choose', depth: 2, status: 'passed', durationMs: 1140 } },
];

/** Two flows, one of which calls a third; all pass. */
export const passingEvents: readonly JournalEvent[] = journaled([
  ...login,
  step(7, 8100, 900, 'shop/buy', 9, 'agent.act("{button}Buy now", "click")', { result: { changed: true } }),
  {
    ms: 8200,
    type: 'AssertionChecked',
    data: { ok: true, message: 'the order is listed', flow: 'shop/buy', line: 11 },
  },
  { ms: 8300, type: 'FlowFinished', data: { path: 'shop/buy', depth: 1, status: 'passed', durationMs: 6540 } },
  { ms: 9500, type: 'SessionEnded', data: { status: 'completed', endReason: 'finished', summary: null, error: null } },
]);

const cause = {
  code: 'LOCATOR_NOT_FOUND',
  error: 'No visible element matches {button}Buy now. The page has {button}Add to basket, {a}Basket',
  details: { flow: 'shop/buy', line: 9, column: 7, url: 'http://127.0.0.1:4500/lamps/3?layout=b', title: 'Brass lamp' },
} as const;

const flowFailed = {
  code: 'FLOW_FAILED',
  error: `shop/buy:9: ${cause.error}`,
  details: { ...cause.details, cause },
} as const;

/** The second flow does not find its button. */
export const failingEvents: readonly JournalEvent[] = journaled([
  ...login,
  step(7, 9100, 5000, 'shop/buy', 9, 'agent.act("{button}Buy now", "click")', {
    error: cause,
    url: cause.details.url,
    title: cause.details.title,
  }),
  {
    ms: 9300,
    type: 'FlowFinished',
    data: {
      path: 'shop/buy',
      depth: 1,
      status: 'failed',
      durationMs: 7540,
      error: cause,
      flow: 'shop/buy',
      line: 9,
      column: 7,
    },
  },
  {
    ms: 9500,
    type: 'SessionEnded',
    data: { status: 'failed', endReason: 'finished', summary: null, error: flowFailed },
  },
]);

export const failingRecord = sampleRecord({
  status: 'failed',
  state: 'failed',
  error: flowFailed,
  flowFiles: ['shop/login.js', 'shop/buy.js', 'shop/return.js', 'shop/hints.md'],
});

/** A picture of one colour that differs from name to name. */
export function picture(name: string, width = 1280, height = 800): Buffer {
  const shade = crc(name);
  const row = Buffer.alloc(1 + width * 3);
  for (let x = 0; x < width; x += 1) row.set([shade & 255, (x >> 3) & 255, (shade >> 8) & 255], 1 + x * 3);
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(data.length, 0);
    frame.writeUInt32BE(crc(body), 4);
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2], 8);
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

function crc(data: string | Buffer): number {
  return crc32(data);
}

/** Puts a picture for every step that names one into the session's folder. */
export async function writePictures(dir: string, events: readonly JournalEvent[]): Promise<void> {
  await mkdir(join(dir, 'screenshots'), { recursive: true });
  for (const event of events) {
    if (event.type !== 'StepFinished' || event.data.screenshot === null) continue;
    await writeFile(join(dir, 'screenshots', event.data.screenshot), picture(event.data.screenshot));
  }
}

export async function* asStream(events: Iterable<JournalEvent>): AsyncGenerator<JournalEvent> {
  yield* events;
}
