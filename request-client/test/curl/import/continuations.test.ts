import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { importCurl } from '#request-client/curl/import/import-curl.js';
import { readPosix } from '#request-client/curl/import/shells/read-posix.js';
import { toBytes } from '#request-client/curl/import/source-text.js';
import { guardLeaks } from '../../../../test/support/leaks.js';
import { skipWithout } from '../../../../test/support/programs.js';
import { hasAllCases } from '../../../../test/support/sampled.js';
import { SEED } from '../../../../test/support/seed.js';

guardLeaks(t);

const headersOf = (text: string) => importCurl(text).requests[0]?.headers;

t.test('an indented line after a continuation begins a new word', async (t) => {
  const { requests, errors } = importCurl('curl http://h/ -H "A: b"\\\n   -d x');
  t.strictSame(errors, []);
  t.match(requests, [{ method: 'POST', url: 'http://h/', body: { text: 'x' } }]);
  t.equal(requests.length, 1);
  t.match(headersOf('curl http://h/ -H "A: b"\\\n   -d x'), [{ name: 'A', value: 'b' }]);
  t.equal(importCurl("curl http://h/ -d 'a'\\\r\n\t-H 'B: c'").requests[0]?.headers[0]?.value, 'c');
});

t.test('an unindented line is joined to the word, as sh does, with a warning', async (t) => {
  const { requests, warnings } = importCurl('curl http://h/a\\\nb');
  t.match(requests, [{ url: 'http://h/ab' }]);
  t.match(warnings, [{ level: 'warning', message: /joined/ }]);
  t.strictSame(importCurl('curl \\\nhttp://h/ \\\n-d x').warnings, []);
});

/** Pieces of words in sh's ways of quoting, with continuations where sh removes them. */
const plain = fc.stringMatching(/^[a-z0-9:/.=@,+-]{1,6}$/);
const inside = fc.string({ unit: fc.constantFrom(...'ab ={}:;&|<>#-?*'), maxLength: 5 });
const piece = fc.oneof(
  { weight: 4, arbitrary: plain },
  { weight: 2, arbitrary: inside.map((text) => `'${text}'`) },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.oneof(inside, fc.constantFrom('\\"', '\\\\', '\\$', '\\\n', '\\n', "'")))
      .map((all) => `"${all.join('')}"`),
  },
  fc.constantFrom('\\ ', '\\"', "\\'", '\\\\', '\\&', '\\$', '\\#'),
  fc.constantFrom('\\\n', '\\\n\\\n'),
);
const between = fc.constantFrom(
  ' ',
  '  ',
  '\t',
  ' \\\n',
  ' \\\n  ',
  '\\\n ',
  '\\\n\t',
  '\\\n   ',
  ' \\\n\\\n ',
  '\\\n\\\n  ',
);
const words = fc.array(fc.tuple(fc.array(piece, { minLength: 1, maxLength: 4 }), between), {
  minLength: 1,
  maxLength: 6,
});
const command = words.map((all) => `curl ${all.map(([pieces, gap]) => pieces.join('') + gap).join('')}end`);

/** The arguments that sh passes to curl, one list for each command. */
async function wordsBySh(commands: readonly string[]): Promise<string[][]> {
  const script = `curl() { printf '%s\\0' "$@"; printf '\\001\\0'; }\n${commands.join('\n')}\n`;
  const running = promisify(execFile)('sh', ['-s'], { maxBuffer: 64 * 1024 * 1024, timeout: 60_000 });
  running.child.stdin?.end(script);
  const { stdout } = await running;
  return stdout
    .split('\u0001\0')
    .slice(0, -1)
    .map((all) => all.split('\0').slice(0, -1));
}

t.test('sh splits generated commands into the same words', { skip: skipWithout('sh') }, async (t) => {
  const count = hasAllCases ? 100_000 : 500;
  for (let done = 0; done < count; done += 1000) {
    const commands = fc.sample(command, { numRuns: Math.min(1000, count - done), seed: SEED + done });
    const bySh = await wordsBySh(commands);
    t.equal(bySh.length, commands.length);
    const differing = commands.flatMap((text, index) => {
      const ours = readPosix(toBytes(text)).commands.map((one) => one.words.slice(1).map((word) => word.text));
      return JSON.stringify(ours) === JSON.stringify([bySh[index]]) ? [] : [{ text, sh: bySh[index], ours }];
    });
    if (differing.length > 0) t.strictSame(differing.slice(0, 5), []);
  }
});
