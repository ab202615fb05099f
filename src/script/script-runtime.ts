import type { QuickJSHandle } from 'quickjs-emscripten-core';
import { sourceFrame } from '../base/source-frame.js';
import { type ErrorBody, type ErrorDetails, encodeError, TroupeError } from '../protocol/errors.js';
import type { EventData, StepKind } from '../protocol/events.js';
import { readBundle } from './bundle.js';
import { type Completion, QuickJs, type RawFunction } from './engine/quickjs.js';
import { FlowRunner } from './flow-runner.js';
import type { HostBridge } from './host-bridge.js';
import type { CallSite } from './host-module.js';
import type { ScriptLimits } from './limits.js';
import type { Core, Description, EngineSettings, RawHost } from './prelude/engine.js';
import type { FailedOutcome, Outcome, RunMessage, ThreadBoot } from './script-messages.js';
import { type ScriptPlace, SourceRegistry } from './source/source-registry.js';
import { checkScript, prepareScript, STEP_NAME } from './source/source-step.js';
import { readDescription, sourceTooLong, withDetails, withFrame } from './thrown.js';

/** Nested awaits; each uses stack of this thread that the engine does not count. */
const MAX_NESTED_AWAITS = 100;
/** Jobs of a stopped script that may still run, so that they do not run in the next one. */
const MAX_LEFT_JOBS = 1000;
/** Characters of the line of a failed match. */
const MAX_CALL_SOURCE = 200;

/**
 * The scripts of one session in their thread: it runs one at a time, to its end, in a lasting context. The sandbox's
 * handle is the other side.
 */
export class ScriptRuntime {
  readonly #js: QuickJs;
  readonly #bridge: HostBridge;
  readonly #limits: ScriptLimits;
  readonly #sources = new SourceRegistry();
  readonly #flows: FlowRunner;
  readonly #core: { readonly [name in 'begin' | 'result' | 'describe' | 'idle']: QuickJSHandle };
  /** Whether a module has work for when no job is left; false saves each script a call. */
  readonly #idles: boolean;
  #kind: StepKind = 'script';
  /** The last script failed; false saves each script a call. */
  #failedBefore = false;
  #awaits = 0;
  #consoleLines = 0;
  #consoleLength = 0;

  /** Throws if a prelude does. */
  static async create(boot: ThreadBoot, bridge: HostBridge): Promise<ScriptRuntime> {
    // A run number that is never cancelled.
    bridge.begin(-1, boot.limits.startMs);
    const js = await QuickJs.create(boot.wasm, boot.limits, () => bridge.stop() !== null);
    return new ScriptRuntime(js, bridge, boot);
  }

  private constructor(js: QuickJs, bridge: HostBridge, boot: ThreadBoot) {
    this.#js = js;
    this.#bridge = bridge;
    this.#limits = boot.limits;
    this.#flows = new FlowRunner(js, bridge, this.#sources, boot.limits);
    const core = this.#install(boot);
    const part = (name: keyof Core): QuickJSHandle => this.#part(core, name);
    this.#core = { begin: part('begin'), result: part('result'), describe: part('describe'), idle: part('idle') };
    const addModule = this.#part(core, 'addModule');
    for (const module of boot.modules) {
      const install = this.#must(js.evaluate(module.prelude, `troupe/${module.name}`));
      this.#must(js.call(addModule, js.text(module.name), install)).dispose();
      install.dispose();
    }
    addModule.dispose();
    core.dispose();
    this.#idles = this.#must(js.call(this.#core.idle)).consume((handle) => js.readText(handle)) !== 'undefined';
  }

  /** Outermost first; null if none runs. */
  get #openFlows(): readonly string[] | null {
    return this.#flows.paths.length === 0 ? null : this.#flows.paths;
  }

  /** The script has met its deadline or the end of its memory, or was cancelled: no more of it may run. */
  get #isStopped(): boolean {
    return this.#bridge.stopped !== null || this.#js.memory.isUsedUp;
  }

  /** The same, and asks for the time. */
  #mustStop(): boolean {
    return this.#bridge.stop() !== null || this.#js.memory.isUsedUp;
  }

  /** Runs a script from beginning to end. Never throws: a failure is in the outcome. */
  run(message: RunMessage): Outcome {
    this.#bridge.begin(message.run, message.timeoutMs);
    this.#kind = message.kind;
    this.#awaits = 0;
    this.#consoleLines = 0;
    this.#consoleLength = 0;
    try {
      if (this.#failedBefore) this.#must(this.#js.call(this.#core.begin)).dispose();
      const outcome = this.#cleared(message, this.#evaluate(message));
      this.#failedBefore = !outcome.ok;
      return outcome;
    } catch (error) {
      return this.#js.memory.hasRefused ? this.#usedUp(message, '') : brokenBy(error);
    } finally {
      this.#flows.clear();
    }
  }

  /** The given outcome, or a failure if the script's jobs do not come to an end. */
  #cleared(message: RunMessage, outcome: Outcome): Outcome {
    const cleared = this.#js.memory.isUsedUp || this.#clearJobs();
    // What it left behind may have used it up, too.
    if (this.#js.memory.isUsedUp) return outcome.ok || !outcome.broken ? this.#usedUp(message, '') : outcome;
    if (cleared) return outcome;
    return { ...(outcome.ok ? this.#stopped(message, '') : outcome), broken: true };
  }

  #evaluate(message: RunMessage): Outcome {
    const { source, name } = message;
    try {
      if (source.length > this.#limits.sourceLength) throw sourceTooLong('The script', this.#limits.sourceLength);
      const edited = prepareScript(source);
      const { engineName } = this.#sources.add({ name, flow: null, source, code: source, original: edited.original });
      return this.#finish(message, this.#js.evaluate(edited.code, engineName));
    } catch (error) {
      return refused(error, message);
    }
  }

  /** Turns the completion of a script into its outcome. */
  #finish(message: RunMessage, evaluated: Completion): Outcome {
    let completion = evaluated;
    if (!completion.ok && !this.#isStopped) {
      try {
        this.#checkSyntax(message.source, completion.error);
      } catch (error) {
        return refused(error, message);
      }
    }
    if (completion.ok) completion = this.#settled(completion.value);
    // Jobs that nothing waits for belong to this script too: what they change is in its result.
    if (completion.ok) this.#runJobs();
    if (completion.ok && !this.#isStopped) {
      const value = completion.value;
      completion = this.#js.call(this.#core.result, value);
      value.dispose();
    }
    if (completion.ok && !this.#isStopped) {
      return { ok: true, json: completion.value.consume((handle) => this.#js.readText(handle)) };
    }
    const handle = completion.ok ? completion.value : completion.error;
    return handle.consume((thrown) => this.#failed(message, thrown));
  }

  /** Reports a syntax error with the message of our parser. Disposes of the handle if it throws. */
  #checkSyntax(source: string, thrown: QuickJSHandle): void {
    try {
      checkScript(source);
    } catch (error) {
      thrown.dispose();
      throw error;
    }
  }

  #failed(message: RunMessage, thrown: QuickJSHandle): Outcome {
    const description = this.#isStopped ? null : this.#describe(thrown);
    if (this.#isStopped) {
      const stack = this.#js.member(thrown, 'stack').consume((handle) => this.#js.readText(handle));
      return this.#js.memory.isUsedUp ? this.#usedUp(message, stack) : this.#stopped(message, stack);
    }
    if (description === null || description.isOutOfMemory) {
      return this.#usedUp(message, description?.stack ?? '', description?.flows);
    }
    const own = description.code === null ? { thrown: description.message } : {};
    const details = { ...this.#details(message, description.stack, description.flows, own), ...description.details };
    return failure({ error: description.message, code: description.code ?? 'SCRIPT_ERROR', details });
  }

  /** Nothing in the engine is reliable any more, and it never frees memory. */
  #usedUp(message: RunMessage, stack: string, flows: readonly string[] | null = this.#openFlows): FailedOutcome {
    const error = `The script used up its memory of ${this.#limits.memoryBytes} bytes`;
    const details = this.#details(message, stack, flows, { isStopped: true });
    return failure({ error, code: 'SCRIPT_ERROR', details }, { broken: true });
  }

  /** The handle knows the reason and replaces message and code. */
  #stopped(message: RunMessage, stack: string): FailedOutcome {
    const details = this.#details(message, stack, this.#openFlows, { isStopped: true });
    return failure({ error: 'The script was stopped', code: 'EVAL_TIMEOUT', details }, { stopped: true });
  }

  /** @param why `thrown`: the message of an error that no host call threw */
  #details(
    message: RunMessage,
    stack: string,
    flows: readonly string[] | null,
    why: { readonly thrown?: string; readonly isStopped?: boolean },
  ): ErrorDetails {
    const place = this.#sources.place(stack, why);
    return {
      name: message.name,
      ...(place === null ? {} : placeDetails(place)),
      ...(flows === null ? {} : { flows }),
    };
  }

  /** Null if the engine has no memory left for a description. */
  #describe(thrown: QuickJSHandle): Description | null {
    const completion = this.#js.call(this.#core.describe, thrown);
    const handle = completion.ok ? completion.value : completion.error;
    return readDescription(handle.consume((value) => (completion.ok ? this.#js.readText(value) : '')));
  }

  /** The value of a promise, whose jobs are run; any other value as it is. Takes ownership of the handle. */
  #settled(value: QuickJSHandle): Completion {
    while (true) {
      const promise = this.#js.promise(value);
      if (promise.state !== 'pending') {
        value.dispose();
        return promise.state === 'settled' ? { ok: true, value: promise.value } : { ok: false, error: promise.value };
      }
      if (this.#mustStop()) return { ok: true, value };
      if (!this.#js.hasJobs()) {
        if (this.#idle()) continue;
        value.dispose();
        const error = this.#js.error('The awaited promise never settles: no job is left that could settle it');
        return { ok: false, error };
      }
      this.#js.runJob();
    }
  }

  #runJobs(): void {
    do {
      while (this.#js.hasJobs() && !this.#mustStop()) this.#js.runJob();
    } while (!this.#mustStop() && this.#idle());
  }

  /** Lets modules do what they kept for later. Whether they did something. */
  #idle(): boolean {
    if (!this.#idles) return false;
    const completion = this.#js.call(this.#core.idle);
    if (!completion.ok) {
      completion.error.dispose();
      return false;
    }
    return completion.value.consume((handle) => this.#js.readText(handle)) === 'true';
  }

  /** Runs the jobs that a stopped script left behind; false if they do not come to an end. */
  #clearJobs(): boolean {
    this.#runJobs();
    for (let left = MAX_LEFT_JOBS; this.#js.hasJobs(); left -= 1) {
      if (left === 0) return false;
      this.#js.runJob();
    }
    return true;
  }

  #install(boot: ThreadBoot): QuickJSHandle {
    const js = this.#js;
    const lookups = new Set(boot.modules.flatMap((one) => one.lookups.map((method) => `${one.name}.${method}`)));
    const raw: { readonly [name in keyof RawHost]: RawFunction } = {
      call: (target, args, stack) => {
        const name = read(js, target);
        if (!lookups.has(name)) this.#flows.acted();
        return js.text(this.#bridge.call(name, read(js, args), this.#site(read(js, stack))));
      },
      wrote: (level, text, stack) => this.#wrote(read(js, level), read(js, text), read(js, stack)),
      checked: (data, stack) => this.#checked(read(js, data), read(js, stack)),
      compile: (path, source, code, fault) => {
        return this.#flows.compile(read(js, path), read(js, source), read(js, code), read(js, fault));
      },
      settle: (value) => this.#awaited(value),
      runJobs: () => this.#runJobs(),
      enterFlow: (path, file) => js.number(this.#flows.enter(read(js, path), read(js, file), this.#kind === 'flow')),
      skipFlow: () => this.#flows.skip(),
      flowFault: (type) => js.text(this.#flows.fault(read(js, type))),
      leaveFlow: (error) => this.#flows.leave(read(js, error)),
      flows: () => js.text(JSON.stringify(this.#flows.paths)),
    };
    const settings: EngineSettings = {
      resultLength: boot.limits.resultLength,
      flowDepth: boot.limits.flowDepth,
      args: JSON.parse(boot.args),
    };
    const install = this.#must(js.evaluate(readBundle(import.meta.url, './prelude/engine'), 'troupe/engine'));
    const functions = js.functions(raw);
    const core = this.#must(js.call(install, functions, js.text(JSON.stringify(settings))));
    install.dispose();
    functions.dispose();
    const step = this.#part(core, 'step');
    js.defineConstant(STEP_NAME, step);
    step.dispose();
    return core;
  }

  #part(core: QuickJSHandle, name: keyof Core): QuickJSHandle {
    return this.#js.member(core, name);
  }

  #must(completion: Completion): QuickJSHandle {
    if (completion.ok) return completion.value;
    throw this.#js.failure(completion.error);
  }

  #site(stack: string): CallSite {
    const place = this.#sources.place(stack);
    const running = this.#flows.paths.at(-1) ?? null;
    const kind = running === null ? this.#kind : 'flow';
    const flowRun = this.#flows.run;
    if (place === null) return { kind, flow: running, flowRun, line: null, column: null };
    return { kind, flow: place.flow, flowRun, line: place.line, column: place.column };
  }

  #where(stack: string): { flow?: string; line?: number; column?: number } {
    const { flow, line, column } = this.#site(stack);
    return {
      ...(flow === null ? {} : { flow }),
      ...(line === null ? {} : { line }),
      ...(column === null ? {} : { column }),
    };
  }

  #wrote(level: string, text: string, stack: string): void {
    if (!isLevel(level)) return;
    this.#consoleLines += 1;
    this.#consoleLength += text.length;
    const full = this.#consoleLines > this.#limits.consoleLines || this.#consoleLength > this.#limits.consoleLength;
    if (!full) {
      this.#bridge.emit({ type: 'ConsoleWritten', data: { level, text, ...this.#where(stack) } });
    } else if (this.#consoleLines !== Number.POSITIVE_INFINITY) {
      // Noted once; then all output of this script is dropped.
      this.#consoleLines = Number.POSITIVE_INFINITY;
      const text = 'Further console output of this script is omitted';
      this.#bridge.emit({ type: 'ConsoleWritten', data: { level: 'warn', text, ...this.#where(stack) } });
    }
  }

  #checked(text: string, stack: string): void {
    const data: unknown = JSON.parse(text);
    if (!isAssertion(data)) return;
    this.#flows.acted();
    const place = data.ok ? null : this.#sources.place(stack);
    const js = place?.source.split('\n')[place.line - 1]?.trim().slice(0, MAX_CALL_SOURCE);
    const call = data.ok ? {} : { ...(js === undefined ? {} : { js }), kind: this.#site(stack).kind };
    this.#bridge.emit({ type: 'AssertionChecked', data: { ...data, ...call, ...this.#where(stack) } });
  }

  #awaited(value: QuickJSHandle): QuickJSHandle {
    if (this.#awaits >= MAX_NESTED_AWAITS) throw new RangeError('await is nested too deeply');
    this.#awaits += 1;
    try {
      const completion = this.#settled(value.dup());
      if (!completion.ok) throw completion.error;
      return completion.value;
    } finally {
      this.#awaits -= 1;
    }
  }
}

function placeDetails({ name, flow, line, column, source }: ScriptPlace): ErrorDetails {
  const at = { line, ...(column === null ? {} : { column }) };
  return { name, ...at, ...(flow === null ? {} : { flow }), frame: sourceFrame(source, line, column) };
}

function read(js: QuickJs, handle: QuickJSHandle | undefined): string {
  return handle === undefined ? '' : js.readText(handle);
}

/** The engine's own stack check came too late, or its memory is in an unknown state. */
function brokenBy(error: unknown): FailedOutcome {
  const text = error instanceof Error ? error.message : String(error);
  const message = `The script engine failed while it ran this script (${text})`;
  return failure({ error: message, code: 'SCRIPT_ERROR' }, { broken: true });
}

/** Why a script was not evaluated. Rethrows anything but a TroupeError. */
function refused(error: unknown, { name, source }: RunMessage): FailedOutcome {
  if (!(error instanceof TroupeError)) throw error;
  return failure(encodeError(withDetails(withFrame(error, source), { name })));
}

function failure(error: ErrorBody, how: { stopped?: boolean; broken?: boolean } = {}): FailedOutcome {
  return { ok: false, error, stopped: false, broken: false, ...how };
}

const LEVELS: readonly string[] = ['log', 'info', 'warn', 'error', 'debug'];

function isLevel(value: string): value is EventData<'ConsoleWritten'>['level'] {
  return LEVELS.includes(value);
}

function isAssertion(value: unknown): value is EventData<'AssertionChecked'> {
  return typeof value === 'object' && value !== null && 'ok' in value && typeof value.ok === 'boolean';
}
