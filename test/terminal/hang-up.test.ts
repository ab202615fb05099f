import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { readServiceFile, serviceFileOf } from '#troupe/client/local-service/service-file.js';
import { ignoresHangUp } from '#troupe/terminal/hang-up.js';
import { watchSignals } from '#troupe/terminal/watch-signals.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { killProcess, processesWith } from '../support/processes.js';
import { skipWithout } from '../support/programs.js';
import { makeHome } from '../support/service.js';

guardLeaks(t);

const CLI = resolve('dist/cli.js');
const TROUPE = `'${process.execPath}' '${CLI}'`;
const DASHBOARD = `${TROUPE} dashboard --port 0`;

/** A terminal with a command in it, and a home and folder of its own for it. */
function terminal(
  t: Test,
  command: string,
  { home = makeHome(t), env = {} }: { readonly home?: string; readonly env?: Readonly<Record<string, string>> } = {},
) {
  // What this test itself runs below does not count.
  const { _, TROUPE_URL, TROUPE_TOKEN, ...environment } = process.env;
  const child = spawn('script', ['-qfec', command, '/dev/null'], {
    cwd: home,
    env: { ...environment, SHELL: '/bin/sh', TROUPE_HOME: home, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data));
  child.stdin.on('error', () => undefined);
  t.teardown(() => child.kill('SIGKILL'));
  return { child, home, output: () => output };
}

/** Takes the terminal away, as when its window is closed, or its connection is lost. */
async function close({ child }: { readonly child: ChildProcess }): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = new Promise((done) => child.once('close', done));
  child.kill('SIGKILL');
  child.stdin?.destroy();
  child.stdout?.destroy();
  child.stderr?.destroy();
  await closed;
}

/** The service of a home, once it answers. */
async function serviceOf(t: Test, home: string) {
  await eventually('the service is there', async () => (await readServiceFile(home).catch(() => null)) !== null);
  const service = await readServiceFile(home);
  if (service === null) throw new Error('It has ended');
  t.teardown(() => killProcess(service.pid));
  return service;
}

const runs = (pid: number) =>
  existsSync(`/proc/${pid}`) && !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

t.test('A closed terminal ends a service as SIGTERM does', { skip: skipWithout('script') }, async (t) => {
  const window = terminal(t, `exec ${DASHBOARD}`);
  const { pid } = await serviceOf(t, window.home);
  await close(window);
  await eventually('it has ended', () => !runs(pid));
  t.notOk(existsSync(serviceFileOf(window.home)), 'in good order: its file is gone, which a kill leaves');
});

t.test(
  'A service goes on without its terminal',
  { skip: skipWithout('script', 'nohup', 'setsid', 'npm') },
  async (t) => {
    // Each is seen in another way.
    const commands: { readonly [how: string]: string } = {
      // Node takes the ignored signal back at its start: what nohup left are its descriptors.
      nohup: `exec nohup ${DASHBOARD}`,
      // It has no terminal any more, and is no child of what runs in it.
      'setsid nohup': `setsid nohup ${DASHBOARD}; sleep 1000`,
      // nohup touches only descriptors that are terminals. cloudwego/hertz#441: a handler un-ignored what nohup had ignored.
      'nohup with its input and output elsewhere, in bash': `exec bash -c 'nohup ${DASHBOARD.replaceAll("'", '"')} < /dev/null > log 2>&1; true'`,
      // fish-shell/fish-shell#4007: the shell between must keep the signal ignored, and does; Node does not.
      'a script that nohup runs': 'exec nohup sh ./script < /dev/null > log 2>&1',
      // No nohup at all.
      "a script with trap '' HUP": `trap '' HUP; ${DASHBOARD} < /dev/null > log 2>&1; true`,
      // npm, a program of Node itself, sets every signal back for what it starts.
      'nohup with npm between': 'exec nohup npm start',
    };
    for (const [how, command] of Object.entries(commands)) {
      await t.test(how, { skip: how.includes('bash') && skipWithout('bash') }, async (t) => {
        const home = makeHome(t);
        writeFileSync(join(home, 'script'), `${DASHBOARD}\ntrue\n`);
        writeFileSync(join(home, 'package.json'), JSON.stringify({ scripts: { start: `exec ${DASHBOARD}` } }));
        const window = terminal(t, command, { home });
        const { pid, url } = await serviceOf(t, home);
        await close(window);
        // The signal of the terminal has come by now, or comes here.
        process.kill(pid, 'SIGHUP');
        t.equal((await fetch(`${url}/api/health`)).status, 200);
        process.kill(pid, 'SIGHUP');
        t.equal((await fetch(`${url}/api/health`)).status, 200);
        process.kill(pid, 'SIGTERM');
        await eventually('SIGTERM ends it', () => !runs(pid));
        t.notOk(existsSync(serviceFileOf(home)));
      });
    }
  },
);

for (const [command, words] of [
  ['run', 'run flows/slow.js --own'],
  ['eval', "eval --own 'agent.wait(600000)'"],
] as const) {
  t.test(`A closed terminal ends the browsers of troupe ${command}`, { skip: skipWithout('script') }, async (t) => {
    // Not below the folder of the tests: addresses of browsers have to be short.
    const temporary = mkdtempSync('/tmp/hup-');
    // Browsers that run as another user keep their profiles below it.
    chmodSync(temporary, 0o755);
    t.teardown(() => rmSync(temporary, { recursive: true, force: true }));
    const home = makeHome(t);
    mkdirSync(join(home, 'flows'), { recursive: true });
    writeFileSync(join(home, 'flows', 'slow.js'), '() => agent.wait(600000);');
    const window = terminal(t, `exec ${TROUPE} ${words}`, { home, env: { TMPDIR: temporary } });
    const browsers = () => processesWith(`--user-data-dir=${temporary}`);
    await eventually('a browser runs', () => browsers().length > 0);
    await close(window);
    await eventually('no browser runs', () => browsers().length === 0);
    await eventually('no process runs', () => processesWith(`${CLI} ${words.split(' ', 1)}`).length === 0);
    t.same(
      readdirSync(temporary).filter((name) => name.startsWith('troupe')),
      [],
    );
  });
}

t.test('A signal that comes again', { skip: ignoresHangUp() && 'this test runs below nohup' }, async (t) => {
  const names: string[] = [];
  const signals = watchSignals();
  t.teardown(() => signals.release());
  void signals.first.then((name) => names.push(`first ${name}`));
  void signals.second.then((name) => names.push(`second ${name}`));
  // From the shell, and from the system when the shell has ended: the work that is under way keeps its time.
  for (const name of ['SIGHUP', 'SIGHUP', 'SIGHUP'] as const) process.emit(name, name);
  await eventually('it is the first', () => names.length > 0);
  t.same(names, ['first SIGHUP']);
  process.emit('SIGTERM', 'SIGTERM');
  await eventually('it is the second', () => names.length > 1);
  t.same(names, ['first SIGHUP', 'second SIGTERM']);

  await t.test('ends the process where nothing is worth waiting for', async (t) => {
    const script = `
      const { watchSignals, endAtSecond } = await import(${JSON.stringify(resolve('dist/terminal/watch-signals.js'))});
      endAtSecond(watchSignals());
      setInterval(() => {}, 1e6);
      process.stdout.write('ready');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.teardown(() => child.kill('SIGKILL'));
    const ended = new Promise((done) => child.once('exit', (_, signal) => done(signal)));
    await new Promise((ready) => child.stdout.once('data', ready));
    child.kill('SIGHUP');
    child.kill('SIGINT');
    t.match(await ended, /SIG(HUP|INT)/);
  });
});

t.test('Signals are listened to in one place', async (t) => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const listening = files.filter((file) => /\.(on|once)\(\s*'SIG/.test(readFileSync(join('src', file), 'utf8')));
  t.same(listening, ['terminal/hang-up.ts']);
});
