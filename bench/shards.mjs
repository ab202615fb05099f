// How long do four CI machines take for 400 flows of uneven length, and how near is that to the ideal? Machines are
// processes, flows are only time: by number (`--shard`), by the durations of an earlier run (`--shard --timings`), and by
// claiming them from a real service (`--join`), whose claims and results are the real requests.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { divide } from '#troupe/cli/run/plan/shard.js';
import { benchService } from './support/bench-service.mjs';
import { atMost } from './support/print.mjs';

const FLOWS = 400;
const MACHINES = 4;
const MEAN_MS = 300;
/** How far a flow's time is from that of the earlier run, at most: a fifth. */
const DRIFT = 0.2;

export async function run() {
  const random = seeded(4711);
  const flows = Array.from({ length: FLOWS }, (_, index) => {
    // Most flows are short and some are long, as in suites: folder by folder, since neighbours are alike.
    const folder = Math.floor(index / 25);
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const expected = Math.exp(0.9 * normal + (folder % 4) * 0.3);
    return { name: `folder-${String(folder).padStart(2, '0')}/flow-${String(index).padStart(3, '0')}`, expected };
  });
  const scale = (MEAN_MS * FLOWS) / flows.reduce((sum, { expected }) => sum + expected, 0);
  const timed = flows.map(({ name, expected }) => ({
    name,
    expected: expected * scale,
    ms: expected * scale * (1 - DRIFT + 2 * DRIFT * random()),
  }));
  const total = timed.reduce((sum, { ms }) => sum + ms, 0);
  const ideal = Math.max(total / MACHINES, ...timed.map(({ ms }) => ms));
  const parts = (known) => {
    const part = divide(
      timed.map(({ name, expected }) => ({ name, ms: known ? expected : null })),
      MACHINES,
    );
    return Array.from({ length: MACHINES }, (_, index) => timed.filter((_flow, at) => part[at] === index + 1));
  };
  const byCount = await makespan(parts(false).map((flows) => ({ flows })));
  const byTime = await makespan(parts(true).map((flows) => ({ flows })));
  const byJoin = await joined(timed);
  const line = (what, ms) =>
    console.log(`  ${what.padEnd(28)}${(ms / 1000).toFixed(2).padStart(8)} s  ${(ms / ideal).toFixed(3).padStart(7)}`);
  line('ideal', ideal);
  line('parts by count', byCount);
  line('parts by time', byTime);
  line('join', byJoin);
  return [atMost('join against the ideal', byJoin / ideal, 1.08)];
}

/** The time until the last machine has done its work. */
async function makespan(works) {
  const machines = works.map(() => fork(new URL('./support/shard-machine.process.mjs', import.meta.url)));
  try {
    await Promise.all(machines.map((machine) => once(machine, 'message')));
    const startedAt = performance.now();
    const done = machines.map((machine, index) => {
      machine.send(works[index]);
      return once(machine, 'message');
    });
    const counts = (await Promise.all(done)).map(([count]) => count);
    const ran = counts.reduce((sum, count) => sum + count, 0);
    if (ran !== FLOWS) throw new Error(`${ran} flows ran instead of ${FLOWS}`);
    return performance.now() - startedAt;
  } finally {
    for (const machine of machines) if (machine.connected) machine.disconnect();
    await Promise.all(machines.map((machine) => machine.exitCode ?? once(machine, 'exit')));
  }
}

async function joined(timed) {
  const service = await benchService();
  try {
    const jobs = timed.toSorted((a, b) => b.expected - a.expected).map(({ name }) => ({ name }));
    const { id } = await (
      await fetch(`${service.url}/api/batches/join`, {
        method: 'POST',
        body: JSON.stringify({ build: 'bench', hash: 'bench', jobs }),
      })
    ).json();
    const work = { url: `${service.url}/api/batches/${id}`, flows: timed };
    const ms = await makespan(Array.from({ length: MACHINES }, () => work));
    const { counts } = await (await fetch(`${service.url}/api/batches/${id}`)).json();
    if (counts.completed !== FLOWS) throw new Error(`The batch ended otherwise: ${JSON.stringify(counts)}`);
    return ms;
  } finally {
    await service.stop();
  }
}

/** The same numbers from 0 to 1 each time. */
function seeded(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
