import type { ControlKey, PageInput } from '../../protocol/control.js';
import { TroupeError } from '../../protocol/errors.js';
import type { JournalEvent } from '../../protocol/events.js';
import type { SessionId } from '../../protocol/session.js';
import type { StreamMessage } from '../../protocol/stream.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import type { ScreenFeed, ScreenViewer, Showing } from './screen-feed.js';
import type { Lane } from './session-feed.js';

/** Sessions that one page may watch at once: as many as a wall shows. */
const MAX_WATCHED = 200;
/** Events of the past that are sent in one message. */
const PAGE_EVENTS = 200;
/** What may wait for a viewer before reading the past pauses. */
const PAUSE_BYTES = 512 * 1024;

/** The connection of one viewer, as the WebSocket server has it. */
export interface ViewerSocket extends ScreenViewer {
  send(message: StreamMessage): void;
  subscribe(topic: string): void;
  unsubscribe(topic: string): void;
}

/** Where the feeds of sessions are had: one for all viewers of a session. */
export interface Feeds {
  join(id: SessionId): Lane;
  leave(id: SessionId, lane: Lane): void;
  joinScreen(id: SessionId): ScreenFeed;
  leaveScreen(id: SessionId): void;
}

/** One page that watches. It holds what it has asked for, and gives everything back when it is closed. */
export class Viewer {
  readonly #socket: ViewerSocket;
  readonly #sessions: Sessions;
  readonly #feeds: Feeds;
  readonly #watched = new Map<SessionId, { readonly lane: Lane; readonly stopped: AbortController }>();
  readonly #screens = new Map<SessionId, ScreenFeed>();
  readonly #controls = new Map<SessionId, { readonly key: ControlKey; readonly letGo: () => void }>();
  #drained: (() => void) | null = null;

  constructor(socket: ViewerSocket, sessions: Sessions, feeds: Feeds) {
    this.#socket = socket;
    this.#sessions = sessions;
    this.#feeds = feeds;
  }

  /**
   * Sends the session's events after a number, then lets those that come be published to it. Watching it again begins
   * anew.
   * @throws NOT_FOUND; CAPACITY beyond 200 sessions
   */
  async watch(id: SessionId, after: number): Promise<void> {
    this.unwatch(id);
    if (this.#watched.size >= MAX_WATCHED) {
      throw new TroupeError('CAPACITY', `A page can watch ${MAX_WATCHED} sessions at once`);
    }
    const stopped = new AbortController();
    const lane = this.#feeds.join(id);
    this.#watched.set(id, { lane, stopped });
    try {
      await this.#sessions.get(id);
      let from = after;
      do {
        const upTo = lane.cursor;
        await this.#sendPast(id, from, upTo, stopped.signal);
        if (stopped.signal.aborted) return;
        from = Math.max(from, upTo);
      } while (from < lane.cursor);
    } catch (error) {
      if (!stopped.signal.aborted) this.unwatch(id);
      throw error;
    }
    // In the same turn in which its lane was seen to be no further: no event falls in between.
    this.#socket.subscribe(lane.topic);
    if (lane.over) this.#socket.send({ type: 'over', id });
  }

  unwatch(id: SessionId): void {
    const watched = this.#watched.get(id);
    if (watched === undefined) return;
    this.#watched.delete(id);
    watched.stopped.abort();
    this.#socket.unsubscribe(watched.lane.topic);
    this.#feeds.leave(id, watched.lane);
  }

  /**
   * Shows what the session's page shows, in another way when it is shown already.
   * @throws NOT_FOUND; CAPACITY beyond 200 screens
   */
  async watchScreen(id: SessionId, showing: Omit<Showing, 'hands'>): Promise<void> {
    if (this.#screens.size >= MAX_WATCHED && !this.#screens.has(id)) {
      throw new TroupeError('CAPACITY', `A page can show ${MAX_WATCHED} screens at once`);
    }
    const feed = this.#screens.get(id) ?? this.#feeds.joinScreen(id);
    this.#screens.set(id, feed);
    feed.add(this.#socket, { ...showing, hands: this.#controls.has(id) });
    try {
      await this.#sessions.get(id);
    } catch (error) {
      this.unwatchScreen(id);
      throw error;
    }
  }

  unwatchScreen(id: SessionId): void {
    const feed = this.#screens.get(id);
    if (feed === undefined) return;
    this.#screens.delete(id);
    feed.remove(this.#socket);
    this.#feeds.leaveScreen(id);
  }

  /** The page works with a control that was taken. @throws SESSION_BUSY, SESSION_ENDED */
  holdControl(id: SessionId, key: ControlKey): void {
    const letGo = this.#sessions.connections.attachControl(id, key);
    this.letControlGo(id);
    this.#controls.set(id, { key, letGo });
    this.#screens.get(id)?.lend(this.#socket, true);
  }

  letControlGo(id: SessionId): void {
    this.#controls.get(id)?.letGo();
    this.#controls.delete(id);
    this.#screens.get(id)?.lend(this.#socket, false);
  }

  /** @throws SESSION_BUSY where the page does not hold control; CAPACITY, WAIT_TIMEOUT */
  async input(id: SessionId, inputs: readonly PageInput[]): Promise<void> {
    await this.#sessions.connections.sendInput(id, this.#keyOf(id), inputs);
  }

  /** What is selected on the page. @throws SESSION_BUSY where this page does not hold control */
  async copy(id: SessionId): Promise<string> {
    return this.#sessions.connections.copySelection(id, this.#keyOf(id));
  }

  /** The socket has room again. */
  drain(): void {
    this.#drained?.();
  }

  /** The socket is gone, and must not be touched any more. */
  close(): void {
    for (const [id, { lane, stopped }] of this.#watched) {
      stopped.abort();
      this.#feeds.leave(id, lane);
    }
    this.#watched.clear();
    for (const id of [...this.#screens.keys()]) this.unwatchScreen(id);
    for (const id of [...this.#controls.keys()]) this.letControlGo(id);
    this.#drained?.();
  }

  #keyOf(id: SessionId): ControlKey {
    const held = this.#controls.get(id);
    if (held === undefined)
      throw new TroupeError('SESSION_BUSY', 'This page only looks; take control of the session first');
    return held.key;
  }

  async #sendPast(id: SessionId, after: number, upTo: number, signal: AbortSignal): Promise<void> {
    if (after >= upTo) return;
    let page: JournalEvent[] = [];
    const send = async () => {
      if (page.length === 0 || signal.aborted) return;
      this.#socket.send({ type: 'events', id, events: page });
      page = [];
      while (!signal.aborted && this.#socket.bufferedBytes() > PAUSE_BYTES) await this.#drain();
    };
    for await (const event of this.#sessions.streams.events({ id, after, upTo, signal })) {
      // The reading may run on into what the feed is about to publish.
      if (event.seq > upTo) break;
      if (page.push(event) >= PAGE_EVENTS) await send();
    }
    await send();
  }

  #drain(): Promise<void> {
    return new Promise((resolve) => {
      this.#drained = () => {
        this.#drained = null;
        resolve();
      };
    });
  }
}
