import type { Host } from '#troupe/script/prelude/engine.js';

export type TestFunction = ((name: unknown, body?: unknown) => object) & {
  skip(name: unknown): object;
  index(): number;
  /** Reports tests that have not ended. */
  finish(): void;
};

/** `pm.test`: a body may take `done`, or return a promise. */
export function makeTest(host: Host, pm: () => object): TestFunction {
  let count = 0;
  const open = new Map<number, string>();
  const report = (name: string, error: unknown): void =>
    void host('test', name, error === null || error === undefined ? null : messageOf(error));
  const test = (name: unknown, body?: unknown): object => {
    const shown = String(name);
    const own = count;
    count += 1;
    if (typeof body !== 'function') {
      report(shown, null);
      return pm();
    }
    let ended = false;
    const end = (error: unknown): void => {
      if (ended) return;
      ended = true;
      open.delete(own);
      report(shown, error);
    };
    open.set(own, shown);
    try {
      if (body.length > 0) {
        body((error: unknown) => end(error));
        return pm();
      }
      const value: unknown = body();
      if (value instanceof Promise)
        value.then(
          () => end(null),
          (error: unknown) => end(error ?? new Error('rejected')),
        );
      else end(null);
    } catch (error) {
      end(error ?? new Error(String(error)));
    }
    return pm();
  };
  return Object.assign(test, {
    skip: (name: unknown): object => {
      count += 1;
      host('skip', String(name));
      return pm();
    },
    index: () => count,
    finish: () => {
      for (const name of open.values())
        host('test', name, 'The test did not end: done was not called, or its promise is pending');
      open.clear();
    },
  });
}

/** As Postman shows errors. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === 'Error' ? error.message : `${error.name}: ${error.message}`;
}
