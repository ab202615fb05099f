// As the document was given it: a page, and a clock that a script installs, may replace it.
const { now } = performance;
const from = performance;

/** Milliseconds of the real time: `performance.now()` whatever time the page is shown. For what runs in the page's own world. */
export function realNow(): number {
  return Reflect.apply(now, from, []);
}
