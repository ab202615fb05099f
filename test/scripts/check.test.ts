import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import t from 'tap';
import { ownChecks, ownWarnings, type Repository } from '../../scripts/check/own-checks.mjs';
import { countCode } from '../../scripts/support/count-code.mjs';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

/** A repository made of texts. */
function repositoryOf(files: Record<string, string>): Repository {
  const paths = Object.keys(files);
  return {
    paths,
    has: (path) => paths.some((known) => known === path || known.startsWith(`${path}/`)),
    read: (path) => {
      const text = files[path];
      if (text === undefined) throw new Error(`${path} was read and is not there`);
      return text;
    },
    readBytes: (path) => Buffer.from(files[path] ?? ''),
    list: (path) => paths.filter((known) => dirname(known) === path).map((known) => basename(known)),
  };
}

t.test('A file of more than 600 lines is a warning', (t) => {
  const lines = (count: number) => 'x\n'.repeat(count);
  const repository = repositoryOf({
    'src/a.ts': lines(601),
    'src/b.ts': lines(600),
    'test/a.test.ts': lines(601),
    'test/pages/a.html': lines(601),
    'CHANGELOG.md': lines(5000),
  });
  t.same(ownWarnings['long files'](repository), [
    'src/a.ts has 601 lines: is it one idea?',
    'test/a.test.ts has 601 lines: is it one idea?',
  ]);
  t.end();
});

t.test('A pattern that ends lines at U+2028 is a fault, where the text may be that of others', (t) => {
  const repository = repositoryOf({
    'src/a.ts':
      'const a = 1;\nconst b = /^x: (.*)$/;\nconst c = /^y$/m;\nconst d = /[.]\\.$|.\\n/s;\nconst e = "/.*/m";',
    'src/config/b.ts': 'export const own = /.*/;',
    'web/c.svelte': '<script>\nconst a = /#.*/;\n</script>\n<p>/.*/</p>',
    'test/d.ts': 'const a = /.*/;',
  });
  t.match(ownChecks['patterns over foreign text'](repository), [
    /^src\/a\.ts:2 has a "\."/,
    /^src\/a\.ts:3 ends lines at U\+2028/,
    /^web\/c\.svelte:2 has a "\."/,
  ]);
  t.end();
});

t.test('Commands print in one place', (t) => {
  const repository = repositoryOf({
    'src/cli/a.ts': 'print(text);\nprocess.stdout.write(text);\nconsole.log(text);',
    'src/terminal/output.ts': 'process.stdout.write(plainText(text));',
    'src/cli.ts': 'process.stderr.write(text);',
  });
  t.match(ownChecks['output of commands'](repository), [/^src\/cli\/a\.ts:2 writes/, /^src\/cli\/a\.ts:3 writes/]);
  t.end();
});

t.test(
  'A text that names a call, a command, an option, a setting, a route, or a page that does not exist is a fault',
  (t) => {
    const sound = {
      'src/agent-js/script-types/calls.ts':
        'export const BROWSER_CALLS: T = { go: {}, pdf: {} };\nexport const MATCH_CALLS: T = { each: {} };',
      'src/agent-js/playwright-api/classes.ts': [
        "const LOCATING = { getByText: ['', 'x'] } as const satisfies M;",
        "export const CLASSES = { Page: { ...LOCATING, evaluate: ['', 'x'] }, BrowserContext: { cookies: ['', 'x'] } } as const;",
        "export const MEMBERS: T = { Page: { clock: 'Clock' } };",
        'export const NOT_OFFERED: T = {',
        "  pdf: 'use agent.pdf()',",
        '  storageState: \'create the session with "state": name; cookies() reads cookies\',',
        '};',
      ].join('\n'),
      'src/agent-js/playwright-api/matchers.ts': [
        "export const LOCATOR_MATCHERS = { toBeHidden: ['', 'x'] } as const;",
        "export const PAGE_MATCHERS = { toHaveURL: ['', 'x'] } as const;",
        "export const VALUE_MATCHERS = { toBe: ['', 'x'] } as const;",
        "export const ASYMMETRIC = ['any'] as const;",
        "export const NOT_MATCHERS: T = {\n  toPass: 'use expect.poll(function)',\n};",
      ].join('\n'),
      'src/terminal/commands/run.ts':
        "const MORE = { proxy: { type: 'string' } } as const;\nexport const RUN = { name: 'run', options: { list: {}, ...MORE } } as const satisfies Command;",
      'src/terminal/commands/go.ts':
        "const LOOK = { look: {} };\nexport const GO = { name: 'go', options: LOOK };\nexport const GO_ON = { name: 'go on', options: { far: {} } };",
      'src/config.ts': 'const ConfigFile = z.strictObject({\n  server: z.string(),\n});',
      'src/protocol/session.ts': 'const fields = {\n  state: z.string(),\n};',
      'src/gateway/routes/jobs.ts': "export const jobs = [{ path: '/api/jobs/{id}' }];",
      'src/a.ts': [
        "import { x } from './agent.js';",
        'agent.nothing(); // no text',
        'const a = `agent.go(` + x + `); page.clock, page.getByText, context.cookies, expect.any`;',
        "const b = 'run troupe run --list --proxy URL, troupe go on --far, or troupe go --look';",
        'const c = \'set "server" in troupe.json, or GET /api/jobs/\';',
      ].join('\n'),
    };
    const faultsOf = (changed: Record<string, string>) =>
      ownChecks['names in texts'](repositoryOf({ ...sound, ...changed }));
    t.same(faultsOf({}), []);
    for (const [text, fault] of [
      ['use agent.print()', 'agent.print, which scripts do not have'],
      ['use agent.pdfs()', 'agent.pdfs, which scripts do not have'],
      ['match.all(a)', 'match.all, which scripts do not have'],
      ['page.pdf()', 'page.pdf, which scripts do not have'],
      ['start troupe walk', 'troupe walk, which is no command'],
      ['`troupe go --list`', 'troupe go --list, an option that the command does not have'],
      ['add --lists', '--lists, which no command has'],
      ['set "servers" in troupe.json', '"servers" of troupe.json, which is no setting'],
      ['serve.url of troupe.json', '"serve" of troupe.json, which is no setting'],
      ['GET /api/tasks', '/api/tasks, which is no route'],
      ['see docs/b.md', 'docs/b.md, which is not there'],
    ] as const) {
      t.same(faultsOf({ 'src/b.ts': `\nconst text = '${text}';` }), [`src/b.ts:2 names ${fault}`], text);
    }
    const hint = (from: string, to: string) => {
      const path = 'src/agent-js/playwright-api/classes.ts';
      return faultsOf({ [path]: sound[path].replace(from, to) });
    };
    t.match(hint('agent.pdf', 'agent.paper'), [/classes\.ts:5 names agent\.paper/]);
    t.match(hint('cookies() reads', 'cookieJar() reads'), [/classes\.ts:6 names cookieJar\(\)/]);
    t.match(hint('"state": name', '"login": name'), [/classes\.ts:6 names "login", which no session takes/]);
    t.end();
  },
);

t.test('Texts that people read are listed, plain, and in the words of the window that shows them', (t) => {
  const files = {
    'src/cli/a.ts': `import x from 'not a text';\nif (x === 'a key of something') print(\`\${n} of \${all} passed\` + ', in time');\nfail('Gone');`,
    'src/gateway/a.ts': "throw new TroupeError('NOT_FOUND', 'This batch has no job that completed');",
    'web/a.svelte':
      '<script lang="ts">\nconst label = \'Full screen\';\n</script>\n{#if n}<p title="All of them">{n} of <b>{all}</b></p>{/if}\n<style>p { color: red }</style>',
    'docs/a.md': '# A heading\n\nSome text.\n\n```sh\n# no heading\n```\n',
    'test/texts.txt': [
      'docs/a.md\n  A heading',
      'src/cli/a.ts\n  … of … passed, in time\n  Gone',
      'src/gateway/a.ts\n  This batch has no job that completed',
      'web/a.svelte\n  Full screen\n  All of them\n  … of …\n',
    ].join('\n'),
  };
  const faultsOf = (changed: Record<string, string>) =>
    ownChecks['texts that people read'](repositoryOf({ ...files, ...changed }));
  t.same(faultsOf({}), []);
  t.same(faultsOf({ 'docs/a.md': '# Another' }), ['test/texts.txt is out of date: npm run texts']);
  for (const [path, source, phrase] of [
    ['src/a.ts', "fail('No element answers to that name')", 'answers to'],
    ['src/a.ts', "fail('That is no action')", 'is no '],
    ['src/a.ts', "fail('There is no action of that name')", null],
    ['src/a.ts', `print(\`\${n} jobs are queued\`)`, '… jobs'],
    ['src/a.ts', "say('A session was laid by')", 'laid by'],
    ['web/b.svelte', '<p>room for {n}</p>', 'room for'],
    ['web/b.svelte', '<button title="Start a job">Start</button>', 'job'],
    ['src/report/html/a.ts', "const title = 'The flow was completed';", 'completed'],
    ['src/gateway/b.ts', "summary('Starts a job')", null],
  ] as const) {
    const [, ...said] = faultsOf({ [path]: source });
    const expected = phrase === null ? [] : [new RegExp(`^${path} says "${phrase.trim()}" in "`)];
    t.equal(said.length, expected.length, source);
    t.match(said, expected, source);
  }
  t.end();
});

t.test('Each test file is in one suite for each environment, and the suites keep to their budgets', (t) => {
  const manifest = {
    environments: { containers: { env: { TROUPE_TEST_DRIVER: 'docker' } } },
    gate: { budget: 10, stages: { pure: { 'test/a.test.ts': 1 }, browsers: { 'test/b.test.ts': 9 } } },
    smoke: { budget: 10, stages: { containers: { 'test/b.test.ts': 5 } } },
    nightly: {
      late: [{ env: { TROUPE_PART: ['1/2', '2/2'] }, files: ['test/c.test.ts'] }],
      chaos: [{ command: ['scripts/chaos.mjs'], files: ['test/d.chaos.ts'] }],
    },
  };
  const check = (changed: object, unsteady: readonly object[] = [], added: readonly string[] = []) => {
    const files = ['test/a.test.ts', 'test/b.test.ts', 'test/c.test.ts', 'test/d.chaos.ts', ...added];
    const texts = Object.fromEntries(files.map((file) => [file, '']));
    const written = { 'test/suites.json': { ...manifest, ...changed }, 'test/unsteady.json': unsteady };
    for (const [path, value] of Object.entries(written)) texts[path] = JSON.stringify(value);
    return ownChecks['suites of tests'](repositoryOf(texts));
  };
  t.same(check({}), []);
  t.same(check({}, [], ['test/new.test.ts']), ['test/new.test.ts is in no suite of test/suites.json']);
  t.same(check({ smoke: { budget: 10, stages: { kills: { 'test/b.test.ts': 5 } } } }), [
    'test/suites.json has twice: test/b.test.ts',
  ]);
  t.same(check({ smoke: { budget: 10, stages: { containers: { 'test/gone.test.ts': 5 } } } }), [
    'test/suites.json names test/gone.test.ts, which is not there',
  ]);
  t.same(check({ smoke: { budget: 4, stages: manifest.smoke.stages } }), [
    'test/suites.json: smoke takes 5 s of processor time; 4 s are allowed',
  ]);
  t.same(check({ smoke: { budget: 4, stages: { containers: { 'test/b.test.ts': null } } } }), [
    'test/suites.json: test/b.test.ts has no processor time in smoke',
  ]);
  t.same(check({ nightly: { ...manifest.nightly, odd: [{ environment: 'mars', files: ['test/b.test.ts'] }] } }), [
    'test/suites.json has twice: test/b.test.ts',
    'test/suites.json: the job odd runs in mars, which is no environment',
  ]);
  const entry = { file: 'test/a.test.ts', test: 'x', failure: 'y', commit: 'z' };
  t.same(check({}, [entry]), []);
  t.same(check({}, [{ ...entry, file: 'test/gone.test.ts' }, { file: 'test/a.test.ts' }]), [
    'test/unsteady.json names test/gone.test.ts, which is not there',
    'test/unsteady.json: an entry lacks test, failure, commit',
  ]);
  t.end();
});

t.test('A test file that does not guard against leaks is named, unless it says why', async (t) => {
  const repository = repositoryOf({
    'test/a.test.ts': "import t from 'tap';\n\nguardLeaks(t);\n",
    'test/deep/b.test.ts': "import t from 'tap';\n",
    'test/c.test.ts': '// No guardLeaks: it tests the guard.\n',
    'test/d.test.ts': '// No guardLeaks:\n',
    'test/support/service.ts': '',
  });
  t.same(ownChecks['leak guard'](repository), [
    'test/deep/b.test.ts does not call guardLeaks(t); call it after the imports',
    'test/d.test.ts does not call guardLeaks(t); call it after the imports',
  ]);
});

const soundDocs = {
  'package.json': JSON.stringify({ scripts: { start: '', check: '' } }),
  'README.md':
    'Run `npm start`, then `troupe setup`. See [the order](docs/architecture.md#the-order), `examples/buy.js` and https://nodejs.org/.',
  'AGENTS.md':
    'Change `src/journal/journal.ts`, run `npx tap test/journal/*.test.ts` and\n\n```sh\nnpm run check\n```\n',
  'docs/architecture.md':
    '## The `order`\n\ncli/ is above journal/, which is opened by `src/cli.ts`; a session keeps `sessions/<id>/` and `journal/journal.ts` writes.',
  'request-client/README.md': 'The `request-client/engine/` and its folders.',
  'request-client/engine/send.ts': '',
  'examples/flows/buy.js': '',
  'src/cli.ts': '',
  'src/cli/main.ts': "switch (name) {\n  case 'setup':\n}",
  'src/journal/journal.ts': '',
  'test/journal/journal.test.ts': '',
};

t.test('Documents that say what is there have no faults', async (t) => {
  t.same(ownChecks['docs in step'](repositoryOf(soundDocs)), []);
});

t.test('A document that mentions what is not there is named with what it mentions', async (t) => {
  const cases: [string, string][] = [
    ['See `src/journal/ring.ts`.', 'mentions src/journal/ring.ts, which is not there'],
    ['See `journal/ring.ts`.', 'mentions journal/ring.ts, which is not there'],
    ['Run `npx tap test/report/*.test.ts`.', 'mentions test/report/*.test.ts, which is not there'],
    ['Run `npm run lint`.', 'mentions npm run lint, which package.json does not have'],
    ['Run `npm test`.', 'mentions npm run test, which package.json does not have'],
    ['```sh\ntroupe fly --high\n```', 'mentions troupe fly, which src/cli/main.ts does not know'],
    ...['npx troupe', 'npm install --save-dev troupe', 'node dist/cli.js'].map((spelled): [string, string] => [
      `Run \`${spelled} setup\`.`,
      `says ${spelled}: the command is spelled troupe, and the package is installed from its file`,
    ]),
    ['See [more](docs/more.md).', 'links to docs/more.md, which is not there'],
    ['See [more](docs/architecture.md#more).', 'links to docs/architecture.md#more, which is no section there'],
  ];
  for (const [text, fault] of cases) {
    t.same(ownChecks['docs in step'](repositoryOf({ ...soundDocs, 'README.md': text })), [`README.md: ${fault}`], text);
  }
});

t.test('The README.md of a folder may name files from that folder on', async (t) => {
  const text =
    'See `acting/act.ts`, `journal/journal.ts`, `acting/gone.ts`, `src/agent-js/gone.ts` and [why](../../docs/why.md).';
  const files = { ...soundDocs, 'src/agent-js/acting/act.ts': '', 'src/agent-js/README.md': text };
  const drawn = { 'docs/architecture.md': `${soundDocs['docs/architecture.md']} agent-js/` };
  t.same(ownChecks['docs in step'](repositoryOf({ ...files, ...drawn })), [
    'src/agent-js/README.md: links to ../../docs/why.md, which is not there',
    'src/agent-js/README.md: mentions acting/gone.ts, which is not there',
    'src/agent-js/README.md: mentions src/agent-js/gone.ts, which is not there',
  ]);
});

t.test('Links and commands of every page in docs are checked, too', async (t) => {
  const page =
    'See [below](#more), [the order](architecture.md#the-order) and [nothing](http-api.md); run `troupe fly`.';
  t.same(ownChecks['docs in step'](repositoryOf({ ...soundDocs, 'docs/more.md': page })), [
    'docs/more.md: links to #more, which is no section there',
    'docs/more.md: links to http-api.md, which is not there',
    'docs/more.md: mentions troupe fly, which src/cli/main.ts does not know',
  ]);
});

t.test('A folder of src that the drawing of the house leaves out is named', async (t) => {
  const repository = repositoryOf({ ...soundDocs, 'src/report/report.ts': '', 'request-client/curl/a.ts': '' });
  t.same(ownChecks['docs in step'](repository), [
    'docs/architecture.md: does not name src/report/',
    'request-client/README.md: does not name request-client/curl/',
  ]);
});

t.test('A dependency without a decision is named, and one whose name is part of another word is none', async (t) => {
  const repository = repositoryOf({
    'package.json': JSON.stringify({
      dependencies: { ws: '1', zod: '4' },
      devDependencies: { tap: '21', '@types/ws': '8' },
    }),
    'docs/decisions/0001-parts.md': 'News about `zod` and ws://.',
  });
  t.same(ownChecks['decisions on dependencies'](repository), [
    'docs/decisions/ has no paragraph about `ws`',
    'docs/decisions/ has no paragraph about `tap`',
  ]);
});

t.test('A package that is tied to an address is named', async (t) => {
  const packages = {
    '': {},
    'node_modules/a': { version: '1.0.0' },
    'node_modules/b': { resolved: 'https://registry.example/b/-/b-1.0.0.tgz' },
    'node_modules/c': { resolved: 'git+ssh://git@github.com/c/c.git#1' },
  };
  t.same(ownChecks['lock file'](repositoryOf({ 'package-lock.json': JSON.stringify({ packages }) })), [
    'package-lock.json: node_modules/b is tied to https://registry.example/b/-/b-1.0.0.tgz',
    'package-lock.json: node_modules/c is tied to git+ssh://git@github.com/c/c.git#1',
  ]);
});

t.test('A package that runs a script when it is installed is named, but for those that are known', async (t) => {
  const hasInstallScript = true;
  const packages = { 'node_modules/esbuild': { hasInstallScript }, 'node_modules/ssh2': { hasInstallScript } };
  t.match(ownChecks['lock file'](repositoryOf({ 'package-lock.json': JSON.stringify({ packages }) })), [
    /^package-lock\.json: node_modules\/ssh2 runs a script when it is installed/,
  ]);
});

t.test('A package that the lock file wants and leaves out is named, wherever it would be found', async (t) => {
  const packages = {
    '': { dependencies: { a: '1' } },
    'node_modules/a': { dependencies: { b: '1', c: '1' }, optionalDependencies: { 'a-darwin': '1', 'a-linux': '1' } },
    'node_modules/a-linux': {},
    'node_modules/a/node_modules/b': { dependencies: { c: '1', d: '1' } },
    'node_modules/a/node_modules/c': {},
  };
  t.same(ownChecks['lock file'](repositoryOf({ 'package-lock.json': JSON.stringify({ packages }) })), [
    'package-lock.json: node_modules/a wants a-darwin, which has no entry',
    'package-lock.json: node_modules/a/node_modules/b wants d, which has no entry',
  ]);
});

t.test('A package that a workspace has in a version of its own is named', async (t) => {
  const packages = {
    '': { dependencies: { a: '1' } },
    web: { dependencies: { a: '2' } },
    'node_modules/a': { version: '1.0.0' },
    'node_modules/web': { resolved: 'web', link: true },
    'web/node_modules/a': { version: '2.0.0' },
  };
  t.same(ownChecks['lock file'](repositoryOf({ 'package-lock.json': JSON.stringify({ packages }) })), [
    'package-lock.json: web/node_modules/a is in another version than elsewhere in the project',
  ]);
});

t.test(
  'A set-up of more than 237 packages is a fault; those of tests and of other machines do not count',
  async (t) => {
    const packages = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, number) => [`node_modules/p${number}`, {}]));
    const more = {
      'node_modules/test': { dev: true },
      'node_modules/other': { os: ['win32'] },
      'node_modules/web': { resolved: 'web', link: true },
      web: { dependencies: { p0: '1' } },
    };
    const locksOf = (count: number) => ({
      'package-lock.json': JSON.stringify({ packages: { '': {}, ...packages(count), ...more } }),
    });
    t.same(ownChecks['size of the set-up'](repositoryOf(locksOf(237))), []);
    t.same(ownChecks['size of the set-up'](repositoryOf(locksOf(238))), [
      'npm start installs 238 packages; 237 are allowed',
    ]);
  },
);

t.test('A binary of uWebSockets.js that is not the known one, and another source commit, are named', async (t) => {
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  const known = { version: '1.0.0', commit: 'abc', sha256: { 'a.node': hash('a'), 'b.node': hash('b') } };
  const files = {
    'scripts/check/server-binaries.json': JSON.stringify(known),
    'node_modules/uWebSockets.js/package.json': '{"version":"1.0.0"}',
    'node_modules/uWebSockets.js/source_commit': 'abc\n',
    'node_modules/uWebSockets.js/a.node': 'a',
  };
  const faults = (changed: Record<string, string>) =>
    ownChecks['binaries of uWebSockets.js'](repositoryOf({ ...files, ...changed }));
  t.same(faults({}), []);
  t.same(faults({ 'node_modules/uWebSockets.js/a.node': 'A', 'node_modules/uWebSockets.js/c.node': 'c' }), [
    'node_modules/uWebSockets.js/a.node is not the binary of scripts/check/server-binaries.json',
    'node_modules/uWebSockets.js/c.node is not the binary of scripts/check/server-binaries.json',
  ]);
  t.match(faults({ 'node_modules/uWebSockets.js/source_commit': 'def' }), [/built from def, not from abc/]);
  t.match(faults({ 'node_modules/uWebSockets.js/package.json': '{"version":"2.0.0"}' }), [/is version 2.0.0/]);
});

t.test('A package that refuses the running Node is named, in every way that a range can be written', async (t) => {
  const ranges = {
    fine: ['*', '', '>=18', '>= 0.8', '^20.19.0 || >=22.12', '20.x', '~20.20', '18 - 20', '<21', '>=18 <21', '>19'],
    refusing: ['>=22', '^18', '20.19.x', '<20', '18 || 22', '12 - 18', '~20.19.0', '>20', '<=20.19.9', '=20.20.1'],
    unreadable: ['the newest'],
  };
  const all = Object.values(ranges).flat();
  const manifests = all.map((range, index) => [
    `node_modules/p${index}/package.json`,
    JSON.stringify({ engines: { node: range } }),
  ]);
  const lock = {
    packages: Object.fromEntries([...all, 'of another platform'].map((_, i) => [`node_modules/p${i}`, {}])),
  };
  const repository = repositoryOf({ 'package-lock.json': JSON.stringify(lock), ...Object.fromEntries(manifests) });
  const path = (range: string) => `node_modules/p${all.indexOf(range)}`;
  t.same(ownChecks['Node versions of packages'](repository, 'v20.20.2'), [
    ...ranges.refusing.map((range) => `${path(range)} wants Node ${range}, and this is v20.20.2`),
    ...ranges.unreadable.map((range) => `${path(range)} wants Node "${range}", which this check cannot read`),
  ]);
});

t.test('Each rule of the house refuses an import that breaks it', async (t) => {
  const house = t.testdir();
  const files: Record<string, string> = {
    'tsconfig.json': '{"compilerOptions":{"module":"NodeNext","moduleResolution":"NodeNext"}}',
    'package.json':
      '{"type":"module","dependencies":{"uWebSockets.js":"1","libsql":"1","playwright-core":"1"},"devDependencies":{"dev":"1"}}',
    'src/protocol/contract.ts': "import 'node:fs'; export type Contract = string;",
    // Upwards, by a type alone.
    'src/journal/journal.ts': "import type { Reply } from '../gateway/reply.js'; export type J = Reply;",
    'src/gateway/reply.ts':
      "import 'uWebSockets.js'; import 'node:http'; import './node/a.js'; export type Reply = string;",
    'src/gateway/uws/b.ts': "import 'uWebSockets.js'; import '../node/a.js';",
    'src/gateway/node/a.ts': "import 'node:http';",
    // Sideways, and into a cycle.
    'src/report/report.ts': "import '../journal/rows.js'; import './page.js'; export const a = 1;",
    'src/report/page.ts': "import './report.js'; import 'uWebSockets.js'; import 'libsql'; import 'dev';",
    'src/journal/rows.ts': "import 'libsql'; import './gone.js';",
    'src/containers/docker/docker-driver.ts': 'export const driver = 1;',
    'src/actors/thread.ts': "import '../agent-js/agent.js'; import 'playwright-core';",
    'src/session/session.ts': "import '../agent-js/agent.js';",
    'src/script/sandbox.ts': "import '../containers/docker/docker-driver.js';",
    'src/agent-js/agent.ts': "import '../page/resolve.js'; import '../page/locator.js'; export const agent = 1;",
    'src/page/resolve.ts': "import '../script/engine.js'; import './locator.js'; export const resolve = 1;",
    'src/page/locator.ts': 'export const locator = 1;',
    'src/misc/things.ts': "import '../protocol/contract.js';",
    'web/page.ts': "import '../src/protocol/contract.js'; import '../src/agent-js/agent.js';",
    'src/session/requests.ts': "import '../../request-client/index.js'; import '../../request-client/engine/send.js';",
    'src/report/requests.ts': "import '../../request-client/index.js';",
    'request-client/index.ts': 'export const door = 1;',
    'request-client/engine/junit.ts':
      "import '../../src/report/escape.js'; import '../../src/report/junit-writer.js'; import '../../src/report/html/escape.js';",
    'src/report/escape.ts': 'export const escape = 1;',
    'src/report/junit-writer.ts': "import './escape.js';",
    'src/report/html/escape.ts': 'export const escape = 1;',
    'request-client/engine/send.ts':
      "import '../../src/script/engine.js'; import '../window/window.js'; import '../../src/agent-js/agent.js';",
    'request-client/window/window.ts': 'export const window = 1;',
    'src/script/engine.ts': 'export const engine = 1;',
  };
  for (const name of ['uWebSockets.js', 'libsql', 'playwright-core', 'dev']) {
    files[`node_modules/${name}/package.json`] = JSON.stringify({ name, version: '1.0.0', main: 'index.js' });
    files[`node_modules/${name}/index.js`] = '';
  }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(house, path)), { recursive: true });
    await writeFile(join(house, path), text);
  }
  const args = [
    'src',
    'request-client',
    'web',
    '--output-type',
    'json',
    '--config',
    resolve('.dependency-cruiser.cjs'),
  ];
  const tool = resolve('node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const output = await new Promise<string>((done) => {
    execFile(process.execPath, [tool, ...args], { cwd: house, timeout: 60_000 }, (_, stdout) => done(stdout));
  });
  const { summary }: { summary: { violations: { rule: { name: string }; from: string; to: string }[] } } =
    JSON.parse(output);
  const found = summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`).sort();
  t.same(found, [
    'actors-know-no-browser: src/actors/thread.ts -> node_modules/playwright-core/index.js',
    'boundary-of-pages: src/agent-js/agent.ts -> src/page/resolve.ts',
    'databases-in-journal: src/report/page.ts -> node_modules/libsql/index.js',
    'every-folder-has-a-floor: src/misc/things.ts -> src/protocol/contract.ts',
    'floor-of-actors: src/actors/thread.ts -> src/agent-js/agent.ts',
    'floor-of-journal: src/journal/journal.ts -> src/gateway/reply.ts',
    'floor-of-report: src/report/report.ts -> src/journal/rows.ts',
    'http-servers-are-chosen: src/gateway/reply.ts -> src/gateway/node/a.ts',
    'http-servers-stand-alone: src/gateway/uws/b.ts -> src/gateway/node/a.ts',
    'no-cycles: src/report/page.ts -> src/report/report.ts',
    'no-development-packages: src/report/page.ts -> node_modules/dev/index.js',
    'no-unresolved-imports: src/journal/rows.ts -> ./gone.js',
    'node-http-in-its-folder: src/gateway/reply.ts -> http',
    'one-door-to-the-request-client: src/session/requests.ts -> request-client/engine/send.ts',
    'pages-know-only-protocol: web/page.ts -> src/agent-js/agent.ts',
    'protocol-runs-in-pages: src/protocol/contract.ts -> fs',
    'room-engine: request-client/engine/send.ts -> request-client/window/window.ts',
    'script-knows-no-browser: src/script/sandbox.ts -> src/containers/docker/docker-driver.ts',
    'uws-in-its-folder: src/gateway/reply.ts -> node_modules/uWebSockets.js/index.js',
    'uws-in-its-folder: src/report/page.ts -> node_modules/uWebSockets.js/index.js',
    'what-pages-use: src/page/resolve.ts -> src/script/engine.ts',
    'what-the-request-client-uses: request-client/engine/junit.ts -> src/report/html/escape.ts',
    'what-the-request-client-uses: request-client/engine/send.ts -> src/agent-js/agent.ts',
    'who-uses-the-request-client: src/report/requests.ts -> request-client/index.ts',
  ]);
});

/** The number of code lines in one file. */
const linesOf = (path: string, text: string) => countCode(repositoryOf({ [path]: text }), 'src').rooms[0]?.lines;

t.test('Comments, blank lines and import statements are not code', (t) => {
  const text = `#!/usr/bin/env node
/**
 * A docstring.
 */
import {
  a,
} from 'a';
import 'b';
export * from 'c';
export type { D } from 'd';

export { e }; // behind code
/* before code */ const f = await import('f'); /* begins
   and goes on

*/
/** @type {number} */
let g;
`;
  for (const path of ['src/a.ts', 'src/a.mjs', 'src/a.cjs']) t.equal(linesOf(path, text), 3, path);
  t.end();
});

t.test('What looks like a comment in a text or a pattern is code', (t) => {
  t.equal(linesOf('src/a.ts', `const a = \`\n// one\n/* two */\n\n\${b /* no */}\n * three\`;`), 5);
  t.equal(linesOf('src/a.ts', "const a = '/*';\nconst b = /[/*]/;\nconst c = 1;\nconst d = '*/';"), 4);
  t.end();
});

t.test('A component counts with its script, its markup and its styles', (t) => {
  const text = `<!-- Not this
<script>
-->
<script lang="ts" generics="T extends Array<string>">
  import a from 'a';
  // no
  const b = '<!-- a text -->';
</script>
<p>
  <!-- no -->

  // a text {b}
</p>
<style>
  /* no
   */
  p { color: red }
</style>
`;
  t.equal(linesOf('src/a.svelte', text), 9);
  t.end();
});

t.test('Files are counted by room, and large data files are listed', (t) => {
  const line = 'let a;\n';
  const large = 'x'.repeat(2_001);
  const repository = repositoryOf({
    'a.cjs': line,
    'bench/a/b.mjs': line,
    'request-client/run/a.ts': line,
    'request-client/a.ts': line,
    'src/cli.ts': line,
    'src/cli/a.ts': line,
    'src/cli/b/c.ts': line,
    'src/cli/table.json': large,
    'src/request-client/a.ts': line,
    'src/small.json': '{}',
    'package-lock.json': large,
    'schemas/a.json': large,
    'docs/a.md': line,
  });
  const { rooms, sums, data } = countCode(repository);
  const printed = (rows: typeof rooms) => rows.map(({ room, files, lines }) => `${room} ${files} ${lines}`);
  t.same(printed(rooms), [
    'src/(top) 1 1',
    'src/cli 2 2',
    'src/request-client 1 1',
    'request-client/(top) 1 1',
    'request-client/run 1 1',
    '(top) 1 1',
    'bench 1 1',
  ]);
  t.same(printed(sums), ['src 4 4', 'src without request-client 3 3', 'request-client 2 2', 'all 8 8']);
  t.same(data, [{ file: 'src/cli/table.json', bytes: 2_001 }]);

  const below = countCode(repository, 'src/cli');
  t.same(printed(below.rooms), ['src/cli/(top) 1 1', 'src/cli/b 1 1']);
  t.same(printed(below.sums), ['all 2 2']);
  t.end();
});
