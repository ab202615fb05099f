/** Paused requests of a connection that are remembered; the oldest go. */
const MAX_PAUSED = 1_000;
const PAUSED = '"Fetch.requestPaused"';
/** Never an id of Playwright's, which count up from 1. */
const OWN_ID = 2 ** 31 - 1;

export interface Command {
  readonly id: number;
  readonly method: string;
  readonly params?: object;
  readonly sessionId?: string;
}

interface Paused {
  readonly requestId: string;
  readonly url: string;
  readonly sessionId?: string;
}

/** The requests that the browser holds until Playwright answers them. */
export class PausedRequests {
  readonly #paused = new Map<string, Paused>();

  /** Sees a message of the browser. */
  observe(text: string): void {
    if (!text.includes(PAUSED)) return;
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

  /** Answers those that Playwright has left: the ones of `isRouted` fail, the others go on. */
  async answerAll(isRouted: (url: string) => Promise<boolean>, send: (command: Command) => unknown): Promise<void> {
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
