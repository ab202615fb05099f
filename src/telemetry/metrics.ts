import { Counter, Histogram, Registry } from 'prom-client';
import type { EventType, JournalEvent } from '../protocol/events.js';
import { registerProcessMetrics } from './process-metrics.js';
import { type Samples, sampledGauges } from './sampled-gauges.js';

/** In seconds, from a warm start to a long queue wait. */
const BROAD = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];
/** In seconds, from a fast call to a slow page. */
const FINE = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The events that are counted. */
export const COUNTED: ReadonlySet<EventType> = new Set([
  'SessionStarted',
  'SessionEnded',
  'SessionRestarted',
  'StepFinished',
  'ScriptFinished',
  'ModelCallFinished',
]);

/** An answered request. */
export interface HttpAnswered {
  readonly method: string;
  /** The route's pattern, never the path; `none` if no route matches. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
}

/**
 * The service's Prometheus metrics. Most are derived from the event stream; current sizes are sampled at each scrape.
 * No label has a freely chosen value, so that the number of series is bounded.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #sample: () => Promise<Samples>;
  readonly #sampled = sampledGauges(this.#registry);
  readonly #ended = new Counter({
    name: 'troupe_sessions_ended_total',
    help: 'Ended sessions, by status, reason and error code.',
    labelNames: ['status', 'reason', 'code'] as const,
    registers: [this.#registry],
  });
  readonly #queueWait = new Histogram({
    name: 'troupe_queue_wait_seconds',
    help: 'Time from the request of a session until it got a slot.',
    labelNames: ['mode'] as const,
    buckets: BROAD,
    registers: [this.#registry],
  });
  readonly #create = new Histogram({
    name: 'troupe_create_seconds',
    help: 'Time from the slot until the browser was ready; warm: with a prestarted browser.',
    labelNames: ['start'] as const,
    buckets: BROAD,
    registers: [this.#registry],
  });
  readonly #steps = new Histogram({
    name: 'troupe_step_seconds',
    help: 'Duration of steps, by the kind of their script.',
    labelNames: ['kind', 'outcome'] as const,
    buckets: FINE,
    registers: [this.#registry],
  });
  readonly #scripts = new Histogram({
    name: 'troupe_script_seconds',
    help: 'Duration of scripts.',
    labelNames: ['outcome'] as const,
    buckets: FINE,
    registers: [this.#registry],
  });
  readonly #modelCalls = new Histogram({
    name: 'troupe_model_call_seconds',
    help: 'Duration of model calls.',
    labelNames: ['model', 'outcome'] as const,
    buckets: BROAD,
    registers: [this.#registry],
  });
  readonly #modelTokens = new Counter({
    name: 'troupe_model_tokens_total',
    help: 'Tokens sent to models (input, of which cached) and returned by them (output).',
    labelNames: ['model', 'kind'] as const,
    registers: [this.#registry],
  });
  readonly #restarts = new Counter({
    name: 'troupe_session_restarts_total',
    help: 'Restarts of session actors.',
    registers: [this.#registry],
  });
  readonly #http = new Histogram({
    name: 'troupe_http_request_seconds',
    help: 'Duration of HTTP requests until the answer was complete.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: BROAD,
    registers: [this.#registry],
  });

  constructor(sample: () => Promise<Samples>) {
    this.#sample = sample;
    registerProcessMetrics(this.#registry);
  }

  /** All metrics in Prometheus' text format. */
  async text(): Promise<string> {
    this.#sampled(await this.#sample());
    return this.#registry.metrics();
  }

  answered({ method, route, status, ms }: HttpAnswered): void {
    this.#http.observe({ method, route, status: String(status) }, ms / 1000);
  }

  /** Counts an event of {@link COUNTED}. */
  observe(event: JournalEvent): void {
    switch (event.type) {
      case 'SessionStarted': {
        const { mode = 'live', waitedMs, openMs, warm } = event.data;
        if (waitedMs !== undefined) this.#queueWait.observe({ mode }, waitedMs / 1000);
        if (openMs !== undefined) this.#create.observe({ start: warm ? 'warm' : 'cold' }, openMs / 1000);
        return;
      }
      case 'SessionEnded': {
        const { status, endReason, error } = event.data;
        this.#ended.inc({ status, reason: endReason, code: error?.code ?? '' });
        return;
      }
      case 'SessionRestarted':
        this.#restarts.inc();
        return;
      case 'StepFinished':
        this.#steps.observe({ kind: event.data.kind, outcome: outcomeOf(event.data) }, event.data.durationMs / 1000);
        return;
      case 'ScriptFinished':
        this.#scripts.observe({ outcome: outcomeOf(event.data) }, event.data.durationMs / 1000);
        return;
      case 'ModelCallFinished': {
        const { model, durationMs, tokens } = event.data;
        this.#modelCalls.observe({ model, outcome: outcomeOf(event.data) }, durationMs / 1000);
        for (const [kind, count] of Object.entries(tokens)) this.#modelTokens.inc({ model, kind }, count);
        return;
      }
      default:
    }
  }
}

function outcomeOf({ error }: { readonly error?: unknown }): 'passed' | 'failed' {
  return error === undefined ? 'passed' : 'failed';
}
