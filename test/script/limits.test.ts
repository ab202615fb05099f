import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { stretched } from '#troupe/base/deadline.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import type { HostModule } from '#troupe/script/host-module.js';
import { guardLeaks } from '../support/leaks.js';
import { COLLECTED, HUGE_STRINGS } from './limits/freed-cases.js';
import type { Limit, LimitCase } from './limits/limit-case.js';
import { MEMORY } from './limits/memory-cases.js';
import { RECURSION } from './limits/recursion-cases.js';
import { LONG } from './limits/time-cases.js';
import { type OpenSandbox, openSandbox } from './open-sandbox.js';

guardLeaks(t);

/** Sessions that run cases at the same time. */
const LANES = 2;
const MIB = 1024 * 1024;

const module: HostModule = {
  name: 'host',
  prelude: `(function (host, engine) {
    globalThis.host = {
      call(a, b, c) { return host('call', a, b, c); },
      flow(path, source, args) { return engine.runFlow(path, source, args); },
    };
  })`,
  calls: { call: async (args) => args },
};

function open(t: Test, memoryBytes: number): Promise<OpenSandbox> {
  return openSandbox(t, { modules: [module], limits: { memoryBytes } });
}

/** How a script ended. */
interface Ending {
  readonly met: Limit | 'fault';
  readonly scopeLost: boolean;
  readonly text: string;
}

async function endingOf({ run }: OpenSandbox, source: string, timeoutMs: number): Promise<Ending> {
  try {
    return { met: 'value', scopeLost: false, text: JSON.stringify(await run(source, { timeoutMs })) };
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error;
    const scopeLost = error.details?.scopeLost === true;
    return { met: metBy(error, scopeLost), scopeLost, text: `${error.code} ${error.message}` };
  }
}

function metBy({ code, message }: TroupeError, scopeLost: boolean): Ending['met'] {
  if (code === 'EVAL_TIMEOUT') return 'time';
  if (
    /^The script (?:used up its memory of \d+ bytes|ended its thread: it ran out of memory); the scope was lost/.test(
      message,
    )
  )
    return 'memory';
  // An error that the script could have caught leaves the scope as it was.
  if (scopeLost) return 'fault';
  if (/stack|nested|deep/i.test(message)) return 'recursion';
  return code === 'SCRIPT_ERROR' || code === 'MATCH_FAILED' ? 'refusal' : 'fault';
}

/** Runs a script that meets a limit, then others in the same session. */
async function check(t: Test, session: OpenSandbox, one: LimitCase): Promise<void> {
  const { title, source, meets } = one;
  await session.run('globalThis.kept = [42]');
  const expected = [meets].flat();
  // Long if the script must end by itself, so that a slow machine does not matter.
  const ending = await endingOf(session, source, expected.includes('time') ? 300 : stretched(60_000));
  t.ok(
    expected.some((limit) => limit === ending.met),
    `${title}: ${ending.met}, ${ending.text.slice(0, 200)}`,
  );
  const kept = ending.scopeLost ? 'lost' : 42;
  t.same(
    await session.run(`[typeof kept === 'undefined' ? 'lost' : kept[0], match(1, 1), host.call(5)[0], await (async () => {
      await null; return new Promise((resolve) => resolve({ seven: 7 })) })()]`),
    [kept, true, 5, { seven: 7 }],
    `${title}: the next script runs, and ${ending.scopeLost ? 'the scope is new' : 'has its variables'}`,
  );
}

/** Runs the cases, some at a time, while the scripts of another session run. */
async function checkAll(t: Test, cases: readonly LimitCase[], memoryBytes = 32 * MIB): Promise<void> {
  const waiting = [...cases];
  const lane = async (): Promise<void> => {
    const session = await open(t, memoryBytes);
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await check(t, session, one);
    await session.sandbox.close();
  };
  const neighbour = await open(t, memoryBytes);
  let isOver = false;
  const lanes = Promise.all(Array.from({ length: LANES }, lane)).finally(() => {
    isOver = true;
  });
  await neighbour.run('let runs = 0');
  let runs = 0;
  while (!isOver) {
    runs += 1;
    // Its time is far below what some of the cases take.
    if ((await neighbour.run('runs += 1', { timeoutMs: stretched(5_000) })) !== runs) t.fail('it lost its variables');
    await pause(10);
  }
  await lanes;
}

t.test('memory without end stops that script alone', (t) => checkAll(t, MEMORY));

t.test('what is large or deep when it is freed stops no other script', (t) => checkAll(t, COLLECTED));

t.test('what would run for ever is ended, and stops that script alone', (t) => checkAll(t, LONG));

t.test('recursion is an ordinary error wherever it is', (t) => checkAll(t, RECURSION));

t.test('a string of 100 MB stops no other script', (t) => checkAll(t, HUGE_STRINGS, 256 * MIB));

t.test('the same holds in an async function, after an await', async (t) => {
  // The value of the last expression is not a result there.
  const inAsync = (one: LimitCase): LimitCase => ({
    title: `${one.title}, in an async function`,
    source: `await (async () => { await null;\n${one.source}\n})(); 1`,
    meets: [...[one.meets].flat(), 'value', 'refusal'],
  });
  await checkAll(t, [...MEMORY, ...COLLECTED, ...LONG, ...RECURSION].map(inAsync));
});

t.test('scripts that used up their memory leave none behind in the process', async (t) => {
  const session = await open(t, 64 * MIB);
  const hog = 'const hog = []; while (true) hog.push([1, 2, 3])';
  await session.fails(hog);
  const before = process.memoryUsage.rss();
  for (let scripts = 0; scripts < 30; scripts += 1) t.match(await session.fails(hog), { details: { scopeLost: true } });
  const engines = (process.memoryUsage.rss() - before) / (64 * MIB);
  t.ok(engines < 5, `the memory of ${engines.toFixed(1)} engines`);
});
