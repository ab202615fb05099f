// `npm run bench -- NAME... [--assert] [--rounds N] [--part PART] [--dir DIR]`: builds, then runs `bench/NAME.mjs` of each name, in this
// process and one after another, or the part of it that is named. With --assert the exit code is 1 when a ratio misses its
// target.
import { existsSync, readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { prepare } from '../scripts/prepare.mjs';
import { describeMachine } from './support/machine.mjs';
import { printTargets } from './support/print.mjs';

const { values, positionals } = parseArgs({
  options: {
    assert: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    part: { type: 'string' },
    dir: { type: 'string' },
  },
  allowPositionals: true,
});
const here = new URL('./', import.meta.url);
const known = readdirSync(here)
  .filter((file) => file.endsWith('.mjs') && file !== 'run.mjs')
  .map((file) => file.slice(0, -4));
const names = positionals.length > 0 ? positionals : known;
const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0)) {
  console.error(`--rounds takes a whole number above 0, not ${values.rounds}`);
  process.exit(2);
}
for (const name of names) {
  if (existsSync(new URL(`./${name}.mjs`, here)) && name !== 'run') continue;
  console.error(`There is no benchmark ${name}; there are: ${known.join(', ')}`);
  process.exit(2);
}

await prepare({ tests: true });
console.log(describeMachine());
const targets = [];
for (const name of names) {
  const { run } = await import(new URL(`./${name}.mjs`, here));
  console.log(`\n${name}`);
  targets.push(...(await run({ ...(rounds === undefined ? {} : { rounds }), part: values.part, dir: values.dir })));
}
const missed = printTargets(targets);
process.exitCode = values.assert && missed > 0 ? 1 : 0;
