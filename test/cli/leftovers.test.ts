import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { listProcesses, readProcess } from '#troupe/containers/process/process-table.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-ports.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome } from '../support/service.js';
import { startCommandWith } from '../support/service-process.js';

guardLeaks(t);
process.env.DOCKER_HOST = 'unix:///nonexistent/docker.sock';

const isLinux = process.platform === 'linux';

/** A folder for temporary files with a short path, as addresses of browsers need, and a checkout in it. */
function place(t: Test, files: { readonly [path: string]: string }): string {
  const folder = mkdtempSync('/tmp/lft-');
  // Browsers that run as another user keep their profiles below it.
  chmodSync(folder, 0o755);
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'flows'));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, 'flows', path), text);
  return folder;
}

function start(folder: string, home: string, ...words: readonly string[]) {
  return startCommandWith({ TMPDIR: folder, TROUPE_URL: '' }, home, ...words);
}

const browsersBelow = async (folder: string) =>
  (await listProcesses()).filter(({ commandLine }) => commandLine.includes(`user-data-dir=${folder}`));
const left = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('troupe-'));

t.test('A run that is killed leaves nothing beyond the next run', { skip: !isLinux && 'no /proc' }, async (t) => {
  const port = await freePort();
  const site = `require('http').createServer((q, r) => r.end('<h1>site</h1>')).listen(${port}, '127.0.0.1')`;
  const serve = { command: `${JSON.stringify(process.execPath)} -e "${site}"`, url: `http://127.0.0.1:${port}` };
  const folder = place(t, {
    'slow.js': "() => { agent.go('about:blank'); agent.wait(600000); };",
    'ok.js': '() => 1;',
    'troupe-run.json': JSON.stringify({ serve }),
  });
  const home = makeHome(t);
  const killed = start(folder, home, 'run', join(folder, 'flows/slow.js'), '--own');
  const killedEnds = once(killed.child, 'close');
  await eventually('it has a browser', async () => (await browsersBelow(folder)).length > 0);
  killed.child.kill('SIGKILL');
  await killedEnds;
  t.not((await browsersBelow(folder)).length, 0, 'a browser does not end with its service');
  t.equal((await fetch(serve.url)).status, 200, 'nor does what was served');
  t.not(left(folder).length, 0);

  // Another run goes on meanwhile.
  const other = start(folder, makeHome(t), 'eval', '--own', 'agent.wait(600000)');
  const otherEnds = once(other.child, 'close');
  const run = () => left(folder).filter((name) => name.startsWith('troupe-run-')).length;
  await eventually('it has cleared the folder of the first, and has its own', () => run() === 1);
  await eventually('it has a browser', async () => (await browsersBelow(folder)).length > 0);

  const next = start(folder, home, 'run', join(folder, 'flows/ok.js'), '--own');
  t.same(await once(next.child, 'close'), [0, null], next.output());
  t.notMatch(next.output(), /already answers/);
  t.not((await browsersBelow(folder)).length, 0, 'the browser of a command that runs is left alone');
  await t.rejects(fetch(serve.url));
  other.child.kill('SIGKILL');
  await otherEnds;
  const last = start(folder, home, 'eval', '--own', '1');
  t.same(await once(last.child, 'close'), [0, null], last.output());
  t.same(await browsersBelow(folder), []);
  t.same(left(folder), []);
});

t.test('What is not known to be left is not touched', { skip: !isLinux && 'no /proc' }, async (t) => {
  const folder = place(t, {});
  const at = (name: string, notes: { readonly [file: string]: unknown }) => {
    const dir = join(folder, name);
    mkdirSync(dir);
    for (const [file, note] of Object.entries(notes)) writeFileSync(join(dir, file), JSON.stringify(note));
    return dir;
  };
  const { startTicks = 0 } = readProcess(process.pid) ?? {};
  const namespace = readlinkSync('/proc/self/ns/pid');
  const gone = { pid: 2 ** 22 - 1, startTicks: 1, namespace };
  const kept = [
    // Of another program, or of one that was killed before its note was there.
    at('troupe-run-none', {}),
    at('troupe-run-broken', { 'owner.json': 'x' }),
    // Its command runs.
    at('troupe-run-mine', { 'owner.json': { pid: process.pid, startTicks, namespace } }),
    // Its number means another process where it was made.
    at('troupe-run-elsewhere', { 'owner.json': { ...gone, namespace: 'pid:[1]' } }),
    // Another command removes it just now.
    at('troupe-run-claimed', { 'owner.json': gone, 'clearing.json': { pid: process.pid, startTicks, namespace } }),
    at('other-run-folder', { 'owner.json': gone }),
  ];
  const removed = [
    at('troupe-run-gone', { 'owner.json': gone }),
    // The number of its process is another's by now.
    at('troupe-run-reused', { 'owner.json': { pid: process.pid, startTicks: startTicks - 1, namespace } }),
    // What it started has ended, and its number is another's: this process.
    at('troupe-serve-reused', { 'owner.json': gone, 'group.json': { pid: process.pid, startTicks: startTicks - 1 } }),
    at('troupe-reports-gone', { 'owner.json': gone }),
    at('troupe-joined-gone', { 'owner.json': gone }),
    // The command that removed it was killed, too.
    at('troupe-run-twice', { 'owner.json': gone, 'clearing.json': gone }),
    at('troupe-doctor-twice', { 'owner.json': gone, 'clearing.json': '' }),
  ];
  const done = start(folder, makeHome(t), 'eval', '--own', '1');
  t.same(await once(done.child, 'close'), [0, null], done.output());
  for (const dir of kept) t.ok(existsSync(dir), dir);
  for (const dir of removed) t.notOk(existsSync(dir), dir);
});
