import type { ArtifactStore, OpenStored } from '../../artifact-store/artifact-store.js';
import type { SessionArtifact, SessionFile } from '../../protocol/answers.js';
import { TroupeError } from '../../protocol/errors.js';
import type { SessionId } from '../../protocol/session.js';
import type { StoredSource } from '../../report/archive.js';
import type { OpenArtifact, OpenFile } from '../ports/artifacts.js';
import { SentFiles } from './sent-files.js';

const DOWNLOADS = 'downloads/';
/** The order of a zip: reports first. */
const FIRST = ['session.json', 'transcript.jsonl', 'report.json', 'report.html', 'report.junit.xml'];

/**
 * The artifacts of a session that the store has. Errors of the store are UNAVAILABLE, also if it has nothing of the
 * session at all; an artifact that does not exist is NOT_FOUND.
 */
export class StoredArtifacts {
  readonly #store: ArtifactStore;
  readonly #id: SessionId;

  constructor(store: ArtifactStore, id: SessionId) {
    this.#store = store;
    this.#id = id;
  }

  source(): StoredSource {
    return {
      files: async () =>
        (await this.list()).map(({ path }) => ({
          name: path,
          open: async () => {
            const opened = await this.#open(path);
            return opened === null ? null : { content: opened.open(), modifiedAt: opened.modifiedAt };
          },
        })),
    };
  }

  async list(): Promise<readonly SessionArtifact[]> {
    const found = await this.#store.list(this.#id);
    if (found.length === 0) {
      throw new TroupeError(
        'UNAVAILABLE',
        `Nothing of the session is in ${this.#store.description}: it was removed there, or "artifacts" in troupe.json named another place when the session ran`,
      );
    }
    const artifacts = found.map(({ path, bytes, modifiedAt }) => ({
      path,
      bytes,
      modifiedAt: modifiedAt.toISOString(),
    }));
    return artifacts.sort((one, other) => rank(one.path) - rank(other.path) || (one.path < other.path ? -1 : 1));
  }

  async artifact(path: string): Promise<OpenArtifact> {
    const opened = await this.#open(path);
    if (opened !== null) return opened;
    await this.list();
    throw new TroupeError('NOT_FOUND', `The session has no artifact '${path.slice(0, 200)}'`);
  }

  /** @throws NOT_FOUND also for a name with a slash */
  async file(folder: string, name: string): Promise<OpenFile> {
    const opened = name.includes('/') ? null : await this.#open(`${folder}${name}`);
    if (opened !== null) return { bytes: opened.bytes, stream: opened.open() };
    await this.list();
    throw new TroupeError('NOT_FOUND', `The session has no '${name.slice(0, 200)}'`);
  }

  async downloads(): Promise<readonly SessionFile[]> {
    return (await this.list())
      .filter(({ path }) => path.startsWith(DOWNLOADS) && !path.includes('/', DOWNLOADS.length))
      .map(({ path, bytes, modifiedAt }) => ({
        name: path.slice(DOWNLOADS.length),
        bytes,
        source: 'download',
        modifiedAt,
      }));
  }

  download(name: string): Promise<OpenFile> {
    return this.file(DOWNLOADS, name);
  }

  /** Stores all files of a folder that are artifacts by their paths. */
  addAll(dir: string): Promise<void> {
    return new SentFiles(this.#store, this.#id).send(dir, new AbortController().signal);
  }

  #open(path: string): Promise<OpenStored | null> {
    return this.#store.open({ session: this.#id, path });
  }
}

function rank(path: string): number {
  const at = FIRST.indexOf(path);
  return at === -1 ? FIRST.length : at;
}
