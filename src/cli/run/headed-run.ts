import { LineSplitter } from '../../base/lines.js';
import { browserCommand } from '../../config.js';
import { encodeError } from '../../protocol/errors.js';
import { SessionRecord } from '../../protocol/session.js';
import { openBrowser } from '../../terminal/open-browser.js';
import type { ServiceClient } from '../service-client.js';
import type { RunOptions } from './run-options.js';

/** A flow that failed and waits. */
interface Paused {
  readonly name: string;
  readonly session: string;
  readonly handoff: string;
}

/**
 * `--headed` and `--pause`: the page of a flow is opened in the dashboard, and a flow that failed waits there, or for Enter
 * in the terminal.
 */
export class HeadedRun {
  readonly #client: ServiceClient;
  readonly #options: Pick<RunOptions, 'headed' | 'pause'>;
  readonly #say: (line: string) => void;
  readonly #paused: Paused[] = [];
  /** Stops reading the terminal; null while nothing is read. */
  #stopReading: (() => void) | null = null;

  constructor(client: ServiceClient, options: Pick<RunOptions, 'headed' | 'pause'>, say: (line: string) => void) {
    this.#client = client;
    this.#options = options;
    this.#say = say;
  }

  /** A flow has a browser. Never rejects. */
  async started(name: string, session: string): Promise<void> {
    if (!this.#options.headed) return;
    const address = await this.#addressOf(session);
    if (address === null) return;
    this.#say(`${name}: ${address}`);
    await openBrowser(address, browserCommand()).catch(() => undefined);
  }

  /** A session waiting for a person: a flow of `--pause`, or one that called `agent.handoff`. Never rejects. */
  async paused(name: string, session: string, data: unknown): Promise<void> {
    const { handoff, text } = handoffOf(data);
    if (handoff === null) return;
    const address = (await this.#addressOf(session)) ?? session;
    if (!this.#options.pause) {
      this.#say(`${name} is waiting for a person: ${text}\n  ${address}`);
      return;
    }
    this.#paused.push({ name, session, handoff });
    this.#say(
      `Paused: ${name}. ${text}\n  ${address}\n  Take control there and use its console. To continue, choose Done there or press Enter here.`,
    );
    this.#stopReading ??= onEnter(() => void this.#goOn());
  }

  /** The session no longer waits. */
  resumed(session: string): void {
    const at = this.#paused.findIndex((one) => one.session === session);
    if (at >= 0) this.#paused.splice(at, 1);
  }

  /** Idempotent. */
  close(): void {
    this.#stopReading?.();
    this.#stopReading = null;
  }

  async #goOn(): Promise<void> {
    const first = this.#paused.shift();
    if (first === undefined) return;
    const answer = { answer: 'done', handoff: first.handoff };
    await this.#client.json('POST', `/api/sessions/${first.session}/handoff`, answer).catch((error: unknown) => {
      // It was answered in the dashboard.
      if (encodeError(error).code !== 'NOT_FOUND') this.#say(`${first.name}: ${encodeError(error).error}`);
    });
  }

  async #addressOf(session: string): Promise<string | null> {
    try {
      const { links } = SessionRecord.parse(await this.#client.json('GET', `/api/sessions/${session}`));
      return new URL(links.view, this.#client.url).href;
    } catch {
      return null;
    }
  }
}

function handoffOf(event: unknown): { readonly handoff: string | null; readonly text: string } {
  const data: unknown = typeof event === 'object' && event !== null && 'data' in event ? event.data : event;
  if (typeof data !== 'object' || data === null || !('handoff' in data)) return { handoff: null, text: '' };
  return { handoff: String(data.handoff), text: 'text' in data ? String(data.text) : '' };
}

/** Calls `listener` for each line of standard input until the returned function is called. */
function onEnter(listener: () => void): () => void {
  const { stdin } = process;
  const splitter = new LineSplitter();
  const read = (bytes: Buffer) => {
    for (const _ of splitter.push(bytes.toString())) listener();
  };
  stdin.on('data', read);
  return () => {
    stdin.off('data', read).pause();
    stdin.unref?.();
  };
}
