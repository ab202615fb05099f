/**
 * What generated scripts call: `tools()` gives a script a log and helpers of its own. When all of the script's jobs have
 * run, `finish()` uses what it kept, and `log()` is what it logged, even if a part of it waits for ever. `collect` makes the
 * engine's cycle collector run: it drops a cycle with so many allocations that the collector is due when the next object is
 * made. It does nothing in Node.
 */
export function generatedTools(allocations: number): string {
  return `const many = 'ab,'.repeat(${allocations});
globalThis.tools = () => {
  const lines = [], kept = [], its = [], wakers = [], pool = [];
  let fuel = 60, collections = 0;
  const nameOf = (error) => (error instanceof Error ? error.name : show(error));
  const attempt = (f, ...args) => {
    try { return f(...args); } catch (error) { return 'threw ' + nameOf(error); }
  };
  const text = (value, depth) => {
    switch (typeof value) {
      case 'string': return JSON.stringify(value.length > 60 ? value.slice(0, 60) + value.length : value);
      case 'bigint': return value + 'n';
      case 'symbol': return 'symbol ' + value.description;
      case 'function': return 'function';
      case 'number': return Object.is(value, -0) ? '-0' : String(value);
      case 'undefined': case 'boolean': return String(value);
    }
    if (value === null) return 'null';
    if (value === globalThis) return 'global';
    if (depth > 2) return '...';
    if (value instanceof Error) return value.name;
    if (value instanceof Promise) return 'promise';
    if (Array.isArray(value)) {
      const some = [];
      for (let i = 0; i < value.length && i < 6; i++) some.push(text(value[i], depth + 1));
      return '[' + some.join() + ']' + value.length;
    }
    if (value instanceof Map || value instanceof Set) return 'set' + value.size + text([...value].slice(0, 4), depth + 1);
    if (ArrayBuffer.isView(value)) return 'view' + value.byteLength;
    const keys = Object.keys(value).slice(0, 6);
    return Object.prototype.toString.call(value).slice(8, -1) + '{' + keys.map((key) => key + ':' + text(value[key], depth + 1)) + '}';
  };
  const show = (value) => attempt(text, value, 0);
  const say = (...values) => {
    if (lines.length < 120) lines.push(values.map(show).join(' '));
    return values[0];
  };
  const spent = () => --fuel < 0;
  const num = (value) => {
    if (typeof value === 'number') return value | 0;
    return typeof value === 'string' ? value.length : value === null || value === undefined ? 1 : 2;
  };
  const later = (promise) => {
    promise.then((value) => say('settled', value), (error) => say('refused', nameOf(error)));
    return promise;
  };
  const step = (it, how = 'next', value = undefined) => {
    const result = it[how](value);
    return result instanceof Promise ? later(result) : result;
  };
  const churn = (count) => {
    let last = null;
    for (let i = 0; i < count; i++) {
      const made = { i, list: [i, last] };
      made.self = () => made;
      last = i % 5 === 0 ? null : made;
    }
  };
  const collect = () => {
    if (++collections > 4) return;
    let cycle = many.split(',');
    cycle.self = cycle;
    cycle = null;
    return void {};
  };
  const keep = (f) => {
    kept.push(f);
    if (kept.length > 80) kept.splice(0, 30);
    return f;
  };
  const probe = (count) => {
    for (const f of kept.slice(-count)) say('kept', attempt(f));
    for (const it of its.slice(-2)) say('step', attempt(step, it));
    const wake = wakers.pop();
    if (wake !== undefined) wake(count);
  };
  const digest = (value) => {
    let sum = 7;
    for (let i = 0; i < value.length; i += 1 + (value.length >> 9)) sum = (Math.imul(sum, 31) + value.charCodeAt(i)) | 0;
    return value.length + ':' + sum;
  };
  const rest = async (ticks) => {
    for (let i = 0; i < ticks; i++) await null;
  };
  const calm = (value) => (value instanceof Promise ? value.catch(nameOf) : value);
  const refuel = () => {
    fuel = 60;
    collections = 0;
    lines.length = 0;
  };
  const start = (main) => {
    const result = attempt(main);
    if (result instanceof Promise) later(result);
  };
  globalThis.finish = () => {
    fuel = 40;
    collections = 0;
    collect();
    probe(30);
    for (const it of its.splice(0, 10)) say('end', attempt(step, it, 'return', 5));
  };
  globalThis.log = () => JSON.stringify(lines);
  return {
    say, show, attempt, nameOf, spent, num, later, step, churn, collect, keep, probe, digest, rest, calm, refuel, start,
    kept, its, wakers, pool, never: new Promise(() => {}),
  };
};`;
}
