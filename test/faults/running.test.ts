import t from 'tap';
import { ANY_FAULTS, type Fault, FaultyService, nameOf } from '../support/faulty-service.js';
import { guardLeaks } from '../support/leaks.js';
import { hasAllCases, sampled } from '../support/sampled.js';
import { makeHome } from '../support/service.js';
import { startReceiver } from '../webhooks/receiver.js';
import { FaultScenario, linesOf, startSite, stopped } from './fault-scenario.js';

guardLeaks(t);
process.env.TROUPE_TEST_WEBHOOK_SECRET = 'a secret of the test';

/** Cases after which the service is started again, and asked for all that it told. */
const CASES_PER_SERVICE = 25;

t.test('a running service outlives each call of the system that fails once, and keeps its word', async (t) => {
  const home = makeHome(t, { webhookSecret: 'TROUPE_TEST_WEBHOOK_SECRET', idleTimeout: 3600 });
  const scenario = new FaultScenario(home, { site: await startSite(t), receiver: await startReceiver(t) });
  let service = new FaultyService(home);
  t.teardown(() => service.process.end('SIGKILL'));
  const restart = async () => {
    service = new FaultyService(home);
    await scenario.check(await service.calls());
  };

  const cases = sampled(await faults(service, scenario), { name: 'running', count: 2 });
  let struck = 0;
  for (const [index, fault] of cases.entries()) {
    const failure = await strike(service, scenario, fault, `case-${index}`);
    if (service.hasStruck()) struck += 1;
    await service.arm(null);
    t.equal(failure, null, nameOf(fault));
    if (failure !== null) {
      scenario.forget();
      await service.process.end('SIGKILL');
    } else if ((index + 1) % CASES_PER_SERVICE === 0) await stopped(service);
    else continue;
    await restart();
  }
  await stopped(service);
  await restart();
  await stopped(service);
  t.ok(struck > 0, `${struck} of ${cases.length} faults were met`);
});

/** Those of every place that is passed; in a sample, which has no time to count them, those of each kind. */
async function faults(service: FaultyService, scenario: FaultScenario): Promise<readonly Fault[]> {
  const calls = await service.calls();
  if (!hasAllCases) return ANY_FAULTS;
  // Some calls are made once in a service's life: counted are those of one that is in use already.
  await scenario.use(calls, 'warm-up');
  await service.arm('count');
  await scenario.use(calls, 'counted');
  return service.counted();
}

/** What did not hold; null where all of it does. */
async function strike(
  service: FaultyService,
  scenario: FaultScenario,
  fault: Fault,
  key: string,
): Promise<string | null> {
  await service.arm(fault);
  try {
    await scenario.use(await service.calls(), key);
    return null;
  } catch (error) {
    return `${String(error)}\n${linesOf(service.process.output())}`;
  }
}
