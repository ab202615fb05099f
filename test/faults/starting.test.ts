import t from 'tap';
import { ANY_FAULTS, type Fault, FaultyService, nameOf } from '../support/faulty-service.js';
import { guardLeaks } from '../support/leaks.js';
import { sampled } from '../support/sampled.js';
import { makeHome } from '../support/service.js';
import { nothingLeft, REMEDY, saysSentences, stopped } from './fault-scenario.js';

guardLeaks(t);

t.test(
  'a service starts when a call fails once, as it would without, or says what to do and starts then',
  async (t) => {
    const counted = await startedOnce(makeHome(t), 'count');
    t.ok(counted.driver, 'it says which driver it has');
    const faults = process.env.TROUPE_PROOF === 'faults' ? counted.faults : ANY_FAULTS;
    for (const fault of sampled(faults, { proof: 'faults', name: 'starting', count: 2 })) {
      const home = makeHome(t);
      const first = await startedOnce(home, fault);
      if (first.driver === null) {
        t.match(first.output, REMEDY, `${nameOf(fault)}: it says what to do`);
        t.equal((await startedOnce(home, null)).driver, counted.driver, `${nameOf(fault)}: then it starts`);
      } else {
        t.equal(first.driver, counted.driver, `${nameOf(fault)}: it has the same driver`);
      }
    }
  },
);

/** What is wrong with a start in which a call fails; null where nothing is. */
async function refusal(home: string, fault: Fault, driver: string | null): Promise<string | null> {
  const first = await startedOnce(home, fault);
  if (first.driver !== null) return first.driver === driver ? null : `it has another driver: ${first.driver}`;
  if (!REMEDY.test(first.output)) return `it does not say what to do: ${first.output}`;
  const second = await startedOnce(home, null);
  return second.driver === driver ? null : `then it does not start: ${second.output}`;
}

/** Which driver it has, or null where it ended with an error. It is stopped then, and has left nothing. */
async function startedOnce(
  home: string,
  fault: Fault | 'count' | null,
): Promise<{ readonly driver: string | null; readonly output: string; readonly faults: readonly Fault[] }> {
  const service = new FaultyService(home, fault);
  try {
    await service.calls();
  } catch {
    saysSentences(service.process.output());
    await nothingLeft();
    return { driver: null, output: service.process.output(), faults: [] };
  }
  const faults = fault === 'count' ? service.counted() : [];
  await stopped(service);
  const output = service.process.output();
  // The line after the address.
  return { driver: /listens on .*\n\s+(.*)/.exec(output)?.[1] ?? null, output, faults };
}
