import * as engine from '@jitl/quickjs-ng-wasmfile-release-sync';
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
import type {} from './engine-wasm.js';

const PAGE_BYTES = 65_536;
/** What the module asks for at least. */
const INITIAL_BYTES = 16 * 1024 * 1024;

export type RawFunction = VmFunctionImplementation<QuickJSHandle>;

/** How a piece of code ended. The handle is the receiver's to dispose of. */
export type Completion =
  | { readonly ok: true; readonly value: QuickJSHandle }
  | { readonly ok: false; readonly error: QuickJSHandle };

/**
 * One JavaScript engine with one context, as this thread needs it. It cannot grow past its memory, asks `shouldStop`
 * every few thousand steps, and loads no modules. A RangeError or RuntimeError of V8 that comes out of any method means
 * that the engine's own state is no longer known.
 */
export class QuickJs {
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;

  static async create(
    wasm: WebAssembly.Module,
    limits: Pick<ScriptLimits, 'memoryBytes' | 'stackBytes'>,
    shouldStop: () => boolean,
  ): Promise<QuickJs> {
    const maximum = Math.max(INITIAL_BYTES, limits.memoryBytes) / PAGE_BYTES;
    const wasmMemory = new WebAssembly.Memory({ initial: INITIAL_BYTES / PAGE_BYTES, maximum: Math.floor(maximum) });
    const variant = newVariant(syncVariant(engine.default), { wasmModule: wasm, wasmMemory });
    const module = await newQuickJSWASMModuleFromVariant(variant);
    const runtime = module.newRuntime();
    runtime.setMaxStackSize(limits.stackBytes);
    runtime.setInterruptHandler(shouldStop);
    const context = runtime.newContext();
    return new QuickJs(runtime, context);
  }

  private constructor(runtime: QuickJSRuntime, context: QuickJSContext) {
    this.#runtime = runtime;
    this.#context = context;
  }

  get undefined(): QuickJSHandle {
    return this.#context.undefined;
  }

  /** Runs a script in the global scope; the value is its completion value. */
  evaluate(code: string, name: string): Completion {
    const result = this.#context.evalCode(code, name, { type: 'global' });
    return result.error === undefined ? { ok: true, value: result.value } : { ok: false, error: result.error };
  }

  /** Calls a function; the handles given stay the caller's. */
  call(target: QuickJSHandle, ...args: QuickJSHandle[]): Completion {
    const result = this.#context.callFunction(target, this.#context.undefined, ...args);
    return result.error === undefined ? { ok: true, value: result.value } : { ok: false, error: result.error };
  }

  /** An object of functions of this thread. What they throw is thrown inside: handles as they are, errors as copies. */
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

  /** A constant that all scripts see and that is no member of the global object. */
  defineConstant(name: string, value: QuickJSHandle): void {
    this.#context.setProp(this.#context.global, name, value);
    const code = `const ${name} = globalThis.${name}; delete globalThis.${name};`;
    // The name is looked up as a member first, since the constant is not initialised yet.
    const result = this.evaluate(code, 'constant');
    if (!result.ok) throw this.failure(result.error);
    result.value.dispose();
  }

  text(value: string): QuickJSHandle {
    return this.#context.newString(value);
  }

  error(message: string): QuickJSHandle {
    return this.#context.newError(message);
  }

  number(value: number): QuickJSHandle {
    return this.#context.newNumber(value);
  }

  readText(handle: QuickJSHandle): string {
    return this.#context.getString(handle);
  }

  /** What has become of a promise; any other value is settled. Of `settled` and `rejected` the handle is new. */
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

  /** Runs the job that waits longest. Its error belongs to a promise, or says that it was interrupted. */
  runJob(): void {
    this.#runtime.executePendingJobs(1).dispose();
  }

  /** An error of our own code inside the engine, for people. */
  failure(error: QuickJSHandle): Error {
    const dumped: unknown = error.consume((handle) => this.#context.dump(handle));
    return new Error(`The script engine could not be prepared: ${JSON.stringify(dumped)}`);
  }
}

/** The package's types describe its CommonJS form, in which the variant stands one level deeper. */
function syncVariant(value: unknown): QuickJSSyncVariant {
  if (isSyncVariant(value)) return value;
  throw new Error('The script engine is not the one that was built for synchronous calls');
}

function isSyncVariant(value: unknown): value is QuickJSSyncVariant {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'sync';
}
