/*! Contains web-vitals, Google LLC, Apache-2.0. */
import { type Metric, onCLS, onFCP, onINP, onLCP, onTTFB } from 'web-vitals';

type Values = { -readonly [name in Metric['name']]?: number };

declare global {
  /** Of the document, in the world of the measurements. */
  var troupeVitals: Values | undefined;
}

/** Reported of every page that has shown something. */
const EXPECTED = ['TTFB', 'FCP', 'LCP', 'CLS'] as const;

/** A page that computes all the time is never idle. */
const MAX_BUSY_MS = 200;

/**
 * Values so far, in milliseconds, CLS as a score. The first call in a document has the browser tell what it has kept, for
 * which it waits at most `waitMs`.
 */
export function install(waitMs: number): Promise<Values> {
  const known = globalThis.troupeVitals;
  if (known !== undefined) return heard().then(() => known);
  const values: Values = {};
  globalThis.troupeVitals = values;
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(values), waitMs);
    const take = ({ name, value }: Metric): void => {
      values[name] = value;
      if (EXPECTED.some((one) => values[one] === undefined)) return;
      clearTimeout(timer);
      void heard().then(() => resolve(values));
    };
    const all = { reportAllChanges: true };
    onTTFB(take);
    onFCP(take, all);
    onLCP(take, all);
    onCLS(take, all);
    onINP(take, all);
  });
}

/**
 * Settles when the library has processed what the observers have received until now, which it does when the page is idle. The
 * browser tells of an interaction only once a frame that shows its outcome is presented.
 */
async function heard(): Promise<void> {
  await frame();
  await frame();
  await idle();
  await idle();
}

/** A hidden page has no frames. */
function frame(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, MAX_BUSY_MS);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      setTimeout(resolve);
    });
  });
}

function idle(): Promise<void> {
  return new Promise((resolve) => {
    requestIdleCallback(() => resolve(), { timeout: MAX_BUSY_MS });
  });
}
