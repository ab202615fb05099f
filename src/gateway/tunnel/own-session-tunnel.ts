import { TroupeError } from '../../protocol/errors.js';
import type { LiveRequest } from '../../protocol/session.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import { readLaunchQuery } from '../browserless/launch-query.js';
import { DEVTOOLS, devToolsOf } from './devtools-tunnel.js';
import type { FarEnd, NearEnd, TunnelKind } from './tunnel-server.js';

/**
 * A browser for one connection, as browserless has it: a live session is created for the connection and ends with it.
 * The query has `token`, `timeout` and `launch`.
 */
function ownSession(path: string): TunnelKind {
  return {
    path,
    role: 'run',
    shared: false,
    maxMessageBytes: DEVTOOLS.maxMessageBytes,
    open: ({ query, principal }, sessions) =>
      new OwnSessionTunnel(readLaunchQuery(query), principal.caller ?? 'WebSocket clients without a token', sessions),
  };
}

/** `/cdp` for Puppeteer and others, and the same for `connectOverCDP` under the name that Playwright's users know. */
export const OWN_SESSIONS: readonly TunnelKind[] = [ownSession('/cdp'), ownSession('/playwright')];

class OwnSessionTunnel implements FarEnd {
  readonly #request: LiveRequest;
  readonly #caller: string;
  readonly #sessions: Sessions;
  readonly #closed = new AbortController();
  #far: FarEnd | null = null;

  constructor(request: LiveRequest, caller: string, sessions: Sessions) {
    this.#request = request;
    this.#caller = caller;
    this.#sessions = sessions;
  }

  async start(near: NearEnd): Promise<void> {
    const { signal } = this.#closed;
    const { id } = await this.#sessions.createLive(this.#request, { caller: this.#caller, signal });
    const end = (): void => {
      // A second DELETE of an ended session would remove its artifacts.
      if (this.#sessions.timeLeft(id) !== null) void this.#sessions.remove(id, false).catch(() => undefined);
    };
    signal.addEventListener('abort', end);
    if (signal.aborted) {
      end();
      return;
    }
    this.#far = devToolsOf(id, this.#sessions);
    await this.#far.start(near);
  }

  receive(message: Buffer, isText: boolean): void {
    this.#far?.receive(message, isText);
  }

  pause(): void {
    this.#far?.pause();
  }

  resume(): void {
    this.#far?.resume();
  }

  close(): void {
    this.#far?.close();
    this.#closed.abort(new TroupeError('SESSION_ENDED', 'The client has disconnected'));
  }
}
