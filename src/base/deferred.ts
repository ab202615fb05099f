/** A promise with its resolve function, for code that settles it later or elsewhere. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T | PromiseLike<T>) => void;
}

export function deferred<T>(): Deferred<T> {
  let settle: Deferred<T>['resolve'] = () => undefined;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: settle };
}
