import * as engine from '@jitl/quickjs-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
  type VmFunctionImplementation,
} from 'quickjs-emscripten-core';
import type { ScriptLimits } from '../limits.js';
import { EngineMemory } from './engine-memory.js';

export type RawFunction = VmFunctionImplementation<QuickJSHandle>;

/** How a piece of code ended. The receiver disposes of the handle. */
export type Completion =
  | { readonly ok: true; readonly value: QuickJSHandle }
  | { readonly ok: false; readonly error: QuickJSHandle };

/**
 * One JavaScript engine with one context. It cannot exceed its memory, calls `shouldStop` every few thousand steps, and
 * loads no modules. After a RangeError or RuntimeError of V8 from any method, the engine's state is unknown. So it is once
 * its memory is used up: the running code is stopped then.
 */
export class QuickJs {
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly memory: EngineMemory;

  static async create(
    wasm: WebAssembly.Module,
    limits: Pick<ScriptLimits, 'memoryBytes' | 'stackBytes'>,
    shouldStop: () => boolean,
  ): Promise<QuickJs> {
    const memory = new EngineMemory(limits.memoryBytes);
    const variant = newVariant(syncVariant(engine.default), { wasmModule: wasm, wasmMemory: memory });
    const module = await newQuickJSWASMModuleFromVariant(variant);
    const runtime = module.newRuntime();
    runtime.setMaxStackSize(limits.stackBytes);
    runtime.setInterruptHandler(() => memory.isUsedUp || shouldStop());
    const context = runtime.newContext();
    return new QuickJs(runtime, context, memory);
  }

  private constructor(runtime: QuickJSRuntime, context: QuickJSContext, memory: EngineMemory) {
    this.#runtime = runtime;
    this.#context = context;
    this.memory = memory;
  }

  get undefined(): QuickJSHandle {
    return this.#context.undefined;
  }

  /** Runs a script in the global scope and returns its completion value. */
  evaluate(code: string, name: string): Completion {
    const result = this.#context.evalCode(code, name, { type: 'global' });
    return result.error === undefined ? { ok: true, value: result.value } : { ok: false, error: result.error };
  }

  /** Calls a function; the caller keeps its handles. */
  call(target: QuickJSHandle, ...args: QuickJSHandle[]): Completion {
    const result = this.#context.callFunction(target, this.#context.undefined, ...args);
    return result.error === undefined ? { ok: true, value: result.value } : { ok: false, error: result.error };
  }

  /**
   * An object with functions of this thread. What they throw is thrown inside the engine: handles as they are, errors
   * as copies.
   */
  functions(functions: { readonly [name: string]: RawFunction }): QuickJSHandle {
    const object = this.#context.newObject();
    for (const [name, implementation] of Object.entries(functions)) {
      this.#context.newFunction(name, implementation).consume((handle) => this.#context.setProp(object, name, handle));
    }
    return object;
  }

  member(object: QuickJSHandle, name: string): QuickJSHandle {
    return this.#context.getProp(object, name);
  }

  /** Defines a constant that all scripts see and that is not a member of the global object. */
  defineConstant(name: string, value: QuickJSHandle): void {
    this.#context.setProp(this.#context.global, name, value);
    const code = `const ${name} = globalThis.${name}; delete globalThis.${name};`;
    // Reads it as a member first, since the constant is not initialized yet.
    const result = this.evaluate(code, 'constant');
    if (!result.ok) throw this.failure(result.error);
    result.value.dispose();
  }

  text(value: string): QuickJSHandle {
    return this.memory.required(() => this.#context.newString(value));
  }

  error(message: string): QuickJSHandle {
    return this.#context.newError(message);
  }

  number(value: number): QuickJSHandle {
    return this.#context.newNumber(value);
  }

  readText(handle: QuickJSHandle): string {
    return this.memory.required(() => this.#context.getString(handle));
  }

  /** The state of a promise; any other value is settled. The caller owns the returned handle. */
  promise(
    value: QuickJSHandle,
  ): { readonly state: 'settled' | 'rejected'; readonly value: QuickJSHandle } | { readonly state: 'pending' } {
    const state = this.#context.getPromiseState(value);
    if (state.type === 'pending') return { state: 'pending' };
    if (state.type === 'rejected') return { state: 'rejected', value: state.error };
    return { state: 'settled', value: state.notAPromise === true ? value.dup() : state.value };
  }

  hasJobs(): boolean {
    return this.#runtime.hasPendingJob();
  }

  /** Runs the oldest job. An error is stored in its promise, or means that the job was interrupted. */
  runJob(): void {
    this.#runtime.executePendingJobs(1).dispose();
  }

  /** Describes an error of the service's own code inside the engine. */
  failure(error: QuickJSHandle): Error {
    const dumped: unknown = error.consume((handle) => this.#context.dump(handle));
    return new Error(`The script engine could not be prepared: ${JSON.stringify(dumped)}`);
  }
}

/** The package's types describe its CommonJS form, in which the variant is one level deeper. */
function syncVariant(value: unknown): QuickJSSyncVariant {
  if (isSyncVariant(value)) return value;
  throw new Error('The script engine is not the one that was built for synchronous calls');
}

function isSyncVariant(value: unknown): value is QuickJSSyncVariant {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'sync';
}
