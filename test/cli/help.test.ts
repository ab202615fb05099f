import { readdir, readFile } from 'node:fs/promises';
import t from 'tap';
import { z } from 'zod';
import * as help from '#troupe/cli/help.js';
import { CONFIG_KEYS } from '#troupe/config/config-keys.js';
import { ConfigFile } from '#troupe/config.js';
import { PRODUCT_NAME } from '#troupe/protocol/product-name.js';
import { ALL_COMMANDS, FIRST_COMMANDS } from '#troupe/terminal/commands/all-commands.js';
import { commandPage, configurationPage, keysOf } from '../../scripts/support/reference-pages.mjs';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const { helpFor, shownOptions, subcommandsOf } = help;

const ROOT = new URL('../../', import.meta.url);

function linesOf(text: string): readonly string[] {
  return text.trimEnd().split('\n');
}

function longest(text: string): number {
  return Math.max(...linesOf(text).map((line) => line.length));
}

/** A sentence of the table without its marks of code. */
function shown(text: string): string {
  return text.replaceAll('`', '');
}

t.test('The help of every command and subcommand fits a screen, and all its options are 80 columns wide', async (t) => {
  const texts = [helpFor(), ...ALL_COMMANDS.map(({ name }) => helpFor(name.split(' ')))];
  for (const text of texts) {
    t.ok(linesOf(text).length <= 24, text);
    t.ok(longest(text) <= 80, text);
  }
  t.ok(longest(helpFor([], { all: true })) <= 80);
  for (const command of ALL_COMMANDS) {
    const { name, summary } = command;
    const all = helpFor(name.split(' '), { all: true });
    t.match(all, `Usage: troupe ${name}`);
    t.notMatch(all, /\b(jobs?|batch(es)?|completed|where|film)\b/i, name);
    t.ok(longest(all) <= 80, name);
    for (const [option, { text }] of shownOptions(command)) {
      t.match(all, `  --${option}`, name);
      t.match(all.replaceAll(/\n? +/g, ' '), shown(text), name);
      t.match(text, /^[A-Z].*[^.]$/, `${name} --${option}`);
    }
    const listed = linesOf(helpFor([], { all: true })).filter((line) => line.startsWith(`  ${name} `));
    t.ok(
      listed.some((line) => line.endsWith(` ${shown(summary)}`)),
      `one line in the list: ${name}`,
    );
    if (linesOf(all).length > 24) t.match(helpFor(name.split(' ')), `troupe ${name} --help all`);
  }
});

t.test('The first help explains six commands and setup, and names the others', async (t) => {
  const text = helpFor();
  const explained = [...text.matchAll(/^ {2}([a-z]+) +[A-Z]/gm)].map(([, name]) => name);
  t.same(explained, ['dashboard', 'run', 'why', 'eval', 'requests', 'mcp', 'setup']);
  t.same(
    explained,
    FIRST_COMMANDS.map(({ name }) => name),
  );
  for (const { name } of ALL_COMMANDS) if (!name.includes(' ')) t.match(text, new RegExp(`\\b${name}\\b`));
});

t.test('The command line runs what the table has, and each command parses its own options', async (t) => {
  const main = await readFile(new URL('src/cli/main.ts', ROOT), 'utf8');
  const commands = [...main.matchAll(/case '([a-z]+)':\n\s+return /g)].map(([, command]) => command);
  const top = ALL_COMMANDS.map(({ name }) => name).filter((name) => !name.includes(' '));
  t.same(new Set(commands), new Set(top));

  const sources: string[] = [];
  for (const folder of ['src/cli', 'request-client/commands']) {
    const files = await readdir(new URL(folder, ROOT), { recursive: true });
    for (const file of files.filter((name) => name.endsWith('.ts'))) {
      sources.push(await readFile(new URL(`${folder}/${file}`, ROOT), 'utf8'));
    }
  }
  const parsed = sources
    .flatMap((source) => [...source.matchAll(/\b(?:parse(?:Options|Words)|read)\([^;]*?\b([A-Z_]{2,})\)/g)])
    .map(([, name = '']) => name.toLowerCase().replaceAll('_', ' '));
  const own = ALL_COMMANDS.filter(
    ({ options, name }) => Object.keys(options).length > 0 || !subcommandsOf(name).length,
  );
  t.same(parsed.toSorted(), own.map(({ name }) => name).toSorted());
});

t.test('Options of earlier versions are parsed, and named nowhere', async (t) => {
  const former = ALL_COMMANDS.flatMap(({ options }) => Object.entries(options).filter(([, { former }]) => former));
  t.same(
    former.map(([name]) => name),
    ['exact-screenshots'],
  );
  t.notMatch(helpFor(['run'], { all: true }), /exact/);
});

t.test('The command of the package has the name that the program calls itself', async (t) => {
  const { bin } = JSON.parse(await readFile(new URL('package.json', ROOT), 'utf8'));
  t.same(Object.keys(bin), [PRODUCT_NAME]);
});

t.test('Help for a command that does not exist is the first help', async (t) => {
  for (const word of ['constructor', 'dashbord', '']) t.equal(helpFor([word]), helpFor(), word);
});

t.test('docs/cli.md and the keys in docs/configuration.md are what npm run docs writes', async (t) => {
  const schema = z.toJSONSchema(ConfigFile, { io: 'input', unrepresentable: 'any' });
  t.same([...keysOf(schema).keys()].toSorted(), Object.keys(CONFIG_KEYS).toSorted(), 'src/config/config-keys.ts');
  for (const [key, value] of keysOf(schema)) {
    if (value !== undefined) t.equal(CONFIG_KEYS[key]?.unset, undefined, `${key} has a default`);
  }
  const [cli, configuration] = await Promise.all(
    ['cli.md', 'configuration.md'].map((page) => readFile(new URL(`docs/${page}`, ROOT), 'utf8')),
  );
  const written = configurationPage(configuration ?? '', { texts: CONFIG_KEYS, schema });
  const advice = 'is out of date: npm run build && npm run docs';
  t.ok(cli === commandPage(ALL_COMMANDS, help), `docs/cli.md ${advice}`);
  t.ok(configuration === written, `docs/configuration.md ${advice}`);
});
