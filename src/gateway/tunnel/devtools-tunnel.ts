import { z } from 'zod';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import type { DevToolsClient } from '../../supervisor/devtools-client.js';
import type { DevTools } from '../../supervisor/doors.js';
import type { Sessions } from '../../supervisor/sessions.js';
import type { FarEnd, NearEnd, TunnelKind } from './tunnel-server.js';

/** Files that a test uploads come in one message. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** Codes of RFC 6455, section 7.4.1. */
const NORMAL = 1000;
const FAILED = 1011;
/** What is in a protocol message that is not only passed on; most have neither. */
const TELLING = ['"Browser.', 'Page.setDownloadBehavior'].map((text) => Buffer.from(text));

const BrowserCommand = z.looseObject({
  id: z.number(),
  method: z.string(),
  params: z.looseObject({}).optional(),
  sessionId: z.string().optional(),
});
type BrowserCommand = z.infer<typeof BrowserCommand>;

/**
 * The browser of a session as Chrome's DevTools protocol, for Playwright (`connectOverCDP`), Puppeteer (`connect`) or any
 * other client, beside the service's own connection. In a job it takes control (`?control=KEY`). Closing the browser ends
 * a live session as DELETE does; downloads stay where the session has them.
 */
export const DEVTOOLS: TunnelKind = {
  path: '/sessions/:id/cdp',
  role: 'run',
  shared: false,
  maxMessageBytes: MAX_MESSAGE_BYTES,
  open({ id, query }, sessions) {
    return new DevToolsTunnel(id, sessions.doors.devTools(id, query.get('control') ?? undefined), sessions);
  },
};

class DevToolsTunnel implements FarEnd {
  readonly #id: string;
  readonly #devTools: DevTools;
  readonly #sessions: Sessions;
  #client: DevToolsClient | null = null;
  #near: NearEnd | null = null;
  readonly #closed = new AbortController();
  /** Settles when the client reads again. */
  #reads: Promise<void> = Promise.resolve();
  #resume: () => void = () => undefined;
  /** The client has the browser closed: it is told so before its own end comes. */
  #isClosing = false;

  constructor(id: string, devTools: DevTools, sessions: Sessions) {
    this.#id = id;
    this.#devTools = devTools;
    this.#sessions = sessions;
  }

  async start(near: NearEnd): Promise<void> {
    this.#near = near;
    this.#client = await this.#devTools.connect();
    if (this.#closed.signal.aborted) this.#client.close();
    else void this.#passOn(this.#client, near);
  }

  receive(message: Buffer, isText: boolean): void {
    this.#sessions.doors.touch(this.#id);
    const command = isText ? browserCommand(message) : null;
    switch (command?.method) {
      case 'Browser.close':
        void this.#closeBrowser(command);
        return;
      case 'Browser.crash':
      case 'Browser.crashGpuProcess':
        this.#refuse(command, 'The browser of a session is not crashed on purpose');
        return;
      case 'Browser.setDownloadBehavior':
      case 'Page.setDownloadBehavior':
        this.#forward(this.#withOwnDownloads(command));
        return;
      default:
        this.#forward(JSON.parse(message.toString('utf8')));
    }
  }

  pause(): void {
    this.#reads = new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  resume(): void {
    this.#resume();
  }

  close(): void {
    this.#closed.abort(new TroupeError('SESSION_ENDED', 'The client is gone'));
    this.#resume();
    this.#client?.close();
  }

  #forward(command: { readonly sessionId?: string | undefined }): void {
    this.#client?.send(JSON.stringify(command), command.sessionId);
  }

  /** What a client does not read waits at the session, which lets go of it in the end. */
  async #passOn(client: DevToolsClient, near: NearEnd): Promise<void> {
    try {
      while (!this.#closed.signal.aborted) {
        const { messages, over } = await client.next(this.#closed.signal);
        for (const message of messages) {
          await this.#reads;
          near.send(Buffer.from(message), true);
        }
        if (over === null) continue;
        if (!this.#isClosing) near.end(NORMAL, `The browser is gone: ${over}`.slice(0, 100));
        return;
      }
    } catch (error) {
      if (!this.#isClosing) near.end(NORMAL, encodeError(error).error.slice(0, 100));
    }
  }

  /** A client that is done ends its session, in the session's own order; a job is not its to end. */
  async #closeBrowser(command: BrowserCommand): Promise<void> {
    try {
      const { mode } = await this.#sessions.get(this.#id);
      if (mode === 'auto') {
        this.#refuse(command, 'The session works for a job; DELETE it to stop it');
        return;
      }
      this.#isClosing = true;
      await this.#sessions.remove(this.#id);
      this.#answer(command, { result: {} });
      this.#near?.end(NORMAL, 'The session has ended');
    } catch (error) {
      this.#refuse(command, encodeError(error).error);
      this.#isClosing = false;
    }
  }

  /** The session's files are listed and kept from its own folder; under names of their own none replaces another. */
  #withOwnDownloads(command: BrowserCommand): BrowserCommand {
    const { browserContextId, eventsEnabled } = command.params ?? {};
    const params = { behavior: 'allowAndName', downloadPath: this.#devTools.downloadsDir, eventsEnabled };
    if (command.method === 'Page.setDownloadBehavior')
      return { ...command, method: 'Browser.setDownloadBehavior', params, sessionId: undefined };
    return { ...command, params: browserContextId === undefined ? params : { ...params, browserContextId } };
  }

  #refuse(command: BrowserCommand, message: string): void {
    // The code of a server's own errors in JSON-RPC, as Chromium uses it.
    this.#answer(command, { error: { code: -32_000, message } });
  }

  #answer({ id, sessionId }: BrowserCommand, outcome: object): void {
    const answer = { id, ...(sessionId === undefined ? {} : { sessionId }), ...outcome };
    this.#near?.send(Buffer.from(JSON.stringify(answer)), true);
  }
}

/** Null for every other message, and for what the browser itself will refuse. */
function browserCommand(message: Buffer): BrowserCommand | null {
  if (!TELLING.some((text) => message.includes(text))) return null;
  try {
    return BrowserCommand.parse(JSON.parse(message.toString('utf8')));
  } catch {
    return null;
  }
}
