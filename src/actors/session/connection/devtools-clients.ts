import { Wakeups } from '../../../base/deadline.js';
import { TroupeError } from '../../../protocol/errors.js';
import type { DevToolsChannel, DevToolsLink } from './devtools-channel.js';

/** What may wait for a client that does not read, in characters; then it is let go. A long message alone is half of it. */
const MAX_UNREAD = 256 * 1024 * 1024;
/** A browser that leaves so many bytes unread does not live any more. */
const MAX_UNSENT = 128 * 1024 * 1024;
const MAX_CLIENTS = 100;
const CONNECT_MS = 5_000;
/** As Chromium answers for a session that is not there. */
const NO_SESSION = { code: -32_001, message: 'Session with given id not found.' };

/** What a client gets at once: messages in the order of their coming, and whether nothing comes after them. */
export interface DevToolsMail {
  readonly messages: readonly string[];
  readonly over: string | null;
}

interface Client {
  readonly link: DevToolsLink;
  messages: string[];
  unread: number;
  over: string | null;
  readonly mail: Wakeups;
}

/** Clients of other libraries beside the session's own connection. They pull what is for them, so a slow one waits for itself. */
export class DevToolsClients {
  readonly #channel: DevToolsChannel;
  readonly #clients = new Map<number, Client>();
  #lastId = 0;

  constructor(channel: DevToolsChannel) {
    this.#channel = channel;
  }

  /** Answers the client's number. @throws CAPACITY; WORKER_LOST when the browser does not answer */
  async attach(signal: AbortSignal): Promise<number> {
    if (this.#clients.size >= MAX_CLIENTS) {
      throw new TroupeError('CAPACITY', `${MAX_CLIENTS} DevTools clients are connected to this session already`);
    }
    const id = ++this.#lastId;
    const waiting = { messages: [] as string[], unread: 0, over: null, mail: new Wakeups() };
    const user = {
      message: (text: string) => this.#keep(id, text),
      closed: (reason: string) => this.#over(id, reason),
    };
    const link = await this.#channel.join(user, { signal, deadlineMs: CONNECT_MS });
    this.#clients.set(id, { link: link, ...waiting });
    return id;
  }

  /** Sends a client's command. Nothing for a client that is not there. */
  send(id: number, command: { readonly text: string; readonly sessionId: string | undefined }): void {
    const client = this.#clients.get(id);
    if (client === undefined) return;
    if (this.#channel.unsentBytes > MAX_UNSENT) {
      this.#drop(client, 'the browser does not read what the client sends');
      return;
    }
    if (client.link.send(command.text, command.sessionId)) return;
    const { id: call, sessionId } = Object(JSON.parse(command.text));
    this.#keep(id, JSON.stringify({ id: call, error: NO_SESSION, sessionId }));
  }

  /** What came since the last call, or the first that comes; nothing where none comes until the signal. */
  async next(id: number, signal: AbortSignal): Promise<DevToolsMail> {
    const client = this.#clients.get(id);
    if (client === undefined) return { messages: [], over: 'the client was let go' };
    if (client.messages.length === 0 && client.over === null) await client.mail.next(signal);
    const { messages, over } = client;
    client.messages = [];
    client.unread = 0;
    if (over !== null) this.#clients.delete(id);
    return { messages, over };
  }

  /** Ends a client's sessions. Idempotent. */
  detach(id: number): void {
    const client = this.#clients.get(id);
    this.#clients.delete(id);
    client?.link.close();
    client?.mail.wake();
  }

  #keep(id: number, text: string): void {
    const client = this.#clients.get(id);
    if (client === undefined || client.over !== null) return;
    client.messages.push(text);
    client.unread += text.length;
    if (client.unread > MAX_UNREAD) this.#drop(client, 'the client does not read what the browser sends');
    client.mail.wake();
  }

  #drop(client: Client, why: string): void {
    client.link.close();
    client.messages = [];
    client.over = why;
    client.mail.wake();
  }

  #over(id: number, reason: string): void {
    const client = this.#clients.get(id);
    if (client === undefined) return;
    client.over ??= reason;
    client.mail.wake();
  }
}
