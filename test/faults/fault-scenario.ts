import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ERROR_TABLE, isErrorCode } from '#troupe/protocol/errors.js';
import { Report } from '#troupe/protocol/report/report.js';
import { eventually } from '../support/eventually.js';
import type { FaultyService } from '../support/faulty-service.js';
import { processesWith } from '../support/processes.js';
import type { Answered, client, Teardown } from '../support/service.js';
import { readZip } from '../support/zip.js';
import type { Receiver } from '../webhooks/receiver.js';

type Calls = ReturnType<typeof client>;

/** What a sentence says that a person can do about a fault of the system. */
export const REMEDY =
  /free disk space|free memory|check the disk|raise the limit of (?:open files|processes)|tr(?:y|ied) again/;
/** What the system itself says of it. */
const RAW = /\b(?:ENOSPC|EIO|EMFILE|EAGAIN|SQLITE_\w+)\b/;
/** Errors that say that the service could not do what it was asked, and those that follow from them. */
const MAY_FAIL: ReadonlySet<string> = new Set(['UNAVAILABLE', 'WORKER_LOST', 'SESSION_RESTARTED', 'SESSION_ENDED']);
/** Of a script whose page, file or picture met the fault. */
const MAY_FAIL_IN_SCRIPT: ReadonlySet<string> = new Set([...MAY_FAIL, 'ACTION_FAILED', 'SCRIPT_ERROR']);
/** Of a job, in which a script fails. */
const MAY_FAIL_IN_JOB: ReadonlySet<string> = new Set([...MAY_FAIL_IN_SCRIPT, 'FLOW_FAILED', 'INTERRUPTED']);
const ALWAYS_THERE = ['session.json', 'transcript.jsonl', 'report.json', 'report.html', 'report.junit.xml'];
const ENDS_MS = 60_000;

const FLOW = `({ site, key }) => {
  agent.go(site + '/order?job=' + key);
  agent.screenshot('ordered');
}`;

interface KnownJob {
  readonly key: string;
  readonly id: string;
  ended: string | null;
}

/**
 * A client that uses a service in which something fails once, and what it was told. Whatever fails, each answer is a
 * success or an error of the table that names a remedy, and what was told holds later. What does not hold is thrown.
 */
export class FaultScenario {
  readonly #home: string;
  readonly #site: string;
  readonly #receiver: Receiver;
  readonly #orders: ReadonlyMap<string, number>;
  readonly #sessions = new Set<string>();
  readonly #jobs: KnownJob[] = [];

  constructor(
    home: string,
    around: {
      readonly site: { readonly url: string; readonly orders: ReadonlyMap<string, number> };
      readonly receiver: Receiver;
    },
  ) {
    this.#home = home;
    this.#site = around.site.url;
    this.#orders = around.site.orders;
    this.#receiver = around.receiver;
    writeFileSync(join(home, 'flows', 'order.js'), FLOW);
  }

  /** A live session and a job, from their beginning to their end. */
  async use(calls: Calls, key: string): Promise<void> {
    await Promise.all([this.useLive(calls, key), this.useJob(calls, key)]);
  }

  async useLive(calls: Calls, key: string): Promise<void> {
    const id = await this.openLive(calls);
    if (id === null) return;
    const js = `agent.go(${JSON.stringify(this.#site)});
      agent.screenshot('seen');
      agent.act('{link}File', 'click');
      for (let i = 0; i < 20 && agent.downloads().length === 0; i += 1) agent.wait(50);
      File.write('made/${key}.js', '() => 1');
      File.read('made/${key}.js');`;
    this.#expect(await calls.run(id, js), 'a script', MAY_FAIL_IN_SCRIPT);
    const path = `/api/sessions/${id}`;
    const put = await calls.call('PUT', `${path}/files/up.txt`, 'what is uploaded');
    if (this.#expect(put, 'an upload')) {
      const read = await calls.call('GET', `${path}/files/up.txt`);
      if (this.#expect(read, 'a file')) this.#same(read.body, 'what is uploaded', 'the file that was uploaded');
    }
    const report = await calls.call('GET', `${path}/report`);
    if (this.#expect(report, 'a report') && !String(report.body).endsWith('</html>\n')) throw broken('half a report');
    this.#expect(await calls.call('DELETE', path), 'a stop');
    await this.#archive(calls, id);
  }

  /** A download that is cut is seen as such: one that ends is whole. Null where the service said that it could not. */
  async #archive(calls: Calls, id: string): Promise<ReadonlySet<string> | null> {
    const path = `/api/sessions/${id}/download`;
    const head = await calls.call('HEAD', path);
    if (head.status !== 200) {
      this.#expect(await calls.call('GET', path), 'an archive');
      return null;
    }
    const zip = await readZip(calls.url + path).catch(() => null);
    if (zip === null) return null;
    for (const name of ALWAYS_THERE) if (!zip.has(name)) throw broken(`the archive of ${id} has no ${name}`);
    return new Set(zip.keys());
  }

  /** Null where the service said that it could not. */
  async openLive(calls: Calls): Promise<string | null> {
    const created = await calls.call('POST', '/api/sessions', {});
    if (!this.#expect(created, 'a session')) return null;
    this.#sessions.add(created.body.id);
    return created.body.id;
  }

  async useJob(calls: Calls, key: string): Promise<void> {
    const job = await this.submit(calls, key, { 'own.js': FLOW });
    if (job !== null) await this.#follow(calls, job);
  }

  /** @param flows a batch's own; without them it is a job alone */
  async submit(calls: Calls, key: string, flows?: { readonly [path: string]: string }): Promise<KnownJob | null> {
    const task = {
      prompt: key,
      maxIterations: 0,
      args: { site: this.#site, key },
      flowFiles: flows === undefined ? ['order.js'] : Object.keys(flows),
      webhook: this.#receiver.url,
    };
    const answer =
      flows === undefined
        ? await calls.call('POST', '/api/jobs', task)
        : await calls.call('POST', '/api/batches', { flows, jobs: [task] });
    if (!this.#expect(answer, 'a job')) return null;
    const job: KnownJob = { key, id: flows === undefined ? answer.body.id : answer.body.jobs[0], ended: null };
    this.#jobs.push(job);
    return job;
  }

  async #follow(calls: Calls, job: KnownJob): Promise<void> {
    const hasEnded = async () => {
      const answer = await calls.call('GET', `/api/jobs/${job.id}`);
      if (!this.#expect(answer, 'a record')) return false;
      const { state, error } = answer.body;
      if (state === 'queued' || state === 'running') return false;
      const end = state === 'failed' ? error.code : state;
      if (job.ended !== null) this.#same(end, job.ended, `the end of ${job.key}`);
      job.ended = end;
      if (state === 'failed') this.#understood(error, `job ${job.key}`, MAY_FAIL_IN_JOB);
      return true;
    };
    await eventually(`job ${job.key} ends`, hasEnded, ENDS_MS);
    const orders = this.#orders.get(job.key) ?? 0;
    if (orders > 1 || (job.ended === 'completed' && orders !== 1)) {
      throw broken(`${orders} orders of ${job.key}, which ended ${job.ended}`);
    }
  }

  /** All that was told since the last check, asked of a service without a fault. Sessions that still run are ended. */
  async check(calls: Calls): Promise<void> {
    for (const id of this.#sessions) {
      const { body } = await calls.call('GET', `/api/sessions/${id}`);
      if (body.endedAt === null) await calls.call('DELETE', `/api/sessions/${id}`);
    }
    for (const job of this.#jobs) await this.#follow(calls, job);
    const { body: left } = await calls.call('GET', '/api/sessions?state=running');
    if (left.length > 0) throw broken(`sessions that nobody knows of run: ${JSON.stringify(left)}`);
    const { body: health } = await calls.call('GET', '/api/health');
    if (health.status !== 'ok') throw broken(`after all of it: ${JSON.stringify(health)}`);
    await eventually('every place is free', async () => {
      const { running, queued } = (await calls.call('GET', '/api/health')).body.capacity;
      return running + queued === 0;
    });
    for (const id of [...this.#sessions, ...this.#jobs.map((job) => job.id)]) await this.#checkRecord(calls, id);
    for (const { id } of this.#jobs) await this.#webhooksCame(id);
    this.forget();
  }

  /** Asks no more of what was told until now. */
  forget(): void {
    this.#sessions.clear();
    this.#jobs.length = 0;
  }

  async #checkRecord(calls: Calls, id: string): Promise<void> {
    const { status, body: events } = await calls.call('GET', `/api/sessions/${id}/events`);
    const ends = String(events).match(/event: SessionEnded/g)?.length ?? 0;
    if (status !== 200 || ends !== 1) throw broken(`${id} ended ${ends} times: ${status} ${events}`);
    // The archive makes what is not there.
    const names = await this.#archive(calls, id);
    const dir = join(this.#home, 'sessions', id);
    const report = Report.parse(JSON.parse(readFileSync(join(dir, 'report.json'), 'utf8')));
    for (const { path, bytes } of report.artifacts) {
      this.#same(statSync(join(dir, path)).size, bytes, `the size of ${path} of ${id}`);
      if (names?.has(path) !== true) throw broken(`the archive of ${id} has no ${path}`);
    }
    for (const { screenshot } of report.steps) {
      if (screenshot !== null && !existsSync(join(dir, 'screenshots', screenshot))) {
        throw broken(`${id} has no screenshot ${screenshot}`);
      }
    }
  }

  async #webhooksCame(id: string): Promise<void> {
    const came = () => new Set(this.#receiver.received.map(({ headers }) => headers['webhook-id']));
    const wanted = [`${id}_ended`];
    await eventually(`the webhooks of ${id} come`, () => wanted.every((one) => came().has(one)), ENDS_MS);
  }

  /** Whether it succeeded. @throws where it failed in a way that tells a person nothing */
  #expect(answer: Answered, what: string, mayFail: ReadonlySet<string> = MAY_FAIL): boolean {
    if (answer.status < 300) return true;
    this.#understood(answer.body, what, mayFail);
    this.#same(
      answer.status,
      ERROR_TABLE[answer.body.code as keyof typeof ERROR_TABLE].status,
      `the status of ${what}`,
    );
    return false;
  }

  #understood(
    error: { readonly code: unknown; readonly error: string },
    what: string,
    mayFail: ReadonlySet<string>,
  ): void {
    const { code } = error;
    if (!isErrorCode(code) || !mayFail.has(code)) throw broken(`${what} failed with ${JSON.stringify(error)}`);
    if ((code === 'UNAVAILABLE' || RAW.test(error.error)) && !REMEDY.test(error.error)) {
      throw broken(`${what} names no remedy: ${JSON.stringify(error)}`);
    }
  }

  #same(found: unknown, wanted: unknown, what: string): void {
    if (found !== wanted) throw broken(`${what} is ${JSON.stringify(found)} and not ${JSON.stringify(wanted)}`);
  }
}

/** Stops the service as a person would. @throws where it crashed, said what nobody understands, or leaves something behind */
export async function stopped({ process }: FaultyService): Promise<void> {
  const { code, signal } = await process.end('SIGTERM');
  if (code !== 0) throw broken(`the service ended with ${code ?? signal}: ${process.output()}`);
  saysSentences(process.output());
  await nothingLeft();
}

/** @throws for a stack, or a value that was not meant for people */
export function saysSentences(output: string): void {
  const isOdd = (line: string) =>
    /^\s+at |\bundefined\b|\[object |UnhandledPromise/.test(line) || (RAW.test(line) && !REMEDY.test(line));
  const odd = output.split('\n').find(isOdd);
  if (odd !== undefined) throw broken(`the service printed ${JSON.stringify(odd)} in:\n${linesOf(output)}`);
}

/** What a service printed last, without its greeting. */
export function linesOf(output: string): string {
  const lines = output.split('\n').filter((line) => /^\d{4}-|^\s+at |^troupe:/.test(line));
  return lines.slice(-25).join('\n');
}

/** @throws where a process, a lease's folder or half a file is left by the services of this test file */
export async function nothingLeft(): Promise<void> {
  const left = () => [
    ...processesWith(`${tmpdir()}/`).map(({ commandLine }) => commandLine.slice(0, 200)),
    ...pathsUnder(tmpdir()).filter((path) =>
      /(?:^|\/)(?:b-[^/]*|\.probe-[^/]*|[^/]*\.(?:tmp|part|new|crdownload))$/.test(path),
    ),
  ];
  await eventually('nothing is left', () => left().length === 0, 5_000).catch(() => {
    throw broken(`the service leaves behind: ${left().join(', ')}`);
  });
}

function pathsUnder(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' });
}

/** Pages, a file to download, and a count of the jobs that came. */
export async function startSite(
  t: Teardown,
): Promise<{ readonly url: string; readonly orders: ReadonlyMap<string, number> }> {
  const orders = new Map<string, number>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://site.test');
    const job = searchParams.get('job');
    if (job !== null) orders.set(job, (orders.get(job) ?? 0) + 1);
    if (pathname === '/file.bin') response.setHeader('content-disposition', 'attachment');
    else response.setHeader('content-type', 'text/html');
    response.end(pathname === '/file.bin' ? 'bytes' : '<title>Site</title><a href="/file.bin">File</a>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, orders };
}

function broken(what: string): Error {
  return new Error(what);
}
