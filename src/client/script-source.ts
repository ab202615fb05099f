/** A function that runs in a session: there it sees `agent` and the other names of agent JS, and nothing around it here. */
export type SessionFunction<A, R> = (args: A) => R;

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
