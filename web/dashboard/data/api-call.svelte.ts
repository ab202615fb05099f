import { type CallRequest, isText } from './api-request.js';
import { EventFrames, type ServerEvent } from './event-frames.js';

/** What is read of a response, in bytes. */
export const MAX_BYTES = 1024 * 1024;
/** A text that is indented may be this much longer than what was read. */
const MAX_INDENTED = 4 * MAX_BYTES;
/** Events that are kept; older ones are dropped. */
export const MAX_EVENTS = 200;

/** Headers of a response that are displayed. */
const HEADERS = [
  'content-type',
  'content-length',
  'content-range',
  'content-disposition',
  'etag',
  'link',
  'location',
  'retry-after',
  'mcp-session-id',
];

/** The beginning of a response. */
interface Head {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Until the response was complete; of a stream, until it began. */
  readonly durationMs: number;
}

/** The displayed body of a response. */
export type CallBody =
  | { readonly kind: 'none' }
  /** `isCut`: it is longer. */
  | { readonly kind: 'text'; readonly text: string; readonly isCut: boolean }
  | { readonly kind: 'picture'; readonly href: string; readonly bytes: number }
  /** `bytes`: null if it is not known; `href`: null if it can only be saved by other means. */
  | { readonly kind: 'file'; readonly bytes: number | null; readonly href: string | null }
  /** The newest first. */
  | { readonly kind: 'events'; readonly events: readonly ServerEvent[]; readonly count: number };

/**
 * What became of a call. `streaming`: events may still come; `ended`: the service ended the stream; `stopped`: the reader
 * did; `failed`: the connection was lost, or there was none.
 */
export interface Outcome {
  readonly state: 'sending' | 'streaming' | 'received' | 'ended' | 'stopped' | 'failed';
  /** Method and address. */
  readonly line: string;
  readonly head: Head | null;
  readonly body: CallBody;
}

/** Sends one call at a time, and has what became of it. Memory is bounded whatever the response is. */
export class ApiCall {
  outcome = $state.raw<Outcome | null>(null);
  readonly isOpen = $derived(this.outcome?.state === 'sending' || this.outcome?.state === 'streaming');
  #aborted: AbortController | null = null;

  /** Never rejects. */
  async send(request: CallRequest): Promise<void> {
    this.stop();
    this.#release();
    const aborted = new AbortController();
    this.#aborted = aborted;
    // What comes in after a stop, or after the next call has begun, is not shown.
    const change = (changed: Partial<Outcome>) => {
      if (this.#aborted === aborted && this.outcome) this.outcome = { ...this.outcome, ...changed };
    };
    this.outcome = {
      state: 'sending',
      line: `${request.method} /${request.url}`,
      head: null,
      body: { kind: 'none' },
    };
    const { method, url, headers, body } = request;
    const begin = performance.now();
    try {
      const response = await fetch(url === '' ? './' : url, { method, headers, body, signal: aborted.signal });
      const head = () => headOf(response, performance.now() - begin);
      change({ head: head() });
      if (typeOf(response) === 'text/event-stream') {
        await follow(response, (events, count) =>
          change({ state: 'streaming', body: { kind: 'events', events, count } }),
        );
        change({ state: 'ended' });
      } else {
        const received = await bodyOf(response, request);
        change({ state: 'received', head: head(), body: received });
      }
    } catch {
      change({ state: 'failed' });
    } finally {
      // Also a file whose body is not read.
      aborted.abort();
    }
  }

  /** Ends the connection of an open call. */
  stop(): void {
    if (this.outcome && this.isOpen) this.outcome = { ...this.outcome, state: 'stopped' };
    this.#aborted?.abort();
    this.#aborted = null;
  }

  /** Stops, and frees what the response takes. */
  close(): void {
    this.stop();
    this.#release();
  }

  #release(): void {
    const body = this.outcome?.body;
    if ((body?.kind === 'picture' || body?.kind === 'file') && body.href?.startsWith('blob:')) {
      URL.revokeObjectURL(body.href);
    }
    this.outcome = null;
  }
}

function typeOf(response: Response): string {
  return (response.headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '';
}

function headOf({ status, statusText, headers }: Response, durationMs: number): Head {
  const shown = HEADERS.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return { status, statusText, headers: shown, durationMs };
}

/** @throws TypeError if the connection is lost */
async function follow(
  response: Response,
  show: (events: readonly ServerEvent[], count: number) => void,
): Promise<void> {
  const frames = new EventFrames();
  const decoder = new TextDecoder();
  let events: readonly ServerEvent[] = [];
  let count = 0;
  show(events, count);
  const reader = response.body?.getReader();
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (done) return;
    const fresh = frames.take(decoder.decode(value, { stream: true }));
    if (fresh.length === 0) continue;
    count += fresh.length;
    events = [...fresh.toReversed(), ...events].slice(0, MAX_EVENTS);
    show(events, count);
  }
}

/** @throws TypeError if the connection is lost */
async function bodyOf(response: Response, request: CallRequest): Promise<CallBody> {
  const type = typeOf(response);
  const href = request.method === 'GET' ? request.url : null;
  if (!isText(type) && !type.startsWith('image/') && href !== null && type !== '') {
    const length = response.headers.get('content-length');
    return { kind: 'file', bytes: length === null ? null : Number(length), href };
  }
  const { bytes, isCut } = await read(response);
  if (bytes.length === 0) return { kind: 'none' };
  if (isText(type) || type === '') return { kind: 'text', text: readable(bytes, isCut, type), isCut };
  if (isCut) return { kind: 'file', bytes: null, href };
  const saved = URL.createObjectURL(new Blob([bytes], { type }));
  return type.startsWith('image/')
    ? { kind: 'picture', href: saved, bytes: bytes.length }
    : { kind: 'file', bytes: bytes.length, href: saved };
}

/** The first {@link MAX_BYTES} of a body. */
async function read(response: Response): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly isCut: boolean }> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  while (length <= MAX_BYTES) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (done || value === undefined) break;
    chunks.push(value);
    length += value.length;
  }
  const bytes = new Uint8Array(await new Blob(chunks).arrayBuffer());
  return { bytes: bytes.subarray(0, MAX_BYTES), isCut: length > MAX_BYTES };
}

/** JSON is indented, unless that would make it much longer; other text is as it came. */
function readable(bytes: Uint8Array, isCut: boolean, type: string): string {
  const text = new TextDecoder().decode(bytes);
  if (isCut || !type.endsWith('json')) return text;
  try {
    const indented = JSON.stringify(JSON.parse(text), null, 2);
    return indented.length > MAX_INDENTED ? text : indented;
  } catch {
    return text;
  }
}
