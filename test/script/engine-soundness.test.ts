import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { hasAllCases } from '../support/sampled.js';
import { SEED } from '../support/seed.js';
import { compiles, type EngineSession, type NodeSession, openEngine, openNode } from './engine-sessions.js';
import { codeOf, type GeneratedScript, generateScript } from './generated-scripts.js';

guardLeaks(t);

const SCRIPTS = hasAllCases ? 20_000 : 100;
const COMPARED_SHARE = 0.75;
const SCRIPTS_OF_AN_ENGINE = 100;
const MOST_FAILURES = 5;
const LIMITS = { memoryBytes: 128 * 1024 * 1024, stackBytes: 128 * 1024 };
/** As little as an engine can have. */
const SHORT_OF_MEMORY = { ...LIMITS, memoryBytes: 1 };

// Scripts leave rejections unhandled, in Node's contexts, too.
const ignore = (): void => undefined;
process.on('unhandledRejection', ignore);
t.teardown(() => process.off('unhandledRejection', ignore));

t.test('Generated scripts have the values that they have in Node, and none breaks the engine', async (t) => {
  let engine = await openEngine(LIMITS);
  let node = openNode();
  let ran: number[] = [];
  let compared = 0;
  let failures = 0;
  for (let index = 0; index < SCRIPTS && failures < MOST_FAILURES; index++) {
    if (engine.isSpent || ran.length === SCRIPTS_OF_AN_ENGINE) {
      engine = await openEngine(LIMITS);
      node = openNode();
      ran = [];
    }
    const script = generateScript(SEED + index);
    ran.push(script.seed);
    const fault = faultOf(script, script.limit === 'memory' ? await openEngine(SHORT_OF_MEMORY) : engine, node);
    if (fault !== null) {
      failures += 1;
      t.fail(`Seed ${script.seed}: ${fault}`, {
        engineRan: ran.join(' '),
        script: await shrunk(script),
        at: null,
        stack: '',
      });
      engine = await openEngine(LIMITS);
      ran = [];
    }
    if (script.compared) compared += 1;
    // What the scripts left rejected is reported meanwhile, and let go.
    if (index % 50 === 0) await turn();
  }
  if (failures === 0) t.ok(compared >= SCRIPTS * COMPARED_SHARE, `${compared} of ${SCRIPTS} were compared`);
});

/** What is wrong with how a script ends, or null. */
function faultOf(script: GeneratedScript, engine: EngineSession, node: NodeSession): string | null {
  const code = codeOf(script);
  const wanted = script.compared ? node.run(code) : null;
  if (wanted === null ? !compiles(code) : !('log' in wanted)) return `Node does not run it: ${JSON.stringify(wanted)}`;
  try {
    const ending = engine.run(code, script.limit === 'none' ? undefined : script.stopAfter);
    return wanted === null ? null : difference(JSON.stringify(ending), JSON.stringify(wanted));
  } catch (error) {
    // The state of an engine whose memory is used up is unknown, and sessions replace it.
    return engine.memory.isUsedUp ? null : `the engine broke: ${error}`;
  }
}

function difference(ours: string, wanted: string): string | null {
  if (ours === wanted) return null;
  let from = 0;
  while (ours[from] === wanted[from]) from += 1;
  const part = (text: string): string => text.slice(Math.max(0, from - 60), from + 60);
  return `${part(ours)} instead of ${part(wanted)}`;
}

/** The script without statements that do not matter, if it fails in an engine of its own. */
async function shrunk(script: GeneratedScript): Promise<string> {
  const limits = script.limit === 'memory' ? SHORT_OF_MEMORY : LIMITS;
  const fails = async (one: GeneratedScript): Promise<boolean> =>
    faultOf(one, await openEngine(limits), openNode()) !== null;
  if (!(await fails(script))) return `(alone it does not fail)\n${codeOf(script)}`;
  let smallest = script;
  for (let at = script.statements.length - 1; at >= 0; at--) {
    const less = { ...smallest, statements: smallest.statements.filter((_, index) => index !== at) };
    if (await fails(less)) smallest = less;
  }
  return codeOf(smallest);
}

const SUSPENDED = [
  { name: 'a generator', head: 'function*', pause: 'yield 1', start: 'it.next();' },
  { name: 'an async function', head: 'async function', pause: 'await new Promise(() => {})', start: '' },
  { name: 'an async generator', head: 'async function*', pause: 'yield 1', start: 'it.next();' },
];

for (const { name, head, pause, start } of SUSPENDED) {
  t.test(`The variables of ${name} live as long as a closure of them, in whatever cycle it is suspended`, async (t) => {
    const engine = await openEngine(LIMITS);
    const code = `(() => {
      const { say } = tools();
      const keep = [];
      let wrong = 0;
      for (let i = 0; i < 2000; i++) {
        const cycle = {};
        ${head} g() {
          const x = { i };
          const f = () => x;
          cycle.f = f;
          keep.push({ f, i });
          ${pause};
        }
        const it = g();
        cycle.it = it;
        ${start}
        if (keep.length > 50) keep.length = 0;
        if (i % 10 === 0) for (const { f, i } of keep) if (f().i !== i) wrong += 1;
      }
      say(wrong);
    })();`;
    for (let round = 0; round < 20; round++) t.same(engine.run(code), { log: '["0"]' }, `round ${round}`);
  });
}
