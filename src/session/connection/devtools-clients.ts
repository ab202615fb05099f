import { Wakeups } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';
import type { DevToolsChannel, DevToolsLink } from './devtools-channel.js';

/**
 * Characters that may wait for a client that does not read; beyond that it is disconnected. One long message may be
 * half.
 */
const MAX_UNREAD = 256 * 1024 * 1024;
/** A browser that leaves more bytes than this unread is considered dead. */
const MAX_UNSENT = 128 * 1024 * 1024;
const MAX_CLIENTS = 100;
const CONNECT_MS = 5_000;
/** Chromium's answer for an unknown session. */
const NO_SESSION = { code: -32_001, message: 'Session with given id not found.' };

/** Messages for a client, in order, and why the connection ended (null if it is open). */
export interface DevToolsMessages {
  readonly messages: readonly string[];
  readonly endReason: string | null;
}

interface Client {
  readonly link: DevToolsLink;
  messages: string[];
  unread: number;
  endReason: string | null;
  readonly arrivals: Wakeups;
}

/**
 * Clients of other libraries beside the session's own connection. They pull their messages, so a slow one delays only
 * itself.
 */
export class DevToolsClients {
  readonly #channel: DevToolsChannel;
  readonly #clients = new Map<number, Client>();
  #lastId = 0;

  constructor(channel: DevToolsChannel) {
    this.#channel = channel;
  }

  /** Returns the client's number. @throws CAPACITY; WORKER_LOST if the browser does not answer */
  async attach(signal: AbortSignal): Promise<number> {
    if (this.#clients.size >= MAX_CLIENTS) {
      throw new TroupeError(
        'CAPACITY',
        `This session already has ${MAX_CLIENTS} DevTools clients; disconnect one first`,
      );
    }
    const id = ++this.#lastId;
    const waiting = { messages: [] as string[], unread: 0, endReason: null, arrivals: new Wakeups() };
    const user = {
      message: (text: string) => this.#enqueue(id, text),
      closed: (reason: string) => this.#ended(id, reason),
    };
    const link = await this.#channel.join(user, { signal, deadlineMs: CONNECT_MS });
    this.#clients.set(id, { link, ...waiting });
    return id;
  }

  /** Sends a client's command. Ignored for an unknown client. */
  send(id: number, command: { readonly text: string; readonly sessionId: string | undefined }): void {
    const client = this.#clients.get(id);
    if (client === undefined) return;
    if (this.#channel.unsentBytes > MAX_UNSENT) {
      this.#drop(client, 'the browser does not read what the client sends');
      return;
    }
    if (client.link.send(command.text, command.sessionId)) return;
    const { id: call, sessionId } = Object(JSON.parse(command.text));
    this.#enqueue(id, JSON.stringify({ id: call, error: NO_SESSION, sessionId }));
  }

  /**
   * The messages since the last call; if there are none, waits for the first, and returns none if the signal aborts.
   */
  async next(id: number, signal: AbortSignal): Promise<DevToolsMessages> {
    const client = this.#clients.get(id);
    if (client === undefined) return { messages: [], endReason: 'the client was disconnected' };
    if (client.messages.length === 0 && client.endReason === null) await client.arrivals.next(signal);
    const { messages, endReason } = client;
    client.messages = [];
    client.unread = 0;
    if (endReason !== null) this.#clients.delete(id);
    return { messages, endReason };
  }

  /** Ends a client's sessions. Idempotent. */
  detach(id: number): void {
    const client = this.#clients.get(id);
    this.#clients.delete(id);
    client?.link.close();
    client?.arrivals.wake();
  }

  #enqueue(id: number, text: string): void {
    const client = this.#clients.get(id);
    if (client === undefined || client.endReason !== null) return;
    client.messages.push(text);
    client.unread += text.length;
    if (client.unread > MAX_UNREAD) this.#drop(client, 'the client does not read what the browser sends');
    client.arrivals.wake();
  }

  #drop(client: Client, why: string): void {
    client.link.close();
    client.messages = [];
    client.endReason = why;
    client.arrivals.wake();
  }

  #ended(id: number, reason: string): void {
    const client = this.#clients.get(id);
    if (client === undefined) return;
    client.endReason ??= reason;
    client.arrivals.wake();
  }
}
