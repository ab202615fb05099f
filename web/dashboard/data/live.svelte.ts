import { unpack } from 'msgpackr/unpack';
import type { JournalEvent } from '../../../src/protocol/events.js';
import type { SessionId } from '../../../src/protocol/session.js';
import type { Capacity, StreamMessage, StreamRequest } from '../../../src/protocol/stream.js';
import { sessionTable } from './session-table.svelte.js';

/** Waits between attempts to connect again, in milliseconds; the last one repeats. */
const RETRIES_MS = [250, 500, 1000, 2000, 5000];

/** What a view that shows one session is told. */
export interface SessionWatcher {
  events(events: readonly JournalEvent[]): void;
  over(): void;
  refused(message: string): void;
}

interface Watched {
  readonly watcher: SessionWatcher;
  last: number;
}

/**
 * The page's one connection to the service. It comes back by itself, and asks for what was missed: an event is handed
 * on once, in order, however often the connection was lost.
 */
class Live {
  state = $state<'connecting' | 'open' | 'lost'>('connecting');
  capacity = $state<Capacity | null>(null);
  version = $state('');
  driver = $state('');
  readonly #watched = new Map<SessionId, Watched>();
  #socket: WebSocket | null = null;
  #attempts = 0;

  connect(): void {
    const url = new URL('api/stream', location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    const socket = new WebSocket(url);
    this.#socket = socket;
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => this.#opened();
    socket.onmessage = ({ data }) => this.#receive(unpack(new Uint8Array(data)));
    socket.onclose = () => {
      this.state = 'lost';
      const wait = RETRIES_MS[Math.min(this.#attempts++, RETRIES_MS.length - 1)];
      setTimeout(() => this.connect(), wait);
    };
  }

  /** Hands on the session's events from its beginning until the answer is called. */
  watch(id: SessionId, watcher: SessionWatcher): () => void {
    this.#watched.set(id, { watcher, last: 0 });
    this.#ask({ type: 'watchSession', id, after: 0 });
    return () => {
      this.#watched.delete(id);
      this.#ask({ type: 'unwatchSession', id });
    };
  }

  #opened(): void {
    this.state = 'open';
    this.#attempts = 0;
    this.#ask({ type: 'watchSessions' });
    void sessionTable.reload();
    for (const [id, { last }] of this.#watched) this.#ask({ type: 'watchSession', id, after: last });
  }

  #ask(request: StreamRequest): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(request));
  }

  #receive(message: StreamMessage): void {
    switch (message.type) {
      case 'hello':
        this.version = message.version;
        this.driver = message.driver;
        this.capacity = message.capacity;
        return;
      case 'rows':
        this.capacity = message.capacity;
        sessionTable.update(message.rows);
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
      case 'over':
        this.#watched.get(message.id)?.watcher.over();
        return;
      case 'refused':
        if (message.id !== null) this.#watched.get(message.id)?.watcher.refused(message.error.error);
        return;
    }
  }
}

export const live = new Live();
