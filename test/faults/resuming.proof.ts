import t from 'tap';
import { type Fault, FaultyService, nameOf } from '../support/faulty-service.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome } from '../support/service.js';
import { startReceiver } from '../webhooks/receiver.js';
import { FaultScenario, linesOf, REMEDY, saysSentences, startSite, stopped } from './fault-scenario.js';

guardLeaks(t);
process.env.TROUPE_TEST_WEBHOOK_SECRET = 'a secret of the test';

t.test('what an earlier service left is taken up when a call fails once', async (t) => {
  const { home, scenario } = await setting(t);
  let service = new FaultyService(home);
  t.teardown(() => service.process.end('SIGKILL'));

  const leave = async (key: string) => {
    const calls = await service.calls();
    const id = await scenario.openLive(calls);
    // There is one place: it waits.
    await scenario.submit(calls, key);
    await service.process.end('SIGKILL');
    return id;
  };
  const takeUp = async (fault: Fault | 'count' | null) => {
    service = new FaultyService(home, fault);
    await service.calls();
    const counted = fault === 'count' ? service.counted() : [];
    await service.arm(null);
    return counted;
  };

  await leave('counted');
  const faults = await takeUp('count');
  await scenario.check(await service.calls());
  t.comment(`${faults.length} faults`);
  for (const [index, fault] of faults.entries()) {
    await leave(`case-${index}`);
    const refused = await takeUp(fault).then(
      () => null,
      () => linesOf(service.process.output()),
    );
    if (refused !== null) {
      t.match(refused, REMEDY, `${nameOf(fault)}: it says what to do`);
      await takeUp(null);
    }
    const failure = await scenario.check(await service.calls()).then(
      () => saysSentences(service.process.output()),
      (error: unknown) => `${String(error)}\n${refused}\n${linesOf(service.process.output())}`,
    );
    t.equal(failure, undefined, nameOf(fault));
  }
  await stopped(service);
});

t.test('a service stops in order when a call fails once', async (t) => {
  const { home, scenario } = await setting(t);
  let service = new FaultyService(home);
  t.teardown(() => service.process.end('SIGKILL'));

  const stop = async (fault: Fault | 'count', key: string) => {
    const calls = await service.calls();
    await scenario.openLive(calls);
    await scenario.submit(calls, key);
    await service.arm(fault);
    await stopped(service);
    const counted = fault === 'count' ? service.counted() : [];
    service = new FaultyService(home);
    await scenario.check(await service.calls());
    return counted;
  };

  const faults = await stop('count', 'counted');
  t.comment(`${faults.length} faults`);
  for (const [index, fault] of faults.entries()) {
    const failure = await stop(fault, `case-${index}`).then(
      () => null,
      (error: unknown) => `${String(error)}\n${linesOf(service.process.output())}`,
    );
    t.equal(failure, null, nameOf(fault));
    if (failure === null) continue;
    await service.process.end('SIGKILL');
    service = new FaultyService(home);
    await service.calls();
  }
  await stopped(service);
});

/** A service with one place, where a job waits for a live session's end. */
async function setting(t: Parameters<typeof startSite>[0]): Promise<{ home: string; scenario: FaultScenario }> {
  const home = makeHome(t, { webhookSecret: 'TROUPE_TEST_WEBHOOK_SECRET', idleTimeout: 3600, maxSessions: 1 });
  const around = { site: await startSite(t), receiver: await startReceiver(t) };
  return { home, scenario: new FaultScenario(home, around) };
}
