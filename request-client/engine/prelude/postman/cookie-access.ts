import type { Host } from '#troupe/script/prelude/engine.js';

type Done = (error: unknown, value?: unknown) => void;

/**
 * `pm.cookies.jar()`: Postman's calls on the jar of the run. With a callback they answer when the script has nothing else
 * to do, without one by a promise.
 */
export function makeCookieAccess(
  host: Host,
  later: (run: () => void) => void,
  made: (cookie: object) => unknown,
  list: (cookies: readonly object[]) => unknown,
): object {
  const call = (args: unknown[], work: (args: unknown[]) => unknown): unknown => {
    const last = args.at(-1);
    const done = typeof last === 'function' ? (last as Done) : null;
    const given = done === null ? args : args.slice(0, -1);
    const attempt = (): [error: unknown, value?: unknown] => {
      try {
        return [null, work(given)];
      } catch (error) {
        return [error];
      }
    };
    const [error, value] = attempt();
    if (done !== null) return void later(() => done(error, value));
    return error === null ? Promise.resolve(value) : Promise.reject(error);
  };
  const cookiesOf = (url: unknown): { name?: string; value?: string }[] =>
    host('cookies', 'all', String(url)) as { name?: string; value?: string }[];
  return {
    set: (...args: unknown[]) =>
      call(args, ([url, name, value]) => {
        const cookie =
          typeof name === 'object' && name !== null
            ? name
            : value === undefined
              ? String(name)
              : { ...(typeof value === 'object' ? value : { value: String(value) }), name: String(name) };
        return made(host('cookies', 'set', String(url), cookie) as object);
      }),
    get: (...args: unknown[]) =>
      call(args, ([url, name]) => cookiesOf(url).find((cookie) => cookie.name === String(name))?.value),
    getAll: (...args: unknown[]) => call(args, ([url]) => list(cookiesOf(url))),
    unset: (...args: unknown[]) =>
      call(args, ([url, name]) => void host('cookies', 'unset', String(url), String(name))),
    clear: (...args: unknown[]) => call(args, ([url]) => void host('cookies', 'clear', String(url))),
  };
}
