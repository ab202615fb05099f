import {
  type EventStore,
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/server';

/** What one MCP session stores for broken connections. Beyond either limit the oldest messages are dropped. */
const MAX_EVENTS = 256;
const MAX_CHARS = 512 * 1024;

interface StoredEvent {
  readonly number: number;
  readonly streamId: string;
  /** Null for the event that only gives a stream its first id. */
  readonly message: JSONRPCMessage | null;
  readonly chars: number;
}

/**
 * The last messages of an MCP session's streams, for `Last-Event-ID`. An event's id consists of its number and its
 * stream's id, so that a dropped event is distinguishable from one that never existed.
 */
export class ReplayMemory implements EventStore {
  readonly #events: StoredEvent[] = [];
  /** The newest dropped number of each stream that still has stored events. */
  readonly #dropped = new Map<string, number>();
  #chars = 0;
  #numbers = 0;

  async storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    this.#numbers += 1;
    const number = this.#numbers;
    const isPriming = Object.keys(message).length === 0;
    const whole = JSON.stringify(message).length;
    const stored = isPriming ? null : whole > MAX_CHARS / 2 ? tooLarge(message) : message;
    const chars = stored === message ? whole : 200;
    this.#events.push({ number, streamId, message: stored, chars });
    this.#chars += chars;
    while (this.#events.length > MAX_EVENTS || this.#chars > MAX_CHARS) this.#dropOldest();
    return `${number}_${streamId}`;
  }

  /**
   * What a client that saw this event last can still get. Null if the event is unknown, or if later events of its
   * stream were dropped.
   */
  after(lastEventId: string): { readonly messages: number; readonly isComplete: boolean } | null {
    const position = parseId(lastEventId);
    if (position === null || position.number > this.#numbers) return null;
    const { number, streamId } = position;
    const ofStream = this.#events.filter((event) => event.streamId === streamId);
    if (ofStream.length === 0 || number < (this.#dropped.get(streamId) ?? 0)) return null;
    const messages = ofStream.filter((event) => event.number > number && event.message !== null);
    const last = ofStream.at(-1)?.message;
    return { messages: messages.length, isComplete: last !== undefined && last !== null && isResponse(last) };
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const position = parseId(lastEventId);
    if (position === null) throw new Error('The event id is unknown');
    const { number, streamId } = position;
    for (const event of this.#events.filter((stored) => stored.streamId === streamId && stored.number > number)) {
      if (event.message !== null) await send(`${event.number}_${streamId}`, event.message);
    }
    return streamId;
  }

  #dropOldest(): void {
    const oldest = this.#events.shift();
    if (oldest === undefined) return;
    this.#chars -= oldest.chars;
    const more = this.#events.some(({ streamId }) => streamId === oldest.streamId);
    if (more) this.#dropped.set(oldest.streamId, oldest.number);
    else this.#dropped.delete(oldest.streamId);
  }
}

function parseId(eventId: string): { readonly number: number; readonly streamId: string } | null {
  const [, number, streamId] = /^(\d{1,15})_(.{1,100})$/s.exec(eventId) ?? [];
  return number === undefined || streamId === undefined ? null : { number: Number(number), streamId };
}

function isResponse(message: JSONRPCMessage): boolean {
  return isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
}

/** A client that lost the connection while a large answer was sent gets an error instead of waiting for ever. */
function tooLarge(message: JSONRPCMessage): JSONRPCMessage | null {
  if (!isJSONRPCResultResponse(message)) return null;
  const id: RequestId = message.id;
  const sentence = 'The connection broke during the answer, which was too large to be stored; send the request again';
  return { jsonrpc: '2.0', id, error: { code: -32000, message: sentence } };
}
