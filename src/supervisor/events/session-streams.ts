import type { EventPage } from '../../protocol/event-row.js';
import type { JournalEvent } from '../../protocol/events.js';
import type { SessionId } from '../../protocol/session.js';
import type { EventStreams, StreamSelection } from '../ports/streams.js';
import type { EventHub } from './event-hub.js';

/** What streams need to know about sessions. */
interface KnownSessions {
  /** @throws NOT_FOUND */
  idOf(id: string): Promise<SessionId>;
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
    const sessionId = await this.#idOf(id);
    yield* this.#hub.stream({ sessionId, after, upTo, signal }, () => this.#isLiving(sessionId));
  }

  async *pages({ id, after, signal }: StreamSelection): AsyncGenerator<EventPage, void> {
    const sessionId = await this.#idOf(id);
    yield* this.#hub.pages({ sessionId, after, signal }, () => this.#isLiving(sessionId));
  }

  lastSeq(): number {
    return this.#hub.lastSeq();
  }

  async #idOf(id: string | undefined): Promise<SessionId | undefined> {
    return id === undefined ? undefined : this.#sessions.idOf(id);
  }

  #isLiving(id: SessionId | undefined): boolean {
    return id !== undefined && this.#sessions.isLiving(id);
  }
}
