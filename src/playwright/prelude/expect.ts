import type { SandboxTable } from '../../agent-js/playwright-api/sandbox-table.js';
import type { Engine, Host } from '../../script/prelude/engine.js';
import { append, freeze, invoke, isObject, read, words } from '../../script/prelude/primordials.js';
import { define, defineGetter } from './define.js';
import { encode, encodeAll, matchings } from './encode.js';

interface How {
  readonly not: boolean;
  readonly message: string | null;
  /** Collects failures instead of throwing. */
  readonly soft: boolean;
}

/** `expect`: every matcher is one call of the service. */
export function expectOf(host: Host, engine: Engine, { matchers, asymmetric }: SandboxTable): object {
  const plain: How = { not: false, message: null, soft: false };

  function check(subject: unknown, matcher: string, args: readonly unknown[], { not, message, soft }: How): void {
    host('expect', encode(subject, engine), matcher, encodeAll(args, engine), [not, message, soft]);
  }

  /** The matchers of a subject; `run` is what calling one does. */
  function matchersOf(how: How, run: (matcher: string, args: readonly unknown[], how: How) => unknown): object {
    const object = { __proto__: null };
    for (let i = 0; i < matchers.length; i += 1) {
      const matcher = matchers[i];
      if (matcher !== undefined) define(object, matcher, (...args: unknown[]) => run(matcher, args, how));
    }
    if (!how.not) {
      defineGetter(object, 'not', () => matchersOf({ not: true, message: how.message, soft: how.soft }, run));
    }
    return freeze(object);
  }

  /** The matchers of a call, one of which has to be called. */
  function owing(call: string, how: How, run: (matcher: string, args: readonly unknown[], how: How) => void): object {
    const made = engine.owe(words`${call}(...) alone checks nothing: add a matcher, such as .toBeVisible()`);
    return matchersOf(how, (matcher, args, asked) => {
      made();
      return run(matcher, args, asked);
    });
  }

  const textOf = (message: unknown): string | null => {
    if (typeof message === 'string') return message;
    const named = isObject(message) ? read(message, 'message') : undefined;
    return typeof named === 'string' ? named : null;
  };
  const expecting =
    (soft: boolean) =>
    (subject: unknown, message: unknown): object =>
      owing(soft ? 'expect.soft' : 'expect', { ...plain, message: textOf(message), soft }, (matcher, args, how) =>
        check(subject, matcher, args, how),
      );

  const expect = expecting(false);
  define(expect, 'soft', expecting(true));
  define(expect, 'poll', (make: unknown, options: unknown) =>
    owing('expect.poll', { ...plain, message: textOf(options) }, (matcher, args, how) =>
      poll(make, options, matcher, args, how),
    ),
  );
  const negated = { __proto__: null };
  for (let i = 0; i < asymmetric.length; i += 1) {
    const name = asymmetric[i];
    if (name === undefined) continue;
    define(expect, name, matching(name, false));
    define(negated, name, matching(name, true));
  }
  define(expect, 'not', freeze(negated));
  return freeze(expect);

  /** Runs the function until what it returns matches; the last failure is thrown. */
  function poll(make: unknown, options: unknown, matcher: string, args: readonly unknown[], how: How): void {
    const state = host('poll', isObject(options) ? [read(options, 'timeout'), read(options, 'intervals')] : []);
    const id = isObject(state) ? read(state, 'value') : undefined;
    while (true) {
      const value = engine.settle(invoke(make, undefined));
      const given = encodeAll(args, engine);
      const answer = host('tryPoll', id, encode(value, engine), matcher, given, [how.not, how.message, how.soft]);
      if (isObject(answer) && read(answer, 'value') === true) return;
    }
  }

  function matching(name: string, not: boolean): (...args: unknown[]) => object {
    return (...args) => {
      const given: unknown[] = [];
      for (let i = 0; i < args.length; i += 1) append(given, name === 'any' ? classNameOf(args[i]) : args[i]);
      const object = freeze({ __proto__: null });
      matchings.set(object, { name, args: given, not });
      return object;
    };
  }

  /** `expect.any(String)`: a class crosses by its name. */
  function classNameOf(given: unknown): string {
    const name = isObject(given) ? read(given, 'name') : undefined;
    return words`${name}`;
  }
}
