import { method } from '../script/prelude/primordials.js';

// As the document was given it: a page, and a clock that a script installs, may replace it.
const now: (from: Performance) => number = method(performance.now);
const from = performance;

/** Milliseconds of the real time: `performance.now()` whatever time the page is shown. For what runs in the page's own world. */
export function realNow(): number {
  return now(from);
}
