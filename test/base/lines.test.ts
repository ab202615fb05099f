import { PassThrough } from 'node:stream';
import t from 'tap';
import { type LineRules, LineSplitter, linesOf } from '#troupe/base/lines.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

type Piece = string | Uint8Array;

async function linesIn(pieces: readonly Piece[], rules?: LineRules): Promise<(string | null)[]> {
  const input = new PassThrough();
  for (const piece of pieces) input.write(piece);
  input.end();
  const lines: (string | null)[] = [];
  for await (const line of linesOf(input, rules)) lines.push(line);
  return lines;
}

t.test('Lines are read whatever the pieces that they come in', async (t) => {
  const euro = Buffer.from('€');
  const cases: readonly [
    name: string,
    pieces: readonly Piece[],
    lines: readonly (string | null)[],
    rules?: LineRules,
  ][] = [
    [
      'pieces, CRLF, an empty line',
      ['{"a":', '"é', '"}\r\n\n{"b"', ':1}\n', 'last'],
      ['{"a":"é"}', '', '{"b":1}', 'last'],
    ],
    // Valid in JSON, and an end of a line for node:readline of Node 24 and 26 (openai/codex#45727).
    ['U+2028 and U+2029', ['"a\u2028b\u2029c"\n'], ['"a\u2028b\u2029c"']],
    // What other splitters end lines at: NEL, VT, FF (volcengine/OpenViking#3988).
    ['NEL, VT, FF', ['a\u0085b\vc\fd\n'], ['a\u0085b\vc\fd']],
    // Not CRLF: only one CR belongs to the end of a line, and one alone ends none.
    ['CR within a line', ['a\rb\r\r\nc\r'], ['a\rb\r', 'c\r']],
    // The CR is the last of its piece, the LF the first of the next.
    ['CRLF over two pieces', ['a\r', '\nb\n'], ['a', 'b']],
    ['a character over three pieces', [euro.subarray(0, 1), euro.subarray(1, 2), euro.subarray(2), '\n'], ['€']],
    // No character: replaced, and the lines after it stay.
    ['bytes that are no text', [Buffer.from([0xe2, 0x82]), '\nb\n'], ['\ufffd', 'b']],
    ['a byte order mark', ['\ufeff{}\n'], ['{}']],
    ['nothing', [''], []],
    ['too long, in pieces', ['ab', 'cd', 'ef\nabc\n', 'abcd'], [null, 'abc', null], { maxChars: 3 }],
    ['every end', ['a\rb\nc\r\nd\r', '\ne\n', '\rf'], ['a', 'b', 'c', 'd', 'e', '', 'f'], { ends: 'any' }],
  ];
  for (const [name, pieces, lines, rules] of cases) t.same(await linesIn(pieces, rules), lines, name);
});

t.test('A line that is too long is known before its end, and is not kept', (t) => {
  const splitter = new LineSplitter({ maxChars: 3 });
  t.same(splitter.push('abcd'), [null]);
  t.same(splitter.push('efgh'), []);
  t.equal(splitter.end(), undefined);
  t.same(splitter.push('\nab\n'), ['ab']);
  t.end();
});
