/** A function that runs in a session: there it sees `agent` and the other names of agent JS, and nothing around it here. */
export type SessionFunction<A, R> = (args: A) => R;

/**
 * What the result of a script is when it arrives as JSON: a date is a text, `undefined` is null, and functions are gone.
 * Only its type: nothing is checked.
 */
export type Returned<T> = 0 extends 1 & T
  ? T
  : unknown extends T
    ? T
    : T extends { toJSON(): infer J }
      ? Returned<J>
      : T extends void
        ? null
        : T extends Callable | symbol
          ? null
          : T extends readonly unknown[]
            ? { [K in keyof T]: Returned<T[K]> }
            : T extends object
              ? { [K in keyof T as T[K] extends Callable | symbol ? never : K]: ReturnedMember<T[K]> }
              : T;

/** A member that is undefined is left out, an element of an array becomes null. */
type ReturnedMember<T> = 0 extends 1 & T ? T : T extends undefined ? undefined : Returned<T>;

type Callable = (...args: never) => unknown;

/**
 * The source of a script. A function is called with the arguments; in a script that is text they are `args`. Arguments are
 * JSON. The lines of the source stay where they are. With arguments, what the script declares does not last to the next one.
 */
export function scriptSource<A, R>(script: string | SessionFunction<A, R>, args: A): string {
  // Parsed there: in an object literal __proto__ would set the prototype.
  const json = args === undefined ? undefined : `JSON.parse(${JSON.stringify(JSON.stringify(args))})`;
  if (typeof script === 'function') return `(${script})(${json ?? ''})`;
  return json === undefined ? script : `{ const args = ${json}; ${script}\n}`;
}
