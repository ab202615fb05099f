import { percentiles } from './percentiles.mjs';

/** A line of samples: how many, p50, p95, p99, in `unit`. */
export function printSamples(what, samples, unit) {
  const { p50, p95, p99 } = percentiles(samples);
  const columns = [p50, p95, p99].map((value) => number(value).padStart(11)).join('');
  console.log(`  ${what.padEnd(34)}${String(samples.length).padStart(8)} samples${columns}  ${unit}`);
}

export function printHeader() {
  console.log(`  ${''.padEnd(50)}${['p50', 'p95', 'p99'].map((name) => name.padStart(11)).join('')}`);
}

/** Prints whether each ratio met its target, and answers how many did not. */
export function printTargets(targets) {
  console.log('');
  for (const { what, ratio, relation, target, met } of targets) {
    console.log(`${met ? 'met   ' : 'MISSED'} ${what}: ${ratio.toFixed(2)} (target ${relation} ${target})`);
  }
  return targets.filter(({ met }) => !met).length;
}

/** A target that a ratio must reach. */
export function atLeast(what, ratio, target) {
  return { what, ratio, relation: 'at least', target, met: ratio >= target };
}

/** A target that a ratio must not pass. */
export function atMost(what, ratio, target) {
  return { what, ratio, relation: 'at most', target, met: ratio <= target };
}

function number(value) {
  return value >= 1000 ? Math.round(value).toLocaleString('en-US') : value.toFixed(2);
}
