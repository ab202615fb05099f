import t from 'tap';
import { Heartbeat } from '#troupe/actors/heartbeat.js';
import { guardLeaks } from '../support/leaks.js';
import { ManualClock } from './manual-clock.js';

guardLeaks(t);

const OPTIONS = { everyMs: 100, misses: 3 };
/** Lets what was answered be seen. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

function start(ping: () => Promise<unknown>): { clock: ManualClock; heartbeat: Heartbeat; hangs: () => number } {
  const clock = new ManualClock();
  let hangs = 0;
  const heartbeat = new Heartbeat(clock, OPTIONS, ping, () => {
    hangs += 1;
  });
  return { clock, heartbeat, hangs: () => hangs };
}

t.test('a side that answers never counts as hanging', async (t) => {
  let pings = 0;
  const { clock, hangs } = start(async () => {
    pings += 1;
  });
  for (let i = 0; i < 10; i += 1) {
    clock.advance(100);
    await turn();
  }
  t.equal(hangs(), 0);
  t.equal(pings, 10);
});

t.test('a side that misses its beats counts as hanging, once', async (t) => {
  const { clock, hangs } = start(() => new Promise(() => undefined));
  clock.advance(300);
  t.equal(hangs(), 0);
  clock.advance(100);
  t.equal(hangs(), 1);
  clock.advance(10_000);
  t.equal(hangs(), 1);
});

t.test('a late answer starts the count anew', async (t) => {
  const answers: (() => void)[] = [];
  const { clock, hangs } = start(() => new Promise<void>((resolve) => answers.push(resolve)));
  for (let i = 0; i < 5; i += 1) {
    clock.advance(300);
    answers.at(-1)?.();
    await turn();
  }
  t.equal(hangs(), 0);
});

t.test('a heartbeat that was stopped says nothing more', async (t) => {
  const { clock, heartbeat, hangs } = start(() => new Promise(() => undefined));
  clock.advance(200);
  heartbeat.stop();
  clock.advance(10_000);
  t.equal(hangs(), 0);
});
