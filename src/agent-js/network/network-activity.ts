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

/** Knows which requests of a page are open, and since when there is none. */
export class NetworkActivity {
  readonly #open = new Map<string, string>();
  readonly #onQuiet: () => void;
  /** Those of {@link AWAITED} that have begun since the mark and are open. */
  readonly #awaited = new Set<string>();
  #hasAsked = false;
  #hasSent = false;
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

  /** How many requests are open that have begun since {@link mark} and may change what the page shows. */
  get awaited(): number {
    return this.#awaited.size;
  }

  /** Whether one of them has begun since the mark, open or not. */
  get hasAsked(): boolean {
    return this.#hasAsked;
  }

  /** Whether a request that may change something on its server has begun since the mark. */
  get hasSent(): boolean {
    return this.#hasSent;
  }

  /** Something begins that may have the page ask for more. */
  mark(): void {
    this.#hasAsked = false;
    this.#hasSent = false;
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
        if (!/^(?:GET|HEAD|OPTIONS)$/.test(request.method)) this.#hasSent = true;
        if (STREAMS.has(type ?? '') || this.#open.size >= MAX_OPEN) return;
        this.#open.set(requestId, loaderId);
        if (AWAITED.has(type ?? '')) {
          this.#awaited.add(requestId);
          this.#hasAsked = true;
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
        for (const [request, loader] of this.#open) if (loader !== loaderId) this.#finished(request);
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
