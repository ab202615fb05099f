import type { Readable } from 'node:stream';
import type { SessionArtifact, SessionFile } from '../../protocol/answers.js';
import type { ApprovedBaseline } from '../../protocol/baseline.js';

/** An open file; the caller must read or destroy the stream. */
export interface OpenFile {
  readonly bytes: number;
  readonly stream: Readable;
}

/** A file of which a part can be read. The caller must call `open` or `close`, once. */
export interface OpenArtifact {
  readonly bytes: number;
  /** Streams bytes, both ends included; destroying the stream closes the file. */
  open(range: { readonly start: number; readonly end: number }): Readable;
  close(): Promise<void>;
}

/** Files and artifacts of sessions. An unknown session or file is NOT_FOUND. */
export interface Artifacts {
  /** Streams the artifact zip. Destroying the stream cancels the work. */
  archive(id: string): Promise<Readable>;
  /** What the zip contains. */
  artifacts(id: string): Promise<readonly SessionArtifact[]>;
  /** One of {@link artifacts}, by its path. */
  artifact(id: string, path: string): Promise<OpenArtifact>;
  list(id: string): Promise<readonly SessionFile[]>;
  read(id: string, name: string): Promise<OpenFile>;
  /**
   * Stores an upload. INVALID_REQUEST if the name is not one path segment; BODY_TOO_LARGE beyond `maxUploadBytes`;
   * SESSION_BUSY if the session is queued; SESSION_ENDED if it has ended, even if its browser is still closing.
   */
  write(id: string, name: string, content: Readable): Promise<SessionFile>;
  /** A step's screenshot, by its file name. */
  screenshot(id: string, name: string): Promise<OpenFile>;
  /** The report of the session's current state, for people or for programs. */
  report(id: string, name: 'report.html' | 'report.json'): Promise<OpenFile>;
  /** The trace of the session's current state. NOT_FOUND if the session has none. */
  trace(id: string): Promise<OpenFile>;
  /**
   * Stores the picture of a failed `agent.expectScreenshot` as its baseline. NOT_FOUND without such a check;
   * PRECONDITION_FAILED if the baseline has changed since.
   */
  approveBaseline(id: string, path: string): Promise<ApprovedBaseline>;
}
