import fc from 'fast-check';
import t from 'tap';
import { RfbFilter } from '#troupe/gateway/tunnel/rfb-filter.js';
import { seededRandom } from '../../chaos/seeded-random.js';
import { guardLeaks } from '../../support/leaks.js';

guardLeaks(t);

const HELLO = [Buffer.from('RFB 003.008\n'), Buffer.of(1), Buffer.of(0)];
const PASSES = {
  pixelFormat: Buffer.concat([Buffer.of(0), Buffer.alloc(19)]),
  update: Buffer.of(3, 1, 0, 0, 0, 0, 4, 0, 3, 0),
  fence: Buffer.of(248, 0, 0, 0, 0, 0, 0, 1, 2, 7, 7),
  continuous: Buffer.of(150, 1, 0, 0, 0, 0, 4, 0, 3, 0),
  askForClipboard: Buffer.concat([Buffer.of(6, 0, 0, 0), int(-4), int(0x02_00_00_01)]),
};
const ACTS = {
  key: Buffer.of(4, 1, 0, 0, 0, 0, 0, 97),
  press: Buffer.of(5, 1, 0, 10, 0, 10),
  scanCode: Buffer.of(255, 0, 0, 1, 0, 0, 0, 97, 0, 0, 0, 30),
  text: Buffer.concat([Buffer.of(6, 0, 0, 0), int(5), Buffer.from('hello')]),
  textExtended: Buffer.concat([Buffer.of(6, 0, 0, 0), int(-8), int(0x10_00_00_01), int(0)]),
};
const NEVER = {
  resize: Buffer.concat([Buffer.of(251, 0, 4, 0, 3, 0, 1, 0), Buffer.alloc(16)]),
  powerOff: Buffer.of(250, 0, 1, 2),
};

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function encodings(...known: number[]): Buffer {
  return Buffer.concat([Buffer.of(2, 0, 0, known.length), ...known.map(int)]);
}

/** The forwarded part of a greeting and messages, sent in chunks of any size. */
function passed(messages: readonly Buffer[], mayAct: boolean, cut: () => number): Buffer {
  const filter = new RfbFilter();
  const all = Buffer.concat([...HELLO, ...messages]);
  const out: Buffer[] = [];
  for (let at = 0; at < all.length; ) {
    const length = Math.max(1, cut());
    out.push(filter.push(all.subarray(at, at + length), () => mayAct));
    at += length;
  }
  return Buffer.concat(out);
}

const greeting = Buffer.concat([HELLO[0] ?? Buffer.of(), Buffer.of(1, 1)]);

t.test(
  'RfbFilter lets viewers view and clients with control act, and no one change the desktop, in chunks of any size',
  (t) => {
    const kinds = [
      ...Object.values(PASSES).map((bytes) => ({ bytes, acts: false, passes: true })),
      ...Object.values(ACTS).map((bytes) => ({ bytes, acts: true, passes: true })),
      ...Object.values(NEVER).map((bytes) => ({ bytes, acts: false, passes: false })),
    ];
    const cases = fc.record({
      messages: fc.array(fc.constantFrom(...kinds), { maxLength: 30 }),
      mayAct: fc.boolean(),
      seed: fc.nat(),
      longest: fc.integer({ min: 1, max: 60 }),
    });
    fc.assert(
      fc.property(cases, ({ messages, mayAct, seed, longest }) => {
        const random = seededRandom(seed);
        const wanted = messages.filter(({ acts, passes }) => passes && (mayAct || !acts)).map(({ bytes }) => bytes);
        const got = passed(
          messages.map(({ bytes }) => bytes),
          mayAct,
          () => Math.ceil(random() * longest),
        );
        return got.equals(Buffer.concat([greeting, ...wanted]));
      }),
    );
    t.end();
  },
);

t.test(
  'RfbFilter shares the desktop for every client, and removes the encoding that would make pointer events longer',
  (t) => {
    const got = passed([encodings(7, -316, 16, -308)], false, () => 1000);
    t.same(got, Buffer.concat([greeting, encodings(7, 16, -308)]));
    t.end();
  },
);

t.test('RfbFilter rejects data that is not RFB, and messages that are too long', (t) => {
  const refuses = (bytes: Buffer, greeted: boolean) =>
    t.throws(
      () => {
        const filter = new RfbFilter();
        for (const part of greeted ? [...HELLO, bytes] : [bytes]) filter.push(part, () => true);
      },
      { code: 'INVALID_REQUEST' },
    );
  refuses(Buffer.from('GET / HTTP/1.1\r\n'), false);
  refuses(Buffer.from('RFB 003.003\n'), false);
  refuses(Buffer.of(99), true);
  refuses(Buffer.of(255, 1), true);
  refuses(Buffer.concat([Buffer.of(6, 0, 0, 0), int(2 ** 30)]), true);
  refuses(Buffer.concat([Buffer.of(6, 0, 0, 0), int(-(2 ** 31))]), true);
  t.end();
});
