import { createWriteStream } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { asAbsent } from '../../base/system-fault.js';
import { encodeError } from '../../protocol/errors.js';
import { Failure } from '../../protocol/report/failure.js';
import { Report } from '../../protocol/report/report.js';
import type { ServiceClient } from '../service-client.js';
import { removeRetries, unpackArtifacts } from './owned-files.js';
import { patiently } from './patiently.js';

/** Zips that are fetched and unpacked at a time. */
const AT_ONCE = 2;
/** What a session may write beside its flows. */
const BASELINE = /\.baselines\/[^/]+\.(png|look\.txt)$/;

/** What the file system is asked for when reports are written. */
const DISK_CALLS: ReadonlySet<string> = new Set([
  'mkdir',
  'mkdtemp',
  'open',
  'write',
  'rename',
  'unlink',
  'rm',
  'scandir',
]);

/** Earlier services wrote reports without `failure`. */
const AnyReport = Report.extend({ failure: Failure.nullable().default(null) });

/** Fetches the artifacts of jobs as they end, each into a folder of its own. */
export class RunReports {
  readonly #client: ServiceClient;
  readonly #dir: string;
  readonly #whole: boolean;
  readonly #waiting: { readonly id: string; readonly folder: string }[] = [];
  readonly #folders: string[] = [];
  /** Of jobs whose files are on disk. */
  readonly #fetched = new Set<string>();
  readonly #faults: string[] = [];
  readonly #unwritten: string[] = [];
  #working = 0;
  /** The service was away for too long: what is left is tried once. */
  #isAway = false;
  #onIdle: () => void = () => undefined;

  /**
   * @param dir created if needed; of what is in it, only files that an earlier run wrote of the same flows are removed
   * @param whole all artifacts rather than report.json alone
   */
  constructor(client: ServiceClient, dir: string, whole: boolean) {
    this.#client = client;
    this.#dir = dir;
    this.#whole = whole;
  }

  /** The service is gone: what is left is tried once. */
  hurry(): void {
    this.#isAway = true;
  }

  /** Begins to fetch a job's artifacts. */
  add(id: string, folder: string): void {
    this.#folders.push(folder);
    this.#waiting.push({ id, folder });
    if (this.#working < AT_ONCE) void this.#work();
  }

  /** Settles when everything that was added is on disk. @returns what could not be fetched, or written, one sentence each */
  async done(): Promise<{ readonly unfetched: readonly string[]; readonly unwritten: readonly string[] }> {
    while (this.#working > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    if (this.#whole) {
      const used = new Set(this.#folders.map((folder) => join(this.#dir, folder)));
      for (const folder of used) await removeRetries(folder, (one) => used.has(one));
    }
    return { unfetched: this.#faults, unwritten: this.#unwritten };
  }

  /**
   * Puts the baselines that jobs have written into the flows folder; jobs that were retried wrote theirs again.
   * @returns which, one sentence each
   */
  async takeBaselines(root: string): Promise<readonly string[]> {
    const notes: string[] = [];
    for (const folder of this.#fetched) {
      const baselines = join(this.#dir, folder, 'baselines');
      const found = await readdir(baselines, { recursive: true, withFileTypes: true }).catch(asAbsent);
      for (const entry of found ?? []) {
        const file = join(entry.parentPath, entry.name);
        const path = relative(baselines, file).split(sep).join('/');
        if (!entry.isFile() || !BASELINE.test(path)) continue;
        const target = join(root, path);
        await mkdir(dirname(target), { recursive: true });
        await copyFile(file, target);
        notes.push(`Stored the baseline ${path}`);
      }
    }
    return [...new Set(notes)].sort();
  }

  /** Whether what is in a folder is of this run, once it is `done`. */
  has(folder: string): boolean {
    return this.#fetched.has(folder);
  }

  /** The report.json of a job that was added, once it is `done`; null if there is none, or if it is another version's. */
  async read(folder: string): Promise<Report | null> {
    // What an earlier run left there says nothing about this one.
    if (!this.has(folder)) return null;
    const text = await readFile(join(this.#dir, folder, 'report.json'), 'utf8').catch(() => null);
    if (text === null) return null;
    try {
      return AnyReport.parse(JSON.parse(text));
    } catch {
      return null;
    }
  }

  async #work(): Promise<void> {
    this.#working += 1;
    for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift()) {
      try {
        const fetch = () => this.#fetch(job.id, join(this.#dir, job.folder));
        await (this.#isAway ? fetch() : patiently(fetch));
        this.#fetched.add(job.folder);
      } catch (error) {
        if (isOfDisk(error)) {
          this.#unwritten.push(`${job.folder}: its report cannot be written: ${error.message}`);
          continue;
        }
        this.#isAway ||= encodeError(error).code === 'UNAVAILABLE';
        this.#faults.push(`${job.folder}: its report could not be fetched: ${encodeError(error).error}`);
      }
    }
    this.#working -= 1;
    if (this.#working === 0) this.#onIdle();
  }

  async #fetch(id: string, folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
    if (!this.#whole) {
      const report = await this.#client.download(`/api/sessions/${id}/report.json`);
      return pipeline(report, createWriteStream(join(folder, 'report.json')));
    }
    const temporary = await mkdtemp(join(folder, '.zip-'));
    try {
      const file = join(temporary, 'artifacts.zip');
      await pipeline(await this.#client.download(`/api/sessions/${id}/download`), createWriteStream(file));
      await unpackArtifacts(file, folder);
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
  }
}

/** Whether a call of the file system failed, rather than the connection. */
function isOfDisk(error: unknown): error is Error {
  const call: unknown = Reflect.get(Object(error), 'syscall');
  return error instanceof Error && typeof call === 'string' && DISK_CALLS.has(call);
}
