import { Lifetime, type QuickJSHandle, type QuickJSRuntime, type QuickJSSyncVariant } from 'quickjs-emscripten-core';

/** The state that the engine gives a value that is no promise. */
const NO_PROMISE = -1;
const NO_DETECTION = 0;
const GLOBAL_CODE = 0;

/** What a script came to. Of a handle the receiver disposes. */
export type BareCompletion =
  /** Its text is where it was wanted, so many bytes of UTF-8. */
  | { readonly kind: 'written'; readonly bytes: number }
  /** It did not fit there. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly value: QuickJSHandle }
  | { readonly kind: 'thrown'; readonly error: QuickJSHandle };

/** The module's own functions, as far as they are called here. Pointers are numbers. */
interface RawModule {
  readonly HEAPU8: Uint8Array;
  UTF8ToString(at: number): string;
  _malloc(bytes: number): number;
  _QTS_Eval(context: number, code: number, length: number, name: number, detect: number, flags: number): number;
  _QTS_Call(context: number, target: number, self: number, count: number, args: number): number;
  _QTS_ResolveException(context: number, value: number): number;
  _QTS_PromiseState(context: number, value: number): number;
  _QTS_IsJobPending(runtime: number): number;
  _QTS_GetString(context: number, value: number): number;
  _QTS_GetUndefined(): number;
  _QTS_FreeCString(context: number, text: number): void;
  _QTS_FreeValuePointer(context: number, value: number): void;
  _QTS_DupValuePointer(context: number, value: number): number;
}

/** What a variant's module and context are caught in while they are made. */
export interface CaughtEngine {
  module?: unknown;
  runtime?: number;
  context?: number;
}

/** The same variant, which puts what it makes into `caught`: the library keeps it to itself. */
export function catching(variant: QuickJSSyncVariant, caught: CaughtEngine): QuickJSSyncVariant {
  return {
    ...variant,
    importFFI: async () => {
      const Ffi = await variant.importFFI();
      return class extends Ffi {
        constructor(module: ConstructorParameters<typeof Ffi>[0]) {
          super(module);
          const make = this.QTS_NewContext;
          this.QTS_NewContext = (runtime, intrinsics) => {
            const context = make(runtime, intrinsics);
            Object.assign(caught, { module, runtime, context });
            return context;
          };
        }
      };
    },
  };
}

/**
 * The way that most scripts take through the engine, in its own calls: evaluate, hand the value to the function that
 * writes it, copy the bytes. The library makes handles, scopes and results of all these, which cost ten times what the
 * engine does, and most in a thread that has run few scripts yet (measured with 32 sessions: 70 us a script less). What
 * a script comes to that is more than that is given back as a handle of the library's.
 */
export class BareEngine {
  readonly #module: RawModule;
  readonly #runtime: number;
  readonly #context: number;
  readonly #owner: QuickJSRuntime;
  /** Where scripts are put, so many bytes. */
  readonly #block: number;
  readonly #blockBytes: number;
  /** A cell for the one argument of a call. */
  readonly #argument: number;
  #memory: DataView;

  /**
   * @param owner what the library checks of its handles
   * @param blockBytes the longest script with its name
   */
  constructor({ module, runtime, context }: CaughtEngine, owner: QuickJSRuntime, blockBytes: number) {
    if (!isRawModule(module) || runtime === undefined || context === undefined) {
      throw new Error('The script engine is not the one that is known');
    }
    this.#module = module;
    this.#runtime = runtime;
    this.#context = context;
    this.#owner = owner;
    this.#blockBytes = blockBytes;
    this.#block = module._malloc(blockBytes);
    this.#argument = module._malloc(Uint32Array.BYTES_PER_ELEMENT);
    this.#memory = new DataView(module.HEAPU8.buffer);
  }

  hasJobs(): boolean {
    return this.#module._QTS_IsJobPending(this.#runtime) !== 0;
  }

  /**
   * Runs a script in the global scope.
   * @param area its name, a zero, its code and a zero, as UTF-8; the text of its value afterwards, where it fits
   * @param write a function of the engine's that makes text of a value
   */
  run(area: Uint8Array, nameBytes: number, codeBytes: number, write: QuickJSHandle): BareCompletion {
    const module = this.#module;
    const context = this.#context;
    if (nameBytes + codeBytes > this.#blockBytes) throw new RangeError('The script is too long for its block');
    const name = this.#block;
    const code = name + nameBytes;
    module.HEAPU8.set(area.subarray(0, nameBytes + codeBytes), name);
    const value = module._QTS_Eval(context, code, codeBytes - 1, name, NO_DETECTION, GLOBAL_CODE);
    const thrown = module._QTS_ResolveException(context, value);
    if (thrown !== 0) return this.#threw(value, thrown);
    if (module._QTS_PromiseState(context, value) !== NO_PROMISE || this.hasJobs()) {
      return { kind: 'value', value: this.#handle(value) };
    }
    this.#cells().setUint32(this.#argument, value, true);
    const written = module._QTS_Call(context, write.value, module._QTS_GetUndefined(), 1, this.#argument);
    module._QTS_FreeValuePointer(context, value);
    const refused = module._QTS_ResolveException(context, written);
    if (refused !== 0) return this.#threw(written, refused);
    const at = module._QTS_GetString(context, written);
    module._QTS_FreeValuePointer(context, written);
    const completion = this.#taken(at, area);
    module._QTS_FreeCString(context, at);
    return completion;
  }

  #taken(at: number, area: Uint8Array): BareCompletion {
    const heap = this.#module.HEAPU8;
    const end = heap.indexOf(0, at);
    if (end - at > area.length) return { kind: 'text', text: this.#module.UTF8ToString(at) };
    area.set(heap.subarray(at, end));
    return { kind: 'written', bytes: end - at };
  }

  #threw(value: number, error: number): BareCompletion {
    this.#module._QTS_FreeValuePointer(this.#context, value);
    return { kind: 'thrown', error: this.#handle(error) };
  }

  /** The engine's memory is another one when it has grown. */
  #cells(): DataView {
    const { buffer } = this.#module.HEAPU8;
    if (this.#memory.buffer !== buffer) this.#memory = new DataView(buffer);
    return this.#memory;
  }

  #handle(pointer: number): QuickJSHandle {
    const module = this.#module;
    const context = this.#context;
    const dup = (value: number) => module._QTS_DupValuePointer(context, value);
    const free = (value: number) => module._QTS_FreeValuePointer(context, value);
    // A pointer of the library's type is a number that it has a name for.
    return new Lifetime<number, number, QuickJSRuntime>(pointer, dup, free, this.#owner) as unknown as QuickJSHandle;
  }
}

const FUNCTIONS = [
  'UTF8ToString',
  '_malloc',
  '_QTS_Eval',
  '_QTS_Call',
  '_QTS_ResolveException',
  '_QTS_PromiseState',
  '_QTS_IsJobPending',
  '_QTS_GetString',
  '_QTS_GetUndefined',
  '_QTS_FreeCString',
  '_QTS_FreeValuePointer',
  '_QTS_DupValuePointer',
] as const satisfies readonly (keyof RawModule)[];

function isRawModule(module: unknown): module is RawModule {
  if (typeof module !== 'object' || module === null) return false;
  const has = (name: string) => typeof Reflect.get(module, name) === 'function';
  return Reflect.get(module, 'HEAPU8') instanceof Uint8Array && FUNCTIONS.every(has);
}
