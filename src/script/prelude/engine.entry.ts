import type { ErrorCode, ErrorDetails } from '../../protocol/errors.js';
import { installConsole } from './console.js';
import type { Answer, Core, Engine, EngineSettings, Host, RawHost } from './engine.js';
import { defineData, defineGlobal, defineReplaceable, sealNewGlobals } from './globals.js';
import { jsonText, plainText } from './json-text.js';
import { completeLanguage, isOutOfMemory, placeInJson } from './language.js';
import { installMatch } from './match-global.js';
import { makeOwedCalls } from './owed-calls.js';
import {
  append,
  asyncIteratorSymbol,
  defineProperty,
  ErrorClass,
  freeze,
  hasOwn,
  invoke,
  isObject,
  iteratorSymbol,
  makeNotes,
  PromiseClass,
  parse,
  promiseThen,
  read,
  slice,
  TypeErrorClass,
  words,
} from './primordials.js';

/** Longer messages are truncated. */
const MAX_MESSAGE = 10_000;
/** For the engine's own texts: their parts are bounded, and a host call's details by its answer. */
const MAX_REPORT = 16 * 1024 * 1024;

/** Runs once in a fresh context, before anything else: defines the globals of every script. */
export function install(raw: RawHost, settingsText: string): Core {
  const settings: EngineSettings = parse(settingsText);
  /** The errors that host calls and match threw. An object that only looks like one of them is not in here. */
  const hostErrors = makeNotes(isHostError);
  /** The flows that were running when an error was thrown. */
  const flowsOf = makeNotes((value): value is string => typeof value === 'string');
  /** The Playwright tests that errors were thrown in. */
  const testsOf = makeNotes((value): value is string => typeof value === 'string');
  const owed = makeOwedCalls();
  /** The origin of the last thrown value that is not an object. */
  let lastPlain: { readonly value: unknown; readonly stack: string; readonly flows: string | null } | null = null;
  /** A script has dropped a promise. */
  let watches = false;
  completeLanguage();

  /** The current stack. */
  function here(): string {
    const stack = read(new ErrorClass(), 'stack');
    return typeof stack === 'string' ? stack : '';
  }

  function hostError(code: ErrorCode, message: string, details: ErrorDetails): Error {
    const error = new ErrorClass(message);
    define(error, 'name', 'TroupeError', false);
    define(error, 'code', code, true);
    define(error, 'details', details, true);
    hostErrors.set(error, { code, message, details });
    return error;
  }

  function fail(code: ErrorCode, message: string, details: ErrorDetails = {}): never {
    throw hostError(code, message, details);
  }

  function hostOf(module: string): Host {
    return (method, ...args) => {
      let count = args.length;
      while (count > 0 && args[count - 1] === undefined) count -= 1;
      let text = '[';
      for (let i = 0; i < count; i += 1) {
        const item = jsonText(args[i], settings.resultLength) ?? 'null';
        text += i === 0 ? item : words`,${item}`;
      }
      const answer: Answer = parse(raw.call(words`${module}.${method}`, words`${text}]`, here()));
      if (answer.ok) return hasOwn(answer, 'value') ? answer.value : undefined;
      throw hostError(answer.code, answer.error, answer.details ?? {});
    };
  }

  /** The value of an `await`. A value that is not a promise needs no job. */
  function settle(value: unknown): unknown {
    if (!isObject(value)) return value;
    return raw.settle(new PromiseClass((resolve) => resolve(value)));
  }

  function* each(iterable: unknown): Generator<unknown> {
    if (!isObject(iterable)) throw new TypeErrorClass('for await needs an iterable');
    const makeAsync = read(iterable, asyncIteratorSymbol);
    const iterator = invoke(makeAsync ?? read(iterable, iteratorSymbol), iterable);
    if (!isObject(iterator)) throw new TypeErrorClass('for await needs an iterable');
    let ended = false;
    try {
      while (true) {
        const step = settle(invoke(read(iterator, 'next'), iterator));
        ended = !isObject(step) || read(step, 'done') === true;
        if (!isObject(step) || ended) return;
        yield settle(read(step, 'value'));
      }
    } finally {
      const end = ended ? undefined : read(iterator, 'return');
      if (end !== undefined) settle(invoke(end, iterator));
    }
  }

  function thrown(value: unknown): unknown {
    if (!isObject(value)) lastPlain = { value, stack: here(), flows: null };
    return value;
  }

  /** Watches a promise that a statement drops: nothing else would notice that it is rejected. */
  function dropped(value: unknown): unknown {
    if (!isObject(value)) return value;
    try {
      promiseThen(value, undefined, (reason) => owed.owe(reason));
      watches = true;
    } catch {
      // It is no promise.
    }
    return value;
  }

  function flowFunction(value: unknown): unknown {
    if (typeof value === 'function') return value;
    throw new TypeErrorClass(words`A flow's default export must be a function; this one is ${plainText(value)}`);
  }

  /** Records which flows were running, at the innermost flow that an error leaves. */
  function noteFlows(error: unknown): void {
    if (isObject(error)) {
      if (flowsOf.get(error) === undefined) flowsOf.set(error, raw.flows());
      return;
    }
    const known = lastPlain !== null && lastPlain.value === error ? lastPlain : null;
    lastPlain = { value: error, stack: known?.stack ?? '', flows: known?.flows ?? raw.flows() };
  }

  function noteTest(error: unknown, title: string): void {
    if (isObject(error)) testsOf.set(error, title);
  }

  function describe(error: unknown): string {
    const known = isObject(error) ? hostErrors.get(error) : undefined;
    const plain = !isObject(error) && lastPlain !== null && lastPlain.value === error ? lastPlain : null;
    const stack = isObject(error) ? stackOf(error) : (plain?.stack ?? '');
    const message = known?.message ?? plainText(error) + (isObject(error) ? placeInJson(error, stack) : '');
    const flows = isObject(error) ? flowsOf.get(error) : plain?.flows;
    const test = isObject(error) ? testsOf.get(error) : undefined;
    const description = {
      message: slice(message === '' ? 'The script threw an empty string' : message, 0, MAX_MESSAGE),
      code: known?.code ?? null,
      details: { ...(test === undefined ? {} : { test }), ...known?.details },
      stack,
      isOutOfMemory: isOutOfMemory(error),
      flows: flows === undefined || flows === null ? null : parse(flows),
    };
    return jsonText(description, MAX_REPORT) ?? '';
  }

  function runFlow(path: string, source: string, args: unknown, code = source, fault = '', file = ''): unknown {
    if (raw.enterFlow(path, file) === 0) {
      fail('SCRIPT_ERROR', words`Flows may be nested ${settings.flowDepth} levels deep, and '${path}' is deeper`);
    }
    let value: unknown;
    const before = owed.last();
    try {
      const body = raw.compile(path, source, code, fault);
      if (typeof body === 'string') {
        const error: { error: string; code: ErrorCode; details?: ErrorDetails } = parse(body);
        fail(error.code, error.error, error.details ?? {});
      }
      value = raw.settle(invoke(body, undefined, args));
      if (watches) raw.runJobs();
      owed.collect(before);
      const why = raw.flowFault(typeof value);
      if (why !== '') {
        const body: { error: string; details: ErrorDetails } = parse(why);
        fail('FLOW_FAILED', body.error, body.details);
      }
    } catch (error) {
      owed.forget(before);
      noteFlows(error);
      raw.leaveFlow(describe(error));
      throw error;
    }
    raw.leaveFlow('');
    return value;
  }

  let idleWork: (() => boolean) | null = null;
  const onIdle = (work: () => boolean): void => {
    idleWork = work;
  };
  let lazy: (() => void)[] = [];
  function defineLazy(name: string, make: () => unknown): void {
    append(lazy, () => defineReplaceable(name, make));
  }

  const skipFlow = (): void => raw.skipFlow();
  const owe = (message: string): (() => void) => owed.owe(hostError('SCRIPT_ERROR', message, {}));
  const engine: Engine = freeze({ runFlow, onIdle, fail, owe, settle, defineLazy, skipFlow, noteTest });
  const wrote = (level: string, text: string): void => raw.wrote(level, text, here());
  const checked = (data: object): void => raw.checked(jsonText(data, MAX_REPORT) ?? '', here());
  defineGlobal('console', installConsole(wrote));
  defineGlobal('match', installMatch(checked, fail));
  defineData('args', settings.args ?? {});

  return {
    addModule(name, installModule) {
      sealNewGlobals(() => invoke(installModule, undefined, hostOf(name), engine));
      // After the sealing: a script's own declaration replaces these.
      for (let i = 0; i < lazy.length; i += 1) lazy[i]?.();
      lazy = [];
    },
    result: (value) => {
      owed.collect(0);
      return jsonText(value, settings.resultLength) ?? 'null';
    },
    describe,
    begin: () => owed.forget(0),
    idle: () => idleWork?.(),
    step: freeze({
      __proto__: null,
      settle: freeze(settle),
      each: freeze(each),
      thrown: freeze(thrown),
      dropped: freeze(dropped),
      flow: freeze(flowFunction),
    }),
  };
}

interface HostError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: ErrorDetails;
}

/** Only this module writes these values, so a shallow check is enough. */
function isHostError(value: unknown): value is HostError {
  return isObject(value);
}

function define(target: object, key: string, value: unknown, enumerable: boolean): void {
  // Without a prototype, the descriptor has only the members written here.
  const descriptor = { __proto__: null, value, enumerable, writable: true, configurable: true };
  defineProperty(target, key, descriptor);
}

/** The stack of an error; a script may have made it anything, or throw. */
function stackOf(error: object): string {
  try {
    const stack = read(error, 'stack');
    return typeof stack === 'string' ? slice(stack, 0, 100_000) : '';
  } catch {
    return '';
  }
}
