import { readFile } from 'node:fs/promises';
import t from 'tap';
import { helpFor } from '#troupe/cli/help.js';
import { PRODUCT_NAME } from '#troupe/protocol/product-name.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('Every command has help of its own, which names each option that it explains in its usage', async (t) => {
  const main = await readFile(new URL('../../src/cli/main.ts', import.meta.url), 'utf8');
  const commands = [...main.matchAll(/case '([a-z]+)':\n\s+return await/g)].map(([, command = '']) => command);
  t.ok(commands.length >= 7, commands.join(' '));
  for (const command of commands) {
    const [usage = '', ...rest] = helpFor(command).split('\n\n');
    t.match(usage, new RegExp(`^Usage: troupe ${command}`));
    t.match(helpFor(), `  troupe ${command}`, 'and stands in the list of all');
    for (const [option] of rest.join('\n').matchAll(/(?<=^ {2})--[a-z-]+/gm)) t.match(usage, option, command);
  }
});

t.test('The command of the package has the name that the program calls itself', async (t) => {
  const { bin } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  t.same(Object.keys(bin), [PRODUCT_NAME]);
});

t.test('Help for a command that does not exist is the list of all commands', async (t) => {
  for (const word of ['constructor', 'dashbord', '']) t.equal(helpFor(word), helpFor(), word);
});
