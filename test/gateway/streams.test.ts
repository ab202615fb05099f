import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import t from 'tap';
import type { Artifacts } from '#troupe/supervisor/ports/artifacts.js';
import type { Sessions } from '#troupe/supervisor/ports/sessions.js';
import { openHouse, scripted } from '../support/house.js';
import { httpCall } from '../support/http-call.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const MIB = 1024 * 1024;
const house = await openHouse(t);
const faults: unknown[] = [];
/** The source of a download; each test sets its own. */
let makeArchive = (): Readable => Readable.from([]);
const gateway = await house.listen({
  sessions: scripted<Sessions>(house.sessions, {
    artifacts: scripted<Artifacts>(house.sessions.artifacts, { archive: async () => makeArchive() }),
  }),
  onFault: ({ error }) => faults.push(error),
});
const { id } = await house.live();
const deadline = () => ({ signal: AbortSignal.timeout(60_000) });

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** An archive of this size, with the number of bytes that were read. */
function archiveOf(bytes: number): { stream: Readable; made: () => number } {
  const piece = Buffer.alloc(64 * 1024, 'zip');
  let made = 0;
  const stream = new Readable({
    read() {
      made += piece.byteLength;
      this.push(made > bytes ? null : piece);
    },
  });
  return { stream, made: () => Math.min(made, bytes) };
}

async function download(path: string): Promise<IncomingMessage> {
  const sent = request(new URL(path, gateway.url), { agent: false });
  sent.on('error', () => undefined);
  sent.end();
  const [response] = await once(sent, 'response', deadline());
  response.on('error', () => undefined);
  return response;
}

/** Settles when a number has stopped growing: two reads, half a second apart, are equal. */
async function steady(value: () => number): Promise<number> {
  return await new Promise((resolve) => {
    let before = -1;
    const timer = setInterval(() => {
      if (value() === before) {
        clearInterval(timer);
        resolve(before);
      }
      before = value();
    }, 500);
  });
}

t.test('A 200 MB zip waits for a client that pauses, in bounded memory, and then arrives completely', async (t) => {
  const archive = archiveOf(200 * MIB);
  makeArchive = () => archive.stream;
  const response = await download(`/api/sessions/${id}/download`);
  t.equal(response.headers['content-type'], 'application/zip');
  t.equal(response.headers['content-disposition'], `attachment; filename="${id}.zip"`);
  const whilePaused = await steady(archive.made);
  t.ok(whilePaused < 20 * MIB, `${whilePaused} bytes were made for a client that reads nothing`);
  let received = 0;
  let mostHeld = 0;
  for await (const chunk of response) {
    received += chunk.length;
    mostHeld = Math.max(mostHeld, archive.made() - received);
  }
  t.equal(received, 200 * MIB);
  // Not the memory of this process: that depends on when the garbage of its buffers is collected.
  t.ok(mostHeld < 20 * MIB, `${mostHeld} bytes were made and not yet received`);
});

t.test('If a client disconnects during a download, its source is destroyed', async (t) => {
  const archive = archiveOf(200 * MIB);
  makeArchive = () => archive.stream;
  const response = await download(`/api/sessions/${id}/download`);
  const closed = once(archive.stream, 'close', deadline());
  response.destroy();
  await closed;
  t.ok(archive.stream.destroyed);
  t.ok(archive.made() < 200 * MIB);
});

t.test('HEAD of a download returns its headers and destroys the source', async (t) => {
  const archive = archiveOf(MIB);
  makeArchive = () => archive.stream;
  const answer = await httpCall(gateway.url, { method: 'HEAD', path: `/api/sessions/${id}/download` });
  t.equal(answer.status, 200);
  t.equal(answer.headers['content-type'], 'application/zip');
  t.equal(answer.headers['content-length'], undefined);
  t.ok(archive.stream.destroyed);
});

t.test('A download whose source fails is cut, so that half a zip never looks complete', async (t) => {
  makeArchive = () =>
    Readable.from(
      (async function* () {
        yield Buffer.alloc(MIB);
        throw new Error('the disk is gone');
      })(),
    );
  const response = await download(`/api/sessions/${id}/download`);
  await t.rejects(async () => {
    for await (const _chunk of response);
  });
  t.notOk(response.complete);
  t.match(faults.pop(), { message: 'the disk is gone' }, 'and the service says so');
});

t.test('A file is uploaded and downloaded byte for byte, with its length', async (t) => {
  const content = randomBytes(30 * MIB);
  const path = `/api/sessions/${id}/files/${encodeURIComponent('Prüfung (1).bin')}`;
  const put = await httpCall(gateway.url, { method: 'PUT', path, body: content, chunked: true });
  t.equal(put.status, 201);
  t.match(put.json, { name: 'Prüfung (1).bin', bytes: content.byteLength, source: 'upload' });
  const response = await download(path);
  t.equal(response.headers['content-length'], String(content.byteLength));
  t.match(response.headers['content-disposition'], /^attachment; .*filename\*=UTF-8''Pr%C3%BCfung%20%281%29\.bin$/);
  t.equal(response.headers['content-type'], 'application/octet-stream');
  const chunks: Buffer[] = [];
  for await (const chunk of response) {
    chunks.push(chunk);
    // Pauses now and then, so that the server sees a full connection.
    if (chunks.length % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  t.equal(sha256(Buffer.concat(chunks)), sha256(content));
  const listed = await httpCall(gateway.url, { method: 'GET', path: `/api/sessions/${id}/files` });
  t.match(listed.json, [{ name: 'Prüfung (1).bin', bytes: content.byteLength }]);

  const empty = `/api/sessions/${id}/files/empty.txt`;
  t.equal((await httpCall(gateway.url, { method: 'PUT', path: empty, body: '' })).status, 201);
  t.match(await httpCall(gateway.url, { method: 'GET', path: empty }), {
    status: 200,
    text: '',
    headers: { 'content-length': '0' },
  });
});

t.test('A file over 100 MiB is refused with and without a Content-Length', async (t) => {
  const body = Buffer.alloc(100 * MIB + 1);
  const path = `/api/sessions/${id}/files/huge.bin`;
  for (const chunked of [true, false]) {
    const answer = await httpCall(gateway.url, { method: 'PUT', path, body, chunked });
    t.equal(answer.status, 413);
    t.match(answer.json, { code: 'BODY_TOO_LARGE', details: { maxBytes: 100 * MIB } });
  }
  t.equal((await httpCall(gateway.url, { method: 'GET', path })).status, 404);
});

t.test('A file for an unknown session is refused without being received', async (t) => {
  const body = Buffer.alloc(40 * MIB);
  const path = '/api/sessions/zzzzzzzzzzzz/files/a.bin';
  for (const chunked of [true, false]) {
    const sent = httpCall(gateway.url, { method: 'PUT', path, body: body.subarray(0, 8 * MIB), chunked });
    t.equal((await sent).status, 404);
  }
});

t.test('A file whose client disconnects during the upload is not stored', async (t) => {
  const socket = connect(gateway.port, '127.0.0.1');
  await once(socket, 'connect', deadline());
  const path = `/api/sessions/${id}/files/half.bin`;
  socket.write(`PUT ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n`);
  socket.write(Buffer.alloc(500_000), () => socket.destroy());
  await once(socket, 'close', deadline());
  t.equal((await httpCall(gateway.url, { method: 'GET', path })).status, 404);
  t.same(faults, []);
});
