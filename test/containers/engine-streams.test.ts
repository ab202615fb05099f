import { Readable } from 'node:stream';
import t from 'tap';
import { outputOf, valuesOf } from '#troupe/containers/docker/engine-streams.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

function frame(stream: number, text: string): Buffer {
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([header, Buffer.from(text)]);
}

async function read(chunks: readonly Buffer[]): Promise<{ stdout: string; stderr: string }> {
  const said = { stdout: '', stderr: '' };
  for await (const { source, bytes } of outputOf(chunks)) said[source] += bytes.toString();
  return said;
}

t.test('The frames of a program are taken apart wherever they are cut, empty ones too', async (t) => {
  const all = Buffer.concat([frame(1, 'one '), frame(2, 'oh'), frame(1, ''), frame(1, 'two'), frame(2, ' no')]);
  const wanted = { stdout: 'one two', stderr: 'oh no' };
  t.same(await read([all]), wanted);
  for (const size of [1, 2, 3, 7, 8, 9, 13]) {
    const chunks = Array.from({ length: Math.ceil(all.length / size) }, (_, n) =>
      all.subarray(n * size, (n + 1) * size),
    );
    t.same(await read(chunks), wanted, `${size} bytes at a time`);
  }
  t.same(await read([all.subarray(0, -2)]), { stdout: 'one two', stderr: 'oh ' }, 'cut off');
  t.same(await read([]), { stdout: '', stderr: '' });
});

t.test('A stream of JSON lines is read wherever it is cut, and an endless line is refused', async (t) => {
  const values = async (chunks: readonly string[]): Promise<unknown[]> => {
    const all: unknown[] = [];
    for await (const value of valuesOf(Readable.from(chunks.map((chunk) => Buffer.from(chunk))))) all.push(value);
    return all;
  };
  t.same(await values(['{"a":1}\r\n{"b"', ':2}\n\n', '{"c":3}']), [{ a: 1 }, { b: 2 }, { c: 3 }]);
  await t.rejects(values(['"', 'x'.repeat(2 ** 20)]), { code: 'UNAVAILABLE', message: /an endless line/ });
});
