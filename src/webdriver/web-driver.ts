import type { ClosedPorts } from '../net-policy/closed-ports.js';
import { encodeError, TroupeError } from '../protocol/errors.js';
import type { Sessions, Submitter } from '../supervisor/ports/sessions.js';
import { readCapabilities } from './capabilities.js';
import type { Command } from './command-step.js';
import { findDriver } from './driver-process.js';
import type { DriverAnswer } from './driver-request.js';
import { DriverSession } from './driver-session.js';

/** Ended sessions whose reason is remembered. */
const MAX_ENDED = 1_000;

export interface WebDriverOptions {
  /** The path of chromedriver in the configuration. */
  readonly driver: string | undefined;
  readonly closedPorts: ClosedPorts;
}

/**
 * The sessions that WebDriver clients have created, each with a chromedriver of its own. A session is an ordinary live
 * session; its id is that of its WebDriver session. Either ends with the other. Owned by the gateway.
 */
export class WebDriver {
  readonly #options: WebDriverOptions;
  readonly #open = new Map<string, DriverSession>();
  /** Why sessions have ended, by id; the oldest are forgotten. */
  readonly #ended = new Map<string, string>();
  readonly #closing = new AbortController();

  constructor(options: WebDriverOptions) {
    this.#options = options;
  }

  /** The path of chromedriver. @throws UNAVAILABLE if none is installed */
  installed(): Promise<string> {
    return findDriver(this.#options.driver);
  }

  /**
   * Creates a session and attaches a chromedriver to its browser. Resolves with the body of the answer.
   * @throws INVALID_REQUEST, CAPACITY, UNAVAILABLE; nothing is left then
   */
  async create(body: unknown, sessions: Sessions, submitter: Submitter): Promise<unknown> {
    const wanted = readCapabilities(body);
    const path = await this.installed();
    const signal = AbortSignal.any([submitter.signal, this.#closing.signal]);
    const { id } = await sessions.createLive(wanted.request, { ...submitter, signal });
    let session: DriverSession | null = null;
    try {
      signal.throwIfAborted();
      session = await DriverSession.open({
        id,
        path,
        wanted,
        sessions,
        signal,
        closedPorts: this.#options.closedPorts,
      });
      signal.throwIfAborted();
    } catch (error) {
      await session?.close('The client has disconnected');
      // A DELETE of a session that has ended by itself would remove its artifacts.
      if (sessions.timeLeft(id) !== null) await sessions.remove(id, false);
      throw error;
    }
    const opened = session;
    this.#open.set(id, opened);
    void opened.over.then((reason) => this.#over(id, reason, sessions));
    return { value: { sessionId: id, capabilities: opened.capabilities } };
  }

  /** @throws NOT_FOUND, SESSION_ENDED, WORKER_LOST */
  async command(id: string, command: Command, raw: string | null): Promise<DriverAnswer> {
    const session = this.#session(id);
    try {
      return await session.command(command, raw);
    } catch (error) {
      // The session may be known to have ended by now, with its reason.
      if (encodeError(error).code === 'WORKER_LOST') {
        await session.close('its chromedriver has ended');
        throw new TroupeError('WORKER_LOST', `The session has ended: ${await session.over}`);
      }
      throw error;
    }
  }

  /** Ends the session and its chromedriver. @throws NOT_FOUND */
  async remove(id: string, sessions: Sessions): Promise<void> {
    const session = this.#session(id);
    await session.close('The client has ended it');
    await sessions.remove(id, false);
  }

  /** Stores a file for the session's browser to upload; resolves with its path. */
  async upload(id: string, body: Command['body'], sessions: Sessions): Promise<string> {
    return this.#session(id).upload(body, sessions);
  }

  /** Ends all chromedrivers. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort(new TroupeError('UNAVAILABLE', 'The service is stopping'));
    await Promise.all([...this.#open.values()].map((session) => session.close('The service is stopping')));
  }

  #session(id: string): DriverSession {
    const session = this.#open.get(id);
    if (session !== undefined) return session;
    const why = this.#ended.get(id);
    throw why === undefined
      ? new TroupeError('NOT_FOUND', 'There is no such WebDriver session; it has ended, or never existed')
      : new TroupeError('SESSION_ENDED', `The session has ended: ${why}`);
  }

  async #over(id: string, reason: string, sessions: Sessions): Promise<void> {
    this.#open.delete(id);
    this.#ended.set(id, reason);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
    // After a second DELETE of an ended session, its artifacts would be removed.
    if (sessions.timeLeft(id) !== null) await sessions.remove(id, false).catch(() => undefined);
  }
}
