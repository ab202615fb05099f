import { limitSignal } from '../base/deadline.js';
import { sentenceOf } from '../base/system-fault.js';
import { counted } from '../protocol/counted.js';
import { PRODUCT_NAME } from '../protocol/product-name.js';
import type { Span, SpanAttributes } from './span-maker.js';

/** An OTLP receiver over HTTP with JSON (https://opentelemetry.io/docs/specs/otlp/). */
export interface OtlpTarget {
  /** The complete URL, with `/v1/traces`. */
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly serviceName: string;
  readonly version: string;
}

/** Queued spans; beyond this the oldest are dropped, and their number is logged. */
const MAX_WAITING = 10_000;
const BATCH = 512;
const FLUSH_MS = 2_000;
const SEND_MS = 10_000;
/** The pause after a failed batch; doubled each time, up to a minute. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** Sends spans in batches. A slow or unreachable receiver only loses spans. */
export class OtlpExporter {
  readonly #target: OtlpTarget;
  readonly #log: (line: string) => void;
  #waiting: Span[] = [];
  #dropped = 0;
  #timer: NodeJS.Timeout | null = null;
  #pauseMs = 0;
  #sending: Promise<void> | null = null;
  #closed = false;

  constructor(target: OtlpTarget, log: (line: string) => void) {
    this.#target = target;
    this.#log = log;
  }

  add(spans: readonly Span[]): void {
    if (this.#closed || spans.length === 0) return;
    this.#waiting.push(...spans);
    if (this.#waiting.length > MAX_WAITING) {
      this.#dropped += this.#waiting.length - MAX_WAITING;
      this.#waiting = this.#waiting.slice(-MAX_WAITING);
    }
    this.#schedule(this.#waiting.length >= BATCH && this.#pauseMs === 0 ? 0 : FLUSH_MS);
  }

  /** Sends the queued spans once, and nothing after that. Idempotent; never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#sending;
    while (this.#waiting.length > 0 && (await this.#sendBatch()));
    this.#waiting = [];
  }

  #schedule(ms: number): void {
    if (this.#timer !== null || this.#sending !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#sending = this.#sendBatch().then((taken) => {
        this.#sending = null;
        this.#pauseMs = taken ? 0 : Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2 || FIRST_PAUSE_MS);
        if (this.#waiting.length > 0 && !this.#closed) this.#schedule(taken ? 0 : this.#pauseMs);
      });
    }, ms);
    // Queued spans must not keep the process alive: the shutdown calls close().
    this.#timer.unref();
  }

  /** False if the batch was not accepted; its spans stay queued. */
  async #sendBatch(): Promise<boolean> {
    const batch = this.#waiting.slice(0, BATCH);
    const { url, headers } = this.#target;
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(this.#message(batch)),
        signal: limitSignal(SEND_MS),
        redirect: 'error',
      });
      await response.arrayBuffer();
      // A batch that the receiver rejects as invalid is not repeated.
      const isOver = response.ok || (response.status < 500 && response.status !== 429);
      if (!response.ok) this.#log(`traces: the receiver answered ${response.status}`);
      if (isOver) this.#waiting = this.#waiting.filter((span) => !batch.includes(span));
      if (isOver && this.#dropped > 0) {
        this.#log(`traces: ${counted(this.#dropped, 'span')} dropped`);
        this.#dropped = 0;
      }
      return isOver;
    } catch (error) {
      if (this.#pauseMs === 0) this.#log(`traces: the receiver is not reachable: ${sentenceOf(error)}`);
      return false;
    }
  }

  #message(batch: readonly Span[]): unknown {
    const { serviceName, version } = this.#target;
    return {
      resourceSpans: [
        {
          resource: { attributes: attributesOf({ 'service.name': serviceName, 'service.version': version }) },
          scopeSpans: [{ scope: { name: PRODUCT_NAME, version }, spans: batch.map(spanMessage) }],
        },
      ],
    };
  }
}

/** SPAN_KIND_INTERNAL, STATUS_CODE_OK and STATUS_CODE_ERROR of the protocol. */
const INTERNAL_KIND = 1;
const STATUS_OK = 1;
const STATUS_ERROR = 2;

function spanMessage({ parentSpanId, startMs, endMs, failure, attributes, ...span }: Span): unknown {
  return {
    ...span,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    kind: INTERNAL_KIND,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: attributesOf(attributes),
    status: failure === null ? { code: STATUS_OK } : { code: STATUS_ERROR, message: failure },
  };
}

/** 64-bit numbers are strings in the protocol's JSON. */
function nanoseconds(ms: number): string {
  return (BigInt(Math.round(ms * 1000)) * 1000n).toString();
}

function attributesOf(attributes: SpanAttributes): unknown[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: wireValue(value) }));
}

function wireValue(value: string | number | boolean): unknown {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
