import type { EventPage } from '../../protocol/event-row.js';
import type { JournalEvent } from '../../protocol/events.js';
import type { SessionId } from '../../protocol/session.js';
import type { EventStreams, StreamSelection } from '../ports/streams.js';
import type { EventHub } from './event-hub.js';

/** What streams need to know about sessions. */
interface KnownSessions {
  /** `isElsewhere`: another node may write events of it. @throws NOT_FOUND */
  find(id: string): Promise<{ readonly id: SessionId; readonly isElsewhere: boolean }>;
  /** The newest event's number of all nodes; null if this service is alone. @throws the database's error */
  newestElsewhere(): Promise<number | null>;
  /** Whether more events of the session may come. */
  isLiving(id: SessionId): boolean;
}

/** The event hub's streams, by the ids that clients use. */
export class SessionStreams implements EventStreams {
  readonly #hub: EventHub;
  readonly #sessions: KnownSessions;

  constructor(hub: EventHub, sessions: KnownSessions) {
    this.#hub = hub;
    this.#sessions = sessions;
  }

  async *events({
    id,
    after,
    upTo,
    signal,
  }: StreamSelection & { readonly upTo?: number }): AsyncGenerator<JournalEvent, void> {
    const { sessionId, isLiving } = await this.#find(id);
    yield* this.#hub.stream({ sessionId, after, upTo, signal }, isLiving);
  }

  async *pages({ id, after, signal }: StreamSelection): AsyncGenerator<EventPage, void> {
    const { sessionId, isLiving } = await this.#find(id);
    yield* this.#hub.pages({ sessionId, after, signal }, isLiving);
  }

  lastSeq(): number {
    return this.#hub.lastSeq();
  }

  async newest(): Promise<number> {
    const foreign = await this.#sessions.newestElsewhere();
    if (foreign !== null) this.#hub.foreignEvents(foreign);
    return this.#hub.lastSeq();
  }

  async #find(id: string | undefined): Promise<{ readonly sessionId: SessionId | undefined; isLiving(): boolean }> {
    if (id === undefined) return { sessionId: undefined, isLiving: () => false };
    const { id: sessionId, isElsewhere } = await this.#sessions.find(id);
    // A session that another node has ended has its last event on disk, which may not be known here yet.
    await this.newest();
    return { sessionId, isLiving: () => isElsewhere || this.#sessions.isLiving(sessionId) };
  }
}
