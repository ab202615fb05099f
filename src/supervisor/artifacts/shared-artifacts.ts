import { createWriteStream } from 'node:fs';
import { lstat, mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ArtifactStore } from '../../artifact-store/artifact-store.js';
import type { Clock } from '../../base/clock.js';
import { asAbsent } from '../../base/system-fault.js';
import type { Journal } from '../../journal/journal.js';
import { TroupeError } from '../../protocol/errors.js';
import { isEnded, type SessionId, type SessionRecord } from '../../protocol/session.js';
import { ArtifactUploads, untilStored } from './artifact-uploads.js';
import { FolderHolds } from './folder-holds.js';

/** How long a request waits until another node has uploaded a session's artifacts. */
const ELSEWHERE_MS = 30_000;

export interface SharedArtifactsParts {
  readonly store: ArtifactStore;
  readonly journal: Journal;
  readonly sessionsDir: string;
  readonly clock: Clock;
  readonly log: (line: string, about?: { readonly session: string }) => void;
  /** This node; undefined if there is only one. */
  readonly node: string | undefined;
  /** Whether another node is not lost. */
  isUp(node: string): Promise<boolean>;
}

/** Where a session's artifacts are now: in its folder, which stays until `release` is called, or in the store. */
export type ArtifactPlaceNow = { readonly kind: 'folder'; release(): void } | { readonly kind: 'store' };

/** Artifacts that leave their node: decides for each session whether its folder or the store has them. */
export class SharedArtifacts {
  readonly store: ArtifactStore;
  readonly uploads: ArtifactUploads;
  readonly #holds = new FolderHolds();
  readonly #parts: SharedArtifactsParts;
  readonly #fetching = new Map<SessionId, Promise<void>>();

  /** @param produce creates the reports of an ended session, unless they are there */
  constructor(parts: SharedArtifactsParts, produce: (record: SessionRecord) => Promise<void>) {
    this.#parts = parts;
    this.store = parts.store;
    this.uploads = new ArtifactUploads({ ...parts, holds: this.#holds, produce });
  }

  /** Whether the folder was removed, because the store has everything. */
  hasLeft(id: SessionId): boolean {
    return this.#holds.isClosed(id);
  }

  /** @throws NOT_FOUND if the session was removed, UNAVAILABLE if another node still uploads */
  async place({ id, endedAt }: Pick<SessionRecord, 'id' | 'endedAt'>): Promise<ArtifactPlaceNow> {
    const release = this.#holds.hold(id);
    if (release !== null && (endedAt === null || (await this.#hasFolder(id)))) return { kind: 'folder', release };
    try {
      const stored = await this.#parts.journal.get(id);
      if (stored === null) throw new TroupeError('NOT_FOUND', `There is no session '${id}'`);
      const { record } = stored;
      if (release === null || record.artifacts === 'stored') {
        release?.();
        return { kind: 'store' };
      }
      if (record.artifacts === 'pending' && record.node !== undefined && record.node !== this.#parts.node) {
        if (await this.#parts.isUp(record.node)) {
          await untilStored(this.#parts, record, ELSEWHERE_MS);
          release();
          return { kind: 'store' };
        }
        // The node is gone: this one makes what can be made of the journal and of what the store has already.
        this.uploads.add(id);
      }
      return { kind: 'folder', release };
    } catch (error) {
      release?.();
      throw error;
    }
  }

  /** Before reports are created: of a session that ran on another node, the folder has what the store has. */
  async fill(record: SessionRecord): Promise<void> {
    if (record.artifacts !== 'pending' || !isEnded(record.status) || (await this.#hasFolder(record.id))) return;
    const fetching = this.#fetching.get(record.id) ?? this.#fetch(record.id);
    this.#fetching.set(record.id, fetching);
    await fetching.finally(() => this.#fetching.delete(record.id));
  }

  async #fetch(id: SessionId): Promise<void> {
    const { sessionsDir } = this.#parts;
    const part = join(sessionsDir, `.gone-${id}`);
    for (const { path } of await this.store.list(id)) {
      const opened = await this.store.open({ session: id, path });
      if (opened === null) continue;
      const target = join(part, path);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await pipeline(opened.open(), createWriteStream(target, { mode: 0o600 }));
    }
    await rename(part, join(sessionsDir, id)).catch(asAbsent);
  }

  /** Removes a session's artifacts from the store, and ends work on them. */
  async remove(id: SessionId): Promise<void> {
    await this.uploads.forget(id);
    await this.store.remove(id);
    this.#holds.forget(id);
  }

  async bytes(id: SessionId): Promise<number> {
    return (await this.store.list(id)).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  async #hasFolder(id: SessionId): Promise<boolean> {
    return (await lstat(join(this.#parts.sessionsDir, id)).catch(asAbsent)) !== null;
  }
}
