import { leaseTimes } from '#troupe/cluster/lease-times.js';
import { ModelProcess, type World } from './model-process.js';
import { ModelStore, type Mutation } from './model-store.js';
import { Chance, VirtualTime } from './virtual-time.js';

const CHAOS_MS = 100_000;
const LIMIT_MS = 900_000;
const NODES = 3;

/** What a schedule broke, and how much happened in it. */
export interface Outcome {
  readonly violations: readonly string[];
  readonly sessions: number;
  readonly virtualMs: number;
}

/**
 * One schedule: three nodes and a store, work, faults until {@link CHAOS_MS}, then quiet. Everything follows from the seed.
 * Faults are crashes and starts on the same or another home, freezes, suspended machines, delays, nodes cut off from the
 * database, and steps of the clocks of nodes and database.
 */
export function simulate(seed: number, mutation?: Mutation): Outcome {
  const chance = new Chance(seed);
  const time = new VirtualTime();
  const times = leaseTimes();
  const steps = chance.once(0.15);
  let databaseOffsetMs = 0;
  const clock = { trulyMs: () => time.nowMs, nowMs: () => 1e12 + time.nowMs + databaseOffsetMs, steps };
  const store = new ModelStore({ ...times, pollEveryMs: 3_000 }, clock, mutation);
  const world: World = {
    time,
    chance,
    store,
    times: { ...times, pollEveryMs: 3_000 },
    mutation,
    steps,
    violations: store.violations,
    carriedOut: new Map(),
  };
  const nodes: ModelProcess[] = Array.from({ length: NODES }, (_, n) => new ModelProcess(world, `n${n}`, `home-n${n}`));
  const everyProcess = [...nodes];
  const start = (index: number, home: string) => {
    const former = nodes[index];
    // The lock on a home keeps a second start off it while the first is there, frozen or not.
    if (former === undefined || everyProcess.some((other) => other.alive && other.home === home)) return;
    const started = new ModelProcess(world, former.id, home);
    nodes[index] = started;
    everyProcess.push(started);
  };
  const one = () => chance.below(NODES);

  for (let n = 3 + chance.below(8); n > 0; n -= 1) {
    const id = `s${n}`;
    const retries = chance.below(3);
    const at = chance.between(0, CHAOS_MS * 0.8);
    const isLive = chance.once(0.2);
    time.after(at, () => {
      const node = nodes[one()];
      if (!isLive) store.accept({ id, mode: 'auto', caller: `c${n % 3}`, retries });
      else if (node?.alive === true && !node.isFrozen) node.createLive(id);
    });
  }
  for (let n = chance.below(8); n > 0; n -= 1) {
    const sessionId = `s${1 + chance.below(8)}`;
    time.after(chance.between(5_000, CHAOS_MS), () => nodes[one()]?.request(n, sessionId, () => nodes));
  }
  for (let n = chance.below(8); n > 0; n -= 1) {
    time.after(chance.between(0, CHAOS_MS), () => {
      const index = one();
      const node = nodes[index];
      const long = chance.between(500, 60_000);
      if (node === undefined) return;
      switch (chance.below(steps ? 8 : 6)) {
        case 0:
          node.crash();
          time.after(long, () => start(index, node.home));
          return;
        case 1:
        case 2:
          node.freeze(long, false);
          return;
        case 3:
        case 4:
          node.cutOffUntilMs = time.nowMs + long;
          return;
        case 5:
          if (chance.once(0.5)) node.wallOffsetMs += chance.between(-90_000, 90_000);
          else start(index, `${node.home}-copy`);
          return;
        case 6:
          databaseOffsetMs += chance.between(-60_000, 60_000);
          return;
        default:
          node.freeze(long, true);
      }
    });
  }
  // Whatever was broken runs again.
  time.after(CHAOS_MS + 70_000, () => {
    for (const [index, node] of nodes.entries()) start(index, node.home);
  });

  const isOver = () =>
    time.nowMs > CHAOS_MS + 80_000 && [...store.sessions.values()].every(({ status }) => status === 'ended');
  time.run(LIMIT_MS, isOver);
  for (const { id, status, phase } of store.sessions.values()) {
    if (status !== 'ended') store.violations.push(`${id} never ended: ${status}, ${phase}`);
  }
  return { violations: store.violations, sessions: store.sessions.size, virtualMs: time.nowMs };
}
