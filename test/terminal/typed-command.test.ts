import t from 'tap';
import { asTyped, shellWords, typedCommand } from '#troupe/terminal/typed-command.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('A command that is printed is spelled as the one that was typed', async (t) => {
  const cwd = '/work/shop';
  const cases: readonly [typed: string, script: string | undefined, env: Record<string, string>][] = [
    // `npm link`, `npm install -g`
    ['troupe', '/usr/local/bin/troupe', { PATH: '/usr/bin:/usr/local/bin' }],
    ['/opt/troupe/bin/troupe', '/opt/troupe/bin/troupe', { PATH: '/usr/bin' }],
    ['./troupe', '/work/shop/troupe', { PATH: '/usr/bin' }],
    ['bin/troupe', '/work/shop/bin/troupe', { PATH: '/usr/bin' }],
    // `npx troupe`, and scripts of a package that has it installed
    [
      'npx troupe',
      '/work/shop/node_modules/.bin/troupe',
      { PATH: '/work/shop/node_modules/.bin', npm_command: 'exec' },
    ],
    ['npx troupe', '/work/shop/node_modules/.bin/troupe', { PATH: '/work/shop/node_modules/.bin', npm_command: 'run' }],
    ['troupe', '/work/shop/node_modules/.bin/troupe', { PATH: '/work/shop/node_modules/.bin' }],
    ['node_modules/.bin/troupe', '/work/shop/node_modules/.bin/troupe', { PATH: '/usr/bin' }],
    // a checkout
    ['node dist/cli.js', '/work/shop/dist/cli.js', {}],
    ['node /opt/troupe/dist/cli.js', '/opt/troupe/dist/cli.js', {}],
    ["node '/opt/my tools/dist/cli.js'", '/opt/my tools/dist/cli.js', {}],
    ['npm run troupe --', '/work/shop/scripts/troupe.mjs', { npm_command: 'run-script' }],
    ['npm run troupe --', '/work/shop/scripts/start.mjs', { npm_command: 'start' }],
    // a program that uses it
    ['troupe', '/work/shop/test/some.test.js', {}],
    ['troupe', undefined, {}],
  ];
  for (const [typed, script, env] of cases) t.equal(typedCommand({ script, cwd, env }), typed, script ?? 'none');
});

t.test('Help has the same spelling, and only of the command', async (t) => {
  const before = process.argv[1];
  process.argv[1] = '/work/shop/scripts/troupe.mjs';
  t.teardown(() => process.argv.splice(1, 1, before ?? ''));
  const cases = [
    ['Usage: troupe run FILE', 'Usage: npm run troupe -- run FILE'],
    ['troupe <command> | troupe --help', 'npm run troupe -- <command> | npm run troupe -- --help'],
    ["'troupe go URL'", "'npm run troupe -- go URL'"],
    [
      'Troupe runs ./troupe run, my-troupe run and troupe.json',
      'Troupe runs ./troupe run, my-troupe run and troupe.json',
    ],
    ['claude mcp add troupe -- troupe mcp', 'claude mcp add troupe -- npm run troupe -- mcp'],
    [
      'mcp add --transport http troupe http://127.0.0.1:4444/mcp',
      'mcp add --transport http troupe http://127.0.0.1:4444/mcp',
    ],
    ['name: troupe\ndescription', 'name: troupe\ndescription'],
  ];
  for (const [text = '', spelled] of cases) t.equal(asTyped(text), spelled);
});

t.test('Words are quoted as shells read them', async (t) => {
  t.equal(
    shellWords(['run', 'flows/a b.js', "it's", 'https://x.example/?a=1&b=2', '']),
    `run 'flows/a b.js' 'it'\\''s' 'https://x.example/?a=1&b=2' ''`,
  );
});
