import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

/** The sampling interval of the event loop. Each sample is a timer, so a shorter one would keep an idle thread busy. */
const RESOLUTION_MS = 20;

/** Event loop lag in milliseconds. */
export interface LoopLagStats {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Measures the event loop lag of the thread that creates it, until that thread ends. */
export class LoopLag {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#histogram.enable();
  }

  /** The lag since the last read. */
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

/** The histogram contains nanoseconds between two samples; what exceeds the sampling interval is lag. */
function lateMs(betweenNs: number): number {
  return Math.max(0, Math.round((betweenNs / 1e6 - RESOLUTION_MS) * 100) / 100);
}
