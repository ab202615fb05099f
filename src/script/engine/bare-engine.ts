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

/** An engine, in its own calls. */
export interface BareEngine {
  hasJobs(): boolean;
  /**
   * Runs a script in the global scope.
   * @param order its name, a zero, its code and a zero, as UTF-8
   * @param nameBytes with the zero, as is `codeBytes`
   * @param write a function of the engine's that makes text of a value
   * @param result takes that text, where it fits
   */
  run(
    order: Uint8Array,
    nameBytes: number,
    codeBytes: number,
    write: QuickJSHandle,
    result: Uint8Array,
  ): BareCompletion;
}

/**
 * The way that most scripts take through the engine: evaluate, hand the value to the function that writes it, copy the
 * bytes. The library makes handles, scopes and results of all these, which cost ten times what the engine does, and most
 * in a thread that has run few scripts yet (measured with 32 sessions: 70 us a script less). What a script comes to that
 * is more than that is given back as a handle of the library's.
 *
 * A closure and no class, and functions taken from the module once: V8 reads both without a look-up before it has
 * compiled anything, which in a session's thread it rarely does.
 *
 * @param owner what the library checks of its handles
 * @param blockBytes the longest script with its name
 */
export function bareEngine(caught: CaughtEngine, owner: QuickJSRuntime, blockBytes: number): BareEngine {
  const { module, runtime, context } = caught;
  if (!isRawModule(module) || runtime === undefined || context === undefined) {
    throw new Error('The script engine is not the one that is known');
  }
  const evaluate = module._QTS_Eval;
  const call = module._QTS_Call;
  const exceptionOf = module._QTS_ResolveException;
  const promiseState = module._QTS_PromiseState;
  const isJobPending = module._QTS_IsJobPending;
  const textOf = module._QTS_GetString;
  const freeText = module._QTS_FreeCString;
  const free = module._QTS_FreeValuePointer;
  const duplicate = module._QTS_DupValuePointer;
  const nothing = module._QTS_GetUndefined();
  const name = module._malloc(blockBytes);
  /** A cell for the one argument of a call. */
  const argument = module._malloc(Uint32Array.BYTES_PER_ELEMENT);
  let heap = module.HEAPU8;
  let memory = new DataView(heap.buffer);

  /** The engine's memory is another one when it has grown. */
  const lookAgain = (): void => {
    if (heap === module.HEAPU8) return;
    heap = module.HEAPU8;
    memory = new DataView(heap.buffer);
  };

  const handle = (pointer: number): QuickJSHandle => {
    const dup = (value: number) => duplicate(context, value);
    const dispose = (value: number) => free(context, value);
    // A pointer of the library's type is a number that it has a name for.
    return new Lifetime<number, number, QuickJSRuntime>(pointer, dup, dispose, owner) as unknown as QuickJSHandle;
  };

  const threw = (value: number, error: number): BareCompletion => {
    free(context, value);
    return { kind: 'thrown', error: handle(error) };
  };

  return {
    hasJobs: () => isJobPending(runtime) !== 0,
    run(order, nameBytes, codeBytes, write, result) {
      const bytes = nameBytes + codeBytes;
      if (bytes > blockBytes) throw new RangeError('The script is too long for its block');
      lookAgain();
      heap.set(order.subarray(0, bytes), name);
      const value = evaluate(context, name + nameBytes, codeBytes - 1, name, NO_DETECTION, GLOBAL_CODE);
      const thrown = exceptionOf(context, value);
      if (thrown !== 0) return threw(value, thrown);
      if (promiseState(context, value) !== NO_PROMISE || isJobPending(runtime) !== 0) {
        return { kind: 'value', value: handle(value) };
      }
      lookAgain();
      memory.setUint32(argument, value, true);
      const written = call(context, write.value, nothing, 1, argument);
      free(context, value);
      const refused = exceptionOf(context, written);
      if (refused !== 0) return threw(written, refused);
      const at = textOf(context, written);
      free(context, written);
      lookAgain();
      let end = at;
      while (heap[end] !== 0 && end - at <= result.length) end += 1;
      const fits = end - at <= result.length;
      if (fits) result.set(heap.subarray(at, end));
      const text = fits ? '' : module.UTF8ToString(at);
      freeText(context, at);
      return fits ? { kind: 'written', bytes: end - at } : { kind: 'text', text };
    },
  };
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
