import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { stretched } from '#troupe/base/deadline.js';
import type { LeaseIdentity } from '#troupe/containers/driver.js';
import type { ProcessDriver } from '#troupe/containers/process/process-driver.js';
import { readProcess } from '#troupe/containers/process/process-table.js';
import { openChromiumWithPort } from '../../bench/support/chromium-with-port.mjs';
import { guardLeaks } from '../support/leaks.js';
import {
  bounds,
  type DriverFixture,
  driverFixture,
  evaluateAt,
  inTime,
  processes,
  processesOfLease,
  wish,
} from './driver-fixture.js';

guardLeaks(t);

/** The browser of a service that was killed, as that one wrote it down. */
function orphan({ chromium, workDir }: DriverFixture, leaseId: string): Promise<LeaseIdentity> {
  const script = join(import.meta.dirname, 'lease-and-die.entry.mjs');
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [script, JSON.stringify({ chromium, workDir, leaseId })], (_killed, stdout, stderr) => {
      if (stdout === '') reject(new Error(stderr));
      else resolve(JSON.parse(stdout));
    });
  });
}

/** Someone who reads along in a file of ours. */
function reader(t: Test, file: string): ChildProcess {
  const child = spawn('tail', ['-f', file], { stdio: 'ignore' });
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

async function adopted(driver: ProcessDriver, identity: LeaseIdentity) {
  const lease = await driver.adopt(identity);
  if (lease === null) throw new Error('It was not adopted');
  return lease;
}

t.test('A browser outlives its service and is adopted with its page, watched and released', async (t) => {
  const fixture = await driverFixture(t);
  const { driver, workDir } = fixture;
  const identity = await orphan(fixture, 'orphan');
  const lease = await adopted(driver, identity);
  t.equal(await driver.adopt(identity), lease, 'a second adoption is the same lease');
  t.same(lease.identity, identity);
  await evaluateAt(lease, 'data:text/html,<title>kept</title>', '1');
  t.equal(await evaluateAt(lease, null, 'document.title'), 'kept');
  t.same(await driver.sweep(new Set(['orphan'])), []);

  process.kill(Number(identity.pid), 'SIGKILL');
  t.match((await inTime(lease.exited)).reason, /ended/, 'its end is seen');
  await lease.release();
  t.same(processesOfLease(lease), []);
  t.same(readdirSync(workDir), []);
});

t.test('A browser that an earlier version started, with a DevTools port, is adopted and released', async (t) => {
  const { driver, chromium, workDir } = await driverFixture(t);
  const folder = join(workDir, 'b-old');
  mkdirSync(join(folder, 'profile'), { recursive: true });
  const { cdpUrl, pid, close } = await openChromiumWithPort(chromium, undefined, folder);
  t.teardown(close);
  const { startTicks } = readProcess(pid) ?? { startTicks: 0 };
  const { path: binary, product } = chromium;
  const lease = await adopted(driver, {
    driver: 'process',
    leaseId: 'old',
    pid,
    startTicks,
    binary,
    folder,
    cdpUrl,
    product,
  });
  t.same(lease.devTools(), { kind: 'socket', url: cdpUrl });
  await evaluateAt(lease, 'data:text/html,<title>kept</title>', '1');
  t.equal(await evaluateAt(lease, null, 'document.title'), 'kept');
  await lease.release();
  t.same(processesOfLease(lease), []);
});

t.test('An adopted browser is released like any other', async (t) => {
  const fixture = await driverFixture(t);
  const lease = await adopted(fixture.driver, await orphan(fixture, 'adopted'));
  await lease.release();
  await inTime(lease.exited);
  t.same(processesOfLease(lease), []);
  t.same(readdirSync(fixture.workDir), []);
});

t.test('A browser that is gone, hangs, or is not the one written down is not adopted', async (t) => {
  const fixture = await driverFixture(t);
  const { driver, workDir } = fixture;
  const identity = await orphan(fixture, 'hung');
  t.equal(await driver.adopt({ ...identity, startTicks: Number(identity.startTicks) - 1 }), null);
  t.equal(await driver.adopt({ ...identity, cdpUrl: 'ws://127.0.0.1:9/devtools/browser/x' }), null);
  t.equal(await driver.adopt({ ...identity, folder: '/' }), null);
  t.equal(await driver.adopt({ driver: 'process', leaseId: 'hung' }), null);
  process.kill(Number(identity.pid), 'SIGSTOP');
  t.equal(await driver.adopt(identity), null);
  t.same(await driver.sweep(new Set()), ['hung']);
  t.same(processesOfLease({ identity }), []);
  t.equal(await driver.adopt(identity), null);
  t.same(readdirSync(workDir), []);
});

t.test('A browser that answers late, as one with a very busy page does, is adopted', async (t) => {
  const fixture = await driverFixture(t);
  const identity = await orphan(fixture, 'late');
  process.kill(Number(identity.pid), 'SIGSTOP');
  const adopting = adopted(fixture.driver, identity);
  // A third of the time that it has.
  setTimeout(() => process.kill(Number(identity.pid), 'SIGCONT'), stretched(3_300));
  const lease = await adopting;
  await evaluateAt(lease, 'data:text/html,<title>late</title>', '1');
  await lease.release();
  t.same(processesOfLease(lease), []);
});

t.test('A sweep removes what no one keeps: held, orphaned, or with its folder gone; and nothing else', async (t) => {
  const fixture = await driverFixture(t);
  const { driver, workDir } = fixture;
  const other = await driverFixture(t);
  const foreign = await other.driver.lease(wish('foreign'), bounds());
  const kept = await driver.lease(wish('kept'), bounds());
  const held = await driver.lease(wish('held'), bounds());
  const lost = await orphan(fixture, 'lost');
  const bare = await orphan(fixture, 'bare');
  // Stopped, so that it does not write its files anew.
  process.kill(-Number(bare.pid), 'SIGSTOP');
  // Moved rather than removed: the stop reaches its threads one by one, and the last of them may still write a file.
  renameSync(String(bare.folder), join(dirname(workDir), 'gone'));
  mkdirSync(join(workDir, 'b-never'));
  mkdirSync(join(workDir, 'not-a-lease'));
  const tail = reader(t, join(workDir, 'b-lost', 'browser.log'));

  const removed = await driver.sweep(new Set(['kept']));
  t.same([...removed].sort(), ['bare', 'held', 'lost', 'never']);
  for (const identity of [held.identity, lost, bare]) t.same(processesOfLease({ identity }).filter(not(tail)), []);
  t.match((await inTime(held.exited)).reason, /released/);
  t.same(readdirSync(workDir).sort(), ['b-kept', 'not-a-lease']);
  t.equal(tail.exitCode ?? tail.signalCode, null, 'who reads a log of ours is not ours');
  t.equal(await evaluateAt(kept, null, '1 + 1'), 2);
  t.equal(await evaluateAt(foreign, null, '2 + 2'), 4, "another instance's browser lives");
  await Promise.all([kept.release(), foreign.release()]);
});

t.test('A process that has the pid of an ended browser now is never killed', async (t) => {
  const { driver, workDir } = await driverFixture(t);
  const lease = await driver.lease(wish('reused'), bounds());
  const folder = String(lease.identity.folder);
  const note = JSON.parse(readFileSync(join(folder, 'identity.json'), 'utf8'));
  await lease.release();
  // Leader of a group of its own, as the browser was: killing the group by its number would hit it.
  const child = spawn('sleep', ['100'], { detached: true, stdio: 'ignore' });
  t.teardown(() => child.kill('SIGKILL'));
  mkdirSync(folder);
  writeFileSync(join(folder, 'identity.json'), JSON.stringify({ ...note, pid: child.pid }));
  t.equal(await driver.adopt({ ...lease.identity, pid: child.pid }), null);
  t.same(await driver.sweep(new Set()), ['reused']);
  t.ok(processes().some((one) => one.pid === child.pid));
  t.same(readdirSync(workDir), []);
});

function not(child: ChildProcess): (one: { readonly pid: number }) => boolean {
  return (one) => one.pid !== child.pid;
}
