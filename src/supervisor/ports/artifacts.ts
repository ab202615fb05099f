import type { Readable } from 'node:stream';
import type { SessionFile } from '../../protocol/answers.js';

/** A file as it is read; whoever takes it reads or destroys the stream. */
export interface OpenFile {
  readonly bytes: number;
  readonly stream: Readable;
}

/** Files and artifacts of sessions. An unknown session or file is NOT_FOUND. */
export interface Artifacts {
  /** The artifact zip as it is made. Destroying the stream ends the work. */
  archive(id: string): Promise<Readable>;
  list(id: string): Promise<readonly SessionFile[]>;
  read(id: string, name: string): Promise<OpenFile>;
  /**
   * Names are one path segment. INVALID_REQUEST for any other; BODY_TOO_LARGE past `maxUploadBytes`; SESSION_BUSY for a
   * session that waits; SESSION_ENDED for one that has ended, whose browser may be there a moment longer.
   */
  write(id: string, name: string, content: Readable): Promise<SessionFile>;
  /** A screenshot, by the name that its step has. */
  screenshot(id: string, name: string): Promise<OpenFile>;
  /** The HTML report as the journal has it now. */
  report(id: string): Promise<OpenFile>;
}
