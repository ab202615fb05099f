/** Ends a switch over a union: the compiler refuses a case that was forgotten. */
export function assertNever(value: never): never {
  throw new TypeError(`Unhandled case: ${JSON.stringify(value)}`);
}
