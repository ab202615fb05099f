import { createContext, Script } from 'node:vm';
import type { EngineMemory } from '#troupe/script/engine/engine-memory.js';
import { engineWasm } from '#troupe/script/engine/engine-wasm.js';
import { type Completion, QuickJs } from '#troupe/script/engine/quickjs.js';
import { generatedTools } from './generated-tools.js';

/** So many allocations make the engine's cycle collector run, whatever a generated script holds. */
const COLLECTED_ALLOCATIONS = 3000;
const MOST_JOBS = 200_000;
/** What the scripts' tools need at the end of a script is far less. */
const CALLS_TO_FINISH = 50;

/** How a script ended: its log, or the name of what it threw. */
export type Ending = { readonly log: string } | { readonly thrown: string } | { readonly stopped: true };

export interface EngineSession {
  /**
   * Runs a script that calls `tools()`, and all of its jobs, as a session does. Throws if the engine does.
   * @param stopAfter the number of calls of the interrupt handler after which the script is stopped
   */
  run(code: string, stopAfter?: number): Ending;
  readonly memory: EngineMemory;
  /** Whether its jobs did not end or its memory is used up, so that a session would use another engine. */
  readonly isSpent: boolean;
}

/** An engine for many scripts. */
export async function openEngine(limits: {
  readonly memoryBytes: number;
  readonly stackBytes: number;
}): Promise<EngineSession> {
  let calls = 0;
  let most = Number.POSITIVE_INFINITY;
  let hasJobsLeft = false;
  const isStopped = (): boolean => calls > most;
  const js = await QuickJs.create(await engineWasm(), limits, () => {
    calls += 1;
    return isStopped();
  });
  const evaluated = (code: string): string | { readonly thrown: string } => {
    const completion = js.evaluate(code, 'generated');
    return completion.ok ? completion.value.consume((value) => js.readText(value)) : { thrown: nameOf(js, completion) };
  };
  // A stopped script's jobs run, too, and are stopped.
  const runJobs = (): void => {
    for (let left = MOST_JOBS; js.hasJobs(); left -= 1) {
      if (left === 0) hasJobsLeft = true;
      if (left === 0 || js.memory.isUsedUp) break;
      js.runJob();
    }
  };
  const mayCall = (more: number): void => {
    calls = 0;
    most = more;
  };
  evaluated(generatedTools(COLLECTED_ALLOCATIONS));
  return {
    memory: js.memory,
    get isSpent() {
      return hasJobsLeft || js.memory.isUsedUp;
    },
    run(code, stopAfter = Number.POSITIVE_INFINITY) {
      mayCall(stopAfter);
      const result = evaluated(code);
      runJobs();
      const wasStopped = isStopped() || js.memory.isUsedUp;
      if (js.memory.isUsedUp) return { stopped: true };
      mayCall(CALLS_TO_FINISH);
      evaluated(FINISH);
      runJobs();
      const log = evaluated(LOG);
      if (wasStopped) return { stopped: true };
      if (typeof result !== 'string') return result;
      return typeof log === 'string' ? { log } : log;
    },
  };
}

const FINISH = 'finish()';
const LOG = 'log()';

function nameOf(js: QuickJs, { error }: Completion & { readonly ok: false }): string {
  return error.consume((handle) => {
    return js.member(handle, 'name').consume((name) => js.readText(name));
  });
}

export interface NodeSession {
  /** How the script ends in Node. Rejections that it leaves unhandled are the caller's. */
  run(code: string): Ending;
}

/** A context of Node for many scripts. */
export function openNode(): NodeSession {
  const context = createContext({}, { microtaskMode: 'afterEvaluate' });
  const evaluated = (script: Script): unknown => script.runInContext(context);
  evaluated(tools);
  return {
    run(code) {
      try {
        evaluated(new Script(code));
        evaluated(finish);
        return { log: String(evaluated(log)) };
      } catch (error) {
        return {
          thrown: typeof error === 'object' && error !== null && 'name' in error ? String(error.name) : String(error),
        };
      }
    },
  };
}

/** Whether the script has no syntax error. */
export function compiles(code: string): boolean {
  try {
    new Script(code);
    return true;
  } catch {
    return false;
  }
}

const tools = new Script(generatedTools(0));
const finish = new Script(FINISH);
const log = new Script(LOG);
