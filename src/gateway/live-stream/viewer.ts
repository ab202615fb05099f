import type { ControlKey, PageInput } from '../../protocol/control.js';
import { TroupeError } from '../../protocol/errors.js';
import type { JournalEvent } from '../../protocol/events.js';
import type { SessionId } from '../../protocol/session.js';
import type { StreamMessage } from '../../protocol/stream.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import type { DisplayOptions, ScreenFeed, ScreenViewer } from './screen-feed.js';
import type { Lane } from './session-feed.js';

/** Sessions that one page may watch at once: as many as the wall view shows. */
const MAX_WATCHED = 200;
/** Past events in one message. */
const PAGE_EVENTS = 200;
/** Unsent bytes of a viewer beyond which reading the past pauses. */
const PAUSE_BYTES = 512 * 1024;

/** The connection of one viewer, as the WebSocket server implements it. */
export interface ViewerSocket extends ScreenViewer {
  send(message: StreamMessage): void;
  subscribe(topic: string): void;
  unsubscribe(topic: string): void;
}

/** Provides the feeds of sessions; all viewers of a session share one. */
export interface Feeds {
  join(id: SessionId): Lane;
  leave(id: SessionId, lane: Lane): void;
  joinScreen(id: SessionId): ScreenFeed;
  leaveScreen(id: SessionId): void;
}

/** One connected page. It owns everything that it subscribed to, and releases it in {@link close}. */
export class Viewer {
  readonly #socket: ViewerSocket;
  readonly #sessions: Sessions;
  readonly #feeds: Feeds;
  readonly #watched = new Map<SessionId, { readonly lane: Lane; readonly stopped: AbortController }>();
  readonly #screens = new Map<SessionId, ScreenFeed>();
  readonly #controls = new Map<SessionId, { readonly key: ControlKey; readonly release: () => void }>();
  #drained: (() => void) | null = null;

  constructor(socket: ViewerSocket, sessions: Sessions, feeds: Feeds) {
    this.#socket = socket;
    this.#sessions = sessions;
    this.#feeds = feeds;
  }

  /**
   * Sends the session's events after a sequence number, then subscribes to new ones. Watching it again starts over.
   * @throws NOT_FOUND; CAPACITY beyond 200 sessions
   */
  async watch(id: SessionId, after: number): Promise<void> {
    this.unwatch(id);
    if (this.#watched.size >= MAX_WATCHED) {
      throw new TroupeError('CAPACITY', `A page can watch at most ${MAX_WATCHED} sessions at once`);
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
    // In the same turn as the check of the lane's cursor, so that no event is lost in between.
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
   * Streams pictures of the session's page; changes the display options if it does so already.
   * @throws NOT_FOUND; CAPACITY beyond 200 screens
   */
  async watchScreen(id: SessionId, options: Omit<DisplayOptions, 'hasControl'>): Promise<void> {
    if (this.#screens.size >= MAX_WATCHED && !this.#screens.has(id)) {
      throw new TroupeError('CAPACITY', `A page can show at most ${MAX_WATCHED} screens at once`);
    }
    const feed = this.#screens.get(id) ?? this.#feeds.joinScreen(id);
    this.#screens.set(id, feed);
    feed.add(this.#socket, { ...options, hasControl: this.#controls.has(id) });
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

  /** The page controls the session with a key that it got. @throws SESSION_BUSY, SESSION_ENDED */
  holdControl(id: SessionId, key: ControlKey): void {
    const release = this.#sessions.connections.attachControl(id, key);
    this.letControlGo(id);
    this.#controls.set(id, { key, release });
    this.#screens.get(id)?.setControl(this.#socket, true);
  }

  letControlGo(id: SessionId): void {
    this.#controls.get(id)?.release();
    this.#controls.delete(id);
    this.#screens.get(id)?.setControl(this.#socket, false);
  }

  /** @throws SESSION_BUSY if the page does not hold control; CAPACITY, WAIT_TIMEOUT */
  async input(id: SessionId, inputs: readonly PageInput[]): Promise<void> {
    await this.#sessions.connections.sendInput(id, this.#keyOf(id), inputs);
  }

  /** The selected text of the page. @throws SESSION_BUSY if this page does not hold control */
  async copy(id: SessionId): Promise<string> {
    return this.#sessions.connections.copySelection(id, this.#keyOf(id));
  }

  /** The socket takes more. */
  drain(): void {
    this.#drained?.();
  }

  /** The socket has closed and must not be used any more. */
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
      throw new TroupeError('SESSION_BUSY', 'This page does not have control; take control of the session first');
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
      // The read may return events that the feed is about to publish.
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
