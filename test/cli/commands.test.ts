import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'acorn';
import t, { type Test } from 'tap';
import { commandNames, wordsOf } from '#troupe/cli/help.js';
import { didYouMean } from '#troupe/terminal/closest-word.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((done) => {
    const child = execFile(program, args, { env: { ...process.env, ...env } }, (_, stdout, stderr) =>
      done({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

const troupe = (...args: string[]) => run(process.execPath, ['dist/cli.js', ...args]);

t.test('A command that is called wrongly says so in two lines, and its exit code is 2', async (t) => {
  const cases: [string[], string, string][] = [
    [['dashbord'], "Unknown command 'dashbord'. Did you mean 'dashboard'?", 'node dist/cli.js --help'],
    [['dashbord', '--help'], "Unknown command 'dashbord'. Did you mean 'dashboard'?", 'node dist/cli.js --help'],
    [['help', 'xyz'], "Unknown command 'xyz'", 'node dist/cli.js --help'],
    [
      ['run', 'a.js', '--paralel', '3'],
      "Unknown option '--paralel'. Did you mean '--parallel'?",
      'node dist/cli.js run --help',
    ],
    [['dashboard', '--port'], 'Missing value: --port PORT', 'node dist/cli.js dashboard --help'],
    [['token', 'create'], 'Missing argument: NAME', 'node dist/cli.js token create --help'],
    [
      ['completion', 'powershell'],
      "Unknown shell 'powershell'. Use one of: bash, zsh, fish",
      'node dist/cli.js completion --help',
    ],
  ];
  const ends = await Promise.all(cases.map(([args]) => troupe(...args)));
  for (const [index, [args, message, help]] of cases.entries()) {
    const expected = { code: 2, stdout: '', stderr: `troupe: ${message}\nRun '${help}' for usage.\n` };
    t.same(ends[index], expected, args.join(' '));
  }
});

t.test('A token, a flow, and a secret value do not go to a program that cannot prove to be the service', async (t) => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url?.replace(/\?.*/, '')} ${request.headers.authorization}`);
    response.end('{"status":"ok","capacity":{"max":1}}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const home = t.testdir({ 'troupe.json': JSON.stringify({ port }), flows: { 'one.js': '() => 1' } });
  const env = { TROUPE_HOME: home, TROUPE_URL: '', TROUPE_TOKEN: 'troupe_secret', RUN_SECRET: 'x' };
  const wrong = {
    code: 2,
    stderr: new RegExp(`cannot prove that it is your service.* --url http://127.0.0.1:${port}\n`),
  };
  for (const words of [
    ['run', join(home, 'flows/one.js'), '--secret', 'RUN_SECRET'],
    ['token', 'list'],
  ]) {
    t.match(await run(process.execPath, ['dist/cli.js', ...words], env), wrong, words.join(' '));
    t.same(asked.splice(0), ['GET /api/proof undefined'], words.join(' '));
  }
});

t.test('Help of one command is its own, whether it is asked by --help or by help', async (t) => {
  const [option, word] = await Promise.all([troupe('token', 'create', '--help'), troupe('help', 'token', 'create')]);
  t.equal(option.code, 0);
  t.match(option.stdout, /^Usage: node dist\/cli\.js token create/);
  t.notMatch(option.stdout, /dashboard/);
  t.same(word, option);
});

t.test('A word that is like no other gets no suggestion', async (t) => {
  const known = commandNames();
  const answers = ['rnu', 'evl', 'setp', 'completions', 'dash'].map((word) => didYouMean(word, known));
  t.same(
    answers,
    ['run', 'eval', 'setup', 'completion', 'dashboard'].map((word) => `. Did you mean '${word}'?`),
  );
  for (const word of ['', 'x', 'xyz', 'constructor', 'a'.repeat(1000)]) t.equal(didYouMean(word, known), '', word);
});

t.test('The completion of bash offers commands, then their words and options', async (t) => {
  const { stdout: script, code } = await troupe('completion', 'bash');
  t.equal(code, 0);
  const complete = async (...words: string[]) => {
    const line = `${script}\nCOMP_WORDS=(troupe ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
      _troupe; echo "\${COMPREPLY[@]}"`;
    return (await run('bash', ['-c', line])).stdout.trim();
  };
  t.equal(await complete('d'), 'dashboard doctor drain');
  t.equal(await complete('requests', 'i'), 'import');
  t.equal(await complete('token', 'r'), 'revoke');
  t.equal(await complete('run', 'a.js', '--par'), '--parallel');
  for (const shell of ['zsh', 'fish']) {
    const { stdout } = await troupe('completion', shell);
    for (const name of commandNames()) t.match(stdout, new RegExp(`\\b${name}\\b`), `${shell}: ${name}`);
  }
  t.same(wordsOf('flow').words, ['check', 'types']);
  t.same(wordsOf('token').words, ['create', 'list', 'revoke']);
  t.same(wordsOf('requests').words, ['run', 'import', 'export']);
  t.same(wordsOf('run').words, []);
});

t.test('Doctor prints what setup finds, and makes no home', async (t) => {
  const home = join(t.testdir(), 'none', 'home');
  const { stdout } = await run(process.execPath, ['dist/cli.js', 'doctor'], { TROUPE_HOME: home });
  t.match(stdout, /^ok {3}Node /m);
  t.match(stdout, /^(ok {2}|note|FAIL) Browser without Docker: /m);
  t.match(stdout, /^ok {3}Disk: /m);
  t.match(stdout, /^note Service of this home: not running$/m);
  t.notOk(existsSync(join(home, '..')));
  t.same(readdirSync(tmpdir()), [], 'an embedded browser is unpacked to be asked, and removed');
});

/** A Node that says that it is another version. */
async function oldNode(t: Test): Promise<string[]> {
  const file = join(t.testdir(), 'old.cjs');
  const versions = `{ ...process.versions, node: '18.20.8' }`;
  await writeFile(file, `Object.defineProperty(process, 'versions', { value: ${versions} });`);
  return ['-r', file];
}

t.test('An old Node gets one sentence, from the package and from a checkout', async (t) => {
  const old = await oldNode(t);
  const sentence = /^\w+ needs Node 20\.19 or later; this is 18\.20\.8\. See https:\/\/nodejs\.org\n$/i;
  const starts = [
    ['dist/cli.js', 'dashboard'],
    ['-r', './scripts/node-version.cjs', 'scripts/start.mjs'],
    ['scripts/setup.mjs'],
  ];
  for (const { code, stdout, stderr } of await Promise.all(
    starts.map((args) => run(process.execPath, [...old, ...args])),
  )) {
    t.equal(code, 1);
    t.equal(stdout, '');
    t.match(stderr, sentence);
  }
  const { scripts, engines } = JSON.parse(await readFile('package.json', 'utf8'));
  t.equal(engines.node, '>=20.19');
  // With `exec`, a signal to npm reaches the service: npm passes it to the shell, which would end without its child.
  for (const name of ['start', 'test']) t.match(scripts[name], /^exec node -r \.\/scripts\/node-version\.cjs /);
});

t.test('What an old Node loads first has nothing in it that an old Node cannot read', async (t) => {
  const options = { sourceType: 'script', allowHashBang: true } as const;
  // Node 14 reads no later syntax, and takes a file with imports for no script.
  t.ok(parse(await readFile('dist/cli.js', 'utf8'), { ...options, ecmaVersion: 2020 }));
  t.ok(parse(await readFile('scripts/node-version.cjs', 'utf8'), { ...options, ecmaVersion: 5 }));
  t.ok(parse(await readFile('scripts/postinstall.cjs', 'utf8'), { ...options, ecmaVersion: 2020 }));
});

t.test('A command says in one line that the service is of another version', async (t) => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8'));
  let said = '9.9.9';
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(request.url === '/api/health' ? { version: said, capacity: {} } : []));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const list = () =>
    run(process.execPath, ['dist/cli.js', 'token', 'list', '--url', url], { TROUPE_HOME: t.testdirName });
  t.equal(
    (await list()).stderr,
    `troupe: this command is version ${version}, the service at ${url} is 9.9.9. Install the same version of both.\nThere are no tokens.\n`,
  );
  said = version;
  t.equal((await list()).stderr, 'There are no tokens.\n');
});
