import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

/** How often the event loop is looked at. Each look is one timer, so a shorter time would cost an idle thread power. */
const RESOLUTION_MS = 20;

/** How late an event loop was, in milliseconds. */
export interface LoopLagStats {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Watches the event loop of the thread where it is made, for as long as that thread lives. */
export class LoopLag {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#histogram.enable();
  }

  /** What was seen since the last read. */
  read(): LoopLagStats {
    const { max } = this.#histogram;
    const lag = {
      p50: lateMs(this.#histogram.percentile(50)),
      p99: lateMs(this.#histogram.percentile(99)),
      max: lateMs(max),
    };
    this.#histogram.reset();
    return lag;
  }
}

/** The histogram holds the nanoseconds between two looks: what is beyond the resolution is lag. */
function lateMs(betweenNs: number): number {
  return Math.max(0, Math.round((betweenNs / 1e6 - RESOLUTION_MS) * 100) / 100);
}
