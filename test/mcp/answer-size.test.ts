import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { PNG } from 'pngjs';
import t from 'tap';
import { boundedAnswer } from '#troupe/gateway/mcp/answer-size.js';
import { answerScript } from '#troupe/gateway/mcp/script-answer.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import type { Sessions } from '#troupe/supervisor/ports/sessions.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

/** A line of more bytes ends the connection of a client of the MCP SDK, and all that it would have called. */
const SDK_LIMIT = 10_485_760;

/** A picture that looks like a photo and does not compress, or an even one. */
function picture(width: number, height: number, isNoise: boolean): Buffer {
  const png = new PNG({ width, height });
  if (isNoise) randomBytes(png.data.length).copy(png.data);
  for (let at = 3; at < png.data.length; at += 4) png.data[at] = 255;
  return PNG.sync.write(png, { deflateLevel: 1, filterType: 0 });
}

interface Taken {
  readonly file: string;
  readonly width: number;
  readonly height: number;
  readonly png: Buffer;
}

const taken = (name: string, width: number, height: number, isNoise = false): Taken => ({
  file: `screenshots/${name}.png`,
  width,
  height,
  png: picture(width, height, isNoise),
});

/** Sessions with one whose script takes pictures, and returns, writes or throws something. */
function sessionsWith(pictures: readonly Taken[], outcome: { value?: unknown; written?: string; thrown?: Error }) {
  async function* events() {
    yield { type: 'ScriptStarted', data: { script: 1, js: JS } };
    for (const { png: _, ...data } of pictures) yield { type: 'ScreenshotTaken', data };
    if (outcome.written !== undefined) yield { type: 'ConsoleWritten', data: { level: 'log', text: outcome.written } };
    yield { type: 'ScriptFinished', data: { script: 1 } };
  }
  return {
    runScript: async () => {
      if (outcome.thrown !== undefined) throw outcome.thrown;
      return JSON.stringify(outcome.value ?? null);
    },
    timeLeft: () => null,
    streams: { lastSeq: () => 0, events },
    artifacts: {
      screenshot: async (_: string, file: string) => {
        const found = pictures.find((one) => one.file === file);
        if (found === undefined) throw new TroupeError('NOT_FOUND', 'There is no such file');
        return { bytes: found.png.length, stream: Readable.from([found.png]) };
      },
    },
  } as unknown as Sessions;
}

const JS = 'agent.screenshot(); console.log()';

function answerOf(sessions: Sessions): Promise<CallToolResult> {
  const signal = new AbortController().signal;
  return answerScript({ sessions, id: 'abcdefghijkl', js: JS, signal, advise: async () => undefined });
}

const lineOf = (result: CallToolResult) => Buffer.byteLength(`${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}\n`);
const textsOf = ({ content }: CallToolResult) => content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
const imagesOf = ({ content }: CallToolResult) =>
  content.flatMap((part) => (part.type === 'image' ? [PNG.sync.read(Buffer.from(part.data, 'base64'))] : []));

t.test('Pictures that compress badly fit into a line, and those that do not are named', async (t) => {
  const photo = taken('p', 1280, 720, true);
  const four = ['p0', 'p1', 'p2', 'p3'].map((name) => ({ ...photo, file: `screenshots/${name}.png` }));
  const answer = await answerOf(sessionsWith(four, { value: 'done' }));
  t.ok(lineOf(answer) < SDK_LIMIT, `${lineOf(answer)} bytes`);
  t.equal(imagesOf(answer).length, 2);
  t.match(textsOf(answer), [
    /^screenshots\/p0\.png, 1280 x 720$/,
    /^screenshots\/p1\.png, 1280 x 720$/,
    /^screenshots\/p2\.png, 1280 x 720 \(not sent: .*return \{"file":"screenshots\/p2\.png","width":1280,"height":720\}/,
    /^screenshots\/p3\.png.*not sent/,
    'done',
  ]);
  // What it says to return is answered with the picture.
  const { file, width, height } = four[2] as Taken;
  const asked = await answerOf(sessionsWith([four[2] as Taken], { value: { file, width, height } }));
  t.equal(imagesOf(asked).length, 1);
});

t.test('A picture with long sides, or of many bytes, is scaled and says so', async (t) => {
  // Models refuse sides over 2,000 pixels, and with them the whole conversation (trycua/cua#884).
  const long = taken('long', 500, 5_000);
  const wide = taken('wide', 4_001, 3);
  const photo = taken('photo', 1_300, 1_050, true);
  const answer = await answerOf(sessionsWith([long, wide, photo], {}));
  t.match(textsOf(answer), [
    /^screenshots\/long\.png, 200 x 2000 \(scaled from 500 x 5000; .*within/,
    /^screenshots\/wide\.png, 2000 x 1 \(scaled from 4001 x 3;/,
    /^screenshots\/photo\.png, \d+ x \d+ \(scaled from 1300 x 1050;/,
    'null',
  ]);
  const [one, , two] = imagesOf(answer);
  t.match(one, { width: 200, height: 2_000 });
  t.ok((two?.width ?? 0) > 500);
  t.ok(lineOf(answer) < SDK_LIMIT);
});

t.test('Texts count as they are sent, escaped', async (t) => {
  const photo = taken('p', 1280, 720, true);
  const two = ['p0', 'p1'].map((name) => ({ ...photo, file: `screenshots/${name}.png` }));
  // Six bytes for each character, in four places.
  const hostile = '\u0001\ud800'.repeat(100_000);
  const thrown = new TroupeError('SCRIPT_ERROR', hostile, { candidates: [hostile], url: hostile, title: hostile });
  for (const outcome of [{ thrown }, { value: hostile }, { value: { a: hostile }, written: hostile }]) {
    const answer = await answerOf(sessionsWith(two, { written: hostile, ...outcome }));
    t.ok(lineOf(answer) < SDK_LIMIT, `${lineOf(answer)} bytes`);
    t.equal(imagesOf(answer).length, 2);
    t.match(textsOf(answer).join('\n'), /\(cut/);
  }
});

t.test('Many pictures are named, also those that are not sent', async (t) => {
  const many = Array.from({ length: 14 }, (_, index) => taken(`p${index}`, 20, 10));
  const answer = await answerOf(sessionsWith(many, {}));
  t.equal(imagesOf(answer).length, 10);
  t.equal(textsOf(answer).filter((text) => text.includes('not sent')).length, 4);
});

t.test('A picture that is not there is said to be, and a damaged one', async (t) => {
  const value = { file: 'screenshots/none.png', width: 1, height: 1 };
  t.match(textsOf(await answerOf(sessionsWith([], { value }))), [/none\.png.*there is no such picture/, /none/]);
  const bad = taken('bad', 3_000, 10);
  const damaged = { ...bad, png: bad.png.subarray(0, 60) };
  t.match(textsOf(await answerOf(sessionsWith([damaged], {}))), [
    /bad\.png, 3000 x 10 \(not sent: it cannot be scaled/,
    'null',
  ]);
});

t.test('Two results in one answer are bounded together', async (t) => {
  const image = { type: 'image' as const, data: 'A'.repeat(4_000_000), mimeType: 'image/png' };
  const name = { type: 'text' as const, text: 'screenshots/a.png, 1 x 1' };
  const bounded = boundedAnswer({ content: [image, name, image, name, image, name] });
  t.ok(lineOf(bounded) < SDK_LIMIT);
  t.same(
    bounded.content.map(({ type }) => type),
    ['image', 'text', 'image', 'text', 'text', 'text'],
  );
  t.match(bounded.content[4], { text: /next line.*not sent/ });
  const small = { content: [name] };
  t.equal(boundedAnswer(small), small, 'others stay as they are');
  const huge = boundedAnswer({ content: [{ type: 'text', text: 'x'.repeat(12_000_000) }], isError: true });
  t.match(huge, { isError: true, content: [{ text: /too large to send/ }] });
});
