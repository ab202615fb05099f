import { withDeadline } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';
import { isEnded, type SessionId } from '../../protocol/session.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import type { McpClient } from './mcp-peer.js';

type State =
  | { readonly kind: 'none' }
  | { readonly kind: 'made'; readonly id: Promise<SessionId>; readonly abort: AbortController }
  /** The browser session ended, and the client does not know yet. */
  | { readonly kind: 'gone'; readonly why: string }
  | { readonly kind: 'closed' };

/** The name in lists of a browser session that a client got. */
export function browserName(
  client: { readonly name: string; readonly title?: string | undefined } | undefined,
): string {
  return `MCP: ${(client?.title ?? client?.name) || 'a client'}`.slice(0, 200);
}

/**
 * The browser session of one MCP session: created with the first script, ended with the MCP session, and otherwise a
 * session like any other.
 *
 *     none --use--> made --it ended--> gone --reported once--> none
 *       \--------------\--- close ---> closed
 */
export class OwnBrowser {
  readonly #sessions: Sessions;
  readonly #caller: string;
  readonly #name: () => string;
  #state: State = { kind: 'none' };

  /** @param name the name of the session in lists */
  constructor({ sessions, caller }: McpClient, name: () => string) {
    this.#sessions = sessions;
    this.#caller = caller;
    this.#name = name;
  }

  /**
   * The session for the next script.
   * @param signal ends the wait of this call only
   * @throws SESSION_ENDED, once, if the previous session has ended; the next call creates a new one
   */
  async use(signal: AbortSignal): Promise<SessionId> {
    const state = this.#state;
    switch (state.kind) {
      case 'none':
        return await withDeadline(this.#make(), { signal });
      case 'made': {
        const id = await withDeadline(state.id, { signal });
        const why = await this.#whyEnded(id);
        if (why === null || this.#state !== state) return id;
        throw this.#reportEnd(why);
      }
      case 'gone':
        throw this.#reportEnd(state.why);
      case 'closed':
        throw new TroupeError('SESSION_ENDED', 'The MCP session has ended');
    }
  }

  /** After a failed script: whether its session has ended. The script's error then reports that to the client. */
  async endedDuring(id: string): Promise<boolean> {
    const why = await this.#whyEnded(id);
    if (why !== null && this.#state.kind === 'made') this.#state = { kind: 'none' };
    return why !== null;
  }

  /** Ends the current session; the client learns it with its next call. */
  release(why: string): void {
    const state = this.#state;
    if (state.kind !== 'made') return;
    this.#state = { kind: 'gone', why };
    void this.#remove(state);
  }

  /** Ends the session and creates no other. Idempotent. */
  async close(): Promise<void> {
    const state = this.#state;
    this.#state = { kind: 'closed' };
    if (state.kind === 'made') await this.#remove(state);
  }

  async #make(): Promise<SessionId> {
    const abort = new AbortController();
    const request = { name: this.#name(), labels: { client: 'mcp' } };
    const made = this.#sessions.createLive(request, { caller: this.#caller, signal: abort.signal });
    const id = made.then((record) => record.id);
    const state: State = { kind: 'made', id, abort };
    this.#state = state;
    try {
      return await id;
    } catch (error) {
      // The next call tries again.
      if (this.#state === state) this.#state = { kind: 'none' };
      throw error;
    }
  }

  async #remove({ id, abort }: Extract<State, { kind: 'made' }>): Promise<void> {
    abort.abort(new TroupeError('UNAVAILABLE', 'The MCP client has disconnected'));
    try {
      const sessionId = await id;
      // Removing an ended session would delete its record and its report.
      if ((await this.#whyEnded(sessionId)) === null) await this.#sessions.remove(sessionId, false);
    } catch {
      // It was never created, or was removed already.
    }
  }

  /** How the session ended; null while it runs. */
  async #whyEnded(id: string): Promise<string | null> {
    try {
      const { status, endReason, error } = await this.#sessions.get(id);
      if (!isEnded(status)) return null;
      return error?.error ?? `${status}${endReason === null ? '' : `: ${endReason}`}`;
    } catch {
      return 'removed';
    }
  }

  #reportEnd(why: string): TroupeError {
    this.#state = { kind: 'none' };
    const sentence = `The browser session has ended (${why}), and the script was not run`;
    return new TroupeError('SESSION_ENDED', `${sentence}. The next call gets a fresh browser: begin with agent.go`);
  }
}
