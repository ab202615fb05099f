import t, { type Test } from 'tap';
import { ERROR_TABLE, TroupeError } from '#troupe/protocol/errors.js';
import { answerCall } from '#troupe/script/answer-call.js';
import type { HostModule } from '#troupe/script/host-module.js';
import { guardLeaks } from '../support/leaks.js';
import { sampled } from '../support/sampled.js';
import { ESCAPES, type EscapeCase, EXHAUSTIONS } from './escape-cases.js';
import { hostModule, type OpenSandbox, openSandbox } from './open-sandbox.js';

guardLeaks(t);

/** Concurrent sandboxes. */
const LANES = 3;
const LIMITS = { memoryBytes: 32 * 1024 * 1024 };

const module: HostModule = {
  name: 'host',
  prelude: `(function (host, engine) {
    globalThis.host = {
      call(a, b, c) { return host('call', a, b, c); },
      ask(method, a) { return host(method, a); },
      flow(path, source, args) { return engine.runFlow(path, source, args); },
    };
  })`,
  calls: {
    call: async (args, { signal }) => {
      if (args[0] === 'fail') throw new TroupeError('LOCATOR_NOT_FOUND', 'not there');
      if (args[0] === 'never') await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return args;
    },
  },
};

/** How a script ended, in the terms of the table. */
type Ending = { readonly value: unknown } | { readonly code: string; readonly message: string };

async function endingOf({ run }: OpenSandbox, source: string, timeoutMs: number): Promise<Ending> {
  return run(source, { timeoutMs }).then(
    (value): Ending => ({ value }),
    (error: unknown): Ending => {
      if (error instanceof TroupeError) return { code: error.code, message: error.message };
      throw error;
    },
  );
}

async function check(t: Test, one: EscapeCase): Promise<void> {
  const timeoutMs = deadlineOf(one);
  const open = await openSandbox(t, { modules: [module], limits: LIMITS });
  try {
    const ending = await endingOf(open, one.source, timeoutMs);
    if ('value' in one) t.same(ending, { value: one.value }, one.title);
    else if (one.codes !== undefined)
      t.ok('code' in ending && one.codes.some((code) => code === ending.code), `${one.title}: ${shown(ending)}`);
    else if ('code' in ending)
      t.ok(ending.code !== 'INTERNAL' && Object.hasOwn(ERROR_TABLE, ending.code), `${one.title}: ${shown(ending)}`);
    if (one.says !== undefined) t.match('message' in ending ? ending.message : '', one.says, one.title);
    t.equal(await open.run('1+1'), 2, `${one.title}: the sandbox answers afterwards`);
    const flows = [open.of('FlowStarted').length, open.of('FlowFinished').length];
    t.equal(flows[0], flows[1], `${one.title}: every flow that started is finished`);
  } finally {
    await open.sandbox.close();
  }
}

/** Long if the script must end by itself, so that a slow machine does not matter. */
function deadlineOf(one: EscapeCase): number {
  const mayBeStopped = !('value' in one) && one.codes?.includes('EVAL_TIMEOUT') !== false;
  return mayBeStopped ? 400 : 10_000;
}

function shown(ending: Ending): string {
  return JSON.stringify(ending).slice(0, 200);
}

/** Runs the cases, some at a time, each in its own sandbox. */
async function checkAll(t: Test, cases: readonly EscapeCase[]): Promise<void> {
  const waiting = [...cases];
  const lane = async (): Promise<void> => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      await check(t, one);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  t.same(Object.keys(Object.prototype), [], 'nothing was put on the prototypes of the service');
  t.equal(Reflect.get({}, 'polluted'), undefined);
}

t.test('no script escapes from its sandbox', async (t) => {
  await checkAll(t, sampled(ESCAPES, { name: 'escapes', count: 20 }));
});

t.test('no script runs beyond its deadline, or breaks its sandbox', async (t) => {
  await checkAll(t, sampled(EXHAUSTIONS, { name: 'exhaustions', count: 5 }));
});

t.test('a call that no prelude would make gets an error, and calls nothing', async (t) => {
  const calls: unknown[] = [];
  const modules = new Map([['host', hostModule(async (args) => calls.push(args))]]);
  const context = {
    signal: AbortSignal.abort(),
    remainingMs: () => 0,
    pause: () => () => undefined,
    site: { kind: 'script', flow: null, flowRun: null, line: null, column: null },
  } as const;
  for (const [target, args] of [
    ['host.constructor', '[]'],
    ['host.__proto__', '[]'],
    ['host', '[]'],
    ['.call', '[]'],
    ['constructor.call', '[]'],
    ['host.call', '{"length":1}'],
    ['host.call', '"text"'],
    ['host.call', 'no json'],
    ['host.call', ''],
  ] as const) {
    const text = await answerCall(
      modules,
      { type: 'call', run: 1, call: 1, target, args, site: context.site },
      context,
      1000,
    );
    t.match(JSON.parse(text), { ok: false, code: 'INTERNAL' }, `${target} ${args}`);
  }
  t.same(calls, []);
});
