import { rmSync } from 'node:fs';
import t from 'tap';
import { ANY_FAULTS, type Fault, FaultyService, nameOf } from '../support/faulty-service.js';
import { guardLeaks } from '../support/leaks.js';
import { hasAllCases, sampled } from '../support/sampled.js';
import { makeHome } from '../support/service.js';
import { linesOf, nothingLeft, REMEDY, saysSentences, stopped } from './fault-scenario.js';

guardLeaks(t);

t.test(
  'a service starts when a call fails once, as it would without, or says what to do and starts then',
  async (t) => {
    const isWhole = hasAllCases;
    const without = await startedOnce(makeHome(t), isWhole ? 'count' : null);
    t.ok(without.driver, 'it says which driver it has');
    const faults = isWhole ? without.faults : ANY_FAULTS;
    for (const fault of sampled(faults, { name: 'starting', count: 1 })) {
      const home = makeHome(t);
      const failure = await refusal(home, fault, without.driver).catch((error: unknown) => String(error));
      t.equal(failure, null, nameOf(fault));
      // What is left in it is not to be found in the next.
      rmSync(home, { recursive: true, force: true });
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

interface Started {
  /** Null where it ended with an error. */
  readonly driver: string | null;
  readonly output: string;
  readonly faults: readonly Fault[];
}

/** Starts and stops a service, which has left nothing then. @throws where it crashes, or what it says is for nobody */
async function startedOnce(home: string, fault: Fault | 'count' | null): Promise<Started> {
  const service = new FaultyService(home, fault);
  try {
    await service.calls();
  } catch {
    saysSentences(service.process.output());
    await nothingLeft();
    return { driver: null, output: linesOf(service.process.output()), faults: [] };
  }
  const faults = fault === 'count' ? service.counted() : [];
  await stopped(service);
  // The line after the address.
  const driver = /listens on .*\n\s+(.*)/.exec(service.process.output())?.[1] ?? null;
  return { driver, output: linesOf(service.process.output()), faults };
}
