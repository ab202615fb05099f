/** Ends a switch over a union: the compiler reports a missing case. */
export function assertNever(value: never): never {
  throw new TypeError(`Unhandled case: ${JSON.stringify(value)}`);
}
