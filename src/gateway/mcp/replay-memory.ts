import type { EventStore } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';

/** What one MCP session keeps for clients whose connection broke. Past either bound the oldest goes. */
const MAX_EVENTS = 256;
const MAX_CHARS = 512 * 1024;

interface Kept {
  readonly number: number;
  readonly streamId: string;
  /** Null for the event that only gives a stream its first id. */
  readonly message: JSONRPCMessage | null;
  readonly chars: number;
}

/**
 * The last messages of an MCP session's streams, for `Last-Event-ID`. An event's id is its number and its stream's id, so
 * that one that was dropped is told from one that never was.
 */
export class ReplayMemory implements EventStore {
  readonly #kept: Kept[] = [];
  /** The newest number that was dropped, of each stream that has still something here. */
  readonly #dropped = new Map<string, number>();
  #chars = 0;
  #numbers = 0;

  async storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    this.#numbers += 1;
    const number = this.#numbers;
    const isPriming = Object.keys(message).length === 0;
    const whole = JSON.stringify(message).length;
    const kept = isPriming ? null : whole > MAX_CHARS / 2 ? tooLarge(message) : message;
    const chars = kept === message ? whole : 200;
    this.#kept.push({ number, streamId, message: kept, chars });
    this.#chars += chars;
    while (this.#kept.length > MAX_EVENTS || this.#chars > MAX_CHARS) this.#dropOldest();
    return `${number}_${streamId}`;
  }

  /**
   * What a client may still get that has seen the event last. Null when the event is unknown, or when what came after
   * it on its stream is no longer here.
   */
  after(lastEventId: string): { readonly messages: number; readonly isComplete: boolean } | null {
    const place = parseId(lastEventId);
    if (place === null || place.number > this.#numbers) return null;
    const { number, streamId } = place;
    const ofStream = this.#kept.filter((event) => event.streamId === streamId);
    if (ofStream.length === 0 || number < (this.#dropped.get(streamId) ?? 0)) return null;
    const messages = ofStream.filter((event) => event.number > number && event.message !== null);
    const last = ofStream.at(-1)?.message;
    return { messages: messages.length, isComplete: last !== undefined && last !== null && isResponse(last) };
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const place = parseId(lastEventId);
    if (place === null) throw new Error('The event id is not one of ours');
    const { number, streamId } = place;
    for (const event of this.#kept.filter((kept) => kept.streamId === streamId && kept.number > number)) {
      if (event.message !== null) await send(`${event.number}_${streamId}`, event.message);
    }
    return streamId;
  }

  #dropOldest(): void {
    const oldest = this.#kept.shift();
    if (oldest === undefined) return;
    this.#chars -= oldest.chars;
    const more = this.#kept.some(({ streamId }) => streamId === oldest.streamId);
    if (more) this.#dropped.set(oldest.streamId, oldest.number);
    else this.#dropped.delete(oldest.streamId);
  }
}

function parseId(eventId: string): { readonly number: number; readonly streamId: string } | null {
  const [, number, streamId] = /^(\d{1,15})_(.{1,100})$/.exec(eventId) ?? [];
  return number === undefined || streamId === undefined ? null : { number: Number(number), streamId };
}

function isResponse(message: JSONRPCMessage): boolean {
  return isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
}

/** Who lost the connection while a large answer came is told that it is gone, not left waiting. */
function tooLarge(message: JSONRPCMessage): JSONRPCMessage | null {
  if (!isJSONRPCResultResponse(message)) return null;
  const id: RequestId = message.id;
  const sentence = 'The connection broke while the answer came, and the answer was too large to be kept';
  return { jsonrpc: '2.0', id, error: { code: -32000, message: sentence } };
}
