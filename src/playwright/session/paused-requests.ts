import { boundedWait } from '../../base/deadline.js';

/** Paused requests of a connection that are remembered; the oldest go. */
const MAX_PAUSED = 1_000;
const PAUSED = '"Fetch.requestPaused"';
/** Never ids of Playwright's, which count up from 1. */
const OWN_ID = 2 ** 31 - 1;
const ASKED_ID = OWN_ID - 1;
const OWN_REPLY = new RegExp(`^\\{"id":(${OWN_ID}|${ASKED_ID})\\b`);
/** How long a browser may take that is asked whether it has said everything. */
const SAID_MS = 1_000;

export interface Command {
  readonly id: number;
  readonly method: string;
  readonly params?: object;
  readonly sessionId?: string;
}

/** Returns false if nobody is there to answer the command. */
type Send = (command: Command) => boolean;

interface Paused {
  readonly requestId: string;
  readonly url: string;
  readonly sessionId?: string;
}

/** The requests that the browser holds until Playwright answers them. */
export class PausedRequests {
  readonly #paused = new Map<string, Paused>();
  #saidEverything: (() => void) | undefined;

  /** Sees a message of the browser. Returns true if it answers a command of this class: Playwright did not send it. */
  observe(text: string): boolean {
    const own = OWN_REPLY.exec(text);
    if (own !== null) {
      if (Number(own[1]) === ASKED_ID) this.#saidEverything?.();
      return true;
    }
    if (text.includes(PAUSED)) this.#remember(text);
    return false;
  }

  #remember(text: string): void {
    const { method, params, sessionId }: PausedMessage = JSON.parse(text);
    if (method !== 'Fetch.requestPaused') return;
    const { requestId, request } = params;
    this.#paused.set(requestId, { requestId, url: request.url, ...(sessionId === undefined ? {} : { sessionId }) });
    for (const oldest of this.#paused.keys()) {
      if (this.#paused.size <= MAX_PAUSED) break;
      this.#paused.delete(oldest);
    }
  }

  /** Sees a command of Playwright. */
  answered({ method, params }: Pick<Command, 'method' | 'params'>): void {
    if (!method.startsWith('Fetch.') || params === undefined) return;
    this.#paused.delete(String(Reflect.get(params, 'requestId')));
  }

  /** Lets those that Playwright has left go on. */
  async continueAll(send: Send): Promise<void> {
    await this.#answerKnown(send, async () => false);
  }

  /**
   * Answers those that Playwright has left: the ones of `isRouted` fail, the others go on. Those too that the browser holds
   * meanwhile: it is asked something, and what it answers comes after all that it said before.
   */
  async answerAll(send: Send, isRouted: (url: string) => Promise<boolean>): Promise<void> {
    await this.#answerKnown(send, isRouted);
    await boundedWait<void>({ ms: SAID_MS }, (resolve) => {
      this.#saidEverything = resolve;
      if (!send({ id: ASKED_ID, method: 'Browser.getVersion' })) resolve();
      return undefined;
    }).catch(() => undefined);
    await this.#answerKnown(send, isRouted);
  }

  async #answerKnown(send: Send, isRouted: (url: string) => Promise<boolean>): Promise<void> {
    for (const { requestId, url, ...session } of this.#paused.values()) {
      const [method, more] = (await isRouted(url))
        ? ['Fetch.failRequest', { errorReason: 'Aborted' }]
        : ['Fetch.continueRequest', {}];
      send({ id: OWN_ID, method, params: { requestId, ...more }, ...session });
    }
    this.#paused.clear();
  }
}

interface PausedMessage {
  readonly method: string;
  readonly params: { readonly requestId: string; readonly request: { readonly url: string } };
  readonly sessionId?: string;
}
