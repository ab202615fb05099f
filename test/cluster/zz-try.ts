import { simulate } from './simulation.js';

const from = Number(process.argv[2]),
  count = Number(process.argv[3]);
const m = process.argv[4] as never;
let bad = 0;
const t0 = performance.now();
for (let s = from; s < from + count; s++) {
  const a = performance.now();
  let o;
  try {
    o = simulate(s, m);
  } catch (e) {
    console.log(s, String(e));
    continue;
  }
  const d = performance.now() - a;
  if (d > 200) console.log('slow', s, d, o.virtualMs);
  if (o.violations.length) {
    bad++;
    if (bad < 6) console.log(s, o.violations.slice(0, 3));
  }
}
console.log(bad, (performance.now() - t0) / count, 'ms each');
