import fc from 'fast-check';
import t from 'tap';
import { guardLeaks } from '../../../../test/support/leaks.js';
import { skipWithout } from '../../../../test/support/programs.js';
import { SEED } from '../../../../test/support/seed.js';
import { WireCapture } from '../../wire-capture.js';
import { againstCurl, describe } from './against-curl.js';
import { generatedCommand } from './generated-commands.js';
import { OPTION_COMMANDS } from './posix-commands.js';

guardLeaks(t);

const skip = skipWithout('bash', 'curl');
const FILES = { 'small.txt': 'small\n', 'lines.json': '{\r\n  "a": 1\n}\n' };

// bench/curl-import.mjs runs all rows, and a thousand generated ones.
t.test('every command of the table is sent as bash and curl send it', { skip }, async (t) => {
  const capture = await WireCapture.start();
  t.teardown(() => capture.close());
  t.strictSame(describe(await againstCurl(OPTION_COMMANDS, capture, t.testdir(FILES))), []);
});

t.test('generated commands are sent as bash and curl send them', { skip }, async (t) => {
  const capture = await WireCapture.start();
  t.teardown(() => capture.close());
  const commands = fc.sample(generatedCommand, { numRuns: 50, seed: SEED });
  t.strictSame(describe(await againstCurl(commands, capture, t.testdir({}))), []);
});
