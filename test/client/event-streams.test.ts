import t from 'tap';
import { stretched } from '#troupe/base/deadline.js';
import { Connection } from '#troupe/client/connection.js';
import { Reopening } from '#troupe/client/reopening.js';
import { type ServerSentEvent, serverSentEvents } from '#troupe/client/server-sent-events.js';
import { Reconnection } from '../../web/dashboard/data/reconnection.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

/** The events of an answer that comes in these pieces. */
async function eventsOf(...pieces: readonly (string | Uint8Array)[]): Promise<ServerSentEvent[]> {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(stream) {
      for (const piece of pieces) stream.enqueue(typeof piece === 'string' ? encoder.encode(piece) : piece);
      stream.close();
    },
  });
  const events: ServerSentEvent[] = [];
  for await (const event of serverSentEvents(body)) events.push(event);
  return events;
}

const event = (data: string, id = '') => ({ id, type: '', data });

t.test('Events are read as browsers read them', async (t) => {
  const euro = new TextEncoder().encode('data: €\n\n');
  const cases: readonly [name: string, pieces: readonly (string | Uint8Array)[], events: readonly object[]][] = [
    // JSON leaves both unescaped, and `.` and `$` of a pattern take them for ends of lines.
    [
      'U+2028 and U+2029 in data',
      ['id: 1\ndata: {"a":"x\u2028y\u2029z"}\n\n'],
      [event('{"a":"x\u2028y\u2029z"}', '1')],
    ],
    // The data looks like fields after what is no end of a line: they must not become fields.
    ['fields after U+2028', ['data: x\u2028id: 9\u2029data: y\n\n'], [event('x\u2028id: 9\u2029data: y')]],
    // Not only the two that patterns know: those that other line splitters know.
    ['NEL, VT and FF in data', ['data: a\u0085b\vc\fd\n\n'], [event('a\u0085b\vc\fd')]],
    // Ends of lines by CR alone (a2aproject/a2a-js#714: such events were dropped).
    ['lines that end in CR', ['id: 1\rdata: a\rdata: b\r\r'], [event('a\nb', '1')]],
    // CR ends the line of a CRLF that comes in two pieces; the LF is no empty line (rexxars/eventsource-parser#17).
    ['CRLF over two pieces', ['data: a\r', '\ndata: b\r\n\r', '\ndata: c\r\n\r\n'], [event('a\nb'), event('c')]],
    // An empty piece between CR and LF does not make the LF a line of its own.
    ['an empty piece in a CRLF', ['data: a\r', '', '\ndata: b\n\n'], [event('a\nb')]],
    // Fields and blank line end differently (EventSource/eventsource#326).
    ['CRLF and LF in one event', ['id: 1\r\ndata: a\n\r\n'], [event('a', '1')]],
    // Bytes of one character come in two pieces: text is decoded over pieces, not by piece.
    ['a character over two pieces', [euro.subarray(0, 7), euro.subarray(7)], [event('€')]],
    // A field without a colon, one without the space, one with two spaces, and an unknown one.
    ['odd fields', ['data\ndata:a\ndata:  b\nretry: 1\n:c\nx\n\n'], [event('\na\n b')]],
    // A byte order mark comes first, and is not part of the first field's name.
    ['a byte order mark', ['\uFEFFdata: a\n\n'], [event('a')]],
    // An event that no blank line ended is not whole.
    ['an event without an end', ['data: a\n\ndata: b\n'], [event('a')]],
  ];
  for (const [name, pieces, events] of cases) t.same(await eventsOf(...pieces), events, name);
});

t.test('An event whose last CR ends a piece is not held back until more comes', async (t) => {
  const body = new ReadableStream<Uint8Array>({
    start: (stream) => stream.enqueue(new TextEncoder().encode('data: a\r\r')),
  });
  const events = serverSentEvents(body);
  t.match(await events.next(), { value: { data: 'a' } });
  await events.return();
});

t.test('A stream that brings nothing is asked for again after growing pauses, and given up after a time', (t) => {
  let now = 0;
  const reopening = new Reopening(
    () => now,
    () => 1,
  );
  const nothing = { events: false, openMs: 0, broke: false };
  t.equal(reopening.after({ ...nothing, events: true }), 0, 'the end of a stream with events');
  const pauses = Array.from({ length: 6 }, () => reopening.after(nothing));
  t.same(pauses, [500, 1000, 2000, 4000, 5000, 5000]);
  // A stream that broke after its events is no complete one, and begins anew.
  t.equal(reopening.after({ events: true, openMs: 10, broke: true }), 500);
  // Idle streams that a proxy cuts now and then are not given up.
  for (let cuts = 0; cuts < 10; cuts += 1) {
    now += 60_000;
    t.equal(reopening.after({ ...nothing, openMs: 60_000 }), 500);
  }
  now += stretched(30_001);
  t.equal(reopening.after({ ...nothing, broke: true }), null, 'a service that stays away');
  const spread = new Set(Array.from({ length: 20 }, () => new Reopening().after(nothing)));
  t.ok(spread.size > 1, 'not all clients at once');
  t.end();
});

t.test('A stream that ends without an event is not taken for the end', async (t) => {
  const bodies = [': nothing\n\n', 'id: 1\ndata: {"seq":1}\n\n', null];
  const listeners: unknown[] = [];
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    listeners.push(init?.signal);
    const body = bodies.shift() ?? null;
    return new Response(body, { status: body === null ? 204 : 200 });
  };
  const { signal } = new AbortController();
  const events: unknown[] = [];
  const connection = new Connection({ url: 'http://127.0.0.1:1', fetch });
  for await (const one of connection.events('/events', { signal })) events.push(one);
  t.same(events, [{ seq: 1 }]);
  t.equal(listeners.length, 3);
  t.notOk(listeners.includes(signal), 'no request leaves its listener on the signal of the caller');
});

t.test('A service whose streams bring nothing fails the caller', async (t) => {
  const { now } = performance;
  let later = 0;
  performance.now = () => now.call(performance) + later;
  t.teardown(() => {
    performance.now = now;
  });
  const fetch = async () => {
    // While the client pauses.
    setTimeout(() => {
      later += 3_600_000;
    });
    return new Response('');
  };
  const events = new Connection({ url: 'http://127.0.0.1:1', fetch }).events('/events');
  await t.rejects(events.next(), { code: 'UNAVAILABLE', message: /\/events keeps ending without an event/ });
});

t.test('The dashboard connects again after growing pauses, until a connection lasts', (t) => {
  const { now } = performance;
  let time = 0;
  performance.now = () => time;
  t.teardown(() => {
    performance.now = now;
  });
  const reconnection = new Reconnection();
  /** Each is between half and all of what it may be at most. */
  const grew = (pauses: readonly number[], most: readonly number[]) =>
    pauses.length === most.length && pauses.every((ms, at) => ms <= (most[at] ?? 0) && ms >= (most[at] ?? 0) / 2);
  const failures = Array.from({ length: 6 }, () => reconnection.lost());
  t.ok(grew(failures, [250, 500, 1_000, 2_000, 4_000, 5_000]), String(failures));
  // Open, and closed at once: a service with too many pages does so.
  reconnection.opened();
  t.ok(grew([reconnection.lost()], [5_000]));
  reconnection.opened();
  time += 60_000;
  t.ok(grew([reconnection.lost(), reconnection.lost()], [250, 500]), 'one that lasted');
  t.end();
});
