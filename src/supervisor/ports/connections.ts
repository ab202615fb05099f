import type { ControlKey, PageInput } from '../../protocol/control.js';
import type { ErrorBody } from '../../protocol/errors.js';
import type { Handoff, HandoffRequest } from '../../protocol/person/handoff.js';
import type { DevToolsMessages } from '../../session/connection/devtools-clients.js';

/**
 * Another DevTools client of a session's browser, over the session's own connection. It ends with the session's actor.
 */
export interface DevToolsClient {
  /** Sends a command: a JSON object as text. `sessionId` equals its member of that name; both may be missing. */
  send(text: string, sessionId: string | undefined): void;
  /**
   * The browser's next messages, or none after a while. One call at a time.
   * @throws SESSION_RESTARTED, SESSION_ENDED, WORKER_LOST if the connection has ended
   */
  next(signal: AbortSignal): Promise<DevToolsMessages>;
  /** Ends the client's sessions in the browser. Idempotent. */
  close(): void;
}

/** A session's browser, for other clients of the Chrome DevTools Protocol. */
export interface DevTools {
  /** The browser's name and version: `Chromium 156.0.8078.73`. */
  readonly product: string;
  /** The session's own folder, to which the browser saves files. */
  readonly downloadsDir: string;
  /** The only folder whose files can be given to the browser. */
  readonly uploadsDir: string;
  /** @throws CAPACITY, WORKER_LOST */
  connect(): Promise<DevToolsClient>;
}

/**
 * Connections to running sessions, for people and for clients that do not use scripts. Calls reject with SESSION_ENDED
 * if
 * the session has ended, and with SESSION_BUSY if it is queued.
 */
export interface Connections {
  /**
   * Gives a person control of a running session, and returns their key once the agent's calls have finished.
   * SESSION_BUSY
   * if another person has control, unless `takeOver`. Control that was taken for a handoff ends with it; FORBIDDEN if it is
   * not open.
   */
  takeControl(id: string, by: string, takeOver: boolean, handoff?: string | null): Promise<ControlKey>;
  /** Gives control back to the agent, whoever has it. With a key: SESSION_BUSY if it is not valid. */
  returnControl(id: string, key?: string): Promise<void>;
  /** Whether the key belongs to the person with control. If so, resets the idle timeouts. */
  holdsControl(id: string, key: string): boolean;
  /**
   * Registers a page of the holder; returns a function to call when it disconnects. SESSION_BUSY if the key is not
   * valid.
   */
  attachControl(id: string, key: string): () => void;
  /** Sends the holder's input to the page. SESSION_BUSY if the key is not valid. */
  sendInput(id: string, key: string, inputs: readonly PageInput[]): Promise<void>;
  /** The page's selection. SESSION_BUSY if the key is not valid. */
  copySelection(id: string, key: string): Promise<string>;
  /** The id of the session's open handoff; null if there is none, or the session is not running. */
  openHandoff(id: string): string | null;
  /** The open handoff of a running session, or its next one; the signal's reason. */
  nextHandoff(id: string, signal: AbortSignal): Promise<Handoff>;
  /** Resolves when this handoff is no longer open; the signal's reason. */
  handoffEnded(id: string, handoff: string, signal: AbortSignal): Promise<void>;
  /** Answers the open handoff; a person who has control gives it back. NOT_FOUND if it is not open. */
  answerHandoff(id: string, given: HandoffRequest, by: string): Promise<Handoff>;
  /**
   * Begins a step of a client that acts by other means than scripts, such as WebDriver; waits while a person has
   * control. Returns a function that ends the step, with an error if it has failed.
   * @param js the call, as the transcript shows it
   */
  beginStep(
    id: string,
    step: { readonly method: string; readonly js: string },
    signal: AbortSignal,
  ): Promise<(error: ErrorBody | null) => void>;
  /** Resets the idle timeout for a client that works without scripts. Does nothing if the session is not running. */
  touch(id: string): void;
  /**
   * The unix socket of the session's desktop, an RFB server. NOT_FOUND if there is none. SESSION_ENDED, also for a
   * session
   * that never existed, since the journal is not read.
   */
  desktop(id: string): string;
  /**
   * In a job, only for the person with control: SESSION_BUSY for others. SESSION_ENDED as with
   * {@link Connections.desktop}.
   */
  devTools(id: string, control: string | undefined): DevTools;
}
