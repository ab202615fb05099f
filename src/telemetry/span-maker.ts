import { createHash } from 'node:crypto';
import type { JournalEvent } from '../protocol/events.js';
import type { SessionId } from '../protocol/session.js';

/** The attributes of a span. */
export type SpanAttributes = { readonly [name: string]: string | number | boolean };

/** An interval of a session. Times are milliseconds since 1970. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Null for the session's root span. */
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Why it failed; null for a success. */
  readonly failure: string | null;
  readonly attributes: SpanAttributes;
}

/** The characters of a script in an attribute. */
const MAX_SOURCE = 200;

interface Trace {
  startedMs: number;
  /** Span ids of the running flows, the innermost last. */
  readonly flows: string[];
  attributes: SpanAttributes;
}

/**
 * Makes spans from the event stream: one trace per session, with a span for its queue wait, browser start, and each
 * script, flow, step and model call. The trace id is derived from the session id, so that a restarted service continues
 * the trace. The state of a session is dropped at its end.
 */
export class SpanMaker {
  readonly #traces = new Map<SessionId, Trace>();

  /** The spans that an event completes. */
  spansOf(event: JournalEvent): readonly Span[] {
    const trace = this.#traceOf(event);
    const atMs = Date.parse(event.at);
    switch (event.type) {
      case 'SessionAccepted': {
        const { mode, flowFiles } = event.data;
        trace.startedMs = atMs;
        trace.attributes = {
          'troupe.mode': mode,
          ...(flowFiles.length > 0 ? { 'troupe.flows': flowFiles.join(' ') } : {}),
        };
        return [];
      }
      case 'SessionStarted': {
        const { waitedMs = 0, openMs = 0, warm = false, driver, browser } = event.data;
        const openedAt = atMs - openMs;
        trace.startedMs = Math.min(trace.startedMs, openedAt - waitedMs);
        return [
          this.#span(event, 'queue', { startMs: openedAt - waitedMs, endMs: openedAt }),
          this.#span(event, 'browser', {
            startMs: openedAt,
            endMs: atMs,
            attributes: { 'troupe.driver': driver, 'troupe.browser': browser, 'troupe.warm': warm },
          }),
        ];
      }
      case 'FlowStarted':
        trace.flows.push(spanId(event.sessionId, `flow ${event.seq}`));
        return [];
      case 'FlowFinished': {
        const { path, durationMs, error } = event.data;
        const own = trace.flows.pop() ?? spanId(event.sessionId, `flow ${event.seq}`);
        const span = this.#span(event, `flow ${path}`, { startMs: atMs - durationMs, endMs: atMs, error });
        return [{ ...span, spanId: own }];
      }
      case 'StepFinished': {
        const { kind, js, url, durationMs, error, index } = event.data;
        const attributes = {
          'troupe.step': index,
          'troupe.kind': kind,
          'troupe.js': cut(js),
          'url.full': withoutQuery(url),
        };
        return [this.#span(event, 'step', { startMs: atMs - durationMs, endMs: atMs, error, attributes })];
      }
      case 'ScriptFinished': {
        const { durationMs, error } = event.data;
        return [this.#span(event, 'script', { startMs: atMs - durationMs, endMs: atMs, error })];
      }
      case 'ModelCallFinished': {
        const { model, durationMs, tokens, error, attempt } = event.data;
        const attributes = {
          'gen_ai.request.model': model,
          'gen_ai.usage.input_tokens': tokens.input,
          'gen_ai.usage.output_tokens': tokens.output,
          'troupe.attempt': attempt,
        };
        return [this.#span(event, 'model', { startMs: atMs - durationMs, endMs: atMs, error, attributes })];
      }
      case 'SessionEnded': {
        this.#traces.delete(event.sessionId);
        const { status, endReason, error } = event.data;
        const attributes = {
          'troupe.session': event.sessionId,
          'troupe.status': status,
          'troupe.end_reason': endReason,
          ...trace.attributes,
        };
        const span = this.#span(event, 'session', {
          startMs: trace.startedMs,
          endMs: atMs,
          error: error ?? undefined,
          attributes,
        });
        return [{ ...span, spanId: rootOf(event.sessionId), parentSpanId: null }];
      }
      default:
        return [];
    }
  }

  #traceOf({ sessionId, at }: JournalEvent): Trace {
    const known = this.#traces.get(sessionId);
    if (known !== undefined) return known;
    const trace: Trace = { startedMs: Date.parse(at), flows: [], attributes: {} };
    this.#traces.set(sessionId, trace);
    return trace;
  }

  #span(
    { sessionId, seq }: JournalEvent,
    name: string,
    of: {
      readonly startMs: number;
      readonly endMs: number;
      readonly error?: { readonly code: string; readonly error: string } | undefined;
      readonly attributes?: SpanAttributes;
    },
  ): Span {
    return {
      traceId: digest(sessionId).slice(0, 32),
      spanId: spanId(sessionId, `${name} ${seq}`),
      parentSpanId: this.#traces.get(sessionId)?.flows.at(-1) ?? rootOf(sessionId),
      name,
      startMs: of.startMs,
      endMs: of.endMs,
      failure: of.error === undefined ? null : of.error.code,
      attributes: of.attributes ?? {},
    };
  }
}

function rootOf(sessionId: SessionId): string {
  return spanId(sessionId, 'session');
}

function spanId(sessionId: SessionId, what: string): string {
  return digest(`${sessionId} ${what}`).slice(0, 16);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function cut(source: string): string {
  return source.length > MAX_SOURCE ? `${source.slice(0, MAX_SOURCE)}...` : source;
}

/** Removes queries and fragments, which may contain private data of the page. */
function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '');
}
