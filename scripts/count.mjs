// Lines of code by room, without comments, blank lines and import statements: `npm run count [-- FOLDER] [-- --json]`.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openRepository } from './check/repository.mjs';
import { countCode } from './support/count-code.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values, positionals } = parseArgs({ options: { json: { type: 'boolean' } }, allowPositionals: true });
const [folder] = positionals.map((path) => path.replace(/^\.\/|\/$/g, ''));
const counted = countCode(openRepository(root), folder);
if (counted.rooms.length === 0) {
  console.error(`There is no code in ${folder}.`);
  process.exitCode = 1;
} else if (values.json) console.log(JSON.stringify(counted, null, 2));
else print(counted);

function print({ rooms, sums, data }) {
  const wide = Math.max(...[...rooms, ...sums].map(({ room }) => room.length));
  const row = (room, files, lines) => `${room.padEnd(wide)}${String(files).padStart(8)}${String(lines).padStart(12)}`;
  console.log(row('room', 'files', 'code lines'));
  for (const { room, files, lines } of rooms) console.log(row(room, files, lines));
  console.log('');
  for (const { room, files, lines } of sums) console.log(row(room, files, lines));
  if (data.length === 0) return;
  console.log('\nData files over 2 kB, not counted above:');
  for (const { file, bytes } of data) console.log(`${(bytes / 1000).toFixed(1).padStart(8)} kB  ${file}`);
}
