import { unpack } from 'msgpackr/unpack';
import type { Role } from '../../../src/protocol/access.js';
import type { ControlKey } from '../../../src/protocol/control.js';
import type { ErrorBody } from '../../../src/protocol/errors.js';
import type { JournalEvent } from '../../../src/protocol/events.js';
import type { SessionId } from '../../../src/protocol/session.js';
import type { Capacity, StreamMessage, StreamRequest } from '../../../src/protocol/stream.js';
import { wantsToken } from './api.js';
import { clock } from './clock.svelte.js';
import { Reconnection } from './reconnection.js';
import { runTable } from './tables/run-table.svelte.js';
import { midnight, sessionTable } from './tables/session-table.svelte.js';

/** After this time the page does not answer any more. */
const COPY_MS = 3_000;

/** How often the page notices that nothing came, in milliseconds; it then asks for a sign of life. */
const BEAT_MS = 5_000;
/** Silent beats after which the connection counts as lost, whatever the network says. */
const MOST_SILENT = 3;

/** The service closes the connection with this code when the link that admitted the page is over. */
const LINK_EXPIRED = 4401;

/** Receives the updates of one session. */
export interface SessionWatcher {
  events(events: readonly JournalEvent[]): void;
  over(): void;
  refused(error: ErrorBody): void;
}

/** A picture of a session's page. */
export interface Frame {
  readonly jpeg: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** How the pictures are displayed; `width` in pixels of the reader's screen. */
export interface Showing {
  readonly pace: 'live' | 'slow';
  readonly width: number;
}

interface WatchedScreen {
  showing: Showing;
  show(frame: Frame): void;
}

interface Watched {
  readonly watcher: SessionWatcher;
  last: number;
}

/**
 * The page's single connection to the service. It reconnects by itself and fetches missed events: each event is
 * delivered once and in order, however often the connection was lost.
 */
class Live {
  /**
   * `barred`: the service requires a token, or no longer accepts the one it got. `handedBack`: the link of a handoff
   * admitted this page, and the script no longer waits.
   */
  state = $state<'connecting' | 'open' | 'lost' | 'barred' | 'handedBack'>('connecting');
  /** When updates stopped, in milliseconds; null while they come. */
  stoppedAt = $state<number | null>(null);
  capacity = $state<Capacity | null>(null);
  version = $state('');
  driver = $state('');
  /** A share link admitted this page: it sees one session and cannot act. */
  viewOnly = $state(false);
  /** The token that admitted the page; null if none is required, or a link did. */
  token = $state.raw<{ readonly name: string; readonly role: Role } | null>(null);
  /** Sessions that the link of a handoff lets this page control. */
  handoffs = $state.raw<readonly string[]>([]);
  /** The user may act. */
  readonly mayAct = $derived(!this.viewOnly && this.token?.role !== 'view');
  /** The user may change flows. */
  readonly mayEdit = $derived(!this.viewOnly && (this.token === null || this.token.role === 'admin'));
  readonly #watched = new Map<SessionId, Watched>();
  readonly #screens = new Map<SessionId, WatchedScreen>();
  readonly #held = new Map<SessionId, ControlKey>();
  readonly #copies = new Map<SessionId, (text: string | null) => void>();
  #socket: WebSocket | null = null;
  readonly #reconnection = new Reconnection();
  /** Beats since the last message; null while there is no connection. */
  #silent: number | null = null;

  constructor() {
    setInterval(() => this.#beat(), BEAT_MS);
  }

  connect(): void {
    const url = new URL('api/stream', location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    const socket = new WebSocket(url);
    this.#socket = socket;
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => this.#opened();
    socket.onmessage = ({ data }) => {
      this.#silent = 0;
      this.#receive(unpack(new Uint8Array(data)));
    };
    socket.onclose = ({ code }) => void this.#closed(code);
  }

  /** A connection whose other end has gone without a word stays open for the browser, for minutes or for good. */
  #beat(): void {
    const socket = this.#socket;
    if (socket === null || this.#silent === null) return;
    if (this.#silent >= MOST_SILENT) {
      socket.onmessage = null;
      socket.onclose = null;
      socket.close();
      void this.#closed(null);
      return;
    }
    if (this.#silent > 0) this.send({ type: 'ping' });
    this.#silent += 1;
  }

  /** The user may control this session. */
  mayControl(id: string): boolean {
    return this.mayAct || this.handoffs.includes(id);
  }

  /** Delivers the session's events from the beginning until the returned function is called. */
  watch(id: SessionId, watcher: SessionWatcher): () => void {
    const watched = { watcher, last: 0 };
    this.#watched.set(id, watched);
    this.send({ type: 'watchSession', id, after: 0 });
    return () => {
      if (this.#watched.get(id) !== watched) return;
      this.#watched.delete(id);
      this.send({ type: 'unwatchSession', id });
    };
  }

  /** Delivers pictures of the session's page, whose display options may change later, until `stop`. */
  watchScreen(
    id: SessionId,
    first: Showing,
    show: (frame: Frame) => void,
  ): { change(showing: Showing): void; stop(): void } {
    const watched = { showing: first, show };
    this.#screens.set(id, watched);
    this.send({ type: 'watchScreen', id, ...first });
    return {
      change: (showing) => {
        const { pace, width } = watched.showing;
        if (this.#screens.get(id) !== watched || (showing.pace === pace && showing.width === width)) return;
        watched.showing = showing;
        this.send({ type: 'watchScreen', id, ...showing });
      },
      stop: () => {
        // The next view of the same session may have started before this one ended.
        if (this.#screens.get(id) !== watched) return;
        this.#screens.delete(id);
        this.send({ type: 'unwatchScreen', id });
      },
    };
  }

  /** Control stays with this page while it is connected, and is taken again after a reconnection. */
  holdControl(id: SessionId, key: ControlKey): void {
    this.#held.set(id, key);
    this.send({ type: 'holdControl', id, key });
  }

  letControlGo(id: SessionId): void {
    if (this.#held.delete(id)) this.send({ type: 'letControlGo', id });
  }

  /** The selected text of the session's page, which this page controls; null if there is no answer in time. */
  copy(id: SessionId): Promise<string | null> {
    return new Promise((resolve) => {
      this.#copies.get(id)?.(null);
      this.#copies.set(id, resolve);
      setTimeout(() => resolve(null), COPY_MS);
      this.send({ type: 'copy', id });
    });
  }

  /** Dropped while there is no connection: subscriptions are sent again on connection. */
  send(request: StreamRequest): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(request));
  }

  /** @param code null: the page gave it up */
  async #closed(code: number | null): Promise<void> {
    this.#silent = null;
    if (code === LINK_EXPIRED && this.handoffs.length > 0) {
      this.state = 'handedBack';
      return;
    }
    const wait = this.#reconnection.lost();
    this.state = 'lost';
    this.stoppedAt ??= Date.now();
    clock.stop();
    // A browser does not report why an upgrade failed, so this request does.
    if (await wantsToken()) this.state = 'barred';
    else setTimeout(() => this.connect(), wait);
  }

  #opened(): void {
    this.state = 'open';
    this.stoppedAt = null;
    clock.start();
    this.#silent = 0;
    this.#reconnection.opened();
    this.send({ type: 'watchSessions', failedSince: midnight() });
    void sessionTable.reload();
    for (const [id, { last }] of this.#watched) this.send({ type: 'watchSession', id, after: last });
    for (const [id, { showing }] of this.#screens) this.send({ type: 'watchScreen', id, ...showing });
    for (const [id, key] of this.#held) this.send({ type: 'holdControl', id, key });
  }

  #receive(message: StreamMessage): void {
    switch (message.type) {
      case 'hello':
        this.version = message.version;
        this.driver = message.driver;
        this.viewOnly = message.viewOnly ?? false;
        this.handoffs = message.handoffs ?? [];
        this.token = message.token;
        this.capacity = message.capacity;
        return;
      case 'counts':
        sessionTable.reported = { of: message.of, failedToday: message.failed };
        return;
      case 'rows':
        this.capacity = message.capacity;
        sessionTable.update(message.rows);
        runTable.changed(message.rows);
        return;
      case 'events': {
        const watched = this.#watched.get(message.id);
        const fresh = message.events.filter(({ seq }) => seq > (watched?.last ?? 0));
        const newest = fresh.at(-1);
        if (watched === undefined || newest === undefined) return;
        watched.last = newest.seq;
        watched.watcher.events(fresh);
        return;
      }
      case 'frame':
        this.#screens.get(message.id)?.show(message);
        return;
      case 'pong':
        return;
      case 'over':
        this.#watched.get(message.id)?.watcher.over();
        return;
      case 'copied':
        this.#copies.get(message.id)?.(message.text);
        this.#copies.delete(message.id);
        return;
      case 'refused':
        if (message.id !== null) this.#watched.get(message.id)?.watcher.refused(message.error);
        return;
    }
  }
}

export const live = new Live();
