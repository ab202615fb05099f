import type { CdpEvent } from '../browser/cdp.js';

/** What the browser keeps of the bodies that a page gets, in bytes: enough to read what an error says. */
export const BODY_BUFFERS = { maxTotalBufferSize: 1024 * 1024, maxResourceBufferSize: 64 * 1024 } as const;

/** Quiet for this long is idle. */
const QUIET_MS = 500;
/** Further requests are not counted. */
const MAX_OPEN = 5_000;
/** Requests that are open as long as the page is. */
const STREAMS = new Set(['EventSource', 'WebSocket', 'Ping', 'Media', 'Preflight']);

/** Requests that change what a page shows. */
const AWAITED = new Set(['Script', 'Stylesheet', 'XHR', 'Fetch']);

/** Requests that a message lists. */
const MAX_NAMED = 3;
const MAX_URL = 200;

interface OpenRequest {
  readonly loaderId: string;
  readonly method: string;
  readonly url: string;
}

/** Knows which requests of a page are open, and since when there is none. */
export class NetworkActivity {
  readonly #open = new Map<string, OpenRequest>();
  #last: OpenRequest | null = null;
  readonly #onQuiet: () => void;
  /** Those of {@link AWAITED} that have begun since the mark and are open. */
  readonly #awaited = new Set<string>();
  #anyAwaited = false;
  #quietSince = performance.now();
  #timer: NodeJS.Timeout | undefined;

  /** @param onQuiet called when the page has become idle */
  constructor(onQuiet: () => void) {
    this.#onQuiet = onQuiet;
  }

  get isLoading(): boolean {
    return this.#open.size > 0;
  }

  get isIdle(): boolean {
    return this.#open.size === 0 && performance.now() - this.#quietSince >= QUIET_MS;
  }

  /** Why the page is not idle, for people. */
  get unrest(): string {
    if (this.#open.size === 0) return this.#last === null ? '' : `the last request was ${nameOf(this.#last)}`;
    const counts = new Map<string, number>();
    for (const name of [...this.#open.values()].map(nameOf)) counts.set(name, (counts.get(name) ?? 0) + 1);
    const named = [...counts]
      .slice(0, MAX_NAMED)
      .map(([name, count]) => (count === 1 ? name : `${name} (${count} times)`));
    const more = counts.size > MAX_NAMED ? `, and ${counts.size - MAX_NAMED} more` : '';
    return `still waiting for ${named.join(', ')}${more}`;
  }

  /** How many requests are open that have begun since {@link mark} and may change what the page shows. */
  get awaited(): number {
    return this.#awaited.size;
  }

  /** Whether one of them has begun since the mark, be it open or not. */
  get hasAsked(): boolean {
    return this.#anyAwaited;
  }

  /** Something begins that may have the page ask for more. */
  mark(): void {
    this.#anyAwaited = false;
    this.#awaited.clear();
  }

  /** Lets `onQuiet` be called when the page is, or becomes, idle. */
  watch(): void {
    if (this.#open.size > 0) return;
    clearTimeout(this.#timer);
    const rest = Math.max(0, this.#quietSince + QUIET_MS - performance.now());
    this.#timer = setTimeout(this.#onQuiet, rest + 1);
  }

  observe(event: CdpEvent): void {
    switch (event.method) {
      case 'Network.requestWillBeSent': {
        const { requestId, loaderId, type, request } = event.params;
        if (STREAMS.has(type ?? '') || this.#open.size >= MAX_OPEN) return;
        this.#last = { loaderId, method: request.method, url: request.url };
        this.#open.set(requestId, this.#last);
        if (AWAITED.has(type ?? '')) {
          this.#awaited.add(requestId);
          this.#anyAwaited = true;
        }
        clearTimeout(this.#timer);
        return;
      }
      case 'Network.loadingFinished':
      case 'Network.loadingFailed':
        this.#finished(event.params.requestId);
        return;
      case 'Page.frameNavigated': {
        // What the old document had asked for is never reported as ended.
        const { parentId, loaderId } = event.params.frame;
        if (parentId !== undefined) return;
        for (const [request, open] of this.#open) if (open.loaderId !== loaderId) this.#finished(request);
        return;
      }
      default:
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#open.clear();
    this.#awaited.clear();
  }

  #finished(requestId: string): void {
    if (this.#awaited.delete(requestId) && this.#awaited.size === 0) this.#onQuiet();
    if (!this.#open.delete(requestId) || this.#open.size > 0) return;
    this.#quietSince = performance.now();
    this.watch();
  }
}

/** Without the query, which is often long and may hold what is secret. */
function nameOf({ method, url }: OpenRequest): string {
  const [address = ''] = url.split(/[?#]/, 1);
  return `${method} ${address.startsWith('data:') ? 'data:' : address.slice(0, MAX_URL)}`;
}
