import type { TroupeError } from '../../protocol/errors.js';
import type { CdpEvent, CdpMethod, CdpParams, CdpResult } from './cdp.js';

/** A page that the connection is attached to. */
export interface AttachedPage {
  /** Its CDP session: what commands to this page name. */
  readonly session: string;
  readonly targetId: string;
  /** The target of the page that opened it. */
  readonly openerId: string | undefined;
  readonly url: string;
  readonly title: string;
}

export interface SendOptions {
  /** The page that the command is for; the browser itself where absent. */
  readonly session?: string | undefined;
  /** The answer is given up after this time (30 s where absent). */
  readonly timeoutMs?: number;
}

/** The size of a page: CSS pixels, and how many pixels of a picture each of them has. */
export interface PageSize {
  readonly width: number;
  readonly height: number;
  readonly deviceScaleFactor: number;
}

/** Why a connection is over. */
export interface ConnectionEnd {
  readonly reason: string;
  /** WORKER_LOST; SESSION_RESTARTED when the browser is well and another connection can take over. */
  readonly error: TroupeError;
}

/** What the agent needs of a browser's connection. */
export interface BrowserPort {
  /** Where the browser puts downloads, and where files for it to upload lie; absolute. */
  readonly downloadsDir: string;
  readonly uploadsDir: string;
  /** The size of pages as this connection has set it. */
  readonly pageSize: PageSize;
  /** Settles once when the browser or its connection is gone. Never rejects. */
  readonly lost: Promise<ConnectionEnd>;
  /**
   * Sends a command. Commands to one session are carried out in the order of their sending.
   * @throws the error of {@link lost} when the connection is gone, WAIT_TIMEOUT when no answer came, ACTION_FAILED with the
   * browser's own text when it refuses.
   */
  send<M extends CdpMethod>(method: M, params: CdpParams<M>, options?: SendOptions): Promise<CdpResult<M>>;
  /** Calls `listener` with each event, in order, from now on. Answers the call that ends it. */
  listen(listener: (event: CdpEvent) => void): () => void;
  /**
   * Calls `listener` with each attached page: at once with those that are there, and with a new one before its first
   * script runs, so that what the listener sends to the page synchronously is done by then.
   */
  onPage(listener: (page: AttachedPage) => void): () => void;
}
