import { withDeadline } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';
import { isEnded, type SessionId } from '../../protocol/session.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import type { McpAsker } from './mcp-peer.js';

type State =
  | { readonly kind: 'none' }
  | { readonly kind: 'made'; readonly id: Promise<SessionId>; readonly giveUp: AbortController }
  /** The browser went under its client, who has not been told yet. */
  | { readonly kind: 'gone'; readonly why: string }
  | { readonly kind: 'closed' };

/**
 * The browser session of one MCP session: made with the first script, ended with the MCP session, and like any other
 * session in between.
 *
 *     none --use--> made --it ended--> gone --told once--> none
 *       \--------------\--- close ---> closed
 */
export class OwnBrowser {
  readonly #sessions: Sessions;
  readonly #caller: string;
  readonly #name: () => string;
  #state: State = { kind: 'none' };

  /** @param name what the session is called in lists */
  constructor({ sessions, caller }: McpAsker, name: () => string) {
    this.#sessions = sessions;
    this.#caller = caller;
    this.#name = name;
  }

  /**
   * The session to run a script in.
   * @param signal ends the waiting of this caller alone
   * @throws SESSION_ENDED, once, where the session that was there has ended; the next call gets a fresh one
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
        throw this.#forget(why);
      }
      case 'gone':
        throw this.#forget(state.why);
      case 'closed':
        throw new TroupeError('SESSION_ENDED', 'The MCP session has ended');
    }
  }

  /** After a script failed: whether its session went with it, which then counts as told. */
  async wentWith(id: string): Promise<boolean> {
    const why = await this.#whyEnded(id);
    if (why !== null && this.#state.kind === 'made') this.#state = { kind: 'none' };
    return why !== null;
  }

  /** Ends the session that there is; the client is told when it comes again. */
  release(why: string): void {
    const state = this.#state;
    if (state.kind !== 'made') return;
    this.#state = { kind: 'gone', why };
    void this.#remove(state);
  }

  /** Ends the session and makes no other. Idempotent. */
  async close(): Promise<void> {
    const state = this.#state;
    this.#state = { kind: 'closed' };
    if (state.kind === 'made') await this.#remove(state);
  }

  async #make(): Promise<SessionId> {
    const giveUp = new AbortController();
    const request = { name: this.#name(), labels: { client: 'mcp' } };
    const made = this.#sessions.createLive(request, { caller: this.#caller, signal: giveUp.signal });
    const id = made.then((record) => record.id);
    const state: State = { kind: 'made', id, giveUp };
    this.#state = state;
    try {
      return await id;
    } catch (error) {
      // The next call tries again.
      if (this.#state === state) this.#state = { kind: 'none' };
      throw error;
    }
  }

  async #remove({ id, giveUp }: Extract<State, { kind: 'made' }>): Promise<void> {
    giveUp.abort(new TroupeError('UNAVAILABLE', 'The MCP client has left'));
    try {
      const sessionId = await id;
      // Removing one that has ended would take its record and its report away.
      if ((await this.#whyEnded(sessionId)) === null) await this.#sessions.remove(sessionId, false);
    } catch {
      // It never came, or somebody else has removed it.
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

  #forget(why: string): TroupeError {
    this.#state = { kind: 'none' };
    const sentence = `The browser session has ended (${why}), and the script was not run`;
    return new TroupeError('SESSION_ENDED', `${sentence}. The next call gets a fresh browser: begin with agent.go`);
  }
}
