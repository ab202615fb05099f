import { LoopLag } from '../actors/loop-lag.js';
import type { ThreadPool } from '../actors/thread-pool.js';
import { sentenceOf } from '../base/system-fault.js';
import type { Config } from '../config.js';
import { containerStates } from '../containers/docker/container-states.js';
import { DockerEngine } from '../containers/docker/docker-engine.js';
import type { Gateway, GatewayAnswered } from '../gateway/server.js';
import { PRODUCT_NAME } from '../protocol/product-name.js';
import type { EventHub } from '../supervisor/events/index.js';
import type { Supervisor } from '../supervisor/supervisor.js';
import type { Log } from '../telemetry/log.js';
import { COUNTED, Metrics } from '../telemetry/metrics.js';
import { OtlpExporter } from '../telemetry/otlp-exporter.js';
import type { Samples } from '../telemetry/sampled-gauges.js';
import { SpanMaker } from '../telemetry/span-maker.js';

/** The sources of sampled metrics. */
export interface SampleSources {
  readonly gateway: Gateway;
  readonly threads: ThreadPool;
  readonly supervisor: Supervisor;
  readonly instance: string;
}

/** The service's metrics, traces (if a receiver is configured), and audit log. */
export class Telemetry {
  readonly #log: Log;
  readonly #lag = new LoopLag();
  readonly #metrics = new Metrics(() => this.#sample());
  readonly #exporter: OtlpExporter | null;
  readonly #engine: DockerEngine | null;
  readonly #stopped = new AbortController();
  #sources: SampleSources | null = null;
  #following: Promise<void> = Promise.resolve();

  constructor(config: Config, version: string, log: Log) {
    this.#log = log;
    const { otlp, dockerSocket } = config;
    this.#engine = dockerSocket === null ? null : new DockerEngine(dockerSocket);
    this.#exporter = otlp === null ? null : new OtlpExporter({ ...otlp, serviceName: PRODUCT_NAME, version }, log);
  }

  /** Metrics in the Prometheus text format. */
  metrics(): Promise<string> {
    return this.#metrics.text();
  }

  answered({ principalName: who, address, method, path, route, changes, ms, status }: GatewayAnswered): void {
    this.#metrics.answered({ method: route === null ? 'none' : method, route: route ?? 'none', status, ms });
    if (changes) this.#log(`${method} ${path}: ${status}`, { audit: true, who: who ?? 'nobody', address });
  }

  /** Samples these sources from now on. */
  watch(sources: SampleSources): void {
    this.#sources = sources;
  }

  /** Reads the hub's events from now on, until {@link close}. */
  follow(hub: EventHub): void {
    this.#following = this.#follow(hub);
  }

  /** Sends pending traces. Idempotent; never rejects. */
  async close(): Promise<void> {
    this.#stopped.abort();
    await this.#following;
    await this.#exporter?.close();
  }

  async #follow(hub: EventHub): Promise<void> {
    const { signal } = this.#stopped;
    const spans = this.#exporter === null ? null : new SpanMaker();
    const types = spans === null ? COUNTED : undefined;
    try {
      for await (const event of hub.stream({ after: hub.lastSeq(), types, signal }, () => true)) {
        this.#metrics.observe(event);
        if (spans !== null) this.#exporter?.add(spans.spansOf(event));
      }
    } catch (error) {
      if (!signal.aborted) this.#log(`metrics and traces stop because of an error: ${sentenceOf(error)}`);
    }
  }

  async #sample(): Promise<Samples> {
    const lag = this.#lag.read();
    const main = { thread: 'main', lagMs: lag, mailboxDepth: 0, mailboxDeepest: 0, actors: 0 };
    if (this.#sources === null) return { ...NOTHING, threads: [main] };
    const { gateway, threads, supervisor, instance } = this.#sources;
    const { driver, capacity } = supervisor.health();
    const engine = driver === 'docker' ? this.#engine : null;
    return {
      sessions: { running: capacity.running, queued: capacity.queued },
      maxSessions: capacity.max,
      warmBrowsers: capacity.warm,
      viewers: gateway.viewers,
      containers: engine === null ? new Map() : await containerStates(engine, instance),
      threads: [
        main,
        ...(await threads.stats()).map(({ thread, loopLagMs, depth, deepest, actors }) => ({
          thread: `sessions-${thread}`,
          lagMs: loopLagMs,
          mailboxDepth: depth,
          mailboxDeepest: deepest,
          actors,
        })),
      ],
    };
  }
}

const NOTHING: Samples = {
  sessions: { running: 0, queued: 0 },
  maxSessions: 0,
  warmBrowsers: 0,
  threads: [],
  viewers: 0,
  containers: new Map(),
};
