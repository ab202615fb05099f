import type { DevToolsMessages } from '../../actors/session/connection/devtools-clients.js';
import type { ControlKey, PageInput } from '../../protocol/control.js';

/** Another client of a session's browser, over the session's own connection. It is lost with the session's actor. */
export interface DevToolsClient {
  /** A command: a JSON object as text, without a member `sessionId` or with the one that is given beside it. */
  send(text: string, sessionId: string | undefined): void;
  /**
   * What the browser has for it, once there is something, or nothing after a while. One call at a time.
   * @throws SESSION_RESTARTED, SESSION_ENDED, WORKER_LOST when the connection is gone
   */
  next(signal: AbortSignal): Promise<DevToolsMessages>;
  /** Ends what the client began in the browser. Idempotent. */
  close(): void;
}

/** A session's browser, for another client of Chrome's DevTools protocol. */
export interface DevTools {
  /** For people: `Chromium 156.0.8078.73`. */
  readonly product: string;
  /** Where the browser saves files: the session's own folder. */
  readonly downloadsDir: string;
  /** The one folder from which the browser may be given files. */
  readonly uploadsDir: string;
  /** @throws CAPACITY, WORKER_LOST */
  connect(): Promise<DevToolsClient>;
}

/**
 * The ways into a session that runs, for people and for other clients than scripts. What is asked of one that has ended
 * is SESSION_ENDED, and of one that waits SESSION_BUSY.
 */
export interface Connections {
  /**
   * Gives a person control of a session that runs, and answers the key to it, when its agent has come to rest.
   * SESSION_BUSY where another has it, unless `takeOver`.
   */
  takeControl(id: string, by: string, takeOver: boolean): Promise<ControlKey>;
  /** Whoever has it: the agent goes on. */
  returnControl(id: string): Promise<void>;
  /** Whether the key is that of who has control now; a sign of life of theirs. */
  holdsControl(id: string, key: string): boolean;
  /** A page that the holder has open; the answer says that it is gone. SESSION_BUSY for another's key. */
  attachControl(id: string, key: string): () => void;
  /** What the holder does to the page. SESSION_BUSY for another's key. */
  sendInput(id: string, key: string, inputs: readonly PageInput[]): Promise<void>;
  /** What is selected on the page. SESSION_BUSY for another's key. */
  copySelection(id: string, key: string): Promise<string>;
  /** A sign of life from a client that works without scripts. Nothing for a session that does not run. */
  touch(id: string): void;
  /**
   * The unix socket of the session's desktop, an RFB server. NOT_FOUND where there is none. SESSION_ENDED, also for a
   * session that never was: told at once, without a look into the journal.
   */
  desktop(id: string): string;
  /** In a job to who has its control: SESSION_BUSY for others. SESSION_ENDED as with {@link Connections.desktop}. */
  devTools(id: string, control: string | undefined): DevTools;
}
