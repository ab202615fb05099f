import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { startShop } from '../../examples/shop/shop.mjs';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { processesWith } from '../support/processes.js';
import { skipWithout } from '../support/programs.js';
import { client, makeHome } from '../support/service.js';
import { runTroupe, startCommand, startServiceProcess } from '../support/service-process.js';

guardLeaks(t);
// `troupe setup` builds the worker image where an engine has none, which takes minutes.
process.env.DOCKER_HOST = 'unix:///nonexistent/docker.sock';

t.test('after Ctrl-C no process, port or profile of the service is left', async (t) => {
  const home = makeHome(t);
  const service = await startServiceProcess(t, home);
  const { live, run } = client(service.url);
  const [{ id }] = await Promise.all([live(), live()]);
  t.match(await run(id, '1 + 1'), { body: 2 });
  t.not(processesWith(`b-${id}`).length, 0);
  t.same(await service.end('SIGINT'), { code: 0, signal: null });
  t.same(processesWith(home), []);
  // What is unpacked there is kept for the next start.
  const folders = readdirSync(join(home, 'tmp')).filter((name) => name !== 'chromium');
  t.same(
    folders.flatMap((dir) => readdirSync(join(home, 'tmp', dir))),
    [],
  );
  await t.rejects(fetch(service.url), { cause: { code: 'ECONNREFUSED' } });
});

t.test(
  'the lines that it prints drive the example shop, with an access token where it asks for one',
  { skip: skipWithout('curl') },
  async (t) => {
    const shop = await startShop({ port: 0 });
    t.teardown(() => shop.close());
    const TOKEN = 'a'.repeat(64);
    process.env.TROUPE_TEST_ADMIN = TOKEN;
    t.teardown(() => delete process.env.TROUPE_TEST_ADMIN);
    for (const settings of [{}, { token: 'TROUPE_TEST_ADMIN' }]) {
      const service = await startServiceProcess(t, makeHome(t, settings));
      await eventually('it has said all', async () => service.output().includes('Ctrl-C'));
      const [, pasted = ''] = service.output().split('  npm run example\n');
      const lines = pasted.split('\n').filter((line) => /^ {2}(ID=|curl)/.test(line));
      t.equal(lines.length, 6, pasted);
      const text = lines.join('\necho\n').replaceAll('http://127.0.0.1:4500/', `${shop.url}/`);
      const { stdout } = await promisify(execFile)('sh', ['-ec', text], { env: { ...process.env, TOKEN } });
      t.match(stdout, /"\{a\}Log in"/, 'the look');
      t.match(stdout, /\ntrue\n/, 'the match');
      t.equal((await service.end('SIGTERM')).code, 0);
    }
  },
);

t.test('a log for collectors has all that is told, and nothing stands beside it', async (t) => {
  const service = startCommand(makeHome(t, { log: 'json' }), 'dashboard', '--port', '0');
  const closed = once(service.child, 'close');
  t.teardown(() => service.child.kill('SIGKILL'));
  const told = () =>
    service
      .output()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const isListening = ({ msg }: { readonly msg: string }) => msg === 'Troupe listens';
  await eventually('it listens', async () => told().some(isListening));
  service.child.kill('SIGTERM');
  t.same(await closed, [0, null]);
  t.match(told().find(isListening), { url: /^http:\/\/127\.0\.0\.1:\d+$/, driver: /process/ });
  t.match(told().at(-1), { msg: /^SIGTERM: stopping/ });
});

t.test('a second service on the same port ends with a message that names the port', async (t) => {
  const first = await startServiceProcess(t, makeHome(t));
  const { port } = new URL(first.url);
  const { code, output } = await runTroupe(makeHome(t), 'dashboard', '--port', port);
  t.equal(code, 1);
  t.match(output, new RegExp(`${port}`));
  t.notMatch(output, /\n {4}at /, 'a message, not a stack');
  await first.end('SIGTERM');
});

t.test('a second service in the same folder ends with a message that names the file', async (t) => {
  const home = makeHome(t);
  const first = await startServiceProcess(t, home);
  const { code, output } = await runTroupe(home, 'dashboard', '--port', '0');
  t.equal(code, 1);
  t.match(output, /troupe\.db/);
  await first.end('SIGTERM');
});

t.test('wrong words are answered with what is wrong and where the usage is, and exit code 2', async (t) => {
  const home = makeHome(t);
  for (const [words, says] of [
    [['dashbord'], /Unknown command 'dashbord'.*\n.*Run 'node dist\/cli\.js --help'/],
    [['dashboard', '--prot', '1'], /--prot.*\n.*Run 'node dist\/cli\.js dashboard --help'/],
    [[], /Usage: node dist\/cli\.js/],
  ] as const) {
    const { code, output } = await runTroupe(home, ...words);
    t.equal(code, 2, words.join(' '));
    t.match(output, says);
  }
  const { code, output } = await runTroupe(home, 'dashboard', '--port', 'x');
  t.equal(code, 1);
  t.match(output, /--port takes a whole number/);
});

t.test(
  'setup says what the machine has, makes the folders, and writes a launch script that starts the service',
  async (t) => {
    const home = makeHome(t);
    const script = join(home, 'start.sh');
    const { code, output } = await runTroupe(home, 'setup', '--launch-script', script);
    t.equal(code, 0, output);
    for (const what of ['Node', 'HTTP server', 'Browser', 'Docker engine', 'Memory', 'Disk', 'Models']) {
      t.match(output, new RegExp(`^(ok|note) +${what}`, 'm'));
    }
    for (const dir of ['flows', 'sessions', 'tmp']) t.ok(existsSync(join(home, dir)), dir);
    t.match(execFileSync('sh', [script, '--help'], { encoding: 'utf8', env: { PATH: '/usr/bin:/bin' } }), /Usage/);
  },
);

t.test('a store for artifacts that is away is a note of setup, since the service runs without it', async (t) => {
  const away = makeHome(t, { artifacts: { folder: '/nowhere/share' } });
  const note =
    /^note +Artifacts: .*\/nowhere\/share.*mount or create it\. Until then, new artifacts stay in the home$/m;
  t.match(await runTroupe(away, 'doctor'), { code: 0, output: note });
});

t.test('a reader that has enough of the output ends the command without a stack', async (t) => {
  const home = makeHome(t);
  const script = `{ ${process.execPath} dist/cli.js setup; echo "exit $?" >&2; } | true`;
  const { stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8', env: { ...process.env, TROUPE_HOME: home } });
  t.equal(stderr, 'exit 0\n');
});

t.test('a browser that is configured and not there is a failed check with its mend', async (t) => {
  const home = makeHome(t);
  process.env.TROUPE_CHROMIUM = '/nowhere/chromium';
  t.teardown(() => {
    delete process.env.TROUPE_CHROMIUM;
  });
  const { code, output } = await runTroupe(home, 'setup');
  t.equal(code, 1);
  t.match(output, /FAIL Browser.*\/nowhere\/chromium/);
});
