import type { Readable } from 'node:stream';
import type { SessionArtifact, SessionFile } from '../../protocol/answers.js';
import type { ApprovedBaseline } from '../../protocol/baseline.js';
import { TroupeError } from '../../protocol/errors.js';
import { isEnded, type SessionId, type SessionRecord } from '../../protocol/session.js';
import type { Artifacts, OpenArtifact, OpenFile } from '../ports/artifacts.js';
import type { ArtifactKeeper } from './artifact-keeper.js';
import type { SessionBaselines } from './session-baselines.js';
import { endedSessionFiles, type FileDirs, listFiles, openFile, storeUpload } from './session-files.js';
import type { StoredArtifacts } from './stored-artifacts.js';

/** A session's current record, and its folders while it runs. */
export interface SessionNow {
  readonly record: SessionRecord;
  readonly files: FileDirs | null;
}

/** What artifacts need to know about sessions. */
interface KnownSessions {
  /** @throws NOT_FOUND */
  get(id: string): Promise<SessionRecord>;
  /** Waits until a session that has just ended has written its files. @throws NOT_FOUND */
  now(id: string): Promise<SessionNow>;
  /** Waits until what a session has done so far is on disk. */
  written(id: SessionId): Promise<void>;
  /** The folders of a session that has a browser; null for others. */
  browserFiles(id: SessionId): FileDirs | null;
}

/** Files and artifacts of sessions, by the ids that clients use. */
export class SessionArtifacts implements Artifacts {
  readonly #keeper: ArtifactKeeper;
  readonly #baselines: SessionBaselines;
  readonly #sessions: KnownSessions;

  constructor(keeper: ArtifactKeeper, baselines: SessionBaselines, sessions: KnownSessions) {
    this.#keeper = keeper;
    this.#baselines = baselines;
    this.#sessions = sessions;
  }

  async archive(id: string): Promise<Readable> {
    const { record, files } = await this.#sessions.now(id);
    return this.#keeper.archive(record, files);
  }

  async artifacts(id: string): Promise<readonly SessionArtifact[]> {
    const { record, files } = await this.#sessions.now(id);
    return this.#keeper.artifacts(record, files);
  }

  async artifact(id: string, path: string): Promise<OpenArtifact> {
    const { record, files } = await this.#sessions.now(id);
    return this.#keeper.artifact(record, files, path);
  }

  async list(id: string): Promise<readonly SessionFile[]> {
    return this.#files(id, { dirs: listFiles, stored: (stored) => stored.downloads() });
  }

  async read(id: string, name: string): Promise<OpenFile> {
    return this.#files(id, { dirs: (dirs) => openFile(dirs, name), stored: (stored) => stored.download(name) });
  }

  async write(id: string, name: string, content: Readable): Promise<SessionFile> {
    const record = await this.#sessions.get(id);
    if (isEnded(record.status)) throw new TroupeError('SESSION_ENDED', 'The session has ended');
    const uploadsDir = this.#sessions.browserFiles(record.id)?.uploadsDir ?? null;
    if (uploadsDir === null)
      throw new TroupeError('SESSION_BUSY', 'The session has no browser yet; wait until it runs');
    return storeUpload(uploadsDir, name, content);
  }

  async screenshot(id: string, name: string): Promise<OpenFile> {
    return this.#keeper.screenshot(await this.#sessions.get(id), name);
  }

  async report(id: string, name: 'report.html' | 'report.json'): Promise<OpenFile> {
    const { id: known } = await this.#sessions.get(id);
    await this.#sessions.written(known);
    return this.#keeper.report(await this.#sessions.get(known), name);
  }

  async trace(id: string): Promise<OpenFile> {
    const { id: known } = await this.#sessions.get(id);
    await this.#sessions.written(known);
    return this.#keeper.trace(await this.#sessions.get(known));
  }

  async approveBaseline(id: string, path: string): Promise<ApprovedBaseline> {
    const { id: known } = await this.#sessions.get(id);
    await this.#sessions.written(known);
    return this.#baselines.approve(await this.#sessions.get(known), path);
  }

  async #files<T>(
    id: string,
    read: { dirs(dirs: FileDirs): Promise<T>; stored(stored: StoredArtifacts): Promise<T> },
  ): Promise<T> {
    const record = await this.#sessions.get(id);
    const dirs = this.#sessions.browserFiles(record.id);
    if (dirs !== null) return read.dirs(dirs);
    return this.#keeper.readFiles(record, {
      folder: (dir) => read.dirs(endedSessionFiles(dir)),
      store: (stored) => read.stored(stored),
    });
  }
}
