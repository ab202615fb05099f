import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { withDeadline } from '#troupe/base/deadline.js';
import { type ChromiumBinary, findChromium } from '#troupe/containers/chromium/chromium-binary.js';
import type { BrowserLease, LeaseOptions } from '#troupe/containers/driver.js';
import { NetworkGate } from '#troupe/containers/gate/network-gate.js';
import { ProcessDriver } from '#troupe/containers/process/process-driver.js';
import { DevToolsChannel } from '#troupe/session/connection/devtools-channel.js';
import { skipWithoutSandbox } from '../support/programs.js';
import { cacheDir } from '../support/shared-cache.js';

/** A folder that any user may pass through, removed at the end. Its name is short: a browser's socket lies in it. */
export function openFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'd-'));
  chmodSync(folder, 0o755);
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface DriverFixture {
  readonly driver: ProcessDriver;
  readonly chromium: ChromiumBinary;
  readonly workDir: string;
  /** What the driver had to say. */
  readonly said: string[];
}

/** A driver of its own, whose browsers are swept away at the end whatever the test did. */
export async function driverFixture(
  t: Test,
  more: { workDir?: string; chromium?: ChromiumBinary; sandbox?: boolean } = {},
): Promise<DriverFixture> {
  const folder = openFolder(t);
  const workDir = more.workDir ?? join(folder, 'w');
  const wanted = { configured: process.env.TROUPE_CHROMIUM, cacheDir: cacheDir() };
  const chromium = more.chromium ?? (await findChromium(wanted));
  const said: string[] = [];
  const log = (message: string): void => void said.push(message);
  const home = join(folder, 'home');
  mkdirSync(home);
  const network = testGate(log);
  const sandbox = more.sandbox ?? skipWithoutSandbox === false;
  const setting = { chromium, sandbox, network, ownPort: 1, home };
  const driver = await ProcessDriver.create({ ...setting, workDir, instance: 'test', log });
  t.teardown(() => driver.sweep(new Set()));
  return { driver, chromium, workDir, said };
}

/** A way out that is open but for what is closed to every page. */
export function testGate(log: (line: string) => void = () => undefined): NetworkGate {
  const setting = { ownPort: 0, ownNames: [], hostAddress: null, forward: [], egress: {}, loopback: 'open' } as const;
  return new NetworkGate(setting, log);
}

export function wish(leaseId: string, more: Partial<LeaseOptions> = {}): LeaseOptions {
  return { leaseId, viewport: { width: 1000, height: 700 }, ...more };
}

export function bounds(deadlineMs = 90_000): { signal: AbortSignal; deadlineMs: number } {
  return { signal: new AbortController().signal, deadlineMs };
}

/** Settles as `work` does, or rejects when it hangs. Keeps the process alive meanwhile. */
export function inTime<T>(work: Promise<T>): Promise<T> {
  return withDeadline(work, { ms: 60_000 });
}

/** Opens `url` in the lease's first page and answers the value of `expression` there. */
export async function evaluateAt(lease: BrowserLease, url: string | null, expression: string): Promise<unknown> {
  const waiting = new Map<number, (answer: Answer) => void>();
  let onLoad = (): void => undefined;
  const channel = await DevToolsChannel.open(lease.devTools(), bounds());
  const seat = await channel.join(
    {
      message(text) {
        const message = JSON.parse(text);
        if (message.method === 'Page.loadEventFired') onLoad();
        waiting.get(message.id)?.(message);
      },
      closed: () => undefined,
    },
    bounds(),
  );
  let id = 0;
  const send = (method: string, params: object, sessionId?: string): Promise<Answer> =>
    new Promise((resolve) => {
      id += 1;
      waiting.set(id, resolve);
      seat.send(JSON.stringify({ id, method, params, sessionId }), sessionId);
    });
  const { targetInfos = [] } = (await send('Target.getTargets', {})).result ?? {};
  const page = targetInfos.find((target) => target.type === 'page');
  if (page === undefined) throw new Error('The browser has no page');
  const attached = await send('Target.attachToTarget', { targetId: page.targetId, flatten: true });
  const session = attached.result?.sessionId;
  if (url !== null) {
    await send('Page.enable', {}, session);
    const load = new Promise<void>((resolve) => {
      onLoad = resolve;
    });
    await send('Page.navigate', { url }, session);
    await load;
  }
  const answer = await send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true }, session);
  await channel.close();
  return answer.result?.result?.value;
}

interface Answer {
  readonly result?: {
    readonly result?: { readonly value?: unknown };
    readonly sessionId?: string;
    readonly targetInfos?: readonly { readonly type: string; readonly targetId: string }[];
  };
}

/** A living process, as a test wants to see it. */
export interface SeenProcess {
  readonly pid: number;
  readonly session: number;
  readonly uid: number;
  readonly seccomp: number;
  readonly commandLine: string;
}

/** Read from /proc by the test's own means, so that the code under test does not vouch for itself. */
export function processes(): SeenProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const status = readFileSync(`/proc/${name}/status`, 'utf8');
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const commandLine = readFileSync(`/proc/${name}/cmdline`, 'utf8');
        // One without a command line has given its memory back and is about to be a zombie; threads of the kernel have none.
        if (/^State:\s+[ZX]/m.test(status) || commandLine === '') return [];
        return {
          pid: Number(name),
          session: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]),
          uid: Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]),
          seccomp: Number(/^Seccomp:\s+(\d+)/m.exec(status)?.[1]),
          commandLine,
        };
      } catch {
        return [];
      }
    });
}

/** Every living process of this lease: in its session, or naming its folder. */
export function processesOfLease(lease: Pick<BrowserLease, 'identity'>): SeenProcess[] {
  const { pid, folder } = lease.identity;
  return processes().filter((one) => one.session === pid || one.commandLine.includes(String(folder)));
}
