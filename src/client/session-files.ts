import type { SessionFile } from '../protocol/answers.js';
import { answerAs, listAs } from './answers.js';
import type { CallOptions, Connection } from './connection.js';

/** A session's files: what its browser downloaded, and what it may upload. */
export class SessionFiles {
  readonly #connection: Connection;
  readonly #path: string;

  constructor(connection: Connection, sessionPath: string) {
    this.#connection = connection;
    this.#path = `${sessionPath}/files`;
  }

  /** What there is now: names and sizes in bytes, of downloads and uploads. */
  async list(options: CallOptions = {}): Promise<readonly SessionFile[]> {
    return listAs<SessionFile>(await this.#connection.json('GET', this.#path, { ...options, retry: 'always' }), 'name');
  }

  /** The bytes of one file. @throws NOT_FOUND */
  get(name: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.#connection.bytes(this.#of(name), options);
  }

  /** Stores a file of at most 100 MiB, which `agent.act(locator, 'upload', name)` takes. It replaces one of the same name. */
  async put(
    name: string,
    content: string | Uint8Array<ArrayBuffer> | Blob,
    options: CallOptions = {},
  ): Promise<SessionFile> {
    const call = { ...options, bytes: content, retry: 'always' } as const;
    return answerAs<SessionFile>(await this.#connection.json('PUT', this.#of(name), call), 'name');
  }

  #of(name: string): string {
    return `${this.#path}/${encodeURIComponent(name)}`;
  }
}
